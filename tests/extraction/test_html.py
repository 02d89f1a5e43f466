from __future__ import annotations

import pytest
from extraction.checks import attribute, check, outline, read, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.types import Block, Document, Span, Status


def cells(document: Document) -> list[list[str]]:
    return [
        [document.text[start:end] for start, end in block.attributes["cells"]]
        for block in document.blocks
        if block.kind == "table_row"
    ]


def blocks(document: Document, kind: str) -> list[Block]:
    return [block for block in document.blocks if block.kind == kind]


def back(document: Document, source: str, text: str) -> str:
    """The source that stands for the first occurrence of ``text``."""
    start = document.text.index(text)
    (span,) = document.segments.to_source((start, start + len(text)))
    return source[span.start : span.end]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>one<p>two", "one\n\ntwo"),
        ("bare <b>text</b><br>and a line", "bare text\nand a line"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<span>a</span><span>b</span> <i>c</i>", "ab c"),
        ("<p> a \r\n\t b <b> c</b>\n</p>\n", "a b c"),
        ("<p>a</p><ul><li>b<li><p>c</p></ul><p>d", "a\n\nb\nc\n\nd"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "a\nb\nc"),
        (
            "<p>a<script>x()</script><style>y</style><template>z</template><noscript>n</noscript>b",
            "ab",
        ),
        ("<address>a<br>b</address><details><summary>s</summary>d</details>", "a\nb\n\ns\n\nd"),
        ("<my-card>a <x-y>b</x-y></my-card>", "a b"),
        ("a<!-- comment -->b<?pi?>c", "abc"),
        ("<p>a<hr>b", "a\n\n---\n\nb"),
        ("<p>a&nbsp;&amp;&lt;&eacute;&copy &nosuch; &#8364;&#0;", "a\u00a0&<é© &nosuch; €\ufffd"),
        ("<h1>two<br>lines</h1>", "two lines"),
        ("<p>a<br><br>b", "a\n\nb"),
        ("<textarea>t</textarea><select><option>o<option>p</select>q", "t\n\no\n\np\n\nq"),
        ("<svg><title>t</title><text>s</text><path/></svg>x", "sx"),
        ("< 5 & x > 4", "< 5 & x > 4"),
        ("</p></div></b>x</body>after</html>", "xafter"),
        ("<p>a<button><p>b</button>c", "a\n\nb\n\nc"),
        ("text<title>late</title>", "text"),
    ],
)
def test_the_text_is_what_a_reader_sees(source: str, text: str) -> None:
    document = read(source, "a.html")
    assert document.text.replace("\n\n", "\n") == text.replace("\n\n", "\n")
    check(document, source)


def test_every_character_leads_back_to_its_source() -> None:
    source = "<p>Caf&eacute;\r\n &amp; <b>t\rea</b></p>\r\n<pre>\r\n x\r\n\ty</pre>"
    document = read(source, "a.html")
    assert document.text == "Café & t ea\n\n x\n\ty"
    assert back(document, source, "é") == "&eacute;"
    assert back(document, source, "é & t ea") == "&eacute;\r\n &amp; <b>t\rea"
    assert back(document, source, " x\n\ty") == " x\r\n\ty"
    assert document.segments.from_source((0, len(source))) == (Span(0, len(document.text)),)
    assert document.lines_of(document.text.index("y"), len(document.text)) == (6, 6)
    check(document, source)


def test_zero_characters_are_no_text() -> None:
    source = "<p>a\0b<pre>c\0d</pre>" + "." * 5000
    document = read(source, "a.html")
    assert document.text.startswith("ab\n\ncd\n\n...")
    check(document, source)


def test_a_mark_counts_in_the_source() -> None:
    document = read("\ufeff<p>x</p>\n<p>y", "a.html")
    assert document.segments.to_source((0, 1))[0].start == 4
    assert document.line_starts == (0, 10)


def test_headings_have_levels_and_content() -> None:
    source = "<h1>One <em>x</em></h1><h3 id=a> Three <a class=headerlink>¶</a></h3><h2></h2>"
    document = read(source, "a.html")
    found = [(b.level, attribute(document, b, "content")) for b in blocks(document, "heading")]
    assert found == [(1, "One x"), (3, "Three")]
    check(document, source)


