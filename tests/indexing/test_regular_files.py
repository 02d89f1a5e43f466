"""Pipes and devices are not waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from merestone.indexing.regular_files import NotRegularError, open_file


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    (tmp_path / "link").symlink_to("a.md")
    with open_file(tmp_path / "link") as file:
        assert file.read() == b"text"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(NotRegularError):
        open_file(tmp_path / "a.md")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_a_device_that_never_ends_is_refused() -> None:
    with pytest.raises(NotRegularError):
        open_file("/dev/zero")


def test_a_folder_and_nothing_are_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "none")
