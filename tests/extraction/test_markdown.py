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
        ("## Closed ##\t", 2, "Closed"),
        ("##\tClosed\t## \t ", 2, "Closed"),
        ("## Closed ## ##", 2, "Closed ##"),
        ("## ##\t", 2, ""),
        ("## Open ##x", 2, "Open ##x"),
        ("Open ##\n===", 1, "Open ##"),
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
    assert attribute(document, outer, "lead_in") == source[: source.index("\n")]
    assert (outer.attributes["ordered"], inner.attributes["ordered"]) == (True, False)
    assert "lead_in" not in inner.attributes
    markers = [block.attributes["marker"] for block in blocks if block.kind == "list_item"]
    assert markers == ["1.", "-", "2."]
    assert blocks[inner.parent or 0].kind == "list_item"
    check(document, source)


def test_an_item_set_off_by_blanks_has_its_marker() -> None:
    document = read("1. a\n\n    - b\n\n  * c\n", "a.md")
    items = [block for block in document.blocks if block.kind == "list_item"]
    assert [item.attributes["marker"] for item in items] == ["1.", "-", "*"]


@pytest.mark.parametrize(
    ("source", "lead_in"),
    [
        ("These matter\n- a\n- b", "These matter"),
        ("Text before. The following are fine\n\n- a", "The following are fine"),
        ("How it works:\n\n```\nx\n```", "How it works:"),
        ("First words. Code below an explanation.\n\n```\nx\n```", "Code below an explanation."),
        ("Stop it. Then go on.\n\n1. a\n2. b", "Stop it. Then go on."),
        ("Long words. " * 30 + "The end.\n\n1. a\n2. b", "The end."),
        ("| a |\n|---|\n| 1 |\n\n```\nx\n```", None),
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


def of_kind(document: Document, kind: str) -> list[Block]:
    return [block for block in document.blocks if block.kind == kind]


def under(document: Document, parent: Block) -> list[tuple[str, str]]:
    """Kind and text of the blocks just inside of ``parent``."""
    index = document.blocks.index(parent)
    return [(b.kind, text_of(document, b)) for b in document.blocks if b.parent == index]


@pytest.mark.parametrize(
    "heading",
    [
        "# Named {#id}",
        "# Named { #id }",
        "# Named {: #id .cls }",
        "# Named {.cls #id key=value} #",
        "# Named {/* #id */}",
        "Named {#id}\n===",
    ],
)
def test_the_name_given_to_a_heading_is_none_of_its_words(heading: str) -> None:
    assert headings(read(heading, "a.md")) == [(1, "Named")]


@pytest.mark.parametrize("mark", ["!!! note", '??? note "Title"', '???+ note inline "T"'])
def test_an_indented_box_is_a_quote_with_blocks_inside(mark: str) -> None:
    body = "    Text *x*.\n\n    - item\n\n    ```py\n    # code\n    ```\n"
    source = f"Before.\n{mark}\n{body}\nAfter.\n"
    document = read(source, "a.md")
    check(document, source)
    assert [block.kind for block in document.blocks if block.parent is None] == [
        "paragraph",
        "quote",
        "paragraph",
    ]
    (quote,) = of_kind(document, "quote")
    assert quote.attributes == {"alert": "note", "directive": "note"}
    assert under(document, quote) == [
        ("paragraph", "Text *x*."),
        ("list", "- item"),
        ("code", "```py\n    # code\n    ```"),
    ]


def test_boxes_stand_in_lists_and_in_boxes() -> None:
    box = "    !!! tip\n        Inside.\n\n        !!! danger\n            Deep.\n"
    source = f"1. step\n\n{box}\n2. next\n"
    document = read(source, "a.md")
    check(document, source)
    outer, inner = of_kind(document, "quote")
    assert (outer.attributes["alert"], inner.attributes["alert"]) == ("tip", "danger")
    assert document.blocks[outer.parent or 0].kind == "list_item"
    assert document.blocks[inner.parent or 0] == outer
    assert [item.level for item in of_kind(document, "list_item")] == [1, 1]
    assert text_of(document, outer).endswith("Deep.")


def test_tabs_are_quotes_of_their_own() -> None:
    source = '=== "One"\n\n    ```sh\n    a\n    ```\n\n=== "Two"\n\n    Text.\n'
    document = read(source, "a.md")
    check(document, source)
    assert [block.attributes for block in of_kind(document, "quote")] == [{"directive": "tab"}] * 2
    assert texts(document, "code") == ["```sh\n    a\n    ```"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (":::note Title\nText.\n:::", "note"),
        ("::: warning\n\nText.\n\n:::", "warning"),
        (":::tip[Title]\nText.\n:::", "tip"),
        (":::{note} Title\n:class: x\nText.\n:::", "note"),
        ("::: {.callout-tip}\nText.\n:::", "tip"),
        ("/// note | Title\n\nText.\n\n///", "note"),
        ("```{note} Title\nText.\n```", "note"),
        ("> [!NOTE]\n> Text.", "note"),
        ("> [!question]- Title\n> Text.", "question"),
    ],
)
def test_a_container_is_a_quote_with_an_alert(source: str, name: str) -> None:
    document = read(f"Above\n\n{source}\n\n# Below\n", "a.md")
    check(document, f"Above\n\n{source}\n\n# Below\n")
    quote = one(document, "quote")
    assert quote.attributes["alert"] == name
    assert text_of(document, quote) == source
    assert under(document, quote)[-1][0] == "paragraph"
    assert under(document, quote)[-1][1].endswith("Text.")
    assert headings(document) == [(1, "Below")]


def test_containers_nest_and_hold_no_headings() -> None:
    source = "::::note\n## no\n:::tip\n- a\n:::\n::::\n## yes\n"
    document = read(source, "a.md")
    check(document, source)
    outer, inner = of_kind(document, "quote")
    assert document.blocks[inner.parent or 0] == outer
    assert headings(document) == [(2, "yes")]


def test_a_container_that_only_lays_out_is_transparent() -> None:
    document = read("::: {.columns}\n## Heading\n\nText\n:::\n", "a.md")
    assert headings(document) == [(2, "Heading")]
    assert document.blocks[0].attributes == {"directive": "columns"}


def test_marks_inside_of_code_begin_nothing() -> None:
    source = (
        "```\n:::note\n!!! tip\n```\n\nText\n\n:::tip\n```\n:::\n```\n:::\n\n    !!! note\n\n# H\n"
    )
    document = read(source, "a.md")
    check(document, source)
    assert text_of(document, one(document, "quote")) == ":::tip\n```\n:::\n```\n:::"
    assert texts(document, "code")[0] == "```\n:::note\n!!! tip\n```"
    assert headings(document) == [(1, "H")]


def test_definitions_are_read_beside_containers_and_emoji() -> None:
    source = ":smile: hello\n\nTerm\n: Meaning\n\n:::note\nx\n:::\n\n"
    source += "Other\n\n:   Paragraph\n\n    more\n"
    document = read(source, "a.md")
    check(document, source)
    entries = of_kind(document, "definition")
    assert [attribute(document, entry, "term") for entry in entries] == ["Term", "Other"]
    assert text_of(document, entries[1]).endswith("more")
    assert texts(document, "paragraph")[0] == ":smile: hello"


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("Table 1: Sizes\n\n| a |\n|---|\n| 1 |\n", "Table 1: Sizes"),
        ("| a |\n|---|\n| 1 |\n\n**Table 2.** Sizes\n", "**Table 2.** Sizes"),
        ("| a |\n|---|\n| 1 |\nTable 1: Sizes\n", "Table 1: Sizes"),
        ("| a |\n|---|\n| 1 |\n\n: Sizes\n", ": Sizes"),
        ("Table: Sizes\n\n| a |\n|---|\n| 1 |\n", "Table: Sizes"),
        ("Tables are fine: see\n\n| a |\n|---|\n| 1 |\n", None),
    ],
)
def test_the_caption_of_a_table(source: str, caption: str | None) -> None:
    document = read(source, "a.md")
    check(document, source)
    table = one(document, "table")
    found = attribute(document, table, "caption") if "caption" in table.attributes else None
    assert found == caption
    assert texts(document, "caption") == ([caption] if caption else [])
    assert len(of_kind(document, "table_row")) == 2


