"""The scale that cosines of all embedders are brought to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from merestone.embedding import likeness, open_embedder
from merestone.embedding.hashing import HashingEmbedder
from merestone.embedding.likeness import BUNDLED, PAIRS, Scale, scale_of
from merestone.types import EmbeddingSettings, Vectors


class Counting(HashingEmbedder):
    """Says what it was and how many texts it embedded."""

    def __init__(self, name: str) -> None:
        super().__init__(EmbeddingSettings(model="hashing"))
        self._fingerprint = name
        self.embedded = 0

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return super().embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return super().embed_queries(texts)


class Kept:
    """Vectors in memory."""

    def __init__(self) -> None:
        self.vectors: dict[tuple[str, str], Vectors] = {}

    def get_many(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Vectors]:
        found = ((key, self.vectors.get((fingerprint, key))) for key in hashes)
        return {key: vector for key, vector in found if vector is not None}

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vectors]) -> None:
        self.vectors.update({(fingerprint, key): vector for key, vector in vectors.items()})


@pytest.fixture(autouse=True)
def _forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likeness, "_known", {})


def test_what_is_shipped_for_the_bundled_embedder_is_what_it_gives() -> None:
    embedder = open_embedder(EmbeddingSettings(threads=1))
    assert embedder.fingerprint == BUNDLED
    shipped = likeness.MEASURED[BUNDLED]
    measured = scale_of(embedder)
    assert measured is not None
    assert measured == pytest.approx(shipped, abs=0.002)
    assert measured.is_telling


def test_zero_is_unrelated_and_one_is_related() -> None:
    scale = Scale(0.7, 0.9, 0.03)
    assert scale.likeness(0.7) == pytest.approx(0)
    assert scale.likeness(0.9) == pytest.approx(1)
    assert scale.likeness(0.5) < 0


def test_an_embedder_that_knows_no_meaning_tells_nothing() -> None:
    scale = scale_of(Counting("hash"))
    assert scale is not None
    assert not scale.is_telling


def test_an_embedder_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, kept = Counting("one"), Kept()
    first = scale_of(embedder, kept)
    assert embedder.embedded == 2 * len(PAIRS)
    assert scale_of(embedder, kept) == first
    assert embedder.embedded == 2 * len(PAIRS)
    monkeypatch.setattr(likeness, "_known", {})
    later = Counting("one")
    assert scale_of(later, kept) == first
    assert later.embedded == 0
    other = Counting("two")
    scale_of(other, kept)
    assert other.embedded == 2 * len(PAIRS)


def test_an_embedder_that_reads_no_english_has_no_scale() -> None:
    embedder = Counting("japanese")
    embedder.scripts = frozenset({"cjk"})  # type: ignore[attr-defined]
    assert scale_of(embedder) is None
    assert embedder.embedded == 0
