"""Which generation a plan or a sync is about, and by which embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from merestone.types import (
    Embedder,
    EmbedderIdentity,
    EmbeddingSettings,
    SettingsError,
    Snapshot,
)


@dataclass(frozen=True, slots=True)
class Target:
    """Which generation a run is about: the one that answers, or one in the making beside it."""

    identity: EmbedderIdentity
    number: int | None
    """The generation's number; ``None``: it is not there yet."""
    is_making: bool


def identity_of(embedder: Embedder, settings: EmbeddingSettings) -> EmbedderIdentity:
    """An embedder by its own account, and how to open it again."""
    return EmbedderIdentity(
        embedder.fingerprint, embedder.name, embedder.dimension, asdict(settings)
    )


def target_of(
    snapshot: Snapshot | None,
    embedder: Embedder,
    settings: EmbeddingSettings,
    paths: Sequence[str | Path],
    identity: EmbedderIdentity | None = None,
) -> Target:
    """The generation that a run brings up to date; ``snapshot`` is of the one that answers.

    ``identity`` overrides what the embedder says of itself. Raises ``SettingsError`` with code
    ``embedder-changed`` if ``paths`` name a part of a library that has to be built anew.
    """
    if snapshot is None:
        return Target(identity or identity_of(embedder, settings), None, is_making=False)
    answering, making = snapshot.generation, snapshot.building()
    if identity is None:
        opened = asdict(settings)
        if answering.embedder.base == embedder.fingerprint:
            kept = replace(answering.embedder, settings=opened)
            return Target(kept, answering.number, is_making=False)
        if making is not None and making.embedder.base == embedder.fingerprint:
            identity = replace(making.embedder, settings=opened)
        else:
            identity = identity_of(embedder, settings)
    if next(iter(snapshot.records()), None) is None:
        return Target(identity, answering.number, is_making=False)
    if paths:
        built, wanted = answering.embedder.name, identity.name
        other = "other settings of it" if wanted == built else wanted
        raise SettingsError(
            "embedder-changed",
            f"The library was built with the embedder {built}, not with {other}, and a sync of a "
            "part cannot build the whole anew.",
            "Run `merestone sync` without paths; the old vectors answer meanwhile.",
        )
    is_known = making is not None and making.embedder.fingerprint == identity.fingerprint
    return Target(identity, making.number if making and is_known else None, is_making=True)
