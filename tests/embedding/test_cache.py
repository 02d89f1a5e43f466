from __future__ import annotations

import logging
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import numpy as np
import pytest

from merestone.embedding.cache import EmbeddingCache

MUCH = 10**9


def some_vectors(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {
        f"{seed}-{number:04}": generator.standard_normal(384).astype(np.float32)
        for number in range(count)
    }


def same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> bool:
    return found.keys() == expected.keys() and all(
        (found[key] == expected[key]).all() for key in expected
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "embeddings.db"


def test_what_was_put_is_found_bit_for_bit_also_after_reopening(path: Path) -> None:
    vectors = some_vectors(300)
    with EmbeddingCache(path, MUCH) as cache:
        cache.put_many("model", vectors)
        assert same(cache.get_many("model", list(vectors)), vectors)
    with EmbeddingCache(path, MUCH) as cache:
        assert same(cache.get_many("model", [*vectors, "unknown"]), vectors)


def test_two_embedders_never_meet(path: Path) -> None:
    with EmbeddingCache(path, MUCH) as cache:
        cache.put_many("one", {"text": np.array([1, 0], np.float32)})
        cache.put_many("other", {"text": np.array([0, 1], np.float32)})
        assert cache.get_many("one", ["text"])["text"].tolist() == [1, 0]
        assert cache.get_many("other", ["text"])["text"].tolist() == [0, 1]
        assert cache.get_many("third", ["text"]) == {}


def test_putting_again_replaces(path: Path) -> None:
    with EmbeddingCache(path, MUCH) as cache:
        cache.put_many("model", {"text": np.array([1, 0], np.float32)})
        cache.put_many("model", {"text": np.array([0, 1], np.float32)})
        assert cache.get_many("model", ["text", "text"])["text"].tolist() == [0, 1]


def test_vectors_of_other_layouts_are_kept_as_float32(path: Path) -> None:
    columns = np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3))
    with EmbeddingCache(path, MUCH) as cache:
        cache.put_many("model", {"row": columns[1]})
        (found,) = cache.get_many("model", ["row"]).values()
    assert found.dtype == np.float32
    assert found.tolist() == [3, 4, 5]


def test_file_stays_under_its_limit_and_the_latest_stay_in_it(path: Path) -> None:
    limit = 400_000
    with EmbeddingCache(path, limit) as cache:
        for seed in range(20):
            cache.put_many("model", some_vectors(50, seed))
        latest = some_vectors(50, 19)
        assert same(cache.get_many("model", list(latest)), latest)
        assert cache.get_many("model", list(some_vectors(50, 0))) == {}
    assert path.stat().st_size <= limit * 1.05


def test_what_was_used_for_longest_goes_first(path: Path) -> None:
    day = 100
    old, used, limit = some_vectors(300, 1), some_vectors(50, 2), 1_000_000
    with EmbeddingCache(path, limit, today=lambda: day) as cache:
        cache.put_many("model", used)
        day = 101
        cache.put_many("model", old)
        day = 102
        assert same(cache.get_many("model", list(used)), used)
        for seed in range(3, 9):
            cache.put_many("model", some_vectors(50, seed))
        assert same(cache.get_many("model", list(used)), used)
        assert len(cache.get_many("model", list(old))) < 300


def test_use_is_noted_once_a_day(path: Path) -> None:
    vectors = some_vectors(5)
    day = 100
    with EmbeddingCache(path, MUCH, today=lambda: day) as cache:
        cache.put_many("model", vectors)

        reader = apsw.Connection(str(path))

        def writes_of_a_read() -> bool:
            before = reader.execute("PRAGMA data_version").fetchall()
            cache.get_many("model", list(vectors))
            return reader.execute("PRAGMA data_version").fetchall() != before

        assert not writes_of_a_read()
        day = 101
        assert writes_of_a_read()
        assert not writes_of_a_read()
        day = 99  # a clock that was set back
        assert not writes_of_a_read()
        reader.close()


def test_limit_of_zero_keeps_nothing(path: Path) -> None:
    with EmbeddingCache(path, 0) as cache:
        cache.put_many("model", some_vectors(3))
        assert cache.get_many("model", list(some_vectors(3))) == {}


