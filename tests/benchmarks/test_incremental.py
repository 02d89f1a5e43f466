"""What is counted of an index, and that Merestone's own column is what it should be."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from incremental import run
from indexers.embedder import NamedEmbedder, vector_of
from indexers.merestone_library import MerestoneSystem
from indexers.rows import Faults, Ledger, Place, StoredRow, faults
from indexers.scenario import Scenario, edited_paragraph

PLACES = st.builds(Place, st.sampled_from("ab"), st.sampled_from(["one", "two", "three"]))
LONG = (
    "A paragraph of one line that is long enough to be edited, since it has more than eighty "
    "characters."
)


def rows_of(places: list[Place], embedder: str = "first") -> list[StoredRow]:
    return [StoredRow(*place, vector_of(embedder, place.input).tolist()) for place in places]


@given(st.lists(PLACES))
def test_what_a_fresh_build_gives_has_no_fault(places: list[Place]) -> None:
    assert faults(rows_of(places), places, NamedEmbedder("first")) == Faults()


@given(st.lists(PLACES), st.lists(PLACES))
def test_every_row_and_every_chunk_is_accounted_for(
    stored: list[Place], wanted: list[Place]
) -> None:
    found = faults(rows_of(stored), wanted, NamedEmbedder("first"))
    assert found.missing == len(set(wanted) - set(stored))
    assert found.stale == sum(1 for place in stored if place not in wanted)
    right = len(stored) - found.stale - found.duplicate
    assert right == sum(min(stored.count(place), wanted.count(place)) for place in set(wanted))


def test_a_vector_of_another_embedder_is_stale_and_its_text_missing() -> None:
    place = Place("a", "one")
    found = faults(rows_of([place], "second"), [place], NamedEmbedder("first"))
    assert found == Faults(stale=1, missing=1)


def test_one_row_may_stand_for_equal_chunks_of_a_document_but_not_of_two() -> None:
    twice = [Place("a", "one"), Place("a", "one")]
    assert faults(rows_of(twice[:1]), twice, NamedEmbedder("first")) == Faults()
    two = [Place("a", "one"), Place("b", "one")]
    assert faults(rows_of(two[:1]), two, NamedEmbedder("first")) == Faults(missing=1)


def test_an_input_is_owed_once_for_each_embedder() -> None:
    ledger = Ledger()
    first = [Place("a", "one"), Place("b", "one"), Place("b", "two")]
    assert ledger.owed(first, "first") == 2
    assert ledger.owed([Place("c", "one"), Place("c", "three")], "first") == 1
    assert ledger.owed(first[:1], "second") == 1


def test_a_sentence_goes_to_the_end_of_a_paragraph_outside_of_code() -> None:
    text = f"# Title\n\n```\n\n{LONG}\n\n```\n\n{LONG}\n\n- item\n"
    edited = edited_paragraph(text)
    assert edited.startswith(text[: text.rindex(LONG) + len(LONG)] + " This sentence")
    assert edited.endswith("\n\n- item\n")
    assert edited_paragraph("# Title\n\nshort\n") == "# Title\n\nshort\n"


def test_merestone_embeds_the_fewest_and_its_rows_are_true(tmp_path: Path) -> None:
    files = []
    for number in range(45):
        files.append(tmp_path / "sources" / f"{number:02}.md")
        files[-1].parent.mkdir(exist_ok=True)
        own = f"Document {number} says something that no other document says of it."
        files[-1].write_text(f"# Title\n\n{own}\n\n{LONG} So it is in {number}.\n\nEnd.\n")
    outcomes = run(Scenario(files, 40), tmp_path / "files", MerestoneSystem)
    assert [outcome.step for outcome in outcomes] == ["first", "U1", "U2", "U3"]
    for outcome in outcomes:
        assert (outcome.embedded, outcome.faults) == (outcome.fewest, Faults())
        assert outcome.probed <= 1
    assert outcomes[1].fewest == 15


def test_too_few_documents_are_refused() -> None:
    with pytest.raises(SystemExit, match="are wanted"):
        Scenario([Path("a.md")], 40)
