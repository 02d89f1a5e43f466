"""Situations in which other chunkers went wrong: each with its own input, and with its whole kind.

``tests/data/chunk_cases`` says where each situation comes from.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from chunking.invariants import check_cutting
from chunking.strategies import read_markdown
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone import SettingsError, chunk, recursive_chunks, windows
from merestone.chunking import cut, render
from merestone.extraction import read_document
from merestone.text.graphemes import grapheme_ends
from merestone.text.hashing import digest
from merestone.text.tokenizers import CharacterTokenizer, WordTokenizer
from merestone.types import (
    Block,
    Chunk,
    ChunkingSettings,
    Cutting,
    Document,
    Page,
    RawDocument,
    Segments,
    Tokenizer,
)
from merestone.types.segments import Segment

CASES = Path(__file__).parents[1] / "data" / "chunk_cases"
EXAMPLES = settings(max_examples=40)

_words = st.text("abcdefghij éß汉", min_size=1, max_size=12).map(str.split).map("".join)
words = _words.filter(bool)
sentences = st.lists(words, min_size=1, max_size=9).map(
    lambda found: " ".join(found).capitalize() + "."
)


def text_of(file: str) -> str:
    return (CASES / file).read_bytes().decode()


def document_of(file: str, text: str | None = None) -> Document:
    """The document of a case; with ``text`` the one that a file of its name and that text is."""
    data = (CASES / file).read_bytes() if text is None else text.encode()
    return read_document(RawDocument(file, data))


def by_chars(document: Document, size: int, **changes: object) -> Cutting:
    """Cut by code points of the own text; context has room of its own."""
    limits = ChunkingSettings(max_tokens=3 * size, target_tokens=size, min_tokens=1, max_chars=size)
    limits = replace(limits, **changes)
    cutting = cut(document, limits, CharacterTokenizer())
    check_cutting(document, cutting, limits, CharacterTokenizer())
    return cutting


def by_tokens(
    document: Document, size: int, tokenizer: Tokenizer | None = None, **changes: object
) -> Cutting:
    limits = ChunkingSettings(max_tokens=size, target_tokens=max(1, size * 4 // 5), min_tokens=1)
    limits = replace(limits, **changes)
    tokenizer = tokenizer or WordTokenizer()
    cutting = cut(document, limits, tokenizer)
    check_cutting(document, cutting, limits, tokenizer)
    return cutting


def test_every_case_has_a_test() -> None:
    ids = [json.loads(line)["id"] for line in (CASES / "cases.jsonl").open(encoding="utf-8")]
    named = Path(__file__).read_text(encoding="utf-8")
    assert len(ids) >= 27
    assert [each for each in ids if f"# {each}\n" not in named] == []


# Positions


# pos-repeat-word
def test_the_second_of_two_equal_words_has_its_own_place() -> None:
    text = text_of("pos-repeat-word.txt")
    for overlap in range(5):
        first, *rest = recursive_chunks(text, 5, overlap, (" ", ""))
        assert (first["start"], first["end"]) == (0, 5)
        assert rest[0]["start"] == 6
        assert all(text[c["start"] : c["end"]] == c["text"] for c in rest)
    with pytest.raises(ValueError, match="overlap = 5"):
        recursive_chunks(text, 5, 5, (" ", ""))


@EXAMPLES
@given(words, st.integers(2, 30), st.integers(1, 40), st.data())
def test_repeated_words_have_places_that_never_go_back(
    word: str, times: int, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    text = " ".join([word] * times)
    found = recursive_chunks(text, size, overlap)
    assert all(text[c["start"] : c["end"]] == c["text"] for c in found)
    assert all(before["start"] < after["start"] for before, after in pairwise(found))
    assert all(before["end"] < after["end"] for before, after in pairwise(found))


# pos-token-overlap
@pytest.mark.parametrize("strategy", ["fixed", "recursive", "structure", "sentences"])
def test_an_overlap_in_tokens_is_no_overlap_in_characters(bert: Tokenizer, strategy: str) -> None:
    text = text_of("pos-token-overlap.txt")
    changes = {"strategy": strategy, "overlap_tokens": 10, "target_tokens": 20}
    document = Document(id="text", text=text)
    chunks = by_tokens(document, 20 + bert.special_tokens, bert, **changes).chunks
    assert chunks[0].start == 0
    assert len(chunks) > 1


@EXAMPLES
@given(st.lists(sentences, max_size=20), st.integers(12, 40), st.data())
def test_overlaps_in_tokens_are_at_most_what_was_asked(
    bert: Tokenizer, found: list[str], size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(1, (size - 2) // 2))
    strategy = data.draw(st.sampled_from(["structure", "sentences", "recursive"]))
    document = Document(id="text", text=" ".join(found))
    changes = {"strategy": strategy, "overlap_tokens": overlap, "target_tokens": size}
    chunks = by_tokens(document, size, bert, **changes).chunks
    for before, after in pairwise(chunks):
        shared = document.text[after.start : before.end] if after.start < before.end else ""
        assert bert.counts([shared])[0] <= overlap


# pos-overlap-shift
@pytest.mark.parametrize("strategy", ["fixed", "recursive", "structure"])
def test_a_phrase_that_comes_twice_does_not_move_a_chunk(strategy: str) -> None:
    document = document_of("pos-overlap-shift.txt")
    chunks = by_chars(document, 60, strategy=strategy, overlap_chars=20).chunks
    assert len(chunks) > 2
    for before, after in pairwise(chunks):
        assert before.start < after.start <= before.end + 1
        assert before.end - after.start <= 20


@EXAMPLES
@given(st.lists(st.sampled_from(["Scope 3 of it.", "Scope 3", "of it.", "Scope"]), max_size=40))
def test_texts_of_a_few_phrases_are_cut_at_their_own_places(parts: list[str]) -> None:
    document = Document(id="text", text=" ".join(parts))
    for strategy in ("fixed", "recursive", "structure", "sentences"):
        chunks = by_chars(document, 40, strategy=strategy, overlap_chars=15).chunks
        assert all(a.end < b.end for a, b in pairwise(chunks))


def paged(text: str) -> Document:
    """A document of pages that form feeds part, as a reader of pages makes it: one text."""
    parts = text.split("\f")
    segments: list[Segment] = []
    pages: list[Page] = []
    start = 0
    for number, part in enumerate(parts, 1):
        pages.append(Page(number, None, 100, 100, 0, len(part)))
        if part:
            segments.append(Segment(start, start + len(part), 0, len(part), "copy", number))
        start += len(part)
    body = "".join(parts)
    blocks = (Block("paragraph", 0, len(body.rstrip())),) if body.strip() else ()
    return Document(
        id="pages", text=body, blocks=blocks, segments=Segments(tuple(segments)), pages=tuple(pages)
    )


# pos-page-ranges
def test_a_sentence_over_a_page_end_is_whole_and_lists_both_pages() -> None:
    text = text_of("pos-page-ranges.txt").replace("the\f", "the \f").replace(".\f", ". \f")
    first, *rest = by_chars(paged(text), 80).chunks
    assert first.pages == (1, 2)
    assert rest[0].pages[0] == 2
    assert first.boundary_end.reason in ("clause", "word")  # The sentence has 86 characters.
    first, *rest = by_chars(paged(text), 90).chunks
    assert first.text.endswith("closed until spring.")
    assert first.pages == (1, 2)
    assert [c.pages for c in rest] == [(2, 3)]


def test_a_form_feed_in_plain_text_ends_no_sentence() -> None:
    document = document_of("pos-page-ranges.txt")
    chunks = by_chars(document, 100).chunks
    assert any("the\fbridge should be closed" in chunk.text for chunk in chunks)
    assert all(chunk.text.endswith(".") for chunk in chunks)


@EXAMPLES
@given(st.lists(st.text("ab c.", max_size=30), min_size=1, max_size=8), st.integers(5, 60))
def test_a_chunk_lists_exactly_the_pages_of_its_characters(parts: list[str], size: int) -> None:
    document = paged("\f".join(parts))
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part))
    for found in by_chars(document, size).chunks:
        expected = tuple(
            number
            for number, (low, high) in enumerate(pairwise(ends), 1)
            if low < found.end and high > found.start and low < high
        )
        assert found.pages == expected


# pos-bytes-as-chars
def test_places_in_code_are_characters_and_not_bytes() -> None:
    document = document_of("pos-bytes-as-chars.py")
    chunks = by_chars(document, 60).chunks
    assert [c.attributes.get("symbol") for c in chunks][-1] == "naïve"
    assert chunks[-1].text.startswith("def naïve")


@EXAMPLES
@given(st.lists(st.sampled_from(["größe", "naïve", "汉字", "x", "𝑥"]), max_size=12))
def test_functions_behind_wide_characters_are_found_where_they_stand(names: list[str]) -> None:
    parts = [
        f'# 汉👩‍👩‍👧 {name}\ndef {name}_{n}(x):\n    return "汉{name}"\n'
        for n, name in enumerate(names)
    ]
    document = document_of("wide.py", "\n\n".join(parts))
    symbols = [block for block in document.blocks if block.kind == "symbol"]
    assert len(symbols) == len(names)
    for block, name in zip(symbols, names, strict=True):
        assert f"def {name}_" in document.text[block.start : block.end]
    by_chars(document, 60)


# pos-token-inside-char
@pytest.mark.parametrize("strategy", ["fixed", "recursive", "structure", "sentences"])
def test_no_cut_is_inside_a_character(byte_level: Tokenizer, strategy: str) -> None:
    document = document_of("pos-token-inside-char.txt")
    chunks = by_tokens(document, 4, byte_level, strategy=strategy).chunks
    assert "".join("".join(c.text.split()) for c in chunks) == "".join(document.text.split())
    assert not any("\ufffd" in c.text for c in chunks)


def test_a_limit_below_one_character_is_an_error_and_no_damage(byte_level: Tokenizer) -> None:
    document = document_of("pos-token-inside-char.txt")
    for strategy in ("fixed", "recursive", "structure", "sentences"):
        with pytest.raises(SettingsError, match="max-tokens-too-small"):
            by_tokens(document, 2, byte_level, strategy=strategy)


@EXAMPLES
@given(st.text(max_size=80), st.integers(8, 30), st.data())
def test_byte_level_tokens_cut_no_character(
    byte_level: Tokenizer, text: str, size: int, data: st.DataObject
) -> None:
    strategy = data.draw(st.sampled_from(["fixed", "recursive", "structure", "sentences"]))
    by_tokens(Document(id="text", text=text), size, byte_level, strategy=strategy)


# pos-word-overlap-sep
def test_an_overlap_in_words_keeps_the_places() -> None:
    document = document_of("pos-word-overlap-sep.txt")
    changes = {"strategy": "fixed", "overlap_tokens": 1, "target_tokens": 4}
    chunks = by_tokens(document, 4, **changes).chunks
    assert [c.text for c in chunks][:2] == ["Here comes part one.", "one. Here comes part"]


@EXAMPLES
@given(
    st.lists(st.tuples(words, st.sampled_from([" ", "  ", "\t", "\n", " \n "])), max_size=60),
    st.integers(2, 12),
    st.data(),
)
def test_white_space_of_any_kind_between_words_moves_no_place(
    parts: list[tuple[str, str]], size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    text = "".join(word + space for word, space in parts)
    changes = {"strategy": "fixed", "overlap_tokens": overlap, "target_tokens": size}
    chunks = by_tokens(Document(id="text", text=text), size, **changes).chunks
    for before, after in pairwise(chunks):
        assert len(text[after.start : before.end].split()) == overlap


# Losses


# loss-tabs-nbsp
def test_tabs_and_no_break_spaces_stay() -> None:
    document = document_of("loss-tabs-nbsp.md")
    (found,) = by_chars(document, 1000).chunks
    assert '\n\techo "a\u00a0b"\n' in found.text


@EXAMPLES
@given(
    st.lists(st.sampled_from(["\tx", "a\u00a0b", "  y", "\u3000z", "#  c", " \t w"]), min_size=1)
)
def test_lines_of_a_fence_stay_as_they_are(lines: list[str]) -> None:
    body = "\n".join(lines)
    (found,) = by_chars(read_markdown(f"# M\n\n```make\n{body}\n```\n"), 5000).chunks
    assert f"```make\n{body}\n```" in found.text


# loss-before-inner-header
def test_text_before_an_inner_heading_is_not_lost() -> None:
    document = document_of("loss-before-inner-header.md")
    for size in (400, 60, 40, 20):
        chunks = by_chars(document, size, context=()).chunks
        for line in ("Read this first.", "Then this.", "# a comment", "run it"):
            assert any(line in c.text for c in chunks)


@EXAMPLES
@given(
    st.lists(
        st.sampled_from(
            ["# A", "## B", "text.", "```sh\n# c\nrun\n```", "### D ###", "# text\n# e"]
        ),
        max_size=20,
    ),
    st.integers(10, 80),
)
def test_whatever_stands_between_headings_is_kept(parts: list[str], size: int) -> None:
    document = read_markdown("\n\n".join(parts))
    found = by_chars(document, size, context=())
    # The marks around code that was longer than a chunk are no passage by themselves.
    marks = {part.start: document.text[part.start : part.end] for part in found.dropped}
    assert set("".join(marks.values())) <= set("`# \n")
    pieces = {**marks, **{chunk.start: chunk.text for chunk in found.chunks}}
    kept = "".join(pieces[start] for start in sorted(pieces))
    assert "".join(kept.split()) == "".join(document.text.split())


def cells_are_kept(document: Document, cells: Sequence[str], size: int) -> None:
    chunks = by_tokens(document, size).chunks
    for cell in cells:
        assert any(cell in c.text for c in chunks)


# loss-table-cells
def test_cells_of_a_table_of_one_column_are_kept() -> None:
    cells = ["Steps", "Switch off the mains.", "Lift out the filter.", "Put it back."]
    for size in (64, 16, 8):
        cells_are_kept(document_of("loss-table-cells.md"), cells, size)


@EXAMPLES
@given(st.integers(1, 4), st.lists(words, min_size=1, max_size=20), st.integers(12, 60))
def test_cells_of_any_table_are_kept(columns: int, found: list[str], size: int) -> None:
    cells = [f"{word}{n}" for n, word in enumerate(found)]
    rows = [cells[n : n + columns] for n in range(0, len(cells), columns)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    head = ["| " + " | ".join(["h"] * columns) + " |", "|---" * columns + "|"]
    cells_are_kept(read_markdown("\n".join(head + lines)), cells, size)
    html = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    cells_are_kept(document_of("a.html", f"<table>{html}</table>"), cells, size)


# loss-html-reorder
def test_inline_tags_change_no_order() -> None:
    (found,) = by_chars(document_of("loss-html-reorder.html"), 1000).chunks
    assert found.text == "Turn the red handle to the left, then wait."


_inline = st.sampled_from(["<b>{}</b>", "<a href=x>{}</a>", "<code>{}</code>", "{}", "<i>{}</i>"])


@EXAMPLES
@given(st.lists(st.tuples(_inline, words, _inline), min_size=1, max_size=20))
def test_words_stay_in_order_under_any_inline_tags(parts: list[tuple[str, str, str]]) -> None:
    marked = [outer.format(inner.format(word)) for outer, word, inner in parts]
    document = document_of("a.html", f"<p>{' '.join(marked)}</p>")
    assert document.text.split() == [word for _, word, _ in parts]


# Markdown


def headings_of(document: Document) -> list[str]:
    found = [block for block in document.blocks if block.kind == "heading"]
    return [document.text[slice(*block.attributes["content"])] for block in found]


# md-hash-in-fence
def test_a_hash_in_a_fence_is_no_heading() -> None:
    document = document_of("md-hash-in-fence.md")
    assert headings_of(document) == ["Install"]
    chunks = by_chars(document, 1000).chunks
    assert "```bash\n# not a heading\nmake\n```" in chunks[0].text
    assert "~~~python\n# nor this\nx = 1\n~~~" in chunks[0].text


@EXAMPLES
@given(
    st.sampled_from(["```", "~~~", "````", "~~~~~"]),
    st.lists(st.sampled_from(["# a", "## b", "", "``", "~~", "x = 1", "    # c"]), max_size=12),
    st.sampled_from(["", "> ", "  "]),
)
def test_no_line_of_a_fence_is_a_heading(fence: str, lines: list[str], prefix: str) -> None:
    block = "\n".join(prefix + line for line in [fence + "py", *lines, fence])
    document = read_markdown(f"# One\n\n{block}\n\n## Two\n\ntext\n")
    assert headings_of(document) == ["One", "Two"]
    for found in by_chars(document, 1000).chunks:
        assert found.heading_path[:1] == ("One",)


# md-closing-hashes
def test_closing_hashes_are_not_part_of_a_heading() -> None:
    document = document_of("md-closing-hashes.md")
    assert headings_of(document) == ["Title", "C#", "Part"]
    chunks = by_chars(document, 20).chunks
    assert chunks[-1].heading_path == ("Title", "C#", "Part")


@EXAMPLES
@given(st.integers(1, 6), words, st.integers(1, 9), st.sampled_from(["", " ", "   "]))
def test_headings_end_before_their_closing_hashes(
    level: int, word: str, closing: int, space: str
) -> None:
    text = f"{'#' * level} {word}# {'#' * closing}{space}\n\ntext\n"
    assert headings_of(read_markdown(text)) == [f"{word}#"]


# md-path-separator
def test_a_heading_path_is_a_list() -> None:
    chunks = by_chars(document_of("md-path-separator.md"), 1000).chunks
    assert chunks[-1].heading_path == ("Help", "24/7 desk", "[Form](https://example.org/a/b)")
    assert chunks[-1].to_json()["heading_path"] == list(chunks[-1].heading_path)


@EXAMPLES
@given(st.lists(st.sampled_from(["a/b", "c > d", "e, f", "g|h", "/"]), min_size=1, max_size=6))
def test_headings_that_hold_separators_stay_apart(found: list[str]) -> None:
    lines = [f"{'#' * level} {words}" for level, words in enumerate(found, 1)]
    chunks = by_chars(read_markdown("\n\n".join([*lines, "text"])), 500).chunks
    assert chunks[-1].heading_path == tuple(found)


def parted_headings(document: Document, chunks: Sequence[Chunk], size: int) -> list[str]:
    """Headings at the end of a chunk that would fit beside the first block of their text."""
    found = []
    for block, following in pairwise(document.blocks):
        if block.kind == "heading" and following.kind != "heading":
            # White space behind a block counts too.
            fits = following.end + 2 - block.start <= size
            if fits and any(c.start <= block.start and c.end == block.end for c in chunks):
                found.append(document.text[block.start : block.end])
    return found


# md-orphan-heading
def test_a_heading_goes_with_its_text() -> None:
    document = document_of("md-orphan-heading.md")
    chunks = by_chars(document, 200).chunks
    assert len(chunks) == 2
    assert chunks[1].text.startswith("## What we found\n\nThe finding")


@EXAMPLES
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 12)), min_size=1, max_size=12),
    st.integers(60, 200),
    st.integers(1, 30),
)
def test_no_heading_is_parted_from_a_block_that_fits_beside_it(
    parts: list[tuple[int, int]], size: int, minimum: int
) -> None:
    sections = [
        f"{'#' * level} Part {n}\n\n" + ("Some words here. " * count).rstrip()
        for n, (level, count) in enumerate(parts)
    ]
    document = read_markdown("\n\n".join(sections))
    chunks = by_chars(document, size, min_tokens=minimum).chunks
    assert parted_headings(document, chunks, size) == []


# Tables


def cut_between_rows(document: Document, header: str, size: int) -> None:
    """Chunks end where rows end, and each can be shown with the names of its columns."""
    rows = [block for block in document.blocks if block.kind == "table_row"]
    ends = {block.end for block in rows}
    starts = {block.start for block in rows}
    chunks = by_chars(document, size).chunks
    assert len(chunks) > 1
    for found in chunks:
        assert found.end in ends
        assert found.start in starts or document.text[: found.start].strip() == ""
        assert header in render(found)
    for found in chunks[1:]:
        assert header not in found.text
        assert [span.role for span in found.context] == ["table_header"]


def markdown_table(header: str, rows: Sequence[str]) -> str:
    columns = header.count("|") - 1
    return "\n".join([header, "|---" * columns + "|", *rows]) + "\n"


# md-table-rows
# md-table-header-kreuzberg
# table-header-context
@pytest.mark.parametrize(
    ("file", "header", "size"),
    [
        ("md-table-rows.md", "| name | kind | note |", 200),
        ("md-table-header-kreuzberg.md", "| Holder | Class | Shares |", 150),
        ("table-header-context.html", "Part", 60),
    ],
)
def test_a_long_table_is_cut_between_rows_and_keeps_its_header(
    file: str, header: str, size: int
) -> None:
    cut_between_rows(document_of(file), header, size)


@EXAMPLES
@given(st.integers(1, 5), st.integers(8, 40), words, st.integers(0, 100))
def test_any_table_is_cut_between_rows_and_keeps_its_header(
    columns: int, count: int, word: str, more: int
) -> None:
    names = [f"Name{n}" for n in range(columns)]
    rows = [[f"{word}{row}.{n}" for n in range(columns)] for row in range(count)]
    header = f"| {' | '.join(names)} |"
    lines = [f"| {' | '.join(row)} |" for row in rows]
    table = markdown_table(header, lines)
    size = table.index("\n", table.index("|\n| " + word) + 2) + 2 + more
    document = read_markdown(table)
    if len(document.text) > 2 * size:
        cut_between_rows(document, header, size)
    cells = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    head = "".join(f"<th>{name}" for name in names)
    table = f"<table><thead><tr>{head}</thead><tbody>{cells}</tbody></table>"
    document = document_of("a.html", table)
    if document.body_end > 2 * size:
        cut_between_rows(document, "Name0", size)


# table-row-split
def test_a_row_that_fits_is_not_cut(bert: Tokenizer) -> None:
    document = document_of("table-row-split.md")
    rows = [block for block in document.blocks if block.kind == "table_row"]
    chunks = by_tokens(document, 48, bert).chunks
    for row in rows:
        assert any(c.start <= row.start and row.end <= c.end for c in chunks)


@EXAMPLES
@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(36, 60))
def test_rows_that_fit_beside_their_header_are_not_cut(lengths: list[int], size: int) -> None:
    rows = [f"| t{n} | {'word ' * length}|" for n, length in enumerate(lengths)]
    document = read_markdown(markdown_table("| Term | Meaning |", rows))
    chunks = by_tokens(document, size).chunks
    for row in (block for block in document.blocks if block.kind == "table_row"):
        text = document.text[row.start : row.end]
        if len(text.split()) + 5 <= size:
            assert any(c.start <= row.start and row.end <= c.end for c in chunks)


# Sizes


# budget-ignored-default
def test_the_size_given_is_the_size_used(bert: Tokenizer) -> None:
    text = text_of("budget-ignored-default.txt")
    chunks = chunk(text, max_tokens=128)
    assert max(c.tokens for c in chunks) <= 128
    assert min(c.tokens for c in chunks[:-1]) > 64
    assert all(c.tokens == bert.counts([render(c)])[0] + bert.special_tokens for c in chunks)


@pytest.mark.parametrize(
    "option", ["max_token", "size", "chunksize", "overlap", "tokenizer_name", "unknown"]
)
def test_an_unknown_option_is_an_error(option: str) -> None:
    with pytest.raises(TypeError, match=option):
        chunk("some text", **{option: 3})


@pytest.mark.parametrize("strategy", ["fixed", "recursive", "sentences", "structure"])
@pytest.mark.parametrize("size", [16, 31, 64, 200])
def test_any_size_is_met_and_made_use_of(bert: Tokenizer, strategy: str, size: int) -> None:
    document = document_of("budget-ignored-default.txt")
    chunks = by_tokens(document, size, bert, strategy=strategy, target_tokens=size).chunks
    assert min(c.tokens for c in chunks[:-1]) > size // 2


# budget-long-sentence
def test_a_sentence_over_the_size_is_cut_at_a_clause_or_word() -> None:
    document = document_of("budget-long-sentence.txt")
    chunks = by_tokens(document, 10).chunks
    assert len(chunks) >= 3
    for before, after in pairwise(chunks):
        assert document.text[before.end : after.start] == " "
        assert before.boundary_end.reason in ("sentence", "clause", "word")


@EXAMPLES
@given(st.lists(words, min_size=5, max_size=80), st.integers(3, 20))
def test_long_sentences_are_cut_between_words(found: list[str], size: int) -> None:
    document = Document(id="text", text=" ".join(found) + ".")
    for before, after in pairwise(by_tokens(document, size).chunks):
        gap = document.text[before.end : after.start]
        # Ideographs are words of their own.
        assert gap == " " or "汉" in document.text[before.end - 1 : after.start + 1]


# budget-single-term
@pytest.mark.parametrize("strategy", ["fixed", "recursive", "sentences", "structure"])
def test_one_long_term_is_cut(bert: Tokenizer, strategy: str) -> None:
    document = document_of("budget-single-term.txt")
    chunks = by_tokens(document, 64, bert, strategy=strategy).chunks
    assert "".join("".join(c.text.split()) for c in chunks) == "".join(document.text.split())


@EXAMPLES
@given(st.sampled_from(["x9", "é", "e\u0301", "👩‍👩‍👧", "🇨🇭", "한"]), st.integers(10, 80))
def test_a_long_term_is_cut_between_graphemes(sign: str, size: int) -> None:
    document = Document(id="text", text=f"A table of {sign * 200}")
    boundaries = {0, *grapheme_ends(document.text)}
    for strategy in ("fixed", "recursive", "sentences", "structure"):
        for found in by_chars(document, size, strategy=strategy).chunks:
            assert {found.start, found.end} <= boundaries


# budget-short-lines
@pytest.mark.parametrize("strategy", ["fixed", "recursive", "sentences", "structure"])
def test_lines_below_the_smallest_size_are_merged(bert: Tokenizer, strategy: str) -> None:
    document = document_of("budget-short-lines.txt")
    found = by_tokens(document, 16, bert, strategy=strategy, min_tokens=12)
    assert not found.dropped
    assert "longer line that is there" in found.chunks[-1].text or len(found.chunks) > 1


@EXAMPLES
@given(
    st.lists(st.sampled_from(["a", "b", "", "c d", "-", "1", "A longer line that is here."])),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.integers(4, 30),
)
def test_lines_of_any_length_lose_nothing(lines: list[str], end: str, size: int) -> None:
    document = document_of("lines.txt", end.join(lines))
    for strategy in ("fixed", "recursive", "sentences", "structure", "records"):
        by_tokens(document, size, strategy=strategy, min_tokens=min(size // 2, 12))


# merge-length-wrong
def test_small_pieces_behind_a_long_one_are_merged() -> None:
    text = text_of("merge-length-wrong.txt")
    found = recursive_chunks(text, 40, 0, (" ", ""))
    assert found[0]["text"] == "tiny."
    assert found[-1]["text"].endswith("a. b. c. d. e. f.")
    for strategy in ("recursive", "structure", "sentences"):
        chunks = by_chars(document_of("merge-length-wrong.txt"), 40, strategy=strategy).chunks
        assert chunks[-1].text.endswith("a. b. c. d. e. f.")


@EXAMPLES
@given(st.lists(st.integers(1, 120), max_size=40), st.integers(10, 60))
def test_neighbours_that_fit_together_are_merged(lengths: list[int], size: int) -> None:
    text = " ".join("x" * length for length in lengths)
    ends, end = set(), 0
    for length in lengths:
        ends |= {end + length} if length >= size else set()
        end += length + 1
    for before, after in pairwise(recursive_chunks(text, size)):
        # A word that was cut itself is not merged with what stands behind it.
        is_cut = before["end"] == after["start"] or before["end"] in ends
        first_word = (text[after["start"] :] + " ").index(" ")
        assert is_cut or after["start"] + first_word - before["start"] > size


_NOISE = """
import sys
from pathlib import Path
from merestone import chunk
text = Path(sys.argv[1]).read_text(encoding="utf-8")
for strategy in ("structure", "fixed", "recursive", "sentences"):
    assert chunk(text * 20, strategy=strategy, max_tokens=128)
