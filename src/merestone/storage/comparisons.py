"""What one comparison of a filter means.

Two values are compared as what they hold, not as how they were written down: as numbers if one is
a number and the other reads as one, as times if both read as ISO 8601, else as texts by their code
points in Unicode's form C. True and false are only ever equal. Values that can't be compared are
neither equal nor in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from unicodedata import normalize

from merestone.storage.path_patterns import matcher, wildcard
from merestone.storage.times import Stretch, read_time, year
from merestone.types import JSON, OPERATORS, Comparison, SettingsError

Scalar: TypeAlias = str | int | float | bool
Verdict: TypeAlias = Callable[[Scalar], bool]
"""Says of one value of a document whether the comparison holds."""

_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\s*", re.ASCII)
_LONGEST_NUMBER = 40
_LONGEST_PATTERN = 10_000


@dataclass(frozen=True, slots=True)
class Reading:
    """How the values of a field are read."""

    is_path: bool = False
    """``like`` is for paths: ``*`` stays within a folder."""
    is_folded: bool = False
    """Case says nothing."""
    is_language: bool = False
    """A range of language tags: ``en`` is ``en-GB`` too (RFC 4647, section 3.3.1)."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value with what it reads as."""

    value: Scalar
    text: str | None
    number: int | float | None
    time: Stretch | None
    truth: bool | None


@dataclass(frozen=True, slots=True)
class _Need:
    """As what a document's value has to be read to be compared; reading takes the most time."""

    number: bool = True
    time: bool = True

    @classmethod
    def of(cls, wanted: Sequence[_Value]) -> _Need:
        return cls(
            any(each.number is not None for each in wanted),
            any(each.time is not None for each in wanted),
        )


_ALL = _Need()


def verdict(comparison: Comparison, reading: Reading) -> Verdict:
    """The test that ``comparison`` is; its value must not be ``None``, which is no value.

    Raises ``SettingsError`` with code ``filter-value`` for what its operator can't take.
    """
    operator, wanted = comparison.operator, comparison.value
    if operator == "like":
        return _like(comparison, reading)
    if operator == "in":
        return _one_of([_wanted(comparison, each) for each in _listed(comparison)], reading)
    if operator == "between":
        low, high = (_wanted(comparison, each) for each in _listed(comparison))
        return _between(_read(low, reading), _read(high, reading), reading)
    if operator not in OPERATORS:
        raise _refused(comparison, f"by {operator!r}, which is no operator", _KNOWN)
    if operator == "=":
        return _one_of([_wanted(comparison, wanted)], reading)
    other = _read(_wanted(comparison, wanted), reading)
    holds = _ORDERS[operator]
    need = _Need.of([other])
    return lambda value: holds(_order(_read(value, reading, need), other))


_KNOWN = f"Use one of: {', '.join(OPERATORS)}."
_ORDERS: dict[str, Callable[[int | None], bool]] = {
    "<": lambda order: order is not None and order < 0,
    "<=": lambda order: order is not None and order <= 0,
    ">": lambda order: order is not None and order > 0,
    ">=": lambda order: order is not None and order >= 0,
}


def listed(comparison: Comparison) -> list[JSON]:
    """The values that a comparison names."""
    if comparison.operator in ("in", "between"):
        return _listed(comparison)
    return [comparison.value]


def _listed(comparison: Comparison) -> list[JSON]:
    value = comparison.value
    is_pair = comparison.operator == "between"
    if not isinstance(value, list | tuple) or (is_pair and len(value) != 2):
        shape = "a list of the lowest and the highest" if is_pair else "a list"
        raise _refused(
            comparison,
            f"by `{comparison.operator}` with {_short(value)}, which is not {shape}",
            "Give a list of values, or use `=`.",
        )
    return list(value)


def _wanted(comparison: Comparison, value: JSON) -> Scalar | None:
    if value is None or isinstance(value, str | int | float):
        return value
    raise _refused(
        comparison,
        f"with {_short(value)}",
        "Compare with a text, a number, a date, true or false; use `in` for a list.",
    )


def _refused(comparison: Comparison, how: str, remedy: str) -> SettingsError:
    message = f"The filter compares {_short(comparison.field)} {how}."
    return SettingsError("filter-value", message, remedy)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _like(comparison: Comparison, reading: Reading) -> Verdict:
    pattern = comparison.value
    if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
        raise _refused(
            comparison,
            f"by `like` with {_short(pattern)}, which is no text of at most "
            f"{_LONGEST_PATTERN:,} characters",
            "Give a pattern in quotes, with * for any run of characters and ? for one.",
        )
    if reading.is_path:
        matches = matcher(pattern)
        return lambda value: isinstance(value, str) and matches(value)
    compiled = wildcard(_text(pattern, reading))
    return lambda value: compiled.match(_text(_spelled(value), reading)) is not None


