"""Where evidence stands after its document was edited, renamed, cut again or removed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluation.desk import Desk
from extraction.pdf_files import PageFile, write_pdf

from merestone import Questions
from merestone.evaluation.gold.anchoring import anchor_questions
from merestone.evaluation.gold.values import AnchoredEvidence, Gold, GoldSpan
from merestone.evaluation.questions import Evidence, Question

FAQ = (
    "# Returns\n\nReturns are accepted within thirty days.\n\n"
    "Refunds go to the card that paid.\n\nGift cards never expire.\n\n"
)
NOTICE = "Notice: this page was revised in spring.\n\n"
REFUNDS = "Refunds go to the card that paid."
PAGE = (
    "<html><body><h1>Caf&eacute;</h1><p>The <b>es</b>presso costs&nbsp;2 &lt; 3 euro.</p>"
    "<script>var a = 1;</script><table><tr><td>Tea</td><td>1.50</td></tr></table></body></html>"
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.library.close()


def source_of(text: str, quote: str) -> Evidence:
    start = text.index(quote)
    return Evidence("a.html", start, start + len(quote), quote, coordinates="source")


def test_evidence_at_its_place_is_the_same(desk: Desk) -> None:
    desk.write({"a.md": FAQ})
    known = desk.evidence("a.md", REFUNDS)
    for evidence in (
        known,
        replace(known, version=known.version[:8]),
        replace(known, quote=""),
        replace(known, version=""),
        replace(known, version="", prefix="", suffix=""),
        Evidence("a.md", quote=REFUNDS),
        Evidence("a.md", known.start, known.end),
    ):
        assert desk.quoted(evidence) == ("same", REFUNDS)


def test_without_span_and_quote_the_document_is_meant(desk: Desk) -> None:
    desk.write({"a.md": FAQ})
    assert desk.quoted(Evidence("a.md")) == ("same", FAQ)


def test_evidence_is_followed_through_edits_of_its_document(desk: Desk) -> None:
    desk.write({"a.md": FAQ})
    known = desk.evidence("a.md", REFUNDS)
    desk.write({"a.md": NOTICE + FAQ})
    desk.write({"a.md": NOTICE + NOTICE + FAQ})
    for evidence in (
        known,
        replace(known, quote="", prefix="", suffix=""),
        replace(known, prefix="", suffix=""),
        # The quote says that the first version is meant.
        replace(known, version="", prefix="", suffix=""),
    ):
        assert desk.quoted(evidence) == ("moved", REFUNDS)


def test_reworded_evidence_is_to_be_looked_at(desk: Desk) -> None:
    desk.write({"a.md": FAQ})
    known = desk.evidence("a.md", REFUNDS)
    desk.write({"a.md": FAQ.replace("the card that paid", "the account of the buyer")})
    for evidence in (known, replace(known, version=""), replace(known, quote="")):
        found = desk.place(evidence)
        assert found.outcome == "changed"
        assert found.reason
    _, text = desk.quoted(known)
    assert text == "Refunds go to the account of the buyer."


def test_deleted_evidence_is_gone_and_never_found_in_its_twin(desk: Desk) -> None:
    desk.write({"a.md": f"One.\n\n{REFUNDS}\n\nTwo, quite another.\n\n{REFUNDS}\n\nThree.\n"})
    first = desk.evidence("a.md", REFUNDS)
    second = desk.evidence("a.md", REFUNDS, occurrence=1)
    desk.write({"a.md": f"One.\n\nTwo, quite another.\n\n{REFUNDS}\n\nThree.\n"})
    assert desk.place(first).outcome in ("gone", "changed")
    assert desk.quoted(second) == ("moved", REFUNDS)


def test_a_library_that_never_saw_the_old_version_goes_by_what_stood_around(desk: Desk) -> None:
    desk.write({"a.md": NOTICE + FAQ})
    start = FAQ.index(REFUNDS)
    end = start + len(REFUNDS)
    known = Evidence(
        "a.md", start, end, REFUNDS, FAQ[start - 32 : start], FAQ[end : end + 32], "0123456789"
    )
    assert desk.quoted(known) == ("moved", REFUNDS)
    # One whole sentence, once: that is enough without a version, too.
    assert desk.quoted(replace(known, version="", prefix="", suffix="")) == ("moved", REFUNDS)
    word = replace(known, version="", prefix="", suffix="", quote="never", start=3, end=8)
    assert desk.place(word).outcome == "changed"


def test_a_quote_that_stands_several_times_is_told_by_what_is_around_or_not_at_all(
    desk: Desk,
) -> None:
    desk.write({"a.md": "The pump takes 40 bar.\n\nThe valve of the boiler takes 40 bar.\n"})
    alone = desk.place(Evidence("a.md", quote="40 bar"))
    assert alone.outcome == "changed"
    assert "2 times" in alone.reason
    around = Evidence("a.md", quote="40 bar", prefix="The valve of the boiler takes ", suffix=".\n")
    found = desk.place(around)
    assert (found.outcome, found.span and found.span.start) == ("same", 54)


def test_a_quote_is_found_whatever_its_white_space_hyphens_and_marks(desk: Desk) -> None:
    desk.write(
        {"a.md": "The co-operative\nof \u201cNorth\u201d is di\ufb03cult to find - and to leave.\n"}
    )
    quote = 'The cooper-\native of "North" is   difficult to find \u2014 and'
    outcome, text = desk.quoted(Evidence("a.md", quote=quote))
    assert outcome == "moved"
    assert text.startswith("The co-operative")
    assert text.endswith("and")
    # Other marks are another text.
    assert desk.place(Evidence("a.md", quote=quote.replace("and", "and!"))).outcome != "moved"


def test_a_renamed_document_takes_its_evidence_along(desk: Desk) -> None:
    desk.write({"a.md": FAQ, "b.md": "# Other\n\nNothing of it.\n"})
    known = desk.evidence("a.md", REFUNDS)
    (desk.folder / "a.md").rename(desk.folder / "c.md")
    desk.write({})
    for evidence in (
        known,
        replace(known, version=""),
        Evidence("a.md"),
        Evidence("a.md", quote=REFUNDS),
    ):
        found = desk.place(evidence)
        assert found.outcome == "moved"
        assert found.span
        assert found.span.document == "c.md"
    report = desk.check([Question("q", "Where?", (known,), scope=("a.md", "b.md"))])
    assert report.questions[0].missing_scope == ()
    (question,) = report.applied(Questions([report.questions[0].question]))
    assert question.scope == ("c.md", "b.md")
    assert question.evidence[0].doc == "c.md"


def test_documents_that_are_not_there_or_have_no_text_are_told(desk: Desk) -> None:
    desk.write({"a.md": FAQ, "b.md": "x" * 50, "empty.md": ""})
    known = desk.evidence("b.md", "x" * 50)
    (desk.folder / "b.md").unlink()
    desk.write({})
    assert desk.place(known).outcome == "no-document"
    assert desk.place(Evidence("never.md", quote="x")).outcome == "no-document"
    assert desk.place(Evidence("empty.md", quote="x")).outcome == "no-text"
    check = desk.check([Question("q", "Where?", (), scope=("never.md",))])
    assert check.questions[0].missing_scope == ("never.md",)
    assert check.to_review


def test_who_may_not_read_a_document_is_told_that_there_is_none(tmp_path: Path) -> None:
    rules = [{"allow": ["public"]}, {"paths": ["hr/"], "allow": ["user:bob"]}]
    desk = Desk(tmp_path, access={"rules": rules})
    desk.write({"hr/a.md": FAQ, "b.md": FAQ})
    questions = [
        Question("q", "Where?", (Evidence("hr/a.md", quote=REFUNDS),)),
        Question("r", "Where?", (Evidence("never.md", quote=REFUNDS),)),
    ]
    outcomes = {}
    for who in (None, ["user:bob"]):
        with desk.library.snapshot(principals=who) as snapshot:
            hidden, unknown = anchor_questions(snapshot, questions)
        outcomes[bool(who)] = hidden.anchored[0].outcome
        if not who:
            reason = unknown.anchored[0].reason.replace("never.md", "hr/a.md")
            assert hidden.anchored[0].reason == reason
    desk.library.close()
    assert outcomes == {False: "no-document", True: "same"}


def test_spans_of_markup_are_found_in_the_text(desk: Desk) -> None:
    desk.write({"a.html": PAGE})
    for quote, text in (
        ("<b>es</b>presso costs&nbsp;2 &lt; 3", "espresso costs"),
        ("<h1>Caf&eacute;</h1>", "Café"),
        ("<tr><td>Tea</td><td>1.50</td></tr>", "Tea"),
    ):
        evidence = source_of(PAGE, quote)
        outcome, found = desk.quoted(evidence)
        assert outcome == "same"
        assert found.startswith(text)
        # Sets made elsewhere say nothing of coordinates; the quote does.
        assert desk.quoted(replace(evidence, coordinates="text")) == ("moved", found)
        wrong = replace(evidence, start=evidence.start + 9, end=evidence.end + 9)  # type: ignore[operator]
        assert desk.place(wrong).outcome != "same"
    assert desk.place(source_of(PAGE, "var a = 1;")).outcome == "gone"


def test_spans_of_markup_become_spans_of_text_and_are_followed_from_then_on(desk: Desk) -> None:
    desk.write({"a.html": PAGE})
    quote = "The <b>es</b>presso costs&nbsp;2 &lt; 3 euro."
    asked = Questions([Question("q", "What does it cost?", (source_of(PAGE, quote),))])
    (question,) = desk.check(asked).applied(asked)
    (evidence,) = question.evidence
    assert evidence.coordinates == "text"
    desk.write({"a.html": PAGE.replace("<body>", "<body><p>Open from seven to nine, daily.</p>")})
    assert desk.quoted(evidence) == ("moved", evidence.quote)


def test_a_byte_order_mark_counts_in_the_source_and_not_in_the_text(desk: Desk) -> None:
    desk.write({"a.md": b"\xef\xbb\xbf" + FAQ.encode()})
    start = FAQ.index(REFUNDS)
    source = Evidence("a.md", start + 1, start + 1 + len(REFUNDS), REFUNDS, coordinates="source")
    assert desk.quoted(source) == ("same", REFUNDS)


def pdf() -> bytes:
    pages = [
        ["Terms of delivery", "Goods leave the ware-", "house on Monday.", "Boxes are counted"],
        ["twice at the gate.", "Damage must be reported", "within 7 days, rule HX-12."],
        ["Damage must be reported", "at once if it is large."],
    ]
    files = []
    for lines in pages:
        page = PageFile()
        for number, line in enumerate(lines):
            page.text(72, 700 - 14 * number, line)
        files.append(page)
    return write_pdf(*files)


def test_a_quote_on_a_page_is_found_by_its_words(desk: Desk) -> None:
    desk.write({"a.pdf": pdf()})

    def on(page: int, quote: str) -> tuple[str, str]:
        outcome, text = desk.quoted(Evidence("a.pdf", quote=quote, page=page))
        return outcome, " ".join(text.split())

    assert on(1, "goods leave the  warehouse ON Monday")[0] == "moved"
    assert on(2, "Damage must be reported") == ("same", "Damage must be reported")
    assert on(2, "(within 7 days, Rule HX-12.") == ("moved", "within 7 days, rule HX-12.")
    # Over the end of the page.
    assert on(1, "Boxes are counted twice at the gate")[0] == "same"
    # The page is wrong by far, and the words stand once.
    assert on(3, "Goods leave the warehouse on Monday. Boxes are counted twice")[0] == "same"
    # So few words could stand anywhere.
    assert on(3, "the gate")[0] == "changed"
    assert on(1, "Nothing of this is in it, whoever looks for it")[0] == "gone"
    assert "large" in on(3, "")[1]


def test_a_page_is_meant_as_a_whole_where_nothing_is_quoted(desk: Desk) -> None:
    desk.write({"a.pdf": pdf()})
    evidence = Evidence("a.pdf", page=2)
    outcome, text = desk.quoted(evidence)
    assert outcome == "same"
    assert text.startswith("twice at")
    assert text.rstrip().endswith("HX-12.")
    assert desk.check([Question("q", "Why?", (evidence,))]).moves == 0


@pytest.mark.parametrize("tokens", [16, 40, 120])
def test_cutting_again_changes_no_place(tmp_path: Path, tokens: int, handbook: Path) -> None:
    files: dict[str, str | bytes] = {
        path.name: path.read_bytes() for path in sorted(handbook.rglob("*.md"))[:4]
    }
    desk = Desk(tmp_path)
    desk.write(files)
    questions = [
        Question(
            f"{name} {start}", "Where?", (desk.evidence(name, desk.text(name)[start : start + 90]),)
        )
        for name in files
        for start in range(0, len(desk.text(name)) - 90, 400)
    ]
    before = [gold.spans for gold in anchored(desk, questions)]
    assert all(before)
    desk.library.close()
    again = Desk(tmp_path, chunking={"max_tokens": tokens, "strategy": "fixed"})
    again.write({})
    golds = anchored(again, questions)
    again.library.close()
    assert [gold.spans for gold in golds] == before
    assert Counter(each.outcome for gold in golds for each in gold.anchored).keys() == {"same"}


def anchored(desk: Desk, questions: list[Question]) -> list[Gold]:
    with desk.library.snapshot() as snapshot:
        return anchor_questions(snapshot, questions)


def test_the_field_case_of_gold_that_survives_edits(desk: Desk, bench_data: Path) -> None:
    rows = map(json.loads, (bench_data / "field_cases" / "cases.jsonl").read_text().splitlines())
    (case,) = (row for row in rows if row["id"] == "field-08-gold-survives-recut-and-edit")
    questions = [
        Question(
            row["id"],
            row["query"],
            tuple(Evidence(g["doc"], g["start"], g["end"], g["quote"]) for g in row["gold"]),
        )
        for row in case["input"]["questions"]
    ]
    for version in ("v1", "v2", "v3"):
        desk.write({"faq.txt": case["input"][f"document_{version}"]})
        golds = {gold.question.id: gold for gold in anchored(desk, questions)}
        expected = case["expected"][version]
        for id, status in expected.get("status", {"q1": "same", "q2": "same"}).items():
            (found,) = golds[id].anchored
            assert found.outcome == status.split(",")[0]
        if "gold_reanchored_to" in expected:
            for id, place in expected["gold_reanchored_to"].items():
                assert list(golds[id].spans[0][1:3]) == place
        usable = sum(gold.is_usable for gold in golds.values())
        assert usable == expected.get("scored_questions", 2)


def gold_of(match: str, outcomes: list[str], grades: list[int] | None = None) -> Gold:
    grades = grades or [1] * len(outcomes)
    evidence = tuple(Evidence("a.md", grade=grade) for grade in grades)
    question = Question("q", "Why?", evidence, match="any" if match == "any" else "all")
    made: list[Any] = [AnchoredEvidence(outcome, None) for outcome in outcomes]  # type: ignore[arg-type]
    spans = tuple(
        GoldSpan("a.md", 0, 1, grade)
        for outcome, grade in zip(outcomes, grades, strict=True)
        if outcome in ("same", "moved") and grade
    )
    return Gold(question, spans, question.match, tuple(made))


@pytest.mark.parametrize(
    ("gold", "is_usable"),
    [
        (gold_of("all", []), True),
        (gold_of("all", ["same", "moved"]), True),
        (gold_of("all", ["same", "changed"]), False),
        (gold_of("any", ["same", "gone"]), True),
        (gold_of("any", ["changed", "gone"]), False),
        (gold_of("all", ["same", "same"], [1, 0]), True),
        (gold_of("any", ["same"], [0]), False),
    ],
)
def test_a_question_is_scored_only_with_certain_gold(gold: Gold, is_usable: bool) -> None:
    assert gold.is_usable == is_usable


def test_each_document_is_read_once(desk: Desk) -> None:
    text = "".join(f"The pump number {number} runs at {number} bar.\n\n" for number in range(12))
    desk.write({f"{name}.md": f"# {name}\n\n{text}" for name in "abcd"})
    questions = [
        Question(
            f"{name}{number}", "Where?", (desk.evidence(f"{name}.md", f"number {number} runs"),)
        )
        for number in range(12)
        for name in "abcd"
    ]
    desk.write({"a.md": NOTICE + text, "b.md": NOTICE + text})
    with desk.library.snapshot() as snapshot:
        counted = Counting(snapshot)
        golds = anchor_questions(counted, questions)  # type: ignore[arg-type]
    assert all(gold.is_usable for gold in golds)
    assert {gold.anchored[0].outcome for gold in golds} == {"same", "moved"}
    for document in ("a.md", "b.md"):
        # Once here, and once where the history is followed.
        assert counted.reads["text", document] <= 2
        assert counted.reads["history", document] <= 2
    assert counted.reads["text", "c.md"] == 1
    assert counted.reads["document", "c.md"] == 0


class Counting:
    """A snapshot that counts what is read of which document."""

    def __init__(self, snapshot: object) -> None:
        self._snapshot = snapshot
        self.reads: Counter[tuple[str, str]] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._snapshot, name)

        def read(*given: Any) -> Any:
            self.reads[name, str(given[0]) if given else ""] += 1
            return method(*given)

        return read


def test_applying_a_check_settles_what_is_certain_and_nothing_else(desk: Desk) -> None:
    desk.write({"a.md": FAQ})
    asked = Questions(
        [
            Question("a", "Who?", (desk.evidence("a.md", REFUNDS),)),
            Question("b", "When?", (desk.evidence("a.md", "Gift cards never expire."),)),
            Question("c", "What?", (Evidence("a.md", quote="thirty\ndays"), Evidence("a.md"))),
        ]
    )
    desk.write({"a.md": NOTICE + FAQ.replace("never expire", "expire in May")})
    report = desk.check(asked)
    assert report.counts == {"moved": 2, "changed": 1, "same": 1}
    assert [item.question.id for item in report.to_review] == ["b"]
    assert report.moves == 2
    applied = report.applied(asked)
    assert applied.by_id("b") == asked.by_id("b")
    assert applied.by_id("a").evidence == (desk.evidence("a.md", REFUNDS),)
    assert applied.by_id("c").evidence[0] == desk.evidence("a.md", "thirty days")
    again = desk.check(applied)
    assert again.moves == 0
    assert again.counts == {"same": 3, "changed": 1}
    shape = json.loads(json.dumps(report.to_json()))
    assert shape["evidence"] == {"moved": 2, "changed": 1, "same": 1}
    assert shape["needs_review"] == ["b"]
    (row,) = shape["per_question"][1]["evidence"]
    assert row["found"].startswith("Gift cards expire in May")
