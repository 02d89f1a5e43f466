"""The language of ``--where``."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.retrieval import parse_filter
from merestone.types import AllOf, AnyOf, Comparison, NoneOf, SettingsError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("language = 'en'", Comparison("language", "=", "en")),
        ("year >= 2024", Comparison("year", ">=", 2024)),
        ("score<0.5", Comparison("score", "<", 0.5)),
        ("draft != true", Comparison("draft", "!=", True)),
        ("modified > 2024-05-01", Comparison("modified", ">", "2024-05-01")),
        ("document like 'guide/*'", Comparison("document", "like", "guide/*")),
        ("tag in ('a', 2)", Comparison("tag", "in", ["a", 2])),
        ('title = "a \\"b\\" c"', Comparison("title", "=", 'a "b" c')),
        ("owner.team = ops", Comparison("owner.team", "=", "ops")),
        (
            "a = 1 or b = 2 and not c = 3",
            AnyOf(
                (
                    Comparison("a", "=", 1),
                    AllOf((Comparison("b", "=", 2), NoneOf(Comparison("c", "=", 3)))),
                )
            ),
        ),
        (
            "(a = 1 OR b = 2) AND c = 3",
            AllOf(
                (
                    AnyOf((Comparison("a", "=", 1), Comparison("b", "=", 2))),
                    Comparison("c", "=", 3),
                )
            ),
        ),
    ],
)
def test_what_can_be_said(text: str, expected: object) -> None:
    assert parse_filter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "language",
        "language =",
        "= 'en'",
        "a = 1 b = 2",
        "(a = 1",
        "a = 1)",
        "a in 1",
        "a in ()",
        "a like 3",
        "a = 'open",
        "a == 1",
        "not",
        "a = 1 and",
        "(" * 60 + "a = 1" + ")" * 60,
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_filter(text)
    assert caught.value.code == "invalid-filter"
    assert "character" in caught.value.message


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(SettingsError):
        parse_filter(text)
