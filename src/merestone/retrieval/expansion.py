"""From the unit that was found to a passage of the size that the hit asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from merestone.retrieval.citation import CitedDocuments
from merestone.retrieval.focus import FocusedUnit
from merestone.retrieval.ranking import Ranking
from merestone.retrieval.surroundings import PlacedUnit, Surroundings
from merestone.types import (
    Chunk,
    ContextSpan,
    RetrievalSettings,
    SettingsError,
    Snapshot,
    Tokenizer,
)

_RULE = re.compile(r"(structure|none|section|parent)|(window|neighbours):(\d{1,3})")
_CHARS_PER_TOKEN = 16
"""A range of more code points than that is over a limit of tokens, whatever it says: what is
farther away is not even read."""
_MARKS = re.compile(r"[\s#=*~^\"`'+.:-]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """How units become passages."""

    name: str
    count: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A range of one document that may go into the context. It is itself alone."""

    start: int
    end: int
    reach: tuple[int, int]
    """A passage that overlaps this wider range is joined, and the gap filled."""
    hit: FocusedUnit
    chunks: tuple[Chunk, ...]
    """Those that the range touches, by ordinal."""
    way: str
    """``unit``, or what it was widened to."""
    context: tuple[ContextSpan, ...] = ()

    @property
    def document(self) -> str:
        return self.hit.chunk.document


