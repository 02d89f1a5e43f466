"""The page in a real browser: quiet, offline, readable when narrow, usable by keyboard."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evaluation.report_runs import Shown, random_run, texts

from merestone.evaluation.report import write_report

pytestmark = pytest.mark.ci
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium: that of MERESTONE_BROWSER, else the first that is on the path."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("MERESTONE_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), "")
    if not found:
        pytest.skip("there is no Chromium on the path, and MERESTONE_BROWSER is not set")
    with playwright.sync_playwright() as started:
        # No name is ever looked up, and no sandbox where tests run as root.
        opened = started.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"],
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shown = Shown(texts(3, 6000))
    runs = [
        random_run(shown, 14, name=name, seed=seed, hostile=True)
        for seed, name in enumerate(("default", "a name without any space " + "x" * 90, "third"))
    ]
    target = tmp_path_factory.mktemp("browser") / "report.html"
    return write_report(runs, target, snapshot=shown)  # type: ignore[arg-type]


class Visit:
    """A page that is looked at, with all that it says and asks for."""

    def __init__(self, browser: Any, file: Path, width: int, scheme: str = "light") -> None:
        context = browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def overflow(self) -> int:
        """Pixels that the page is wider than the window, or its dialog than itself."""
        return int(
            self.page.evaluate(
                """() => {
                  const root = document.documentElement;
                  const detail = document.getElementById("detail");
                  return Math.max(
                    root.scrollWidth - innerWidth, detail.scrollWidth - detail.clientWidth
                  );
                }"""
            )
        )

    def close(self) -> None:
        self.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_quiet_offline_and_never_wider_than_the_window(
    browser: Any, page_file: Path, width: int, scheme: str
) -> None:
    visit = Visit(browser, page_file, width, scheme)
    assert visit.overflow() == 0
    for _ in range(14):
        if visit.page.locator("dialog[open]").count() == 0:
            visit.page.locator("button.open").first.click()
        else:
            visit.page.keyboard.press("ArrowRight")
        assert visit.overflow() == 0
    visit.page.keyboard.press("Escape")
    assert visit.said == []
    assert visit.asked == [page_file.as_uri()]
    dark = visit.page.evaluate("getComputedStyle(document.body).backgroundColor") != (
        "rgb(255, 255, 255)"
    )
    assert dark == (scheme == "dark")
    visit.close()


def test_a_question_is_opened_looked_through_and_closed_by_keyboard(
    browser: Any, page_file: Path
) -> None:
    visit = Visit(browser, page_file, 1280)
    page = visit.page
    first = page.locator("button.open").nth(0)
    second = page.locator("button.open").nth(1)
    page.evaluate("document.querySelector('button.open').focus()")
    page.keyboard.press("Enter")
    title = page.locator("#detail-title")
    assert title.text_content() == first.text_content()
    assert page.locator("dialog .strip").count() > 0
    assert page.locator("dialog mark").first.text_content()
    page.keyboard.press("ArrowRight")
    assert title.text_content() == second.text_content()
    assert page.evaluate("location.hash").startswith("#question=")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate("document.activeElement.textContent") == second.text_content()
    visit.close()


def test_filters_and_views_agree_with_the_data(browser: Any, page_file: Path) -> None:
    visit = Visit(browser, page_file, 1280)
    page = visit.page
    rows = page.locator("#matrix tr[data-question]:visible")
    assert rows.count() == 14
    data = page.evaluate("JSON.parse(document.getElementById('report-data').textContent)")
    page.select_option("#by-type", "pdf")
    wanted = [each for each in data["questions"] if "pdf" in each["facts"]]
    assert 0 < rows.count() == len(wanted) < 14
    page.select_option("#by-type", "")
    page.select_option("#view", "precise")
    order = [data["questions"][place]["id"] for place in data["views_data"]["precise"]["order"]]
    told = [text.split(" · ")[0] for text in page.locator("#matrix .facts").all_text_contents()]
    assert told == order
    signs = {"w": "whole", "p": "part", "m": "missed", "-": "none"}
    for row, place in zip(rows.all(), data["views_data"]["precise"]["order"], strict=True):
        found = row.locator(".outcome").evaluate_all("cells => cells.map(e => e.classList[1])")
        assert found == [signs[sign] for sign in data["views_data"]["precise"]["outcomes"][place]]
    visit.close()


def test_the_gold_that_is_marked_is_the_gold_also_behind_other_planes(
    browser: Any, page_file: Path
) -> None:
    shown = Shown(texts(3, 6000))
    visit = Visit(browser, page_file, 1280)
    page = visit.page
    data = page.evaluate("JSON.parse(document.getElementById('report-data').textContent)")
    page.locator("button.open").first.click()
    for place in data["views_data"][data["main"]]["order"]:
        document, start, end = data["questions"][place]["gold"][0]
        whole = shown.texts[data["documents"][document]]
        marks = page.locator("dialog .around mark").all_text_contents()
        assert "".join(marks) == whole[start:end]
        page.keyboard.press("ArrowRight")
    visit.close()
