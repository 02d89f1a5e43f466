"""Cuttings of Chroma's chunking benchmark as plugins of Merestone; sizes are tokens of cl100k_base.

- recursive-SIZE-OVERLAP: LangChain's RecursiveCharacterTextSplitter with its own separators;
  recursive-minilm-SIZE-OVERLAP: the same with sizes in tokens of the bundled embedder
- cluster-SIZE: after the description of the ClusterSemanticChunker in the report: pieces of at most
  50 tokens, cut at sentence ends where there are any, are put together so that their vectors are as
  alike as possible
- window-SIZE: windows of that many tokens
- sentences-SIZE: LlamaIndex's SentenceSplitter without overlap
- chonkie-SIZE: chonkie's RecursiveChunker
- semantic-text-SIZE: the TextSplitter of semantic-text-splitter

Their chunks have no context and are as long as they are: what the embedder does not read of them
is lost, so ``embedding.on_overlong`` has to be ``truncate``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from langchain_text_splitters import RecursiveCharacterTextSplitter

from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.finishing import finish
from merestone.chunking.plain_pieces import PlainPieces
from merestone.embedding import open_embedder
from merestone.text.openai_tokens import OpenAITokenizer
from merestone.types import (
    ChunkingSettings,
    Cutting,
    Document,
    Edge,
    Embedder,
    EmbeddingSettings,
    Span,
    Tokenizer,
)
from merestone.types.protocols import Vectors

_PIECE = 50
_PIECE_SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
_EDGE = Edge("separator", 0.5)


class PeerChunker:
    """What the peers have in common: spans, and nothing else."""

    revision = 1

    def __init__(self, name: str) -> None:
        self.name = name

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        plain = PlainPieces(document, tokenizer)
        spans = self.spans(document.text[: document.body_end], embedder)
        pieces = [plain.piece(start, end, _EDGE) for start, end in spans]
        return Cutting(
            finish(document, pieces, chunking_fingerprint(self, settings, tokenizer)), ()
        )

    def spans(self, text: str, embedder: Embedder | None) -> Sequence[Span]:
        raise NotImplementedError


class RecursiveChunker(PeerChunker):
    def __init__(
        self, name: str, size: int, overlap: int = 0, length: Callable[[str], int] | None = None
    ) -> None:
        super().__init__(name)
        self._size = size
        self._overlap = overlap
        self._length = length or _length

    def spans(self, text: str, embedder: Embedder | None) -> Sequence[Span]:
        return _split(text, self._size, self._overlap, length=self._length)


class ClusterChunker(PeerChunker):
    """Cuts so that the sum of likenesses within the chunks is largest, where likeness is the
    cosine of two pieces less the mean cosine of all."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name)
        self._most = size // _PIECE

    def spans(self, text: str, embedder: Embedder | None) -> Sequence[Span]:
        if embedder is None:
            raise ValueError(f"{self.name} needs an embedder")
        pieces = _split(text, _PIECE, 0, _PIECE_SEPARATORS)
        vectors = embedder.embed_passages([text[start:end] for start, end in pieces])
        return [
            Span(pieces[first].start, pieces[last].end) for first, last in self._groups(vectors)
        ]

    def _groups(self, vectors: Vectors) -> list[tuple[int, int]]:
        """First and last piece of each chunk, by dynamic programming."""
        likeness = vectors @ vectors.T
        likeness = likeness - likeness[np.tril_indices(len(vectors), -1)].mean()
        np.fill_diagonal(likeness, 0)
        best = [0.0]
        starts: list[int] = []
        for last in range(len(vectors)):
            options = [
                (best[first] + float(likeness[first : last + 1, first : last + 1].sum()), first)
                for first in range(max(0, last + 1 - self._most), last + 1)
            ]
            value, first = max(options)
            best.append(value)
            starts.append(first)
        groups = []
        last = len(vectors) - 1
        while last >= 0:
            groups.append((starts[last], last))
            last = starts[last] - 1
        return groups[::-1]


