"""An asker who may read little gets as many hits as there are, in the order of an exact scan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from storage.building import DIMENSION, put, writing

from merestone.indexing import open_policy
from merestone.storage import open_store
from merestone.storage.engine import SQLiteStore
from merestone.types import AccessSettings, Asker, Comparison, SourceSettings, Vectors

TEAM = "group:team-x"


def vectors(rows: list[list[float]]) -> list[Vectors]:
    made = np.zeros((len(rows), DIMENSION), np.float32)
    made[:, :8] = np.array(rows)
    return list(made / np.linalg.norm(made, axis=1, keepdims=True))


def test_a_selective_reader_still_fills_k(tmp_path: Path) -> None:
    near = vectors([[1, 0.0001 * i, 0, 0, 0, 0, 0, 0] for i in range(1, 1991)])
    far = vectors([[0.6, 0, 0.8, 0.001 * j, 0, 0, 0, 0] for j in range(1, 11)])
    names = [f"team note {j:02}" for j in range(10)]
    groups = {"team-x": ("user:xenia",)}
    with_year = {"metadata": {"year": 2024}, "access": ((TEAM,),)}
    changes = [
        put(
            f"open{part}",
            [f"open note {number}" for number in range(part, 1990, 10)],
            vectors={f"open note {number}": near[number] for number in range(part, 1990, 10)},
            access=(("user:everyone-but-xenia",),),
        )
        for part in range(10)
    ]
    given = dict(zip(names, far, strict=True))
    changes.append(put("team", names[:7], vectors=given, access=((TEAM,),)))
    changes.append(put("team-2024", names[7:], vectors=given, **with_year))
    store = open_store(str(tmp_path))
    assert isinstance(store, SQLiteStore)
    with writing(store) as writer:
        for change in changes:
            writer.apply([change])
    policy = open_policy(AccessSettings(groups=groups), [SourceSettings("/")], tmp_path)
    xenia = Asker(policy, policy.principals(["user:xenia"]))
    query = vectors([[1, 0, 0, 0, 0, 0, 0, 0]])[0]
    exact = sorted(names, key=lambda name: -float(given[name] @ query))
    with store.snapshot(xenia) as snapshot:

        def texts(found: list[int]) -> list[str]:
            chunks = snapshot.by_number(found)
            return [chunks[number].text for number in found]

        year = Comparison("year", "=", 2024)
        dense = [hit.number for hit in snapshot.dense(query, 5)]
        assert texts(dense) == exact[:5]
        assert len(snapshot.dense(query, 5, year)) == 3
        assert set(texts([hit.number for hit in snapshot.lexical(["note"], 50)])) == set(names)
        assert len(snapshot.lexical(["note"], 5)) == 5
        assert len(snapshot.lexical(["note"], 5, year)) == 3
        assert snapshot.chunk_count() == 10
    store.close()
