from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from extraction.checks import attribute, check, outline, read, text_of, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.extraction import extractor_for
from merestone.types import Block, Document


def rst(source: str) -> Document:
    document = read(dedent(source), "a.rst")
    check(document, dedent(source))
    return document


def kinds(document: Document, *, parent: int | None = None) -> list[str]:
    return [block.kind for block in document.blocks if block.parent == parent]


def of_kind(document: Document, kind: str) -> list[Block]:
    return [block for block in document.blocks if block.kind == kind]


def headings(document: Document) -> list[tuple[int | None, str]]:
    found = of_kind(document, "heading")
    return [(block.level, flat(attribute(document, block, "content"))) for block in found]


def flat(text: str) -> str:
    return " ".join(text.split())


def cells(document: Document) -> list[list[str]]:
    rows = of_kind(document, "table_row")
    return [[document.text[s:e] for s, e in row.attributes["cells"]] for row in rows]


def terms(document: Document) -> list[str]:
    return [attribute(document, block, "term") for block in of_kind(document, "definition")]


def test_its_reader_takes_it() -> None:
    extractor = extractor_for("text/x-rst")
    assert extractor is not None
    assert extractor.name == "rst"


def test_offsets_are_code_points_of_the_source() -> None:
    source = "\ufeffÜnïcode 🎉\r\n===========\r\n\r\n日本 *x*\r\n"
    document = read(source, "a.rst")
    assert document.text == source[1:]
    assert headings(document) == [(1, "Ünïcode 🎉")]
    assert texts(document, "paragraph") == ["日本 *x*"]
    assert document.title == "Ünïcode 🎉"
    check(document, source)


def test_headings_have_the_levels_in_which_their_adornments_appear() -> None:
    document = rst(
        """\
        =====
        Title
        =====

        One
        ===

        Two
        ---

        One again
        =========

        日本
        ----
        text
        """
    )
    assert headings(document) == [
        (1, "Title"),
        (2, "One"),
        (3, "Two"),
        (2, "One again"),
        (3, "日本"),
    ]
    assert texts(document, "heading")[0] == "=====\nTitle\n====="


@pytest.mark.parametrize(
    "source",
    [
        "A word\n==\n",
        "Ends with::\n\n    ====\n",
        "- item\n\n  Title\n  =====\n",
        "text\n\n....\n\ntext",
        "..\n\nx",
    ],
)
def test_what_is_no_heading(source: str) -> None:
    assert not headings(rst(source))


def test_lists_nest_and_know_what_introduces_them() -> None:
    document = rst(
        """\
        Words. Do this:

        1. first

           * nested
             goes on

           more
        2. second

        #. third

        A. Author is
        no list.
        """
    )
    lists = of_kind(document, "list")
    assert [block.attributes["ordered"] for block in lists] == [True, False]
    assert attribute(document, lists[0], "lead_in") == "Words. Do this:"
    items = of_kind(document, "list_item")
    assert [(item.level, item.attributes["marker"]) for item in items] == [
        (1, "1."),
        (2, "*"),
        (1, "2."),
        (1, "#."),
    ]
    assert texts(document, "paragraph")[-1] == "A. Author is\nno list."


def test_an_item_of_one_paragraph_is_that_paragraph() -> None:
    document = rst("- one\n  two\n- three\n\n  four\n")
    assert [block.kind for block in document.blocks] == [
        "list",
        "list_item",
        "list_item",
        "paragraph",
        "paragraph",
    ]


def test_an_indented_list_belongs_to_the_text_around_it() -> None:
    document = rst("Choose one of:\n\n  - a\n  - b\n\nOr quote:\n\n  Words said.\n")
    assert kinds(document) == ["paragraph", "list", "paragraph", "quote"]
    assert attribute(document, of_kind(document, "list")[0], "lead_in") == "Choose one of:"


def test_terms_fields_and_options_are_definitions() -> None:
    document = rst(
        """\
        Text.

        term
            Its definition.

            More of it.
        other : classifier
            Def.

        :param x: the *x*
        :returns: a long
            answer

        -x FILE, --long=FILE  Option text
                              goes on
        --verbose             Loud
        """
    )
    assert terms(document) == [
        "term",
        "other : classifier",
        "param x",
        "returns",
        "-x FILE, --long=FILE",
        "--verbose",
    ]
    assert text_of(document, of_kind(document, "definition")[0]).endswith("More of it.")
    assert "a long\n    answer" in texts(document, "paragraph")


