from __future__ import annotations

import os
import re
from pathlib import Path
from textwrap import dedent

import pytest
import tree_sitter
from extraction.checks import attribute, check, read, text_of, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone.extraction import read_document, source_code
from merestone.extraction.source_code import EXTRACTOR
from merestone.extraction.source_code_languages import ALL_LANGUAGES, BY_MEDIA_TYPE, Language
from merestone.extraction.source_code_parsing import load_grammar
from merestone.extraction.worker import WorkerPool
from merestone.types import (
    Block,
    Document,
    ExtractionError,
    ExtractionSettings,
    RawDocument,
    Status,
)

SAMPLES = Path(__file__).parent.parent / "data" / "code"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix != ".txt")
FOLDER = os.environ.get("MERESTONE_BENCH_DATA")


def extract(source: str | bytes, name: str, media_type: str) -> Document:
    data = source.encode() if isinstance(source, str) else source
    return EXTRACTOR.extract(RawDocument(name, data, media_type=media_type), ExtractionSettings())


def symbols(document: Document) -> list[str]:
    """Kind, name and header of each symbol, indented by its nesting."""
    depths: dict[int | None, int] = {None: -1}
    found = []
    for index, block in enumerate(document.blocks):
        depths[index] = depths[block.parent] + 1
        if block.kind == "symbol":
            header = " ".join(attribute(document, block, "signature").split())
            kind, name = block.attributes["symbol_kind"], block.attributes["name"]
            found.append(f"{'  ' * depths[index]}{kind} {name}: {header}")
    return found


def symbol(document: Document, name: str) -> Block:
    (found,) = [b for b in document.blocks if b.attributes.get("name") == name]
    return found


def statements(document: Document, block: Block) -> list[tuple[str, int]]:
    """The rest of the line and the depth of each statement of a leaf."""
    return [
        (re.split(r"[\r\n]", document.text[offset:], maxsplit=1)[0], depth)
        for offset, depth in block.attributes["statements"]
    ]


def check_code(document: Document) -> None:
    """What holds for every source, on top of what holds for every document."""
    check(document)
    text = document.text
    parents = {block.parent for block in document.blocks}
    covered = bytearray(len(text))
    for index, block in enumerate(document.blocks):
        assert block.kind in ("symbol", "code")
        assert block.attributes["language"]
        if block.kind == "symbol":
            assert block.attributes["name"].strip()
            start, end = block.attributes["signature"]
            assert block.start <= start < end <= block.end
        else:
            assert index not in parents
        if index in parents:
            assert "statements" not in block.attributes
            continue
        covered[block.start : block.end] = b"\1" * (block.end - block.start)
        found = block.attributes["statements"]
        offsets = [offset for offset, _ in found]
        assert offsets == sorted(set(offsets))
        assert all(block.start <= offset < block.end for offset in offsets)
        assert not found or min(depth for _, depth in found) == 0
        for offset in offsets:
            line = re.split(r"[\r\n]", text[max(0, offset - 300) : offset])[-1]
            assert not line.strip(" \t\f\v\ufeff"), "begins no line"
            assert text[offset].strip()
    for place, sign in enumerate(text):
        assert covered[place] or not sign.strip(), f"{sign!r} at {place} is in no leaf"


@pytest.mark.parametrize("language", ALL_LANGUAGES, ids=lambda language: language.function)
def test_a_grammar_knows_every_word_of_its_language(language: Language) -> None:
    grammar = load_grammar(language)
    kinds = {
        grammar.node_kind_for_id(number)
        for number in range(grammar.node_kind_count)
        if grammar.node_kind_is_named(number)
    }
    fields = {grammar.field_name_for_id(number) for number in range(1, grammar.field_count + 1)}
    assert kinds >= (
        language.definitions.keys()
        | language.containers
        | language.transparent
        | language.wrappers
        | language.clauses
        | language.comments
        | language.marks
        | language.modifiers
        | language.docstrings
    )
    for rule in language.definitions.values():
        assert rule.name in fields
        assert not rule.value or rule.value in fields


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_language_has_its_symbols(path: Path) -> None:
    document = read(path.read_bytes(), path.name)
    outlines = (SAMPLES / "outlines.txt").read_text(encoding="utf-8")
    expected = outlines.split(f"== {path.name}\n")[1].split("\n== ")[0].rstrip("\n").split("\n")
    assert symbols(document) == expected
    assert document.warnings == ()
    check_code(document)