def test_each_caption_belongs_to_one_table() -> None:
    table = "| a |\n|---|\n| 1 |\n"
    document = read(f"{table}\nTable 1: x\n\n{table}\nTable 2: y\n", "a.md")
    found = [attribute(document, block, "caption") for block in of_kind(document, "table")]
    assert found == ["Table 1: x", "Table 2: y"]


def test_a_table_in_html_has_rows() -> None:
    source = (
        "<table>\n<caption>C</caption>\n<thead><tr><th>A</th><th>B</th></tr></thead>\n"
        "<tr><td>1</td><td>2</td></tr>\n<tr><td>3<td>4\n</table>\n\ntext\n"
    )
    document = read(source, "a.md")
    check(document, source)
    table = one(document, "table")
    assert attribute(document, table, "header") == "<tr><th>A</th><th>B</th></tr>"
    assert attribute(document, table, "caption") == "C"
    rows = of_kind(document, "table_row")
    cells = [[document.text[s:e] for s, e in row.attributes["cells"]] for row in rows]
    assert cells == [["A", "B"], ["1", "2"], ["3", "4"]]


def test_html_around_markdown_leaves_it_markdown() -> None:
    source = "<details>\n<summary>S</summary>\n\n- a\n\n</details>\n"
    document = read(source, "a.md")
    assert [block.kind for block in document.blocks] == [
        "paragraph",
        "list",
        "list_item",
        "paragraph",
    ]


