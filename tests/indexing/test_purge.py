"""What was deleted can be made to leave no byte behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from indexing.conftest import Folder

from merestone.types import StoreBusyError

SECRET = "zebrawort quagga ocelot"


def holders(folder: Path) -> set[str]:
    """Files of the state folder that hold any word of the secret."""
    return {
        path.name
        for path in (folder / ".merestone").iterdir()
        if any(word.encode() in path.read_bytes() for word in SECRET.split())
    }


@pytest.fixture
def deleted(folder: Folder) -> Folder:
    for number in range(20):
        folder.write(f"{number}.md", f"# Part {number}\n\nThe words of number {number}.\n")
    folder.write("secret.md", f"# Secret\n\n{SECRET}.\n")
    folder.library.sync()
    assert holders(folder.path)
    (folder.path / "secret.md").unlink()
    folder.library.sync()
    return folder


def test_nothing_of_a_purged_document_is_left(deleted: Folder) -> None:
    with deleted.library.snapshot() as snapshot:
        vectors = len(snapshot.numbers())
    report = deleted.library.gc(purge=True)
    assert report["purged"]
    deleted.library.close()
    assert holders(deleted.path) == set()
    deleted.library = type(deleted)(deleted.path).library
    with deleted.library.snapshot() as snapshot:
        assert snapshot.check() == []
        assert len(snapshot.numbers()) == vectors
    assert deleted.library.search("words of number 7", mode="lexical").hits
    assert deleted.library.sync().embedded == 0


def test_the_cache_keeps_what_the_library_holds(deleted: Folder) -> None:
    cache, library = deleted.library._cache, deleted.library
    with library.snapshot() as snapshot:
        hashes = [value for _, _, value in snapshot.numbers()]
    fingerprint = library.embedder.fingerprint
    cache.put_many(fingerprint, {"other": cache.get_many(fingerprint, hashes[:1])[hashes[0]]})
    library.gc(purge=True)
    assert set(cache.get_many(fingerprint, [*hashes, "other"])) == set(hashes)


_READING = """
import sys
from merestone import Library
from merestone.types import OWNER
with Library.open(sys.argv[1])._store.snapshot(OWNER) as snapshot:
    print("reading", flush=True)
    sys.stdin.read()
"""


def test_a_reader_of_an_old_state_is_named(deleted: Folder) -> None:
    reader = subprocess.Popen(
        [sys.executable, "-c", _READING, str(deleted.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "reading\n"
    try:
        with pytest.raises(StoreBusyError) as caught:
            deleted.library.gc(purge=True)
    finally:
        reader.communicate("")
    assert caught.value.code == "reader-keeps-log"
    if sys.platform == "linux":
        assert str(reader.pid) in caught.value.message
    deleted.library.gc(purge=True)
    deleted.library.close()
    assert holders(deleted.path) == set()


def test_tidying_alone_changes_no_answer(deleted: Folder) -> None:
    before = deleted.contents()
    version = deleted.library.status().library_version
    deleted.library.gc()
    assert deleted.contents() == before
    assert deleted.library.status().library_version == version
