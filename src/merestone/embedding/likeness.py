"""How alike texts are to an embedder that have nothing to do with each other, and that do.

A cosine says nothing by itself: one model gives unrelated texts .0, another .75. Measured on a few
questions and passages that are always the same, it comes to a scale that all embedders share, on
which 0 is an unrelated pair and 1 a question with the passage that answers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import NamedTuple, Protocol

from merestone.embedding.scripts import trained_scripts
from merestone.text.hashing import digest
from merestone.types import Embedder, Vectors

_TELLING = 2.0
"""Spreads that must lie between unrelated and related pairs."""
_LEAST_SPREAD = 0.005
"""Less is rounding."""


class Scale(NamedTuple):
    """Mean cosines of an embedder, over the pairs of :data:`PAIRS`."""

    unrelated: float
    """Of each question with the passages of the others."""
    related: float
    """Of each question with its own passage."""
    spread: float
    """Standard deviation of the cosines of unrelated pairs."""

    @property
    def is_telling(self) -> bool:
        """False for an embedder that can't tell an answer from any other text."""
        return self.related - self.unrelated >= _TELLING * max(self.spread, _LEAST_SPREAD)

    def likeness(self, cosine: float) -> float:
        """``cosine`` on the shared scale: 0 unrelated, 1 related."""
        return (cosine - self.unrelated) / (self.related - self.unrelated)


class VectorStore(Protocol):
    """Where vectors are kept by the embedder's fingerprint and a hash of what was embedded."""

    def get_many(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Vectors]: ...

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vectors]) -> None: ...


PAIRS: tuple[tuple[str, str], ...] = (
    (
        "How often should the oil filter be changed?",
        "Replace the oil filter every 10,000 kilometres, or once a year if the car is driven less.",
    ),
    (
        "When was the bridge opened to traffic?",
        "Work on the bridge took six years. It was opened to traffic in May 1931.",
    ),
    (
        "Which vaccine do infants get first?",
        "Within a day of birth, infants are given the first dose of the hepatitis B vaccine.",
    ),
    (
        "notice period for ending a lease",
        "The tenant may end this lease by giving the landlord three months' notice in writing.",
    ),
    (
        "Why do leaves turn red in autumn?",
        "As chlorophyll breaks down, some trees form anthocyanins, which colour their leaves red.",
    ),
    (
        "What did revenue grow by last quarter?",
        "Net revenue rose by 12 % over the same quarter of last year, to 48 million euros.",
    ),
    (
        "list files sorted by size",
        "With the option -S the command sorts the files that it lists by size, largest first.",
    ),
    (
        "Who painted the ceiling of the chapel?",
        "The frescoes on the chapel's ceiling were painted by a master from Verona and his pupils.",
    ),
    (
        "Can I take unused holidays into next year?",
        "Up to five days of leave that were not taken may be carried over until the end of March.",
    ),
    (
        "What temperature should bread be baked at?",
        "Bake the loaf at 230 °C for the first ten minutes, then at 200 °C until it sounds hollow.",
    ),
    (
        "connection refused after restart of the server",
        "If clients cannot connect once the server is up again, see whether its port is open.",
    ),
    (
        "How deep is the lake?",
        "At its deepest point, near the southern shore, the lake reaches 254 metres.",
    ),
    (
        "What causes anaemia in young women?",
        "Iron deficiency from menstruation is the most frequent cause of anaemia at that age.",
    ),
    (
        "parse a date from a string",
        "The function reads a date out of a string by the given format and raises an error if "
        "they don't match.",
    ),
    (
        "Is the warranty valid abroad?",
        "Our guarantee covers repairs in every country of the European Union and in Switzerland.",
    ),
    (
        "How many players are on a handball team?",
        "Each side has seven players on the court, one of whom keeps the goal.",
    ),
    (
        "Which language is spoken on the island?",
        "Most islanders speak Portuguese; among the old, a creole survives.",
    ),
    (
        "treatment of a mild burn",
        "Cool the burnt skin under running water for twenty minutes and cover it with a cloth.",
    ),
    (
        "Who elects the members of the board?",
        "The members of the supervisory board are elected by the general meeting for four years.",
    ),
    (
        "What do otters eat?",
        "Otters live mainly on fish, and take crabs, frogs and young birds as well.",
    ),
)
"""Questions, each with a passage that answers it and none of the others."""

BUNDLED = "304a5113d133a4219835c684b0d99e8d"
"""Fingerprint of the bundled embedder with its default settings."""

MEASURED = {BUNDLED: Scale(0.0235, 0.6537, 0.0693)}
"""What an embedder gives, by its fingerprint: known beforehand, so that the first question has not
to wait for it."""

_known: dict[str, Scale | None] = dict(MEASURED)
_lock = Lock()


def scale_of(embedder: Embedder, kept: VectorStore | None = None) -> Scale | None:
    """The scale of ``embedder``; ``None`` for one that does not read English.

    Measured once in the life of a process; vectors are taken from ``kept`` and put there.
    """
    fingerprint = embedder.fingerprint
    with _lock:
        if fingerprint in _known:
            return _known[fingerprint]
    scale = _measured(embedder, kept)
    with _lock:
        _known[fingerprint] = scale
    return scale


def _measured(embedder: Embedder, kept: VectorStore | None) -> Scale | None:
    import numpy as np

    trained = trained_scripts(embedder)
    if trained is not None and "latin" not in trained:
        return None
    questions, passages = _vectors(embedder, kept)
    cosines = questions @ passages.T
    count = len(PAIRS)
    related = float(cosines.trace()) / count
    unrelated = (float(cosines.sum()) - float(cosines.trace())) / (count * (count - 1))
    spread = float(cosines[~np.eye(count, dtype=bool)].std())
    return Scale(round(unrelated, 4), round(related, 4), round(spread, 4))


def _vectors(embedder: Embedder, kept: VectorStore | None) -> tuple[Vectors, Vectors]:
    """float32 of shape ``(len(PAIRS), dimension)``: of the questions, and of the passages."""
    import numpy as np

    keys = [digest("likeness", *pair) for pair in PAIRS]
    names = [f"{key}{side}" for side in "qp" for key in keys]
    held = kept.get_many(embedder.fingerprint, names) if kept else {}
    if len(held) < len(names):
        both = np.vstack(
            [
                embedder.embed_queries([question for question, _ in PAIRS]),
                embedder.embed_passages([passage for _, passage in PAIRS]),
            ]
        )
        held = dict(zip(names, both, strict=True))
        if kept:
            kept.put_many(embedder.fingerprint, held)
    rows = np.stack([held[name] for name in names])
    return rows[: len(PAIRS)], rows[len(PAIRS) :]
