"""What the outputs of a notebook's cell say, as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from merestone.types import JSON

MAX_OUTPUT = 20_000
"""Code points of one output that are kept: three quarters from its beginning, the rest from its
end."""

# Escape sequences by ECMA-48: control sequences, operating system commands, and the short ones.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_REPRESENTATION = re.compile(r"<[^\n]*>|\[<[^\n]*>\]")
"""What Python shows of an object without text, such as ``<Figure size 640x480 with 1 Axes>``."""
_WITHOUT_TEXT = frozenset({"png", "jpeg", "svg", "javascript", "application/javascript"})
_OLD_NAMES = {"text": "text/plain", "html": "text/html", "latex": "text/latex", "json": "json"}
"""Keys of notebooks before version 4."""
_AS_THEY_STAND = ("text/markdown", "text/latex", "text/x-markdown")


def joined(value: JSON) -> str:
    """A text that is stored whole or as a list of lines, with or without their line ends."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    lines = [line for line in value if isinstance(line, str)]
    ended = any(line.endswith("\n") for line in lines[:-1])
    return ("" if ended else "\n").join(lines)


def output_texts(outputs: JSON, text_of_html: Callable[[str], str]) -> Iterator[str]:
    """The text of each output that has any; parts of one stream come as one.

    Plain text is taken before other kinds, unless it only says what class an object is of. Images
    and widgets have no text.
    """
    stream = ""
    previous = None
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        kind = output.get("output_type")
        name = output.get("name", output.get("stream", "stdout")) if kind == "stream" else None
        if name != previous and stream:
            yield _cleaned(stream)
            stream = ""
        previous = name
        if kind == "stream":
            stream += joined(output.get("text"))
        elif kind in ("error", "pyerr"):
            yield _cleaned(_error(output))
        else:
            yield _cleaned(_shown(_representations(output), text_of_html))
    yield _cleaned(stream)


def bounded(text: str) -> tuple[str, int, str]:
    """Beginning, number of code points left out, and end of what is kept of an output."""
    if len(text) <= MAX_OUTPUT:
        return text, 0, ""
    tail = MAX_OUTPUT // 4
    head = MAX_OUTPUT - tail
    return text[:head], len(text) - MAX_OUTPUT, text[-tail:]


def _error(output: Mapping[str, JSON]) -> str:
    traceback = output.get("traceback")
    lines = traceback if isinstance(traceback, list) else [traceback]
    text = "\n".join(line for line in lines if isinstance(line, str))
    if text.strip():
        return text
    return ": ".join(str(output[key]) for key in ("ename", "evalue") if output.get(key))


def _representations(output: Mapping[str, JSON]) -> dict[str, JSON]:
    data = output.get("data")
    if isinstance(data, dict):
        return data
    return {_OLD_NAMES.get(key, key): value for key, value in output.items()}


def _shown(data: Mapping[str, JSON], text_of_html: Callable[[str], str]) -> str:
    plain = joined(data.get("text/plain"))
    telling = plain.strip() and not _REPRESENTATION.fullmatch(plain.strip())
    if telling:
        return plain
    for kind in _AS_THEY_STAND:
        if text := joined(data.get(kind)):
            return text
    if html := joined(data.get("text/html")):
        return text_of_html(html)
    if any(kind in _WITHOUT_TEXT or kind.startswith("image/") for kind in data):
        return ""
    if not plain.strip() and "application/json" in data:
        return json.dumps(data["application/json"], ensure_ascii=False)
    return plain


def _cleaned(text: str) -> str:
    """Without escape sequences, and of each line only what stood there last: a carriage return
    writes over what came before it."""
    text = _ESCAPE.sub("", text).replace("\r\n", "\n")
    if "\r" in text or "\b" in text:
        lines: Sequence[str] = text.split("\n")
        text = "\n".join(_last_written(line.replace("\b", "")) for line in lines)
    return text


def _last_written(line: str) -> str:
    written = line.rstrip("\r")
    return written[written.rfind("\r") + 1 :]
