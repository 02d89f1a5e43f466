"""Which documents a filter lets through.

The values that a filter names are read from the rows of ``document``, and judged in Python: nothing
of a filter is ever part of an SQL text but the names of our own columns, and paths into the
metadata are only ever bound. Where the table is a view that hides what the reader may not see, the
filter sees nothing of it either.

Logic is two-valued: a field that a document does not have equals nothing, so ``field != value``
and ``not field = value`` hold for it. A list satisfies a comparison if any of its elements does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias
from unicodedata import normalize

import apsw

from merestone.storage.codec import from_json, from_sql
from merestone.storage.comparisons import Reading, Scalar, listed, verdict
from merestone.storage.times import written
from merestone.types import (
    JSON,
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    NoneOf,
    Selection,
    SettingsError,
    content_type,
)

Row: TypeAlias = tuple[Any, ...]
Test: TypeAlias = Callable[[Row], bool]
Decode: TypeAlias = Callable[[Any], JSON]

METADATA = "metadata."
"""Reaches a key of the metadata that has the name of a column."""

_DEEPEST = 100
_MOST_COMPARISONS = 5_000
_MOST_COLUMNS = 1_000
"""SQLite gives at most 2,000 columns."""
_REMEMBERED = 100_000


_PLAIN = Reading()
_PATH = Reading(is_path=True)
_FOLDED = Reading(is_folded=True)


@dataclass(frozen=True, slots=True)
class _Column:
    """A value of a row, and how it is read."""

    expression: str
    """SQL; of our own making."""
    bound: str | None
    decode: Decode


@dataclass(frozen=True, slots=True)
class _Field:
    """What a name stands for."""

    columns: tuple[_Column, ...]
    reading: Reading = _PLAIN
    is_first: bool = True
    """The first column that holds a value counts; else all of them do."""
    is_unique: bool = False
    """Most documents have another value, so that it is of no use to remember verdicts."""


def _plain(name: str, decode: Decode = from_sql) -> _Column:
    return _Column(f"document.{name}", None, decode)


def _key(*keys: str) -> _Column:
    path = "$" + "".join(f".{json.dumps(key)}" for key in keys)
    return _Column("document.metadata -> ?", path, from_json)


def _source(identifier: Any) -> JSON:
    name, colon, rest = from_sql(identifier).partition(":")
    return name if colon and "/" not in name and not rest.startswith("//") else None


def _paths(identifier: Any) -> JSON:
    """The path inside the source, and the whole id: a colon may be part of a name."""
    whole = from_sql(identifier)
    return [whole] if _source(identifier) is None else [whole.partition(":")[2], whole]


BUILT_IN: Mapping[str, _Field] = MappingProxyType(
    {
        "document": _Field((_plain("id"),), _PATH, is_unique=True),
        "path": _Field((_plain("id", _paths),), _PATH, is_unique=True),
        "source": _Field((_plain("id", _source),), is_unique=True),
        "uri": _Field((_plain("uri"),), is_unique=True),
        "title": _Field((_plain("title"),)),
        "language": _Field(
            (_plain("language"), _key("language"), _key("lang")),
            Reading(is_folded=True, is_language=True),
        ),
        "media_type": _Field((_plain("media_type"),), _FOLDED),
        "content_type": _Field((_plain("media_type", content_type),), _FOLDED),
        "status": _Field((_plain("status"),), _FOLDED),
        "indexed": _Field((_plain("indexed_at"),)),
        "created": _Field((_key("created"),)),
        "modified": _Field(
            (_key("modified"), _plain("mtime_ns", lambda at: written(at) if at else None)),
            is_unique=True,
        ),
    }
)
"""Fields that every document has by itself; see ``docs/filters.md``."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What a filter came to."""

    numbers: list[int]
    """Of the documents that it lets through."""
    selection: Selection


def select(connection: apsw.Connection, where: Filter) -> Selected:
    """Documents of the reader that ``where`` lets through."""
    plan = _Plan()
    test = plan.test(where, 0)
    absent = dict(plan.asked)
    numbers: list[int] = []
    total = 0
    rows = connection.execute(plan.query(), plan.bound())
    for row in rows:
        total += 1
        if test(row):
            numbers.append(row[0])
        if absent:
            for name, columns in list(absent.items()):
                if any(_holds_value(row[place], column) for place, column in columns):
                    del absent[name]
    return Selected(numbers, Selection(len(numbers), total, tuple(absent)))


def _holds_value(item: Any, column: _Column) -> bool:
    """False for one that is missing, and for null, which says so."""
    return item is not None and column.decode(item) is not None


def fields(connection: apsw.Connection) -> list[str]:
    """Names that documents of the reader have values under, in order."""
    query = (
        "SELECT DISTINCT fullkey FROM document, json_tree(document.metadata) "
        "WHERE typeof(key) = 'text' AND type <> 'null' LIMIT ?"
    )
    found = {_dotted(path) for (path,) in connection.execute(query, (_REMEMBERED,))}
    own = {METADATA + name if name in BUILT_IN else name for name in found if name}
    return sorted({*own, *BUILT_IN})


