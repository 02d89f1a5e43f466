"""A filter as one SQL condition over the table ``document``.

Logic is two-valued: a field that a document does not have equals nothing, so ``field != value``
and ``not field = value`` hold for it. A list in the metadata satisfies a comparison if any of its
elements does. Values are only ever bound; field names of the metadata too, as JSON paths.
"""

from __future__ import annotations

import json
import re

from merestone.storage.codec import to_sql
from merestone.types import JSON, AllOf, AnyOf, Comparison, Filter, NoneOf, SettingsError

Condition = tuple[str, list[object]]
"""SQL that is 0 or 1 for each document, and the values to bind."""

_COLUMNS = {
    "document": "document.id",
    "title": "document.title",
    "language": "document.language",
    "media_type": "document.media_type",
    "status": "document.status",
}
_METADATA_PREFIX = "metadata."
"""Reaches a key of the metadata that has the name of a column."""

_LONGEST_PATTERN = 10_000
_DEEPEST = 100
_MOST_VALUES = 30_000
"""SQLite binds 32,766; a comparison binds from one to a dozen."""

# json_each gives 'true' and 'false' the values 1 and 0, and SQLite orders numbers before texts:
# only values of one class are ever compared.
_CLASS = "CASE WHEN {0}.type IN ('integer', 'real') THEN 'number' ELSE {0}.type END"
_ITEMS = (
    "json_each(document.metadata, ?) AS item, json_each(?) AS wanted "
    f"WHERE {_CLASS.format('item')} = {_CLASS.format('wanted')} AND item.atom {{0}} wanted.atom"
)


def permitted(where: Filter) -> Condition:
    """A query for the numbers of the documents that ``where`` lets through."""
    condition, values = _compile(where, 0)
    if len(values) > _MOST_VALUES:
        raise SettingsError(
            "filter-too-large",
            f"The filter makes too many comparisons ({len(values):,} values; at most "
            f"{_MOST_VALUES:,}).",
            "Use `in` with one list in place of many comparisons with `or`.",
        )
    return f"SELECT number FROM document WHERE {condition}", values


def _compile(where: Filter, depth: int) -> Condition:
    if depth > _DEEPEST:
        raise SettingsError(
            "filter-too-deep",
            f"The filter nests more than {_DEEPEST} levels of `and`, `or` and `not`.",
            "Write it with fewer parentheses, or use `in` with a list.",
        )
    match where:
        case AllOf(parts):
            return _joined([_compile(part, depth + 1) for part in parts], "AND", "1")
        case AnyOf(parts):
            return _joined([_compile(part, depth + 1) for part in parts], "OR", "0")
        case NoneOf(part):
            return _negated(_compile(part, depth + 1))
        case Comparison(operator="!="):
            return _negated(_compare(Comparison(where.field, "=", where.value)))
        case Comparison():
            return _compare(where)


def _joined(conditions: list[Condition], word: str, neutral: str) -> Condition:
    """All conditions as a balanced tree: SQLite limits the depth of an expression, not its size."""
    if not conditions:
        return neutral, []
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    left, left_values = _joined(conditions[:middle], word, neutral)
    right, right_values = _joined(conditions[middle:], word, neutral)
    return f"({left} {word} {right})", left_values + right_values


def _negated(condition: Condition) -> Condition:
    return f"(NOT {condition[0]})", condition[1]


def _compare(comparison: Comparison) -> Condition:
    if comparison.operator == "like":
        pattern = _glob(comparison)
        comparison = Comparison(comparison.field, "like", pattern)
    column = _COLUMNS.get(comparison.field)
    if column is not None:
        return _compare_column(column, comparison)
    name = comparison.field.removeprefix(_METADATA_PREFIX)
    # "dc.creator" may be one key or the key "creator" of "dc".
    paths = list(dict.fromkeys([_path([name]), _path(name.split("."))]))
    conditions = [_compare_metadata(path, comparison) for path in paths]
    if _asks_for_nothing(comparison):
        conditions.append(_joined([_is_missing(path) for path in paths], "AND", "1"))
    return _joined(conditions, "OR", "0")


def _compare_column(column: str, comparison: Comparison) -> Condition:
    """Columns hold texts, so a number is compared as it is written."""
    wanted = _wanted(comparison)
    conditions: list[Condition] = []
    if _asks_for_nothing(comparison):
        conditions.append((f"({column} IS NULL)", []))
    operator = "GLOB" if comparison.operator == "like" else comparison.operator
    texts = [
        value if isinstance(value, str) else json.dumps(value)
        for value in wanted
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    ]
    if comparison.operator in ("=", "in"):
        conditions += _is_one_of(column, texts)
    else:
        # Texts with lone surrogates are BLOBs, which match no pattern and come after all others.
        conditions += [
            (f"IFNULL(CAST({column} AS TEXT) {operator} CAST(? AS TEXT), 0)", [to_sql(text)])
            for text in texts
        ]
    return _joined(conditions, "OR", "0")


def _is_one_of(column: str, texts: list[str]) -> list[Condition]:
    """One condition for all that can be text of SQL, and one for each of the others."""
    plain = [text for text in texts if isinstance(to_sql(text), str)]
    others = [text for text in texts if not isinstance(to_sql(text), str)]
    conditions: list[Condition] = []
    if len(plain) > 1:
        values = json.dumps(plain)
        conditions.append((f"IFNULL({column} IN (SELECT value FROM json_each(?)), 0)", [values]))
    else:
        others += plain
    conditions += [(f"IFNULL({column} = ?, 0)", [to_sql(text)]) for text in others]
    return conditions


def _compare_metadata(path: str, comparison: Comparison) -> Condition:
    operator = {"=": "=", "in": "=", "like": "GLOB"}.get(comparison.operator, comparison.operator)
    # json_each goes into an object's values too, which are fields of their own.
    is_value = "IFNULL(json_type(document.metadata, ?), 'object') <> 'object'"
    matches = f"EXISTS (SELECT 1 FROM {_ITEMS.format(operator)})"
    wanted = _wanted(comparison)
    if comparison.operator not in ("=", "in") and isinstance(wanted[0], bool):
        wanted = []  # true and false have no order
    values = json.dumps([value for value in wanted if value is not None])
    return f"({is_value} AND {matches})", [path, path, values]


def _is_missing(path: str) -> Condition:
    return "(IFNULL(json_type(document.metadata, ?), 'null') = 'null')", [path]


def _asks_for_nothing(comparison: Comparison) -> bool:
    """True if a document without the field is meant too."""
    return comparison.operator in ("=", "in") and None in _wanted(comparison)


def _wanted(comparison: Comparison) -> list[JSON]:
    if comparison.operator != "in":
        return [comparison.value]
    if not isinstance(comparison.value, list | tuple):
        raise SettingsError(
            "filter-value",
            f"The filter asks whether {comparison.field!r} is in {comparison.value!r}, "
            "which is not a list.",
            "Give a list of values, or use `=`.",
        )
    return list(comparison.value)


def _path(keys: list[str]) -> str:
    return "$" + "".join(f".{json.dumps(key)}" for key in keys)


def _glob(comparison: Comparison) -> str:
    """``*`` and ``**`` stand for any run, ``?`` for one character, all else for itself."""
    pattern = comparison.value
    if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
        raise SettingsError(
            "filter-value",
            f"The filter asks whether {comparison.field!r} is like {str(pattern)[:80]!r}, which "
            f"is not a text of at most {_LONGEST_PATTERN} characters.",
            "Give a pattern in quotes, with * for any run of characters and ? for one.",
        )
    return re.sub(r"\*+", "*", pattern).replace("[", "[[]")
