"""The lexical index: BM25 over terms that the analyser in ``text`` has made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from typing import TypeAlias

import apsw

from merestone.storage.generations import lexical_table, vocabulary_table
from merestone.storage.rows import Row, number_list, value_of
from merestone.storage.term_memory import Remembered
from merestone.types import Phrase, Scored, TermCounts

Visible: TypeAlias = Callable[[Iterable[int]], set[int]]
"""Says which of some chunk numbers stand for a chunk that the reader may see."""

_ALL = -1
"""As a limit of SQLite."""
_COMMON = 5
"""A term in more than one of so many chunks is common."""
_SMALL = 50
"""Among fewer chunks a term of a few is common already: there none is left out, each may be all
that a passage has in common with the question."""
_COUNTED = 1000
"""Chunks that hold a term up to which it is counted which of them a reader may see."""
_REMAINING = 3
"""A common term is left out only while so many others stay."""

# The tokenizer parts at separators and control codes, and UTF-8 has no lone surrogates; a mark in
# their place keeps one term one token.
_UNSTORABLE = re.compile("[\\s\x00-\x1f\x7f-\x9f\u180e\ud800-\udfff]")

_TAKEN = 4
"""So many times the limit are ranked at first where some may be hidden from the reader."""


def stored_term(term: str) -> str:
    """``term`` as one token of the index."""
    return term if term.isalnum() else _UNSTORABLE.sub("\ufffd", term)


def is_token(term: str) -> bool:
    """True if a searched term is in the index under just these characters; FTS5 parts a phrase,
    and finds what it folds as something else."""
    return " " not in term and term.casefold() == term


def _searched(term: str) -> str:
    """A term or a phrase as the index holds it."""
    if isinstance(term, Phrase):
        return " ".join(stored_term(part) for part in term.split(" ") if part)
    return stored_term(term)


def _different(terms: Iterable[str]) -> list[str]:
    """Each searched term once."""
    return list(dict.fromkeys(_searched(term) for term in terms if term))


def stored_terms(terms: Iterable[str]) -> str:
    """The column ``terms`` of a chunk."""
    return " ".join(stored_term(term) for term in terms if term)


def add(connection: apsw.Connection, generation: int, rows: Mapping[int, str]) -> None:
    """Index ``rows``: chunk number → terms."""
    connection.executemany(
        f"INSERT INTO {lexical_table(generation)} (rowid, terms) VALUES (?, ?)",
        sorted(rows.items()),
    )


def remove(connection: apsw.Connection, generation: int, numbers: Iterable[int]) -> None:
    """Take chunks out of the index."""
    connection.executemany(
        f"DELETE FROM {lexical_table(generation)} WHERE rowid = ?",
        ((number,) for number in sorted(numbers)),
    )


def search(
    connection: apsw.Connection,
    generation: int,
    terms: Sequence[str],
    limit: int,
    permitted: Sequence[int] | None,
    visible: Visible | None,
    remembered: Remembered,
) -> list[Scored]:
    """Best ``limit`` chunks that hold any of ``terms``, of the documents of these
    numbers and of the chunks that are ``visible`` (``None``: all are).

    Common terms are left out. Where too few chunks of these documents hold the others, those that
    hold common ones alone follow: they may be all that a passage has in common with the question.
    """
    whole = _different(terms)
    useful = _useful(connection, generation, whole, remembered.counts)
    if not useful or limit <= 0:
        return []
    place = (connection, generation, limit, permitted, visible, remembered)
    found = _best(useful, *place)
    if permitted is None or len(found) >= limit or len(useful) == len(whole):
        return found
    held = {each.number for each in found}
    least = min((each.score for each in found), default=inf)
    rest = [each for each in _best(whole, *place) if each.number not in held]
    return [*found, *(Scored(number, min(score, least)) for number, score in rest)][:limit]


def _best(
    wanted: Sequence[str],
    connection: apsw.Connection,
    generation: int,
    limit: int,
    permitted: Sequence[int] | None,
    visible: Visible | None,
    remembered: Remembered,
) -> list[Scored]:
    """Best chunks that hold any of the searched terms ``wanted``."""
    postings = remembered.postings(connection, generation)
    if postings is None:
        return _by_fts5(connection, generation, wanted, limit, permitted, visible)
    matches = postings.matches(connection, wanted)
    if permitted is not None:
        visible = partial(_those_of_documents, connection, permitted)
    elif visible is None:
        return matches.best(limit)
    best = matches.best(_TAKEN * limit)
    seen = visible([each.number for each in best])
    found = [each for each in best if each.number in seen]
    if len(found) >= limit or len(best) < _TAKEN * limit:
        return found[:limit]
    # What is hidden took the places of what is not: all that may be seen, then.
    if permitted is not None:
        return matches.among(_of_documents(connection, permitted)).best(limit)
    return matches.among(list(visible(matches.numbers.tolist()))).best(limit)


def _of_documents(connection: apsw.Connection, documents: Sequence[int]) -> list[int]:
    """Numbers of all chunks of these documents that the reader may see."""
    query = "SELECT json_group_array(number) FROM chunk WHERE document IN "
    query += "(SELECT value FROM json_each(?))"
    found: list[int] = json.loads(value_of(connection, query, (number_list(documents),)))
    return found


def _those_of_documents(
    connection: apsw.Connection, documents: Sequence[int], numbers: Iterable[int]
) -> set[int]:
    """Those of the chunks that are of these documents and the reader may see."""
    rows = connection.execute(
        "SELECT c.number FROM json_each(?) AS wanted CROSS JOIN chunk AS c "
        "ON c.number = wanted.value WHERE c.document IN (SELECT value FROM json_each(?))",
        (number_list(numbers), number_list(documents)),
    )
    return {number for (number,) in rows}


def _by_fts5(
    connection: apsw.Connection,
    generation: int,
    wanted: Sequence[str],
    limit: int,
    permitted: Sequence[int] | None,
    visible: Visible | None,
) -> list[Scored]:
    table = lexical_table(generation)
    query = f"SELECT rowid, {bm25(table)} AS score FROM {table} WHERE {table} MATCH ?"
    values: list[object] = [match(wanted)]
    if permitted is not None:
        # The plus keeps SQLite from running the match once for each permitted chunk.
        query += (
            " AND +rowid IN (SELECT number FROM chunk "
            "WHERE document IN (SELECT value FROM json_each(?)))"
        )
        values.append(number_list(permitted))
    query += " ORDER BY score DESC, rowid LIMIT ?"
    taken = limit if visible is None or permitted is not None else _TAKEN * limit
    while True:
        rows: list[Row] = connection.execute(query, (*values, taken)).fetchall()
        seen = None if visible is None else visible([number for number, _ in rows])
        found = [Scored(*row) for row in rows if seen is None or row[0] in seen]
        if taken == _ALL or len(found) >= limit or len(rows) < taken:
            return found[:limit]
        # What is hidden took the places of what is not: all of the matches, then.
        taken = _ALL


def scores(
    connection: apsw.Connection,
    generation: int,
    terms: Sequence[str],
    numbers: Sequence[int],
    remembered: Remembered,
) -> dict[int, float]:
    """Scores of given chunks, as :func:`search` gives them where it leaves common terms out."""
    whole = _different(terms)
    wanted = _useful(connection, generation, whole, remembered.counts)
    if not wanted or not numbers:
        return {}
    postings = remembered.known_postings()
    if postings is not None:
        return postings.scores(connection, wanted, numbers)
    table = lexical_table(generation)
    rows = connection.execute(
        f"SELECT rowid, {bm25(table)} FROM {table} WHERE {table} MATCH ? "
        "AND +rowid IN (SELECT value FROM json_each(?))",
        (match(wanted), number_list(numbers)),
    )
    return dict(rows)


def term_counts(
    connection: apsw.Connection,
    generation: int,
    terms: Sequence[str],
    counts: dict[str, int],
    visible: int | None,
) -> TermCounts:
    """Chunks in the index, and how many of them hold each of ``terms``.

    ``visible`` is how many the reader may see, if not all: then only those count, or else what
    is asked about a rare word would tell whether a hidden document holds it. Of a word that more
    than a thousand chunks hold, the share in all chunks is taken: counting them takes long.
    """
    total = _size(connection, generation)
    held = {
        term: _holders(connection, generation, stored_term(term), counts) for term in terms if term
    }
    if visible is None:
        return TermCounts(total, held)
    for term, count in held.items():
        if count > _COUNTED:
            held[term] = round(count * visible / total)
        elif count:
            held[term] = _visible_holders(connection, generation, stored_term(term))
    return TermCounts(visible, held)


def _visible_holders(connection: apsw.Connection, generation: int, term: str) -> int:
    table = lexical_table(generation)
    # The name `chunk` is that of the view, which holds what the reader may see.
    query = (
        f"SELECT COUNT(*) FROM {table} WHERE {table} MATCH ? "
        "AND +rowid IN (SELECT number FROM chunk)"
    )
    return int(value_of(connection, query, (match([term]),)))


def bm25(table: str) -> str:
    """The score of a row, as SQL."""
    # FTS5 gives the better match the smaller number.
    return f"-bm25({table})"


def _useful(
    connection: apsw.Connection, generation: int, whole: Sequence[str], counts: dict[str, int]
) -> list[str]:
    """Searched terms without those that say little and cost much.

    Of the common ones the most common goes first, as long as three that do occur remain.
    """
    wanted = list(whole)
    total = _size(connection, generation)
    held = {term: _holders(connection, generation, term, counts) for term in wanted}
    if total < _SMALL:
        return wanted
    remaining = sum(1 for count in held.values() if count)
    for term in sorted(wanted, key=lambda term: (-held[term], term)):
        if held[term] * _COMMON <= total or remaining <= _REMAINING:
            break
        wanted.remove(term)
        remaining -= 1
    return wanted


def _size(connection: apsw.Connection, generation: int) -> int:
    """Chunks in the index."""
    query = f"SELECT COUNT(*) FROM {lexical_table(generation)}_docsize"
    return int(value_of(connection, query))


def _holders(
    connection: apsw.Connection, generation: int, term: str, counts: dict[str, int]
) -> int:
    """Number of chunks that hold ``term``."""
    known = counts.get(term)
    if known is None:
        query = f"SELECT doc FROM {vocabulary_table(generation)} WHERE term = ?"
        row = connection.execute(query, (term.lower(),)).fetchone()
        known = counts[term] = row[0] if row else 0
    return known


def match(terms: Iterable[str]) -> str:
    """An FTS5 expression; a quoted string has no operators but its own quotes, doubled."""
    quoted = (term.replace('"', '""') for term in terms)
    return "terms : (" + " OR ".join(f'"{term}"' for term in quoted) + ")"
