"""How good a cutting is, judged without questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from chunking.strategies import markdown, read_markdown, texts
from hypothesis import given
from hypothesis import strategies as st

import merestone
from merestone.chunking import cut
from merestone.chunking.measures import SizeLimits
from merestone.chunking.passages import Passage, Places, merged
from merestone.chunking.report import examine_cutting
from merestone.text.tokenizers import CharacterTokenizer, WordTokenizer
from merestone.types import (
    Block,
    ChunkingSettings,
    ContextSpan,
    CuttingReport,
    Document,
    Dropped,
    SettingsError,
    Tally,
    Tokenizer,
)

TABLE = "| name | use |\n|---|---|\n| pump | water |\n| fan | air |\n"


def cut_at_marks(marked: str) -> tuple[Document, list[tuple[int, int]]]:
    """The Markdown without its ``¦``, and the spans between them."""
    parts = marked.split("¦")
    spans, start = [], 0
    for part in parts:
        spans.append((start, start + len(part)))
        start += len(part)
    return read_markdown("".join(parts)), spans


def report_of(marked: str, **limits: int) -> CuttingReport:
    document, spans = cut_at_marks(marked)
    return examine_cutting(
        document, spans, limits=SizeLimits(max_chars=1000, **limits), tokenizer=WordTokenizer()
    )


def found(report: CuttingReport) -> dict[str, int]:
    """The kinds that were found, and how often."""
    return {kind: tally.count for kind, tally in report.tallies.items() if tally.count}


@pytest.mark.parametrize(
    ("marked", "kinds"),
    [
        ("One is ¦here. Two is there.", {"sentence_cut", "paragraph_cut"}),
        ("One is here. ¦Two is there.", {"paragraph_cut"}),
        ("One is here.\n\n¦Two is there.", set()),
        ("- one\n- ¦two", {"list_item_cut", "list_cut", "sentence_cut"}),
        ("- one\n¦- two", {"list_cut"}),
        ("```py\nx = 1\n¦y = 2\n```", {"code_cut"}),
        ("text\n\n¦```py\nx = 1\ny = 2\n```\n¦\nmore", {"lead_in_parted"}),
        ("> said ¦one", {"quote_cut", "paragraph_cut", "sentence_cut"}),
        ("term\n\n: what ¦it is", {"definition_cut", "paragraph_cut", "sentence_cut"}),
        (TABLE.replace("| fan", "¦| fan"), {"table_cut", "header_missing"}),
        (TABLE.replace("air", "¦air"), {"table_cut", "table_row_cut", "header_missing"}),
        ("$$\nx =¦ 1\n$$", {"formula_cut"}),
    ],
)
def test_what_was_cut_although_it_would_fit(marked: str, kinds: set[str]) -> None:
    assert set(found(report_of(marked))) == kinds


def test_a_structure_that_fits_no_chunk_is_not_held_against_the_cutting() -> None:
    marked = "One two three four ¦five six seven. ¦Eight is ¦nine."
    assert found(report_of(marked, max_tokens=4)) == {"sentence_cut": 1}
    assert found(report_of(marked, max_tokens=7)) == {"sentence_cut": 2}
    assert found(report_of(marked, max_tokens=10)) == {"sentence_cut": 2, "paragraph_cut": 1}


def test_without_limits_the_longest_chunk_is_the_measure() -> None:
    document, spans = cut_at_marks("One two three four ¦five six seven. ¦Eight ¦nine.")
    assert found(examine_cutting(document, spans)) == {"sentence_cut": 1}


def test_symbols_and_records_are_structures_too() -> None:
    blocks = (Block("symbol", 0, 9), Block("record", 10, 15), Block("rule", 16, 19))
    document = Document("a.py", "def f: x\n\nrow 1\n\n---\n", blocks)
    report = examine_cutting(document, [(0, 4), (4, 14), (14, 17), (17, 20)])
    assert found(report) == {"symbol_cut": 1, "record_cut": 1}


def test_what_one_of_two_overlapping_chunks_holds_is_whole() -> None:
    text = "One is here. Two is there."
    document = read_markdown(text)
    assert "sentence_cut" not in found(examine_cutting(document, [(0, 13), (4, 26)]))
    assert "sentence_cut" in found(examine_cutting(document, [(0, 5), (4, 26)]))


@pytest.mark.parametrize(
    ("marked", "count"),
    [
        ("# One\n\n¦text", 1),
        ("# One\n¦\ntext", 1),
        ("# One\n\nte¦xt", 0),
        ("# One\n\n¦## Two\n\ntext", 1),
        ("# One\n\n## Two\n\n¦text", 1),
        # A section without text of its own heads nothing.
        ("# One\n\n¦# Two\n\ntext", 0),
        ("text\n\n¦# One\n", 0),
        ("# One\n\n```\n¦x = 1\n```", 1),
    ],
)
def test_headings_left_at_the_end_of_a_chunk(marked: str, count: int) -> None:
    assert found(report_of(marked)).get("heading_left", 0) == count


def test_a_lead_in_away_from_its_list_and_its_return_as_context() -> None:
    marked = "Do this:\n\n¦- one\n- two\n"
    report = report_of(marked)
    assert report.tallies["lead_in_parted"] == Tally(1, 1, 0)
    assert report_of(marked.replace("¦", "")).tallies["lead_in_parted"] == Tally(0, 1, 0)
    document, ((_, middle), (_, end)) = cut_at_marks(marked)
    (whole,) = merestone.chunk(document, strategy="structure", tokenizer=WordTokenizer())
    lead_in = ContextSpan("lead_in", 0, 8, "Do this:")
    halves = [
        replace(whole, start=0, end=middle),
        replace(whole, start=middle, end=end, context=(lead_in,)),
    ]
    assert examine_cutting(document, halves).tallies["lead_in_parted"] == Tally(1, 1, 1)


def test_a_table_part_needs_the_header_in_its_text_or_its_context() -> None:
    document, spans = cut_at_marks(TABLE.replace("| fan", "¦| fan"))
    report = examine_cutting(document, spans)
    assert report.tallies["header_missing"] == Tally(1, 1, 0)
    (finding,) = [found for found in report.findings if found.kind == "header_missing"]
    assert document.text[finding.start : finding.end] == "| fan | air |"
    assert finding.chunk == 1
    settings = ChunkingSettings("structure", max_tokens=14, target_tokens=10, min_tokens=1)
    cutting = cut(document, settings, WordTokenizer())
    assert len(cutting.chunks) == 2
    assert examine_cutting(document, cutting).tallies["header_missing"] == Tally(0, 1, 1)


def test_a_term_away_from_what_defines_it() -> None:
    assert found(report_of("term\n\n: ¦what it is"))["term_parted"] == 1
    assert "term_parted" not in found(report_of("term\n\n: what ¦it is"))


def test_chunks_outside_the_limits() -> None:
    marked = "One two three four five.\n\n¦Six."
    report = report_of(marked, max_tokens=4, min_tokens=2)
    assert found(report) == {"too_many_tokens": 1, "too_small": 1}
    document, spans = cut_at_marks(marked)
    report = examine_cutting(document, spans, limits=SizeLimits(max_chars=10))
    assert found(report) == {"too_many_characters": 1}
    assert "too_small" not in found(report_of("One.", min_tokens=2))


@pytest.mark.parametrize(
    ("marked", "kind"),
    [
        ("a val¦ve", "cut_in_word"),
        ("family 👩‍¦👩‍👧", "cut_in_grapheme"),
        ("caf\u0065¦\u0301", "cut_in_grapheme"),
        ("one ¦two", None),
        ("one¦ two", None),
        ("one\r¦\ntwo", None),
        ("漢¦字", None),
    ],
)
def test_cuts_inside_words_and_graphemes(marked: str, kind: str | None) -> None:
    kinds = {"cut_in_word", "cut_in_grapheme"}
    report = report_of(marked)
    assert set(found(report)) & kinds == ({kind} if kind else set())
    for finding in report.findings:
        if finding.kind in kinds:
            assert finding.start == finding.end == marked.index("¦")
            assert finding.chunk == 0


def test_coverage_repetition_and_what_was_left_out() -> None:
    text = "abcd efgh ijkl mnop"
    document = Document("a.txt", text, (Block("paragraph", 0, 14), Block("footnote", 15, 19)))
    report = examine_cutting(
        document,
        [(0, 4), (2, 8)],
        tokenizer=CharacterTokenizer(),
        dropped=[Dropped(10, 12, "noise")],
    )
    assert (report.body_characters, report.covered_characters) == (16, 7)
    assert (report.dropped, report.dropped_characters) == (1, 2)
    assert (report.repeated_characters, report.repeated_tokens) == (2, 2)
    assert report.coverage == 7 / 16
    assert report.repetition == 2 / 9
    gaps = [text[f.start : f.end] for f in report.findings if f.kind == "uncovered"]
    assert gaps == ["h", "kl mnop"]


def test_other_layers_are_no_part_of_the_body() -> None:
    blocks = (Block("paragraph", 0, 4), Block("paragraph", 5, 9, layer="furniture"))
    report = examine_cutting(Document("a.pdf", "body page", blocks), [(0, 4)])
    assert (report.body_characters, report.coverage) == (4, 1.0)


def test_context_is_counted_apart() -> None:
    document = read_markdown("# Pump\n\nIt runs.\n\n## Care\n\nOil it once a week.\n")
    settings = ChunkingSettings("structure", max_tokens=9, target_tokens=7, min_tokens=1)
    cutting = cut(document, settings, WordTokenizer())
    report = examine_cutting(document, cutting, tokenizer=WordTokenizer())
    assert report.tokens is not None
    assert report.tokens.total == sum(chunk.tokens for chunk in cutting.chunks)
    own = sum(len(chunk.text.split()) for chunk in cutting.chunks)
    assert report.context_tokens == report.tokens.total - own > 0
    assert report.context_share == report.context_tokens / report.tokens.total
    # Without a tokenizer the chunks' own counts are taken.
    assert examine_cutting(document, cutting).tokens == report.tokens
    assert examine_cutting(document, cutting).context_share is None


def test_sizes_are_counted_by_eighths_of_the_limit() -> None:
    document = Document("a.txt", "x" * 100)
    spans = [(0, 1), (1, 3), (3, 6), (6, 14), (14, 31)]
    sizes = examine_cutting(document, spans, limits=SizeLimits(max_chars=16)).characters
    assert [(size.above, size.up_to, size.count) for size in sizes.bins[:3]] == [
        (0, 2, 2),
        (2, 4, 1),
        (4, 6, 0),
    ]
    assert (sizes.bins[-1].above, sizes.bins[-1].up_to, sizes.bins[-1].count) == (16, None, 1)
    assert len(sizes.bins) == 9
    assert (sizes.minimum, sizes.median, sizes.p90, sizes.maximum) == (1, 3, 17, 17)
    assert examine_cutting(document, spans).characters.limit is None


def test_any_cutter_can_be_judged() -> None:
    text = "One is here. Two is there. Three is nowhere to be seen today."
    windows = merestone.windows(text, 25, 5)
    pairs = [(window["start"], window["end"]) for window in windows]
    one = merestone.examine_cutting(text, windows, tokenizer=WordTokenizer())
    other = merestone.examine_cutting(text, reversed(pairs), tokenizer=WordTokenizer())
    assert one == other
    assert one.chunks == len(windows)
    assert found(one)["sentence_cut"] >= 1
    json.dumps(one.to_json())


@pytest.mark.parametrize("span", [(-1, 3), (0, 5), (3, 2)])
def test_a_range_that_the_text_does_not_have_is_an_error(span: tuple[int, int]) -> None:
    with pytest.raises(SettingsError) as caught:
        merestone.examine_cutting("four", [span], tokenizer=WordTokenizer())
    assert caught.value.code == "span-outside-text"


def test_findings_are_bounded_and_every_kind_is_among_them() -> None:
    marked = "# One\n\n¦" + "Some wo¦rds. " * 50
    document, spans = cut_at_marks(marked)
    report = examine_cutting(document, spans, limits=SizeLimits(max_chars=2000), max_findings=10)
    assert len(report.findings) == 10
    assert report.findings_total == sum(found(report).values()) > 100
    assert {finding.kind for finding in report.findings} == set(found(report))
    starts = [finding.start for finding in report.findings]
    assert starts == sorted(starts)
    assert not examine_cutting(document, spans, max_findings=0).findings


documents = markdown.map(read_markdown) | texts.map(lambda text: Document("a.txt", text))
spans_of = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=12)


@given(spans_of, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=6))
def test_places_answer_as_looking_at_every_passage_does(
    raw: Sequence[tuple[int, int]], asked: Sequence[tuple[int, int]]
) -> None:
    passages = sorted(Passage(start, start + 1 + size) for start, size in raw)
    ranges = sorted((start, start + size) for start, size in asked)
    places = Places(passages)
    for (start, end), overlapping in zip(ranges, places.overlapping(ranges), strict=True):
        assert places.holds(start, end) == any(p.start <= start and end <= p.end for p in passages)
        expected = [i for i, p in enumerate(passages) if p.start < end and start < p.end]
        assert overlapping == expected
        assert places.touches(start, end) == bool(expected)
        reaching = [i for i, p in enumerate(passages) if p.end > start]
        assert places.first_reaching(start) == (reaching[0] if reaching else None)
    covered = {
        offset for start, end in merged(p[:2] for p in passages) for offset in range(start, end)
    }
    assert covered == {offset for p in passages for offset in range(p.start, p.end)}


@given(documents, spans_of, st.integers(1, 40))
def test_the_counts_agree_with_each_other(
    document: Document, raw: Sequence[tuple[int, int]], limit: int
) -> None:
    length = len(document.text)
    spans = [(min(start, length), min(start + size, length)) for start, size in raw]
    report = examine_cutting(
        document, spans, limits=SizeLimits(limit, 2, limit * 8), tokenizer=WordTokenizer()
    )
    body = document.text[: document.body_end]
    held = {offset for start, end in spans for offset in range(start, end)}
    filled = [offset for offset, sign in enumerate(body) if not sign.isspace()]
    assert report.body_characters == len(filled)
    assert report.covered_characters == sum(offset in held for offset in filled)
    per_span = [sum(start <= offset < end for offset in filled) for start, end in spans]
    assert report.repeated_characters == sum(per_span) - report.covered_characters
    for tally in report.tallies.values():
        assert 0 <= tally.count <= tally.of
        assert 0 <= tally.reconnected <= tally.of
    assert report.findings_total == sum(found(report).values())
    assert len(report.findings) == min(200, report.findings_total)
    for sizes in (report.characters, report.tokens):
        assert sizes is not None
        assert sum(size.count for size in sizes.bins) == report.chunks
    for finding in report.findings:
        assert 0 <= finding.start <= finding.end <= length
        assert finding.chunk is None or 0 <= finding.chunk < report.chunks


@given(documents)
def test_a_document_that_is_one_chunk_is_without_fault(document: Document) -> None:
    report = examine_cutting(document, [(0, len(document.text))], limits=SizeLimits(min_tokens=1))
    assert not found(report)
    assert report.coverage == 1.0
    assert report.repetition == 0.0


@given(markdown)
def test_the_structure_strategy_loses_nothing_and_stays_within_limits(text: str) -> None:
    document = read_markdown(text)
    settings = ChunkingSettings(
        "structure", max_tokens=40, target_tokens=32, min_tokens=4, max_chars=320
    )
    cutting = cut(document, settings, WordTokenizer())
    report = examine_cutting(
        document, cutting, limits=SizeLimits(40, 4, 320), tokenizer=WordTokenizer()
    )
    kinds = set(found(report))
    assert not kinds & {"uncovered", "too_many_tokens", "too_many_characters", "cut_in_grapheme"}


def test_structure_tears_less_than_windows_do(handbook: Path, bert: Tokenizer) -> None:
    torn = {"structure": 0, "windows": 0}
    for path in sorted(handbook.rglob("*.md"))[:6]:
        document = merestone.read(path)
        for name, chunks in (
            ("structure", merestone.chunk(document, strategy="structure", tokenizer=bert)),
            ("windows", merestone.windows(document.text, 1000, 200)),
        ):
            report = merestone.examine_cutting(document, chunks, tokenizer=bert)
            torn[name] += report.findings_total
    assert torn["structure"] == 0 < torn["windows"]
