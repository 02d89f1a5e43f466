"""Keys of a file of questions that mean nothing, and which one may have been meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from merestone.evaluation.questions.values import Question

EVIDENCE_STRINGS = ("doc", "quote", "prefix", "suffix", "version")
EVIDENCE_KEYS = frozenset({*EVIDENCE_STRINGS, "start", "end", "page", "coordinates", "grade"})
QUESTION_KEYS = frozenset(
    {
        "id",
        "question",
        "evidence",
        "match",
        "scope",
        "tags",
        "language",
        "made",
        "principals",
    }
)
_OTHER_NAMES = {
    "document": "doc",
    "doc": "document",
    "text": "quote",
    "lang": "language",
    "tag": "tags",
}
"""What the same thing is called elsewhere."""
_ALIKE = 0.75
"""Share of letters in common from which one key is taken for another mistyped."""
_SHORTEST = 4
"""Letters of such a key."""
_PARTS = ("document", "doc", "quote")
"""What a longer name, such as ``quote_text``, tells by one of its words."""
_NAMED = 5
"""Questions that one note names at most."""


def meant_key(key: str, known: Collection[str]) -> str | None:
    """The one of ``known`` that ``key`` may have been meant for."""
    folded = key.strip().casefold()
    if _OTHER_NAMES.get(folded) in known:
        return _OTHER_NAMES[folded]
    for part in set(_PARTS).intersection(re.split(r"[\W_]+", folded)):
        if (named := part if part in known else _OTHER_NAMES.get(part)) in known:
            return named
    if len(folded) < _SHORTEST:
        return None
    return next(iter(get_close_matches(folded, sorted(known), 1, _ALIKE)), None)


def did_you_mean(keys: Iterable[str], known: Collection[str]) -> str:
    """``Did you mean quote? `` for the first of ``keys`` that is like one of ``known``; else
    nothing."""
    meant = next(filter(None, (meant_key(key, known) for key in keys)), None)
    return f"Did you mean {meant}? " if meant else ""


def key_notes(questions: Iterable[Question]) -> list[str]:
    """What should be known of keys that mean nothing: every one in a piece of evidence, and those
    of questions that look mistyped."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for question in questions:
        for place in _strange_keys(question):
            found.setdefault(place, Counter())[question.id] += 1
    return [_told(key, where, ids) for (where, key), ids in sorted(found.items())]


def _strange_keys(question: Question) -> Iterator[tuple[str, str]]:
    for key in question.extra:
        meant = meant_key(key, QUESTION_KEYS)
        if meant and not getattr(question, meant):
            yield "question", key
    for evidence in question.evidence:
        for key in evidence.extra:
            yield "piece of evidence", key


def _told(key: str, where: str, ids: Counter[str]) -> str:
    known = QUESTION_KEYS if where == "question" else EVIDENCE_KEYS
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    hint = did_you_mean([key], known).strip()
    return (
        f"The key {key!r} of a {where} means nothing, in {', '.join(list(ids)[:_NAMED])}{more}."
        f"{' ' if hint else ''}{hint}"
    )