def test_headings_inside_lists_and_quotes_are_paragraphs() -> None:
    source = "<blockquote><h2>q</h2>text</blockquote><ul><li><h3>i</h3></ul><dl><dt><h4>t</h4></dl>"
    document = read(source, "a.html")
    assert blocks(document, "heading") == []
    assert texts(document, "paragraph") == ["q", "text", "i", "t"]
    check(document, source)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title> A &mdash;\n B </title><h1>C</h1>", "A — B"),
        ("<body><h2>B</h2><h1>C <b>d</b></h1>", "C d"),
        ("<h2>only</h2>", None),
        ("<body><svg><title>drawing</title></svg>x", None),
    ],
)
def test_the_title(source: str, title: str | None) -> None:
    assert read(source, "a.html").title == title


def test_the_language_is_that_of_the_page() -> None:
    assert read("<html lang='de-AT'><p>x", "a.html").language == "de-AT"
    assert read("<p>x", "a.html").language is None


def test_lists_nest_and_number_their_items() -> None:
    source = "<p>So:</p><ol start=3><li>a<ul><li>b</ul>c<li value=7><p>d<p>e</ol>"
    document = read(source, "a.html")
    items = blocks(document, "list_item")
    assert [(item.attributes["marker"], item.level) for item in items] == [
        ("3.", 1),
        ("-", 2),
        ("7.", 1),
    ]
    outer, inner = blocks(document, "list")
    assert attribute(document, outer, "lead_in") == "So:"
    assert (outer.attributes["ordered"], inner.attributes["ordered"]) == (True, False)
    assert texts(document, "list_item") == ["a\nb\nc", "b", "d\n\ne"]
    assert texts(document, "paragraph") == ["So:", "d", "e"]
    check(document, source)


def test_a_definition_is_its_terms_with_their_descriptions() -> None:
    source = (
        "<dl><dt>a</dt><dd>one</dd><dt>b<dt>c<dd><p>two</p><p>three</p>"
        "<div><dt>d</dt><dd>four<dl><dt>e<dd>f</dl></dd></div></dl>"
    )
    document = read(source, "a.html")
    entries = blocks(document, "definition")
    assert texts(document, "definition") == [
        "a\none",
        "b\nc\ntwo\n\nthree",
        "d\nfour\n\ne\nf",
        "e\nf",
    ]
    assert [attribute(document, entry, "term") for entry in entries] == ["a", "b\nc", "d", "e"]
    check(document, source)


def test_a_table_has_rows_and_gives_merged_cells_once() -> None:
    source = (
        "<table><caption>Doses</caption><thead><tr><th>Size<th colspan=2>Dose</thead>"
        "<tbody><tr><td rowspan=2>1 l<td>50 ml<td>20 min<tr><td>75 ml<td>15 min</table>"
    )
    document = read(source, "a.html")
    assert document.text == "Doses\nSize | Dose\n1 l | 50 ml | 20 min\n75 ml | 15 min"
    (table,) = blocks(document, "table")
    assert table.attributes["columns"] == 3
    assert attribute(document, table, "caption") == "Doses"
    assert attribute(document, table, "header") == "Size | Dose"
    assert cells(document) == [
        ["Size", "Dose", "Dose"],
        ["1 l", "50 ml", "20 min"],
        ["1 l", "75 ml", "15 min"],
    ]
    assert [row.attributes["header"] for row in blocks(document, "table_row")] == [
        True,
        False,
        False,
    ]
    check(document, source)


def test_empty_cells_keep_their_column() -> None:
    document = read("<table><tr><td>a<td><td>b<td><tr><td><td>c</table>", "a.html")
    assert document.text == "a |  | b\nc"
    assert cells(document) == [["a", "", "b", ""], ["", "c"]]
    check(document)


def test_a_row_is_one_block_whatever_its_cells_hold() -> None:
    source = (
        "<table><tr><th>h</th></tr><tr><td><h3>head</h3><ul><li>x<li>y</ul></td>"
        "<td><table><tr><td>in<td>ner</table>tail<td><pre>a\n b</pre></td></tr></table>after"
    )
    document = read(source, "a.html")
    assert texts(document, "table_row") == ["h", "head\nx\ny | in | ner\ntail | a\n b"]
    assert [block.kind for block in document.blocks] == [
        "table",
        "table_row",
        "table_row",
        "paragraph",
    ]
    check(document, source)