"""


# budget-warning-noise
def test_nothing_is_written_to_the_error_stream() -> None:
    arguments = [sys.executable, "-W", "default", "-c", _NOISE, CASES / "budget-warning-noise.txt"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


# Work


class Work(WordTokenizer):
    """Counts the characters it is handed."""

    def __init__(self) -> None:
        self.chars = 0

    def counts(self, texts: Sequence[str]) -> list[int]:
        self.chars += sum(map(len, texts))
        return super().counts(texts)


def calls_of_cutting(document: Document, limits: ChunkingSettings) -> tuple[int, int]:
    """Function calls, of Python and of C, and characters tokenised while ``document`` is cut."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    tokenizer = Work()
    cut(document, limits, tokenizer)
    tokenizer.chars = 0
    sys.setprofile(count)
    try:
        cut(document, limits, tokenizer)
    finally:
        sys.setprofile(None)
    return calls, tokenizer.chars


def paragraphs_of(size: int) -> str:
    draw = random.Random(0)
    parts: list[str] = []
    length = 0
    while length < size:
        part = "This is one sentence of several. " * draw.randint(1, 9)
        parts.append(part.strip())
        length += len(part) + 1
    return "\n\n".join(parts)


# slow-big-document
# slow-many-headings
@pytest.mark.parametrize("strategy", ["fixed", "recursive", "sentences", "structure", "records"])
@pytest.mark.parametrize(
    "kind", ["paragraphs", "headings", "nested headings", "rows", "items", "lines", "one word"]
)
def test_twice_the_text_is_twice_the_work(strategy: str, kind: str) -> None:
    def document(times: int) -> Document:
        text = {
            "paragraphs": lambda: paragraphs_of(40 * times),
            "headings": lambda: "# h\n" * times,
            "nested headings": lambda: "# a\n\n## b\n\n### c\n\n#### d\n\nx\n\n" * (times // 4),
            "rows": lambda: markdown_table("| a | b |", ["| one | two |"] * times),
            "items": lambda: "- item of a list\n" * times,
            "lines": lambda: "some line\n" * times,
            "one word": lambda: "x" * 20 * times,
        }[kind]()
        return read_markdown(text)

    limits = ChunkingSettings(
        strategy=strategy, max_tokens=200, target_tokens=160, min_tokens=4, max_chars=1000
    )
    (calls, chars), (more_calls, more_chars) = (
        calls_of_cutting(document(times), limits) for times in (500, 1000)
    )
    assert more_calls <= 2.3 * calls + 2000
    assert more_chars <= 2.3 * chars + 2000


# Ids


# id-random
@pytest.mark.parametrize("strategy", ["fixed", "recursive", "sentences", "structure"])
def test_ids_are_of_document_text_and_occurrence_alone(strategy: str) -> None:
    text = text_of("id-random.txt")
    runs = [
        by_chars(Document(id=name, text=text), 200, strategy=strategy, target_tokens=target).chunks
        for name, target in (("one", 200), ("one", 200), ("two", 200))
    ]
    first, second, other = ([c.id for c in chunks] for chunks in runs)
    assert first == second
    assert not set(first) & set(other)
    texts = [c.text for c in runs[0]]
    assert first == [
        digest("chunk", "one", text, str(texts[:n].count(text))) for n, text in enumerate(texts)
    ]


# id-duplicates
def test_equal_passages_have_ids_of_their_own_that_edits_elsewhere_keep() -> None:
    text = text_of("id-duplicates.txt")
    document = Document(id="text", text=text)
    settings_ = {"strategy": "recursive", "separators": ("\n\n",)}
    chunks = by_chars(document, 22, **settings_).chunks
    assert [c.text for c in chunks].count("All rights reserved.") == 3
    assert len({c.id for c in chunks}) == len(chunks)
    edited = replace(document, text=text.replace("First text.", "Other words."))
    after = by_chars(edited, 22, **settings_).chunks
    changed = {c.id for c in chunks} ^ {c.id for c in after}
    assert len(changed) == 2
    by_chars(document, 60)


@EXAMPLES
@given(
    st.lists(
        st.sampled_from(["All rights reserved.", "Same here.", "One text of it."]), min_size=2
    ),
    st.integers(0, 30),
)
def test_an_edit_changes_no_id_but_that_of_what_it_edits(parts: list[str], place: int) -> None:
    def ids(texts: list[str]) -> list[str]:
        sections = [f"# S\n\n{text}" for text in texts]
        found = by_chars(read_markdown("\n\n".join(sections)), 28).chunks
        assert [c.text.split("\n")[-1] for c in found] == texts
        return [c.id for c in found]

    at = place % len(parts)
    old = ids(parts)
    new = ids([*parts[:at], "An edit stands here.", *parts[at + 1 :]])
    assert len(set(old)) == len(old)
    # Of equal passages the last occurrence number goes, whichever of them was edited.
    assert len(set(old) - set(new)) == 1
    assert len(set(new) - set(old)) == 1


def test_windows_are_slices_too() -> None:
    text = text_of("pos-overlap-shift.txt")
    assert all(text[w["start"] : w["end"]] == w["text"] for w in windows(text, 60, 20))


def test_numbers_in_a_row_without_spaces_are_not_torn() -> None:
    row = ",".join(["123456789.123"] * 200)
    chunks = chunk(row)
    assert len(chunks) > 1
    assert all(piece.text.rstrip(",").split(",")[0] == "123456789.123" for piece in chunks)