class WindowChunker(PeerChunker):
    def __init__(self, name: str, size: int) -> None:
        super().__init__(name)
        self._size = size

    def spans(self, text: str, embedder: Embedder | None) -> Sequence[Span]:
        starts = _tokenizer().starts(text)[:: self._size]
        return [Span(start, end) for start, end in pairwise([*starts, len(text)])]


class SentenceChunker(PeerChunker):
    def __init__(self, name: str, size: int) -> None:
        super().__init__(name)
        self._size = size

    def spans(self, text: str, embedder: Embedder | None) -> Sequence[Span]:
        from llama_index.core.node_parser import SentenceSplitter

        splitter = SentenceSplitter(
            chunk_size=self._size, chunk_overlap=0, tokenizer=lambda part: [0] * _length(part)
        )
        return _placed(text, splitter.split_text(text))


class ChonkieChunker(PeerChunker):
    def __init__(self, name: str, size: int) -> None:
        super().__init__(name)
        self._size = size

    def spans(self, text: str, embedder: Embedder | None) -> Sequence[Span]:
        from chonkie import RecursiveChunker as Chonkie

        pieces = Chonkie(_length, chunk_size=self._size).chunk(text)
        return [_stripped(text, piece.start_index, piece.end_index) for piece in pieces]


class SemanticTextChunker(PeerChunker):
    def __init__(self, name: str, size: int) -> None:
        super().__init__(name)
        self._size = size

    def spans(self, text: str, embedder: Embedder | None) -> Sequence[Span]:
        from semantic_text_splitter import TextSplitter

        splitter = TextSplitter.from_callback(_length, self._size)
        return [Span(start, start + len(piece)) for start, piece in splitter.chunk_indices(text)]


def _split(
    text: str,
    size: int,
    overlap: int,
    separators: Sequence[str] | None = None,
    length: Callable[[str], int] | None = None,
) -> list[Span]:
    """Where the pieces of LangChain's splitter stand; what they left out at their ends is white
    space."""
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size,
        chunk_overlap=overlap,
        length_function=length or _length,
        separators=list(separators) if separators else None,
    )
    return _placed(text, splitter.split_text(text))


def _placed(text: str, pieces: Iterable[str]) -> list[Span]:
    spans: list[Span] = []
    for piece in pieces:
        start = text.find(piece, spans[-1].start + 1 if spans else 0)
        if start < 0:
            raise ValueError(f"a piece is not in the text: {piece[:80]!r}")
        spans.append(Span(start, start + len(piece)))
    return spans


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))


def _length(text: str) -> int:
    return _tokenizer().counts([text])[0]


def _model_length(text: str) -> int:
    return _model_tokenizer().counts([text])[0]


@cache
def _tokenizer() -> OpenAITokenizer:
    return OpenAITokenizer("cl100k_base")


@cache
def _model_tokenizer() -> Tokenizer:
    return open_embedder(EmbeddingSettings()).tokenizer


RECURSIVE_400_200 = RecursiveChunker("recursive-400-200", 400, 200)
RECURSIVE_400 = RecursiveChunker("recursive-400", 400)
RECURSIVE_200 = RecursiveChunker("recursive-200", 200)
RECURSIVE_MINILM_250_125 = RecursiveChunker("recursive-minilm-250-125", 250, 125, _model_length)
RECURSIVE_MINILM_250 = RecursiveChunker("recursive-minilm-250", 250, 0, _model_length)
CLUSTER_250 = ClusterChunker("cluster-250", 250)
CLUSTER_200 = ClusterChunker("cluster-200", 200)
WINDOW_200 = WindowChunker("window-200", 200)
SENTENCES_200 = SentenceChunker("sentences-200", 200)
CHONKIE_200 = ChonkieChunker("chonkie-200", 200)
SEMANTIC_TEXT_200 = SemanticTextChunker("semantic-text-200", 200)
