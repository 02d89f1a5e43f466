"""The lexical index: BM25 over terms that the analyser in ``text`` has made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import apsw

from merestone.storage.filters import Condition
from merestone.storage.rows import number_list, value_of
from merestone.types import Scored

_COMMON = 5
"""A term in more than one of so many chunks is common."""
_REMAINING = 3
"""A common term is left out only while so many others stay."""

# The tokenizer parts at separators and control codes, and UTF-8 has no lone surrogates; a mark in
# their place keeps one term one token.
_UNSTORABLE = re.compile("[\\s\x00-\x1f\x7f-\x9f\u180e\ud800-\udfff]")

# Weight 0 for the tags; FTS5 gives the better match the smaller number.
_BM25 = "-bm25(lexical, 1.0, 0.0)"


def stored_term(term: str) -> str:
    """``term`` as one token of the index."""
    return term if term.isalnum() else _UNSTORABLE.sub("\ufffd", term)


def stored_terms(terms: Iterable[str]) -> str:
    """The column ``terms`` of a chunk."""
    return " ".join(stored_term(term) for term in terms if term)


def stored_tags(access: int, language: str | None, media_type: str) -> str:
    """The column ``tags`` of a chunk."""
    return f"class:{access} language:{stored_term(language or '-')} type:{stored_term(media_type)}"


def add(connection: apsw.Connection, rows: Mapping[int, tuple[str, str]]) -> None:
    """Index ``rows``: chunk number → terms and tags."""
    connection.executemany(
        "INSERT INTO lexical (rowid, terms, tags) VALUES (?, ?, ?)",
        ((number, terms, tags) for number, (terms, tags) in sorted(rows.items())),
    )


def remove(connection: apsw.Connection, numbers: Iterable[int]) -> None:
    """Take chunks out of the index."""
    connection.executemany(
        "DELETE FROM lexical WHERE rowid = ?", ((number,) for number in sorted(numbers))
    )


def search(
    connection: apsw.Connection, terms: Sequence[str], limit: int, permitted: Condition | None
) -> list[Scored]:
    """Best ``limit`` chunks that hold any of ``terms``, of the documents that are permitted."""
    wanted = _useful(connection, terms)
    if not wanted or limit <= 0:
        return []
    query = f"SELECT rowid, {_BM25} AS score FROM lexical WHERE lexical MATCH ?"
    values: list[object] = [_match(wanted)]
    if permitted is not None:
        # The plus keeps SQLite from running the match once for each permitted chunk.
        query += f" AND +rowid IN (SELECT number FROM chunk WHERE document IN ({permitted[0]}))"
        values += permitted[1]
    query += " ORDER BY score DESC, rowid LIMIT ?"
    rows = connection.execute(query, (*values, limit))
    return [Scored(number, score) for number, score in rows]


def scores(
    connection: apsw.Connection, terms: Sequence[str], numbers: Sequence[int]
) -> dict[int, float]:
    """Scores of given chunks, as :func:`search` gives them."""
    wanted = _useful(connection, terms)
    if not wanted or not numbers:
        return {}
    rows = connection.execute(
        f"SELECT rowid, {_BM25} FROM lexical WHERE lexical MATCH ? "
        "AND +rowid IN (SELECT value FROM json_each(?))",
        (_match(wanted), number_list(numbers)),
    )
    return dict(rows)


def _useful(connection: apsw.Connection, terms: Sequence[str]) -> list[str]:
    """Terms without those that say little and cost much.

    Of the common ones the most common goes first, as long as three that do occur remain.
    """
    wanted = list(dict.fromkeys(stored_term(term) for term in terms if term))
    total = value_of(connection, "SELECT COUNT(*) FROM lexical_docsize")
    held = {term: _holders(connection, term) for term in wanted}
    remaining = sum(1 for count in held.values() if count)
    for term in sorted(wanted, key=lambda term: (-held[term], term)):
        if held[term] * _COMMON <= total or remaining <= _REMAINING:
            break
        wanted.remove(term)
        remaining -= 1
    return wanted


def _holders(connection: apsw.Connection, term: str) -> int:
    """Number of chunks that hold ``term``."""
    query = "SELECT doc FROM lexical_vocabulary WHERE term = ?"
    row = connection.execute(query, (term.lower(),)).fetchone()
    return row[0] if row else 0


def _match(terms: Iterable[str]) -> str:
    """An FTS5 expression; a quoted string has no operators but its own quotes, doubled."""
    quoted = (term.replace('"', '""') for term in terms)
    return "terms : (" + " OR ".join(f'"{term}"' for term in quoted) + ")"
