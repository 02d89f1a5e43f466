"""Other settings on a library's documents, tried out in scratch libraries.

A scratch library is made of the documents as the live one holds them, by the same code that made
the live one, and lies beside it in ``.merestone/experiments``. It is kept, and brought up to date
the next time. Where only retrieval differs there is nothing to make: the live library answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from merestone.evaluation.experiments.configurations import Configuration
from merestone.indexing import open_pipeline
from merestone.indexing.scratch import note_use, scratch_state
from merestone.library import Library
from merestone.text.hashing import canonical_json, digest
from merestone.types import (
    JSON,
    EmbeddingSettings,
    LibrarySettings,
    ProgressCallback,
    Snapshot,
)

_HOW_FAST = frozenset(
    {
        "api_key_env",
        "batch",
        "batch_tokens",
        "cache_bytes",
        "price_per_million_tokens",
        "threads",
        "timeout_seconds",
    }
)
"""Settings of the embedder that change no vector."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A configuration that questions can be put to, for the time of the block."""

    configuration: Configuration
    library: Library
    is_scratch: bool
    embedded: int
    """Texts that had to be embedded for it just now."""
    library_version: int
    """Of the live library's state that is tried on."""
    notes: tuple[str, ...] = ()


class Experiments:
    """Configurations of one state of a library. Made by :func:`open_experiments`."""

    def __init__(
        self, library: Library, snapshot: Snapshot, as_owner: bool, progress: ProgressCallback
    ) -> None:
        """``as_owner`` says how ``snapshot`` was opened, so as to see all."""
        self._library = library
        self._snapshot = snapshot
        self._as_owner = as_owner
        self._progress = progress

    @property
    def library_version(self) -> int:
        """Of the state that everything is measured on."""
        return self._snapshot.library_version

    def check(self, configuration: Configuration) -> LibrarySettings:
        """The settings that it comes to; ``SettingsError`` if they can't be."""
        settings = self._library.varied(configuration.tables)
        with self._library.sibling(settings) as tried, open_pipeline(settings, tried.embedder):
            return settings

    def needs_making(self, configuration: Configuration) -> bool:
        """False if the live library answers for it."""
        settings = self._library.varied(configuration.tables)
        return _making(settings) != _making(self._library.settings)

    @property
    def size(self) -> tuple[int, int]:
        """Documents and chunks of the live library."""
        return len(self._snapshot.document_ids()), self._snapshot.chunk_count()

    @contextmanager
    def trial(self, configuration: Configuration) -> Iterator[Trial]:
        """A library that answers by this configuration."""
        settings = self._library.varied(configuration.tables)
        if not self.needs_making(configuration):
            with self._library.sibling(replace(settings, state=self._state)) as live:
                yield Trial(configuration, live, False, 0, self.library_version, self._doubts())
            return
        folder = scratch_state(self._state, scratch_fingerprint(settings))
        note_use(folder)
        cache = self._library.settings.cache or str(Path(self._state) / "embeddings.db")
        scratch = self._library.sibling(replace(settings, state=str(folder), cache=cache))
        with scratch:
            is_read_anew = settings.extraction != self._library.settings.extraction
            embedded = self._read_anew(scratch) if is_read_anew else self._take(scratch)
            yield Trial(configuration, scratch, True, embedded, self.library_version)

    @property
    def _state(self) -> str:
        return self._library.settings.state

    def _take(self, scratch: Library) -> int:
        return scratch.take(self._snapshot, progress=self._progress).embedded

    def _read_anew(self, scratch: Library) -> int:
        """Other settings of extraction ask for the sources again, as they are now."""
        report = scratch.sync(allow_deletions=True, progress=self._progress)
        kept = {record.id for record in self._snapshot.records()}
        with scratch.snapshot(as_owner=self._as_owner) as snapshot:
            unwanted = sorted(kept.symmetric_difference(snapshot.document_ids()) - kept)
        if unwanted:
            scratch.remove(unwanted)
        return report.embedded

    def _doubts(self) -> tuple[str, ...]:
        """What is to be said if the live library was not made by its own settings."""
        library = self._library
        if self._snapshot.generation.embedder.base != library.embedder.fingerprint:
            return ("The library answers with another embedder than its settings name; sync it.",)
        with open_pipeline(library.settings, library.embedder) as pipeline:
            stale = sum(
                1
                for record in self._snapshot.records()
                if record.version and record.pipeline != pipeline.fingerprint(record.media_type)
            )
        if not stale:
            return ()
        return (f"{stale} documents of the library were cut by other settings; sync it.",)


@contextmanager
def open_experiments(
    library: Library,
    *,
    as_owner: bool = False,
    progress: ProgressCallback = lambda _: None,
) -> Iterator[Experiments]:
    """Experiments on the state that ``library`` has now, which is held for the time of the block.

    They copy the text of all documents, so that once there are rules of access only the owner may:
    else ``SettingsError`` with code ``owner-only``. Raises ``StoreError`` with code ``no-library``
    if the library was never synced.
    """
    library.require_owner(as_owner=as_owner)
    with library.snapshot(as_owner=as_owner) as snapshot:
        yield Experiments(library, snapshot, as_owner, progress)


def scratch_fingerprint(settings: LibrarySettings) -> str:
    """Hash of all settings that decide what a library holds of given documents."""
    return digest("scratch", canonical_json(_making(settings)))


def fingerprint_of_tables(tables: Mapping[str, JSON]) -> str:
    """The same, of the tables of a run's settings; empty if one is missing."""
    embedding = tables.get("embedding")
    if not isinstance(embedding, dict) or not {"extraction", "chunking"} <= tables.keys():
        return ""
    vectors = {name: value for name, value in embedding.items() if name not in _HOW_FAST}
    making = [tables["extraction"], tables["chunking"], vectors]
    return digest("scratch", canonical_json(making))


def _making(settings: LibrarySettings) -> list[dict[str, object]]:
    return [
        asdict(settings.extraction),
        asdict(settings.chunking),
        _of_vectors(settings.embedding),
    ]


def _of_vectors(settings: EmbeddingSettings) -> dict[str, object]:
    return {name: value for name, value in asdict(settings).items() if name not in _HOW_FAST}
