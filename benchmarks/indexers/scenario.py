"""Two hundred documents, and what happens to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexers.embedder import NamedEmbedder

LARGE, SMALL = 256, 128
"""Limits of a chunk in BERT tokens, before and after its change."""

_ADDED_WORDS = " This sentence was added by an edit."
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"(?:(?<=\n\n)|\A)[A-Z][^\n]{80,}(?=\n\n)")


@dataclass(frozen=True, slots=True)
class Step:
    """What the index is brought to."""

    name: str
    size: int
    embedder: NamedEmbedder


class Scenario:
    """The files in a folder, from state to state.

    Documents are the files in order of their names; those that are added later come behind the
    first ``count``. Which of them change is fixed by their number alone: the folder is parted into
    ten equal parts, and of each part the first document that has a paragraph of 80 characters
    outside of code is edited; in every second part the next two are deleted and renamed.
    """

    def __init__(self, sources: Sequence[Path], count: int) -> None:
        if count < _PARTS * 4 or len(sources) < count + _PARTS // 2:
            raise SystemExit(
                f"{count} documents and {_PARTS // 2} to add are wanted, at least "
                f"{_PARTS * 4} and {_PARTS // 2}; there are {len(sources)}."
            )
        self._first = sources[:count]
        self._later = sources[count : count + _PARTS // 2]

    def play(self, folder: Path) -> Iterator[Step]:
        """Each step, after ``folder`` was brought to the state that it begins with."""
        first, second = NamedEmbedder("first"), NamedEmbedder("second")
        self._fill(folder)
        yield Step("first", LARGE, first)
        self._change(folder)
        yield Step("U1", LARGE, first)
        yield Step("U2", SMALL, first)
        yield Step("U3", SMALL, second)

    def _fill(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        for source in self._first:
            (folder / source.name).write_bytes(source.read_bytes())

    def _change(self, folder: Path) -> None:
        """U1: 10 edited, 5 deleted, 5 renamed, 5 added."""
        names = [source.name for source in self._first]
        for part in range(_PARTS):
            begin, end = (len(names) * number // _PARTS for number in (part, part + 1))
            at = _edit_first(folder, names[begin : end - 2]) + begin
            if part % 2 == 0:
                (folder / names[at + 1]).unlink()
                (folder / names[at + 2]).rename(folder / f"renamed-{names[at + 2]}")
        for source in self._later:
            (folder / source.name).write_bytes(source.read_bytes())


_PARTS = 10


def _edit_first(folder: Path, names: Sequence[str]) -> int:
    """Edit the first of the documents that can be; its index."""
    for index, name in enumerate(names):
        text = (folder / name).read_text("utf-8")
        edited = edited_paragraph(text)
        if edited != text:
            (folder / name).write_text(edited, "utf-8", newline="")
            return index
    raise SystemExit(f"No document from {names[0]} to {names[-1]} has a paragraph to edit.")


def edited_paragraph(text: str) -> str:
    """The text with a sentence more at the end of the paragraph in its middle; the same if it has
    no paragraph of one long line outside of code."""
    # What is fenced is blanked, so that places stay what they are.
    plain = _FENCED.sub(lambda match: "`" * len(match[0]), text)
    found = list(_PARAGRAPH.finditer(plain))
    if not found:
        return text
    end = found[len(found) // 2].end()
    return text[:end] + _ADDED_WORDS + text[end:]


def markdown_files(folder: Path) -> list[Path]:
    """The files of a folder tree with a text, by path."""
    return sorted(path for path in folder.rglob("*.md") if path.is_file() and path.stat().st_size)
