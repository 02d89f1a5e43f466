"""The scratch libraries that runs were made in, for the borders of their chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from merestone.evaluation.experiments.scratch import fingerprint_of_tables
from merestone.evaluation.runs.recording import effective_settings
from merestone.evaluation.runs.values import Run
from merestone.indexing.scratch import EXPERIMENTS_FOLDER
from merestone.library import Library
from merestone.types import Snapshot


@contextmanager
def open_cuttings(
    library: Library, runs: Sequence[Run], *, as_owner: bool = False
) -> Iterator[Mapping[str, Snapshot]]:
    """By run id, a snapshot of the scratch library that the run was made in, for those that were
    made in one that is still there. Raises ``SettingsError`` with code ``owner-only`` if there are
    rules of access and the owner does not ask: a scratch library holds all documents."""
    library.require_owner(as_owner=as_owner)
    state = library.settings.state
    own = fingerprint_of_tables(effective_settings(library.settings))
    with ExitStack() as stack:
        found: dict[str, Snapshot] = {}
        for run in runs:
            fingerprint = fingerprint_of_tables(run.settings)
            folder = Path(state) / EXPERIMENTS_FOLDER / fingerprint
            if fingerprint == own or not folder.is_dir():
                continue
            scratch = stack.enter_context(
                library.sibling(replace(library.settings, state=str(folder)))
            )
            found[run.id] = stack.enter_context(scratch.snapshot(as_owner=as_owner))
        yield found