def test_every_language_has_a_sample() -> None:
    assert {read(path.read_bytes(), path.name).media_type for path in FILES} == set(BY_MEDIA_TYPE)


PYTHON = read((SAMPLES / "shapes.py").read_bytes(), "shapes.py")


def test_a_symbol_begins_at_its_comment_and_decorators() -> None:
    assert text_of(PYTHON, symbol(PYTHON, "Circle")).startswith("# Figures are immutable.\n@total")
    assert attribute(PYTHON, symbol(PYTHON, "Circle"), "signature") == "class Circle(Figure):"
    assert text_of(PYTHON, symbol(PYTHON, "area")).startswith("@property\n")


def test_a_comment_behind_a_blank_line_is_not_attached() -> None:
    document = read("# About the file.\n\ndef f():\n    pass\n", "a.py")
    assert text_of(document, symbol(document, "f")) == "def f():\n    pass"
    assert texts(document, "code") == ["# About the file."]


@pytest.mark.parametrize(
    ("name", "source", "start"),
    [
        ("a.rs", "/// Doc.\n#[inline] fn f() {}\n", "/// Doc."),
        ("a.rs", "fn g() {} // not of f\nfn f() {}\n", "fn f"),
        ("a.go", "package a\n\n// Doc\n// more.\nfunc f() {}\n", "// Doc"),
        ("a.js", "/* a */\n/* b */\nfunction f() {}\n", "/* a */"),
        ("a.py", "def g():\n    pass\n# of f\ndef f():\n    pass\n", "# of f"),
    ],
)
def test_what_stands_right_above_belongs_to_a_symbol(name: str, source: str, start: str) -> None:
    document = read(source, name)
    assert text_of(document, symbol(document, "f")).startswith(start)


def test_statements_have_the_depth_of_their_nesting() -> None:
    assert statements(PYTHON, symbol(PYTHON, "scaled")) == [
        ("def scaled(", 0),
        ("if factor < 0:", 1),
        ("raise ValueError(", 2),
        ("else:", 2),
        ("# Keeps the centre.", 2),
        ("radius = self.radius * factor", 3),
        ("return Circle(radius)", 1),
    ]


def test_between_methods_a_class_is_code() -> None:
    circle = PYTHON.blocks.index(symbol(PYTHON, "Circle"))
    inner = [block for block in PYTHON.blocks if block.parent == circle]
    assert [block.kind for block in inner] == ["code", "symbol", "symbol"]
    assert text_of(PYTHON, inner[0]).endswith("sides: int = 0")
    assert statements(PYTHON, inner[0])[-1] == ("sides: int = 0", 1)


def test_code_of_the_file_is_parted_at_blank_lines_before_statements() -> None:
    source = 'import a\nimport b\n\nrun(\n    1,\n\n    2,\n)\n\n"""Text\n\nmore."""\n'
    assert texts(read(source, "a.py"), "code") == [
        "import a\nimport b",
        "run(\n    1,\n\n    2,\n)",
        '"""Text\n\nmore."""',
    ]


def test_a_continuation_line_is_no_statement() -> None:
    source = "x = f(\n    a,\n    b,\n)\ny = '''\nz = 1\n'''\n# one\n# two\nt = (1 +\n     2)\n"
    document = read(source, "a.py")
    assert [line for block in document.blocks for line, _ in statements(document, block)] == [
        "x = f(",
        "y = '''",
        "# one",
        "t = (1 +",
    ]


def test_members_of_large_literals_are_places_to_cut() -> None:
    document = read("X = {\n    'a': [\n        1,\n    ],\n    'b': 2,\n}\n", "a.py")
    assert statements(document, symbol(document, "X")) == [
        ("X = {", 0),
        ("'a': [", 1),
        ("1,", 2),
        ("'b': 2,", 1),
    ]


