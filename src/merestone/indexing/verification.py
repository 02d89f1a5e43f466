"""Proving on a library that what must always hold does hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import numpy as np

from merestone.chunking import input_hash, render
from merestone.embedding.late import chunk_vectors
from merestone.indexing.pipeline import Pipeline, raw_document
from merestone.text.hashing import digest
from merestone.types import (
    JSON,
    Chunk,
    ChunkingSettings,
    Cutting,
    Document,
    DocumentRecord,
    Embedder,
    Examination,
    ExtractionError,
    Finding,
    Snapshot,
    Vectors,
)

_SAMPLE = 32
_AGREEMENT = 0.999
"""Cosine between a stored float16 vector and the text embedded anew."""


_SYNC_AGAIN = "Sync again; if it comes back, remove .merestone/library.db and sync."


def examine_store(snapshot: Snapshot, embedder: Embedder) -> list[Finding]:
    """What is wrong with the library's file, or with asking it by this embedder."""
    findings = [
        Finding("store-inconsistent", None, fault, _SYNC_AGAIN) for fault in snapshot.check()
    ]
    if snapshot.generation.embedder.base != embedder.fingerprint:
        findings.append(embedder_changed())
    return findings


def embedder_changed() -> Finding:
    """The finding that vectors of two embedders would meet."""
    return Finding(
        "embedder-changed",
        None,
        "The library was made with another embedder than the configured one.",
        "Run `merestone sync`: it builds new vectors beside the old ones and then changes over. "
        "Until then questions are answered with the embedder of the rows, as long as it is there.",
    )


