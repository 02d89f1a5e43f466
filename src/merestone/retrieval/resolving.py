"""What became of a passage that a reference names: the same, moved, changed or gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merestone.retrieval.reference import (
    CHUNK_ID,
    Reference,
    SpanReference,
    check_range,
    named,
    parse_reference,
    unknown,
)
from merestone.text.anchoring import Anchoring, anchor, composed
from merestone.types import (
    ChunkOutcome,
    DocumentHistory,
    HistoryEntry,
    NotFoundError,
    Resolution,
    SettingsError,
    SharedRun,
    Snapshot,
)


def history(snapshot: Snapshot, document: str) -> DocumentHistory:
    """The versions that a document had, oldest first; ``NotFoundError`` if it is unknown."""
    versions = snapshot.history(document)
    if not versions and snapshot.record(document) is None:
        raise unknown(document)
    return DocumentHistory(document, tuple(versions))


def resolve(snapshot: Snapshot, reference: Reference) -> Resolution:
    """Where the chunk, document or span that ``reference`` names is now.

    Older versions are followed through the history, also into documents that were renamed. A
    citation of a version that the history does not know is found again by its quote. Raises
    ``NotFoundError`` for what was never known, and ``SettingsError`` with code
    ``ambiguous-version`` for an abbreviation that several versions have.
    """
    return _Resolving(
        _Memory(snapshot), parse_reference(snapshot, reference), named(reference)
    ).run()


class SpanResolver:
    """:func:`resolve` for many spans of one snapshot. A document that several spans in a row are
    of is read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._memory = _Memory(snapshot)

    def resolve(self, span: SpanReference) -> Resolution:
        name = f"{span.document}#{span.start}-{span.end}"
        return _Resolving(self._memory, span, name).run()


@dataclass(frozen=True, slots=True)
class _Place:
    """A range of one version of a document."""

    document: str
    start: int
    end: int
    step: int
    """Index, in the document's history, of the first entry that came after that version."""
    version: str


@dataclass(frozen=True, slots=True)
class _Trail:
    """Where a version of a document led to."""

    document: str
    edits: Sequence[SharedRun] | None
    """From that version to the present one; ``None``: they have one text."""
    is_lost: bool = False
    """True if that version was removed; a document of that name may be there again."""


