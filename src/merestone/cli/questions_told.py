"""How ``merestone questions`` answers people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from merestone.cli.session import amount, indented
from merestone.evaluation.gold.checking import CheckedEvidence, CheckedQuestion, QuestionsCheck
from merestone.evaluation.questions.importing import Import
from merestone.evaluation.questions.merging import Merging
from merestone.evaluation.questions.suggesting import Suggestion
from merestone.evaluation.questions.values import Evidence, Question

_SHOWN = 200
_NAMES = 10
_WHOLE = (
    "All of the document answers. Unless it is short no budget holds it whole, so the measures of "
    "documents tell whether it is found; --quote names the words that answer."
)
_WORDS = {"no-document": "without document", "no-text": "without text"}


def told_check(check: QuestionsCheck, is_applied: bool) -> str:
    lines = [_summary(check)]
    if check.to_review:
        lines.append(f"{amount(len(check.to_review), 'question')} to look at:")
        lines += [_to_review(item) for item in check.to_review]
    if check.moves and not is_applied:
        places = amount(check.moves, "place")
        lines.append(f"--apply writes {places} as they are now into the file.")
    lines += [f"note: {note}" for note in check.notes]
    return "\n".join(lines)


def _summary(check: QuestionsCheck) -> str:
    outcomes = ", ".join(
        f"{count:,} {_WORDS.get(outcome, outcome)}" for outcome, count in check.counts.items()
    )
    questions = amount(len(check.questions), "question")
    return f"{questions}; evidence: {outcomes or 'none'}"


def _to_review(item: CheckedQuestion) -> str:
    lines = [f"\n{item.question.id}: {item.question.question}"]
    for each in item.evidence:
        if each.now is None:
            lines += _told_evidence(each)
    lines += [f"  its scope names {name}, which is not there" for name in item.missing_scope]
    return "\n".join(lines)


def _told_evidence(each: CheckedEvidence) -> Iterator[str]:
    outcome = _WORDS.get(each.outcome, each.outcome)
    yield f"  {outcome}: {place_of(each.evidence)} ({each.anchored.reason or 'look at it'})"
    if each.evidence.quote:
        yield indented(f"was: {_short(each.evidence.quote)}")
    if each.found:
        yield indented(f"now: {_short(each.found)}")


def told_added(question: Question, path: Path) -> str:
    """A question as it was written to ``path``, with the words of its answers."""
    pieces = amount(len(question.evidence), "piece")
    lines = [f"{question.id}: {question.question}", f"{pieces} of evidence, in {path}"]
    for each in question.evidence:
        lines.append(f"  {place_of(each)}")
        if each.quote:
            lines.append(indented(_short(each.quote)))
        elif each.is_whole and each.page is None:
            lines.append(indented(_WHOLE))
    return "\n".join(lines)


def told_import(found: Import, kept: Merging, target: Path) -> str:
    parts = [f"{amount(kept.added, 'question')} added to {target}"]
    parts += [f"{kept.replaced:,} replaced"] if kept.replaced else []
    parts += [f"{kept.unchanged:,} there already"] if kept.unchanged else []
    lines = [f"{', '.join(parts)}."]
    lines += [
        f"{amount(len(ids), 'question')} left out, {reason}: {_first(ids)}"
        for reason, ids in found.left_out.items()
    ]
    if found.check:
        lines.append(_summary(found.check))
    if found.unmatched:
        lines.append(
            f"{amount(len(found.unmatched), 'name')} of documents that the library does not have, "
            f"or has several of: {_first(list(found.unmatched))}"
        )
    if found.taken_for:
        pairs = [f"{name} for {id}" for name, ids in found.taken_for.items() for id in ids]
        were = "name was" if len(found.taken_for) == 1 else "names were"
        lines.append(f"{len(found.taken_for):,} {were} taken for documents: {_first(pairs)}")
    if found.check and found.check.to_review:
        lines.append("`merestone questions check` shows what to look at.")
    lines += [f"note: {note}" for note in found.notes]
    return "\n".join(lines)


def _first(names: Sequence[str]) -> str:
    return f"{', '.join(names[:_NAMES])}{', …' if len(names) > _NAMES else ''}"


def told_suggestion(made: Suggestion) -> str:
    return told_questions(made.questions) or "Nothing in the documents suggests a question."


def told_questions(questions: Iterable[Question]) -> str:
    return "\n\n".join(_told(question) for question in questions)


def _told(question: Question) -> str:
    notes = [*question.tags, *(["made"] if question.made else [])]
    head = f"{question.id}: {question.question}" + (f"  [{', '.join(notes)}]" if notes else "")
    places = [f"  {place_of(evidence)}" for evidence in question.evidence] or ["  no answer"]
    return "\n".join([head, *places])


def place_of(evidence: Evidence) -> str:
    """Where a piece of evidence stands, in short."""
    page = f", page {evidence.page}" if evidence.page is not None else ""
    if evidence.span is not None:
        return f"{evidence.doc}#{evidence.start}-{evidence.end}{page}"
    return f"{evidence.doc}{page}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
