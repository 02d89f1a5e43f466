"""What a plan would take, reckoned from what past syncs took."""

from __future__ import annotations

from collections.abc import Iterable

from merestone.types import Estimate, JournalEntry

PAST_SYNCS = 50
"""So many entries of the journal are enough to go by."""


def estimate(
    tokens: int, past: Iterable[JournalEntry], embedder: str, price_per_million: float | None
) -> Estimate:
    """Time and price of embedding ``tokens``.

    ``past`` are the journal's entries of syncs; those of another embedder than the one with the
    fingerprint ``embedder`` say nothing about this one. Without a past there is no time.
    """
    spent = [_spent(entry, embedder) for entry in past]
    embedded = sum(count for count, _ in spent)
    seconds = sum(time for _, time in spent)
    return Estimate(
        seconds=(tokens * seconds / embedded) if embedded and tokens else None if tokens else 0.0,
        price=None if price_per_million is None else tokens * price_per_million / 1_000_000,
    )


def _spent(entry: JournalEntry, embedder: str) -> tuple[int, float]:
    """Tokens that a sync embedded and the seconds it took, as far as the entry says both."""
    tokens, seconds = entry.detail.get("tokens"), entry.detail.get("seconds")
    if entry.detail.get("embedder", embedder) != embedder:
        return 0, 0.0
    if not isinstance(tokens, int) or not isinstance(seconds, int | float) or seconds <= 0:
        return 0, 0.0
    return tokens, float(seconds)