def test_paragraphs_of_a_long_docstring_are_places_to_cut() -> None:
    words = "word " * 60
    source = f'def f():\n    """First {words}\n\n    Second {words}\n    more.\n    """\n    pass\n'
    document = read(source, "a.py")
    found = statements(document, symbol(document, "f"))
    assert [(line.split()[0], depth) for line, depth in found] == [
        ("def", 0),
        ('"""First', 1),
        ("Second", 2),
        ("pass", 1),
    ]


def test_paragraphs_of_a_comment_are_places_to_cut() -> None:
    document = read("// One\n// more.\n//\n// Two.\nx();\n", "a.js")
    assert statements(document, document.blocks[0]) == [("// One", 0), ("// Two.", 1), ("x();", 1)]


def test_functions_within_a_function_count_only_in_a_long_one() -> None:
    inner = "    def inner():\n        a = 1\n        b = 2\n        return a + b\n"
    short = read(f"def outer():\n{inner}    return inner\n", "a.py")
    assert symbols(short) == ["function outer: def outer():"]
    long = read(
        f"def outer():\n{inner}{'    call(inner)' + chr(10)}" + "    call(inner)\n" * 200, "a.py"
    )
    assert symbols(long)[1] == "  function inner: def inner():"


def test_small_declarations_are_no_symbols() -> None:
    source = "int f(int a);\nint g(int a);\n/* Doc. */\nint h(int a);\nstruct s *p;\n"
    assert symbols(read(source, "a.h")) == ["function h: int h(int a)"]


def test_a_header_of_cpp_is_read_as_such() -> None:
    source = "namespace a {\nclass B {\n  int c() {\n    return 1;\n  }\n};\n}\n"
    assert [line.split(":")[0].strip() for line in symbols(read(source, "a.h"))] == [
        "namespace a",
        "class B",
        "method c",
    ]


def test_definitions_in_a_wrapper_of_a_whole_file_are_found() -> None:
    source = "(function () {\n  function run() {\n    return 1;\n  }\n})();\n"
    assert symbols(read(source, "a.js")) == ["function run: function run()"]
    source = "if x:\n    def f():\n        pass\nelse:\n    def f():\n        pass\n"
    assert len(symbols(read(source, "a.py"))) == 2


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ('#!/bin/x\n# c\n"""Reads things.\n\nMore."""\n', "Reads things."),
        ("'One'\n", "One"),
        ('"""' + "long " * 40 + '"""', None),
        ('""""""', None),
        ('import a\n"""No docstring."""\n', None),
        ("", None),
    ],
)
def test_a_short_docstring_is_the_title(source: str, title: str | None) -> None:
    assert extract(source, "a.py", "text/x-python").title == title


def test_broken_code_keeps_what_is_found() -> None:
    source = dedent(
        """\
        def good():
            return 1

        def bad(:
            retrun ((

        class Late:
            pass
        """
    )
    document = read(source, "a.py")
    names = [line.split(":")[0] for line in symbols(document)]
    assert "function good" in names
    assert "class Late" in names
    check_code(document)


def test_offsets_are_code_points_and_line_ends_stay() -> None:
    source = "\ufeffnaïve = '🎉'\r\n\r\n# é\r\ndef größe(a):\r\n    return '€'\r\n"
    document = read(source, "a.py")
    assert text_of(document, symbol(document, "größe")) == "# é\r\ndef größe(a):\r\n    return '€'"
    assert attribute(document, symbol(document, "größe"), "signature") == "def größe(a):"
    check_code(document)


def test_a_grammar_that_cannot_be_loaded_costs_only_the_symbols(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = Language("merestone_no_such_grammar")
    monkeypatch.setattr(source_code, "language_of", lambda *_: missing)
    document = read("def f():\n    pass\n\nx = 1\n", "a.py")
    assert [warning.code for warning in document.warnings] == ["grammar-unavailable"]
    assert texts(document, "code") == ["def f():\n    pass", "x = 1"]


def test_text_that_no_grammar_fits_is_plain() -> None:
    document = read("a<\n" * 8_000, "a.cpp")
    assert [warning.code for warning in document.warnings] == ["code-not-parsed"]
    assert "".join(texts(document, "code")).split() == document.text.split()


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.py", "(" * 100_000),
        ("a.py", "x = " + "(\n" * 20_000 + "1" + ")" * 20_000),
        ("a.js", "{\n" * 20_000 + "}\n" * 20_000),
        ("a.js", "function f(a){return a+1};" * 20_000),
        ("a.java", "class A {\n" * 5_000),
        ("a.rs", "fn f() {\n" * 5_000),
        ("a.py", "if x:\n" * 5_000),
        ("a.py", "# c\n" * 20_000),
        ("a.py", "x = 1" + " " * 100_000 + "\n"),
    ],
)
def test_hostile_sources_are_read(name: str, source: str) -> None:
    document = read(source, name)
    outer = [text_of(document, block) for block in document.blocks if block.parent is None]
    assert "".join("".join(outer).split()) == "".join(source.split())