def test_literal_blocks_in_all_their_forms() -> None:
    document = rst(
        """\
        .. highlight:: c

        Example::

            int x;

              y;

        .. code-block:: python
           :caption: Title

           print()

        >>> 1 + 1
        2

        Quoted::

        > one
        > two

        ::

            alone

        - in an item::

              code
        """
    )
    code = of_kind(document, "code")
    assert [text_of(document, block) for block in code] == [
        "    int x;\n\n      y;",
        ".. code-block:: python\n   :caption: Title\n\n   print()",
        ">>> 1 + 1\n2",
        "> one\n> two",
        "::\n\n    alone",
        "      code",
    ]
    assert [block.attributes["language"] for block in code] == ["c", "python", "pycon"] + ["c"] * 3
    assert attribute(document, code[0], "lead_in") == "Example::"
    assert attribute(document, code[1], "caption") == "Title"


def test_a_grid_table() -> None:
    document = rst(
        """\
        +------+---------+
        | Näme | Meaning |
        +======+=========+
        | a    | first   |
        +------+----+----+
        | two  | x  | y  |
        +------+----+----+
        """
    )
    table = of_kind(document, "table")[0]
    assert table.attributes["columns"] == 3
    assert attribute(document, table, "header").endswith("+======+=========+")
    assert cells(document) == [["Näme", "Meaning"], ["a", "first"], ["two", "x", "y"]]
    rows = of_kind(document, "table_row")
    assert [row.attributes["header"] for row in rows] == [True, False, False]


def test_a_simple_table() -> None:
    document = rst(
        """\
        ====  =======  ===
        Code  Meaning  No
        ====  =======  ===
        日    first
              goes on  1

        b     second
        ====  =======  ===

        ===  ===
        a    b
        ===  ===
        """
    )
    first, second = of_kind(document, "table")
    assert first.attributes["columns"] == 3
    assert "header" not in second.attributes
    assert cells(document) == [
        ["Code", "Meaning", "No"],
        ["日", "first\n      goes on", "1"],
        ["b", "second", ""],
        ["a", "b"],
    ]


def test_tables_of_directives_have_a_caption() -> None:
    document = rst(
        """\
        .. list-table:: Listed
           :header-rows: 1

           * - A
             - B
           * - one
               more
             - two

        .. csv-table:: Given
           :header: "Name", "What, ever"

           "a", "b ""q"" c"
           x, "y
           z"

        .. table:: Drawn

           ===  ===
           a    b
           ===  ===
        """
    )
    tables = of_kind(document, "table")
    captions = [attribute(document, table, "caption") for table in tables]
    assert captions == ["Listed", "Given", "Drawn"]
    assert attribute(document, tables[0], "header") == "* - A\n     - B"
    assert attribute(document, tables[1], "header") == '"Name", "What, ever"'
    assert cells(document) == [
        ["A", "B"],
        ["one\n       more", "two"],
        ["Name", "What, ever"],
        ["a", 'b ""q"" c'],
        ["x", "y\n   z"],
        ["a", "b"],
    ]


def test_object_descriptions_are_definitions_with_their_signatures() -> None:
    document = rst(
        """\
        .. class:: Parser(prog=None, \\
                          usage=None)
           :canonical: x

           Make one.

           .. py:method:: add(name)
                          add(*names)

              Adds it.

              .. versionchanged:: 3.5
                 Changed.

        .. option:: -q, --quiet

           Quiet.
        """
    )
    assert terms(document) == [
        "Parser(prog=None, \\\n                  usage=None)",
        "add(name)\n                  add(*names)",
        "-q, --quiet",
    ]
    method = of_kind(document, "definition")[1]
    assert document.blocks[method.parent or 0].kind == "definition"
    (quote,) = of_kind(document, "quote")
    assert quote.attributes == {"alert": "versionchanged", "directive": "versionchanged"}
    assert texts(document, "paragraph") == ["Make one.", "Adds it.", "Changed.", "Quiet."]


