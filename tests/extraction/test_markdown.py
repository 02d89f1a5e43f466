from __future__ import annotations

from textwrap import dedent

import pytest
from extraction.checks import attribute, check, outline, read, text_of, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.types import Block, Document, SourceSpan


def one(document: Document, kind: str) -> Block:
    (found,) = [block for block in document.blocks if block.kind == kind]
    return found


def headings(document: Document) -> list[tuple[int | None, str]]:
    return [
        (block.level, attribute(document, block, "content"))
        for block in document.blocks
        if block.kind == "heading"
    ]


def test_offsets_are_code_points_of_the_source() -> None:
    source = "\ufeff# Ünïcode 🎉\r\n\r\n日本 *x*\r\n"
    document = read(source, "a.md")
    assert document.text == source[1:]
    assert headings(document) == [(1, "Ünïcode 🎉")]
    assert texts(document, "paragraph") == ["日本 *x*"]
    assert document.segments.to_source((0, 3)) == (SourceSpan(1, 4),)
    assert document.lines_of(15, 17) == (3, 3)
    check(document, source)


@pytest.mark.parametrize(
    ("source", "level", "content"),
    [
        ("# Plain", 1, "Plain"),
        ("  ### Closed ###  ", 3, "Closed"),
        ("## With `code` and *marks*", 2, "With `code` and *marks*"),
        ("Setext\n======", 1, "Setext"),
        ("Two\nlines\n---", 2, "Two\nlines"),
        ("## Named {#the-name}", 2, "Named"),
        ("# Set {a, b}", 1, "Set {a, b}"),
        ("# [link](http://a)", 1, "[link](http://a)"),
        ("#", 1, ""),
    ],
)
def test_the_content_of_a_heading_is_its_own_words(source: str, level: int, content: str) -> None:
    document = read(source, "a.md")
    assert headings(document) == [(level, content)]
    check(document, source)


def test_headings_are_headings_only_at_the_top_level() -> None:
    source = "> # quoted\n\n- # in an item\n\n```\n# code\n```\n\n#none\n\n####### seven\n"
    document = read(source, "a.md")
    assert headings(document) == []
    assert "# quoted" in texts(document, "paragraph")
    assert "# in an item" in texts(document, "paragraph")
    check(document, source)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("---\ntitle: From front matter\n---\n# Heading", "From front matter"),
        ("## Second\n\n# First *level*", "First *level*"),
        ("## Only\n\n### Lower", "Only"),
        ("Just text", None),
        ("---\ntitle: 5\n---\n# Heading", "Heading"),
    ],
)
def test_the_title(source: str, title: str | None) -> None:
    assert read(source, "a.md").title == title


def test_front_matter_is_metadata_and_a_block() -> None:
    source = "---\ntitle: T # x\ntags: [a, b]\n---\n\nText\n\n---\n\na: 1\n\n---\n"
    document = read(source, "a.md")
    assert document.metadata == {"title": "T", "tags": ["a", "b"]}
    assert outline(document) == [
        ("front_matter", "---\ntitle: T # x\ntags: [a, b]\n---"),
        ("paragraph", "Text"),
        ("rule", "---"),
        ("paragraph", "a: 1"),
        ("rule", "---"),
    ]


def test_lists_nest_and_know_what_introduces_them() -> None:
    source = "Words. Do this:\n\n1. first\n   - nested *one*\n\n     more\n2. second\n"
    document = read(source, "a.md")
    blocks = document.blocks
    assert [(block.kind, block.level) for block in blocks] == [
        ("paragraph", None),
        ("list", None),
        ("list_item", 1),
        ("list", None),
        ("list_item", 2),
        ("paragraph", None),
        ("paragraph", None),
        ("list_item", 1),
    ]
    outer, inner = [block for block in blocks if block.kind == "list"]
    assert attribute(document, outer, "lead_in") == "Do this:"
    assert (outer.attributes["ordered"], inner.attributes["ordered"]) == (True, False)
    assert "lead_in" not in inner.attributes
    markers = [block.attributes["marker"] for block in blocks if block.kind == "list_item"]
    assert markers == ["1.", "-", "2."]
    assert blocks[inner.parent or 0].kind == "list_item"
    check(document, source)


@pytest.mark.parametrize(
    ("source", "lead_in"),
    [
        ("These matter\n- a\n- b", "These matter"),
        ("Text before. The following are fine\n\n- a", "The following are fine"),
        ("How it works:\n\n```\nx\n```", "How it works:"),
        ("Nothing to see.\n\n```\nx\n```", None),
        ("A paragraph of its own.\n\n- a", None),
        ("# Heading:\n\n- a", None),
        ("次のとおり：\n\n- a", "次のとおり："),
    ],
)
def test_a_lead_in_is_the_sentence_that_introduces(source: str, lead_in: str | None) -> None:
    document = read(source, "a.md")
    block = next(block for block in document.blocks if block.kind in ("list", "code"))
    found = attribute(document, block, "lead_in") if "lead_in" in block.attributes else None
    assert found == lead_in


