"""Whether the first row of a table names its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

_Shape = Literal["empty", "number", "date", "flag", "address", "text"]

_SHAPES: tuple[tuple[_Shape, re.Pattern[str]], ...] = (
    ("number", re.compile(r"[-+(]?[^\w\s]?\s?\d[\d.,'\s]*(?:[eE][-+]?\d+)?\s?[^\w\s]?\)?")),
    ("date", re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ,].*)?|\d{1,2}:\d{2}(?::\d{2}.*)?")),
    ("flag", re.compile(r"true|false|yes|no|y|n|ja|nein|oui|non", re.IGNORECASE)),
    ("address", re.compile(r"[\w.+-]+@[\w-]+\.\S+|\w+://\S+|www\.\S+|/\S+/\S*")),
)
_LONGEST_NAME = 60
_ALIKE = 0.8
"""Share of the values of a column that are of one shape, for the column to be of that shape."""

# Names that columns have and values hardly: in English and in other languages of many files.
_NAMES = frozenset(
    """id ids index key name names title titel titre título type category kategorie class label
    labels tag tags date datum fecha data time timestamp created updated year month day value
    values amount betrag price preis quantity menge count total score rating rank description
    beschreibung text content body comment comments notes note notiz message question questions
    answer answers prompt response input output context source target url uri link path file
    filename email phone address adresse city stadt ville state country land pays language lang
    code status author autor user username role gender sex age company department product item
    first last firstname lastname nombre nom vorname nachname apellido sku order customer kunde
    references corpus query passage term definition region""".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")


def is_header(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """True if ``names``, the cells of the first row, name the columns of ``rows`` below.

    Names are distinct, short and no numbers (but years in order are), and something must show
    that they are none of the values: a column of another shape, or one whose values are written
    in another way. In doubt they are a row like the others.
    """
    if not rows or not _can_be_names(names):
        return False
    columns = [[row[place] for row in rows if place < len(row)] for place in range(len(names))]
    if any(name and name in column for name, column in zip(names, columns, strict=True)):
        return False
    signs = [_differs(name, column) for name, column in zip(names, columns, strict=True)]
    return any(signs) or any(_is_known(name) for name in names)


def _can_be_names(names: Sequence[str]) -> bool:
    given = [name for name in names if name]
    # The column of row numbers often has no name.
    if not given or len(given) < len(names) - 1 or len(set(given)) < len(given):
        return False
    shapes = [shape_of(name) for name in given]
    if any(len(name) > _LONGEST_NAME for name in given) or {"address", "date"} & set(shapes):
        return False
    numbers = [name for name, shape in zip(given, shapes, strict=True) if shape == "number"]
    return "text" in shapes and (not numbers or _is_sequence(numbers))


def _is_sequence(numbers: Sequence[str]) -> bool:
    """True for years, months and other numbers in steps of one, at least two of them."""
    if len(numbers) < 2 or not all(number.isdecimal() for number in numbers):
        return False
    values = [int(number[:9]) for number in numbers]
    step = values[1] - values[0]
    return abs(step) == 1 and values == list(range(values[0], values[-1] + step, step))


def shape_of(cell: str) -> _Shape:
    """What kind of value a cell holds, by its signs."""
    if not cell:
        return "empty"
    for shape, pattern in _SHAPES:
        if pattern.fullmatch(cell[:200]):
            return shape
    return "text"


def _differs(name: str, column: Sequence[str]) -> bool:
    """True if ``name`` is written in another way than the values of its column are."""
    values = [value for value in column if value]
    if not name or not values or shape_of(name) != "text":
        return False
    shapes = [shape_of(value) for value in values]
    if sum(shape == "text" for shape in shapes) <= (1 - _ALIKE) * len(values):
        return True
    if len(values) < 3:
        return False
    if _is_identifier(name) and not any(_is_identifier(value) for value in values):
        return True
    lengths = {len(value) for value in values}
    if len(lengths) == 1 and len(name) not in lengths and not any(map(str.islower, values)):
        return True
    mean = sum(map(len, values)) / len(values)
    return len(name) <= 30 and mean > 4 * len(name) and " " in values[0]


def _is_identifier(cell: str) -> bool:
    """True for ``first_name``, ``firstName`` and the like."""
    joined = "_" in cell.strip("_") and " " not in cell
    return joined or _CAMEL.fullmatch(cell) is not None


def _is_known(name: str) -> bool:
    words = _WORD.findall(name.lower())
    return 0 < len(words) <= 3 and words[-1] in _NAMES