class _Memory:
    """Histories and the last text that were read of a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._histories: dict[str, list[HistoryEntry]] = {}
        self._arrivals: dict[str, list[HistoryEntry]] = {}
        self._text: tuple[str, str | None] | None = None

    def history(self, document: str) -> list[HistoryEntry]:
        if document not in self._histories:
            self._histories[document] = self.snapshot.history(document)
        return self._histories[document]

    def arrivals(self, version: str) -> list[HistoryEntry]:
        """Entries with which a document came to ``version`` from another, or was new."""
        if version not in self._arrivals:
            self._arrivals[version] = [
                entry for entry in self.snapshot.arrivals(version) if self._is_news(entry)
            ]
        return self._arrivals[version]

    def _is_news(self, entry: HistoryEntry) -> bool:
        """False for a document that was only cut anew."""
        entries = self.history(entry.document)
        step = entries.index(entry)
        return step == 0 or entries[step - 1].version != entry.version

    def text(self, document: str) -> str | None:
        if self._text is None or self._text[0] != document:
            self._text = document, self.snapshot.text(document)
        return self._text[1]


class _Resolving:
    def __init__(self, memory: _Memory, parsed: str | SpanReference, reference: str) -> None:
        self._memory = memory
        self._snapshot = memory.snapshot
        self._parsed = parsed
        self._reference = reference

    def run(self) -> Resolution:
        parsed = self._parsed
        if isinstance(parsed, SpanReference):
            return self._resolve_span(parsed)
        if self._snapshot.record(parsed) is not None:
            return self._whole("same", parsed)
        if CHUNK_ID.fullmatch(parsed):
            found = self._resolve_chunk(parsed)
            if found:
                return found
        step = self._last_step(parsed)
        if step is None:
            raise unknown(self._reference)
        trail = self._follow(parsed, step)
        if trail.is_lost or self._snapshot.record(trail.document) is None:
            trail = self._follow(parsed, step, self._history(parsed)[step - 1].version, takes=True)
        if trail.is_lost or self._snapshot.record(trail.document) is None:
            return Resolution(self._reference, "gone", trail.document)
        return self._whole("moved", trail.document)

    def _whole(self, outcome: ChunkOutcome, document: str) -> Resolution:
        text = self._memory.text(document) or ""
        return self._answer(document, Anchoring(outcome, 0, len(text)), text)

    def _resolve_chunk(self, chunk_id: str) -> Resolution | None:
        chunk = self._snapshot.chunk(chunk_id)
        if chunk is not None:
            return Resolution(
                self._reference,
                "same",
                chunk.document,
                chunk.version,
                chunk.start,
                chunk.end,
                chunk.text,
            )
        place = self._last_place(chunk_id)
        return self._resolve_place(place) if place else None

    def _last_place(self, chunk_id: str) -> _Place | None:
        """Where a chunk that is gone stood when it was last there."""
        mentions = self._snapshot.mentions(chunk_id)
        if not mentions:
            return None
        document = mentions[-1].document
        place = None
        was_there = True
        for step, entry in enumerate(self._history(document)):
            was_there |= chunk_id in entry.added
            went = next((gone for gone in entry.removed if gone.id == chunk_id), None)
            # While a new generation is built, entries say again what went from the old one.
            if went is not None and was_there:
                before = self._history(document)[step - 1].version if step else ""
                place = _Place(document, went.start, went.end, step, before)
                was_there = False
        return place

    def _resolve_span(self, span: SpanReference) -> Resolution:
        record = self._snapshot.record(span.document)
        if record is None and not self._history(span.document):
            raise unknown(self._reference)
        check_range(span, max(span.start, span.end))
        place = self._place_of(span)
        if place is None:
            if span.quote is None:
                raise self._unknown_version(span)
            return self._find(span, self._present_name(span.document))
        if place.step == len(self._history(place.document)) and span.quote is None:
            check_range(span, len(self._memory.text(place.document) or ""))
        return self._resolve_place(place, span)

    def _place_of(self, span: SpanReference) -> _Place | None:
        """The version that is meant; ``None`` if the history does not know it."""
        if span.version is None:
            step = self._last_step(span.document)
            entries = self._history(span.document)
            if step is None:
                return _Place(span.document, span.start, span.end, len(entries), "")
            version = entries[step - 1].version
            return _Place(span.document, span.start, span.end, step, version)
        found = self._versions(span.document, span.version, set())
        if len({version for _, _, version in found}) > 1:
            raise SettingsError(
                "ambiguous-version",
                f"{span.document} had several versions that begin with {span.version}.",
                "Give more of the version; `history` lists them whole.",
            )
        if not found:
            return None
        document, step, version = found[-1]
        return _Place(document, span.start, span.end, step, version)

    def _versions(
        self, document: str, beginning: str, visited: set[str]
    ) -> list[tuple[str, int, str]]:
        """(document, step, version) of versions that begin so; if there is none under this name,
        those under the names that it had before."""
        visited.add(document)
        entries = self._history(document)
        found = [
            (document, step, entry.version)
            for step, entry in enumerate(entries, 1)
            if entry.version and entry.version.startswith(beginning)
        ]
        if found:
            return found
        for step, entry in enumerate(entries):
            if _came_by_move(entries, step) and entry.moved_from not in visited:
                assert entry.moved_from is not None
                found += self._versions(entry.moved_from, beginning, visited)
        return found

    def _resolve_place(self, place: _Place, span: SpanReference | None = None) -> Resolution:
        """Where a range of a version is now. Where it is not to be found in its document, that
        may have become another's."""
        trail = self._follow(place.document, place.step, place.version)
        found = self._at_the_end(trail, place, span)
        if found.outcome in ("changed", "gone"):
            taken = self._follow(place.document, place.step, place.version, takes=True)
            if taken.document != trail.document and not taken.is_lost:
                there = self._at_the_end(taken, place, span)
                return found if there.outcome == "gone" else there
        return found

    def _at_the_end(self, trail: _Trail, place: _Place, span: SpanReference | None) -> Resolution:
        text = self._memory.text(trail.document)
        if trail.is_lost or text is None:
            if span is not None and span.quote is not None and text is not None:
                return self._find(span, trail.document)
            return Resolution(self._reference, "gone", trail.document)
        quote = span.quote if span else None
        if trail.edits is None:
            if span is not None and quote is None:
                # Its text is the present one, so that its length is known.
                check_range(span, len(text))
            found = self._unchanged(place, span, text)
        elif quote is not None and not trail.edits:
            assert span is not None
            found = anchor(quote, span.prefix, span.suffix, (span.start, span.end), text)
        else:
            around = (span.prefix, span.suffix) if span else ("", "")
            found = anchor(quote, *around, (place.start, place.end), text, trail.edits)
        if found.outcome == "same" and trail.document != place.document:
            found = found._replace(outcome="moved")
        return self._answer(trail.document, found, text)

    def _unchanged(self, place: _Place, span: SpanReference | None, text: str) -> Anchoring:
        """The passage in a version that has the present text."""
        if span and span.quote is not None and text[place.start : place.end] != span.quote:
            return anchor(span.quote, span.prefix, span.suffix, (span.start, span.end), text)
        return Anchoring("same", place.start, min(place.end, len(text)), 1.0)

    def _find(self, span: SpanReference, document: str) -> Resolution:
        """The passage by its quote, in a version that it was not taken from."""
        text = self._memory.text(document)
        if text is None:
            return Resolution(self._reference, "gone", document)
        found = anchor(span.quote, span.prefix, span.suffix, (span.start, span.end), text)
        if found.outcome == "same" and document != span.document:
            found = found._replace(outcome="moved")
        return self._answer(document, found, text)

    def _answer(self, document: str, found: Anchoring, text: str) -> Resolution:
        if found.start is None or found.end is None:
            return Resolution(self._reference, found.outcome, document)
        record = self._snapshot.record(document)
        return Resolution(
            self._reference,
            found.outcome,
            document,
            record.version if record else None,
            found.start,
            found.end,
            text[found.start : found.end],
        )

    def _follow(
        self, document: str, step: int, version: str = "", *, takes: bool = False
    ) -> _Trail:
        """From a version of a document, through the entries from ``step`` on, to the present;
        where it ``takes``, into the document that took the version of one that was lost."""
        edits: Sequence[SharedRun] | None = None
        visited: set[tuple[str, int]] = set()
        while step < len(self._history(document)) and (document, step) not in visited:
            visited.add((document, step))
            entry = self._history(document)[step]
            if not entry.version:
                move = self._move_of(document, entry)
                if move is None and takes:
                    move = self._taken_over(document, step, version)
                if move is None:
                    return _Trail(document, edits, is_lost=True)
                document, step = move
            elif takes and entry.version != version:
                document, step = self._taken_over(document, step, version) or (document, step)
            entry = self._history(document)[step]
            if entry.version != version:
                edits = list(entry.edits) if edits is None else composed(edits, entry.edits)
                version = entry.version
            step += 1
        return _Trail(document, edits)

    def _taken_over(self, document: str, step: int, version: str) -> tuple[str, int] | None:
        """The one document that took ``version``, and the step, where ``document`` lost it by
        being removed or by taking what another was: two exchanged their names, or it was renamed
        over another. ``None`` where it was merely edited, whatever copies of it there are."""
        if not version or not step:
            return None
        lost = self._history(document)[step]
        if lost.version and not any(
            entry.document != document and entry.library_version <= lost.library_version
            for entry in self._memory.arrivals(lost.version)
        ):
            return None
        since = self._history(document)[step - 1].library_version
        takers = {
            entry.document: entry
            for entry in self._memory.arrivals(version)
            if entry.document != document and entry.library_version > since
        }
        if len(takers) != 1:
            return None
        ((taker, entry),) = takers.items()
        return taker, self._history(taker).index(entry)

    def _move_of(self, document: str, removal: HistoryEntry) -> tuple[str, int] | None:
        """The document that came in the place of one that was moved away, and the step."""
        for move in reversed(self._snapshot.moves_of(document)):
            if move.library_version == removal.library_version:
                entries = self._history(move.document)
                for step, entry in enumerate(entries):
                    if entry.library_version == move.library_version and entry.version:
                        return (move.document, step) if _came_by_move(entries, step) else None
        return None

    def _present_name(self, document: str) -> str:
        step = self._last_step(document)
        return document if step is None else self._follow(document, step).document

    def _last_step(self, document: str) -> int | None:
        """The step behind the last version of a document; ``None`` if it never had one."""
        entries = self._history(document)
        steps = [step for step, entry in enumerate(entries, 1) if entry.version]
        return steps[-1] if steps else None

    def _history(self, document: str) -> list[HistoryEntry]:
        return self._memory.history(document)

    def _unknown_version(self, span: SpanReference) -> NotFoundError:
        return NotFoundError(
            "version-not-found",
            f"{span.document} has had no version {(span.version or '')[:12]} in this library.",
            "Give a version that `history` lists, or the citation with its quote.",
        )


def _came_by_move(entries: Sequence[HistoryEntry], step: int) -> bool:
    """True if the document was another's until then: later versions remember it, too."""
    return entries[step].moved_from is not None and (step == 0 or not entries[step - 1].version)
