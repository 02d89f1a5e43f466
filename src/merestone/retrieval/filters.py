"""The small language of ``--where``.

``field (= | != | < | <= | > | >=) literal``, ``field in (literal, ...)``, ``field like 'pattern'``,
``field between literal and literal``, each of these three also with ``not`` before it, and
``field exists``; joined by ``and``, ``or``, ``not`` and parentheses. A literal is a number, a word,
a text in quotes, ``true``, ``false`` or ``null``, the value of what is not there. Nothing of it is
ever run as code or as SQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias, cast

from merestone.types import (
    JSON,
    AllOf,
    AnyOf,
    Comparison,
    Filter,
    NoneOf,
    Operator,
    SettingsError,
    all_of,
    any_of,
    field,
)

Where: TypeAlias = str | Filter | Mapping[str, JSON] | None
"""A filter, its text, or values by field that must all be equal; a list: one of its elements."""

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<operator><=|>=|!=|=|<|>)
    |(?P<mark>[(),])
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>[-+]?\d{1,300}(?:\.\d{1,300})?(?![^\s()<>=!,"']))
    |(?P<word>[^\s()<>=!,"']+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_DEPTH = 50
_LONGEST = 1_000_000
_WORDS = ("in", "like", "between", "exists")
_EXAMPLE = "Write it like: owner = 'ops' and (year >= 2024 or document like 'guide/*')."


def read_filter(where: Where) -> Filter | None:
    """The filter that ``where`` is, in whichever form it was given."""
    if where is None or isinstance(where, Comparison | AllOf | AnyOf | NoneOf):
        return where
    if isinstance(where, str):
        return parse_filter(where)
    if isinstance(where, Mapping):
        return all_of(*(_equal(name, value) for name, value in where.items()))
    raise SettingsError(
        "filter-value",
        f"The filter is {where!r}, of the type {type(where).__name__}.",
        f'Give its text, field("year") >= 2024, or a mapping such as {{"year": 2024}}. {_EXAMPLE}',
    )


def _equal(name: object, value: JSON) -> Filter:
    own = field(cast(str, name))
    return own.in_(value) if isinstance(value, list | tuple | set | frozenset) else own == value


def parse_filter(text: str) -> Filter:
    """The filter that ``text`` says; ``SettingsError`` where it can't be read."""
    parser = _Parser(text)
    found = parser.any_of(0)
    if parser.kind != "end":
        raise parser.error("There is something left over")
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._begin = 0
        self.kind = ""
        self._value = ""
        if len(text) > _LONGEST:
            raise SettingsError(
                "invalid-filter",
                f"The filter has {len(text):,} characters; at most {_LONGEST:,} are read.",
                "Build it in Python.",
            )
        self._advance()

    def error(self, problem: str, remedy: str = _EXAMPLE) -> SettingsError:
        """The error at the token that is looked at, with a mark where it begins."""
        begin, around = self._begin, 30
        before, after = self._text[:begin], self._text[begin:]
        shown = (
            f"{'…' if len(before) > around else ''}{before[-around:]}⟨here⟩"
            f"{after[:around]}{'…' if len(after) > around else ''}"
        )
        return SettingsError(
            "invalid-filter", f"{problem} at character {begin + 1} of the filter: {shown}", remedy
        )

    def _advance(self) -> None:
        rest = self._text[self._at :]
        self._begin = self._at + len(rest) - len(rest.lstrip())
        if not rest.strip():
            self.kind, self._value = "end", ""
            return
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            is_open = self._text[self._begin] in "\"'"
            raise self.error(
                "A quote is opened and never closed"
                if is_open
                else "There is a character that means nothing"
            )
        self.kind = cast(str, match.lastgroup)
        self._value = match.group(self.kind)
        self._at = match.end()

    def _is_word(self, *words: str) -> bool:
        return self.kind == "word" and self._value.lower() in words

    def any_of(self, depth: int) -> Filter:
        parts = [self._all_of(depth)]
        while self._is_word("or"):
            self._advance()
            parts.append(self._all_of(depth))
        return any_of(*parts)

    def _all_of(self, depth: int) -> Filter:
        parts = [self._single(depth)]
        while self._is_word("and"):
            self._advance()
            parts.append(self._single(depth))
        return all_of(*parts)

    def _single(self, depth: int) -> Filter:
        if depth > _DEPTH:
            raise self.error(f"Parentheses and nots are more than {_DEPTH} deep")
        if self._is_word("not"):
            self._advance()
            return NoneOf(self._single(depth + 1))
        if self.kind == "mark" and self._value == "(":
            self._advance()
            inside = self.any_of(depth + 1)
            self._close()
            return inside
        return self._comparison()

    def _close(self) -> None:
        if self.kind != "mark" or self._value != ")":
            raise self.error("A closing parenthesis is missing")
        self._advance()

    def _comparison(self) -> Filter:
        if self.kind not in ("word", "string"):
            raise self.error("The name of a field is missing")
        name = self._plain()
        self._advance()
        if self.kind == "operator":
            operator = cast(Operator, self._value)
            self._advance()
            return Comparison(name, operator, self._literal())
        is_negated = self._is_word("not")
        if is_negated:
            self._advance()
        if not self._is_word(*_WORDS):
            raise self._no_operator(name)
        found = self._by_word(name, self._value.lower())
        return NoneOf(found) if is_negated else found

    def _by_word(self, name: str, word: str) -> Comparison:
        self._advance()
        if word == "exists":
            return Comparison(name, "!=", None)
        if word == "in":
            return Comparison(name, "in", self._list())
        if word == "between":
            low = self._literal()
            if not self._is_word("and"):
                raise self.error("`between` wants two values with `and` between them")
            self._advance()
            return Comparison(name, "between", [low, self._literal()])
        if self.kind not in ("string", "word"):
            raise self.error("`like` wants a pattern in quotes")
        return Comparison(name, "like", self._text_literal())

    def _no_operator(self, name: str) -> SettingsError:
        known = "=, !=, <, <=, >, >=, in, like, between, exists"
        remedy = _EXAMPLE
        if self._is_word("is", "contains", "has", "eq"):
            remedy = f"Write {name} = value; of a list one element has to be equal. " + _EXAMPLE
        return self.error(f"An operator ({known}) is missing", remedy)

    def _list(self) -> list[JSON]:
        if self.kind != "mark" or self._value != "(":
            raise self.error("`in` wants a list in parentheses")
        self._advance()
        values = [self._literal()]
        while self.kind == "mark" and self._value == ",":
            self._advance()
            values.append(self._literal())
        self._close()
        return values

    def _literal(self) -> JSON:
        if self.kind == "number":
            value: JSON = float(self._value) if "." in self._value else int(self._value)
        elif self._is_word("true", "false"):
            value = self._value.lower() == "true"
        elif self._is_word("null"):
            value = None
        elif self.kind in ("string", "word"):
            return self._text_literal()
        else:
            raise self.error("A value is missing")
        self._advance()
        return value

    def _text_literal(self) -> str:
        value = self._plain()
        self._advance()
        return value

    def _plain(self) -> str:
        if self.kind == "string":
            return re.sub(r"\\(.)", r"\1", self._value[1:-1], flags=re.DOTALL)
        return self._value
