"""Directives of reStructuredText: what each holds, and the parts that it is written in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from merestone.extraction.rst_lines import Lines
from merestone.types import Span

DirectiveKind = Literal[
    "admonition",
    "change",
    "code",
    "formula",
    "figure",
    "image",
    "table",
    "list_table",
    "csv_table",
    "object",
    "glossary",
    "transparent",
    "opaque",
    "other",
]

_KINDS: tuple[tuple[DirectiveKind, str], ...] = (
    (
        "admonition",
        "admonition attention caution danger error hint important note tip warning seealso todo "
        "impl-detail availability",
    ),
    (
        "change",
        "versionadded versionchanged versionremoved deprecated deprecated-removed "
        "soft-deprecated version-added version-changed",
    ),
    (
        "code",
        "code code-block code-cell sourcecode parsed-literal raw doctest "
        "testcode testoutput testsetup testcleanup productionlist grammar-snippet ipython prompt "
        "digraph graph graphviz mermaid plantuml uml jupyter-execute program-output plot",
    ),
    ("formula", "math"),
    ("figure", "figure"),
    ("image", "image"),
    ("table", "table"),
    ("list_table", "list-table flat-table"),
    ("csv_table", "csv-table"),
    (
        "object",
        "function class method classmethod staticmethod attribute data exception decorator "
        "decoratormethod property option cmdoption envvar describe object confval setting "
        "directive role macro type member var struct union enum enumerator opcode "
        "pdbcommand 2to3fixer command variable define",
    ),
    ("glossary", "glossary"),
    ("transparent", "only ifconfig container compound cssclass rst-class hlist tabs tab-set"),
    (
        "opaque",
        "toctree contents include literalinclude index meta tabularcolumns replace unicode date "
        "role default-role highlight module title",
    ),
)
_KIND_OF = {name: kind for kind, names in _KINDS for name in names.split()}
_LANGUAGE_OF = {
    "doctest": "pycon",
    "testcode": "python",
    "testsetup": "python",
    "testcleanup": "python",
    "ipython": "ipython",
    "jupyter-execute": "python",
    "plot": "python",
    "digraph": "dot",
    "graph": "dot",
    "graphviz": "dot",
    "mermaid": "mermaid",
    "plantuml": "plantuml",
    "uml": "plantuml",
}
_NAMED_LANGUAGE = frozenset({"code", "code-block", "code-cell", "sourcecode", "raw", "prompt"})
_NO_OBJECTS = frozenset({"module", "currentmodule", "namespace", "namespace-push", "namespace-pop"})

OPTION = re.compile(r":(?![:\s`])(?P<name>[^:`]+):(?:\s+|$)")


@dataclass(slots=True)
class Directive:
    """A directive in lines ``[first, last)``."""

    name: str
    first: int
    last: int
    argument: Span
    """What stands behind the name and in the lines below it, up to options or a blank line."""
    argument_last: int
    """Number of the line behind the argument."""
    body: int
    """Number of the line behind the options, where the body begins."""
    options: dict[str, Span] = field(default_factory=dict)

    @property
    def kind(self) -> DirectiveKind:
        domain, _, bare = self.name.rpartition(":")
        if not domain and bare in _KIND_OF:
            return _KIND_OF[bare]
        return "object" if domain and bare not in _NO_OBJECTS else "other"


def read_directive(lines: Lines, name: str, first: int, last: int) -> Directive:
    """The parts of a directive whose first line is moved on behind its name."""
    index = first + 1
    while index < last and lines.words[index] and not OPTION.match(lines.words[index]):
        index += 1
    argument_last = index
    low = lines.places[first]
    if not lines.words[first] and argument_last > first + 1:
        low = lines.places[first + 1]
    high = max(low, lines.ends[argument_last - 1])
    options: dict[str, Span] = {}
    key = ""
    while index < last and lines.words[index]:
        match = OPTION.match(lines.words[index])
        end = lines.ends[index]
        if match is not None:
            key = match["name"].strip().lower()
            options[key] = Span(min(lines.places[index] + match.end(), end), end)
        elif key:
            options[key] = Span(options[key].start, end)
        index += 1
    return Directive(name.lower(), first, last, Span(low, high), argument_last, index, options)


def language_of(directive: Directive, argument: str) -> str | None:
    """Language of a directive that holds code."""
    bare = directive.name.rpartition(":")[2]
    words = argument.split()
    if bare in _NAMED_LANGUAGE:
        return words[0].strip("{}") if words else None
    return _LANGUAGE_OF.get(bare)
