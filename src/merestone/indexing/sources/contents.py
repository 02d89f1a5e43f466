"""What a document holds, as a hash."""

from __future__ import annotations

from merestone.text.hashing import canonical_json, digest
from merestone.types import RawDocument


def content_hash(raw: RawDocument) -> str:
    """Hash of a document's bytes, and of what its source says of them besides, if anything."""
    if raw.media_type is None and not raw.metadata:
        return digest(raw.data)
    metadata = canonical_json(raw.metadata)
    return digest("document", raw.data, raw.media_type or "", metadata)
