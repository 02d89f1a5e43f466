"""What an owner should know of a library besides its documents: a rebuild that is due, and what the
last syncs could not look at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace

from merestone.types import (
    JSON,
    OWNER,
    Embedder,
    EmbeddingSettings,
    MerestoneError,
    Problem,
    Snapshot,
    Status,
    Store,
)

OUTSIDE = "outside"
"""Field of a sync's entry in the journal: problems of looking at sources, which no document's
record keeps."""
WHOLE = "whole"
"""Field of a sync's entry: whether it looked at all sources."""
_PAST_SYNCS = 20


def outside_problems(snapshot: Snapshot) -> tuple[Problem, ...]:
    """What could not be looked at in the last sync of everything and in those of a part since, the
    newest first. Nothing for who is not the owner."""
    found: dict[tuple[str, str], Problem] = {}
    for entry in snapshot.journal("sync", _PAST_SYNCS):
        listed = entry.detail.get(OUTSIDE)
        for value in listed if isinstance(listed, list) else ():
            problem = _problem_from(value, entry.time)
            found.setdefault((problem.document, problem.code), problem)
        if entry.detail.get(WHOLE, True):
            break
    return tuple(found.values())


def _problem_from(value: JSON, time: str) -> Problem:
    assert isinstance(value, dict)
    problem = Problem(
        str(value["document"]),
        Status(str(value["status"])),
        str(value["code"]),
        str(value["message"]),
        str(value["remedy"]),
    )
    when = f"{time[:10]}, {time[11:16]} UTC"
    return replace(problem, message=f"At the last sync ({when}): {problem.message}")


def outside_json(problems: Iterable[Problem]) -> list[JSON]:
    """Problems as the journal keeps them."""
    return [problem.to_json() for problem in problems]


def rebuild_note(
    store: Store,
    snapshot: Snapshot,
    settings: EmbeddingSettings,
    opened: Callable[[], Embedder],
) -> str | None:
    """That the configuration names another embedder than the one that answers, and how far its
    vectors are built; ``None`` if it does not. ``opened`` opens the configured one, which is
    done only where the settings are others than those of the last sync."""
    answering, making = snapshot.generation.embedder, snapshot.building()
    if dict(answering.settings) == json.loads(json.dumps(asdict(settings))):
        return None
    try:
        embedder = opened()
        fingerprint = embedder.fingerprint
    except MerestoneError as error:
        return f"The embedder that the configuration names can't be used: {error.message}"
    if fingerprint == answering.base:
        return None
    told = f"The configuration names the embedder {embedder.name}, for which"
    if making is None or making.embedder.base != fingerprint:
        return (
            f"{told} the next `merestone sync` builds everything anew; {answering.name} answers "
            "until that is whole."
        )
    with store.snapshot(OWNER, generation=making.number) as made:
        built = sum(1 for record in made.records() if record.version)
    documents = sum(1 for record in snapshot.records() if record.version)
    return (
        f"{told} {built:,} of {documents:,} documents are built; {answering.name} answers until "
        "that is whole. `merestone sync` goes on with it."
    )
