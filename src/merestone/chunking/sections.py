"""The tree of a document's sections, as its headings make it."""

from __future__ import annotations

from dataclasses import dataclass, field

from merestone.chunking.atoms import Outline


@dataclass(slots=True)
class Section:
    """Atoms ``[first, last)``; ``own_last`` ends its own part, before its first subsection."""

    level: int
    heading: int | None
    """Index of the heading block; ``None`` for the document itself."""
    parent: Section | None
    first: int
    last: int = 0
    own_last: int = 0
    children: list[Section] = field(default_factory=list)

    def path(self) -> tuple[int, ...]:
        """Indexes of the heading blocks above and of its own, outermost first."""
        found = []
        section: Section | None = self
        while section is not None:
            if section.heading is not None:
                found.append(section.heading)
            section = section.parent
        return tuple(reversed(found))


def section_tree(outlined: Outline) -> tuple[Section, list[Section]]:
    """The document's section, and for each atom the innermost section it is in."""
    atoms, blocks = outlined.atoms, outlined.document.blocks
    root = Section(0, None, None, 0)
    current = root
    of_atom: list[Section] = []
    for index, atom in enumerate(atoms):
        if atom.heading is not None:
            level = blocks[atom.heading].level or 1
            while current.level >= level and current.parent is not None:
                current.last = index
                current = current.parent
            child = Section(level, atom.heading, current, index)
            current.children.append(child)
            current = child
        of_atom.append(current)
    closing: Section | None = current
    while closing is not None:
        closing.last = len(atoms)
        closing = closing.parent
    for section in _all(root):
        section.own_last = section.children[0].first if section.children else section.last
    return root, of_atom


def _all(root: Section) -> list[Section]:
    found, pending = [], [root]
    while pending:
        section = pending.pop()
        found.append(section)
        pending.extend(section.children)
    return found
