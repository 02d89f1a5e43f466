"""Measures of what was served against gold spans. All are counted in characters.

For one question let R be its gold characters, each once, and H the passages that were served;
found = |R ∩ ∪H|, and charged = the sum of the passages' lengths, what overlaps and what stands in
other documents included.

=============  ====================================================================
Hit            1 if a passage touches a gold span
FullGold       1 if every gold span (``match`` "any": one of them) lies whole in one passage;
               passages that touch or overlap are one, since they are served as one
GoldCoverage   found / |R|
Precision      found / charged
IoU            found / (charged + |R| - found)
Duplication    characters served again / charged
Tokens         tokens of the passages, their overlaps included
RR             1 / rank of the first passage that touches a gold span
nDCG           see :func:`_ndcg`
=============  ====================================================================

GoldCoverage, Precision and IoU are the recall, precision and IoU of Smith and Troynikov, Evaluating
Chunking Strategies for Retrieval (Chroma, 2024); RR is of Voorhees, The TREC-8 Question Answering
Track (1999); nDCG is of Järvelin and Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques
(2002), with the gain of trec_eval and ir-measures, the grade itself. Where each span alone answers
(``match`` "any"), GoldCoverage, Precision, IoU and nDCG are each those of the span that is best by
it.

Gold of grade 0 was judged and is of no use: it is not gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.measures.coverage import Coverage, Place
from merestone.evaluation.measures.units import family
from merestone.evaluation.questions.values import Match
from merestone.evaluation.runs.values import Served

SPAN_MEASURES = (
    "Hit",
    "FullGold",
    "GoldCoverage",
    "Precision",
    "IoU",
    "Duplication",
    "Tokens",
    "RR",
    "nDCG",
)

NO_ANSWER = "NoAnswer"
"""Of a question that nothing answers: 1 if that is what was said."""

_SMALLER_IS_BETTER = frozenset({"Duplication", "Tokens"})


def at(measure: str, cutoff: int | str) -> str:
    """``GoldCoverage@5`` for the first five passages, ``GoldCoverage@1000t`` for a view."""
    return f"{measure}@{cutoff}"


def is_smaller_better(name: str) -> bool:
    """True for ``Tokens@5`` and what else is a cost."""
    return family(name) in _SMALLER_IS_BETTER


def span_measures(
    gold: Sequence[GoldSpan],
    match: Match,
    served: Sequence[Served],
    *,
    texts: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """The measures of one question by their names, ``served`` best first.

    With ``texts``, those of the gold's documents by id, white space between two passages is no gap:
    a paragraph break that no chunk holds is not gold that was missed. Without, every character
    counts, as published. Empty if there is no gold: see :func:`no_answer_measures`.
    """
    spans = [span for span in gold if span.grade > 0 and span.start < span.end]
    if not spans:
        return {}
    passages = [_place(passage) for passage in served]
    lengths = sum(end - start for _, start, end in passages)
    once = Coverage(passages)
    read = Coverage(passages, texts)
    charged = lengths + read.size - once.size
    alternatives = [Coverage([_place(span)]) for span in spans]
    wanted = alternatives if match == "any" else [Coverage(_place(span) for span in spans)]
    whole = [read.holds(_place(span)) for span in spans]
    found = [(_found(part, read), part.size) for part in wanted]
    rank = _first_touching(spans, passages)
    return {
        "Hit": float(rank > 0),
        "FullGold": float(any(whole) if match == "any" else all(whole)),
        "GoldCoverage": max(hit / size for hit, size in found),
        "Precision": max(hit for hit, _ in found) / charged if charged else 0.0,
        "IoU": max(hit / (charged + size - hit) for hit, size in found),
        "Duplication": (lengths - once.size) / lengths if lengths else 0.0,
        "Tokens": float(sum(passage.tokens for passage in served)),
        "RR": 1 / rank if rank else 0.0,
        "nDCG": _best_ndcg(spans, passages) if match == "any" else _ndcg(spans, passages),
    }


def no_answer_measures(said_nothing: bool) -> dict[str, float]:
    """Of a question that nothing answers; ``said_nothing``: retrieval's verdict was that."""
    return {NO_ANSWER: float(said_nothing)}


def precision_omega(gold: Sequence[GoldSpan], chunks: Iterable[Place]) -> float:
    """The precision of a cutting where retrieval is perfect, by the same report.

    With T the chunks that touch gold: |R ∩ ∪T| / |∪T ∪ R|. As published, a chunk that only
    ends where a gold span starts touches it too. 0 if there is no gold.
    """
    wanted = Coverage(_place(span) for span in gold if span.grade > 0)
    touching = Coverage(
        (document, start, end)
        for document, start, end in chunks
        if any(
            span.grade > 0 and span.document == document and start < span.end and span.start <= end
            for span in gold
        )
    )
    found = _found(wanted, touching)
    return found / (wanted.size + touching.size - found) if wanted.size else 0.0


def _place(span: GoldSpan | Served) -> Place:
    return span.document, span.start, span.end


def _found(wanted: Coverage, read: Coverage) -> int:
    return sum(read.shared(place) for place in wanted.places)


def _first_touching(spans: Sequence[GoldSpan], passages: Sequence[Place]) -> int:
    """The rank, from 1, of the first passage that touches gold; 0: none does."""
    wanted = Coverage(_place(span) for span in spans)
    return next((rank for rank, place in enumerate(passages, 1) if wanted.shared(place)), 0)


def _ndcg(spans: Sequence[GoldSpan], passages: Sequence[Place]) -> float:
    """nDCG of a list of gains that the passages are turned into, in their order.

    Each gold span that a passage adds to is one entry, with the gain grade × share of the span's
    characters that no earlier passage held; the entries of one passage stand by falling gain. A
    passage that adds nothing, a repetition too, is one entry of gain 0. The ideal list holds each
    gold span whole, by falling grade. So it is the usual nDCG where each passage holds one span or
    none, 1 also where one passage holds several, and never above 1.
    """
    added = [_added(span, passages) for span in spans]
    gains: list[float] = []
    for rank in range(len(passages)):
        entries = [part[rank] for part in added if part[rank]]
        gains += sorted(entries, reverse=True) or [0.0]
    return _dcg(gains) / _dcg(sorted((span.grade for span in spans), reverse=True))


def _added(span: GoldSpan, passages: Sequence[Place]) -> list[float]:
    """By passage, grade × share of the span's characters that no earlier passage held."""
    whole = Coverage([_place(span)])
    touching: list[Place] = []
    covered = 0
    added = []
    for place in passages:
        before = covered
        if whole.shared(place):
            touching.append(place)
            covered = Coverage(touching).shared(_place(span))
        added.append(span.grade * (covered - before) / whole.size)
    return added


def _best_ndcg(spans: Sequence[GoldSpan], passages: Sequence[Place]) -> float:
    """That of the one span that gains most, where the ideal is the best span at rank 1."""
    best = max(span.grade for span in spans)
    return max(span.grade * _ndcg([span], passages) for span in spans) / best


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(position + 1) for position, gain in enumerate(gains, 1))
