from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from extraction.checks import attribute, check, outline, read, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.extraction.notebook_outputs import MAX_OUTPUT
from merestone.types import Document, Status


def notebook(*cells: object, **metadata: object) -> Document:
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}
    document = read(json.dumps(content), "a.ipynb")
    check(document)
    return document


def markdown(*lines: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": list(lines)}


def code(source: object, *outputs: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def shown(**data: object) -> dict[str, object]:
    kinds = {kind.replace("_", "/"): value for kind, value in data.items()}
    return {"output_type": "display_data", "data": kinds}


def stream(text: object, name: str = "stdout") -> dict[str, object]:
    return {"output_type": "stream", "name": name, "text": text}


def test_cells_are_written_in_order_and_markdown_is_read_as_such() -> None:
    document = notebook(
        markdown("# Fruit\n", "\n", "All of it:\n", "\n", "- apples\n", "- plums"),
        code(["x = 1\n", "x"], {"output_type": "execute_result", "data": {"text/plain": ["1"]}}),
        {"cell_type": "raw", "source": "One.\n\nTwo."},
        markdown("## Trees"),
        kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"},
    )
    assert outline(document) == [
        ("heading", "# Fruit"),
        ("paragraph", "All of it:"),
        ("list", "- apples\n- plums"),
        ("list_item", "- apples"),
        ("list_item", "- plums"),
        ("code", "x = 1\nx"),
        ("cell_output", "1"),
        ("paragraph", "One."),
        ("paragraph", "Two."),
        ("heading", "## Trees"),
    ]
    assert [block.attributes["cell"] for block in document.blocks] == [0] * 5 + [1, 1, 2, 2, 3]
    assert document.title == "Fruit"
    assert document.metadata == {"kernel": "Python 3", "language": "python"}
    assert document.blocks[5].attributes["language"] == "python"
    assert attribute(document, document.blocks[2], "lead_in") == "All of it:"
    assert document.line_starts == ()
    assert document.lines_of(0, 5) is None
    assert document.warnings == ()


def test_spans_in_attributes_of_a_later_cell_point_to_their_own_words() -> None:
    table = ("| a | b |\n", "|---|---|\n", "| 1 | 2 |")
    document = notebook(markdown("Before."), markdown("## Two\n"), markdown(*table))
    kinds = {block.kind: block for block in document.blocks}
    assert attribute(document, kinds["heading"], "content") == "Two"
    assert attribute(document, kinds["table"], "header") == "| a | b |\n|---|---|"
    cells = kinds["table_row"].attributes["cells"]
    assert [document.text[start:end] for start, end in cells] == ["1", "2"]


def test_a_sentence_leads_in_to_the_code_of_the_next_cell() -> None:
    document = notebook(markdown("Then count them:"), code("len(x)"))
    assert attribute(document, document.blocks[1], "lead_in") == "Then count them:"


def test_outputs_are_text_without_escapes() -> None:
    error = {
        "output_type": "error",
        "ename": "E",
        "evalue": "v",
        "traceback": ["\x1b[0;31mE\x1b[0m\x1b]8;;x\x07", "v\x1b[1m!"],
    }
    document = notebook(
        code("a", stream("one\n"), stream(["two\n", "three"]), stream("bad", "stderr")),
        code("b", error, {"output_type": "error", "ename": "E", "evalue": "v", "traceback": []}),
        code("c", stream(" 10%\r 50%\r100%\nok\r\n")),
    )
    assert texts(document, "cell_output") == [
        "one\ntwo\nthree",
        "bad",
        "E\nv!",
        "E: v",
        "100%\nok",
    ]


def test_plain_text_comes_before_other_kinds_and_images_are_nothing() -> None:
    table = "<table><tr><td>7</td></tr></table><script>no()</script>"
    document = notebook(
        code("a", shown(text_plain="   x\n0  7", text_html=table)),
        code("b", shown(text_html=["<p>only ", "<b>this</b></p>"])),
        code("c", shown(image_png="iVBORw0KGgo=", text_plain="<Figure size 640x480 with 1 Axes>")),
        code("d", shown(text_plain="<IPython.core.display.HTML object>", text_html=table)),
        code("e", shown(text_plain="<IPython.X object>", text_markdown="*hi*", text_html=table)),
        code("f", shown(text_plain="<module 'os'>")),
        code("g", shown(application_json={"k": ["é"]})),
        code("h", shown(text_latex="$x$")),
        code("i", shown(application_javascript="x", text_plain="<IPython.Javascript object>")),
    )
    assert texts(document, "cell_output") == [
        "   x\n0  7",
        "only this",
        "7",
        "*hi*",
        "<module 'os'>",
        '{"k": ["é"]}',
        "$x$",
    ]


def test_a_magic_command_says_the_language_of_its_cell() -> None:
    document = notebook(
        code("%%bash\nls"),
        code("%%time\nx"),
        code("%%writefile a.txt\nx"),
        code("x"),
        language_info={"name": "Julia"},
    )
    assert [block.attributes.get("language") for block in document.blocks] == [
        "shell",
        "julia",
        None,
        "julia",
    ]


def test_a_huge_output_keeps_its_beginning_and_its_end() -> None:
    output = "a" * MAX_OUTPUT + "b" * MAX_OUTPUT
    document = notebook(code("x", stream(output)))
    (text,) = texts(document, "cell_output")
    assert text.startswith("a" * 100)
    assert text.endswith("b" * 100)
    assert len(text) < MAX_OUTPUT + 100
    assert "[20,000 characters left out]" in text
    assert [warning.code for warning in document.warnings] == ["notebook-output-cut"]
    assert document.status is Status.OK


def test_notebooks_before_version_4_are_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old\n", "one"]},
        {
            "cell_type": "code",
            "language": "python",
            "input": ["x", "y"],
            "outputs": [
                {"output_type": "stream", "stream": "stdout", "text": "out"},
                {"output_type": "pyout", "text": ["<a.B at 0x1>"], "html": "<b>seven</b>"},
                {"output_type": "display_data", "png": "iVBO", "text": ["<a.Figure at 0x1>"]},
                {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["tb"]},
            ],
        },
    ]
    content = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}
    document = read(json.dumps(content), "a.ipynb")
    check(document)
    assert outline(document) == [
        ("heading", "## Old one"),
        ("code", "x\ny"),
        ("cell_output", "out"),
        ("cell_output", "seven"),
        ("cell_output", "tb"),
    ]
    assert document.title == "Old one"
    assert document.metadata == {"language": "python"}


