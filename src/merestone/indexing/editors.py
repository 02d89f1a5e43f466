"""Files that editors leave beside the one that is edited."""

from __future__ import annotations


def is_left_by_editor(name: str) -> bool:
    """True for the name of a backup (``notes.md~``) or of an autosave (``#notes.md#``): another
    version of a document, which is no document of its own. Swap and lock files begin with a dot
    (``.notes.md.swp``, ``.#notes.md``) and are left out with all that do."""
    return name.endswith("~") or (len(name) > 2 and name[0] == name[-1] == "#")
