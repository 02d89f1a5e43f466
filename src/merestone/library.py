"""The library: one object over indexing and retrieval."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Event, Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO, TypeVar

from merestone import config, retrieval
from merestone.embedding import open_embedder
from merestone.embedding.cache import EmbeddingCache
from merestone.indexing import (
    Indexer,
    Manifest,
    Policy,
    Readers,
    Verification,
    embedder_changed,
    examine_store,
    open_pipeline,
    open_policy,
    read_archive,
    write_archive,
)
from merestone.indexing.estimation import PAST_SYNCS, estimate
from merestone.indexing.pending import glance
from merestone.indexing.resting import Rest
from merestone.indexing.scratch import drop_scratch, scratch_bytes
from merestone.indexing.standing import outside_problems, rebuild_note
from merestone.reranking import open_reranker
from merestone.storage import open_store
from merestone.text.tokenizer_names import tokenizer_given
from merestone.types import (
    CONFIG_FILE,
    JSON,
    OWNER,
    Asker,
    ContextResult,
    DocumentAccess,
    DocumentHistory,
    DocumentRecord,
    Embedder,
    EmbedderIdentity,
    EmbeddingSettings,
    Examination,
    Finding,
    JournalEntry,
    LibrarySettings,
    LibraryStatus,
    MerestoneError,
    NotFoundError,
    Problem,
    ProgressCallback,
    Reader,
    Resolution,
    RetrievalSettings,
    SearchResult,
    SettingsError,
    Snapshot,
    SourceSettings,
    Status,
    Store,
    SyncReport,
    Tokenizer,
)

if TYPE_CHECKING:
    from merestone.indexing.watching import WatchNote

_Model = TypeVar("_Model")
Where = retrieval.Where
Reference = retrieval.Reference
Principals = Iterable[str] | None
"""Who asks: names such as ``user:bob``. ``None``: someone of whom nothing is known."""


@dataclass(frozen=True, slots=True)
class Serving:
    """One state of a library, and the models and settings that it answers with."""

    snapshot: Snapshot
    embedder: Embedder
    """That of the snapshot's rows."""
    settings: RetrievalSettings
    reranking: retrieval.Reranking | None
    cache: EmbeddingCache


