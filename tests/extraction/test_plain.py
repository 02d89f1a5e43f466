from __future__ import annotations

from textwrap import dedent

import pytest
from extraction.checks import attribute, check, outline, read, texts
from hypothesis import given
from hypothesis import strategies as st

from merestone.types import SourceSpan

MANUAL = dedent(
    """\
    TOOL(1)                  User Commands                  TOOL(1)

    NAME
           tool - does things

    OPTIONS
       Common options
           -a, --all
                  Do everything, as with
                  --each on each file.

                  This takes time.

           -q     be quiet
           -v     be loud
                  and clear

           --first
           --second
                  Either of these.

           Modes are:

           •   fast, which
               wraps

           •   slow

           This paragraph ends the options, and it is long enough to go on
           over a second line.

    SEE ALSO
           other(1)
    """
)


def test_text_is_the_source_and_paragraphs_stand_between_blank_lines() -> None:
    source = "One\r\ntwo.\r\n\r\n  Three \r\n \t\r\n\r\nfour\x0bfive\x85six\n"
    document = read(source, "a.txt")
    assert document.text == source
    assert texts(document, "paragraph") == ["One\r\ntwo.", "Three", "four\x0bfive\x85six"]
    check(document, source)


def test_a_mark_is_not_text_but_counts_in_the_source() -> None:
    document = read(b"\xef\xbb\xbfone\ntwo", "a.txt")
    assert document.text == "one\ntwo"
    assert document.segments.to_source((0, 7)) == (SourceSpan(1, 8),)
    assert document.line_starts == (0, 5)
    assert document.lines_of(0, 3) == (1, 1)
    assert document.lines_of(4, 7) == (2, 2)


def test_lines_end_at_lf_crlf_and_cr_only() -> None:
    document = read("a\r\nb\nc\rd\x0be\x0cf\x85g\u2028h", "a.txt")
    assert document.line_starts == (0, 3, 5, 7)


def test_a_form_feed_parts_no_paragraph() -> None:
    document = read("A line at the end of a page\n\x0c\nand the next.\n\n\x0c\n\nNew.", "a.txt")
    first, second = texts(document, "paragraph")
    assert first.endswith("next.")
    assert second == "New."


def test_a_manual_page_has_headings_entries_and_lists() -> None:
    document = read(MANUAL, "tool.txt")
    headings = [block for block in document.blocks if block.kind == "heading"]
    assert [(block.level, attribute(document, block, "content")) for block in headings] == [
        (1, "NAME"),
        (1, "OPTIONS"),
        (2, "Common options"),
        (1, "SEE ALSO"),
    ]
    entries = [block for block in document.blocks if block.kind == "definition"]
    assert [attribute(document, entry, "term") for entry in entries] == [
        "-a, --all",
        "-q",
        "-v",
        "--first\n       --second",
    ]
    first = document.text[entries[0].start : entries[0].end]
    assert first.startswith("-a, --all\n")
    assert first.endswith("This takes time.")
    assert texts(document, "definition")[2].endswith("and clear")
    assert texts(document, "list_item") == ["•   fast, which\n           wraps", "•   slow"]
    assert texts(document, "paragraph")[-2].startswith("This paragraph ends")
    check(document, MANUAL)


def test_capitals_in_a_story_are_no_headings() -> None:
    story = "CHAPTER ONE\n\n    A LETTER\n\nIt was late.\n\nHe wrote it.\n\n" * 4
    assert texts(read(story, "a.txt"), "heading") == []


def test_running_text_has_no_entries() -> None:
    story = (
        "He said to all of them:\n"
        "    Go home\n"
        "    and stay there\n\n"
        "And they went home, because it was late and nobody had anything\n"
        "to say that was worth the time it took to say it, as so often.\n\n"
    ) * 5
    document = read(story, "a.txt")
    assert {block.kind for block in document.blocks} == {"paragraph"}
    check(document, story)


def test_a_glossary_has_entries() -> None:
    glossary = "".join(f"term {n}\n    What it means,\n    in words.\n\n" for n in range(5))
    document = read(glossary, "a.txt")
    assert len(texts(document, "definition")) == 5
    assert texts(document, "definition")[0] == "term 0\n    What it means,\n    in words."


def test_lists_hold_their_continuation_lines_and_sublists() -> None:
    source = dedent(
        """\
        You need:
        - flour, which
          is fine
        - sugar
          1. white
          2. brown

        * * *

        A dash - inside - a line, and a line
        - that goes on with it.
        """
    )
    document = read(source, "a.txt")
    assert texts(document, "list_item") == [
        "- flour, which\n  is fine",
        "- sugar\n  1. white\n  2. brown",
        "1. white",
        "2. brown",
    ]
    lists = [block for block in document.blocks if block.kind == "list"]
    assert [block.attributes["ordered"] for block in lists] == [False, True]
    assert attribute(document, lists[0], "lead_in") == "You need:"
    assert texts(document, "paragraph")[1:] == [
        "* * *",
        "A dash - inside - a line, and a line\n- that goes on with it.",
    ]
    check(document, source)


def test_lines_too_long_to_be_wrapped_are_paragraphs() -> None:
    long = "\n".join("word " * 60 for _ in range(3))
    assert len(texts(read(long, "a.txt"), "paragraph")) == 3
    short = "\n".join("some words" for _ in range(3))
    assert len(texts(read(short, "a.txt"), "paragraph")) == 1


def test_code_is_code_by_groups_of_lines() -> None:
    source = "import os\r\n\r\n\r\ndef f():\r\n    return 1\r\n\r\n    # end  \r\n"
    document = read(source, "a.pl")
    assert outline(document) == [
        ("code", "import os"),
        ("code", "def f():\r\n    return 1"),
        ("code", "    # end"),
    ]
    assert {block.attributes["language"] for block in document.blocks} == {"perl"}
    check(document, source)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.json", "json"),
        ("a.yaml", "yaml"),
        ("a.ipynb", "json"),
        ("a.ini", "ini"),
        ("a.pl", "perl"),
    ],
)
def test_configuration_is_no_prose(name: str, language: str) -> None:
    document = read('{"a": 1}\n\n[b]\n', name)
    assert [block.kind for block in document.blocks] == ["code", "code"]
    assert document.blocks[0].attributes == {"language": language}


PIECES = [
    "NAME", "-a, --all", "- item", "1. one", "word word", "•", "    ", "\t", "  ", "\n", "\r\n",
    "\n\n", "\r", "\x0c", '"', ",", "é", "🎉", "\u2028", "\x85", ":", "o  ", "\u00a0",
    "Term\n      ",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
)


@given(TEXTS, st.sampled_from(["a.txt", "a.py", "a.csv", "a.jsonl"]))
def test_any_text_keeps_the_invariants(source: str, name: str) -> None:
    data = source.encode()
    if b"\x7f" in data or any(sign < " " and sign not in "\t\n\r\x0b\x0c" for sign in source):
        return
    document = read(data, name)
    assert document.text == source.removeprefix("\ufeff")
    assert document.segments.is_identity
    check(document, source)
    assert read(data, name) == document


def test_a_manual_page_is_titled_by_its_name_section() -> None:
    text = (
        "LS(1)        User Commands        LS(1)\n\nNAME\n       ls - list directory\n"
        "       contents\n\nSYNOPSIS\n       ls [OPTION]... [FILE]...\n\nDESCRIPTION\n"
        "       List information about the files. Sort entries by name.\n\n"
        "       -a, --all\n              do not ignore entries that begin with a dot\n\n"
        "       -l     use a long listing format\n"
    )
    document = read(text, "ls.txt")
    assert document.title == "ls - list directory contents"
