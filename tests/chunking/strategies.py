"""Documents and settings for property tests: texts of every kind and format."""

from __future__ import annotations

import json

from chunking.trees import any_tree
from hypothesis import strategies as st

from merestone.extraction import read_document
from merestone.types import (
    CONTEXT_ROLES,
    SEPARATORS,
    ChunkingSettings,
    Document,
    ExtractionSettings,
    RawDocument,
)

_WORDS = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_categories=("Cc",)),
        st.sampled_from("abc .,:;!?\n\t 中文。ก\u0301👩‍👩‍👧🇨🇭éß"),
    ),
    max_size=40,
)
_LINES = st.one_of(
    st.sampled_from(
        [
            "# Title",
            "## Part",
            "### Deep",
            "Setext\n------",
            "- item one",
            "- item two",
            "  - inner",
            "1. first step",
            "2. second step",
            "Do this:",
            "```py\n# not a heading\nx = 1\n```",
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
            "> quoted",
            "term\n: what it means",
            "---",
            "A sentence. Another one! And a third?",
            "",
            "    indented code",
            "[^1]: a note",
            "<div>html</div>",
        ]
    ),
    _WORDS,
)

texts = st.text(max_size=600) | st.lists(_WORDS, max_size=30).map(" ".join)
markdown = st.lists(_LINES, max_size=25).map("\n\n".join) | st.lists(_LINES, max_size=25).map(
    "\n".join
)


def read_markdown(text: str, name: str = "doc.md") -> Document:
    """``text`` as the Markdown reader reads it."""
    raw = RawDocument(name, text.encode("utf-8", "replace"), media_type="text/markdown")
    return read_document(raw, ExtractionSettings())


_CODE = st.sampled_from(
    [
        "def f(x):\n    return x  # größe",
        "class A:\n    def g(self):\n        pass\n",
        "function f(a) { return a; }",
        "func main() {\n\tfmt.Println(1)\n}",
        "fn f() -> u8 { 1 }",
        "public class A { int f() { return 1; } }",
        "/* one\n   two */",
        "if (x) {",
        "}",
        '"""text"""',
    ]
)
_ROWS = st.lists(
    st.lists(st.sampled_from(["a", "1,5", '"b, c"', "d\ne", "", "größe", '"', "中文"]), max_size=5),
    max_size=15,
)
_RECORDS = st.lists(
    st.dictionaries(
        st.sampled_from(["id", "text", "tags"]),
        st.one_of(st.none(), st.integers(), st.text(max_size=40), st.lists(st.text(max_size=5))),
    ),
    max_size=10,
)
_MARKUP = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "<h1>Title</h1>",
                "<h2>Part</h2>",
                "<p>A sentence. <b>Another</b> one!",
                "<ul><li>one<li>two</ul>",
                "<table><tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4</table>",
                "<pre><code>x = 1\ny = 2\n</code></pre>",
                "<nav>menu</nav>",
                "</div>",
                "<dl><dt>term<dd>means</dl>",
            ]
        ),
        _WORDS,
    ),
    max_size=20,
)
_DIRECTIVES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "Title\n=====",
                "Part\n----",
                ".. note:: text\n\n   more",
                "::\n\n    code",
                "- one\n- two",
                "=== ===\na   b\n=== ===\n1   2\n=== ===",
                "term\n   means",
            ]
        ),
        _WORDS,
    ),
    max_size=15,
)
_NO_TEXT = {code: " " for code in (*range(32), 127) if chr(code) not in "\t\n\f\r"}
"""Controls by which a file is told to be no text."""
_TURNS = st.lists(
    st.tuples(st.sampled_from(["Ann", "Bob Lee"]), _WORDS).map(": ".join), max_size=20
)


def _read(name: str, text: str) -> Document:
    text = text.translate(_NO_TEXT)
    return read_document(RawDocument(name, text.encode("utf-8", "replace")), ExtractionSettings())


def _file(name: str, contents: st.SearchStrategy[str]) -> st.SearchStrategy[Document]:
    return contents.map(lambda text: _read(name, text))


def _joined(parts: st.SearchStrategy[list[str]], separator: str = "\n\n") -> st.SearchStrategy[str]:
    return parts.map(separator.join)


SURROGATES = st.text(
    st.characters(categories=("Cs", "Cc", "Cf", "Mn", "Zs", "Ll", "Lo", "Po")), max_size=300
)
"""Text that no encoding can hold, controls and marks."""

documents: st.SearchStrategy[Document] = st.one_of(
    markdown.map(read_markdown),
    _file("a.txt", texts),
    _file("a.txt", _joined(_TURNS, "\n")),
    _file("a.rst", _joined(_DIRECTIVES)),
    _file("a.html", _joined(_MARKUP, "\n")),
    st.sampled_from(["a.py", "a.js", "a.go", "a.rs", "a.java", "a.c", "a.sh"]).flatmap(
        lambda name: _file(name, _joined(st.lists(_CODE, max_size=25), "\n"))
    ),
    _file("a.csv", _ROWS.map(lambda rows: "\n".join(",".join(row) for row in rows))),
    _file("a.jsonl", _RECORDS.map(lambda rows: "\n".join(map(json.dumps, rows)))),
    st.builds(any_tree, texts | SURROGATES, st.integers(0, 2**32)),
)
"""Documents of every format that is text, and trees of blocks that no reader makes yet."""


@st.composite
def chunking_settings(
    draw: st.DrawFn, strategy: str, special_tokens: int = 2, smallest: int = 8
) -> ChunkingSettings:
    """Settings of ``strategy`` that can be met, small and large."""
    limit = draw(st.integers(smallest, 100))
    room = limit - special_tokens
    target = draw(st.integers(1, limit))
    chars = draw(st.integers(4, 600))
    overlaps = draw(st.sampled_from(["none", "none", "tokens", "chars"]))
    return ChunkingSettings(
        strategy=strategy,
        max_tokens=limit,
        target_tokens=target,
        min_tokens=draw(st.integers(0, min(target, 16))),
        overlap_tokens=draw(st.integers(0, room // 2)) if overlaps == "tokens" else 0,
        max_chars=chars,
        overlap_chars=draw(st.integers(0, chars // 2)) if overlaps == "chars" else 0,
        torn_overlap_tokens=draw(st.integers(0, room // 2)),
        context=tuple(draw(st.lists(st.sampled_from(CONTEXT_ROLES), unique=True))),
        group=draw(st.none() | st.integers(1, 5)),
        separators=draw(st.sampled_from([SEPARATORS, (". ", " "), ("\n", "é", ""), ("",), (",",)])),
        semantic_weight=draw(st.sampled_from([0.0, 0.0, 0.3, 2.0])),
    )
