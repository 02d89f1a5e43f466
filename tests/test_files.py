"""Files are put in their place whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from merestone.files import replacing, write_text
from merestone.types import SettingsError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_draft_takes_the_place_of_the_file(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replacing(target) as draft:
        draft.write_text("new")
        assert target.read_text() == "old"
        assert draft.name.startswith(".")
    assert target.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def _write_half(target: Path, error: type[BaseException]) -> None:
    with replacing(target) as draft:
        draft.write_text("half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, OSError, KeyboardInterrupt])
def test_what_fails_leaves_the_file_and_no_draft(
    tmp_path: Path, error: type[BaseException]
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(error):
        _write_half(target, error)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
@pytest.mark.parametrize(
    ("held", "private", "wanted"),
    [(0o640, False, 0o640), (0o604, False, 0o604), (0o644, True, 0o600)],
)
def test_permissions_stay(tmp_path: Path, held: int, private: bool, wanted: int) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(held)
    with replacing(target, private=private) as draft:
        # Never wider than the file's, not even for a moment.
        assert mode_of(draft) == 0o600
        draft.write_text("new")
    assert mode_of(target) == wanted
    assert target.read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    with replacing(tmp_path / "new") as draft:
        draft.write_text("new")
    with replacing(tmp_path / "private", private=True, lasting=False) as draft:
        draft.write_text("new")
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "usual")
    assert mode_of(tmp_path / "private") == 0o600


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(Path("real") / "a.txt")
    write_text(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "new"
    assert names(tmp_path / "real") == ["a.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "words")
        assert os.read(reader, 100) == b"words"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_as_long_as_may_be_has_a_draft(tmp_path: Path) -> None:
    target = tmp_path / ("\u00e4" * 127)
    write_text(target, "new")
    assert target.read_text() == "new"


def test_folders_are_made_and_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "c.txt", "\u00e4 \udc80\r\n")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == "\u00e4 ?\r\n".encode()
    for target in (tmp_path / "a", tmp_path / "a" / "b" / "c.txt" / "d.txt"):
        with pytest.raises(SettingsError) as caught:
            write_text(target, "words")
        assert caught.value.code == "file-unwritable"
        assert str(target) in caught.value.message


def test_a_file_that_was_made_read_only_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o444)
    # The superuser may write to it all the same.
    monkeypatch.setattr(os, "access", lambda path, _: path != target)
    with pytest.raises(SettingsError, match="cannot be written"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be written"):
        write_text(tmp_path / "a\0b", "new")