class Library:
    """Documents, their chunks and both indexes, in one folder.

    Reading may be done from several threads; each call sees one complete state. Writing is done
    by one process at a time. Use it as a context manager, or call :meth:`close`.

    Each way of reading takes ``principals``, who asks, or ``as_owner=True``, and answers as if
    there were nothing but what the asker may read. Without either, that is what is public.
    """

    def __init__(
        self, settings: LibrarySettings, access: config.AccessConfiguration | None = None
    ) -> None:
        """``access`` gives the rules of access afresh; without it those of ``settings`` stay."""
        _refuse_units(settings)
        self.settings = settings
        self._access = access
        self._opened: Store | None = open_store(settings.state, settings.retrieval.graph)
        self._stack = ExitStack()
        self._earlier: dict[str, Embedder] = {}
        """Embedders of rows that were made before the configuration changed, by fingerprint."""
        self._opening = Lock()
        self._stack.callback(self._opened.close)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        settings: LibrarySettings | None = None,
        **flags: Mapping[str, JSON] | Sequence[Mapping[str, JSON]],
    ) -> Library:
        """The library of the folder ``path``.

        ``flags`` are tables such as ``chunking={"max_tokens": 200}``, or lists of them such as
        ``sources=[{"path": "docs"}]``; they win over the configuration.
        The folder needs neither a configuration nor an index yet: :meth:`sync` makes the index.
        """
        root = Path(path)
        if not root.is_dir():
            raise SettingsError(
                "path-not-found",
                f"{path} is not a folder.",
                "Name the folder that holds merestone.toml or the documents.",
            )
        if settings is not None:
            return cls(settings)
        access = config.AccessConfiguration(root, flags)
        settings = config.load_settings(root, flags)
        # Rules that can't be are refused at once, not at the first question.
        open_policy(settings.access, settings.sources, settings.state)
        return cls(settings, access)

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
        return self._closing(open_embedder(self.settings.embedding))

    @cached_property
    def _reranking(self) -> retrieval.Reranking | None:
        settings = self.settings.reranking
        model = open_reranker(settings)
        return None if model is None else retrieval.Reranking(self._closing(model), settings)

    def _closing(self, model: _Model) -> _Model:
        """``model``, which lets go of its connections when the library is closed, if it has any."""
        close = getattr(model, "close", None)
        if close is not None:
            self._stack.callback(close)
        return model

    @cached_property
    def _cache(self) -> EmbeddingCache:
        path = Path(self.settings.cache or Path(self.settings.state) / "embeddings.db")
        cache = EmbeddingCache(path, self.settings.embedding.cache_bytes)
        self._stack.callback(cache.close)
        return cache

    def _indexer(self, policy: Policy | None = None, rest: Rest | None = None) -> Indexer:
        policy = policy or self._policy()
        return Indexer(self.settings, self._store, self.embedder, self._cache, policy, rest)

    def _policy(self) -> Policy:
        """Rules and groups of this moment."""
        access, sources = self.settings.access, self.settings.sources
        if self._access is not None:
            access, sources = self._access.current()
        return open_policy(access, sources, self.settings.state)

    def _require_rules(self, policy: Policy) -> None:
        """Raise ``SettingsError`` if the library was judged by rules, and they went with the file
        that held them: a sync would open what they closed."""
        if self._access is None or self._access.has_project_file or policy.has_rules:
            return
        if not self._store.exists():
            return
        with self._store.snapshot(OWNER) as snapshot:
            judged_by = snapshot.access_rules()
        if judged_by not in (None, policy.fingerprint):
            raise SettingsError(
                "config-unreadable",
                f"There are no settings in {self.settings.root}, and the library in it was synced "
                "under rules of access.",
                f"Put {CONFIG_FILE} back. To give the rules up, write one without them.",
            )

    def _reader(self, principals: Principals, as_owner: bool) -> Reader:
        """Who asks, with the groups of this moment."""
        if as_owner:
            if principals is not None:
                raise SettingsError(
                    "ambiguous-asker",
                    "A question was to be asked as the owner and as someone else.",
                    "Give principals, or as_owner, not both.",
                )
            return OWNER
        policy = self._policy()
        return Asker(policy, policy.principals(_principals(principals)))

    @contextmanager
    def snapshot(
        self, *, principals: Principals = None, as_owner: bool = False
    ) -> Iterator[Snapshot]:
        """One state of the library, held over several reads."""
        with self._store.snapshot(self._reader(principals, as_owner)) as snapshot:
            yield snapshot

    @contextmanager
    def _whole(self, as_owner: bool, principals: Principals = None) -> Iterator[Snapshot]:
        """A snapshot of everything. Who is not the owner gets it as long as everything is open."""
        with self.snapshot(principals=principals, as_owner=as_owner) as snapshot:
            if snapshot.is_limited:
                raise SettingsError(
                    "owner-only",
                    "There are rules of access, in the configuration or in a document, and this "
                    "looks at the whole library.",
                    "Ask as the owner: --as-owner, or as_owner=True in Python.",
                )
            yield snapshot

    def require_owner(self, *, principals: Principals = None, as_owner: bool = False) -> None:
        """Raise ``SettingsError`` with code ``owner-only`` unless the owner asks or there are no
        rules of access."""
        with self._whole(as_owner, principals):
            pass

    def plan(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        full_hash: bool = False,
        allow_deletions: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """What :meth:`sync` would do and what it would take; nothing is embedded or stored.

        What a sync would refuse is planned too; ``refusal`` of the report then says why.
        """
        names = _names(paths)
        report = self._indexer().plan(
            names, full_hash=full_hash, allow_deletions=allow_deletions, progress=progress
        )
        return self._with_estimate(self._with_access_problem(report))

    def _with_estimate(self, report: SyncReport) -> SyncReport:
        """A plan with what it would take."""
        past: list[JournalEntry] = []
        if self._store.exists():
            with self._store.snapshot(OWNER) as snapshot:
                past = snapshot.journal("sync", PAST_SYNCS)
        price = self.settings.embedding.price_per_million_tokens
        found = estimate(report.tokens, past, self.embedder.fingerprint, price)
        return replace(report, estimate=found)

    def varied(self, tables: Mapping[str, Mapping[str, JSON]]) -> LibrarySettings:
        """The settings of this library with those of ``tables`` on top, as a configuration file
        would say them; ``None`` takes a value back to its default.

        Raises ``SettingsError`` for what can't be, and for a library that was opened with settings
        instead of a configuration.
        """
        if self._access is None:
            raise SettingsError(
                "no-configuration",
                "The library was opened with settings, and not from a configuration to vary.",
                "Open it with Library.open(path, table={...}).",
            )
        return config.load_settings(Path(self.settings.root), self._access.flags, tables)

    def sibling(self, settings: LibrarySettings) -> Library:
        """A library of other settings under the same rules of access, to be closed before this
        one. It has this one's embedder where that is the same."""
        sibling = Library(settings, self._access)
        if settings.embedding == self.settings.embedding:
            sibling.__dict__["embedder"] = self.embedder
        return sibling

    def take(self, donor: Snapshot, *, progress: ProgressCallback = lambda _: None) -> SyncReport:
        """Make this library hold the documents of ``donor``, a state of another one, cut and
        embedded by its own settings. They are not read again, and only what is new is embedded."""
        indexer = Indexer(
            self.settings, self._store, self.embedder, self._cache, self._policy(), donor=donor
        )
        return indexer.sync(allow_deletions=True, progress=progress)

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
        policy = self._policy()
        self._require_rules(policy)
        report = self._indexer(policy).sync(
            names, full_hash=full_hash, allow_deletions=allow_deletions, progress=progress
        )
        return self._with_access_problem(report)

    def watch(
        self,
        on_report: Callable[[SyncReport], None] = lambda _: None,
        *,
        on_note: Callable[[WatchNote], None] = lambda _: None,
        stop: Event | None = None,
        every: float = 300.0,
        full_hash: bool = False,
        allow_deletions: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> None:
        """Sync, then go on syncing whatever changes, until ``stop`` is set.

        ``on_report`` is given the report of the first sync and of each that changed something,
        ``on_note`` what went wrong meanwhile, once. Everything is looked at again every ``every``
        seconds, and when the configuration was changed, which is read afresh. Raises
        ``SettingsError`` only for the first sync.
        """
        from merestone.indexing.watching import Watch

        site = _Site(self, full_hash, allow_deletions, progress)
        Watch(site, every=every, on_report=on_report, on_note=on_note).run(stop or Event())

    def _configure(self) -> None:
        """Read the configuration again; if it can't be used, the old settings stay."""
        if self._access is None:
            return
        settings = config.load_settings(Path(self.settings.root), self._access.flags)
        _refuse_units(settings)
        # Raises too if a file that was read is gone: that is no configuration without rules.
        self._policy()
        if settings.embedding != self.settings.embedding:
            self.__dict__.pop("embedder", None)
        if settings.reranking != self.settings.reranking:
            self.__dict__.pop("_reranking", None)
        self.settings = settings

    def _with_access_problem(self, report: SyncReport) -> SyncReport:
        problems = self._access_problem()
        return replace(
            report,
            problems=(*report.problems, *problems),
            retry=report.retry or bool(problems),
        )

    def _access_problem(self) -> tuple[Problem, ...]:
        """What is wrong with the external file of access rules, if anything is."""
        finding = self._policy().finding
        if finding is None:
            return ()
        return (Problem("", Status.UNREADABLE, finding.code, finding.message, finding.remedy),)

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        principals: Principals = None,
        as_owner: bool = False,
        where: Where = None,
        mode: str = "hybrid",
        explain: bool = False,
    ) -> SearchResult:
        """The best ``k`` chunks for ``query``, each with its ranks by side and a citation.

        ``where`` filters by metadata before anything is ranked: a filter, its text as ``--where``
        takes it, or a mapping of fields to values. ``explain`` adds the trace of the stages.
        """
        with self._asked(principals, as_owner) as (snapshot, embedder):
            return retrieval.search(
                snapshot,
                embedder,
                self.settings.retrieval,
                query,
                k=k,
                mode=mode,
                where=retrieval.read_filter(where),
                explain=explain,
                reranking=self._reranking,
                kept=self._cache,
            )

    def context(
        self,
        query: str,
        *,
        budget: int | retrieval.Budget,
        principals: Principals = None,
        as_owner: bool = False,
        where: Where = None,
        mode: str = "hybrid",
        tokenizer: Tokenizer | str | os.PathLike[str] | None = None,
        precise: bool = False,
        explain: bool = False,
    ) -> ContextResult:
        """Passages for ``query`` that fill ``budget`` tokens and never exceed it; a ``Budget``
        works out how many tokens of a prompt are left for them.

        ``precise`` stops where the score falls below a share of the best, instead of filling up.
        ``explain`` adds the trace of the stages. Tokens are counted by ``tokenizer``: one, the
        path of a ``tokenizer.json`` or a name such as ``cl100k_base``; by default that of the
        ``Budget``, else the embedder's.
        """
        tokenizer = tokenizer_given(tokenizer)
        with self._asked(principals, as_owner) as (snapshot, embedder):
            allowance = retrieval.allow(budget, tokenizer, embedder.tokenizer)
            result = retrieval.context(
                snapshot,
                embedder,
                allowance.tokenizer,
                self.settings.retrieval,
                query,
                budget=allowance.tokens,
                mode=mode,
                where=retrieval.read_filter(where),
                precise=precise,
                explain=explain,
                reranking=self._reranking,
                kept=self._cache,
            )
        return allowance.told(result)

    def show(
        self, reference: Reference, *, principals: Principals = None, as_owner: bool = False
    ) -> dict[str, JSON]:
        """What a reference names: a chunk id, a document, ``document#start-end[@version]``, or
        a citation (or a hit) in the form of its JSON."""
        with self.snapshot(principals=principals, as_owner=as_owner) as snapshot:
            return retrieval.show(snapshot, reference)

    def resolve(
        self, reference: Reference, *, principals: Principals = None, as_owner: bool = False
    ) -> Resolution:
        """Where the chunk, document or span that a reference names is now: the same, moved,
        changed or gone. A reference is as :meth:`show` takes it, of any version."""
        with self.snapshot(principals=principals, as_owner=as_owner) as snapshot:
            return retrieval.resolve(snapshot, reference)

    def history(
        self, document: str, *, principals: Principals = None, as_owner: bool = False
    ) -> DocumentHistory:
        """The versions that a document had, with the chunks that came and went."""
        with self.snapshot(principals=principals, as_owner=as_owner) as snapshot:
            return retrieval.history(snapshot, document)

    def status(self, *, principals: Principals = None, as_owner: bool = False) -> LibraryStatus:
        """Counts, sizes on disk, versions, and documents that have a problem.

        Where there are rules of access, sizes and what was removed by hand are the owner's.
        """
        with self.snapshot(principals=principals, as_owner=as_owner) as snapshot:
            is_limited = snapshot.is_limited
            records = list(snapshot.records())
            generation = snapshot.generation
            return LibraryStatus(
                library_version=snapshot.library_version,
                schema=snapshot.schema,
                documents=dict(Counter(str(record.status) for record in records)),
                chunks=snapshot.chunk_count(),
                embedder={
                    "name": generation.embedder.name,
                    "fingerprint": generation.embedder.fingerprint,
                    "dimension": generation.embedder.dimension,
                },
                bytes={} if is_limited else snapshot.bytes(),
                problems=(
                    *(record.problem for record in records if record.problem),
                    *outside_problems(snapshot),
                    *(() if is_limited else self._access_problem()),
                ),
                left_out=() if is_limited else tuple(sorted(snapshot.left_out())),
                outdated=sum(1 for each in records if each.version and each.failed_hash),
                notes=() if is_limited else self._notes(snapshot),
                unnamed=self._access_of(snapshot, records).unnamed() if as_owner else 0,
            )

    def _notes(self, snapshot: Snapshot) -> tuple[str, ...]:
        """What the owner should know of the library as a whole."""
        settings = self.settings.embedding
        note = rebuild_note(self._store, snapshot, settings, lambda: self.embedder)
        return (note,) if note else ()

    def documents(
        self, *, principals: Principals = None, as_owner: bool = False, where: Where = None
    ) -> list[DocumentRecord]:
        """What is known of each document, by id; of those that ``where`` lets through, where it
        is given."""
        limit = retrieval.read_filter(where)
        with self.snapshot(principals=principals, as_owner=as_owner) as snapshot:
            if limit is None:
                return list(snapshot.records())
            wanted = set(snapshot.document_ids(limit))
            return [record for record in snapshot.records() if record.id in wanted]

    def access(
        self, documents: Sequence[str] = (), *, as_owner: bool = False
    ) -> list[DocumentAccess]:
        """Who may read each document at this moment, and what says so: of ``documents``, or of
        all by id.

        Raises ``NotFoundError`` for a name that no document has.
        """
        names = _names(documents)
        with self._whole(as_owner) as snapshot:
            readers = self._access_of(snapshot, list(snapshot.records()))
            for name in names:
                record = snapshot.record(name)
                if record is None or not record.version:
                    raise NotFoundError(
                        "reference-not-found",
                        f"No document is known as {name!r}.",
                        "Name documents as `status --documents` names them.",
                    )
            return [readers.of(name) for name in names] if names else readers.all()

    def _access_of(self, snapshot: Snapshot, records: Sequence[DocumentRecord]) -> Readers:
        """Who may read what, of a snapshot of everything with these records."""
        return Readers(records, snapshot.access_rules(), self._policy())

    def verify(self, *, every_vector: bool = False, as_owner: bool = False) -> Examination:
        """Prove on this library what must always hold: exact slices, coverage, limits, the same
        chunks from the same bytes, rows and indexes in step, one embedder."""
        with (
            self._whole(as_owner) as snapshot,
            open_pipeline(self.settings, self.embedder) as pipeline,
        ):
            verification = Verification(snapshot, pipeline, self.embedder, self.settings.chunking)
            return verification.run(every_vector=every_vector)

    def doctor(self, *, as_owner: bool = False) -> Examination:
        """Look at this installation and, where there is a library, at its file."""
        if self._store.exists():
            self.require_owner(as_owner=as_owner)
        findings: list[Finding] = []
        checked: dict[str, JSON] = {
            "embedder": self.embedder.name,
            "sources": [source.place for source in self.settings.sources],
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
            if source.path and not Path(source.path).is_dir()
        )
        vector = self.embedder.embed_queries(["Does the embedder answer?"])
        checked["dimension"] = int(vector.shape[1])
        if self._reranking is not None:
            checked["reranker"] = self._reranking.model.name
        policy = self._policy()
        is_restricted = policy.has_rules
        if self._store.exists():
            with self._whole(as_owner) as snapshot:
                checked["library_version"] = snapshot.library_version
                findings += examine_store(snapshot, self.embedder)
                readers = self._access_of(snapshot, list(snapshot.records()))
                is_restricted = readers.has_restrictions
                checked["documents_that_no_rule_names"] = readers.unnamed()
                findings += readers.idle_rules()
        checked["access_rules"] = is_restricted
        if policy.finding:
            findings.append(policy.finding)
        return Examination(checked, tuple(findings))

    def export(self, file: TextIO, *, as_owner: bool = False) -> int:
        """Write every chunk as one JSON a line, in order of documents; the number written."""
        written = 0
        with self._whole(as_owner) as snapshot:
            for record in snapshot.records():
                for item in snapshot.chunks_of(record.id):
                    file.write(json.dumps(item.to_json(), ensure_ascii=True) + "\n")
                    written += 1
        return written

    def export_library(self, path: str | os.PathLike[str], *, as_owner: bool = False) -> Manifest:
        """Write the whole library, vectors included, to one file that :meth:`import_library`
        takes. Raises ``OSError`` if it cannot be written."""
        self.require_owner(as_owner=as_owner)
        return write_archive(self.settings, Path(path).absolute())

    @classmethod
    def import_library(
        cls,
        archive: str | os.PathLike[str],
        path: str | os.PathLike[str] = ".",
        **flags: Mapping[str, JSON],
    ) -> Library:
        """Make the library in ``archive`` that of the folder ``path``, which has none yet.

        It answers at once; a sync then embeds only what is new in the sources here. Settings and
        rules of access are those of this folder's configuration.
        """
        root = Path(path)
        is_new = not root.exists()
        root.mkdir(parents=True, exist_ok=True)
        with ExitStack() as undo:
            if is_new:
                undo.callback(_remove_empty, root)
            library = undo.enter_context(cls.open(root, settings=None, **flags))
            read_archive(Path(archive), library.settings)
            undo.pop_all()
        return library

    def remove(self, documents: Sequence[str]) -> None:
        """Drop documents and leave them out until a sync names them."""
        documents = _names(documents)
        with self._store.snapshot(OWNER) as snapshot:
            for document in documents:
                if snapshot.record(document) is None:
                    raise NotFoundError(
                        "reference-not-found",
                        f"No document is known as {document!r}; nothing was removed.",
                        "Name documents as `status --documents` lists them.",
                    )
        self._indexer().remove(documents)

    def gc(self, *, purge: bool = False) -> dict[str, JSON]:
        """Drop what no longer answers and merge what is small; sizes on disk before and after.

        ``purge`` leaves no byte of deleted documents in the state folder. Raises
        ``StoreBusyError`` with code ``reader-keeps-log`` if another process reads an old state.
        Scratch libraries of comparisons go with it; without it those that were long not used.
        """
        before = self._bytes()
        drop_scratch(self.settings.state, everything=purge)
        self._indexer().tidy(purge=purge)
        return {"before": before, "after": self._bytes(), "purged": purge}

    def _bytes(self) -> dict[str, int]:
        with self._store.snapshot(OWNER) as snapshot:
            sizes = snapshot.bytes()
        scratch = scratch_bytes(self.settings.state)
        return {**sizes, "experiments": scratch} if scratch else sizes

    @contextmanager
    def serving(
        self, *, principals: Principals = None, as_owner: bool = False
    ) -> Iterator[Serving]:
        """All that questions are answered with, of one state, held over several questions: who
        calls the functions of ``retrieval`` with it gets what :meth:`search` and :meth:`context`
        give."""
        with self._asked(principals, as_owner) as (snapshot, embedder):
            yield Serving(snapshot, embedder, self.settings.retrieval, self._reranking, self._cache)

    @contextmanager
    def _asked(self, principals: Principals, as_owner: bool) -> Iterator[tuple[Snapshot, Embedder]]:
        """A snapshot that questions may be put to, and the embedder of its rows."""
        with self.snapshot(principals=principals, as_owner=as_owner) as snapshot:
            yield snapshot, self._embedder_of(snapshot.generation.embedder)

    def _embedder_of(self, identity: EmbedderIdentity) -> Embedder:
        """The embedder that made the rows: after a change of the configuration it goes on
        answering until a sync has built the new vectors."""
        if identity.base == self.embedder.fingerprint:
            return self.embedder
        with self._opening:
            if identity.base not in self._earlier:
                try:
                    found = open_embedder(EmbeddingSettings(**identity.settings))
                except (MerestoneError, TypeError) as error:
                    raise _embedder_gone() from error
                if found.fingerprint != identity.base:
                    raise _embedder_gone()
                self._earlier[identity.base] = self._closing(found)
            return self._earlier[identity.base]


def _refuse_units(settings: LibrarySettings) -> None:
    """Raise ``SettingsError`` where vectors are asked for that a library cannot keep."""
    if settings.embedding.units:
        raise SettingsError(
            "units-not-kept",
            "embedding.units = true asks for a vector of each sentence, and a library has no place "
            "for them yet.",
            "Leave embedding.units = false; units are found by words and by their chunk's vector.",
        )


def _embedder_gone() -> SettingsError:
    finding = embedder_changed()
    return SettingsError(finding.code, finding.message, finding.remedy)


@dataclass(slots=True)
class _Site:
    """A library as it is watched."""

    library: Library
    full_hash: bool
    allow_deletions: bool
    progress: ProgressCallback
    policy: Policy | None = None
    """Goes on while the configuration can't be read."""

    @property
    def sources(self) -> Sequence[SourceSettings]:
        return self.library.settings.sources

    def sync(self, paths: Sequence[str], rest: Rest) -> SyncReport:
        try:
            self.policy = self.library._policy()
        except SettingsError:
            if self.policy is None:
                raise
        self.library._require_rules(self.policy)
        return self.library._indexer(self.policy, rest).sync(
            paths,
            full_hash=self.full_hash,
            allow_deletions=self.allow_deletions,
            progress=self.progress,
        )

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        return self.library._store.snapshot(OWNER)

    def configuration(self) -> object:
        settings = self.library.settings
        files = [settings.access.file] if settings.access.file else []
        if self.library._access is not None:
            files += map(str, config.config_files(Path(settings.root)))
            files.append(str(Path(settings.state) / config.WRITTEN))
        return [glance(file) for file in files]

    def configure(self) -> None:
        self.library._configure()


def _names(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """Names as a list; one name alone is meant as such, not as its letters."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    try:
        names = [os.fspath(path) for path in paths]
    except TypeError:
        names = None
    if names is None or not all(isinstance(name, str) for name in names):
        raise SettingsError(
            "invalid-name",
            f"{paths!r} is no list of documents or paths.",
            "Give a list of texts or paths; an empty one, or nothing, for all.",
        )
    return names


def _principals(given: object) -> list[str]:
    """Who asks, as a list; one name alone is meant as such, not as its letters."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, Iterable) and not isinstance(given, bytes | Mapping):
        return list(given)
    raise SettingsError(
        "invalid-principal",
        f"Principals are given as {given!r}, which is no list.",
        'Give a list of names, such as ["user:bob"].',
    )


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
