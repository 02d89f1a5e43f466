"""The small language of ``--where``.

``field (= | != | < | <= | > | >= | in | like) literal``, joined by ``and``, ``or``, ``not`` and
parentheses. A literal is a number, a word in quotes, ``true``, ``false``, or for ``in`` a list in
parentheses. Nothing of it is ever run as code or as SQL.
"""

from __future__ import annotations

import re
from typing import Literal, cast

from merestone.types import JSON, AllOf, AnyOf, Comparison, Filter, NoneOf, SettingsError

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<operator><=|>=|!=|=|<|>)
    |(?P<mark>[(),])
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>-?\d+(?:\.\d+)?(?![\w.-]))
    |(?P<word>[^\s()<>=!,"']+)
    )""",
    re.VERBOSE,
)
_DEPTH = 50

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "like"]


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
        self._advance()

    def error(self, problem: str) -> SettingsError:
        return SettingsError(
            "invalid-filter",
            f"{problem} at character {self._begin + 1} of the filter {self._text!r}.",
            "Write it like: owner = 'ops' and (year >= 2024 or document like 'guide/*').",
        )

    def _advance(self) -> None:
        rest = self._text[self._at :]
        self._begin = self._at + len(rest) - len(rest.lstrip())
        if not rest.strip():
            self.kind, self._value = "end", ""
            return
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise self.error("There is a character that means nothing")
        self.kind = cast(str, match.lastgroup)
        self._value = match.group(self.kind)
        self._at = match.end()

    def _is_word(self, word: str) -> bool:
        return self.kind == "word" and self._value.lower() == word

    def any_of(self, depth: int) -> Filter:
        parts = [self._all_of(depth)]
        while self._is_word("or"):
            self._advance()
            parts.append(self._all_of(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all_of(self, depth: int) -> Filter:
        parts = [self._single(depth)]
        while self._is_word("and"):
            self._advance()
            parts.append(self._single(depth))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

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

    def _comparison(self) -> Comparison:
        if self.kind not in ("word", "string"):
            raise self.error("The name of a field is missing")
        field = self._plain()
        self._advance()
        is_word = self.kind == "word" and self._value.lower() in ("in", "like")
        if self.kind != "operator" and not is_word:
            raise self.error("An operator (=, !=, <, <=, >, >=, in, like) is missing")
        operator = cast(Operator, self._value.lower())
        self._advance()
        if operator == "in":
            return Comparison(field, operator, self._list())
        value = self._literal()
        if operator == "like" and not isinstance(value, str):
            raise self.error("`like` wants a pattern in quotes")
        return Comparison(field, operator, value)

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
        elif self.kind == "word" and self._value.lower() in ("true", "false"):
            value = self._value.lower() == "true"
        elif self.kind in ("string", "word"):
            value = self._plain()
        else:
            raise self.error("A value is missing")
        self._advance()
        return value

    def _plain(self) -> str:
        if self.kind == "string":
            return re.sub(r"\\(.)", r"\1", self._value[1:-1])
        return self._value
