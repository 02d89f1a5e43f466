"""Which vector of a service's answer belongs to which text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from merestone.types import JSON, Vectors


class UnpairedError(Exception):
    """An answer of which nothing can be trusted, and why."""


def pair(
    answer: JSON, path: Sequence[str], index: str, count: int, *, what: str = "vectors"
) -> list[JSON]:
    """The answers by text, from an answer of the service to ``count`` texts.

    ``path`` leads to their list. Where each has ``index``, that decides; where none has, their
    order. A list of another length is not trusted at all: a service that left one out may have
    numbered the others anew.
    """
    found = dig(answer, path)
    if not isinstance(found, list):
        raise UnpairedError(f"gave no list of {what}: {_shown(answer)}")
    if len(found) != count:
        raise UnpairedError(f"gave {len(found)} {what} for {count} texts")
    if not index:
        return found
    places: list[JSON] = [item.get(index) if isinstance(item, dict) else None for item in found]
    if all(place is None for place in places):
        return found
    if any(type(place) is not int for place in places) or set(places) != set(range(count)):
        raise UnpairedError(f"gave {what} whose indexes are not those of the texts")
    by_place = dict(zip(places, found, strict=True))
    return [by_place[place] for place in range(count)]


def usable_vectors(items: Sequence[JSON], key: str, width: int | None) -> list[Vectors | None]:
    """The vector in each item; ``None`` for one of another length than ``width``, with a value
    that is not finite, or without direction. ``width`` ``None``: the length that most have."""
    rows = [_floats(item.get(key) if key and isinstance(item, dict) else item) for item in items]
    if width is None:
        lengths = Counter(len(row) for row in rows if row is not None)
        if len(lengths) > 1 and lengths.most_common(2)[0][1] == lengths.most_common(2)[1][1]:
            raise UnpairedError("gave vectors of different lengths")
        width = lengths.most_common(1)[0][0] if lengths else 0
    return [
        row
        if row is not None and len(row) == width and np.isfinite(row).all() and row.any()
        else None
        for row in rows
    ]


def dig(value: JSON, path: Sequence[str]) -> JSON:
    """What ``path`` leads to, from key to key; ``None`` if it leads nowhere."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _floats(value: JSON) -> Vectors | None:
    if not isinstance(value, list) or not value:
        return None
    try:
        row = np.array(value, np.float32)
    except (ValueError, TypeError, OverflowError):
        return None
    return row if row.ndim == 1 else None


def _shown(answer: JSON) -> str:
    text = " ".join(str(answer).split())
    return text[:120] + ("…" if len(text) > 120 else "")