def test_a_table_has_a_header_and_rows_with_cells() -> None:
    source = "| Näme | Qty |\n|------|----:|\n| bolt \\| nut | 3 |\n| 日本 |\n\nafter"
    document = read(source, "a.md")
    table = one(document, "table")
    assert table.attributes["columns"] == 2
    assert attribute(document, table, "header") == "| Näme | Qty |\n|------|----:|"
    rows = [block for block in document.blocks if block.kind == "table_row"]
    assert [row.attributes["header"] for row in rows] == [True, False, False]
    cells = [[document.text[s:e] for s, e in row.attributes["cells"]] for row in rows]
    assert cells == [["Näme", "Qty"], ["bolt \\| nut", "3"], ["日本", ""]]
    check(document, source)


def test_code_keeps_its_fences_indentation_and_language() -> None:
    source = (
        "```python title=x\nif a:\n\n  b\n```\n\ntext\n\n\n    indented\n      more\n\n~~~\nopen"
    )
    document = read(source, "a.md")
    assert texts(document, "code") == [
        "```python title=x\nif a:\n\n  b\n```",
        "    indented\n      more",
        "~~~\nopen",
    ]
    assert [block.attributes.get("language") for block in document.blocks] == [
        "python",
        None,
        None,
        None,
    ]
    check(document, source)


def test_quotes_footnotes_formulas_definitions_and_rules() -> None:
    source = dedent(
        """\
        > [!NOTE]
        > quoted

        Text[^n].

        [^n]: The note.

        $$
        x = 1
        $$

        Apple
        : A fruit
        : A company

        Pear

        : A fruit too

        Behind.

        ***
        """
    )
    document = read(source, "a.md")
    assert one(document, "quote").attributes == {"alert": "note"}
    assert one(document, "footnote").attributes == {"label": "n"}
    assert texts(document, "formula") == ["$$\nx = 1\n$$"]
    entries = [block for block in document.blocks if block.kind == "definition"]
    assert [text_of(document, entry) for entry in entries] == [
        "Apple\n: A fruit\n: A company",
        "Pear\n\n: A fruit too",
    ]
    assert [attribute(document, entry, "term") for entry in entries] == ["Apple", "Pear"]
    assert texts(document, "paragraph")[-1] == "Behind."
    assert texts(document, "rule") == ["***"]
    check(document, source)


def test_html_is_a_paragraph_that_says_so() -> None:
    source = "<div>\nraw **html**\n</div>\n\ntext <b>x</b>"
    document = read(source, "a.md")
    assert outline(document)[0] == ("paragraph", "<div>\nraw **html**\n</div>")
    assert document.blocks[0].attributes == {"html": True}
    assert not document.blocks[1].attributes


@pytest.mark.parametrize(
    "source",
    [
        "[ref]: http://example.org 'Title'\n\nText [ref].",
        "!!! note\n    An admonition\n\n    goes on\n",
        "Intro\n\n:::tip Title\n\nInside\n\n:::\n\nOutside",
        "text\n:::note\nabc\n:::",
        "import X from './x'\n\nexport const a = 1\n\n<Tabs>\n  <Tab>*a*</Tab>\n</Tabs>\n\n{a + 1}",
        "[^unused]: Note only.",
        "{{% include %}}\n\n::: {.class}\nx\n:::",
        "- \n- [ ] task\n-\n\n*[HTML]: abbreviation",
        "para\n: not a definition list here?\n:smile:",
    ],
)
def test_dialects_lose_nothing(source: str) -> None:
    document = read(source, "a.md")
    assert document.text == source
    check(document, source)


@pytest.mark.parametrize(
    "source",
    [
        ">" * 20_000 + " x",
        "\n".join("  " * depth + "- x" for depth in range(500)),
        "[" * 30_000,
        "*a_" * 10_000,
        "`" * 50_000 + "x",
        "|a" * 2_000 + "|\n" + "|-" * 2_000 + "|\n" + "|b" * 2_000 + "|",
        "- " * 10_000 + "x",
    ],
    ids=["quotes", "lists", "brackets", "emphasis", "backticks", "columns", "items"],
)
def test_hostile_nesting_is_read(source: str) -> None:
    check(read(source, "a.md"), source)


PIECES = [
    "# ", "## é", "- ", "1. ", "> ", "```", "~~~", "    ", "  ", "| a | b |\n", "|---|---|\n",
    "*", "_", "[x]", "[^1]", "[^1]: ", "[a]: b\n", ": ", "\n", "\n\n", "\r\n", "\r", "---\n",
    "===\n", "$$", "<b>", "</div>\n", "<!--", "word", "日本", "🎉", "\\", "&amp;", "\t", "+++\n",
    "title: x\n", "\u2028", "{#a}", "!!! note\n", ":::\n", "[!NOTE]\n", "- [ ] ",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
)


@given(TEXTS)
def test_any_markdown_keeps_the_invariants(source: str) -> None:
    document = read(source, "a.md")
    assert document.text == source.removeprefix("\ufeff")
    assert document.segments.is_identity
    check(document, source)
    assert read(source, "a.md") == document
