"""Passages end with something said, not with the announcement of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone import Library, chunk, read
from merestone.retrieval.passage_ends import closed
from merestone.retrieval.passages import Span


def span_of(text: str, start: int = 0, end: int | None = None, name: str = "a.md") -> Span:
    """The range of a document of that text, with the chunks that it touches."""
    document = read(text.encode(), name=name)
    end = len(text) if end is None else end
    chunks = tuple(
        each
        for each in chunk(document, max_tokens=32, target_tokens=24)
        if each.start < end and start < each.end
    )
    return Span(name, start, end, chunks)


def ending(text: str, name: str = "a.md") -> str:
    span = closed(span_of(text, name=name), text)
    return text[span.start : span.end]


BODY = "# Pump\n\nThe pump runs at 40 bar."


@pytest.mark.parametrize(
    "end",
    [
        "\n\n## Limits",
        "\n\n## Limits\n\n### Heat\n",
        "\n\nLimits\n------\n",
        "\n\n!!! note",
        '\n\n??? warning "Hot"\n',
        "\n\n::: tip",
        "\n\n:::{note}\n",
        "\n\n:::",
        "\n\n> [!NOTE]",
        "\n\n```python\n",
        "\n\n## Limits\n\n!!! note\n",
    ],
)
def test_an_end_that_announces_what_is_not_there_is_left_off(end: str) -> None:
    assert ending(BODY + end) == BODY


def test_directives_and_headings_of_restructuredtext_too() -> None:
    body = "Pump\n====\n\nThe pump runs at 40 bar."
    for end in ("\n\n.. note::\n", "\n\nLimits\n------\n"):
        assert ending(body + end, "a.rst") == body


@pytest.mark.parametrize(
    "whole",
    [
        BODY,
        f"{BODY}\n\n## Limits\n\nNever above 50 bar.",
        f"{BODY}\n\n!!! note\n    Never above 50 bar.",
        f"{BODY}\n\n::: tip\nNever above 50 bar.\n:::",
        f"{BODY}\n\n```sh\npump --start\n```",
        f"{BODY}\n\nThe file says: note",
        "## Limits",
        "::: tip",
        "# Pump\n\n## Limits",
    ],
)
def test_what_says_something_or_is_nothing_else_stays(whole: str) -> None:
    assert ending(whole) == whole


@given(
    st.lists(
        st.sampled_from(["## Limits\n\n", "Text.\n\n", "!!! note\n", ":::\n", "```\n", "- a\n"]),
        min_size=1,
        max_size=8,
    )
)
def test_only_the_end_is_shortened_and_nothing_is_said_there(parts: list[str]) -> None:
    text = "".join(parts)
    before = span_of(text)
    after = closed(before, text)
    assert after.start == before.start
    assert before.start < after.end <= before.end
    assert "Text" not in text[after.end :]
    assert "- a" not in text[after.end :]
    assert closed(after, text) == after


def test_a_context_ends_no_passage_in_a_bare_heading(tmp_path: Path) -> None:
    sections = "".join(
        f"## Valve {n}\n\nValve {n} is blue and closes at {n} bar.\n\n" for n in range(12)
    )
    (tmp_path / "valves.md").write_text(f"# Valves\n\n{sections}")
    tables = {"embedding": {"model": "hashing"}, "retrieval": {"expand": "window:1"}}
    with Library.open(tmp_path, **tables) as library:  # type: ignore[arg-type]
        library.sync()
        for budget in range(20, 200, 15):
            result = library.context("Which valve is blue and closes?", budget=budget)
            for passage in result.passages:
                last = passage.text.splitlines()[-1]
                assert not last.startswith("#") or passage.text == last
                assert passage.citation.quote == passage.text


@pytest.mark.parametrize(
    "block",
    [
        "```sh\necho one\n~~~\necho two\n```",
        "````markdown\n```sh\necho one\n```\n````",
        "```sh\necho one\n````",
        ":::: note\nHot.\n\n::: tip\nCold.\n:::\n\n::::",
    ],
)
def test_what_closes_a_block_stays_with_it(block: str) -> None:
    assert ending(f"{BODY}\n\n{block}") == f"{BODY}\n\n{block}"


def test_a_fence_that_is_opened_again_is_left_off() -> None:
    closed_one = f"{BODY}\n\n```sh\necho one\n```"
    assert ending(f"{closed_one}\n\n~~~") == closed_one