def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    source = "<table><tr><td><h1>Title</h1><p>text</td><td><table><tr><td>x<td>y</table></table>"
    document = read(source, "a.html")
    assert outline(document) == [
        ("heading", "Title"),
        ("paragraph", "text"),
        ("table", "x | y"),
        ("table_row", "x | y"),
    ]
    presentation = read("<table role=presentation><tr><td>a<td>b</table>", "a.html")
    assert texts(presentation, "paragraph") == ["a", "b"]


def test_code_keeps_its_white_space_and_language() -> None:
    source = (
        '<p>Run:</p><pre><code class="language-sh">\n\n  a   b\n\n\tc  \n</code></pre>'
        "<div class=highlight-python><div class=highlight><pre>x<br>y</pre></div></div><pre> </pre>"
    )
    document = read(source, "a.html")
    assert texts(document, "code") == ["  a   b\n\n\tc", "x\ny"]
    assert [block.attributes.get("language") for block in blocks(document, "code")] == [
        "sh",
        "python",
    ]
    assert attribute(document, blocks(document, "code")[0], "lead_in") == "Run:"
    check(document, source)


def test_figures_have_captions_and_quotes_have_paragraphs() -> None:
    source = (
        "<figure><img src=x><p>seen</p><figcaption>Fig. 1</figcaption></figure>"
        "<blockquote>a<p>b</blockquote>"
    )
    document = read(source, "a.html")
    assert outline(document) == [
        ("figure", "seen\n\nFig. 1"),
        ("paragraph", "seen"),
        ("caption", "Fig. 1"),
        ("quote", "a\n\nb"),
        ("paragraph", "a"),
        ("paragraph", "b"),
    ]
    assert attribute(document, document.blocks[0], "caption") == "Fig. 1"
    check(document, source)


def test_boilerplate_stands_behind_the_body() -> None:
    source = (
        "<header>Site</header><nav><a>Home</a></nav><main><article><header><h1>T</h1></header>"
        "<p>text</p><p hidden>secret</p><footer>Author</footer></article></main>"
        "<aside>Related</aside><form><label>Search</label></form><div role=contentinfo>(c)</div>"
    )
    document = read(source, "a.html")
    assert document.text[: document.body_end] == "T\n\ntext\n\nAuthor"
    assert texts(document, "paragraph", "boilerplate") == [
        "Site",
        "Home",
        "secret",
        "Related",
        "Search",
        "(c)",
    ]
    check(document, source)


def test_the_only_main_heading_is_body_even_in_the_page_header() -> None:
    source = "<header><p>Site</p><h1>Title</h1>x</header><p>text</p>"
    document = read(source, "a.html")
    assert outline(document) == [("heading", "Title"), ("paragraph", "text")]
    assert texts(document, "paragraph", "boilerplate") == ["Site", "x"]
    two = read("<header><h1>Site</h1></header><h1>Title</h1>", "a.html")
    assert outline(two) == [("heading", "Title")]
    assert texts(two, "heading", "boilerplate") == ["Site"]


def test_a_page_inside_a_form_is_body() -> None:
    document = read("<form><h1>Title</h1><p>text</p></form>", "a.html")
    assert outline(document) == [("heading", "Title"), ("paragraph", "text")]


def test_a_page_of_boilerplate_alone_is_body() -> None:
    document = read("<nav><ul><li>one<li>two</ul></nav>", "a.html")
    assert texts(document, "list_item") == ["one", "two"]
    assert document.status is Status.OK


def test_text_in_a_table_outside_its_cells_stays_where_it_is() -> None:
    source = "<table>a<tr>b<td>c</td>d</tr>e</table>f"
    document = read(source, "a.html")
    assert [sign for sign in document.text if sign.isalpha()] == list("abcdef")
    check(document, source)


def test_unclosed_and_misnested_tags_close_where_they_must() -> None:
    source = "<ul><li>a<li><b>b<li>c</b></ul><p>d<table><tr><td><p>e</p></div></table>f<p>g</div>"
    document = read(source, "a.html")
    assert texts(document, "list_item") == ["a", "b", "c"]
    assert texts(document, "table_row") == ["e"]
    assert texts(document, "paragraph") == ["d", "f", "g"]
    check(document, source)


