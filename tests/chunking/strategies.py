"""Documents for property tests: texts of every kind, and Markdown of every shape."""

from __future__ import annotations

from hypothesis import strategies as st

from merestone.extraction import read_document
from merestone.types import Document, ExtractionSettings, RawDocument

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
