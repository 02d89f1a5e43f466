"""Syntax trees of source code, and the places of their nodes in the text."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from merestone.extraction.source_code_languages import Language

if TYPE_CHECKING:
    import tree_sitter

_SLICE = 1 << 16
_LEAD_BYTES = bytes(0 if 0x80 <= byte < 0xC0 else 1 for byte in range(256))

# The parser reports once in a hundred of its steps. Code that people write takes 4 to 13 reports a
# thousand bytes and minified code up to 20. Text that is none of the language makes it follow many
# readings at once, at a cost that grows faster than the text.
_FREE_REPORTS = 1_000
_REPORTS_A_BYTE = 16 / 1_000


@cache
def load_grammar(language: Language) -> tree_sitter.Language:
    """The grammar of ``language``; raises what importing it raises."""
    import tree_sitter

    function = getattr(import_module(language.module), language.function)
    return tree_sitter.Language(function())


def parse(source: bytes, language: Language) -> tree_sitter.Tree | None:
    """The tree of a source in UTF-8; ``None`` if it takes more steps than code takes.

    Counts steps, not time, so that the same bytes give the same answer on every machine.
    """
    import tree_sitter

    reports = 0

    def is_hopeless(offset: int, _: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > _FREE_REPORTS + _REPORTS_A_BYTE * offset

    def read(offset: int, _: tree_sitter.Point) -> bytes:
        return source[offset : offset + _SLICE]

    parser = tree_sitter.Parser(load_grammar(language))
    try:
        return parser.parse(read, progress_callback=is_hopeless)
    except ValueError:
        return None
