"""Copies of a library's file, and making one the library of a folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from merestone.files import flush
from merestone.storage import integrity
from merestone.storage.codec import from_json, to_json
from merestone.storage.connection import open_reader
from merestone.storage.failures import made, not_a_library, translated
from merestone.storage.lease import lease, prepare_folder
from merestone.storage.schema import recognise
from merestone.types import JSON, StoreError

FILE = "library.db"
_DRAFT = "library.db.import"
_MODULES = ("fts5(", "fts5vocab(")
"""Virtual tables that a library has."""
_OF_ITS_MACHINE = frozenset({"url", "api_key_env", "tokenizer"})
"""Settings of an embedder that say where something lies, or which secret goes there."""


def copy_to(state: Path, target: Path) -> None:
    """Copy the library of the folder ``state``, in its newest state, to ``target``.

    A writer may be at work meanwhile. The copy is one file, without a log beside it.
    """
    path = state / FILE
    source = open_reader(path)
    try:
        with translated(path), _opened(target) as copy:
            with copy.backup("main", source, "main") as backup:
                backup.step()
            copy.execute("PRAGMA journal_mode = delete").fetchall()
    finally:
        source.close()
    with made(target):
        flush(target)


@contextmanager
def installing(state: Path, roots: Sequence[tuple[str, str]] = ()) -> Iterator[Path]:
    """A path to write a library's file to; at the end of the block it is the library of ``state``.

    ``roots`` are beginnings of the documents' addresses and what they become here. Raises
    ``StoreError`` with code ``library-exists`` if there is a library already, and if the file is
    none; then nothing is left of it.
    """
    prepare_folder(state)
    path, draft = state / FILE, state / _DRAFT
    with lease(state), made(path):
        if path.exists():
            raise StoreError(
                "library-exists",
                f"There is a library in {state} already.",
                "Name another folder, or move the old library away first.",
            )
        _discard(draft)
        try:
            yield draft
            with translated(draft):
                _examine(draft)
                _settle(draft, roots)
            flush(draft)
            os.replace(draft, path)
            flush(state)
        finally:
            _discard(draft)


def _examine(draft: Path) -> None:
    """Refuse a file that is no library, is damaged, or would run statements of its own."""
    with _opened(draft) as connection:
        recognise(connection, draft)
        rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
        for kind, name, statement in rows:
            words = " ".join(str(statement or "").lower().split())
            is_foreign = "create virtual table" in words and not any(
                f"using {module}" in words for module in _MODULES
            )
            if kind in ("trigger", "view") or is_foreign:
                raise not_a_library(draft, f"it has a {kind} {name!r} of its own")
        faults = integrity.quick_faults(connection)
        if faults:
            raise StoreError(
                "store-damaged",
                f"The library to be imported is damaged: {faults[0]}.",
                "Export it again.",
            )


def _settle(draft: Path, roots: Sequence[tuple[str, str]]) -> None:
    """Make the copy a library of its own, at home in its new folder."""
    with _opened(draft) as connection:
        with connection:
            # What is kept of the library that it is a copy of does not hold for it.
            connection.execute("UPDATE meta SET identity = ?", (secrets.token_hex(16),))
            for old, new in roots:
                connection.execute(
                    "UPDATE document SET uri = ? || substr(uri, ?) WHERE substr(uri, 1, ?) = ?",
                    (new, len(old) + 1, len(old), old),
                )
            for number, settings in connection.execute("SELECT number, settings FROM generation"):
                connection.execute(
                    "UPDATE generation SET settings = ? WHERE number = ?",
                    (to_json(_harmless(from_json(settings))), number),
                )
        connection.execute("PRAGMA journal_mode = wal").fetchall()


def _harmless(settings: JSON) -> dict[str, JSON]:
    """How to open an embedder, as far as a stranger may say it: by the name of one that is
    installed. An address, a path or a secret's name is taken from the configuration alone."""
    model = settings.get("model") if isinstance(settings, dict) else None
    if not isinstance(settings, dict) or not isinstance(model, str):
        return {}
    if ":" in model or "/" in model or "\\" in model or model.endswith(".onnx"):
        return {}
    return {name: value for name, value in settings.items() if name not in _OF_ITS_MACHINE}


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a file that is no one else's, made if it is not there."""
    address = f"{path.absolute().as_uri()}?mode=rwc"
    connection = apsw.Connection(
        address,
        flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI,
    )
    try:
        # The file may have been made by anyone: nothing in it may call what has side effects.
        connection.execute("PRAGMA trusted_schema = OFF").fetchall()
        yield connection
    finally:
        connection.close()


def _discard(draft: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            draft.with_name(draft.name + end).unlink(missing_ok=True)