class Verification:
    """Checks of one snapshot, document by document."""

    def __init__(
        self,
        snapshot: Snapshot,
        pipeline: Pipeline,
        embedder: Embedder,
        settings: ChunkingSettings,
    ) -> None:
        self._snapshot = snapshot
        self._pipeline = pipeline
        self._embedder = embedder
        self._settings = settings
        self._findings: list[Finding] = []
        self._checked: dict[str, JSON] = {
            "documents": 0,
            "chunks": 0,
            "rebuilt": 0,
            "not_rebuilt": 0,
            "vectors": 0,
        }

    def run(self, *, every_vector: bool) -> Examination:
        """Check everything; vectors by sample unless ``every_vector``."""
        self._findings += examine_store(self._snapshot, self._embedder)
        same_embedder = self._snapshot.generation.embedder.base == self._embedder.fingerprint
        for record in self._snapshot.records():
            if record.version:
                self._check_document(record)
        if same_embedder:
            self._check_vectors(every_vector)
        return Examination(self._checked, tuple(self._findings))

    def _find(
        self, code: str, document: str | None, message: str, remedy: str = _SYNC_AGAIN
    ) -> None:
        self._findings.append(Finding(code, document, message, remedy))

    def _count(self, what: str, number: int = 1) -> None:
        self._checked[what] += number

    def _check_document(self, record: DocumentRecord) -> None:
        document = self._snapshot.document(record.id)
        if document is None:
            self._find("text-missing", record.id, f"{record.id} has no stored text.")
            return
        chunks = self._snapshot.chunks_of(record.id)
        self._count("documents")
        self._count("chunks", len(chunks))
        if self._pipeline.fingerprint(record.media_type) != record.pipeline:
            self._find(
                "not-synced",
                record.id,
                f"{record.id} was cut with other settings than the configured ones.",
                "Run `merestone sync`.",
            )
            return
        if any(not 0 <= chunk.start <= chunk.end <= len(document.text) for chunk in chunks) or any(
            not 0 <= block.start <= block.end <= len(document.text) for block in document.blocks
        ):
            self._find(
                "slice-differs", record.id, f"{record.id} has places outside of its stored text."
            )
            return
        cutting = self._pipeline.cut(document)
        self._check_slices(document, chunks)
        self._check_coverage(document, chunks, cutting)
        self._check_sizes(document, chunks)
        self._check_rebuild(record, document, chunks, cutting)

    def _check_slices(self, document: Document, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            spans = [(chunk.start, chunk.end, chunk.text)]
            spans += [
                (span.start, span.end, span.text)
                for span in chunk.context
                if span.start is not None and span.end is not None
            ]
            if any(document.text[start:end] != text for start, end, text in spans):
                self._find(
                    "slice-differs", document.id, f"Chunk {chunk.id} is not the text it points at."
                )

    def _check_coverage(
        self, document: Document, chunks: Sequence[Chunk], cutting: Cutting
    ) -> None:
        covered = bytearray(len(document.text))
        for start, end in [
            *((chunk.start, chunk.end) for chunk in chunks),
            *((dropped.start, dropped.end) for dropped in cutting.dropped),
        ]:
            covered[start:end] = b"\x01" * (end - start)
        for offset in range(document.body_end):
            if not covered[offset] and not document.text[offset].isspace():
                self._find(
                    "text-uncovered",
                    document.id,
                    f"The character at {offset} of {document.id} is in no chunk.",
                )
                return

    def _check_sizes(self, document: Document, chunks: Sequence[Chunk]) -> None:
        tokenizer = self._embedder.tokenizer
        counts = tokenizer.counts([render(chunk) for chunk in chunks])
        for chunk, count in zip(chunks, counts, strict=True):
            tokens = count + tokenizer.special_tokens
            if tokens != chunk.tokens:
                self._find(
                    "count-differs",
                    document.id,
                    f"Chunk {chunk.id} says {chunk.tokens} tokens and has {tokens}.",
                )
            if tokens > self._settings.max_tokens:
                self._find(
                    "over-limit",
                    document.id,
                    f"Chunk {chunk.id} has {tokens} tokens, the limit is "
                    f"{self._settings.max_tokens}.",
                )

    def _check_rebuild(
        self,
        record: DocumentRecord,
        document: Document,
        chunks: Sequence[Chunk],
        cutting: Cutting,
    ) -> None:
        """The stored chunks are what cutting gives, and the stored text what reading gives, as
        far as the source still has the bytes that were read."""
        hashes = self._pipeline.input_hashes(document, cutting.chunks)
        made = dict(zip((chunk.id for chunk in cutting.chunks), hashes, strict=True))
        held = self._snapshot.inputs(record.id)
        if _keys(chunks) != _keys(cutting.chunks) or held != made:
            self._find("cut-differs", record.id, f"Cutting {record.id} again gives other chunks.")
        path, data = _path_of(record), _source_bytes(record)
        if path is None or data is None:
            self._count("not_rebuilt")
            return
        try:
            again = self._pipeline.read(raw_document(record.id, path, data))
        except ExtractionError as error:
            self._find("read-differs", record.id, f"{record.id} cannot be read again: {error}")
            return
        self._count("rebuilt")
        if again.version != document.version or again.text != document.text:
            self._find("read-differs", record.id, f"Reading {record.id} again gives another text.")

    def _check_vectors(self, every: bool) -> None:
        numbers = self._snapshot.numbers()
        if not every and len(numbers) > _SAMPLE:
            step = len(numbers) / _SAMPLE
            numbers = [numbers[int(index * step)] for index in range(_SAMPLE)]
        inputs = {number: value for number, _, value in numbers}
        fresh: dict[str, Vectors] = {}
        for part in _slices(list(inputs)):
            chunks = self._snapshot.by_number(part)
            stored = self._snapshot.vectors(part)
            # Equal inputs have equal vectors: each is embedded once, and every row is compared.
            new = {inputs[n]: chunks[n] for n in part if inputs[n] not in fresh}
            fresh.update(zip(new, self._embedded(list(new.values())), strict=True))
            for number in part:
                if number not in stored:
                    # The check of the store has named it.
                    continue
                kept = np.asarray(stored[number], np.float32)
                cosine = float(kept @ fresh[inputs[number]]) / float(np.linalg.norm(kept) or 1.0)
                if not cosine >= _AGREEMENT:
                    chunk = chunks[number]
                    self._find(
                        "vector-differs",
                        chunk.document,
                        f"The vector of chunk {chunk.id} is not that of its text "
                        f"(cosine {cosine:.4f}).",
                    )
            self._count("vectors", len(part))

    def _embedded(self, chunks: Sequence[Chunk]) -> list[Vectors]:
        """The vectors that these chunks must have, in the mode that the library is built in."""
        mode = self._pipeline.mode
        if mode == "plain":
            return list(self._embedder.embed_passages([render(chunk) for chunk in chunks]))
        places: dict[str, list[int]] = {}
        for place, chunk in enumerate(chunks):
            places.setdefault(chunk.document, []).append(place)
        found: dict[int, Vectors] = {}
        for document, own in places.items():
            text = self._snapshot.text(document) or ""
            parts = [chunks[place] for place in own]
            spans = [(chunk.start, chunk.end) for chunk in parts]
            rendered = [render(chunk) for chunk in parts]
            vectors = chunk_vectors(self._embedder, mode, text, spans, rendered)
            found.update(zip(own, vectors, strict=True))
        return [found[place] for place in range(len(chunks))]


def _keys(chunks: Sequence[Chunk]) -> list[tuple[str, int, int, str]]:
    return [(chunk.id, chunk.start, chunk.end, input_hash(chunk)) for chunk in chunks]


def _path_of(record: DocumentRecord) -> Path | None:
    """The file that is the document; ``None`` for pages, rows and all else that is no file."""
    parts = urlsplit(record.uri)
    if parts.scheme != "file" or parts.fragment or parts.query:
        return None
    # A name may hold bytes that are no text.
    path = os.fsdecode(unquote_to_bytes(parts.path))
    is_drive = os.name == "nt" and path[2:3] == ":"
    return Path(f"//{parts.netloc}{path}" if parts.netloc else path[1:] if is_drive else path)


def _source_bytes(record: DocumentRecord) -> bytes | None:
    """The bytes that the record was made from, if they are a file's that still has them."""
    path = _path_of(record)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data if digest(data) == record.source_hash else None


def _slices(numbers: Sequence[int], size: int = 64) -> Iterator[list[int]]:
    for first in range(0, len(numbers), size):
        yield list(numbers[first : first + size])
