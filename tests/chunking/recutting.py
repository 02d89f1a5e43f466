"""Cuts documents of many formats by every strategy and prints a hash of each outcome. Tests run it
in processes of their own."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from merestone.chunking import cut
from merestone.embedding import open_embedder
from merestone.embedding.hashing import HashingEmbedder
from merestone.extraction import read_document
from merestone.text.hashing import canonical_json, digest
from merestone.types import ChunkingSettings, EmbeddingSettings, RawDocument

STRATEGIES = ("auto", "code", "fixed", "records", "recursive", "semantic", "sentences", "structure")
_ROOT = Path(__file__).parents[2]
_SIZES = (
    {"max_tokens": 64, "target_tokens": 50, "min_tokens": 8, "max_chars": 400},
    {"max_tokens": 30, "target_tokens": 24, "min_tokens": 4, "max_chars": 120, "group": 2},
)


def cut_all(strategy: str) -> str:
    """Hash of the chunks of all documents, as they are exported."""
    tokenizer = open_embedder(EmbeddingSettings()).tokenizer
    embedder = HashingEmbedder(EmbeddingSettings(on_overlong="window"))
    data = _ROOT / "tests" / "data"
    found = []
    for path in sorted(chain(data.glob("chunk_cases/*.*"), data.glob("code/*.*")))[::2]:
        document = read_document(RawDocument(path.name, path.read_bytes()))
        for sizes in _SIZES:
            settings = ChunkingSettings(strategy=strategy, overlap_tokens=8, **sizes)
            cutting = cut(document, settings, tokenizer, embedder)
            found.append([chunk.to_json() for chunk in cutting.chunks])
            found.append([dropped._asdict() for dropped in cutting.dropped])
    return digest(canonical_json(found))


if __name__ == "__main__":
    for strategy in STRATEGIES:
        print(strategy, cut_all(strategy))