def test_what_is_unclosed_in_the_head_swallows_no_body() -> None:
    for head in ("<noscript><p>n", "<head><noscript><img>", "<head><meta charset=utf-8>"):
        document = read(f"<html>{head}</noscript></head><body><p>text</body>", "a.html")
        assert document.text == "text"
    assert read("<head><body>text", "a.html").text == "text"
    assert read("<head>text", "a.html").text == "text"


def test_xhtml_may_leave_elements_empty() -> None:
    source = (
        '<?xml version="1.0" encoding="UTF-8"?><html><head><title/><script src="x"/></head>'
        "<body><p><a id='x'/>one</p><div/><p>two</p></body></html>"
    )
    document = read(source, "a.xhtml")
    assert texts(document, "paragraph") == ["one", "two"]
    check(document, source)


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="windows-1251">',
        '<meta http-equiv=Content-Type content="text/html; charset=windows-1251">',
        "<?xml version='1.0' encoding='windows-1251'?>",
    ],
)
def test_the_page_says_which_encoding_it_is_in(head: str) -> None:
    document = read((head + "<p>Привет").encode("cp1251"), "a.html")
    assert document.text == "Привет"
    assert document.encoding == "cp1251"
    assert document.warnings == ()


@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 50_000 + "x",
        "<b>" * 20_000 + "<div>" * 20_000 + "x",
        "<table><tr><td>" * 3_000 + "x",
        "<ul><li>" * 5_000 + "x",
        "<dl>" * 2_000 + "<dt>a<dd>b" * 2_000,
        "<table>" + "<div>" * 10_000 + "<tr>x" * 10_000,
        "<span>" * 20_000 + "</p></div></b>" * 20_000 + "x",
        "<figure><figcaption>x" * 3_000,
        "<nav><h1>" * 2_000 + "x",
        "<pre>" + "\n<b>" * 20_000 + "x",
        "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">x",
        "<p>x<!--" + "y" * 500_000,
        "<table><tr>" + "<td colspan=1000 rowspan=1000>x" * 2_000,
    ],
    ids=range(13),
)
def test_hostile_nesting_is_read(source: str) -> None:
    document = read(source, "a.html")
    assert document.text.count("x") == source.count("x") or "colspan" in source
    check(document, source)


PIECES = [
    "<p>", "</p>", "<div>", "</div>", "<ul>", "<li>", "</ul>", "<ol start=2>", "<table>", "<tr>",
    "<td>", "<th colspan=2>", "<td rowspan=3>", "</table>", "</td>", "<thead>", "<caption>",
    "<h1>", "</h1>", "<h2>", "<pre>", "</pre>", "<code class=language-x>", "<br>", "<hr>",
    "<dl>", "<dt>", "<dd>", "</dl>", "<nav>", "</nav>", "<header>", "</header>",
    "<aside hidden>", "</aside>", "<form>", "</form>", "<b>", "</b>", "<blockquote>",
    "</blockquote>", "<figure>", "<figcaption>", "</figure>", "<script>", "</script>", "<title>",
    "</title>", "<head>", "</head>", "<body>", "<main>", "</main>", "<svg>", "</svg>",
    "<template>", "</template>", "<select>", "<option>", "<!--", "-->", "<![CDATA[", "]]>",
    "&amp;", "&eacute", "&nbsp;", "&#13;", "\r\n", "\n", "\r", " ", "  \t", "word", "é🎉",
    "\u00a0", "<table role=presentation>", "\0", "<textarea>", "<x-y/>", "<", "\u2028", "</",
    "<plaintext>",
]  # fmt: skip
SOURCES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
)


@given(SOURCES)
def test_any_html_keeps_the_invariants(source: str) -> None:
    filled = source + "<i>" + "." * 5000 + "</i>" if "\0" in source else source
    document = read(filled, "a.html")
    check(document, filled)
    assert "\0" not in document.text
    assert read(filled, "a.html") == document


@given(
    st.lists(st.sampled_from([p for p in PIECES if not p.startswith(("<!", "\0"))]), max_size=25)
)
def test_no_word_is_lost(pieces: list[str]) -> None:
    skipped = ("script", "title", "head", "template", "plaintext", "textarea")
    kept = [p for p in pieces if not any(name in p for name in skipped) and p not in ("<", "</")]
    source = "".join(piece + " w " if piece.startswith("<") else piece for piece in kept)
    document = read(source, "a.html")
    assert document.text.count("w") == source.count(" w ") + source.count("word")
