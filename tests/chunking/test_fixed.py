"""The strategy ``fixed``."""

from __future__ import annotations

from itertools import pairwise

from chunking.invariants import check_cutting
from chunking.strategies import texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.chunking import cut
from merestone.text.tokenizers import CharacterTokenizer, WordTokenizer
from merestone.types import ChunkingSettings, Document, Tokenizer

sizes = st.builds(
    lambda limit, overlap, chars: ChunkingSettings(
        strategy="fixed",
        max_tokens=limit,
        target_tokens=limit,
        min_tokens=0,
        overlap_tokens=min(overlap, (limit - 2) // 2),
        max_chars=chars,
    ),
    st.integers(8, 40),
    st.integers(0, 15),
    st.integers(5, 300),
)


@given(texts, sizes)
def test_every_text_keeps_the_invariants(
    bert: Tokenizer, text: str, settings: ChunkingSettings
) -> None:
    document = Document(id="text", text=text)
    check_cutting(document, cut(document, settings, bert), settings, bert)


def test_windows_are_full_and_overlap_as_told() -> None:
    words = [f"w{n}" for n in range(100)]
    settings = ChunkingSettings(
        strategy="fixed", max_tokens=20, target_tokens=20, min_tokens=0, overlap_tokens=5
    )
    chunks = cut(Document(id="t", text=" ".join(words)), settings, WordTokenizer()).chunks
    assert [chunk.text.split()[0] for chunk in chunks] == [
        "w0",
        "w15",
        "w30",
        "w45",
        "w60",
        "w75",
        "w90",
    ][: len(chunks)]
    assert all(len(chunk.text.split()) == 20 for chunk in chunks[:-1])
    assert chunks[-1].text.endswith("w99")


def test_a_limit_in_characters_holds_where_it_is_reached_first() -> None:
    settings = ChunkingSettings(
        strategy="fixed",
        max_tokens=200,
        target_tokens=200,
        min_tokens=0,
        max_chars=50,
        overlap_chars=10,
    )
    document = Document(id="t", text="some words in a row " * 20)
    chunks = cut(document, settings, WordTokenizer()).chunks
    assert all(len(chunk.text) <= 50 for chunk in chunks)
    assert all(b.start < a.end for a, b in pairwise(chunks))


def test_no_window_begins_where_the_one_before_began() -> None:
    text = "\n\u0600漢漢漢漢漢"
    settings = ChunkingSettings(
        strategy="fixed",
        max_tokens=100,
        target_tokens=100,
        min_tokens=0,
        overlap_tokens=27,
        max_chars=5,
    )
    document = Document(id="t", text=text)
    check_cutting(
        document, cut(document, settings, CharacterTokenizer()), settings, CharacterTokenizer()
    )


def test_long_words_are_not_repeated_over_and_over(bert: Tokenizer) -> None:
    """To BERT's tokenizer a word of more than 100 characters is one token."""
    document = Document(id="t", text="x" * 20_000)
    settings = ChunkingSettings(strategy="fixed", overlap_tokens=80)
    chunks = cut(document, settings, bert).chunks
    assert len(chunks) == 10
    assert sum(len(chunk.text) for chunk in chunks) == 20_000


def test_text_without_tokens_is_cut(bert: Tokenizer) -> None:
    text = "\x00\x01" * 200
    settings = ChunkingSettings(strategy="fixed", overlap_tokens=8, max_chars=50)
    document = Document(id="t", text=text)
    check_cutting(document, cut(document, settings, bert), settings, bert)
