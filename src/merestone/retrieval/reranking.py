"""Ordering what was found once more, by a model that reads question and text together.

What is moved takes the score of the place that it comes to, so that scores go on falling with
rank and shares of the best score, as ``precise`` takes them, mean what they meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from merestone.chunking.render import PATH_SEPARATOR, flat, render, shown
from merestone.reranking import Reranked, apply_reranker
from merestone.retrieval.citation import CitedDocuments
from merestone.retrieval.expansion import Expanded, Piece
from merestone.retrieval.focus import FocusedUnit
from merestone.retrieval.ranking import Ranked, Ranking, Reread
from merestone.retrieval.trace import Entry, Trace
from merestone.types import Reranker, RerankingSettings


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker and what it is given."""

    model: Reranker
    settings: RerankingSettings


class _Move(NamedTuple):
    """A way from one score to another, for an item and for what goes with it."""

    old: float
    new: float

    def of(self, score: float) -> float:
        # In this order the item itself comes to ``new`` to the last bit.
        return score if self.new == self.old else score - self.old + self.new


def rerank_chunks(ranking: Ranking, query: str, reranking: Reranking, trace: Trace) -> Ranking:
    """``ranking`` with the best ``top`` chunks in the reranker's order. A chunk's units go with
    it: each stays as far behind its best one as it was."""
    ranked, top = ranking.ranked, reranking.settings.top
    with trace.stage("rerank") as entry:
        made = apply_reranker(reranking.model, query, ranked, lambda r: render(r.chunk), top)
        _tell(entry, reranking, "chunks", made)
    if not made.ranks:
        return _noted(ranking, made)
    moves = _moves([each.score for each in ranked], made.order)
    reread = _reread(made)
    ways = {
        ranked[place].candidate.number: (moves[place], rank)
        for rank, place in enumerate(made.order)
    }
    units = _moved(ranking.units, lambda _, unit: ways.get(unit.candidate.number))
    moved = tuple(
        replace(ranked[place], score=moves[place].new, reread=reread.get(place))
        for place in made.order
    )
    return _noted(replace(ranking, ranked=moved, units=units), made)


def rerank_passages(
    expanded: Expanded,
    documents: CitedDocuments,
    query: str,
    reranking: Reranking,
    trace: Trace,
) -> Ranking:
    """The ranking with its units in the order in which the reranker puts what they are expanded
    to: the ``top`` first passages, where a unit within the passage of a better one goes with it."""
    ranking = expanded.ranking
    with trace.stage("rerank") as entry:
        groups = _passages(expanded, reranking.settings.top)
        made = apply_reranker(
            reranking.model, query, groups, lambda g: _text(g.piece, documents), len(groups)
        )
        _tell(entry, reranking, "passages", made)
    if not made.ranks:
        return _noted(ranking, made)
    moves = _moves([group.piece.hit.score for group in groups], made.order)
    ways = {
        member: (moves[place], rank)
        for rank, place in enumerate(made.order)
        for member in groups[place].members
    }
    units = _moved(ranking.units, lambda number, _: ways.get(number))
    first: dict[int, Reread | None] = {}
    reread = _reread(made)
    for place in made.order:
        for member in groups[place].members:
            number = ranking.units[member].candidate.number
            first.setdefault(number, reread.get(place))
    moved = replace(ranking, ranked=_by_best(ranking.ranked, units, first), units=units)
    return _noted(moved, made)


@dataclass(frozen=True, slots=True)
class _Passage:
    """What a unit is expanded to, and the places in the ranking of the units in it."""

    piece: Piece
    members: list[int]

    def holds(self, piece: Piece) -> bool:
        own = self.piece
        return own.document == piece.document and own.start <= piece.start and piece.end <= own.end


def _passages(expanded: Expanded, top: int) -> list[_Passage]:
    found: list[_Passage] = []
    for number in range(len(expanded.units)):
        piece = next(expanded.pieces(number))
        holder = next((each for each in found if each.holds(piece)), None)
        if holder is not None:
            holder.members.append(number)
        elif len(found) < top:
            found.append(_Passage(piece, [number]))
        else:
            break
    return found


def _text(piece: Piece, documents: CitedDocuments) -> str:
    """A passage as the reranker reads it: under the headings that it does not hold itself."""
    chunk = piece.hit.chunk
    text = documents.of(piece.document).text[piece.start : piece.end]
    titles = [span.text for span in chunk.context if span.role == "title"]
    path = [flat(head) for head in dict.fromkeys((*titles, *chunk.heading_path))]
    heads = [head for head in path if head not in text]
    lines = [PATH_SEPARATOR.join(heads)] if heads else []
    lines += [shown(span) for span in piece.context]
    return "\n".join(lines) + "\n\n" + text if lines else text


def _moved(
    units: Sequence[FocusedUnit],
    way_of: Callable[[int, FocusedUnit], tuple[_Move, int] | None],
) -> tuple[FocusedUnit, ...]:
    """``units`` by their new scores. Equal ones come by the rank beside their move, and what was
    not moved behind."""
    found: list[tuple[FocusedUnit, int]] = []
    for number, unit in enumerate(units):
        way = way_of(number, unit)
        if way is None:
            found.append((unit, len(units)))
        else:
            found.append((unit._replace(score=way[0].of(unit.score)), way[1]))
    found.sort(key=lambda each: (-each[0].score, each[1]))
    return tuple(unit for unit, _ in found)


def _moves(scores: Sequence[float], order: Sequence[int]) -> list[_Move]:
    """By place before: from which score to which an item goes."""
    moves = [_Move(score, score) for score in scores]
    for place, before in enumerate(order):
        moves[before] = _Move(scores[before], scores[place])
    return moves


def _reread(made: Reranked) -> dict[int, Reread]:
    return {place: Reread(rank, made.scores[place] or 0.0) for place, rank in made.ranks.items()}


def _by_best(
    ranked: Sequence[Ranked], units: Sequence[FocusedUnit], reread: Mapping[int, Reread | None]
) -> tuple[Ranked, ...]:
    """Chunks by their best unit; those without any stay last."""
    best: dict[int, float] = {}
    for unit in units:
        best.setdefault(unit.candidate.number, unit.score)
    by_number = {each.candidate.number: each for each in ranked}
    first = [
        replace(by_number[number], score=score, reread=reread.get(number))
        for number, score in best.items()
    ]
    return (*first, *(each for each in ranked if each.candidate.number not in best))


def _tell(entry: Entry, reranking: Reranking, on: str, made: Reranked) -> None:
    entry.update(
        model=reranking.model.name,
        on=on,
        asked=min(reranking.settings.top, len(made.order)),
        scored=len(made.ranks),
    )


def _noted(ranking: Ranking, made: Reranked) -> Ranking:
    found = ranking.found
    return replace(ranking, found=replace(found, notes=(*found.notes, *made.notes)))
