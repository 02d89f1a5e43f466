"""Bringing a library up to date with its sources: plan, then apply."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from merestone.embedding.cache import EmbeddingCache
from merestone.indexing.batches import Batches, wanted_inputs
from merestone.indexing.closing import closed_notes, idle_notes
from merestone.indexing.completion import complete, doubt_rules, rules_before
from merestone.indexing.preparation import Prepared
from merestone.indexing.resting import Rest
from merestone.indexing.run import Run
from merestone.indexing.setup import Setup
from merestone.indexing.standing import OUTSIDE, WHOLE, outside_json, outside_problems
from merestone.indexing.survey import guard_deletions, survey
from merestone.indexing.target import Target, target_of
from merestone.indexing.vectors import EmbedderChangedError, Tally
from merestone.text.hashing import digest
from merestone.types import (
    OWNER,
    AccessPolicy,
    Delete,
    Embedder,
    EmbedderIdentity,
    Finding,
    LibrarySettings,
    ProgressCallback,
    Snapshot,
    SourceError,
    Store,
    SyncReport,
)


class Indexer:
    """Plans and carries out the changes of one library."""

    def __init__(
        self,
        settings: LibrarySettings,
        store: Store,
        embedder: Embedder,
        cache: EmbeddingCache,
        policy: AccessPolicy,
        rest: Rest | None = None,
        donor: Snapshot | None = None,
    ) -> None:
        """``rest`` keeps files out that are still being written, in watch mode. ``donor`` is a
        state of another library, whose documents are taken in the place of the sources'."""
        self._setup = Setup(settings, store, embedder, cache, policy, rest, donor)

    def plan(
        self,
        paths: Sequence[str | Path] = (),
        *,
        full_hash: bool = False,
        allow_deletions: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """What a sync would do. Documents are read and cut; nothing is embedded or stored.

        What :meth:`sync` would refuse is planned too, and the report says so.
        """
        setup = self._setup
        target = self._target(paths)
        with setup.pipeline() as pipeline, self._made(target) as snapshot:
            run = survey(setup, paths, pipeline, target, snapshot, full_hash, progress)
            refusal = _refusal(run, allow_deletions)
            batches = Batches(setup, run, pipeline)
            seen: set[str] = set()
            with batches.answering(snapshot) as answering:
                for todo in run.difference.todo:
                    item = batches.prepare(todo, snapshot, answering)
                    wanted = (
                        _foresee(item, run, snapshot, seen) if isinstance(item, Prepared) else None
                    )
                    run.note(item, wanted)
            for record, chunks in run.removed:
                run.remove(record, chunks)
            run.notes += closed_notes(run.access, setup.policy)
            if rules_before(setup) != setup.policy.fingerprint:
                run.notes += idle_notes(run.access, setup.policy)
            return replace(run.report(setup.library_version()), refusal=refusal)

    def sync(
        self,
        paths: Sequence[str | Path] = (),
        *,
        full_hash: bool = False,
        allow_deletions: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """Make the library equal to a fresh build of its sources, with the least work.

        Documents are stored in batches, each whole or not at all. A document that fails keeps its
        old version; the others go on. Raises ``SourceError`` with code ``large-deletion`` where
        more than 30 % of the documents (and more than two) would go, unless allowed.

        Another embedder than the one that the library was built with makes a new generation of
        everything beside the old one, which answers until the new one is whole. Interrupted, the
        next sync goes on with it.
        """
        target = self._target(paths)
        try:
            return self._sync(target, paths, full_hash, allow_deletions, progress)
        except EmbedderChangedError as changed:
            # It calls itself what it was; its vectors do not fit the stored ones.
            mark = digest(changed.canary)[:8]
            identity = target.identity.marked(changed.canary, mark)
            target = self._target(paths, identity)
            return self._sync(target, paths, full_hash, allow_deletions, progress)

    def _sync(
        self,
        target: Target,
        paths: Sequence[str | Path],
        full_hash: bool,
        allow_deletions: bool,
        progress: ProgressCallback,
    ) -> SyncReport:
        setup = self._setup
        writing = setup.store.writer(target.identity, rebuild=not paths)
        with setup.pipeline() as pipeline, writing as writer:
            target = replace(target, number=writer.generation.number)
            with setup.everything(target.number) as snapshot:
                run = survey(setup, paths, pipeline, target, snapshot, full_hash, progress)
            guard_deletions(run.difference, allow_deletions)
            has_new_rules = doubt_rules(setup, writer)
            batches = Batches(setup, run, pipeline)
            for batch in batches:
                batches.store(batch, writer)
            complete(setup, writer, run, is_whole=not paths, allow_losses=allow_deletions)
        run.notes += closed_notes(run.access, setup.policy)
        if has_new_rules:
            run.notes += idle_notes(run.access, setup.policy)
        report = run.report(setup.library_version())
        if run.changes or run.notes or self._had_problems_outside():
            summary = _summary(report, run.supply.tally)
            seen = {OUTSIDE: outside_json(run.outside), WHOLE: not paths}
            setup.store.journal("sync", {**summary, **seen, "embedder": target.identity.base})
        return report

    def _had_problems_outside(self) -> bool:
        """True if the last syncs could not look at everything: that they can now is news."""
        with self._setup.everything() as snapshot:
            return snapshot is not None and bool(outside_problems(snapshot))

    def remove(self, documents: Sequence[str]) -> None:
        """Drop documents, and leave them out until a sync names them."""
        with self._setup.store.writer(self._identity_of_library()) as writer:
            writer.apply([Delete(document, leave_out=True) for document in documents])
        self._setup.store.journal("remove", {"documents": list(documents)})

    def tidy(self, *, purge: bool) -> None:
        """Drop generations that no longer answer, and merge what is small.

        ``purge`` leaves no byte of what was deleted: not in the library, nor in its log, nor in
        the cache of vectors, which then holds those of the library alone.
        """
        store = self._setup.store
        with store.writer(self._identity_of_library()) as writer:
            writer.drop_others()
            writer.maintain()
            if purge:
                with store.snapshot(OWNER) as snapshot:
                    fingerprint = snapshot.generation.embedder.fingerprint
                    hashes = [value for _, _, value in snapshot.numbers()]
                self._setup.cache.keep_only(fingerprint, hashes)
                writer.purge()
            writer.refresh_index()

    def _target(
        self, paths: Sequence[str | Path], identity: EmbedderIdentity | None = None
    ) -> Target:
        setup = self._setup
        with setup.everything() as snapshot:
            return target_of(snapshot, setup.embedder, setup.settings.embedding, paths, identity)

    def _identity_of_library(self) -> EmbedderIdentity:
        with self._setup.store.snapshot(OWNER) as snapshot:
            return snapshot.generation.embedder

    def _made(self, target: Target) -> AbstractContextManager[Snapshot | None]:
        """What there is of the generation that a run is about."""
        if target.is_making and target.number is None:
            return nullcontext()
        return self._setup.everything(target.number)


def _refusal(run: Run, allow_deletions: bool) -> Finding | None:
    """Why a sync would not carry the plan out."""
    try:
        guard_deletions(run.difference, allow_deletions)
    except SourceError as error:
        return Finding(error.code, None, error.message, error.remedy)
    return None


def _foresee(item: Prepared, run: Run, snapshot: Snapshot | None, seen: set[str]) -> int:
    """Count what a document would take of inputs that are not among ``seen``, and add them; the
    number to embed."""
    inputs = wanted_inputs([item])
    wanted = {value: part for value, part in inputs.items() if value not in seen}
    seen.update(wanted)
    held = run.supply.held(list(wanted), snapshot)
    tally = run.supply.tally
    tally.cached += len(held)
    tally.embedded += len(wanted) - len(held)
    tally.tokens += sum(part.tokens for value, part in wanted.items() if value not in held)
    return len(wanted) - len(held)


def _summary(report: SyncReport, tally: Tally) -> dict[str, object]:
    answer = report.to_json()
    del answer["changes"]
    return {**answer, "seconds": round(tally.seconds, 3)}
