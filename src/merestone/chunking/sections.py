"""The tree of a document's sections: as its headings make it, in source code its symbols."""

from __future__ import annotations

from dataclasses import dataclass, field

from merestone.chunking.atoms import Outline
from merestone.chunking.sizes import Sizes

_LINE = 60
"""Longest line, in code points, that is taken for a part of the title below it."""
_LINES = 5
_SENTENCE_ENDS = ".!?:;…。！？："


@dataclass(slots=True)
class Section:
    """Atoms ``[first, last)``, those of its children included."""

    level: int
    parent: Section | None
    first: int
    last: int = 0
    children: list[Section] = field(default_factory=list)
    path: tuple[int, ...] = ()
    """Indexes of the heading blocks above and of its own, outermost first; a symbol has none."""


def section_tree(outlined: Outline, sizes: Sizes) -> tuple[Section, list[Section]]:
    """The document's section, and for each atom the innermost section it is in."""
    if any(block.kind == "symbol" for block in outlined.document.blocks):
        return _tree_of_symbols(outlined, sizes)
    return _tree_of_headings(outlined)


def _tree_of_headings(outlined: Outline) -> tuple[Section, list[Section]]:
    atoms, blocks = outlined.atoms, outlined.document.blocks
    root = current = Section(0, None, 0)
    of_atom: list[Section] = []
    for index, atom in enumerate(atoms):
        if atom.heading is not None:
            level = blocks[atom.heading].level or 1
            first = _with_line_above(outlined, index)
            while current.level >= level and current.parent is not None:
                current.last = first
                current = current.parent
            path = (*current.path, atom.heading)
            child = Section(level, current, first, path=path)
            of_atom[first:] = [child] * (index - first)
            current.children.append(child)
            current = child
        of_atom.append(current)
    _close(current, len(atoms))
    return root, of_atom


def _with_line_above(outlined: Outline, heading: int) -> int:
    """The first atom of a section: in a document of pages one line above the heading that ends no
    sentence, such as the name of a company, is a part of the title."""
    if heading < 2 or not outlined.document.pages or not _is_line(outlined, heading - 1):
        return heading
    above = heading - 1
    while above >= 0 and heading - above <= _LINES and _is_line(outlined, above):
        if outlined.atoms[above].heading is not None:
            # Lines below a heading of their own.
            return heading
        above -= 1
    return heading - 1


def _is_line(outlined: Outline, index: int) -> bool:
    atom = outlined.atoms[index]
    line = outlined.document.text[atom.start : atom.end].rstrip()
    ends_sentence = line[-1:] in _SENTENCE_ENDS and not line.isupper()
    return atom.kind in ("sentence", "heading") and len(line) <= _LINE and not ends_sentence


def _tree_of_symbols(outlined: Outline, sizes: Sizes) -> tuple[Section, list[Section]]:
    atoms, blocks = outlined.atoms, outlined.document.blocks
    root = current = Section(0, None, 0, len(atoms))
    of_atom = [root] * len(atoms)
    for block in blocks:
        if block.kind != "symbol":
            continue
        first, last = sizes.within(block.start, block.end)
        if first >= last:
            continue
        while current.parent is not None and current.last <= first:
            current = current.parent
        # Two symbols on one line share an atom: the second goes with the first.
        first, last = max(first, current.first), min(last, current.last)
        if current.children:
            first = max(first, current.children[-1].last)
        if first < last:
            child = Section(current.level + 1, current, first, last)
            current.children.append(child)
            of_atom[first:last] = [child] * (last - first)
            current = child
    return root, of_atom


def _close(section: Section | None, end: int) -> None:
    while section is not None:
        section.last = end
        section = section.parent
