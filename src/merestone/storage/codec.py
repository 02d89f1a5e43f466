"""Values as SQLite keeps them, and back.

Texts are stored as TEXT, so that any tool can read them. A text with a lone surrogate, which
UTF-8 cannot hold (a file name that is not UTF-8, a broken JSON escape), is stored as a BLOB in
the same column: nothing that Python holds as ``str`` is ever refused or changed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import overload

from merestone.text.wire import structure_to_json, with_structure, without_blocks
from merestone.types import JSON, Document, DocumentRecord, SharedRun, StoreError

_COMPRESSION_LEVEL = 6
_DECODER = json.JSONDecoder()


@overload
def to_sql(text: str) -> str | bytes: ...
@overload
def to_sql(text: None) -> None: ...
def to_sql(text: str | None) -> str | bytes | None:
    """``text`` as a value to bind."""
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


@overload
def from_sql(value: str | bytes) -> str: ...
@overload
def from_sql(value: None) -> None: ...
def from_sql(value: str | bytes | None) -> str | None:
    """The text that :func:`to_sql` was given."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def to_json(value: JSON) -> str:
    """JSON in ASCII, which holds lone surrogates and NUL as escapes."""
    return json.dumps(value, separators=(",", ":"))


def from_json(text: str | bytes) -> JSON:
    """The value of a JSON column."""
    try:
        if not isinstance(text, str):
            return json.loads(text)
        # As `loads` without the white space that `to_json` writes none of; there are hundreds of
        # columns to a question.
        value, end = _DECODER.raw_decode(text)
        if end != len(text):
            raise ValueError(f"something stands behind the value, at {end}")
        return value
    except (ValueError, TypeError) as error:  # of damaged pages SQLite may read NULL
        raise damaged("a JSON column of the library") from error


def optional_json(value: JSON) -> str | None:
    """As :func:`to_json`; NULL for what is empty, which is quicker to read back."""
    return to_json(value) if value else None


def damaged(what: str) -> StoreError:
    """The error for bytes that are not what this package wrote."""
    return StoreError(
        "store-damaged",
        f"Cannot read {what}: its bytes are not what was written.",
        "Move the state folder away and run `merestone sync`: everything in it is made again "
        "from the sources.",
    )


def encode_body(document: Document) -> bytes:
    """All of ``document`` but its text and what its record holds, as compressed JSON."""
    return zlib.compress(to_json(structure_to_json(document)).encode(), _COMPRESSION_LEVEL)


def decode_document(
    record: DocumentRecord, text: str, body: bytes, *, blocks: bool = True
) -> Document:
    """The document that was stored, with or without its blocks; what the record holds too is taken
    from there."""
    document = Document(
        id=record.id,
        text=text,
        version=record.version,
        source_hash=record.source_hash,
        uri=record.uri,
        title=record.title,
        media_type=record.media_type,
        language=record.language,
        metadata=record.metadata,
    )
    try:
        written = zlib.decompress(body)
        parts = json.loads(written if blocks else without_blocks(written))
        return with_structure(document, parts, blocks=blocks)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise damaged(f"the blocks of {record.id!r}") from error


def encode_edits(edits: Sequence[SharedRun]) -> bytes | None:
    """Runs of shared text as compressed JSON; NULL for none."""
    return zlib.compress(to_json(list(edits)).encode(), _COMPRESSION_LEVEL) if edits else None


def decode_edits(edits: bytes | None) -> tuple[SharedRun, ...]:
    """The runs that :func:`encode_edits` was given."""
    if edits is None:
        return ()
    try:
        return tuple(SharedRun(*run) for run in json.loads(zlib.decompress(edits)))
    except (zlib.error, ValueError, TypeError) as error:
        raise damaged("an entry of the history") from error


def id_list(ids: Iterable[str]) -> str:
    """Chunk ids as a JSON array."""
    return to_json(list(ids))
