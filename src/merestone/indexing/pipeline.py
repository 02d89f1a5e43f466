"""From the bytes of one document to the rows of its chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from merestone.chunking import (
    chunker_named,
    chunking_fingerprint,
    cut,
    effective,
    input_hash,
    render,
)
from merestone.embedding.late import chunk_keys, span_embedder
from merestone.extraction import (
    IsolatedReader,
    detect_media_type,
    extraction_fingerprint,
    extractors,
    read_document,
)
from merestone.extraction.worker import WorkerPool
from merestone.indexing.regular_files import NotRegularError, open_file
from merestone.text.analysis import REVISION, terms
from merestone.text.hashing import canonical_json, digest
from merestone.types import (
    Chunk,
    ChunkingSettings,
    ChunkRow,
    Cutting,
    Document,
    Embedder,
    ExtractionSettings,
    LibrarySettings,
    RawDocument,
    SourceError,
)


class Pipeline:
    """Reading and cutting with one set of settings.

    ``worker`` reads formats that need a process of their own.
    """

    def __init__(
        self,
        extraction: ExtractionSettings,
        chunking: ChunkingSettings,
        embedder: Embedder,
        worker: IsolatedReader | None,
        mode: str = "plain",
    ) -> None:
        """``mode`` is ``embedding.mode``: it decides what the vectors of chunks depend on."""
        self._extraction = extraction
        self._chunking = chunking
        self._embedder = embedder
        self._worker = worker
        self.mode = mode
        self._fingerprints: dict[str, str] = {}
        # Told now and not at the first document of a type: a strategy that is not installed.
        for settings in (chunking, *chunking.types.values()):
            chunker_named(settings.strategy)
        if mode != "plain":
            span_embedder(embedder)

    def fingerprint(self, media_type: str) -> str:
        """Hash of extraction, chunking and render for documents of ``media_type``."""
        if media_type not in self._fingerprints:
            settings = effective(self._chunking, media_type)
            chunker, embedder = chunker_named(settings.strategy), self._embedder
            cutting = chunking_fingerprint(chunker, settings, embedder.tokenizer, embedder)
            extraction = extraction_fingerprint(media_type, self._extraction)
            parts = [extraction, cutting, str(REVISION)]
            if self.mode != "plain":
                parts.append(self.mode)
            self._fingerprints[media_type] = digest("pipeline", *parts)
        return self._fingerprints[media_type]

    def failure_key(self, source_hash: str) -> str:
        """Tells a failure that is known from one that is new: other bytes, other settings or
        another set of readers may do better."""
        readers = canonical_json(sorted(extractors()))
        settings = canonical_json([asdict(self._extraction), asdict(self._chunking)])
        return digest("failure", source_hash, readers, settings)

    def read(self, raw: RawDocument) -> Document:
        """The document; ``ExtractionError`` if it cannot be read."""
        return read_document(raw, self._extraction, worker=self._worker)

    def cut(self, document: Document) -> Cutting:
        """The document's chunks and what is in none."""
        return cut(document, self._chunking, self._embedder.tokenizer, self._embedder)

    def rows(self, document: Document, cutting: Cutting) -> tuple[ChunkRow, ...]:
        """What the indexes need of the document's chunks, their vectors apart.

        Terms are made without the document's language, as those of a query are: a word has to
        come out the same on both sides.
        """
        hashes = self.input_hashes(document, cutting.chunks)
        return tuple(
            ChunkRow(chunk, value, tuple(terms(render(chunk))))
            for chunk, value in zip(cutting.chunks, hashes, strict=True)
        )

    def input_hashes(self, document: Document, chunks: Sequence[Chunk]) -> list[str]:
        """For each chunk a hash of all that its vector depends on, the embedder aside: of what
        is read for it, in mode ``late`` of its windows and its place in them."""
        inputs = [input_hash(chunk) for chunk in chunks]
        if self.mode == "plain" or not inputs:
            return inputs
        spans = [(chunk.start, chunk.end) for chunk in chunks]
        return chunk_keys(self._embedder, self.mode, document.text, spans, inputs)


@contextmanager
def open_pipeline(settings: LibrarySettings, embedder: Embedder) -> Iterator[Pipeline]:
    """A library's pipeline, with a worker process for the time of the block."""
    with WorkerPool() as worker:
        yield Pipeline(
            settings.extraction, settings.chunking, embedder, worker, settings.embedding.mode
        )


def raw_document(identifier: str, path: str | Path, data: bytes) -> RawDocument:
    """The bytes of a file as a source hands them on."""
    return RawDocument(
        id=identifier,
        data=data,
        uri=Path(path).absolute().as_uri(),
        media_type=detect_media_type(str(path), data),
    )


def read_path(path: str | Path) -> bytes:
    """The bytes of the file at ``path``; ``SourceError`` if there is none to read."""
    try:
        with open_file(path) as file:
            return file.read()
    except NotRegularError as error:
        raise SourceError(
            "not-a-file", f"{path} is no regular file.", "Name a file, not a pipe or a device."
        ) from error
    except IsADirectoryError as error:
        raise SourceError(
            "path-is-folder", f"{path} is a folder, not a file.", "Name one file in it."
        ) from error
    except FileNotFoundError as error:
        raise SourceError(
            "path-not-found", f"{path} does not exist.", "Check the spelling of the path."
        ) from error
    except OSError as error:
        raise SourceError(
            "file-unreadable",
            f"{path} cannot be read: {error.strerror or error}.",
            "Check that you may read it.",
        ) from error
