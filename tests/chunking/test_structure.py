"""The strategy ``structure``."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from chunking.invariants import check_cutting
from chunking.strategies import markdown, read_markdown, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.chunking import cut, render
from merestone.text.tokenizers import CharacterTokenizer, WordTokenizer
from merestone.types import ChunkingSettings, Cutting, Document, SettingsError, Tokenizer

SMALL = ChunkingSettings(max_tokens=40, target_tokens=32, min_tokens=4, max_chars=320)

sizes = st.builds(
    lambda limit, minimum, overlap, chars: ChunkingSettings(
        max_tokens=limit,
        target_tokens=max(1, int(limit * 0.8)),
        min_tokens=min(minimum, max(1, int(limit * 0.8))),
        overlap_tokens=min(overlap, (limit - 2) // 2),
        max_chars=chars,
    ),
    st.integers(8, 60),
    st.integers(0, 10),
    st.integers(0, 12),
    st.integers(10, 500),
)


def by_words(text: str, max_tokens: int, **changes: int) -> Cutting:
    settings = ChunkingSettings(
        max_tokens=max_tokens, target_tokens=max(1, int(max_tokens * 0.8)), min_tokens=1
    )
    return cut(read_markdown(text), replace(settings, **changes), WordTokenizer())


@given(markdown, sizes)
def test_every_markdown_keeps_the_invariants(
    bert: Tokenizer, text: str, settings: ChunkingSettings
) -> None:
    document = read_markdown(text)
    check_cutting(document, cut(document, settings, bert), settings, bert)


@given(texts, sizes)
def test_every_text_keeps_the_invariants(
    bert: Tokenizer, text: str, settings: ChunkingSettings
) -> None:
    document = Document(id="text", text=text)
    check_cutting(document, cut(document, settings, bert), settings, bert)


@given(texts)
def test_lone_surrogates_and_controls_raise_nothing(text: str) -> None:
    broken = Document(id="text", text=text + "\ud800 \x00\x1c\x85" + text)
    check_cutting(broken, cut(broken, SMALL, WordTokenizer()), SMALL, WordTokenizer())


@given(markdown)
def test_the_same_text_gives_the_same_chunks(text: str) -> None:
    document = read_markdown(text)
    assert cut(document, SMALL, WordTokenizer()) == cut(document, SMALL, WordTokenizer())


def test_a_blank_document_has_no_chunks() -> None:
    assert by_words(" \n\n\t\n", 20) == Cutting((), ())


def test_a_section_that_fits_stays_whole() -> None:
    text = "# A\n\none two three\n\n## B\n\nfour five\n\n## C\n\nsix seven\n"
    assert len(by_words(text, 30).chunks) == 1


def test_no_chunk_ends_with_a_heading() -> None:
    paragraphs = "\n\n".join("word " * 9 for _ in range(4))
    text = "\n\n".join(f"## Part {number}\n\n{paragraphs}" for number in range(8))
    for chunk in by_words(text, 25).chunks:
        assert not chunk.text.rstrip().splitlines()[-1].startswith("#")


def test_blocks_that_fit_are_not_cut() -> None:
    code = "```py\n" + "\n".join(f"x{n} = {n}" for n in range(5)) + "\n```"
    prose = "One two three four. Five six seven. Eight nine ten eleven twelve."
    text = "# T\n\n" + "\n\n".join([prose, code] * 6)
    chunks = by_words(text, 24).chunks
    for block in (code, prose):
        holders = [chunk for chunk in chunks if block in chunk.text]
        assert sum(chunk.text.count(block) for chunk in holders) == 6


def test_a_long_table_is_cut_between_rows_and_keeps_its_header() -> None:
    rows = "\n".join(f"| P-{n:02} | Plan {n} | {n} EUR |" for n in range(20))
    text = f"# Plans\n\n| Code | Name | Price |\n|---|---|---|\n{rows}\n"
    chunks = by_words(text, 60).chunks
    assert len(chunks) > 1
    for chunk in chunks[1:]:
        assert chunk.text.startswith("| P-")
        assert chunk.text.endswith("EUR |")
        assert [span.role for span in chunk.context][-1] == "table_header"
        assert "| Code | Name | Price |" in render(chunk)
        assert "---" not in render(chunk)


def test_a_procedure_keeps_its_prerequisite_as_context() -> None:
    steps = "\n".join(f"{n}. Turn the screw number {n} to the left." for n in range(1, 15))
    text = f"# Mount\n\nDisconnect the mains before you begin:\n\n{steps}\n"
    chunks = by_words(text, 50).chunks
    assert len(chunks) > 1
    for chunk in chunks[1:]:
        assert "Disconnect the mains" in render(chunk)
        assert "Disconnect the mains" not in chunk.text


def test_the_heading_path_is_context_and_is_not_repeated() -> None:
    body = "\n\n".join("word " * 12 for _ in range(4))
    text = f"# Guide\n\n## Install\n\n{body}\n"
    first, *rest = by_words(text, 30).chunks
    assert first.heading_path == ("Guide", "Install")
    assert render(first) == first.text
    for chunk in rest:
        assert [span.text for span in chunk.context] == ["Guide", "Install"]
        assert render(chunk).startswith("Guide > Install\n\nword")


def test_a_chunk_over_two_sections_has_their_common_path() -> None:
    text = "# A\n\n" + "word " * 30 + "\n\n## B\n\none\n\n## C\n\ntwo\n"
    last = by_words(text, 32).chunks[-1]
    assert "## B" in last.text
    assert "## C" in last.text
    assert last.heading_path == ("A",)


def test_context_that_does_not_fit_is_shed_in_order() -> None:
    text = f"# Outer heading words\n\n## Inner\n\n{'word ' * 18}\n\n{'other ' * 19}\n"
    last = by_words(text, 21).chunks[-1]
    assert [span.text for span in last.shed] == ["Outer heading words"]
    assert [span.text for span in last.context] == ["Inner"]


def test_a_sentence_over_the_limit_is_cut_at_clauses_or_words() -> None:
    text = "alpha beta gamma, " * 12 + "omega."
    for chunk in by_words(text, 10).chunks[:-1]:
        assert chunk.boundary_end.reason in ("clause", "word")


def test_a_word_over_the_limit_is_cut_at_graphemes() -> None:
    family = "👩‍👩‍👧"
    document = Document(id="t", text=family * 40)
    settings = ChunkingSettings(max_tokens=12, target_tokens=12, min_tokens=1, max_chars=12)
    cutting = cut(document, settings, CharacterTokenizer())
    check_cutting(document, cutting, settings, CharacterTokenizer())
    assert all(len(chunk.text) % len(family) == 0 for chunk in cutting.chunks)


def test_the_limit_wins_over_a_grapheme() -> None:
    document = Document(id="t", text="e" + "\u0301" * 50)
    settings = ChunkingSettings(max_tokens=8, target_tokens=8, min_tokens=1, max_chars=8)
    check_cutting(
        document, cut(document, settings, CharacterTokenizer()), settings, CharacterTokenizer()
    )


def test_punctuation_alone_is_dropped_and_said() -> None:
    text = "# A\n\n" + "word " * 20 + "\n\n---\n\n# B\n\n" + "word " * 20
    cutting = by_words(text, 22, min_tokens=4)
    assert [dropped.reason for dropped in cutting.dropped] in ([], ["no letters or digits"])
    covered = "".join(chunk.text for chunk in cutting.chunks)
    assert "---" in covered or cutting.dropped


def test_overlap_repeats_whole_units_of_the_chunk_before() -> None:
    text = " ".join(f"This is sentence number {n}." for n in range(30))
    document = Document(id="t", text=text)
    settings = ChunkingSettings(
        max_tokens=40, target_tokens=30, min_tokens=1, overlap_tokens=10, max_chars=2000
    )
    chunks = cut(document, settings, WordTokenizer()).chunks
    for before, after in pairwise(chunks):
        assert after.start < before.end
        assert len(text[after.start : before.end].split()) == 10
        assert after.boundary_start.reason == "overlap"


def test_an_edit_in_one_section_keeps_the_ids_of_the_others() -> None:
    sections = [f"## Part {n}\n\n" + f"words of part {n}. " * 12 for n in range(6)]
    old = by_words("# T\n\n" + "\n\n".join(sections), 60).chunks
    sections[0] += "\n\nA new paragraph that was not there before."
    new = by_words("# T\n\n" + "\n\n".join(sections), 60).chunks
    assert len({chunk.id for chunk in new} - {chunk.id for chunk in old}) <= 1


def test_equal_passages_have_ids_of_their_own() -> None:
    text = "\n\n".join(["## Notes\n\n" + "the same words again " * 6] * 5)
    ids = [chunk.id for chunk in by_words(text, 30).chunks]
    assert len(ids) == 5
    assert len(set(ids)) == 5


def test_a_reworded_heading_keeps_the_ids_below_it() -> None:
    body = "\n\n".join(f"paragraph {n} " * 8 for n in range(4))
    old = by_words(f"# Guide\n\n{body}\n", 30).chunks
    new = by_words(f"# Manual\n\n{body}\n", 30).chunks
    assert [chunk.id for chunk in old[1:]] == [chunk.id for chunk in new[1:]]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"max_tokens": 0}, "invalid-chunk-size"),
        ({"max_tokens": 2, "target_tokens": 1, "min_tokens": 0}, "max-tokens-too-small"),
        ({"target_tokens": 300}, "invalid-chunk-size"),
        ({"min_tokens": -1}, "invalid-chunk-size"),
        ({"min_tokens": 250}, "invalid-chunk-size"),
        ({"overlap_tokens": 200}, "invalid-chunk-size"),
        ({"overlap_chars": 2000}, "invalid-chunk-size"),
    ],
)
def test_sizes_that_cannot_be_met_are_refused(
    bert: Tokenizer, changes: dict[str, int], code: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        cut(Document(id="t", text="some words"), replace(ChunkingSettings(), **changes), bert)
    assert caught.value.code == code
    assert isinstance(caught.value, ValueError)


def test_a_limit_below_one_character_is_refused() -> None:
    class Bytes(CharacterTokenizer):
        def counts(self, texts: list[str]) -> list[int]:  # type: ignore[override]
            return [len(text.encode()) for text in texts]

    settings = ChunkingSettings(max_tokens=3, target_tokens=3, min_tokens=1, max_chars=100)
    with pytest.raises(SettingsError) as caught:
        cut(Document(id="t", text="ab 👩 cd"), settings, Bytes())
    assert caught.value.code == "max-tokens-too-small"


def test_time_grows_with_the_text_and_not_with_its_square() -> None:
    """Counted in token counts asked for, not in seconds."""

    class Counting(WordTokenizer):
        asked = 0

        def counts(self, texts: list[str]) -> list[int]:  # type: ignore[override]
            self.asked += sum(map(len, texts))
            return super().counts(texts)

    settings = ChunkingSettings(max_tokens=50, target_tokens=40, min_tokens=4, max_chars=400)
    for unit in ("# h\n\n", "x" * 50, "a. ", "word ", "| a | b |\n", "- item\n", "\n"):
        asked = []
        for times in (400, 800):
            tokenizer = Counting()
            cut(read_markdown(unit * times), settings, tokenizer)
            asked.append(tokenizer.asked)
        assert asked[1] <= 2.4 * asked[0] + 1000


def test_a_tiny_section_beside_a_large_one_is_no_chunk_of_its_own() -> None:
    big = "\n\n".join("word " * 20 for _ in range(6))
    for text in (
        f"# G\n\n## Empty\n\n## Big\n\n{big}",
        f"# G\n\n## Big\n\n{big}\n\n## T\n\nab.\n\n## Other\n\n{big}",
    ):
        chunks = by_words(text, 60, min_tokens=10).chunks
        assert all(len(chunk.text.split()) >= 10 for chunk in chunks)
        assert not any(chunk.text.splitlines()[-1].startswith("#") for chunk in chunks)
