"""Following references through the versions of a library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from merestone import Library, NotFoundError, SettingsError
from merestone.types import Resolution

PUMP = "# Pump\n\nClose the valve before the pump is opened.\n"
LIMITS = "## Limits\n\nThe pump runs at 40 bar, never at more, whoever asks for it.\n"
NOTICE = "Notice: this page was revised in spring, after the last inspection.\n\n"


class Book:
    """A folder with one document that changes, and the library over it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = Library.open(
            folder, embedding={"model": "hashing"}, chunking={"max_tokens": 24, "min_tokens": 1}
        )

    def write(self, text: str, name: str = "guide.md") -> str:
        """The version that the document has then."""
        (self.folder / name).write_text(text)
        self.library.sync(full_hash=True)
        with self.library.snapshot(as_owner=True) as snapshot:
            record = snapshot.record(name)
        assert record is not None
        return record.version

    def rename(self, old: str, new: str) -> None:
        (self.folder / old).rename(self.folder / new)
        self.library.sync()

    def chunk(self, text: str) -> str:
        """The id of the chunk that holds ``text``."""
        with self.library.snapshot(as_owner=True) as snapshot:
            (found,) = [
                chunk.id
                for record in snapshot.records()
                for chunk in snapshot.chunks_of(record.id)
                if text in chunk.text
            ]
        return found

    def resolve(self, reference: str) -> Resolution:
        found = self.library.resolve(reference)
        assert found.ref == reference
        if found.text is not None:
            shown = self.library.show(f"{found.document}#{found.start}-{found.end}")
            assert shown["text"] == found.text
            assert shown["version"] == found.version
        return found


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    made = Book(tmp_path)
    yield made
    made.library.close()


def span_of(text: str, part: str, version: str = "", document: str = "guide.md") -> str:
    start = text.index(part)
    return f"{document}#{start}-{start + len(part)}" + (f"@{version}" if version else "")


def test_what_lives_is_the_same(book: Book) -> None:
    version = book.write(PUMP + LIMITS)
    for reference in (
        book.chunk("40 bar"),
        "guide.md",
        span_of(PUMP, "valve"),
        span_of(PUMP, "valve", version),
        span_of(PUMP, "valve", version[:8]),
    ):
        assert book.resolve(reference).outcome == "same"
    assert book.resolve("guide.md").text == PUMP + LIMITS


def test_a_span_is_followed_through_every_version(book: Book) -> None:
    text = PUMP + LIMITS
    first = book.write(text)
    book.write(NOTICE + text)
    book.write(NOTICE + LIMITS + "\n" + PUMP)
    last = NOTICE + LIMITS + "\nAn addition that is new.\n\n" + PUMP
    book.write(last)
    part = "Close the valve before the pump is opened."
    found = book.resolve(span_of(text, part, first))
    assert (found.outcome, found.start) == ("moved", last.index(part))
    assert found.text == part
    book.write(last.replace("valve", "valves"))
    assert book.resolve(span_of(text, part, first)).outcome == "changed"
    assert book.resolve(span_of(text, part, first)).text == part.replace("valve", "valves")
    book.write(NOTICE)
    assert book.resolve(span_of(text, part, first)).outcome == "gone"


def test_a_version_that_came_back_is_the_same_again(book: Book) -> None:
    first = book.write(PUMP + LIMITS)
    book.write(NOTICE)
    assert book.write(PUMP + LIMITS) == first
    assert book.resolve(span_of(PUMP + LIMITS, "40 bar", first)).outcome == "same"


def test_a_chunk_that_went_is_found_where_its_text_is_now(book: Book) -> None:
    book.write(PUMP + LIMITS)
    old = book.chunk("40 bar")
    book.write(PUMP + LIMITS.replace("40", "50"))
    found = book.resolve(old)
    assert found.outcome == "changed"
    assert "50 bar" in (found.text or "")
    book.write(PUMP)
    assert book.resolve(old).outcome == "gone"
    book.write(PUMP + LIMITS)
    assert book.resolve(old).outcome == "same"


