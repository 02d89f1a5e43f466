"""The page as a file: whole, small, safe, and the same each time."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from evaluation.report_runs import HOSTILE, Shown, random_run, run_of, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.report import report_of, write_report
from merestone.evaluation.report.labels import place_labels
from merestone.evaluation.report.markup import clean, element, joined
from merestone.evaluation.report.plots import Mark, interval_plot
from merestone.evaluation.report.ranges import ends_of, merged
from merestone.evaluation.report.sources import gather_sources
from merestone.evaluation.report.svg import drawing
from merestone.types import SettingsError


class Read(HTMLParser):
    """Elements with their attributes, and the texts of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_data(self, data: str) -> None:
        (self.scripts if self.open[-1:] == ["script"] else self.texts).append(data)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass


@pytest.fixture(scope="module")
def shown() -> Shown:
    return Shown(texts(4, 5000))


@pytest.fixture(scope="module")
def page(shown: Shown, tmp_path_factory: pytest.TempPathFactory) -> str:
    runs = [
        random_run(shown, 14, name=name, seed=seed, hostile=True, chunk_size=size)
        for seed, (name, size) in enumerate([("<i>one</i>", 300), ("two", 200)])
    ]
    target = tmp_path_factory.mktemp("page") / "report.html"
    snapshots = {runs[1].id: Shown(shown.texts, 200)}
    written = write_report(runs, target, snapshot=shown, cuttings=snapshots)  # type: ignore[arg-type]
    assert written == target
    return target.read_text("utf-8")


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """To save time where they are not looked at."""
    monkeypatch.setattr("merestone.evaluation.report.page.figures", lambda _: [])


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Read(page).scripts[0])
    return found


def test_nothing_of_a_question_becomes_an_element(page: str) -> None:
    read = Read(page)
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert not {"i", "iframe", "img"} & {tag for tag, given in read.elements if not given}
    assert "<script>alert" not in page
    for question in HOSTILE:
        assert clean(question) in [each["text"] for each in data_of(page)["questions"]]


def test_the_page_names_no_place_outside_of_it(page: str) -> None:
    for tag, given_ in Read(page).elements:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            value = given_.get(name)
            assert value is None or value.startswith("#"), (tag, name, value)
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    policy = next(given_ for _, given_ in Read(page).elements if "http-equiv" in given_)
    assert str(policy["content"]).startswith("default-src 'none'")


def test_every_head_of_a_table_says_what_it_heads_and_every_id_is_there_once(page: str) -> None:
    elements = Read(page).elements
    assert all("scope" in given_ for tag, given_ in elements if tag == "th")
    ids = [given_["id"] for _, given_ in elements if "id" in given_]
    assert len(ids) == len(set(ids))
    labels = {given_["aria-labelledby"] for _, given_ in elements if "aria-labelledby" in given_}
    assert labels - {"detail-title"} <= set(ids)


def test_the_same_runs_give_the_same_bytes(shown: Shown, tmp_path: Path) -> None:
    run = random_run(shown, 2)
    one, two = (write_report(run, tmp_path / name, snapshot=shown) for name in "ab")  # type: ignore[arg-type]
    assert one.read_bytes() == two.read_bytes()


def test_each_text_is_in_the_page_once_and_stands_where_it_says(page: str, shown: Shown) -> None:
    data = data_of(page)
    for number, pieces in data["texts"].items():
        whole = shown.texts[data["documents"][int(number)]]
        last = -1
        for start, text in pieces:
            assert start > last
            last = start + len(text)
            assert text == clean(whole[start:last])
    for question in data["questions"]:
        for document, start, end in question["gold"]:
            pieces = data["texts"][str(document)]
            assert any(at <= start and end <= at + len(text) for at, text in pieces)


@pytest.mark.parametrize("count", [1, 2])
def test_sections_that_would_be_empty_are_left_out(
    shown: Shown, tmp_path: Path, count: int
) -> None:
    silent = replace(random_run(shown, 1).results[0], measures={"NoAnswer@1000t": 1.0}, tags=())
    runs = [run_of([silent], name=f"run {n}") for n in range(count)]
    text = write_report(runs, tmp_path / "r.html").read_text("utf-8")
    sections = re.findall('<section id="([a-z]*)"', text)
    assert sections == ["overview", "questions", "groups", "measures", "costs", "settings"]
    assert re.findall('<a href="#([a-z]*)">', text) == sections
    overview = text.partition('<section id="overview"')[2].partition("</section>")[0]
    assert "NoAnswer" in overview
    assert "100.0 %" in overview


def test_a_run_of_nothing_has_no_frame_without_figures(tmp_path: Path) -> None:
    run = run_of([], skipped={"a": "the text is gone"}, costs={})
    text = write_report(run, tmp_path / "r.html").read_text("utf-8")
    assert re.findall('<section id="([a-z]*)"', text) == ["questions", "settings"]
    assert "tiles" not in text.partition("</style>")[2]


def test_strips_lie_around_the_gold_with_the_chunks_of_each_run(page: str) -> None:
    for question in data_of(page)["questions"]:
        for document, first, last, length, cuts in question["strips"]:
            assert 0 <= first < last <= length
            assert any(
                place == document and first <= start and end <= last
                for place, start, end in question["gold"]
            )
            for cut, size in zip(cuts, (300, 200), strict=True):
                assert cut[0][0] <= first
                assert cut[-1][1] >= last
                assert all(start % size == 0 for start, _ in cut)


def test_chunks_of_a_cutting_that_is_not_at_hand_are_not_drawn(shown: Shown) -> None:
    run = random_run(shown, 3, chunk_size=200)
    sources = gather_sources(report_of(run), shown, {})  # type: ignore[arg-type]
    strips = [strip for each in sources.strips.values() for strip in each]
    assert strips
    assert all(strip.cuts == (None,) for strip in strips)


