"""What of a question each side is asked: all of it, unless it is far longer than a question is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from merestone.text.analysis import query_terms, terms
from merestone.types import Embedder, Phrase, Snapshot

MOST_TERMS = 64
"""Different terms that are searched. A question has five to twenty; each of a text that is put in
its place costs as much and says little."""
_MOST_COUNTED = 2048
"""Different terms of which it is looked up how many chunks hold them."""
_TOKEN = 16
"""Code points that a token has at most, on average."""
_MOST_PHRASES = 8
_QUOTED = re.compile(r'"([^"]{2,200})"|“([^“”]{2,200})”|„([^„“]{2,200})“|«([^«»]{2,200})»')


def asked_terms(snapshot: Snapshot, query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The different terms of ``query`` in order, and notes. Of too many those stay that say most:
    the rarest in the library, counted as often as they come in the question."""
    found = query_terms(query)
    if not found:
        return (), ("The question holds no word that could be looked for.",)
    if len(found) <= MOST_TERMS:
        return tuple(found), ()
    times = Counter(terms(query))
    counted = sorted(found, key=lambda term: -times[term])[:_MOST_COUNTED]
    counts = snapshot.term_counts(counted)

    def weight(term: str) -> float:
        holders = counts.holders.get(term, 0)
        return times[term] * log(1 + counts.total / holders) if holders else 0.0

    kept = set(sorted(counted, key=lambda term: -weight(term))[:MOST_TERMS])
    return (
        tuple(term for term in found if term in kept),
        (
            f"The question has {len(found):,} different words: the {MOST_TERMS} that say most in "
            "this library were searched.",
        ),
    )


def asked_text(embedder: Embedder, query: str) -> tuple[str, tuple[str, ...]]:
    """What of ``query`` is embedded: as much as the embedder reads at once, and notes."""
    tokenizer = embedder.tokenizer
    room = max(1, embedder.max_tokens - tokenizer.special_tokens)
    beginning = query[: room * _TOKEN]
    starts: Sequence[int] = tokenizer.starts(beginning) if len(beginning) > room else ()
    if len(starts) > room:
        beginning = beginning[: starts[room]]
    if len(beginning) == len(query):
        return query, ()
    note = (
        f"The question is longer than the {embedder.max_tokens} tokens that {embedder.name} reads: "
        "by meaning only its beginning was searched."
    )
    return beginning, (note,)


def quoted_phrases(query: str) -> tuple[Phrase, ...]:
    """What stands in quotes in ``query``, for the lexical side: a chunk that holds its terms side
    by side is found before one that holds each somewhere."""
    found = []
    for match in _QUOTED.finditer(query):
        inner = terms(next(part for part in match.groups() if part is not None))
        if len(inner) > 1:
            found.append(Phrase(" ".join(inner)))
    return tuple(dict.fromkeys(found))[:_MOST_PHRASES]