def test_other_chunks_of_the_same_text_leave_passages_the_same(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.write(PUMP + LIMITS)
    old = book.chunk("40 bar")
    book.library.close()
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        library.sync()
        found = library.resolve(old)
    assert found.outcome == "same"
    assert "40 bar" in (found.text or "")


def test_renamed_documents_are_followed(book: Book) -> None:
    text = PUMP + LIMITS
    first = book.write(text)
    chunk = book.chunk("40 bar")
    book.rename("guide.md", "manual.md")
    book.rename("manual.md", "handbook.md")
    for reference in (chunk, "guide.md", span_of(text, "40 bar"), span_of(text, "40 bar", first)):
        found = book.resolve(reference)
        assert (found.outcome, found.document) == ("moved", "handbook.md")
    # A version under an earlier name is known under the later ones.
    book.write(NOTICE + text, "handbook.md")
    found = book.resolve(span_of(text, "40 bar", first, "handbook.md"))
    assert (found.outcome, found.text) == ("moved", "40 bar")
    found = book.resolve(chunk)
    assert found.document == "handbook.md"
    assert "40 bar" in (found.text or "")


def test_a_version_is_found_in_the_document_that_took_it(book: Book) -> None:
    text = PUMP + LIMITS
    first = book.write(text, "a.md")
    other = book.write(NOTICE * 3 + PUMP[:9], "b.md")
    chunk = book.chunk("40 bar")
    # Two documents exchange their names.
    (book.folder / "b.md").write_text(text)
    assert book.write(NOTICE * 3 + PUMP[:9], "a.md") == other
    old = span_of(text, "40 bar", first, "a.md")
    for reference in (old, chunk):
        found = book.resolve(reference)
        assert (found.outcome, found.document) == ("moved", "b.md")
    # The citation follows it from there, also where it is renamed over another document.
    book.write(NOTICE + text, "b.md")
    book.write(PUMP, "c.md")
    assert book.resolve(old).document == "b.md"
    (book.folder / "b.md").replace(book.folder / "c.md")
    book.write(NOTICE + text, "c.md")
    found = book.resolve(old)
    assert (found.outcome, found.document, found.text) == ("moved", "c.md", "40 bar")
    assert book.resolve("b.md").document == "c.md"


def test_a_copy_does_not_take_the_place_of_a_document_that_is_edited(book: Book) -> None:
    text = PUMP + LIMITS
    first = book.write(text)
    (book.folder / "copy.md").write_text(text)
    book.write(text.replace("40 bar", "50 bar"))
    found = book.resolve(span_of(text, "40 bar", first))
    assert (found.outcome, found.document) == ("changed", "guide.md")


def test_showing_what_is_no_longer_there_leads_to_resolve(book: Book) -> None:
    first = book.write(PUMP + LIMITS)
    chunk = book.chunk("40 bar")
    book.write(NOTICE)
    for reference in (chunk, f"guide.md#0-4@{first}"):
        with pytest.raises(NotFoundError) as caught:
            book.library.show(reference)
        assert "merestone resolve" in caught.value.remedy
    book.rename("guide.md", "manual.md")
    for reference in ("guide.md", "guide.md#0-4", "0" * 32):
        with pytest.raises(NotFoundError) as caught:
            book.library.show(reference)
        assert "`merestone resolve`" in caught.value.remedy, "whether it was there or not"


def test_a_document_that_was_removed_is_gone_and_one_never_there_unknown(book: Book) -> None:
    book.write(PUMP, "other.md")
    first = book.write(PUMP + LIMITS)
    chunk = book.chunk("40 bar")
    book.library.remove(["guide.md"])
    for reference in ("guide.md", chunk, span_of(PUMP, "valve"), span_of(PUMP, "valve", first)):
        found = book.resolve(reference)
        assert (found.outcome, found.document, found.text) == ("gone", "guide.md", None)
    for reference in ("nothing.md", "nothing.md#0-4", "0" * 32):
        with pytest.raises(NotFoundError) as caught:
            book.resolve(reference)
        assert caught.value.code == "reference-not-found"


def test_a_range_that_is_none_and_a_version_that_never_was(book: Book) -> None:
    version = book.write(PUMP)
    for reference, code in (
        (f"guide.md#0-{len(PUMP) + 1}", "span-not-found"),
        ("guide.md#7-3", "span-not-found"),
        ("guide.md#0-3@0123456789abcdef", "version-not-found"),
        (f"guide.md#0-99999@{version}", "span-not-found"),
    ):
        with pytest.raises(NotFoundError) as caught:
            book.resolve(reference)
        assert caught.value.code == code


def test_an_end_beyond_a_text_that_is_still_there_is_refused_under_its_old_name_too(
    book: Book,
) -> None:
    version = book.write(PUMP)
    book.rename("guide.md", "manual.md")
    whole = f"guide.md#0-{len(PUMP)}"
    for reference in (whole, f"{whole}@{version}"):
        assert book.resolve(reference).document == "manual.md"
    for reference in (f"guide.md#0-{len(PUMP) + 1}", f"guide.md#0-99999@{version}"):
        with pytest.raises(NotFoundError) as caught:
            book.resolve(reference)
        assert caught.value.code == "span-not-found"


def test_an_abbreviation_of_several_versions_is_refused(book: Book) -> None:
    versions: list[str] = []
    while len({version[0] for version in versions}) == len(versions):
        versions.append(book.write(f"{PUMP}\nRevision {len(versions)}.\n"))
    with pytest.raises(SettingsError) as caught:
        book.resolve(f"guide.md#0-3@{versions[-1][0]}")
    assert caught.value.code == "ambiguous-version"


def test_citations_are_followed_and_those_of_another_library_found_by_their_quote(
    book: Book,
) -> None:
    text = PUMP + LIMITS
    book.write(text)
    hit = book.library.search("40 bar", k=1).hits[0]
    citation = hit.citation.to_json()
    assert book.library.resolve(citation).outcome == "same"
    book.write(NOTICE + text)
    found = book.library.resolve(citation)
    assert (found.outcome, found.text) == ("moved", hit.citation.quote)
    foreign = {"citation": {**citation, "version": "of another library"}}
    found = book.library.resolve(foreign)
    assert (found.outcome, found.text) == ("moved", hit.citation.quote)
    book.write(NOTICE + PUMP)
    assert book.library.resolve(foreign).outcome == "gone"


def test_history_tells_each_version_with_the_chunks_that_came_and_went(book: Book) -> None:
    versions = [book.write(PUMP + LIMITS)]
    limits = book.chunk("40 bar")
    versions.append(book.write(PUMP))
    book.rename("guide.md", "manual.md")
    found = book.library.history("guide.md").to_json()
    assert found["document"] == "guide.md"
    assert [entry["version"] for entry in found["versions"]] == [*versions, ""]
    assert limits in found["versions"][0]["added"]
    assert found["versions"][1]["removed"] == [limits]
    assert [
        entry["moved_from"] for entry in book.library.history("manual.md").to_json()["versions"]
    ] == ["guide.md"]
    numbers = [entry["library_version"] for entry in found["versions"]]
    assert numbers == sorted(set(numbers))
    with pytest.raises(NotFoundError):
        book.library.history("nothing.md")


def test_who_may_not_read_a_document_is_told_what_one_is_told_who_asks_for_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\n'
        '[[access.rules]]\npaths = ["hr.md"]\nallow = ["user:ann"]\n'
    )
    (tmp_path / "hr.md").write_text(PUMP)
    with Library.open(tmp_path) as library:
        library.sync()
        (chunk,) = library.history("hr.md", principals=["user:ann"]).versions[0].added
        (tmp_path / "hr.md").write_text(LIMITS)
        library.sync(full_hash=True)
        assert library.resolve(chunk, principals=["user:ann"]).document == "hr.md"
        for ask in (library.resolve, library.history):
            told = []
            for name in ("hr.md", "no.md"):
                with pytest.raises(NotFoundError) as caught:
                    ask(name, principals=["user:bob"])
                told.append(str(caught.value).replace(name, ""))
            assert told[0] == told[1]
        with pytest.raises(NotFoundError):
            library.resolve(chunk, principals=["user:bob"])
