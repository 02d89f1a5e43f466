"""Hashes that are the same on every machine and run."""

from __future__ import annotations

import hashlib
import json

from merestone.types import JSON


def digest(*parts: str | bytes) -> str:
    """32 hexadecimal digits of SHA-256 over ``parts``, each with its length before it.

    Text is taken as UTF-8; a lone surrogate, which UTF-8 cannot hold, passes through.
    """
    hasher = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        hasher.update(str(len(data)).encode() + b":")
        hasher.update(data)
    return hasher.hexdigest()[:32]


def canonical_json(value: JSON) -> str:
    """One text for equal values: keys sorted, no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
