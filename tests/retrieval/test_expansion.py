"""From a unit to the passage that its hit asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from merestone import Library, SettingsError
from merestone.retrieval.expansion import parse_rule
from merestone.types import ContextResult, Passage

_GUIDE = """# Guide

Some words before everything else.

## Winter service

Drain the pump first.

Then close the valve. Put the cover on.

## Summer service

Open the valve slowly.

| Code | Price |
|------|-------|
| P-01 | 10 EUR |
| P-02 | 20 EUR |
| P-03 | 30 EUR |
"""
_CODE = '''"""Pumps."""


class Pump:
    """A pump of the yard."""

    def drain(self, litres):
        """Let water out."""
        left = self.water - litres
        if left < 0:
            raise ValueError("too much water asked for")
        return left

    def fill(self, litres):
        return self.water + litres
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("expansion")
    (made / "guide.md").write_text(_GUIDE)
    (made / "pump.py").write_text(_CODE)
    (made / "flat.txt").write_text(
        " ".join(f"Sentence {word} stands here." for word in "abcdefghij")
    )
    with opened(made) as library:
        library.sync()
    return made


def opened(folder: Path, **retrieval: object) -> Library:
    tables = {
        "embedding": {"model": "hashing"},
        "chunking": {"max_tokens": 24},
        "retrieval": retrieval,
    }
    return Library.open(folder, **tables)  # type: ignore[arg-type]


def asked(folder: Path, query: str, **retrieval: object) -> ContextResult:
    settings = {"gap_units": 0, "precise_share": 1.0, **retrieval}
    with opened(folder, **settings) as library:
        return library.context(query, budget=2000, mode="lexical", precise=True)


def first(folder: Path, query: str, **retrieval: object) -> Passage:
    return asked(folder, query, **retrieval).passages[0]


def test_a_heading_gives_its_section(folder: Path) -> None:
    found = first(folder, "winter service")
    assert found.text.startswith("## Winter service")
    assert found.text.endswith("Put the cover on.")


def test_a_section_over_the_limit_is_given_from_its_heading_on_as_far_as_it_goes(
    folder: Path,
) -> None:
    found = first(folder, "winter service", section_tokens=12)
    assert found.text.startswith("## Winter service")
    assert "Drain the pump" in found.text
    assert "cover" not in found.text


def test_the_title_of_the_document_does_not_give_the_document(folder: Path) -> None:
    found = first(folder, "guide")
    assert found.text == "# Guide"


def test_a_line_of_code_gives_its_definition(folder: Path) -> None:
    found = first(folder, "too much water asked for")
    assert found.text.startswith("def drain")
    assert found.text.endswith("return left")


def test_a_table_row_gives_its_header_as_context_once(folder: Path) -> None:
    result = asked(folder, "P-02")
    found = result.passages[0]
    assert found.text == "| P-02 | 20 EUR |"
    assert [span.role for span in found.context] == ["table_header"]
    assert result.text.count("Code | Price") == 1


@pytest.mark.parametrize(
    ("rule", "start", "end"),
    [
        ("none", "Sentence e", "Sentence e stands here."),
        ("window:1", "Sentence d", "Sentence f stands here."),
        ("window:3", "Sentence b", "Sentence h stands here."),
        ("window:99", "Sentence a", "Sentence j stands here."),
    ],
)
def test_a_window_counts_sentences_over_the_edges_of_chunks(
    folder: Path, rule: str, start: str, end: str
) -> None:
    found = first(folder, "Sentence e", expand=rule)
    assert found.text.startswith(start)
    assert found.text.endswith(end)


def test_neighbours_are_whole_chunks_of_the_same_document(folder: Path) -> None:
    with opened(folder) as library:
        hit = library.search("Sentence e", k=1, mode="lexical").hits[0].chunk
    assert hit.total > 1
    found = first(folder, "Sentence e", expand="neighbours:1")
    assert found.start <= hit.start
    assert hit.end <= found.end
    assert found.end - found.start > hit.end - hit.start
    assert {found.document} == {"flat.txt"}


@pytest.mark.parametrize("rule", ["section", "parent"])
def test_section_and_parent_stay_under_their_heading(folder: Path, rule: str) -> None:
    found = first(folder, "drain the pump", expand=rule)
    assert "Put the cover on." in found.text
    assert "Summer" not in found.text


def test_a_gap_of_one_sentence_is_filled(folder: Path) -> None:
    result = asked(folder, "Sentence c e", gap_units=1, precise_share=0.5)
    assert any(
        "Sentence c stands here. Sentence d stands here. Sentence e" in p.text
        for p in result.passages
    )


def test_what_the_asker_may_not_see_is_in_no_passage(tmp_path: Path) -> None:
    (tmp_path / "open.md").write_text("# Open\n\nThe menu is published on Friday.\n")
    (tmp_path / "secret.md").write_text("# Secret\n\nThe menu of Friday is ZEBRA.\n")
    access = {
        "rules": [
            {"paths": ["open.md"], "allow": ["public"]},
            {"paths": ["secret.md"], "allow": ["user:bob"]},
        ]
    }
    for rule in ("structure", "neighbours:3", "section", "window:9"):
        with Library.open(
            tmp_path,
            embedding={"model": "hashing"},
            access=access,
            retrieval={"expand": rule},
        ) as library:
            library.sync()
            result = library.context(
                "menu friday", budget=900, principals=["user:alice"], explain=True
            )
            assert result.passages
            assert "ZEBRA" not in str(result.to_json())
            assert "secret" not in str(result.to_json()).lower()


@pytest.mark.parametrize("rule", ["", "window", "window:-1", "chapter", "neighbours:x", "none:1"])
def test_an_unknown_rule_is_refused(rule: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse_rule(rule)
    assert error.value.code == "unknown-expansion"
