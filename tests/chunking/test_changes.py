"""What became of chunks between two versions."""

from __future__ import annotations

import pytest
from chunking.strategies import markdown, read_markdown
from hypothesis import given
from hypothesis import strategies as st

import merestone
from merestone.chunking import cut
from merestone.chunking.changes import changes_between
from merestone.text.tokenizers import WordTokenizer
from merestone.types import ChunkChange, ChunkingSettings, Cutting, CuttingChanges, Document

TOP = (
    "# Handbook\n\nAll that has to be done in the boiler house, by day and by part of the plant, "
    "and who does it, and with whom.\n\n"
)
PARTS = [
    f"## Part {number}\n\nThe {noun} is checked every {day}. Whoever checks the {noun} signs in "
    f"list {number}. A {noun} that leaks is reported at once.\n"
    for number, (noun, day) in enumerate(
        [("pump", "Monday"), ("valve", "Tuesday"), ("boiler", "Friday"), ("gauge", "Sunday")]
    )
]


def cut_by_words(text: str, max_tokens: int = 30, strategy: str = "structure") -> Cutting:
    settings = ChunkingSettings(
        strategy=strategy,
        max_tokens=max_tokens,
        target_tokens=max(1, int(max_tokens * 0.8)),
        min_tokens=1,
    )
    return cut(read_markdown(text), settings, WordTokenizer())


def compared(old: str, new: str) -> CuttingChanges:
    return changes_between(
        Document("doc.md", old), cut_by_words(old), Document("doc.md", new), cut_by_words(new)
    )


def outcomes(changes: CuttingChanges) -> list[str]:
    return [change.outcome for change in changes.changes]


def texts_of(change: ChunkChange, new: str) -> list[str]:
    by_id = {chunk.id: chunk.text for chunk in cut_by_words(new).chunks}
    return [by_id[there] for there in change.to]


def test_nothing_changes_between_equal_versions() -> None:
    text = "\n".join(PARTS)
    changes = compared(text, text)
    assert set(outcomes(changes)) == {"same"}
    assert not changes.new
    for change in changes.changes:
        assert change.to == (change.id,)
        assert (change.start, change.end) == (change.new_start, change.new_end)


def test_a_part_above_makes_one_new_chunk_and_leaves_the_others_the_same() -> None:
    changes = compared(TOP + "\n".join(PARTS[1:]), TOP + "\n".join(PARTS))
    assert outcomes(changes) == ["same"] * 4
    assert changes.counts == {"same": 4, "moved": 0, "changed": 0, "gone": 0, "new": 1}
    second = changes.changes[1]
    assert second.new_start == second.start + len(PARTS[0]) + 1
    assert changes.new[0].start == len(TOP)


def test_a_reworded_sentence_is_found_in_its_new_words() -> None:
    old = "\n".join(PARTS)
    new = old.replace("checked every Tuesday", "looked at on each Tuesday morning")
    changes = compared(old, new)
    assert outcomes(changes) == ["same", "changed", "same", "same"]
    assert not changes.new
    change = changes.changes[1]
    assert new[change.new_start : change.new_end] == PARTS[1].strip().replace(
        "checked every Tuesday", "looked at on each Tuesday morning"
    )


def test_a_beginning_that_was_rewritten_belongs_to_the_new_range() -> None:
    old = "\n".join(PARTS)
    new = old.replace("## Part 2\n\nThe boiler is", "## Chapter two\n\nBoilers are")
    change = compared(old, new).changes[2]
    assert change.outcome == "changed"
    assert new[change.new_start : change.new_end].startswith("## Chapter two\n\nBoilers are")


def test_a_chunk_that_is_gone_leads_nowhere() -> None:
    changes = compared("\n".join(PARTS), "\n".join(PARTS[:2] + PARTS[3:]))
    assert outcomes(changes) == ["same", "same", "gone", "same"]
    gone = changes.changes[2]
    assert (gone.to, gone.new_start, gone.new_end) == ((), None, None)


def test_a_chunk_that_grew_too_large_leads_to_all_its_parts() -> None:
    old = "\n".join(PARTS)
    added = "It is also painted green so that all can see it from far away. " * 2
    new = old.replace("Whoever checks the valve", f"{added}Whoever checks the valve")
    changes = compared(old, new)
    assert outcomes(changes) == ["same", "changed", "same", "same"]
    found = texts_of(changes.changes[1], new)
    assert len(found) >= 2
    assert "The valve is checked" in found[0]
    assert "valve that leaks" in found[-1]


def test_chunks_that_were_joined_lead_to_the_same_one() -> None:
    old = "First of all the pump is checked by two.\n\nThen the valve is checked by one of them.\n"
    new = old.replace("by two.\n\nThen", "by two. Then")
    before = cut_by_words(old, 10)
    after = cut_by_words(new, 30)
    changes = changes_between(Document("doc.md", old), before, Document("doc.md", new), after)
    assert len(before.chunks) == 2
    assert [change.to for change in changes.changes] == [(after.chunks[0].id,)] * 2