def _dotted(path: str) -> str:
    """``$.owner.team`` as a filter names it; empty for what it cannot name."""
    keys = []
    rest = path[1:]
    while rest.startswith("."):
        if rest.startswith('."'):
            try:
                key, end = json.JSONDecoder().raw_decode(rest[1:])
            except ValueError:
                return ""
            rest = rest[1 + end :]
        else:
            key, dot, more = rest[1:].partition(".")
            rest = dot + more
        keys.append(str(key))
    return "" if rest else ".".join(keys)


class _Plan:
    """The columns that a filter needs, and its tests of a row of them."""

    def __init__(self) -> None:
        self._columns: dict[tuple[str, str | None], int] = {}
        self._comparisons = 0
        self.asked: dict[str, tuple[tuple[int, _Column], ...]] = {}
        """Names of fields, with their columns and the places of these in a row."""

    def query(self) -> str:
        names = "".join(f", {expression}" for expression, _ in self._columns)
        return f"SELECT document.number{names} FROM document ORDER BY document.number"

    def bound(self) -> list[str]:
        return [bound for _, bound in self._columns if bound is not None]

    def test(self, where: Filter, depth: int) -> Test:
        if depth > _DEEPEST:
            raise SettingsError(
                "filter-too-deep",
                f"The filter nests more than {_DEEPEST} levels of `and`, `or` and `not`.",
                "Write it with fewer parentheses, or use `in` with a list.",
            )
        match where:
            case AllOf(parts):
                every = [self.test(part, depth + 1) for part in parts]
                return lambda row: all(test(row) for test in every)
            case AnyOf(parts):
                some = [self.test(part, depth + 1) for part in parts]
                return lambda row: any(test(row) for test in some)
            case NoneOf(part):
                return _negated(self.test(part, depth + 1))
            case Comparison(name, "!=", value):
                return _negated(self._compared(Comparison(name, "=", value)))
            case Comparison():
                return self._compared(where)
        raise SettingsError(
            "filter-value",
            f"A part of the filter is {where!r}, which is none.",
            "Join comparisons by AllOf, AnyOf and NoneOf, or by &, | and ~.",
        )

    def _compared(self, comparison: Comparison) -> Test:
        self._comparisons += 1
        name = comparison.field
        if not isinstance(name, str):
            raise SettingsError(
                "filter-value", f"The filter names the field {name!r}.", "Name it by a text."
            )
        own = BUILT_IN.get(name) or _of_metadata(name)
        places = tuple(self._place(column) for column in own.columns)
        if self._comparisons > _MOST_COMPARISONS or len(self._columns) > _MOST_COLUMNS:
            raise SettingsError(
                "filter-too-large",
                f"The filter makes more than {_MOST_COMPARISONS:,} comparisons, or names more "
                f"than {_MOST_COLUMNS:,} fields.",
                "Use `in` with one list in place of many comparisons with `or`.",
            )
        self.asked.setdefault(name, tuple(zip(places, own.columns, strict=True)))
        return _test(own, places, comparison)

    def _place(self, column: _Column) -> int:
        key = (column.expression, column.bound)
        # The number of the document comes first.
        return self._columns.setdefault(key, len(self._columns) + 1)


def _negated(test: Test) -> Test:
    return lambda row: not test(row)


def _of_metadata(name: str) -> _Field:
    """The keys that ``name`` may mean: ``dc.creator`` may be one, or ``creator`` of ``dc``.

    A key that holds U+0000 is taken for what stands before it: SQLite compares no more.
    """
    name = name.removeprefix(METADATA)
    forms = dict.fromkeys([name, normalize("NFC", name), normalize("NFD", name)])
    paths = dict.fromkeys(path for form in forms for path in ((form,), tuple(form.split("."))))
    return _Field(tuple(_key(*path) for path in paths), is_first=False)


def _test(own: _Field, places: Sequence[int], comparison: Comparison) -> Test:
    wants_nothing = comparison.operator in ("=", "in") and None in listed(comparison)
    is_only_nothing = comparison.operator != "in" and comparison.value is None
    holds = (lambda _: False) if is_only_nothing else verdict(comparison, own.reading)
    columns = tuple(zip(places, own.columns, strict=True))
    known: dict[tuple[Any, ...], bool] = {}

    def judged(raw: tuple[Any, ...]) -> bool:
        values = [
            value
            for (_, column), item in zip(columns, raw, strict=True)
            if item is not None and (value := column.decode(item)) is not None
        ]
        if not values:
            return wants_nothing
        return any(map(holds, _scalars(values[:1] if own.is_first else values)))

    if own.is_unique:
        return lambda row: judged(tuple(row[place] for place in places))

    def remembered(row: Row) -> bool:
        raw = tuple(row[place] for place in places)
        found = known.get(raw)
        if found is None:
            found = judged(raw)
            if len(known) < _REMEMBERED:
                known[raw] = found
        return found

    return remembered


def _scalars(values: Iterable[JSON]) -> Iterable[Scalar]:
    """The values themselves, and the elements of those that are lists."""
    for value in values:
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, str | int | float))
        elif isinstance(value, str | int | float):
            yield value