def test_directives_with_a_body_are_quotes() -> None:
    document = rst(
        """\
        .. note:: Begins here
           and goes on.

           - listed

        .. warning::
           :class: strong

           Careful.

        .. deprecated:: 3.1

        .. topic:: Name

           Body.
        """
    )
    quotes = of_kind(document, "quote")
    assert [block.attributes.get("alert") for block in quotes] == [
        "note",
        "warning",
        "deprecated",
        None,
    ]
    assert quotes[-1].attributes["directive"] == "topic"
    assert texts(document, "paragraph") == ["Begins here\n   and goes on.", "Careful.", "Body."]


def test_figures_formulas_footnotes_glossaries() -> None:
    document = rst(
        """\
        .. figure:: a.png
           :alt: x

           The caption.

           The legend.

        .. math::

           a = b

        .. [#note] A note
           goes on.
        .. [Knuth84] A book.

        .. glossary::

           one
           two
              Their meaning.
        """
    )
    (figure,) = of_kind(document, "figure")
    assert attribute(document, figure, "caption") == "The caption."
    assert texts(document, "caption") == ["The caption."]
    assert texts(document, "formula") == [".. math::\n\n   a = b"]
    labels = [block.attributes["label"] for block in of_kind(document, "footnote")]
    assert labels == ["note", "Knuth84"]
    assert terms(document) == ["one\n   two"]


def test_what_is_not_shown_is_a_paragraph_that_says_so() -> None:
    document = rst(
        """\
        .. _place: http://example.org
        .. |name| replace:: words
        .. A comment.

           All of it.
        .. toctree::
           :maxdepth: 2

           a
           b

        -----
        """
    )
    assert outline(document)[-1] == ("rule", "-----")
    assert [block.attributes for block in document.blocks[:-1]] == [
        {"target": "place"},
        {"substitution": "name"},
        {"comment": True},
        {"directive": "toctree"},
    ]


def test_headings_inside_of_conditions_are_headings() -> None:
    document = rst("A\n=\n\n.. only:: html\n\n   B\n   -\n\n   text\n")
    assert headings(document) == [(1, "A"), (2, "B")]


def test_fields_before_the_text_are_metadata() -> None:
    document = rst(
        """\
        .. comment

        Title
        =====

        :Author: Me
          and you
        :orphan:

        .. meta::
           :description: About
             this

        Text.

        :not: metadata
        """
    )
    assert document.metadata == {
        "author": "Me and you",
        "orphan": True,
        "description": "About this",
    }
    assert document.title == "Title"


def test_the_title_of_a_text_without_headings_is_its_field() -> None:
    assert rst(":title: Said so\n\nText.\n").title == "Said so"
    assert rst("Text.\n").title is None


def test_the_header_of_a_proposal_is_front_matter() -> None:
    document = rst("PEP: 8\nTitle: Style\n Guide\nAuthor: A\n\nIntro\n=====\n\nText\n")
    assert document.metadata == {"pep": "8", "title": "Style Guide", "author": "A"}
    assert document.title == "Style Guide"
    assert kinds(document) == ["front_matter", "heading", "paragraph"]


def understood(source: str) -> tuple[list[tuple[int, str]], Counter[str], list[str]]:
    """Sections, number of blocks by kind, and terms as docutils reads them."""
    settings = {
        "report_level": 5,
        "halt_level": 6,
        "doctitle_xform": False,
        "docinfo_xform": False,
        "sectsubtitle_xform": False,
        "file_insertion_enabled": False,
        "warning_stream": io.StringIO(),
    }
    tree = publish_doctree(source, settings_overrides=settings)
    sections = []
    for section in tree.findall(nodes.section):
        level, node = 0, section
        while node is not None:
            level += isinstance(node, nodes.section)
            node = node.parent
        sections.append((level, flat(section[0].astext())))
    numbers: Counter[str] = Counter()
    for kind, classes in _NODES.items():
        numbers[kind] = sum(isinstance(node, classes) for node in tree.findall())
    found = [flat(node.astext()) for node in tree.findall(nodes.term)]
    return sections, numbers, found


