"""Files that commands wrote: none of them is ever a document."""

from __future__ import annotations

import json
import os
from pathlib import Path

from merestone.files import replacing

WRITTEN = "written.json"
"""In the state folder: what commands wrote outside of it, relative to the folder that this is in
where it lies there, so that it is known again when the whole is moved or copied."""


def note_written(state: str, *paths: Path) -> None:
    """Remember that a command writes these files: none is ever taken for a document, which could
    open to everyone what it quotes."""
    known = written_files(Path(state))
    new = [name for name in map(os.path.abspath, paths) if name not in known]
    if not new:
        return
    root = Path(os.path.abspath(state)).parent
    names = [_portable(Path(name), root) for name in (*known, *new)]
    with replacing(Path(state) / WRITTEN) as draft:
        draft.write_text(json.dumps(names, indent=1) + "\n", "utf-8")


def written_files(state: Path) -> list[str]:
    """Absolute paths of what commands wrote."""
    try:
        names = json.loads((state / WRITTEN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    root = Path(os.path.abspath(state)).parent
    found = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [os.path.abspath(root / name) for name in found]


def _portable(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
