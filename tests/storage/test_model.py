"""Any sequence of batches leaves what a dictionary would hold."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from storage.building import put, vector, writing

from merestone.storage.engine import SQLiteStore
from merestone.types import OWNER, Change, Comparison, Counts, Delete, Put, Touch

NAMES = ["a.md", "b.md", "dir/c.md"]
WORDS = ["red", "green", "blue"]
PASSAGES = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), max_size=5
)
PUTS = st.builds(
    lambda name, passages, heading, language: put(
        name, passages, heading=heading, language=language
    ),
    st.sampled_from(NAMES),
    PASSAGES,
    st.sampled_from(["", "Head"]),
    st.sampled_from(["en", "de"]),
)
DELETES = st.builds(Delete, st.sampled_from(NAMES), st.booleans())
TOUCHES = st.tuples(st.sampled_from(NAMES), st.integers(0, 3))
BATCHES = st.lists(PUTS | DELETES | TOUCHES, max_size=4)


class LibraryModel(RuleBasedStateMachine):
    @initialize()
    def create(self) -> None:
        self.folder = TemporaryDirectory()
        self.store = SQLiteStore(Path(self.folder.name) / "state")
        self.held: dict[str, Put] = {}
        self.left_out: set[str] = set()
        self.version = 0
        with writing(self.store):
            pass

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    @rule(batch=BATCHES)
    def apply(self, batch: list[Any]) -> None:
        changes: list[Change] = []
        counts, changed = Counts(), False
        for item in batch:
            before = self._state()
            if isinstance(item, Put):
                changes.append(self._without_kept_vectors(item))
                counts += self._put(item)
            elif isinstance(item, Delete):
                gone = self.held.pop(item.id, None)
                counts += Counts(removed=len(gone.rows) if gone else 0)
                if item.leave_out:
                    self.left_out.add(item.id)
                changes.append(item)
            elif item[0] in self.held:
                name, size = item
                record = replace(self.held[name].record, size=size)
                self.held[name] = replace(self.held[name], record=record)
                changes.append(Touch(record))
            changed = changed or before != self._state()
        with writing(self.store) as writer:
            assert writer.apply(changes) == counts
        self.version += changed

    def _state(self) -> list[object]:
        """What a batch may change."""
        held = [
            (change.record, change.document, [(row.chunk, row.input_hash) for row in change.rows])
            for _, change in sorted(self.held.items())
        ]
        return [held, set(self.left_out)]

    def _put(self, change: Put) -> Counts:
        name = change.record.id
        old = {r.chunk.id: r.input_hash for r in self.held[name].rows} if name in self.held else {}
        new = {row.chunk.id: row.input_hash for row in change.rows}
        self.held[name] = change
        self.left_out.discard(name)
        kept = sum(old.get(chunk) == value for chunk, value in new.items())
        return Counts(
            added=len(new.keys() - old.keys()),
            removed=len(old.keys() - new.keys()),
            changed=len(new.keys() & old.keys()) - kept,
            kept=kept,
        )

    def _without_kept_vectors(self, change: Put) -> Put:
        """Rows that are stored already come without a vector, as a sync gives them."""
        old = self.held.get(change.record.id)
        known = {row.chunk.id: row.input_hash for row in old.rows} if old else {}
        rows = tuple(
            replace(row, vector=None) if known.get(row.chunk.id) == row.input_hash else row
            for row in change.rows
        )
        return replace(change, rows=rows)

    @rule()
    def maintain(self) -> None:
        with writing(self.store) as writer:
            writer.maintain()

    @rule()
    def reopen(self) -> None:
        self.store.close()

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "store"):
            return
        rows = {row.chunk.id: row for change in self.held.values() for row in change.rows}
        with self.store.snapshot(OWNER) as snapshot:
            assert snapshot.check() == []
            assert snapshot.library_version == self.version
            assert snapshot.left_out() == self.left_out
            names = sorted(self.held)
            assert list(snapshot.records()) == [self.held[name].record for name in names]
            for name in names:
                change = self.held[name]
                assert snapshot.chunks_of(name) == [row.chunk for row in change.rows]
                assert snapshot.document(name) == change.document
            ids = {number: chunk for number, chunk, _ in snapshot.numbers()}
            assert sorted(ids.values()) == sorted(rows)
            terms = {number: list(rows[chunk].terms) for number, chunk in ids.items()}
            vectors = {number: rows[chunk].vector for number, chunk in ids.items()}
            owners = {number: rows[chunk].chunk.document for number, chunk in ids.items()}
            for wanted in (["red"], ["red", "blue"], ["head", "green"]):
                found = snapshot.lexical(wanted, 99)
                assert dict(found) == pytest.approx(bm25(terms, wanted))
                where = Comparison("document", "=", "a.md")
                allowed = [hit for hit in found if owners[hit.number] == "a.md"]
                assert snapshot.lexical(wanted, 99, where) == allowed
            query = vector("query")
            scores = {
                number: float(np.dot(row.astype(np.float16).astype(np.float32), query))
                for number, row in vectors.items()
                if row is not None
            }
            hits = snapshot.dense(query, 99)
            assert dict(hits) == pytest.approx(scores, abs=1e-6)
            assert [hit.score for hit in hits] == sorted(dict(hits).values(), reverse=True)
            assert snapshot.dense(query, 2) == hits[:2]


def bm25(passages: dict[int, list[str]], wanted: list[str]) -> dict[int, float]:
    """As FTS5 defines it."""
    scores: dict[int, float] = {}
    mean = sum(len(words) for words in passages.values()) / max(1, len(passages))
    for term in wanted:
        holders = sum(term in words for words in passages.values())
        rarity = math.log((len(passages) - holders + 0.5) / (holders + 0.5))
        for number, words in passages.items():
            count = words.count(term)
            if count:
                saturation = count + 1.2 * (0.25 + 0.75 * len(words) / mean)
                gain = max(rarity, 1e-6) * count * 2.2 / saturation
                scores[number] = scores.get(number, 0.0) + gain
    return scores


TestLibraryModel = LibraryModel.TestCase
TestLibraryModel.settings = settings(max_examples=30, stateful_step_count=8, deadline=None)
