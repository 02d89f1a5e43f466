"""One writer at a time, known by name."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from storage.building import put, writing

from merestone.storage import integrity
from merestone.storage import lease as leases
from merestone.storage.engine import SQLiteStore
from merestone.storage.lease import Holder, file_system, read_holder, refuse_network
from merestone.types import OWNER, StoreBusyError, StoreError

_HOLDING = """
import sys
from merestone.storage import open_store
from merestone.types import EmbedderIdentity
with open_store(sys.argv[1]).writer(EmbedderIdentity("e1", "test", 24)):
    print("holding", flush=True)
    sys.stdin.read()
"""


def holder_process(state: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLDING, str(state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "holding\n"
    return child


def test_a_second_writer_is_told_who_holds_the_library(store: SQLiteStore, state: Path) -> None:
    child = holder_process(state)
    try:
        with pytest.raises(StoreBusyError, match=f"process {child.pid} on ") as error:
            writing(store).__enter__()
        assert error.value.code == "store-busy"
        with store.snapshot(OWNER) as snapshot:
            assert snapshot.library_version == 0
    finally:
        child.communicate("")
    assert not (state / "writer.json").exists()
    with writing(store) as writer:
        assert writer.apply([put("a", ["one"])]).added == 1


def test_a_second_writer_in_one_process_is_refused_too(store: SQLiteStore, state: Path) -> None:
    with writing(store), pytest.raises(StoreBusyError, match=f"process {os.getpid()} "):
        writing(SQLiteStore(state)).__enter__()


def test_the_holder_is_written_down_while_it_holds(store: SQLiteStore, state: Path) -> None:
    with writing(store):
        holder = read_holder(state / "writer.json")
        assert isinstance(holder, Holder)
        assert holder.pid == os.getpid()
    assert read_holder(state / "writer.json") is None


def test_an_error_inside_gives_the_lease_back(store: SQLiteStore, state: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(store):
        raise ZeroDivisionError
    assert not (state / "writer.json").exists()
    with writing(store):
        pass


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff"])
def test_a_garbled_name_is_no_name(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "writer.json").write_bytes(data)
    assert read_holder(tmp_path / "writer.json") is None


def _examined(monkeypatch: pytest.MonkeyPatch, found: list[str]) -> Callable[[], int]:
    calls: list[None] = []

    def quick_faults(connection: object) -> list[str]:
        calls.append(None)
        return found

    monkeypatch.setattr(integrity, "quick_faults", quick_faults)
    return lambda: len(calls)


def test_the_file_is_examined_after_a_holder_died(
    store: SQLiteStore, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _examined(monkeypatch, [])
    child = holder_process(state)
    child.kill()
    child.communicate()
    assert json.loads((state / "writer.json").read_text())["pid"] == child.pid
    with writing(store):
        assert calls() == 1
    with writing(store):
        assert calls() == 1


def test_damage_found_then_stops_the_writer(
    store: SQLiteStore, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with writing(store):
        pass
    (state / "writer.json").write_text("{}")
    _examined(monkeypatch, ["row 7 missing from index"])
    with pytest.raises(StoreError, match="row 7 missing") as error, writing(store):
        pass
    assert error.value.code == "store-damaged"


MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/local xfs rw 0 0
//nas/x /mnt/my\\040share cifs rw 0 0
tmpfs /mnt/my\\040share tmpfs rw 0 0
user@host: /srv/far fuse.sshfs rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/x", "ext4"),
        ("/home/ann/docs", "nfs4"),
        ("/home/local/docs", "xfs"),
        ("/homely", "ext4"),
        ("/mnt/my share/x", "tmpfs"),
        ("/srv/far", "fuse.sshfs"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="paths of POSIX")
def test_the_file_system_of_a_path_is_that_of_its_nearest_mount(path: str, kind: str) -> None:
    assert file_system(Path(path), MOUNTS) == kind


@pytest.mark.skipif(os.name != "posix", reason="paths of POSIX")
def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(leases, "_MOUNTS", mounts)
    refuse_network(tmp_path)
    mounts.write_text("/dev/sda1 / ext4 rw 0 0\n")
    refuse_network(tmp_path)
    mounts.write_text("server:/x / nfs rw 0 0\n")
    with pytest.raises(StoreError, match="nfs") as error:
        refuse_network(tmp_path)
    assert error.value.code == "network-file-system"
    with pytest.raises(StoreError), writing(SQLiteStore(tmp_path / "state")):
        pass


@pytest.mark.parametrize("name", ["writer.lock", "writer.json", "library.db.new"])
def test_a_folder_in_the_place_of_a_file_is_an_error_in_words(
    store: SQLiteStore, state: Path, name: str
) -> None:
    (state / name).mkdir(parents=True)
    with pytest.raises(StoreError, match=r"cannot be read or written|cannot be written to"):
        writing(store).__enter__()
    (state / name).rmdir()
    with writing(store) as writer:
        assert writer.apply([put("a", ["one"])]).added == 1


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EACCES, "store-not-writable"),
        (errno.EROFS, "store-not-writable"),
        (errno.EIO, "store-unreachable"),
    ],
)
def test_what_the_system_refuses_has_a_code(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def refuse(name: Path) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(leases, "_write_holder", refuse)
        with pytest.raises(StoreError) as error:
            writing(store).__enter__()
    assert error.value.code == code
    with writing(store):
        pass


def test_a_folder_that_cannot_be_made_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError) as error, writing(SQLiteStore(tmp_path / "file" / "state")):
        pass
    assert error.value.code == "store-not-writable"
