"""The metadata that stands before a Markdown text, in YAML or TOML."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field

from merestone.types import JSON, METADATA_KEY

_FENCED = re.compile(
    r"(?P<fence>---|\+\+\+)[ \t]*(?:\r\n|\n|\r)(?P<body>.*?)(?:(?<=\n)|(?<=\r))"
    r"(?P<close>---|\+\+\+|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)",
    re.DOTALL,
)
_KEY = re.compile(
    r"(?P<key>\"[^\"]*\"|'[^']*'|[^\s:#\[\]{},&*!|>'\"%@`-][^:#]*?|-[\w-]+)\s*:(?:\s+(?P<value>.*))?$"
)
_ACCESS = re.compile(rf"(?:\A|[\r\n])([\"']?){METADATA_KEY}\1[ \t]*[:=]")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_ITEM = r"""\s*(?:"[^"]*"|'[^']*'|[^\s,\[\]{}"'][^,\[\]{}]*)\s*"""
_ITEMS = re.compile(rf"\[(?:{_ITEM},)*(?:{_ITEM})?\s*\]")
_INTEGER = re.compile(r"[-+]?\d{1,18}$")
_DECIMAL = re.compile(r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?$")
_WORDS: dict[str, JSON] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Where it ends in the text, and what it says."""

    end: int
    values: dict[str, JSON] = field(default_factory=dict)


def read_front_matter(text: str) -> FrontMatter | None:
    """The front matter that ``text`` begins with; ``None`` if it begins with none.

    Of YAML the part is read that front matter is written in: keys with scalars, lists, block
    scalars, and mappings one level deep. What is beyond it stays out of the values, not of the
    text.
    """
    match = _FENCED.match(text)
    if match is None:
        return None
    fence, close, body = match["fence"], match["close"], match["body"]
    if (fence == "+++") != (close == "+++"):
        return None
    if fence == "+++":
        return FrontMatter(match.end(), _with_access(_read_toml(body), body))
    lines = re.split(r"\r\n|\n|\r", body)
    filled = [line for line in lines if line.strip()]
    first = next((line for line in filled if not line.startswith("#")), "")
    # Two rules with a text between them begin like front matter.
    if filled and _KEY.match(first) is None:
        return None
    values = _read_mapping(lines)
    if len(_ACCESS.findall(body)) > 1:
        # Which of them was meant can't be known.
        values[METADATA_KEY] = None
    return FrontMatter(match.end(), _with_access(values, body))


def _with_access(values: dict[str, JSON], body: str) -> dict[str, JSON]:
    """``values`` that say nothing of access only if ``body`` doesn't: what was written down about
    it and could not be read must not leave the document open."""
    if METADATA_KEY not in values and _ACCESS.search(body):
        return {**values, METADATA_KEY: None}
    return values


def _read_toml(body: str) -> dict[str, JSON]:
    try:
        values = tomllib.loads(body.replace("\r\n", "\n").replace("\r", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return {key: _plain(value, 0) for key, value in values.items()}


def _plain(value: object, depth: int) -> JSON:
    """``value`` as JSON can hold it; dates become ISO 8601."""
    if depth < 8 and isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if depth < 8 and isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _read_mapping(lines: Sequence[str]) -> dict[str, JSON]:
    values: dict[str, JSON] = {}
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        match = _KEY.match(line)
        if line[:1].isspace() or match is None:
            continue
        nested: list[str] = []
        while index < len(lines) and _continues(lines[index]):
            nested.append(lines[index])
            index += 1
        values[_unquoted(match["key"].strip())] = _read_value(match["value"] or "", nested)
    return values


def _continues(line: str) -> bool:
    """True for a line that belongs to the key above it: indented, blank, an item or the end of a
    list."""
    return (
        not line.strip() or line[0].isspace() or line.startswith(("- ", "-\t", "]")) or line == "-"
    )


def _read_value(value: str, nested: Sequence[str]) -> JSON:
    value = value.strip()
    if re.fullmatch(r"[|>][-+\d]*(?:\s+#.*)?", value):
        parts = [line.strip() for line in nested]
        return ("\n" if value[0] == "|" else " ").join(parts).strip()
    rest = [line for line in nested if line.strip() and not line.lstrip().startswith("#")]
    if not value or value.startswith("#"):
        return _read_nested(rest)
    if value[0] == "[":
        return _read_inline_list(" ".join([value, *(line.strip() for line in rest)]))
    return _read_scalar(" ".join([value, *(line.strip() for line in rest)]))


def _read_nested(lines: Sequence[str]) -> JSON:
    if not lines:
        return None
    if all(line.lstrip().startswith("-") for line in lines):
        return [_read_scalar(line.lstrip()[1:].strip()) for line in lines]
    indent = len(lines[0]) - len(lines[0].lstrip())
    values: dict[str, JSON] = {}
    for line in lines:
        match = _KEY.match(line.strip())
        if match is not None and len(line) - len(line.lstrip()) == indent:
            values[_unquoted(match["key"].strip())] = _read_value(match["value"] or "", ())
    return values or None


def _read_inline_list(value: str) -> JSON:
    """The list, or the text of one that is broken or holds lists: taken apart it could say
    something else."""
    written = _COMMENT.sub("", value).strip()
    if _ITEMS.fullmatch(written) is None:
        return value
    return [_read_scalar(item.strip()) for item in re.findall(_ITEM, written[1:-1])]


def _read_scalar(value: str) -> JSON:
    if value[:1] in ("'", '"'):
        return _unquoted(value)
    value = _COMMENT.sub("", value).strip()
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if _INTEGER.match(value) and not (len(value.lstrip("+-")) > 1 and value.lstrip("+-")[0] == "0"):
        return int(value)
    return float(value) if _DECIMAL.match(value) and math.isfinite(float(value)) else value


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] in "'\"":
        closing = value.rfind(value[0])
        if closing > 0:
            inner = value[1:closing]
            if value[0] == "'":
                return inner.replace("''", "'")
            return inner.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    return value
