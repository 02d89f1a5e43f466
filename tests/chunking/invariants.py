"""What always holds of a cutting, checked from outside."""

from __future__ import annotations

from merestone.chunking import render
from merestone.types import ChunkingSettings, Cutting, Document, Tokenizer


def check_cutting(
    document: Document, cutting: Cutting, settings: ChunkingSettings, tokenizer: Tokenizer
) -> None:
    """Invariants 1, 2 and 3, ids, order and tiling."""
    chunks = cutting.chunks
    for chunk in chunks:
        assert document.text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        for span in (*chunk.context, *chunk.shed):
            assert span.role == "title" or document.text[span.start : span.end] == span.text
        counted = tokenizer.counts([render(chunk)])[0] + tokenizer.special_tokens
        assert chunk.tokens == counted
        assert counted <= settings.max_tokens
        assert len(chunk.text) <= settings.max_chars
        if chunk.units:
            assert chunk.units[0].start == chunk.start
            assert chunk.units[-1].end == chunk.end
        for unit, following in zip(chunk.units, chunk.units[1:], strict=False):
            assert unit.end == following.start
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.total == len(chunks) for chunk in chunks)
    starts = [chunk.start for chunk in chunks]
    assert starts == sorted(set(starts))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    covered = bytearray(len(document.text))
    for part in (*chunks, *cutting.dropped):
        covered[part.start : part.end] = b"\x01" * (part.end - part.start)
    missing = [
        offset
        for offset in range(document.body_end)
        if not covered[offset] and not document.text[offset].isspace()
    ]
    assert not missing
