"""HTML that is written by calls, so that no text of a user gets into it unescaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Markup(str):
    """HTML as it stands; every other string is a text and is escaped."""

    __slots__ = ()


Child = Markup | str | int | None


def element(name: str, /, *children: Child | Iterable[Child], **attributes: object) -> Markup:
    """An element. ``class_`` and ``for_`` are written without the bar, ``data_x`` as ``data-x``;
    ``True`` is an attribute without value, ``False`` and ``None`` are left out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child | Iterable[Child]) -> Markup:
    """Pieces one behind the other; texts among them are escaped."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str | int):
            parts.append(html.escape(clean(str(child))))
        else:
            parts.append(joined(*child))
    return Markup("".join(parts))


def user_text(text: str, name: str = "bdi", /, **attributes: object) -> Markup:
    """A text that may be of any script: its direction is its own and moves nothing around it."""
    return element(name, text, dir="auto", **attributes)


def with_code(text: str) -> Markup:
    """A text of ours, with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return user_text(text, "span")
    return joined(
        *(
            element("code", part) if place % 2 else user_text(part, "span")
            for place, part in enumerate(parts)
        )
    )


def clean(text: str) -> str:
    """``text`` of the same length without what HTML or UTF-8 cannot hold: control characters and
    lone surrogates."""
    return _UNWRITABLE.sub("\ufffd", text)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{html.escape(clean(str(value)))}"'
