"""Filters: which documents a question is asked of, and how they are written in Python.

``field("year") >= 2024`` is a filter; ``&``, ``|`` and ``~`` join filters. What a comparison means
is said in ``docs/filters.md`` and done by :mod:`merestone.storage.comparisons`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, get_args

from merestone.types.document import JSON
from merestone.types.errors import SettingsError

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "in", "like", "between"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


class _Combined:
    """What every filter can do."""

    __slots__ = ()

    def __and__(self: Filter, other: Filter) -> Filter:  # type: ignore[misc]
        return all_of(self, _checked(other))

    def __or__(self: Filter, other: Filter) -> Filter:  # type: ignore[misc]
        return any_of(self, _checked(other))

    def __invert__(self: Filter) -> Filter:  # type: ignore[misc]
        return NoneOf(self)

    def __bool__(self) -> NoReturn:
        # `a and b` would silently be b, and `1 < field("x") < 5` only its second half.
        raise _not_joined()


@dataclass(frozen=True, slots=True)
class Comparison(_Combined):
    """``field operator value`` of a filter. ``value`` is a list for ``in``, and a pair of the
    lowest and the highest for ``between``. ``None``, in a text ``null``, is the value of a field
    that is not there, and of one that a document says is null."""

    field: str
    operator: Operator
    value: JSON


@dataclass(frozen=True, slots=True)
class AllOf(_Combined):
    """Every part holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(_Combined):
    """At least one part holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class NoneOf(_Combined):
    """The part does not hold."""

    part: Filter


Filter: TypeAlias = Comparison | AllOf | AnyOf | NoneOf


class Selection(NamedTuple):
    """What a filter came to, of the documents that the reader may see."""

    documents: int
    """Those that it lets through."""
    total: int
    absent: tuple[str, ...]
    """Fields of the filter that none of them has a value under."""


def all_of(*parts: Filter) -> Filter:
    """Every part holds; those that are ``AllOf`` themselves become parts of one."""
    flat = [each for part in parts for each in (part.parts if isinstance(part, AllOf) else (part,))]
    return flat[0] if len(flat) == 1 else AllOf(tuple(flat))


def any_of(*parts: Filter) -> Filter:
    """At least one holds; those that are ``AnyOf`` themselves become parts of one."""
    flat = [each for part in parts for each in (part.parts if isinstance(part, AnyOf) else (part,))]
    return flat[0] if len(flat) == 1 else AnyOf(tuple(flat))


class Field:
    """A field of documents; compared with a value it gives a filter.

    Names are those of ``--where``: ``year``, ``owner.team``, ``document``, ``metadata.status``.
    Values are texts, numbers, true and false, dates and moments.
    """

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise _bad_value(f"The name of a field is {name!r}, which is no text.", "Name one.")
        self.name = name

    def __repr__(self) -> str:
        return f"field({self.name!r})"

    def __bool__(self) -> NoReturn:
        raise _not_joined()

    def __eq__(self, value: object) -> Comparison:  # type: ignore[override]
        return self._compared("=", value)

    def __ne__(self, value: object) -> Comparison:  # type: ignore[override]
        return self._compared("!=", value)

    def __lt__(self, value: object) -> Comparison:
        return self._compared("<", value)

    def __le__(self, value: object) -> Comparison:
        return self._compared("<=", value)

    def __gt__(self, value: object) -> Comparison:
        return self._compared(">", value)

    def __ge__(self, value: object) -> Comparison:
        return self._compared(">=", value)

    def contains(self, value: object) -> Comparison:
        """A list that has ``value`` among its elements, or the value itself; as ``=``."""
        return self._compared("=", value)

    def in_(self, values: Iterable[object]) -> Comparison:
        """Equal to one of ``values``."""
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise _bad_value(
                f"The filter asks whether {self.name!r} is in {values!r}, which is no list.",
                "Give a list of values, or use ==.",
            )
        return Comparison(self.name, "in", [self._plain(value) for value in values])

    def like(self, pattern: str) -> Comparison:
        """Of the form of ``pattern``, such as ``guide/*``."""
        return self._compared("like", pattern)

    def between(self, low: object, high: object) -> Comparison:
        """From ``low`` to ``high``, both included."""
        return Comparison(self.name, "between", [self._plain(low), self._plain(high)])

    def exists(self) -> Comparison:
        """The document has the field, with a value other than null."""
        return Comparison(self.name, "!=", None)

    def _compared(self, operator: Operator, value: object) -> Comparison:
        return Comparison(self.name, operator, self._plain(value))

    def _plain(self, value: object) -> JSON:
        if isinstance(value, datetime | date):
            return value.isoformat()
        if value is None or isinstance(value, str | int | float):
            return value
        raise _bad_value(
            f"The filter compares {self.name!r} with {value!r}.",
            "Compare with a text, a number, true or false, or a date; a list goes to in_.",
        )


def field(name: str) -> Field:
    """The field ``name`` of documents, to be compared."""
    return Field(name)


def _checked(other: Any) -> Filter:
    if not isinstance(other, _Combined):
        raise _bad_value(
            f"A filter was joined with {other!r}, which is none.",
            'Put each comparison in parentheses: (field("a") == 1) & (field("b") == 2).',
        )
    return other  # type: ignore[return-value]


def _not_joined() -> SettingsError:
    return SettingsError(
        "filter-not-joined",
        "A filter or a field was used as true or false, as `and`, `or`, `not` and `a < b < c` do.",
        "Join filters by &, | and ~, each in parentheses; for a range use between.",
    )


def _bad_value(message: str, remedy: str) -> SettingsError:
    return SettingsError("filter-value", message, remedy)
