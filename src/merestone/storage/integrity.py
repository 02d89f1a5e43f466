"""Looking for what should never be: damage, and tables that disagree."""

from __future__ import annotations

import apsw

from merestone.storage import generations
from merestone.storage.codec import from_sql
from merestone.types import Generation, StoreError

# What is being deleted is not whole; it is seen by nobody.
_IN_USE = (
    "generation IN (SELECT number FROM generation "
    "WHERE building = 1 OR number = (SELECT generation FROM meta))"
)
# Each finds nothing in a sound library; the first column says where the fault is.
_RULES = (
    (
        "a chunk belongs to no document: {}",
        f"SELECT id FROM main.chunk WHERE {_IN_USE} "
        "AND document NOT IN (SELECT number FROM main.document)",
    ),
    (
        "a text belongs to no document: number {}",
        "SELECT document FROM main.document_body "
        "WHERE document NOT IN (SELECT number FROM main.document)",
    ),
    (
        "a document has chunks but no text: {}",
        f"SELECT id FROM main.document WHERE total > 0 AND {_IN_USE} "
        "AND number NOT IN (SELECT document FROM main.document_body)",
    ),
    (
        "the chunks of a document are not numbered from 0 to its total: {}",
        "SELECT d.id FROM main.document AS d LEFT JOIN main.chunk AS c "
        f"ON c.generation = d.generation AND c.document = d.number WHERE d.{_IN_USE} "
        "GROUP BY d.number HAVING COUNT(c.number) <> d.total OR (d.total > 0 AND "
        "(MIN(c.ordinal) <> 0 OR MAX(c.ordinal) <> d.total - 1 "
        "OR COUNT(DISTINCT c.ordinal) <> d.total))",
    ),
    (
        "a chunk is of another generation than its document: {}",
        "SELECT c.id FROM main.chunk AS c JOIN main.document AS d ON d.number = c.document "
        "WHERE c.generation <> d.generation",
    ),
    (
        "a document is of an unknown generation: {}",
        "SELECT id FROM main.document WHERE generation NOT IN (SELECT number FROM generation)",
    ),
    (
        "a chunk has an unknown access class: {}",
        "SELECT id FROM main.chunk WHERE access NOT IN (SELECT number FROM access_class)",
    ),
    (
        "a document has an unknown access class: {}",
        "SELECT id FROM main.document WHERE access NOT IN (SELECT number FROM access_class)",
    ),
    (
        "a chunk and its document have different access classes: {}",
        "SELECT c.id FROM main.chunk AS c JOIN main.document AS d ON d.number = c.document "
        "WHERE c.access <> d.access",
    ),
    (
        "a document is both stored and left out: {}",
        "SELECT id FROM main.left_out WHERE id IN (SELECT id FROM main.document "
        "WHERE generation = (SELECT generation FROM meta))",
    ),
    (
        "a history entry is from the future: {}",
        "SELECT document FROM main.history "
        "WHERE library_version > (SELECT library_version FROM meta)",
    ),
)
_LEXICAL_RULES = (
    (
        "a chunk is not in the lexical index: {}",
        "SELECT id FROM main.chunk WHERE generation = ? AND number NOT IN (SELECT id FROM {0})",
    ),
    (
        "the lexical index holds a chunk that is gone: number {}",
        "SELECT id FROM {0} WHERE id NOT IN (SELECT number FROM main.chunk WHERE generation = ?)",
    ),
)
_MOST_NAMED = 5


def faults_of(connection: apsw.Connection) -> list[str]:
    """Every fault in words, of all generations but those that are being dropped."""
    found: list[str] = []
    for find in (_file_faults, _rule_faults, _lexical_faults, _wrong_texts, _wrong_vectors):
        try:
            found += find(connection)
        except (apsw.Error, UnicodeDecodeError) as error:
            found.append(f"SQLite: {error}")  # what can be read is still looked through
        except StoreError as error:
            found.append(error.message)
    return found


def _file_faults(connection: apsw.Connection) -> list[str]:
    # FTS5 checks itself against the structure that this connection last saw, and calls what
    # another one merged since corrupt. A query makes it look afresh.
    for number in generations.numbers(connection):
        table = generations.lexical_table(number)
        query = f"SELECT rowid FROM {table} WHERE {table} MATCH 'x' LIMIT 1"
        connection.execute(query).fetchall()
    return [
        f"SQLite: {message}"
        for (message,) in connection.execute("PRAGMA integrity_check")
        if message != "ok"
    ]


