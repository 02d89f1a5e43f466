"""The stage of a question that says of which documents it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from difflib import get_close_matches

from merestone.retrieval.candidates import find_candidates
from merestone.retrieval.filter_text import filter_text
from merestone.retrieval.sides import Mode
from merestone.retrieval.trace import Trace
from merestone.types import (
    JSON,
    AllOf,
    AnyOf,
    Comparison,
    Embedder,
    Filter,
    NoneOf,
    RetrievalSettings,
    Snapshot,
)

_NEAR = 5
_METADATA = "metadata."
_OF_OUR_OWN = (
    "content_type",
    "document",
    "indexed",
    "media_type",
    "path",
    "source",
    "status",
    "uri",
)
"""Fields that no metadata have a part in."""


def apply_filter(snapshot: Snapshot, where: Filter | None, trace: Trace) -> tuple[str, ...]:
    """What the asker should know of the filter: names that nothing has, and that it leaves
    nothing. Counts and names are of documents that the asker may see."""
    with trace.stage("filter") as entry:
        entry["where"] = None if where is None else asdict(where)
        if where is None:
            return ()
        selection = snapshot.selection(where)
        entry.update(text=filter_text(where), documents=selection.documents, total=selection.total)
    if selection.documents and not selection.absent:
        return ()
    known = snapshot.fields()
    notes = [_absent(name, known) for name in selection.absent]
    if not selection.documents and selection.total:
        notes.append(f"The filter lets none of {selection.total:,} documents through.")
        notes += _shadowed(where, known)
    return tuple(notes)


def _absent(name: str, known: Sequence[str]) -> str:
    bare = name.removeprefix(_METADATA)
    # What is there by itself, and has no value anywhere, is no better than itself.
    folded = {each.casefold(): each for each in known if each not in (bare, name)}
    near = get_close_matches(bare.casefold(), folded, n=1, cutoff=0.6)
    hint = f" Did you mean {folded[near[0]]!r}?" if near else ""
    return f"The filter names the field {bare!r}, which no document has.{hint}"


def _shadowed(where: Filter, known: Sequence[str]) -> list[str]:
    """Fields of our own that the metadata of documents has too: another may have been meant."""
    return [
        f"{name!r} is what Merestone says of a document; what the document itself says is "
        f"{_METADATA}{name}."
        for name in dict.fromkeys(_names(where))
        if name in _OF_OUR_OWN and f"{_METADATA}{name}" in known
    ]


def _names(where: Filter) -> list[str]:
    match where:
        case Comparison(name):
            return [name]
        case NoneOf(part):
            return _names(part)
        case AllOf(parts) | AnyOf(parts):
            return [name for part in parts for name in _names(part)]


def near_misses(
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RetrievalSettings,
    query: str,
    mode: Mode,
    where: Filter,
) -> list[JSON]:
    """The best chunks that the filter took out, for the trace."""
    found = find_candidates(snapshot, embedder, query, _NEAR, mode, NoneOf(where), settings)
    chunks = snapshot.by_number([item.number for item in found.ranked[:_NEAR]])
    return [
        {
            "chunk": chunks[item.number].id,
            "document": chunks[item.number].document,
            "dense": item.dense_score,
            "lexical": item.lexical_score,
        }
        for item in found.ranked[:_NEAR]
        if item.number in chunks
    ]