@pytest.mark.usefixtures("no_plots")
def test_without_a_snapshot_the_page_has_no_text(shown: Shown, tmp_path: Path) -> None:
    target = write_report(random_run(shown, 3), tmp_path / "report.html")
    data = data_of(target.read_text("utf-8"))
    assert data["texts"] == {}
    assert all(not question["strips"] for question in data["questions"])


def test_long_passages_are_shortened_where_all_together_are_too_much(
    monkeypatch: pytest.MonkeyPatch, shown: Shown
) -> None:
    report = report_of(random_run(shown, 12))
    whole = gather_sources(report, shown, {})  # type: ignore[arg-type]
    monkeypatch.setattr("merestone.evaluation.report.sources._MOST_TEXT", 8000)
    less = gather_sources(report, shown, {})  # type: ignore[arg-type]

    def kept(texts_: Any) -> int:
        return sum(len(text) for pieces in texts_.values() for _, text in pieces)

    assert less.shortened
    assert not whole.shortened
    assert kept(less.texts) < kept(whole.texts)
    for result in report.columns[0].run.results:
        (gold,) = result.gold
        pieces = less.texts[gold.document]
        assert any(at <= gold.start and gold.end <= at + len(text) for at, text in pieces)


def test_a_run_that_names_what_the_reader_may_not_see_is_refused(
    shown: Shown, tmp_path: Path
) -> None:
    run = random_run(shown, 6)
    documents = sorted({span.document for each in run.results for span in each.gold})
    less = Shown({k: v for k, v in shown.texts.items() if k != documents[0]}, limited=True)
    with pytest.raises(SettingsError) as raised:
        write_report(run, tmp_path / "report.html", snapshot=less)  # type: ignore[arg-type]
    assert raised.value.code == "owner-only"
    assert documents[0] not in raised.value.message
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("no_plots")
def test_a_document_that_is_gone_is_shown_without_text(shown: Shown, tmp_path: Path) -> None:
    run = random_run(shown, 6)
    gold: GoldSpan = run.results[0].gold[0]
    less = Shown({k: v for k, v in shown.texts.items() if k != gold.document})
    target = write_report(run, tmp_path / "report.html", snapshot=less)  # type: ignore[arg-type]
    data = data_of(target.read_text("utf-8"))
    assert data["questions"][0]["strips"] == []
    assert "another state of the documents" in target.read_text("utf-8")


@pytest.mark.ci
def test_300_questions_in_5_configurations_stay_small(tmp_path: Path) -> None:
    shown = Shown(texts(200, 40_000))
    sizes = (200, 300, 450, 700, 1000)
    runs = [random_run(shown, 300, name=str(s), seed=s, chunk_size=s) for s in sizes]
    snapshots = {run.id: Shown(shown.texts, s) for run, s in zip(runs, sizes, strict=True)}
    target = write_report(runs, tmp_path / "a.html", snapshot=shown, cuttings=snapshots)  # type: ignore[arg-type]
    assert target.stat().st_size < 5_000_000


def test_labels_of_a_plot_do_not_lie_on_each_other() -> None:
    pytest.importorskip("matplotlib")
    with drawing("labels", 300) as (axes, _):
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 1)
        near = [(50.0, 0.5), (50.5, 0.5), (51.0, 0.5), (51.5, 0.5), (52.0, 0.5), (52.5, 0.5)]
        labels = [
            (f"a long label {number}", place) for number, place in enumerate([*near, (9, 0.9)])
        ]
        written = place_labels(axes, labels, [place for _, place in labels])
        boxes = [each.get_window_extent() for each in axes.texts]
        assert [each.get_text() for each in axes.texts] == written
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        assert written[0] == "a long label 0"
        assert written[-1] == "a long label 6"
        assert len(written) < len(labels)


def test_a_plot_takes_its_colours_and_its_font_from_the_page() -> None:
    svg = interval_plot("a", [("5 hits", [Mark(0, "A", 0.5, 0.4, 0.6)])], unit="%")
    assert "var(--series-0)" in svg
    assert "5 hits</text>" in svg
    assert not re.search(r"#0103|font-family|<style|<metadata|http", svg)
    assert not re.search(r"(?:fill|stroke): #", svg)


def test_without_matplotlib_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, shown: Shown, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SettingsError) as raised:
        write_report(random_run(shown, 1), tmp_path / "report.html")
    assert raised.value.code == "extra-missing"
    assert "merestone[eval]" in raised.value.remedy


def test_a_report_needs_a_run(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        write_report([], tmp_path / "report.html")
    assert raised.value.code == "no-runs"


@given(st.text())
def test_a_text_is_a_text_and_keeps_its_length(text: str) -> None:
    assert len(clean(text)) == len(text)
    clean(text).encode()
    read = Read(element("p", text, title=text, data_x=True, hidden=False))
    assert [tag for tag, _ in read.elements] == ["p"]
    assert read.elements[0][1] == {"title": clean(text), "data-x": None}
    assert "".join(read.texts) == clean(text)
    assert joined(None, joined(text)) == joined(text)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50))))
def test_merged_ranges_hold_the_same_places_in_order(ranges: list[tuple[int, int]]) -> None:
    found = merged(ranges)
    places = {at for start, end in ranges for at in range(start, end)}
    assert {at for start, end in found for at in range(start, end)} == places
    assert all(a[1] < b[0] for a, b in pairwise(found))


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 40))
def test_ends_of_a_range_are_in_it_and_not_too_long(start: int, size: int, longest: int) -> None:
    found = ends_of(start, start + size, longest)
    assert all(start <= a <= b <= start + size for a, b in found)
    assert sum(b - a for a, b in found) <= max(longest, 0) or size <= longest
