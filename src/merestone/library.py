"""The library: one object over indexing and retrieval."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from merestone import config, retrieval
from merestone.embedding import open_embedder
from merestone.embedding.cache import EmbeddingCache
from merestone.indexing import (
    Indexer,
    Verification,
    embedder_changed,
    examine_store,
    open_pipeline,
)
from merestone.storage import open_store
from merestone.text.tokenizer_names import tokenizer_named
from merestone.types import (
    JSON,
    ContextResult,
    Embedder,
    Examination,
    Filter,
    Finding,
    LibrarySettings,
    LibraryStatus,
    NotFoundError,
    ProgressCallback,
    SearchResult,
    SettingsError,
    Snapshot,
    Store,
    SyncReport,
    Tokenizer,
)

Where = str | Filter | None


class Library:
    """Documents, their chunks and both indexes, in one folder.

    Reading may be done from several threads; each call sees one complete state. Writing is done
    by one process at a time. Use it as a context manager, or call :meth:`close`.
    """

    def __init__(self, settings: LibrarySettings) -> None:
        self.settings = settings
        self._opened: Store | None = open_store(settings.state)
        self._stack = ExitStack()
        self._stack.callback(self._opened.close)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        settings: LibrarySettings | None = None,
        **flags: Mapping[str, JSON],
    ) -> Library:
        """The library of the folder ``path``.

        ``flags`` are tables such as ``chunking={"max_tokens": 200}``; they win over the
        configuration. The folder needs neither a configuration nor an index yet: :meth:`sync`
        makes the index.
        """
        root = Path(path)
        if not root.is_dir():
            raise SettingsError(
                "path-not-found",
                f"{path} is not a folder.",
                "Name the folder that holds merestone.toml or the documents.",
            )
        return cls(settings or config.load_settings(root, flags))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files. The library can't be used any more."""
        self._opened = None
        self._stack.close()

    @property
    def _store(self) -> Store:
        if self._opened is None:
            raise SettingsError(
                "library-closed", "The library was closed.", "Open it again with Library.open."
            )
        return self._opened

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that texts and questions are given to."""
        return open_embedder(self.settings.embedding)

    @cached_property
    def _cache(self) -> EmbeddingCache:
        path = Path(self.settings.state) / "embeddings.db"
        cache = EmbeddingCache(path, self.settings.embedding.cache_bytes)
        self._stack.callback(cache.close)
        return cache

    def _indexer(self) -> Indexer:
        return Indexer(self.settings, self._store, self.embedder, self._cache)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One state of the library, held over several reads."""
        with self._store.snapshot() as snapshot:
            yield snapshot

    def plan(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        full_hash: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """What :meth:`sync` would do; nothing is embedded or stored."""
        names = _names(paths)
        if self._store.exists():
            # A sync would refuse; a plan must not promise.
            with self._asked():
                pass
        return self._indexer().plan(names, full_hash=full_hash, progress=progress)

    def sync(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        full_hash: bool = False,
        allow_deletions: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """Bring the library up to date with its sources, or with the named part of them.

        A run with ``paths`` touches nothing outside them. ``full_hash`` trusts no file times.
        """
        names = _names(paths)
        return self._indexer().sync(
            names, full_hash=full_hash, allow_deletions=allow_deletions, progress=progress
        )

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        where: Where = None,
        mode: str = "hybrid",
        explain: bool = False,
    ) -> SearchResult:
        """The best ``k`` chunks for ``query``, each with its ranks by side and a citation.

        ``where`` filters by metadata before anything is ranked: a filter, or its text as
        ``--where`` takes it. ``explain`` adds the trace of the stages.
        """
        with self._asked() as snapshot:
            return retrieval.search(
                snapshot,
                self.embedder,
                self.settings.retrieval,
                query,
                k=k,
                mode=mode,
                where=_filter(where),
                explain=explain,
            )

    def context(
        self,
        query: str,
        *,
        budget: int,
        where: Where = None,
        mode: str = "hybrid",
        tokenizer: Tokenizer | str | os.PathLike[str] | None = None,
    ) -> ContextResult:
        """Passages for ``query`` that fill ``budget`` tokens and never exceed it.

        Tokens are counted by ``tokenizer``: one, the path of a ``tokenizer.json`` or a name such as
        ``cl100k_base``; by default the embedder's.
        """
        if isinstance(tokenizer, str | os.PathLike):
            tokenizer = tokenizer_named(tokenizer)
        with self._asked() as snapshot:
            return retrieval.context(
                snapshot,
                self.embedder,
                tokenizer or self.embedder.tokenizer,
                self.settings.retrieval,
                query,
                budget=budget,
                mode=mode,
                where=_filter(where),
            )

    def show(self, reference: str) -> dict[str, JSON]:
        """What a reference names: a chunk id, a document, ``document#start-end[@version]``, or
        the path of a citation's JSON file."""
        with self._store.snapshot() as snapshot:
            return retrieval.show(snapshot, reference)

    def status(self) -> LibraryStatus:
        """Counts, sizes on disk, versions, and documents that have a problem."""
        with self._store.snapshot() as snapshot:
            records = list(snapshot.records())
            generation = snapshot.generation
            return LibraryStatus(
                library_version=snapshot.library_version,
                schema=snapshot.schema,
                documents=dict(Counter(str(record.status) for record in records)),
                chunks=snapshot.chunk_count(),
                embedder={
                    "name": generation.embedder_name,
                    "fingerprint": generation.embedder,
                    "dimension": generation.dimension,
                },
                bytes=snapshot.bytes(),
                problems=tuple(record.problem for record in records if record.problem),
                left_out=tuple(sorted(snapshot.left_out())),
            )

    def verify(self, *, every_vector: bool = False) -> Examination:
        """Prove on this library what must always hold: exact slices, coverage, limits, the same
        chunks from the same bytes, rows and indexes in step, one embedder."""
        with (
            self._store.snapshot() as snapshot,
            open_pipeline(self.settings, self.embedder) as pipeline,
        ):
            verification = Verification(snapshot, pipeline, self.embedder, self.settings.chunking)
            return verification.run(every_vector=every_vector)

    def doctor(self) -> Examination:
        """Look at this installation and, where there is a library, at its file."""
        findings: list[Finding] = []
        checked: dict[str, JSON] = {
            "embedder": self.embedder.name,
            "sources": [source.path for source in self.settings.sources],
            "settings_from": dict(self.settings.origin),
            "library": self._store.exists(),
        }
        findings.extend(
            Finding(
                "path-not-found",
                None,
                f"The source folder {source.path} does not exist.",
                "Mend the path in merestone.toml.",
            )
            for source in self.settings.sources
            if not Path(source.path).is_dir()
        )
        vector = self.embedder.embed_queries(["Does the embedder answer?"])
        checked["dimension"] = int(vector.shape[1])
        if self._store.exists():
            with self._store.snapshot() as snapshot:
                checked["library_version"] = snapshot.library_version
                findings += examine_store(snapshot, self.embedder)
        return Examination(checked, tuple(findings))

    def export(self, file: TextIO) -> int:
        """Write every chunk as one JSON a line, in order of documents; the number written."""
        written = 0
        with self._store.snapshot() as snapshot:
            for record in snapshot.records():
                for item in snapshot.chunks_of(record.id):
                    file.write(json.dumps(item.to_json(), ensure_ascii=True) + "\n")
                    written += 1
        return written

    def remove(self, documents: Sequence[str]) -> None:
        """Drop documents and leave them out until a sync names them."""
        documents = _names(documents)
        with self._store.snapshot() as snapshot:
            for document in documents:
                if snapshot.record(document) is None:
                    raise NotFoundError(
                        "reference-not-found",
                        f"No document is known as {document!r}; nothing was removed.",
                        "Name documents as `status` or `search` names them.",
                    )
        self._indexer().remove(documents)

    @contextmanager
    def _asked(self) -> Iterator[Snapshot]:
        """A snapshot that questions may be put to."""
        with self._store.snapshot() as snapshot:
            if snapshot.generation.embedder != self.embedder.fingerprint:
                finding = embedder_changed()
                raise SettingsError(finding.code, finding.message, finding.remedy)
            yield snapshot


def _names(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """Names as a list; one name alone is meant as such, not as its letters."""
    if isinstance(paths, str | os.PathLike):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


def _filter(where: Where) -> Filter | None:
    return retrieval.parse_filter(where) if isinstance(where, str) else where
