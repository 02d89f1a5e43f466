"""Finding the documents that hold quotes of which only the words are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from merestone.evaluation.gold.word_runs import WordRun
from merestone.types import Snapshot

_SHINGLE = 5
"""Words in a row by which a quote is looked for; fewer could stand anywhere."""


def documents_with(snapshot: Snapshot, quotes: Iterable[str]) -> dict[str, str]:
    """By quote the one document whose text has its words; quotes that none or several have, or
    that are shorter than five words, are left out. Each document is read once."""
    wanted: defaultdict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for quote in quotes:
        words = WordRun(quote)
        if len(words.words) >= _SHINGLE:
            wanted[tuple(words.words[:_SHINGLE])].append((quote, words.run))
    found: defaultdict[str, set[str]] = defaultdict(set)
    for document in snapshot.document_ids() if wanted else ():
        text = WordRun(snapshot.text(document) or "")
        shingles = zip(*(text.words[offset:] for offset in range(_SHINGLE)), strict=False)
        for shingle in wanted.keys() & set(shingles):
            for quote, run in wanted[shingle]:
                if run in text.run:
                    found[quote].add(document)
    return {quote: next(iter(ids)) for quote, ids in found.items() if len(ids) == 1}
