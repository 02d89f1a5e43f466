"""Files that commands wrote: none of them is ever a document."""

from __future__ import annotations

import json
import os
from pathlib import Path

from merestone.files import replacing

WRITTEN = "written.json"
"""In the state folder: what commands wrote outside of it."""


def note_written(state: str, path: Path) -> None:
    """Remember that a command writes ``path``, a file or a folder: it is never taken for a
    document, which could open to everyone what it quotes."""
    known = written_files(Path(state))
    name = os.path.abspath(path)
    if name in known:
        return
    with replacing(Path(state) / WRITTEN) as draft:
        draft.write_text(json.dumps([*known, name], indent=1) + "\n", "utf-8")


def written_files(state: Path) -> list[str]:
    """Absolute paths of what commands wrote, files and folders."""
    try:
        names = json.loads((state / WRITTEN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