def parse_rule(text: str) -> Rule:
    """The rule that ``text`` names; ``SettingsError`` if there is none of that name."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise SettingsError(
            "unknown-expansion",
            f"There is no rule of expansion {text!r}.",
            "Use structure, none, section, parent, window:N or neighbours:N.",
        )
    return Rule(match[1] or match[2], int(match[3] or 0))


class Expanded:
    """The units of a ranking, best first, and what each may become: found once, as far as they
    are looked at."""

    def __init__(self, ranking: Ranking, expansion: Expansion) -> None:
        self.ranking = ranking
        self.units = ranking.units
        self._expansion = expansion
        self._wide: dict[int, Piece | None] = {}
        self._bare: dict[int, Piece] = {}

    def pieces(self, place: int) -> Iterator[Piece]:
        """What the unit at ``place`` may become, largest first: the expanded range, then the bare
        unit. Ask by rising place: a piece reaches into chunks that better ones have read."""
        hit = self.units[place]
        if place not in self._wide:
            self._wide[place] = self._expansion.wide(hit)
        wide = self._wide[place]
        if wide is not None:
            yield wide
        if wide is None or wide.way != "chunk":
            if place not in self._bare:
                self._bare[place] = self._expansion.bare(hit)
            yield self._bare[place]


class Expansion:
    """Makes pieces of units, within their document and by the asker's snapshot."""

    def __init__(
        self,
        surroundings: Surroundings,
        documents: CitedDocuments,
        tokenizer: Tokenizer,
        settings: RetrievalSettings,
    ) -> None:
        self._surroundings = surroundings
        self._documents = documents
        self._tokenizer = tokenizer
        self._settings = settings
        self._rule = parse_rule(settings.expand)

    def bare(self, hit: FocusedUnit) -> Piece:
        """The unit alone."""
        return self._piece(hit, hit.unit.start, hit.unit.end, "unit")

    def _piece(self, hit: FocusedUnit, start: int, end: int, way: str) -> Piece:
        """The piece of a range of the hit's document, its outer white space left off."""
        chunks = self._surroundings.chunks(hit.chunk, start, end)
        text = self._documents.of(hit.chunk.document).text[start:end]
        end = start + len(text.rstrip()) or end
        start += len(text) - len(text.lstrip())
        reach = self._surroundings.between(hit.chunk, start, end, self._settings.gap_units)
        context = self._context(hit, start, end)
        return Piece(start, end, reach, hit, tuple(chunks), way, context)

    def wide(self, hit: FocusedUnit) -> Piece | None:
        """The unit with what the rule adds to it; ``None`` if that is nothing."""
        rule = self._rule
        if rule.name == "structure":
            return self._by_structure(hit)
        if rule.name == "window":
            return self._window(hit, rule.count)
        if rule.name == "neighbours":
            return self._neighbours(hit, rule.count)
        if rule.name == "parent":
            unit = hit.unit
            limit = max(
                self._settings.section_tokens,
                self._settings.definition_tokens,
                self._settings.entry_tokens,
            )
            return self._grown(hit, (unit.around_start, unit.around_end), limit, unit.around)
        if rule.name == "section":
            return self._grown(hit, self._section(hit), self._settings.section_tokens, "section")
        return None

    def _by_structure(self, hit: FocusedUnit) -> Piece | None:
        unit, settings = hit.unit, self._settings
        around = (unit.around_start, unit.around_end)
        if unit.kind == "heading":
            if self._is_title(hit):
                return None
            return self._grown(hit, around, settings.section_tokens, "section", before=False)
        if unit.around == "definition":
            return self._grown(hit, around, settings.definition_tokens, "definition")
        if unit.around == "entry":
            return self._grown(hit, around, settings.entry_tokens, "entry")
        return None

    def _is_title(self, hit: FocusedUnit) -> bool:
        """True for the heading that is the document's own title."""
        title = self._documents.of(hit.chunk.document).title
        unit, chunk = hit.unit, hit.chunk
        text = chunk.text[unit.start - chunk.start : unit.end - chunk.start]
        return title is not None and _plain(title) == _plain(text)

    def _grown(
        self,
        hit: FocusedUnit,
        around: tuple[int, int],
        limit: int,
        way: str,
        *,
        before: bool = True,
    ) -> Piece | None:
        """The hit's unit with the units around it, within ``around``, as far as ``limit`` tokens
        allow; ``None`` if there is nothing to add."""
        unit = hit.unit
        farthest = limit * _CHARS_PER_TOKEN
        low = max(around[0], unit.start - farthest) if before else unit.start
        high = min(around[1], unit.end + farthest)
        units = self._surroundings.units(hit.chunk, low, high)
        at = next((i for i, each in enumerate(units) if each.unit.start == unit.start), None)
        if at is None or len(units) < 2:
            return None
        first, last = self._fitting(units, at, limit)
        if last - first < 2:
            return None
        return self._piece(hit, units[first].unit.start, units[last - 1].unit.end, way)

    def _fitting(self, units: Sequence[PlacedUnit], at: int, limit: int) -> tuple[int, int]:
        """The largest run of ``units`` around ``at`` within ``limit`` tokens, grown behind and
        before by turns."""
        counts = self._tokenizer.counts([each.text for each in units])
        first, last, total = at, at + 1, counts[at]
        can_follow = can_precede = True
        while can_follow or can_precede:
            can_follow = can_follow and last < len(units) and total + counts[last] <= limit
            if can_follow:
                total += counts[last]
                last += 1
            can_precede = can_precede and first > 0 and total + counts[first - 1] <= limit
            if can_precede:
                first -= 1
                total += counts[first]
        return first, last

    def _window(self, hit: FocusedUnit, count: int) -> Piece | None:
        chunk, unit = hit.chunk, hit.unit
        near = [
            self._surroundings.chunk(chunk.document, chunk.ordinal + step) for step in (-1, 0, 1)
        ]
        known = [one for one in near if one is not None]
        units = self._surroundings.units(chunk, known[0].start, known[-1].end)
        at = next((i for i, each in enumerate(units) if each.unit.start == unit.start), None)
        if at is None:
            return None
        wide = units[max(0, at - count) : at + count + 1]
        return self._piece(hit, wide[0].unit.start, wide[-1].unit.end, "window")

    def _neighbours(self, hit: FocusedUnit, count: int) -> Piece:
        first = last = hit.chunk
        for _ in range(count):
            first = self._surroundings.chunk(first.document, first.ordinal - 1) or first
            last = self._surroundings.chunk(last.document, last.ordinal + 1) or last
        return self._piece(hit, first.start, last.end, "neighbours")

    def _section(self, hit: FocusedUnit) -> tuple[int, int]:
        """The section of the unit; where a narrower structure is known, the run of chunks under
        the same headings, as far as the limit can reach."""
        if hit.unit.around == "section":
            return hit.unit.around_start, hit.unit.around_end
        path, first, last = hit.chunk.heading_path, hit.chunk, hit.chunk
        farthest = self._settings.section_tokens * _CHARS_PER_TOKEN
        while last.end - first.start < farthest:
            before = self._surroundings.chunk(first.document, first.ordinal - 1)
            behind = self._surroundings.chunk(last.document, last.ordinal + 1)
            takes_before = before is not None and before.heading_path[: len(path)] == path
            takes_behind = behind is not None and behind.heading_path[: len(path)] == path
            if not takes_before and not takes_behind:
                break
            if takes_before and before is not None:
                first = before
            if takes_behind and behind is not None:
                last = behind
        return first.start, last.end

    def _context(self, hit: FocusedUnit, start: int, end: int) -> tuple[ContextSpan, ...]:
        """What a reader of that range alone would miss, and is not in it."""
        unit, chunk = hit.unit, hit.chunk
        wanted = {"signature"}
        if unit.kind == "table_row":
            wanted |= {"table_header", "caption"}
        if unit.kind == "list_item" or start <= chunk.start:
            wanted.add("lead_in")
        spans = [
            span
            for span in chunk.context
            if span.role in wanted and (span.start is None or not start <= span.start < end)
        ]
        if unit.kind == "table_row" and not any(span.role == "table_header" for span in spans):
            spans += self._header(hit, start)
        return tuple(spans)

    def _header(self, hit: FocusedUnit, start: int) -> list[ContextSpan]:
        """The first row of the table, where it stands in the same chunk before ``start``."""
        unit, chunk = hit.unit, hit.chunk
        if not chunk.start <= unit.around_start < start:
            return []
        first = next(iter(self._surroundings.units(chunk, unit.around_start, start)), None)
        if first is None or first.unit.kind != "table_row":
            return []
        text = first.text.rstrip()
        return [ContextSpan("table_header", first.unit.start, first.unit.start + len(text), text)]


def expand(
    snapshot: Snapshot,
    ranking: Ranking,
    documents: CitedDocuments,
    tokenizer: Tokenizer,
    settings: RetrievalSettings,
) -> Expanded:
    """What the units of ``ranking`` may become, in tokens of ``tokenizer``, the embedder's."""
    surroundings = Surroundings(snapshot, (each.chunk for each in ranking.ranked))
    return Expanded(ranking, Expansion(surroundings, documents, tokenizer, settings))


def _plain(text: str) -> str:
    return _MARKS.sub(" ", text).strip().casefold()
