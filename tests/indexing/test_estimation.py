"""What a plan would take."""

from __future__ import annotations

import pytest

from merestone.indexing.estimation import estimate
from merestone.types import JournalEntry


def entry(**detail: object) -> JournalEntry:
    return JournalEntry("2026-01-01T00:00:00+00:00", "sync", detail)  # type: ignore[arg-type]


def test_time_follows_what_a_token_took_before() -> None:
    past = [entry(tokens=1000, seconds=2.0), entry(tokens=3000, seconds=2.0, embedder="e")]
    assert estimate(500, past, "e", None).seconds == pytest.approx(0.5)


def test_without_a_past_of_this_embedder_there_is_no_time() -> None:
    past = [entry(tokens=1000, seconds=2.0, embedder="other"), entry(tokens=5), entry(seconds=1.0)]
    assert estimate(500, [], "e", None).seconds is None
    assert estimate(500, past, "e", None).seconds is None


def test_nothing_to_embed_takes_nothing() -> None:
    found = estimate(0, [], "e", 2.0)
    assert (found.seconds, found.price) == (0.0, 0.0)


def test_a_price_needs_a_price() -> None:
    assert estimate(1_500_000, [], "e", 0.02).price == pytest.approx(0.03)
    assert estimate(1_500_000, [], "e", None).price is None
