"""The strategy ``code``: symbols and statements decide where to cut."""

from __future__ import annotations

from typing import ClassVar

from merestone.chunking.structure import StructureChunker


class CodeChunker(StructureChunker):
    """Keeps functions, classes and statements whole where they fit; a part of one that does not
    carries the headers of the class and function around it.

    The tree of symbols takes the place of the tree of headings, see
    :func:`~merestone.chunking.sections.section_tree`; code without symbols, such as configuration,
    is cut between its groups of lines.
    """

    name: ClassVar[str] = "code"
    revision: ClassVar[int] = 2


CHUNKER = CodeChunker()