def test_a_worker_reads_the_same() -> None:
    path = SAMPLES / "shapes.py"
    raw = RawDocument(path.name, path.read_bytes())
    with WorkerPool() as pool:
        assert read_document(raw, worker=pool) == PYTHON


def test_a_very_large_source_is_not_parsed() -> None:
    source = "value = 1\n" * 400_001
    assert [warning.code for warning in read(source, "a.py").warnings] == ["code-not-parsed"]


SOURCES = [(path.name, path.read_text(encoding="utf-8")) for path in FILES]
PIECES = [
    "\n", "\r\n", "\r", "    ", "\t", "{", "}", "(", ")", '"', "'", "/*", "*/", "//", "#", ";", ":",
    "@", "é", "🎉", "`", "\\", "class A", "def f():", "if", "else", "end", "fn ", "\ufeff",
    "\u2028", "\x0c",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, str]:
    """A sample with ranges removed, repeated or replaced."""
    name, source = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(source)))
        end = draw(st.integers(start, min(len(source), start + 80)))
        piece = draw(st.sampled_from([*PIECES, source[start:end] * 2]))
        source = source[:start] + piece + source[end:]
    if draw(st.booleans()):
        source = source.replace("\n", draw(st.sampled_from(["\r\n", "\n\n", "\r"])))
    return name, source


@settings(max_examples=150)
@given(mutated())
def test_mutated_sources_keep_the_invariants(case: tuple[str, str]) -> None:
    name, source = case
    document = read(source, name)
    check_code(document)
    assert read(source, name) == document


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.sampled_from(sorted(BY_MEDIA_TYPE)),
)
def test_any_text_keeps_the_invariants(source: str, media_type: str) -> None:
    check_code(extract(source, "a", media_type))


@pytest.mark.skipif(FOLDER is None, reason="MERESTONE_BENCH_DATA is not set")
@pytest.mark.parametrize("kind", ["py", "ts"])
def test_real_files_keep_the_invariants(kind: str) -> None:
    paths = sorted((Path(FOLDER or "/") / "corpus" / kind).iterdir())
    assert paths
    for path in paths:
        check_code(read(path.read_bytes(), path.name))


def test_the_standard_library_is_read() -> None:
    source = Path(tree_sitter.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    document = read(source, "a.pyi")
    check_code(document)
    assert "class Node: class Node:" in symbols(document)
    standard = read(Path(dedent.__code__.co_filename).read_bytes(), "textwrap.py")
    assert attribute(standard, symbol(standard, "dedent"), "signature") == "def dedent(text):"
    check_code(standard)


def test_a_source_that_brings_the_parser_down_is_read_without_its_definitions() -> None:
    class Dying:
        """A worker whose process dies of every document."""

        def read(self, name: str, raw: RawDocument, settings: ExtractionSettings) -> Document:
            raise ExtractionError("worker-died", f"{raw.id} died.", "", status=Status.CRASHED)

    raw = RawDocument("a.py", b"def f():\n    return 1\n")
    document = read_document(raw, ExtractionSettings(), worker=Dying())
    assert document.text == "def f():\n    return 1\n"
    assert document.status == Status.OK
    assert {block.kind for block in document.blocks} == {"code"}
    assert [warning.code for warning in document.warnings] == ["code-not-parsed"]
    with pytest.raises(ExtractionError):
        read_document(RawDocument("a.pdf", b"%PDF-1.4\n"), ExtractionSettings(), worker=Dying())
