"""Making evidence of what someone points at: a hit, a citation, a quote."""

from __future__ import annotations

from merestone.evaluation.gold.checking import written
from merestone.evaluation.gold.word_runs import WordRun
from merestone.evaluation.questions.importing.matching import DocumentNames
from merestone.evaluation.questions.values import Evidence
from merestone.retrieval import Reference, resolve
from merestone.types import NotFoundError, SettingsError, Snapshot

_SHOWN = 60


def cited_evidence(snapshot: Snapshot, reference: Reference) -> Evidence:
    """The passage that a chunk id, ``document#start-end`` or a citation names, where it stands
    now. A document's id alone means all of it.

    Raises ``NotFoundError`` for what is not known, and ``SettingsError`` with code
    ``passage-changed`` if the passage is not there any more as it was.
    """
    try:
        found = resolve(snapshot, reference)
    except NotFoundError as error:
        meant = _meant(snapshot, reference) if isinstance(reference, str) else ""
        if not meant:
            raise
        raise NotFoundError(error.code, error.message, f"{meant}{error.remedy}") from error
    record = snapshot.record(found.document)
    text = snapshot.text(found.document)
    if found.outcome not in ("same", "moved") or record is None or text is None:
        raise SettingsError(
            "passage-changed",
            f"The passage {found.ref} is {found.outcome}.",
            "Search again and name the passage as it is now.",
        )
    assert found.start is not None
    assert found.end is not None
    if isinstance(reference, str) and reference == found.document:
        return Evidence(found.document)
    start, end = found.start, found.end
    return written(Evidence(found.document), found.document, (start, end), text, record.version)


def quoted_evidence(
    snapshot: Snapshot, document: str, quote: str, occurrence: int | None = None
) -> Evidence:
    """The place of ``document`` that has the words of ``quote``, white space apart.

    ``occurrence`` says which of several, from 1. Raises ``NotFoundError`` with code
    ``quote-not-found``, and ``SettingsError`` with code ``ambiguous-quote``.
    """
    record, text = snapshot.record(document), snapshot.text(document)
    if record is None or text is None:
        raise NotFoundError(
            "reference-not-found",
            f"Nothing is known as {document!r}.",
            f"{_meant(snapshot, document)}`merestone status --documents` lists their names.",
        )
    places = _places(text, quote) or list(WordRun(text, with_marks=True).places(quote))
    shown = quote if len(quote) <= _SHOWN else f"{quote[:_SHOWN]}…"
    if not places or (occurrence or 1) > len(places):
        times = f"only {len(places)} times" if places else "nowhere"
        raise NotFoundError(
            "quote-not-found",
            f"{shown!r} stands {times} in {document}.",
            "Copy the words as `show` prints them.",
        )
    if occurrence is None and len(places) > 1:
        raise SettingsError(
            "ambiguous-quote",
            f"{shown!r} stands {len(places)} times in {document}.",
            "Quote more of it, or say which one with --occurrence.",
        )
    place = places[(occurrence or 1) - 1]
    return written(Evidence(document), document, place, text, record.version)


def _places(text: str, quote: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = text.find(quote) if quote.strip() else -1
    while at >= 0:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + len(quote))
    return found


def _meant(snapshot: Snapshot, document: str) -> str:
    """``Did you mean a.md? `` where a name that is no document's is short for one; else nothing."""
    meant = DocumentNames(snapshot.records()).match(document)
    return f"Did you mean {meant}? " if meant and meant != document else ""