_NODES = {
    "list_item": (nodes.list_item,),
    "definition": (nodes.definition_list_item, nodes.field, nodes.option_list_item),
    "code": (nodes.literal_block, nodes.doctest_block),
    "table": (nodes.table,),
    "table_row": (nodes.row,),
    "footnote": (nodes.footnote, nodes.citation),
    "formula": (nodes.math_block,),
    "rule": (nodes.transition,),
}
SOUND = [
    "Words of a text\nthat goes on.\n",
    "- one\n- two\n\n  more\n\n  - inner\n",
    "1. one\n2. two\n\n   a) x\n   b) y\n",
    "term\n   Text.\n\n   - item\n\nnext\n   Text.\n",
    "Words::\n\n   literal\n\n     more\n",
    "::\n\n  alone\n",
    ">>> x\n1\n",
    "+---+---+\n| a | b |\n+===+===+\n| c | d |\n+---+---+\n",
    "===  ===\na    b\n===  ===\nc    d\n     e\nf    g\n===  ===\n",
    ":field: value\n:other: value\n   more\n",
    "-a         text\n--long=X   text\n           more\n",
    ".. note:: Text\n   more.\n\n   - item\n\n   Again::\n\n      code\n",
    ".. code:: python\n\n   x\n",
    ".. math::\n\n   x\n",
    ".. [1] Note.\n",
    ".. [CIT] Cited.\n\n   - a\n",
    ".. list-table:: T\n   :header-rows: 1\n\n   * - a\n     - b\n   * - c\n     - d\n",
    ".. csv-table:: T\n\n   a, b\n   c, d\n",
    ".. a comment\n   - no list\n",
    ".. _target: x\n",
    "   A quote.\n\n   - item\n",
    "| lines\n| lines\n",
    "Title\n=====\n",
    "Lower\n-----\n",
]


@given(st.lists(st.sampled_from(SOUND), min_size=1, max_size=8))
def test_sound_markup_is_read_as_docutils_reads_it(parts: list[str]) -> None:
    # A paragraph between two parts keeps docutils from joining, say, two lists.
    source = "Top\n===\n\nLow\n---\n\n" + "\nBetween.\n\n".join(parts)
    document = read(source, "a.rst")
    check(document, source)
    sections, numbers, found = understood(source)
    assert headings(document) == sections
    assert Counter({kind: len(of_kind(document, kind)) for kind in _NODES}) == numbers
    ours = [term for term in terms(document) if term in ("term", "next")]
    assert ours == found


def test_a_real_document_is_read_as_docutils_reads_it(bench_data: Path) -> None:
    for path in sorted((bench_data / "corpus" / "rst").glob("*.rst")):
        source = path.read_text(encoding="utf-8")
        document = read(source, path.name)
        check(document, source)
        assert headings(document) == understood(source)[0]


@pytest.mark.parametrize(
    "source",
    [
        "- " * 20_000 + "x",
        "\n\n".join("  " * depth + "- x" for depth in range(400)),
        "\n".join(" " * (200 - depth % 200) + "x" for depth in range(4_000)),
        "===  ===\n" * 5_000,
        "+--+--+\n" * 5_000,
        ":a: " * 10_000,
        ".. csv-table::\n\n" + '   "a\n' * 5_000,
        ".. note:: " * 5_000,
        "- a\n" + "\n" * 20_000,
        "|" * 20_000,
    ],
    ids=[
        "items",
        "stairs",
        "descents",
        "rules",
        "borders",
        "fields",
        "quotes",
        "notes",
        "blank",
        "bars",
    ],
)
def test_hostile_nesting_is_read(source: str) -> None:
    check(read(source, "a.rst"), source)


PIECES = [
    "- ", "1. ", "#. ", ":f: ", "-x  ", ".. ", "..\n", ".. note:: ", ".. code:: py\n", "::\n",
    ".. function:: f(x)\n", ".. [1] ", ".. _t: ", ".. |s| image:: x\n", "__ u\n", "text::\n",
    "text", "word word", "====\n", "===  ===\n", "+--+--+\n", "+==+==+\n", "|a |b |\n", "| ",
    "----\n", "\n", "\n\n", "\r\n", "\r", "   ", "      ", "\t", ">>> x\n", "日本", "🎉", "\u2028",
    "\x0c", ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n", ".. csv-table:: t\n",
    ".. figure:: x\n", ".. glossary::\n", ".. only:: x\n", ".. table:: c\n", "   :opt: v\n", '"',
    "PEP: 1\n", "\u00a0", ".. highlight:: c\n", ".. versionadded:: 3\n", "A",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
)


@given(TEXTS)
def test_any_text_keeps_the_invariants(source: str) -> None:
    document = read(source, "a.rst")
    assert document.text == source.removeprefix("\ufeff")
    assert document.segments.is_identity
    check(document, source)
    assert read(source, "a.rst") == document
