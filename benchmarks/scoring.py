"""Measures of a ranking against gold spans, and differences between two cuttings.

Words are those of :class:`gold.View`. A budget in words is counted as the sets' own scorer does:
ranked passages are read until it is used up, the last one in part, and what comes twice counts
twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from gold import Question, Span, View
from numpy.typing import NDArray

K = 5
WORDS = 1000

_RESAMPLES = 2000
_SEED = 20261130
_LEVEL = (2.5, 97.5)

Measures = dict[str, float]

Word = tuple[str, int]
"""A document's id, and the number of a word in it."""


def measure(question: Question, ranked: Sequence[Span], views: Mapping[str, View]) -> Measures:
    """The measures of one question, each from 0 to 1.

    - complete@5: some gold span lies whole in one of the first 5 passages
    - FullGold@5: as the set asks, all spans or any of them
    - hit@5: some gold span is touched by one of the first 5 passages
    - GoldCoverage, IoU: share of gold words retrieved, and words in both by words in either, in
      the first 5 passages and in the first 1000 words
    - FullGold@1000w: as FullGold@5, in the first 1000 words; a span over two passages that touch
      is whole when both are read, since they are served as one
    """
    top = ranked[:K]
    inside = [
        any(name == document and start <= low and high <= end for document, start, end in top)
        for name, low, high in question.gold
    ]
    touched = any(
        name == document and start < high and low < end
        for name, low, high in question.gold
        for document, start, end in top
    )
    at_k = _read(top, views, None)
    at_words = _read(ranked, views, WORDS)
    coverage_k, iou_k = _shared(question, at_k, views)
    coverage_words, iou_words = _shared(question, at_words, views)
    return {
        "complete@5": any(inside),
        "FullGold@5": _as_asked(question, inside),
        "hit@5": touched,
        "GoldCoverage@5": coverage_k,
        "IoU@5": iou_k,
        "GoldCoverage@1000w": coverage_words,
        "FullGold@1000w": _as_asked(question, _covered(question, at_words, views)),
        "IoU@1000w": iou_words,
    }


def measure_whole(
    question: Question,
    passages: Sequence[Span],
    views: Mapping[str, View],
    limit: int | None = None,
) -> Measures:
    """GoldCoverage, IoU and FullGold of all that the passages hold, or of the first ``limit``
    words of it."""
    read = _read(passages, views, limit)
    coverage, iou = _shared(question, read, views)
    whole = _as_asked(question, _covered(question, read, views))
    return {"recall": coverage, "IoU": iou, "complete": whole}


def _as_asked(question: Question, found: Sequence[bool]) -> bool:
    return all(found) if question.match == "all" else any(found)


def _read(ranked: Sequence[Span], views: Mapping[str, View], limit: int | None) -> Set[Word]:
    """The words of the passages, of ``limit`` words at most."""
    read: set[Word] = set()
    left = limit
    for document, start, end in ranked:
        words = views[document].words(start, end)
        if left is not None:
            if left <= 0:
                break
            words = words[:left]
            left -= len(words)
        read.update((document, word) for word in words)
    return read


def _covered(question: Question, read: Set[Word], views: Mapping[str, View]) -> list[bool]:
    """For each gold span whether all of its words are read."""
    return [
        all((name, word) in read for word in views[name].words(start, end))
        for name, start, end in question.gold
    ]


def _shared(question: Question, read: Set[Word], views: Mapping[str, View]) -> tuple[float, float]:
    """Coverage and IoU, of the best span where any of them answers."""
    groups = [[span] for span in question.gold] if question.match == "any" else [question.gold]
    scores = []
    for spans in groups:
        gold = {(name, word) for name, low, high in spans for word in views[name].words(low, high)}
        both = len(gold & read)
        scores.append((both / max(1, len(gold)), both / max(1, len(gold | read))))
    return max(scores)


@dataclass(frozen=True)
class Difference:
    """A mean of paired differences, and its 95 % interval over resampled questions."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        if self.low > 0:
            return "ahead"
        return "behind" if self.high < 0 else "level"

    def __str__(self) -> str:
        return f"{100 * self.mean:+6.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


def difference(pairs: Sequence[Sequence[float]]) -> Difference:
    """The mean over sets of the mean difference in each; ``pairs`` holds, by set, one difference
    a question. Questions are resampled within their set, 2000 times, with a fixed seed."""
    total = np.zeros(_RESAMPLES)
    for place, values in enumerate(pairs):
        total += _shares(len(values), place) @ np.asarray(values, float)
    low, high = np.percentile(total / len(pairs), _LEVEL)
    return Difference(float(np.mean([np.mean(values) for values in pairs])), low, high)


@lru_cache(maxsize=64)
def _shares(count: int, place: int) -> NDArray[np.float64]:
    """Share of each of ``count`` questions in each resample; other draws for each place."""
    generator = np.random.default_rng((_SEED, place))
    return generator.multinomial(count, np.full(count, 1 / count), _RESAMPLES) / count