def _spelled(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: str, reading: Reading) -> str:
    text = value if value.isascii() else normalize("NFC", value)
    if reading.is_language:
        text = text.replace("_", "-")
    return text.casefold() if reading.is_folded else text


def _between(low: _Value, high: _Value, reading: Reading) -> Verdict:
    from_low, to_high = _ORDERS[">="], _ORDERS["<="]
    need = _Need.of([low, high])

    def holds(value: Scalar) -> bool:
        own = _read(value, reading, need)
        return from_low(_order(own, low)) and to_high(_order(own, high))

    return holds


@dataclass(slots=True)
class _Wanted:
    """Values of which one is to be equal, parted by how they are looked up."""

    texts: set[str] = field(default_factory=set)
    numbers: set[int | float] = field(default_factory=set)
    """Those that are numbers: texts that read as one equal them."""
    number_texts: set[int | float] = field(default_factory=set)
    """Texts that read as numbers: numbers equal them."""
    others: list[_Value] = field(default_factory=list)
    """True, false, times and years."""


def _one_of(wanted: Sequence[Scalar | None], reading: Reading) -> Verdict:
    values = [_read(each, reading) for each in wanted if each is not None]
    if reading.is_language:
        ranges = [each.text for each in values if each.text is not None]
        return lambda value: isinstance(value, str) and _is_within(_text(value, reading), ranges)
    sets = _Wanted()
    for each in values:
        if isinstance(each.value, str):
            assert each.text is not None
            sets.texts.add(each.text)
            if each.number is not None:
                sets.number_texts.add(each.number)
        elif each.number is not None:
            sets.numbers.add(each.number)
        if each.truth is not None or each.time is not None:
            sets.others.append(each)
    need = _Need(bool(sets.numbers), _Need.of(sets.others).time)
    return lambda value: _is_one(value, sets, reading, need)


def _is_one(value: Scalar, sets: _Wanted, reading: Reading, need: _Need) -> bool:
    if isinstance(value, str):
        if _text(value, reading) in sets.texts:
            return True
    elif not isinstance(value, bool) and (value in sets.numbers or value in sets.number_texts):
        return True
    if not sets.others and not sets.numbers:
        return False
    own = _read(value, reading, need)
    if isinstance(value, str) and own.number is not None and own.number in sets.numbers:
        return True
    return any(_equals(own, other) for other in sets.others)


def _is_within(tag: str, ranges: Sequence[str]) -> bool:
    return any(tag == each or tag.startswith(f"{each}-") or each == "*" for each in ranges)


def _read(value: Scalar | None, reading: Reading, need: _Need = _ALL) -> _Value:
    if value is None:
        return _NOTHING
    if isinstance(value, bool):
        return _Value(value, None, None, None, value)
    if not isinstance(value, str):
        number = value if value == value else None
        is_year = need.time and isinstance(value, int) and 1000 <= value <= 9999
        return _Value(value, None, number, year(int(value)) if is_year else None, None)
    number = _number(value) if need.number else None
    time = read_time(value) if need.time else None
    truth = {"true": True, "false": False}.get(value.strip().lower()) if len(value) < 9 else None
    return _Value(value, _text(value, reading), number, time, truth)


_NOTHING = _Value("", None, None, None, None)
"""Compares with nothing."""


def _number(text: str) -> int | float | None:
    if not text or len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def _equals(own: _Value, other: _Value) -> bool:
    if isinstance(own.value, bool) or isinstance(other.value, bool):
        return own.truth is not None and own.truth == other.truth
    return _order(own, other) == 0


def _order(own: _Value, other: _Value) -> int | None:
    """Below 0, 0 or above 0; ``None`` if they can't be compared."""
    if isinstance(own.value, bool) or isinstance(other.value, bool):
        return None
    if own.text is not None and other.text is not None:
        if own.time is not None and other.time is not None:
            return own.time.order(other.time)
        return (own.text > other.text) - (own.text < other.text)
    if own.number is not None and other.number is not None:
        return (own.number > other.number) - (own.number < other.number)
    if own.time is not None and other.time is not None:
        return own.time.order(other.time)
    return None
