"""The cuttings that are compared: Merestone's with any settings, and two named peers.

All cut the same text, the body of ``Document.text``, so that only the cutting differs. Peers:

- R: langchain's RecursiveCharacterTextSplitter, 1000 characters, 200 of overlap
- S: llama_index's SentenceSplitter, 512 tokens, 50 of overlap, by the tokenizer that it brings

A peer's chunk is its text and nothing else. Where a peer's own position is wrong, the chunk's text
is searched from where the last chunk began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from unittest.mock import patch

from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as PeerDocument
from llama_index.core.node_parser import SentenceSplitter

from merestone import Document
from merestone.chunking import cut, render, structure
from merestone.chunking.packing import Packer, Range
from merestone.config import chunking_settings
from merestone.embedding import open_embedder
from merestone.types import (
    JSON,
    ChunkingSettings,
    Edge,
    Embedder,
    EmbeddingSettings,
    Tokenizer,
)
from merestone.types.settings import CONTEXT_ROLES

DEFAULT = "auto"
PEERS = ("R", "S")

CONFIGS: Mapping[str, Mapping[str, JSON]] = {
    DEFAULT: {},
    "R": {},
    "S": {},
    "structure": {"strategy": "structure"},
    "recursive": {"strategy": "recursive"},
    "sentences": {"strategy": "sentences"},
    "fixed": {"strategy": "fixed"},
    "semantic": {"strategy": "semantic"},
}
"""Chunking settings that differ from the defaults, by the name of the cutting."""

GREEDY = "greedy packing"

VARIANTS: Mapping[str, Mapping[str, JSON]] = {
    GREEDY: {},
    "128 tokens": {"max_tokens": 128},
    "192 tokens": {"max_tokens": 192},
    "400 tokens": {"max_tokens": 400},
    "512 tokens": {"max_tokens": 512},
    "target 60 %": {"target_tokens": 154},
    "target 100 %": {"target_tokens": 256},
    "no context": {"context": []},
    **{
        f"no {role}": {"context": [other for other in CONTEXT_ROLES if other != role]}
        for role in CONTEXT_ROLES
    },
    "semantic 0.5": {"semantic_weight": 0.5},
    "semantic 1.0": {"semantic_weight": 1.0},
    "overlap 10 %": {"overlap_tokens": 26},
    "overlap 20 %": {"overlap_tokens": 51},
    "one strategy": {"strategy": "structure"},
}
"""The default with one variable changed."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of any cutting."""

    document: str
    start: int
    end: int
    input: str
    """What is embedded and indexed for it."""
    edge: Edge
    """Why it begins where it does."""


Cutting = Callable[[Document], list[Passage]]

_UNKNOWN = Edge("unknown", 0.0)


@cache
def tokenizer() -> Tokenizer:
    """The bundled embedder's tokenizer."""
    return open_embedder(EmbeddingSettings()).tokenizer


def cutting_of(name: str, values: Mapping[str, JSON], embedder: Embedder | None = None) -> Cutting:
    """The cutting of that name: a peer's, or Merestone's with ``values`` of its settings.

    ``embedder`` serves settings that judge by meaning.
    """
    if name in PEERS:
        return {"R": _recursive, "S": _sentences}[name]
    settings = settings_of(values)
    if name == GREEDY:
        return lambda document: _cut_greedily(document, settings)
    return lambda document: _cut(document, settings, embedder)


def settings_of(values: Mapping[str, JSON]) -> ChunkingSettings:
    """Effective settings for the bundled embedder where ``values`` are given."""
    return chunking_settings(values, open_embedder(EmbeddingSettings()).max_tokens)


def _cut(
    document: Document, settings: ChunkingSettings, embedder: Embedder | None = None
) -> list[Passage]:
    chunks = cut(document, settings, tokenizer(), embedder).chunks
    return [
        Passage(document.id, chunk.start, chunk.end, render(chunk), chunk.boundary_start)
        for chunk in chunks
    ]


class _GreedyPacker(Packer):
    """Fills each piece as far as it goes, whatever the cut behind it costs."""

    def segment(self, items: Sequence[Range]) -> list[Range]:
        pieces: list[Range] = []
        for first, last in items:
            if pieces and self.fits(pieces[-1][0], last):
                pieces[-1] = (pieces[-1][0], last)
            else:
                pieces.append((first, last))
        return pieces


def _cut_greedily(document: Document, settings: ChunkingSettings) -> list[Passage]:
    """No setting: for this comparison the packer is exchanged while the document is cut."""
    with patch.object(structure, "Packer", _GreedyPacker):
        return _cut(document, settings)


def _recursive(document: Document) -> list[Passage]:
    body = document.text[: document.body_end]
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=1000, chunk_overlap=200, add_start_index=True
    )
    pieces = [
        (piece.page_content, piece.metadata["start_index"])
        for piece in splitter.create_documents([body])
    ]
    return _placed(document, body, pieces)


def _sentences(document: Document) -> list[Passage]:
    body = document.text[: document.body_end]
    nodes = _sentence_splitter().get_nodes_from_documents([PeerDocument(text=body)])
    return _placed(document, body, [(node.text, node.start_char_idx) for node in nodes])


@cache
def _sentence_splitter() -> SentenceSplitter:
    return SentenceSplitter(chunk_size=512, chunk_overlap=50)


def _placed(
    document: Document, body: str, pieces: Sequence[tuple[str, int | None]]
) -> list[Passage]:
    """Passages at verified positions. A text that is nowhere in the body raises ``ValueError``."""
    placed: list[Passage] = []
    last = -1
    for text, given in pieces:
        if not text.strip():
            continue
        start = given if given is not None and given >= 0 else -1
        if start < 0 or body[start : start + len(text)] != text:
            start = body.find(text, last + 1)
        if start < 0:
            raise ValueError(f"{document.id}: a peer's chunk is not in the text: {text[:80]!r}")
        placed.append(Passage(document.id, start, start + len(text), text, _UNKNOWN))
        last = start
    return placed