def test_javascript_of_mdx_holds_no_markdown() -> None:
    source = dedent(
        """\
        import X from './x'

        export const meta = {
          # no

          - no
        }

        # Yes

        <Tabs items={[
          "# no"]}>
          <Tab>

        ## Also

              Indented text

          </Tab>
        </Tabs>

        {/*
        # no
        */}

        import of goods
        """
    )
    document = read(source, "a.mdx")
    check(document, source)
    assert headings(document) == [(1, "Yes"), (2, "Also")]
    assert texts(document, "code") == [
        "import X from './x'",
        "export const meta = {\n  # no\n\n  - no\n}",
    ]
    html = [b for b in document.blocks if b.attributes.get("html")]
    assert [text_of(document, block) for block in html] == [
        '<Tabs items={[\n  "# no"]}>',
        "<Tab>",
        "</Tab>",
        "</Tabs>",
        "{/*\n# no\n*/}",
    ]
    assert "Indented text" in texts(document, "paragraph")
    assert not of_kind(document, "list")


def test_fences_hold_fences_and_stand_in_lists() -> None:
    listed = "- a\n\n  ```py\n  # no\n  ```\n\n  | x |\n  |---|\n  | y |\n"
    source = f"````md\n```\n# no\n```\n````\n\n{listed}"
    document = read(source, "a.md")
    check(document, source)
    assert len(of_kind(document, "code")) == 2
    assert document.blocks[one(document, "table").parent or 0].kind == "list_item"
    assert headings(document) == []


def test_a_fence_that_is_never_closed_is_code_to_the_end() -> None:
    document = read("# A\n\n```sh\n# b\n\n:::note\nx\n:::\n", "a.md")
    assert [block.kind for block in document.blocks] == ["heading", "code"]


def test_lines_that_were_wrapped_stay_one_paragraph() -> None:
    source = "It was in the year\n1998. That was long\nago, and\n2) is no item.\n"
    document = read(source, "a.md")
    assert outline(document) == [("paragraph", source.strip())]


def test_mathematics_in_a_fence_is_a_formula() -> None:
    assert texts(read("```math\nx\n```\n", "a.md"), "formula") == ["```math\nx\n```"]


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
        ":::note\n" * 5_000 + ":::\n" * 5_000,
        "!!! note\n" * 5_000,
        "```{note}\n" * 5_000 + "```\n" * 5_000,
        "a ``` ::: " * 5_000,
        "<table><tr>" * 5_000 + "</table>",
    ],
    ids=[
        "quotes",
        "lists",
        "brackets",
        "emphasis",
        "backticks",
        "columns",
        "items",
        "containers",
        "boxes",
        "directives",
        "signs",
        "tables",
    ],
)
def test_hostile_nesting_is_read(source: str) -> None:
    check(read(source, "a.md"), source)


@pytest.mark.parametrize("piece", ["{\n", "<A b={\n", "{`\n", "export const a = {\n\n", "<A>\n"])
def test_script_that_is_never_closed_is_read(piece: str) -> None:
    check(read(piece * 5_000, "a.mdx"), piece * 5_000)


PIECES = [
    "# ", "## é", "- ", "1. ", "> ", "```", "~~~", "    ", "  ", "| a | b |\n", "|---|---|\n",
    "*", "_", "[x]", "[^1]", "[^1]: ", "[a]: b\n", ": ", "\n", "\n\n", "\r\n", "\r", "---\n",
    "===\n", "$$", "<b>", "</div>\n", "<!--", "word", "日本", "🎉", "\\", "&amp;", "\t", "+++\n",
    "title: x\n", "\u2028", "{#a}", "!!! note\n", ":::\n", "[!NOTE]\n", "- [ ] ", ":::tip\n",
    "```{note}\n", '=== "T"\n', "\n    text\n", "/// tip\n", "///\n", "Table 1: x\n",
    "Term\n: def\n",
    "<table><tr><td>", "</table>\n", "<Tabs>\n", "import x from 'y'\n", "{a}\n", ":smile:",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
)


@given(TEXTS, st.sampled_from(["a.md", "a.mdx"]))
def test_any_markdown_keeps_the_invariants(source: str, name: str) -> None:
    document = read(source, name)
    assert document.text == source.removeprefix("\ufeff")
    assert document.segments.is_identity
    check(document, source)
    assert read(source, name) == document
