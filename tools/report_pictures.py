"""Draw the pictures of docs/report.md from the handbook: python tools/report_pictures.py

Needs Playwright and a Chromium: that of MERESTONE_BROWSER, else the first on the path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "images"
VARIANTS = ("fixed windows: chunking.strategy=fixed", "words alone: retrieval.dense_weight=0")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def report(folder: Path) -> Path:
    """A report of three configurations over a copy of the handbook in ``folder``."""
    handbook = folder / "handbook"
    shutil.copytree(ROOT / "examples" / "handbook", handbook)
    shutil.copy(ROOT / "examples" / "questions.jsonl", handbook)

    def merestone(*arguments: str) -> str:
        command = [sys.executable, "-m", "merestone", "-C", str(handbook), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    merestone("sync")
    merestone("questions", "check", "--apply")
    merestone("compare", *(part for variant in VARIANTS for part in ("--with", variant)))
    newest_first = [line.split()[0] for line in merestone("report", "--list").splitlines()[2:]]
    page = folder / "report.html"
    merestone("report", *reversed(newest_first), "--html", str(page))
    return page


def visit(browser: Browser, file: Path, width: int, height: int, scheme: str = "light") -> Page:
    """The page in a new window of that size, in pixels; ``scheme`` is ``light`` or ``dark``."""
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page.goto(file.as_uri())
    return page


def draw(browser: Browser, file: Path) -> None:
    """All pictures of the page in ``file``."""
    PICTURES.mkdir(exist_ok=True)
    page = visit(browser, file, 1280, 1700)
    page.screenshot(path=PICTURES / "report-comparison.png")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("document.querySelector('#questions').scrollIntoView()")
    page.screenshot(path=PICTURES / "report-questions.png")
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.locator("button.open").first.click()
    page.screenshot(path=PICTURES / "report-question.png")
    narrow = visit(browser, file, 390, 1400, "dark")
    narrow.screenshot(path=PICTURES / "report-narrow.png")


def main() -> None:
    found = os.environ.get("MERESTONE_BROWSER") or next(filter(None, map(shutil.which, _BROWSERS)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        draw(browser, report(Path(folder)))
        browser.close()


if __name__ == "__main__":
    main()
