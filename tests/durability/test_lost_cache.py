"""The cache of embeddings is lost, damaged or another's: work goes on, and nothing wrong is served.

Each trial syncs a library over changed documents with such a cache. At most texts of the changed
documents are embedded again; what the library holds itself is not.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from durability.building import Built
from durability.libraries import contents, given, open_library
from durability.processes import Forker

from merestone.embedding.cache import EmbeddingCache


def lose(cache: Path) -> None:
    cache.unlink()


def empty(cache: Path) -> None:
    cache.write_bytes(b"")


def zero(cache: Path) -> None:
    cache.write_bytes(bytes(cache.stat().st_size))


def zero_the_end(cache: Path) -> None:
    data = cache.read_bytes()
    cache.write_bytes(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))


def cut_in_a_page(cache: Path) -> None:
    cache.write_bytes(cache.read_bytes()[: 3 * 8192 + 100])


def cut_between_pages(cache: Path) -> None:
    cache.write_bytes(cache.read_bytes()[: 3 * 8192])


def cut_in_the_header(cache: Path) -> None:
    cache.write_bytes(cache.read_bytes()[:50])


def garbage(cache: Path) -> None:
    cache.write_bytes(random.Random(1).randbytes(cache.stat().st_size))


def garbage_behind_the_header(cache: Path) -> None:
    data = cache.read_bytes()
    cache.write_bytes(data[:4096] + random.Random(1).randbytes(len(data) - 4096))


def flipped(cache: Path) -> None:
    data = bytearray(cache.read_bytes())
    draw = random.Random(1)
    for _ in range(200):
        data[draw.randrange(100, len(data))] ^= 1 << draw.randrange(8)
    cache.write_bytes(data)


def of_another_program(cache: Path) -> None:
    cache.unlink()
    with sqlite3.connect(cache) as connection:
        connection.execute("CREATE TABLE vector (number, embedder, input, used, vector)")
    connection.close()


def of_a_later_version(cache: Path) -> None:
    connection = sqlite3.connect(cache)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def without_its_table(cache: Path) -> None:
    connection = sqlite3.connect(cache)
    connection.execute("DROP TABLE vector")
    connection.close()


def with_another_table(cache: Path) -> None:
    connection = sqlite3.connect(cache)
    connection.execute("DROP TABLE vector")
    connection.execute("CREATE TABLE vector (number INTEGER PRIMARY KEY, input TEXT)")
    connection.close()


def a_folder(cache: Path) -> None:
    cache.unlink()
    cache.mkdir()


def with_a_log_of_garbage(cache: Path) -> None:
    cache.with_name(cache.name + "-wal").write_bytes(random.Random(1).randbytes(50_000))
    cache.with_name(cache.name + "-shm").write_bytes(random.Random(2).randbytes(32_768))


def of_older_vectors(cache: Path) -> None:
    """Vectors that were kept for other texts: the key is right and the check of the row is not."""
    connection = sqlite3.connect(cache)
    connection.execute(
        "UPDATE vector SET vector = (SELECT vector FROM vector AS other "
        "WHERE other.number <> vector.number ORDER BY number LIMIT 1)"
    )
    connection.commit()
    connection.close()


HARMS = (
    lose,
    empty,
    zero,
    zero_the_end,
    cut_in_a_page,
    cut_between_pages,
    cut_in_the_header,
    garbage,
    garbage_behind_the_header,
    flipped,
    of_another_program,
    of_a_later_version,
    without_its_table,
    with_another_table,
    a_folder,
    with_a_log_of_garbage,
    of_older_vectors,
)


QUICK = (lose, zero_the_end, garbage_behind_the_header, without_its_table, of_older_vectors)
ALL = [pytest.param(harm, marks=[] if harm in QUICK else pytest.mark.ci) for harm in HARMS]


@pytest.mark.parametrize("harm", ALL, ids=lambda harm: harm.__name__)
def test_a_harmed_cache_costs_only_embedding(
    harm: Callable[[Path], None], built: Built, forker: Forker, tmp_path: Path
) -> None:
    root, log = tmp_path / "root", tmp_path / "log"
    shutil.copytree(built.changed, root)
    harm(root / ".merestone" / "embeddings.db")
    assert forker.run("sync", root=str(root), log=str(log)) == 0
    assert set(given(log)) <= built.embedded_by_change
    assert len(given(log)) == len(set(given(log)))
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_change
        version = library.status().library_version
        assert forker.run("sync", root=str(root), log=str(log)) == 0
        assert library.status().library_version == version


@pytest.mark.ci
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_a_first_build_from_a_harmed_cache_is_right(
    harm: Callable[[Path], None], built: Built, forker: Forker, tmp_path: Path
) -> None:
    """Without the library's rows every vector comes from the cache, or is made again."""
    root = tmp_path / "root"
    shutil.copytree(built.built, root)
    (root / ".merestone" / "library.db").unlink()
    harm(root / ".merestone" / "embeddings.db")
    assert forker.run("sync", root=str(root)) == 0
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_build


def test_a_cache_that_cannot_be_written_is_read(
    built: Built, forker: Forker, tmp_path: Path
) -> None:
    """As on a disk of which nothing is left: what was kept still serves."""
    root, log, answer = tmp_path / "root", tmp_path / "log", tmp_path / "answer"
    shutil.copytree(built.changed, root)
    (root / ".merestone" / "library.db").unlink()
    refusal = {"call": "write", "name": "embeddings.db-wal", "error": "ENOSPC"}
    job = {"root": str(root), "log": str(log), "answer": str(answer)}
    assert forker.run("try_sync", **job, **refusal) == 0
    assert set(given(log)) == built.embedded_by_change
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_change


def test_what_is_kept_is_bound_to_its_embedder(built: Built, tmp_path: Path) -> None:
    """A cache that another library wrote with another embedder gives nothing."""
    shutil.copy(built.built / ".merestone" / "embeddings.db", tmp_path / "embeddings.db")
    with EmbeddingCache(tmp_path / "embeddings.db", 10**9) as cache:
        connection = sqlite3.connect(tmp_path / "embeddings.db")
        inputs = [row[0] for row in connection.execute("SELECT input FROM vector")]
        connection.close()
        assert inputs
        assert cache.get_many("another", inputs) == {}