def _rule_faults(connection: apsw.Connection) -> list[str]:
    found: list[str] = []
    for words, query in _RULES:
        found += _described(words, [row[0] for row in connection.execute(query)])
    return found


def _lexical_faults(connection: apsw.Connection) -> list[str]:
    found: list[str] = []
    for number in _whole(connection):
        held = f"{generations.lexical_table(number)}_docsize"
        for words, query in _LEXICAL_RULES:
            wrong = connection.execute(query.format(held), (number,))
            found += _described(words, [row[0] for row in wrong])
    return found


def _whole(connection: apsw.Connection) -> list[int]:
    """Generations of which nothing is deleted yet."""
    dropped = set(generations.abandoned(connection))
    return [number for number in generations.numbers(connection) if number not in dropped]


def quick_faults(connection: apsw.Connection) -> list[str]:
    """What SQLite finds without comparing indexes with their tables."""
    return [message for (message,) in connection.execute("PRAGMA quick_check") if message != "ok"]


def _described(words: str, wrong: list[object]) -> list[str]:
    """One line each for the first few, and one for how many more there are."""
    lines = [
        words.format(from_sql(value) if isinstance(value, str | bytes) else value)
        for value in wrong[:_MOST_NAMED]
    ]
    if len(wrong) > _MOST_NAMED:
        lines.append(f"{words.format('…')} ({len(wrong) - _MOST_NAMED} more)")
    return lines


def _wrong_texts(connection: apsw.Connection) -> list[str]:
    """A chunk is a slice of its document's text, always."""
    wrong: list[object] = []
    rows = connection.execute(
        "SELECT c.id, c.document, c.span_start, c.span_end, c.text, "
        "CASE WHEN c.ordinal = 0 THEN b.text END FROM main.chunk AS c "
        "JOIN main.document_body AS b ON b.document = c.document ORDER BY c.document, c.ordinal"
    )
    current, text = -1, ""
    for identifier, document, start, end, own, whole in rows:
        if document != current:
            current, text = document, from_sql(whole) or ""
        if text[start:end] != from_sql(own):
            wrong.append(identifier)
    return _described("the text of a chunk is not that of its document: {}", wrong)


def _wrong_vectors(connection: apsw.Connection) -> list[str]:
    """Every chunk has exactly one vector, with its document."""
    found: list[str] = []
    for number in _whole(connection):
        found += _wrong_vectors_of(connection, generations.numbered(connection, number))
    return found


def _wrong_vectors_of(connection: apsw.Connection, generation: Generation) -> list[str]:
    import numpy as np

    from merestone.storage import dense

    expected = dict(
        connection.execute(
            "SELECT number, document FROM main.chunk WHERE generation = ?", (generation.number,)
        )
    )
    found: list[str] = []
    seen: set[int] = set()
    twice: list[object] = []
    misplaced: list[object] = []
    for number in dense.segment_numbers(connection, generation.number):
        try:
            segment = dense.read_segment(connection, number)
        except StoreError as error:
            found.append(error.message)
            continue
        if segment.vectors.shape[1] != generation.embedder.dimension:
            found.append(f"vector segment {number} is of another dimension")
        if not bool(np.isfinite(segment.vectors).all()):
            found.append(f"vector segment {number} holds numbers that are not finite")
        if bool((np.diff(segment.chunks) <= 0).any()):
            found.append(f"vector segment {number} is not in order")
        pairs = zip(segment.chunks.tolist(), segment.documents.tolist(), strict=True)
        for chunk, owner in pairs:
            if chunk not in expected:
                continue  # dead: a merge will drop it
            if chunk in seen:
                twice.append(chunk)
            seen.add(chunk)
            if expected[chunk] != owner:
                misplaced.append(chunk)
    missing: list[object] = sorted(expected.keys() - seen)
    found += _described("a chunk has two vectors: number {}", twice)
    found += _described("a vector names another document: number {}", misplaced)
    found += _described("a chunk has no vector: number {}", missing)
    return found
