"""What is known of a hit without looking at any other: how much of the question stands in it, and
how alike the vectors are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import log

from merestone.embedding.likeness import Scale
from merestone.retrieval.question_words import telling
from merestone.retrieval.ranking import Ranked, Ranking, Signals
from merestone.retrieval.units import ReadUnits, units_of
from merestone.text.analysis import is_identifier, terms
from merestone.types import Chunk, Snapshot, TermCounts

_NAME = 2.0
"""How much more an identifier weighs than another word as rare."""
_PART = 0.5
"""How much its parts weigh."""
_MOST_PIECES = 1000
"""Different words of a question among which identifiers are looked for."""
_ELSEWHERE = 100
"""Chunks about something else that are thought to be there too: in a library of ten documents
about pumps, all of which hold the word, it is still a telling one."""
_NOTHING_SAID = 1.0
"""Added to what the words of a question weigh together, so that a question of common words alone
can't be matched well by them. In the unit of :func:`_rarity`."""


def read_signals(
    snapshot: Snapshot,
    ranking: Ranking,
    ranked: Sequence[Ranked],
    query: str,
    scale: Scale | None,
) -> list[Signals]:
    """What is known of each of ``ranked``. ``scale``: ``None`` leaves their likeness out."""
    weights = word_weights(snapshot.term_counts(ranking.found.terms), ranking.found.terms, query)
    total = _NOTHING_SAID + sum(weights.values())
    cosines = _cosines(snapshot, ranking, ranked) if scale else {}
    found = []
    for each in ranked:
        words, near = _held(each.chunk, weights)
        cosine = cosines.get(each.candidate.number)
        likeness = None if scale is None or cosine is None else scale.likeness(cosine)
        found.append(
            Signals(
                round(words / total, 6),
                round(near / total, 6),
                None if likeness is None else round(likeness, 4),
            )
        )
    return found


def word_weights(counts: TermCounts, query_terms: Sequence[str], query: str) -> dict[str, float]:
    """What each telling term of a question weighs: by its rarity, and more if it is a name that
    is looked up rather than understood."""
    names, parts = _identifiers(query)
    found = {}
    for term in telling(query_terms):
        weight = _rarity(counts.total, counts.holders.get(term, 0))
        found[term] = weight * (_NAME if term in names else _PART if term in parts else 1.0)
    return found


def _identifiers(query: str) -> tuple[set[str], set[str]]:
    """Terms of the identifiers in a question: those of each as a whole, and those of its parts."""
    names: set[str] = set()
    parts: set[str] = set()
    for piece in islice(dict.fromkeys(query.split()), _MOST_PIECES):
        if is_identifier(piece):
            whole, *rest = terms(piece) or [""]
            names.add(whole)
            parts.update(rest)
    return names, parts - names


def _rarity(total: int, holders: int) -> float:
    """Inverse document frequency (Robertson and Zaragoza 2009), as if there were some chunks more
    that are about something else."""
    without = max(0, total - holders) + _ELSEWHERE
    return log(1 + (without + 0.5) / (holders + 0.5))


def _held(chunk: Chunk, weights: Mapping[str, float]) -> tuple[float, float]:
    """What the terms weigh that ``chunk`` holds with its headings and context, and those that
    stand in one of its units, the neighbours of that and the headings."""
    units = units_of(chunk)
    above = _above(chunk)
    places = units.places(weights)
    held = sum(weight for term, weight in weights.items() if term in places or term in above)
    heads = sum(weight for term, weight in weights.items() if term in above)
    own = {term: weight for term, weight in weights.items() if term not in above and term in places}
    return held, heads + _best_place(units, places, own)


def _best_place(
    units: ReadUnits, places: Mapping[str, Sequence[int]], weights: Mapping[str, float]
) -> float:
    together: dict[int, list[float]] = {}
    for term, weight in weights.items():
        for at in {each for place in places[term] for each in units.beside[place]}:
            together.setdefault(at, []).append(weight)
    return max(map(sum, together.values()), default=0.0)


def _above(chunk: Chunk) -> frozenset[str]:
    texts = (*chunk.heading_path, *(span.text for span in chunk.context))
    return frozenset().union(*map(_terms_of, texts))


@lru_cache(maxsize=4096)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _cosines(snapshot: Snapshot, ranking: Ranking, ranked: Sequence[Ranked]) -> Mapping[int, float]:
    known = {
        each.candidate.number: each.candidate.dense_score
        for each in ranked
        if each.candidate.dense_score is not None
    }
    missing = [each.candidate.number for each in ranked if each.candidate.number not in known]
    if missing and ranking.found.vector is not None:
        known |= snapshot.dense_scores(ranking.found.vector, missing)
    return known
