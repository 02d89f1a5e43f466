"""From spans to chunks: texts, ids, lines, pages and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import category

from merestone.text.hashing import digest
from merestone.types import JSON, Chunk, ContextSpan, Document, Edge, Unit

_SAYING = frozenset({"So", "Sc", "Lm", "Mc", "Cs", "Co", "Cn"})
"""Categories of signs that may say something; unknown ones are given the benefit of the doubt."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A span that a strategy chose, and what it knows of it."""

    start: int
    end: int
    tokens: int
    kind: str
    boundary_start: Edge
    boundary_end: Edge
    heading_path: tuple[str, ...] = ()
    context: tuple[ContextSpan, ...] = ()
    shed: tuple[ContextSpan, ...] = ()
    units: Sequence[Unit] = ()
    attributes: Mapping[str, JSON] | None = None


def finish(document: Document, pieces: Sequence[Piece], config: str) -> tuple[Chunk, ...]:
    """Chunks of ``pieces``, which are in order of their starts."""
    seen: Counter[str] = Counter()
    chunks = []
    for ordinal, piece in enumerate(pieces):
        text = document.text[piece.start : piece.end]
        occurrence = seen[text]
        seen[text] += 1
        chunks.append(
            Chunk(
                id=digest("chunk", document.id, text, str(occurrence)),
                document=document.id,
                version=document.version,
                ordinal=ordinal,
                total=len(pieces),
                start=piece.start,
                end=piece.end,
                text=text,
                tokens=piece.tokens,
                kind=piece.kind,
                heading_path=piece.heading_path,
                context=piece.context,
                shed=piece.shed,
                boundary_start=piece.boundary_start,
                boundary_end=piece.boundary_end,
                lines=document.lines_of(piece.start, piece.end),
                pages=document.pages_of(piece.start, piece.end),
                boxes=document.boxes_of(piece.start, piece.end),
                attributes=dict(piece.attributes or {}),
                metadata=document.metadata,
                units=piece.units,
                config=config,
            )
        )
    return tuple(chunks)


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """``[start, end)`` without white space behind it and without blank lines before it. The
    indent of the first line stays: in code and lists it carries meaning."""
    while end > start and text[end - 1].isspace():
        end -= 1
    at_line_start = start == 0 or text[start - 1] in "\r\n"
    for offset in range(start, end):
        character = text[offset]
        if not character.isspace():
            break
        if character in "\r\n":
            at_line_start = True
            start = offset + 1
        elif not at_line_start or character not in " \t":
            start = offset + 1
    return start, end


def says_something(text: str) -> bool:
    """True if ``text`` holds a letter, a digit or a picture, not only marks, rules and dashes."""
    if any(map(str.isalnum, text)):
        return True
    return not text.isascii() and any(
        category(sign) in _SAYING and not "\u2500" <= sign <= "\u259f" for sign in text
    )


def clip_units(units: Sequence[Unit], start: int, end: int) -> tuple[Unit, ...]:
    """Units that tile ``[start, end)`` exactly."""
    inside = [unit for unit in units if unit.start < end and unit.end > start]
    if not inside:
        return ()
    inside[0] = inside[0]._replace(start=start)
    inside[-1] = inside[-1]._replace(end=end)
    return tuple(inside)
