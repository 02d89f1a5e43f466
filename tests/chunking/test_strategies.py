"""What holds for every strategy: invariants 1 to 4, whatever the settings and the text."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from chunking.invariants import check_cutting
from chunking.strategies import SURROGATES, chunking_settings, documents
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone import recursive_chunks
from merestone.chunking import chunkers, cut
from merestone.embedding.hashing import HashingEmbedder
from merestone.types import ChunkingSettings, Document, EmbeddingSettings, Tokenizer

STRATEGIES = ("auto", "code", "fixed", "records", "recursive", "semantic", "sentences", "structure")
TOKENIZERS = ("bert", "byte_level", "characters", "words")
EMBEDDER = HashingEmbedder(EmbeddingSettings(on_overlong="window"))
EXAMPLES = settings(max_examples=60)


def test_every_strategy_is_tested() -> None:
    assert set(chunkers()) == set(STRATEGIES)


@pytest.mark.parametrize("strategy", STRATEGIES)
@EXAMPLES
@given(st.data())
def test_every_document_keeps_the_invariants(
    tokenizers: dict[str, Tokenizer], strategy: str, data: st.DataObject
) -> None:
    tokenizer = tokenizers[data.draw(st.sampled_from(TOKENIZERS))]
    chosen = data.draw(chunking_settings(strategy))
    document = data.draw(documents)
    check_cutting(document, cut(document, chosen, tokenizer, EMBEDDER), chosen, tokenizer)


@pytest.mark.parametrize("strategy", STRATEGIES)
@EXAMPLES
@given(st.data(), SURROGATES)
def test_lone_surrogates_controls_and_marks_keep_the_invariants(
    tokenizers: dict[str, Tokenizer], strategy: str, data: st.DataObject, text: str
) -> None:
    tokenizer = tokenizers[data.draw(st.sampled_from(TOKENIZERS))]
    chosen = data.draw(chunking_settings(strategy))
    document = Document(id="text", text=text + "\ud800 \x00\x1c\x85\udfff" + text)
    check_cutting(document, cut(document, chosen, tokenizer, EMBEDDER), chosen, tokenizer)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=20)
@given(st.data(), documents)
def test_the_same_document_gives_the_same_chunks(
    tokenizers: dict[str, Tokenizer], strategy: str, data: st.DataObject, document: Document
) -> None:
    chosen = data.draw(chunking_settings(strategy))
    again = replace(document, blocks=tuple(replace(block) for block in document.blocks))
    first, second = (cut(each, chosen, tokenizers["words"], EMBEDDER) for each in (document, again))
    assert first == second


@settings(max_examples=60)
@given(st.data(), documents)
def test_only_roles_that_are_asked_for_become_context(
    tokenizers: dict[str, Tokenizer], data: st.DataObject, document: Document
) -> None:
    chosen = data.draw(chunking_settings("structure"))
    for chunk in cut(document, chosen, tokenizers["words"], EMBEDDER).chunks:
        assert {span.role for span in (*chunk.context, *chunk.shed)} <= set(chosen.context)


@settings(max_examples=60)
@given(st.data(), documents)
def test_context_moves_no_cut_but_for_what_room_is_kept_for(
    tokenizers: dict[str, Tokenizer], data: st.DataObject, document: Document
) -> None:
    chosen = replace(
        data.draw(chunking_settings("structure")),
        overlap_tokens=0,
        overlap_chars=0,
        torn_overlap_tokens=0,
    )
    ends = [
        [
            (chunk.start, chunk.end)
            for chunk in cut(
                document, replace(chosen, context=roles), tokenizers["words"], EMBEDDER
            ).chunks
        ]
        for roles in ((), ("title", "heading", "caption", "lead_in"))
    ]
    assert ends[0] == ends[1]


@settings(max_examples=60)
@given(documents, st.integers(1, 5), st.integers(20, 200))
def test_no_chunk_has_more_sentences_than_asked_for(
    tokenizers: dict[str, Tokenizer], document: Document, group: int, limit: int
) -> None:
    chosen = ChunkingSettings(
        strategy="sentences", max_tokens=limit, target_tokens=limit, min_tokens=0, group=group
    )
    for chunk in cut(document, chosen, tokenizers["words"], EMBEDDER).chunks:
        assert sum(unit.kind != "heading" for unit in chunk.units) <= group


_spaced = st.lists(
    st.sampled_from([" ", "  ", "\n", "\t", "x", "ab", "long-word", "漢字", "ab.", ","]),
    max_size=60,
).map("".join)


@given(st.data(), _spaced)
def test_overlaps_over_white_space_lose_nothing(
    tokenizers: dict[str, Tokenizer], data: st.DataObject, text: str
) -> None:
    """Chunks that white space alone parted begin at one place, once it is left out."""
    strategy = data.draw(st.sampled_from(["recursive", "fixed"]))
    tokenizer = tokenizers[data.draw(st.sampled_from(["characters", "words"]))]
    chosen = data.draw(chunking_settings(strategy))
    document = Document(id="text", text=text)
    check_cutting(document, cut(document, chosen, tokenizer), chosen, tokenizer)


@given(
    st.text(max_size=300) | SURROGATES | _spaced,
    st.integers(1, 60),
    st.data(),
    st.sampled_from([("\n\n", "\n", " ", ""), ("",), (". ", " ", ""), ("a", "")]),
)
def test_recursive_chunks_are_slices_within_the_size_that_lose_nothing(
    text: str, size: int, data: st.DataObject, separators: tuple[str, ...]
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    found = recursive_chunks(text, size, overlap, separators)
    assert all(before["start"] < after["start"] for before, after in pairwise(found))
    end = 0
    for chunk in found:
        assert text[chunk["start"] : chunk["end"]] == chunk["text"]
        assert 0 < len(chunk["text"]) <= size
        assert chunk["text"].strip() == chunk["text"]
        assert end - overlap <= chunk["start"]
        assert not text[end : chunk["start"]].strip()
        assert chunk["end"] > end
        end = chunk["end"]
    assert not text[end:].strip()