def test_parts_that_changed_places_moved() -> None:
    changes = compared("\n".join(PARTS), "\n".join([PARTS[0], *PARTS[2:], PARTS[1]]))
    assert outcomes(changes) == ["same", "moved", "same", "same"]
    assert changes.changes[1].to == (changes.changes[1].id,)
    assert not changes.new


def test_a_part_that_moved_and_was_edited_is_followed_by_its_lines() -> None:
    old = [part.replace(". ", ".\n") for part in PARTS]
    edited = old[1].replace("signs in", "writes in")
    changes = compared("\n".join(old), "\n".join([old[0], *old[2:], edited]))
    assert outcomes(changes) == ["same", "changed", "same", "same"]
    assert not changes.new


def test_another_heading_above_changes_the_context_but_not_the_id() -> None:
    text = TOP + "\n".join(PARTS)
    changes = compared(text, text.replace("Handbook", "Manual"))
    assert outcomes(changes) == ["changed"] * 5
    assert changes.changes[0].to != (changes.changes[0].id,)
    for change in changes.changes[1:]:
        assert change.to == (change.id,)


def test_equal_passages_are_told_apart_by_their_neighbours() -> None:
    note = "Ask the operator."
    old = f"# A\n\n## One\n\n{note}\n\n{PARTS[1]}"
    new = f"# A\n\n## Zero\n\n{note}\n\n{PARTS[0]}\n## One\n\n{note}\n\n{PARTS[1]}"
    changes = compared(old, new)
    first = changes.changes[0]
    assert new[first.new_start : first.new_end].endswith(f"## One\n\n{note}")


def test_the_wrong_document_id_is_no_reason_to_lose_a_chunk() -> None:
    text = "\n".join(PARTS)
    settings = ChunkingSettings(strategy="structure", max_tokens=30, target_tokens=24, min_tokens=1)
    other = cut(read_markdown(text, "other.md"), settings, WordTokenizer())
    changes = changes_between(
        Document("other.md", text), other, Document("doc.md", text), cut_by_words(text)
    )
    assert outcomes(changes) == ["moved"] * 4


@given(
    st.lists(st.sampled_from([" ", "\n", "\n\n", ", "]), min_size=25, max_size=60),
    st.integers(2, 12),
    st.integers(2, 12),
)
def test_other_sizes_lose_nothing_of_a_text(
    separators: list[str], old_size: int, new_size: int
) -> None:
    text = "".join(f"word{number}{separator}" for number, separator in enumerate(separators))
    old, new = (cut_by_words(text, size, "fixed") for size in (old_size, new_size))
    document = Document("doc.md", text)
    changes = changes_between(document, old, document, new)
    assert changes.counts["gone"] == changes.counts["new"] == 0
    for change in changes.changes:
        assert text[change.start : change.end] == text[change.new_start : change.new_end]


@given(markdown, markdown)
def test_every_chunk_is_accounted_for(old: str, new: str) -> None:
    before, after = cut_by_words(old), cut_by_words(new)
    changes = changes_between(Document("doc.md", old), before, Document("doc.md", new), after)
    assert [change.id for change in changes.changes] == [chunk.id for chunk in before.chunks]
    ids = {chunk.id: chunk for chunk in after.chunks}
    reached = {there for change in changes.changes for there in change.to}
    assert reached | {chunk.id for chunk in changes.new} == set(ids)
    assert not reached & {chunk.id for chunk in changes.new}
    for change in changes.changes:
        assert (change.outcome == "gone") == (not change.to) == (change.new_start is None)
        if change.new_start is not None and change.new_end is not None:
            assert 0 <= change.new_start < change.new_end <= len(new)
            starts = [ids[there].start for there in change.to]
            assert starts == sorted(starts)


def test_versions_are_cut_as_one_document() -> None:
    text = "\n".join(PARTS)
    old, new = (merestone.read(text.encode(), name=name) for name in ("guide-1.md", "guide-2.md"))
    changes = merestone.changes_between(old, new, max_tokens=60, tokenizer=WordTokenizer())
    assert set(outcomes(changes)) == {"same"}


def test_the_shape_of_the_answer() -> None:
    answer = compared(TOP + "\n".join(PARTS[:2]), TOP + "\n".join(PARTS[1:3])).to_json()
    assert set(answer) == {"changes", "new", "counts"}
    assert set(answer["changes"][0]) == {
        "id",
        "outcome",
        "to",
        "start",
        "end",
        "new_start",
        "new_end",
    }
    assert set(answer["new"][0]) == {"id", "start", "end"}
    assert answer["counts"] == {"same": 2, "moved": 0, "changed": 0, "gone": 1, "new": 1}


def test_ten_thousand_chunks_are_mapped() -> None:
    lines = [f"Line {number} says that {number * 7} is {number % 13}." for number in range(15_000)]
    spans = "\n\n".join(lines)
    edited = "\n\n".join(line.replace("7 is", "7 was") for line in reversed(lines[::2]))
    old, new = cut_by_words(spans, 10, "fixed"), cut_by_words(edited, 10, "fixed")
    changes = changes_between(Document("doc.md", spans), old, Document("doc.md", edited), new)
    assert sum(changes.counts.values()) - changes.counts["new"] == len(old.chunks) >= 10_000


pytestmark = pytest.mark.filterwarnings("error")
