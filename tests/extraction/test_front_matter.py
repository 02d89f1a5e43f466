from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.extraction.front_matter import read_front_matter


def values(body: str) -> dict[str, object]:
    found = read_front_matter(f"---\n{body}\n---\ntext")
    assert found is not None
    return found.values


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("title: A title: with colon", {"title": "A title: with colon"}),
        ('title: "Quoted \\"x\\" # not a comment"', {"title": 'Quoted "x" # not a comment'}),
        ("title: 'it''s'", {"title": "it's"}),
        (
            "a: 1\nb: -2.5\nc: true\nd: null\ne:",
            {"a": 1, "b": -2.5, "c": True, "d": None, "e": None},
        ),
        ("date: 2024-05-01\nid: 007", {"date": "2024-05-01", "id": "007"}),
        ("tags: [a, 'b c', 3]", {"tags": ["a", "b c", 3]}),
        ("tags:\n  - a\n  - b c\nx: 1", {"tags": ["a", "b c"], "x": 1}),
        ("tags:\n- a\n- b", {"tags": ["a", "b"]}),
        ("tags: [\n  a,\n  b\n]\nx: 1", {"tags": ["a", "b"], "x": 1}),
        ("access: []", {"access": []}),
        ("tags: [a, don't, ]", {"tags": ["a", "don't"]}),
        ('access: [["user:bob"], public]', {"access": '[["user:bob"], public]'}),
        ("access: [{a: b}, public]", {"access": "[{a: b}, public]"}),
        ("access: [public]]", {"access": "[public]]"}),
        ("text: |\n  one\n  two\nx: 1", {"text": "one\ntwo", "x": 1}),
        ("text: >-\n  one\n  two", {"text": "one two"}),
        ("author:\n  name: A\n  age: 3", {"author": {"name": "A", "age": 3}}),
        ("# comment\na: 1  # why\n\nb: 2", {"a": 1, "b": 2}),
        ("url: http://example.org/#x", {"url": "http://example.org/#x"}),
        ("a-b_c.d: 1\n'q r': 2\nKey With Space: 3", {"a-b_c.d": 1, "q r": 2, "Key With Space": 3}),
    ],
)
def test_reads_what_front_matter_is_written_in(body: str, expected: dict[str, object]) -> None:
    assert values(body) == expected


def test_toml_is_read_between_pluses() -> None:
    found = read_front_matter('+++\ntitle = "T"\ndate = 2024-05-01\n[a]\nb = [1, 2]\n+++\n')
    assert found is not None
    assert found.values == {"title": "T", "date": "2024-05-01", "a": {"b": [1, 2]}}


def test_toml_that_is_broken_has_no_values() -> None:
    found = read_front_matter("+++\ntitle = \n+++\ntext")
    assert found is not None
    assert found.values == {}


@pytest.mark.parametrize(
    "text",
    [
        '+++\naccess = ["user:bob"]\ntitle = \n+++\n',
        '+++\n[table]\naccess = ["user:bob"]\n+++\n',
        "---\ntitle: T\naccess:[user:bob]\n---\n",
        "---\naccess: [user:bob]\naccess: public\n---\n",
        "---\rtitle: T\raccess:[user:bob]\r---\r",
    ],
)
def test_what_is_said_of_access_and_cannot_be_read_is_not_taken_for_nothing(text: str) -> None:
    found = read_front_matter(text)
    assert found is not None
    assert "access" in found.values
    assert found.values["access"] is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_behind_its_closing_line(end: str) -> None:
    text = end.join(["---", "a: 1", "---", "text"])
    found = read_front_matter(text)
    assert found is not None
    assert text[found.end :] == "text"
    assert found.values == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        "text\n---\na: 1\n---\n",
        "---\na: 1\n",
        "---\n\n# Title\n\n---\n",
        "---\nJust a sentence between rules.\n---\n",
        "----\na: 1\n----\n",
        "---\na: 1\n+++\n",
        " ---\na: 1\n---\n",
        "",
    ],
)
def test_other_beginnings_are_no_front_matter(text: str) -> None:
    assert read_front_matter(text) is None


def test_empty_front_matter_has_no_values() -> None:
    found = read_front_matter("---\n---\ntext")
    assert found is not None
    assert found.values == {}


LINES = st.lists(
    st.sampled_from(
        ["a: 1", "- x", "  - y", "b:", "  c: [", "]", "'", '"', "d: |", "  e", "#", ": ", "[[a]]"]
    )
    | st.text(max_size=10),
    max_size=8,
)


@given(LINES, st.sampled_from(["---", "+++"]))
def test_any_front_matter_gives_json(lines: list[str], fence: str) -> None:
    found = read_front_matter("\n".join([fence, *lines, fence, "x"]))
    if found is not None:
        json.dumps(found.values, allow_nan=False)