@pytest.mark.parametrize(
    "content", [b"no database at all" * 1000, b"SQLite format 3\0" + b"x" * 9000]
)
def test_damaged_file_is_set_aside_and_begun_anew(
    path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    vectors = some_vectors(5)
    with EmbeddingCache(path, MUCH) as cache, caplog.at_level(logging.WARNING, "merestone"):
        assert cache.get_many("model", list(vectors)) == {}
        cache.put_many("model", vectors)
        assert same(cache.get_many("model", list(vectors)), vectors)
    assert path.with_name("embeddings.db.damaged").read_bytes() == content
    assert "damaged" in caplog.text


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bytes_never_give_a_wrong_vector(path: Path, seed: int) -> None:
    vectors = some_vectors(200)
    with EmbeddingCache(path, MUCH) as cache:
        cache.put_many("model", vectors)
    generator = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(60):
        data[generator.randrange(100, len(data))] ^= 1 << generator.randrange(8)
    path.write_bytes(data)
    with EmbeddingCache(path, MUCH) as cache:
        found = cache.get_many("model", list(vectors))
        assert all((found[key] == vectors[key]).all() for key in found)
        assert len(found) < len(vectors)
        # An index that lost a row may go on losing it: a cache may forget, never lie.
        cache.put_many("model", vectors)
        again = cache.get_many("model", list(vectors))
        assert all((again[key] == vectors[key]).all() for key in again)


def test_file_of_another_kind_is_left_alone(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir()
    with apsw.Connection(str(path)) as other:
        other.execute("CREATE TABLE letters (text); INSERT INTO letters VALUES ('dear')").fetchall()
    with EmbeddingCache(path, MUCH) as cache, caplog.at_level(logging.WARNING, "merestone"):
        cache.put_many("model", some_vectors(2))
        assert cache.get_many("model", list(some_vectors(2))) == {}
    with apsw.Connection(str(path)) as other:
        assert other.execute("SELECT text FROM letters").fetchall() == [("dear",)]
    assert "cannot be used now" in caplog.text


def test_path_that_cannot_be_made_costs_only_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with EmbeddingCache(tmp_path / "file" / "embeddings.db", MUCH) as cache:
        cache.put_many("model", some_vectors(2))
        assert cache.get_many("model", list(some_vectors(2))) == {}


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder that this process may enter but, until it is torn down, not write."""
    if not hasattr(os, "geteuid"):
        pytest.skip("this system has other rights than those of POSIX")
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def lock(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)


def test_read_only_media_are_read_and_not_written(unprivileged: Path) -> None:
    vectors, path = some_vectors(5), unprivileged / "embeddings.db"
    with EmbeddingCache(path, MUCH, today=lambda: 100) as cache:
        cache.put_many("model", vectors)
    before = path.read_bytes()
    lock(unprivileged)
    with EmbeddingCache(path, MUCH, today=lambda: 101) as cache:
        assert same(cache.get_many("model", list(vectors)), vectors)
        cache.put_many("model", some_vectors(5, seed=1))
        assert cache.get_many("model", list(some_vectors(5, seed=1))) == {}
    assert path.read_bytes() == before
    assert [entry.name for entry in unprivileged.iterdir()] == ["embeddings.db"]


def test_empty_read_only_media_serve_nothing(unprivileged: Path) -> None:
    lock(unprivileged)
    with EmbeddingCache(unprivileged / "embeddings.db", MUCH) as cache:
        cache.put_many("model", some_vectors(2))
        assert cache.get_many("model", list(some_vectors(2))) == {}
    assert list(unprivileged.iterdir()) == []


def test_busy_neighbour_costs_only_the_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merestone.embedding.cache._BUSY_MS", 10)
    vectors = some_vectors(3)
    with EmbeddingCache(path, MUCH) as cache:
        cache.put_many("model", vectors)
        neighbour = apsw.Connection(str(path))
        neighbour.execute("BEGIN IMMEDIATE").fetchall()
        cache.put_many("model", some_vectors(3, seed=1))
        assert same(cache.get_many("model", list(vectors)), vectors)
        neighbour.execute("ROLLBACK").fetchall()
        neighbour.close()
        cache.put_many("model", some_vectors(3, seed=2))
        assert len(cache.get_many("model", list(some_vectors(3, seed=2)))) == 3
        assert cache.get_many("model", list(some_vectors(3, seed=1))) == {}


def test_threads_may_share_a_cache(path: Path) -> None:
    with EmbeddingCache(path, MUCH) as cache, ThreadPoolExecutor(8) as pool:

        def use(seed: int) -> bool:
            vectors = some_vectors(20, seed)
            cache.put_many("model", vectors)
            return same(cache.get_many("model", list(vectors)), vectors)

        assert all(pool.map(use, range(40)))


PROCESS = """
import sys
import numpy as np
from merestone.embedding.cache import EmbeddingCache
path, name = sys.argv[1:]
sys.stdin.readline()
for number in range(50):
    with EmbeddingCache(path, 10**9) as cache:
        cache.put_many("model", {f"{name}-{number}": np.full(384, number, np.float32)})
"""


def test_processes_may_begin_and_fill_one_file_together(path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(path), name],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("left", "right", "middle")
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        _, complaints = child.communicate()
        assert child.returncode == 0, complaints
        assert complaints == ""
    with EmbeddingCache(path, MUCH) as cache:
        keys = [f"{name}-{n}" for name in ("left", "right", "middle") for n in range(50)]
        found = cache.get_many("model", keys)
    assert len(found) == 150
    assert all((vector == int(key.split("-")[1])).all() for key, vector in found.items())
    assert not path.with_name("embeddings.db.damaged").exists()


def test_closed_cache_opens_again_when_used(path: Path) -> None:
    cache = EmbeddingCache(path, MUCH)
    cache.put_many("model", some_vectors(2))
    cache.close()
    cache.close()
    assert len(cache.get_many("model", list(some_vectors(2)))) == 2
    cache.close()
