"""JSON whose objects have each key once."""

from __future__ import annotations

import json

from merestone.types import JSON


def strict_json(text: str) -> JSON:
    """As ``json.loads``, with ``ValueError`` also for an object that has a key twice, of which
    Python would keep the last."""
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value: dict[str, JSON] = {}
    for key, each in pairs:
        if key in value:
            raise ValueError(f"the key {key!r} stands twice in one object")
        value[key] = each
    return value