def test_what_breaks_the_schema_is_left_out_and_the_rest_is_read() -> None:
    document = notebook(
        None,
        5,
        {"source": "no type"},
        {"cell_type": "code", "source": ["x", 7], "outputs": "none"},
        {"cell_type": "code", "outputs": [None, {"output_type": "stream"}, {"data": [1]}]},
        {"cell_type": "heading", "source": None, "level": "3"},
        markdown("lone \ud83d\n", "surrogate"),
        kernelspec=[1],
        language_info="x",
    )
    assert outline(document) == [
        ("paragraph", "no type"),
        ("code", "x"),
        ("paragraph", "lone \ufffd\nsurrogate"),
    ]
    assert [block.attributes["cell"] for block in document.blocks] == [2, 3, 6]


@pytest.mark.parametrize("source", ['{"cells": [', '{"a": 1}', "<<<<<<< HEAD\n{}", "[" * 100_000])
def test_what_is_no_notebook_is_kept_as_it_stands(source: str) -> None:
    document = read(source, "a.ipynb")
    assert document.text == source
    assert outline(document) == [("code", source)]
    assert [warning.code for warning in document.warnings] == ["notebook-invalid"]
    assert document.lines_of(0, 1) == (1, 1)


def test_notebooks_without_words_are_empty() -> None:
    assert notebook().status is Status.EMPTY
    assert notebook(code(""), markdown(" \n")).status is Status.EMPTY
    assert read(b"", "a.ipynb").status is Status.EMPTY


SOURCES = st.lists(
    st.sampled_from(
        ["# h", "- a", "\n", "\n\n", "```\nx", "| a |\n|--|", "\ufeff", "---\n", "é🎉", "    in",
         "> q", "\r\n", "<b>", "\u2028", "$$x$$", "[^1]: n", "%%bash\n", ":", "\x1b[1m", "\r"]
    ),
    max_size=8,
).map("".join)  # fmt: skip
CELLS = st.one_of(
    SOURCES.map(markdown),
    st.builds(lambda text, output: code(text, stream(output)), SOURCES, SOURCES),
    SOURCES.map(lambda text: {"cell_type": "raw", "source": text}),
)


@given(st.lists(CELLS, max_size=5))
def test_any_cells_keep_the_invariants_and_their_words(cells: list[dict[str, object]]) -> None:
    document = notebook(*cells)
    for cell in cells:
        source = cell["source"][0] if isinstance(cell["source"], list) else cell["source"]
        assert source.strip().removeprefix("\ufeff").strip() in document.text


@pytest.mark.skipif(
    "MERESTONE_BENCH_DATA" not in os.environ, reason="MERESTONE_BENCH_DATA is not set"
)
def test_real_notebooks_are_read() -> None:
    folder = Path(os.environ["MERESTONE_BENCH_DATA"]) / "corpus" / "ipynb"
    documents = {path.name: read(path.read_bytes(), path.name) for path in folder.iterdir()}
    for document in documents.values():
        check(document)
        assert "\x1b" not in document.text
        assert document.status is Status.OK
    assert documents["nbformat__test2.ipynb"].title == "An introduction to the Jupyter notebook"
    assert documents["nbformat__test4.ipynb"].title == "nbconvert latex test"
    (traceback,) = texts(documents["nbformat__many_tracebacks.ipynb"], "cell_output")
    assert "NameError: name 'iAmNotDefined' is not defined" in traceback
