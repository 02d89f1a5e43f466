"""The JSON form of a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merestone.evaluation.questions.keys import (
    EVIDENCE_KEYS,
    EVIDENCE_STRINGS,
    QUESTION_KEYS,
    did_you_mean,
    meant_key,
)
from merestone.evaluation.questions.values import (
    Coordinates,
    Evidence,
    Match,
    Question,
    question_id,
)
from merestone.types import JSON

_MATCHES: Mapping[str, Match] = {"all": "all", "any": "any"}
_COORDINATES: Mapping[str, Coordinates] = {"text": "text", "source": "source"}


class QuestionFormError(Exception):
    """What is wrong with a question as it was given, and what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy


def question_from_json(value: JSON) -> Question:
    """A question, with defaults for what is missing; ``QuestionFormError`` if it can't be one."""
    if not isinstance(value, dict):
        raise QuestionFormError(
            "it is no JSON object", "Write one object with question and evidence."
        )
    text = _string(value, "question").strip()
    if not text:
        hint = "" if "question" in value else did_you_mean(_unknown(value), {"question"})
        remedy = f"{hint}Give it words, or remove the line."
        raise QuestionFormError("the question is empty", remedy)
    _check_evidence_key(value)
    match = _MATCHES.get(_string(value, "match") or "all")
    if match is None:
        raise QuestionFormError(f"match is {value['match']!r}", 'Write "all" or "any".')
    items = value.get("evidence") or []
    if not isinstance(items, list):
        raise QuestionFormError("evidence is no list", 'Write [] or [{"doc": …, "quote": …}].')
    made = value.get("made", False)
    if not isinstance(made, bool):
        raise QuestionFormError(f"made is {made!r}", "Write true or false.")
    return Question(
        id=_identifier(value) or question_id(text),
        question=text,
        evidence=tuple(evidence_from_json(item) for item in items),
        match=match,
        scope=_strings(value, "scope"),
        tags=_strings(value, "tags"),
        language=_string(value, "language") or None,
        made=made,
        principals=_strings(value, "principals"),
        extra={key: each for key, each in value.items() if key not in QUESTION_KEYS},
    )


def _unknown(value: Mapping[str, Any]) -> list[str]:
    return [str(key) for key in value if key not in QUESTION_KEYS]


def _check_evidence_key(value: Mapping[str, Any]) -> None:
    """A question whose evidence is mistyped would pass for one that nothing answers."""
    lost = [key for key in _unknown(value) if meant_key(key, QUESTION_KEYS) == "evidence"]
    if lost and "evidence" not in value:
        raise QuestionFormError(
            f"the key {lost[0]!r} means nothing, and there is no evidence",
            "Did you mean evidence? Where nothing answers, write evidence as [].",
        )


def evidence_from_json(value: JSON) -> Evidence:
    """One piece of evidence; :class:`QuestionFormError` if it can't be one."""
    if not isinstance(value, dict):
        raise QuestionFormError("a piece of evidence is no JSON object", 'Write {"doc": …}.')
    coordinates = _COORDINATES.get(_string(value, "coordinates") or "text")
    if coordinates is None:
        raise QuestionFormError(
            f"coordinates is {value['coordinates']!r}", 'Write "text" or "source".'
        )
    evidence = Evidence(
        **{key: _string(value, key) for key in EVIDENCE_STRINGS},
        start=_number(value, "start", 0),
        end=_number(value, "end", 0),
        page=_number(value, "page", 1),
        coordinates=coordinates,
        grade=1 if value.get("grade") is None else _number(value, "grade", 0) or 0,
        extra={key: each for key, each in value.items() if key not in EVIDENCE_KEYS},
    )
    _check_place(evidence)
    _check_quote(evidence, value)
    _check_span(evidence)
    return evidence


def _check_place(evidence: Evidence) -> None:
    """A piece whose quote or span is mistyped would pass for all of its document."""
    strange = list(evidence.extra)
    if not evidence.doc.strip():
        raise QuestionFormError(
            "a piece of evidence names no document",
            f"{did_you_mean(strange, {'doc'})}Give doc, or leave evidence empty if nothing answers "
            "the question.",
        )
    if strange and evidence.is_whole and evidence.page is None and evidence.start is None:
        open_keys = EVIDENCE_KEYS - {"doc"}
        raise QuestionFormError(
            f"a piece of evidence has the unknown key {strange[0]!r}, and nothing that says where "
            f"in {evidence.doc} the answer stands",
            f"{did_you_mean(strange, open_keys)}Known there: {', '.join(sorted(EVIDENCE_KEYS))}. "
            "If all of the document answers, take the unknown key away.",
        )


def _check_quote(evidence: Evidence, value: Mapping[str, Any]) -> None:
    """A quote that was to be filled in would pass for all of the document, or of the page."""
    if evidence.span is None and value.get("quote") is not None and not evidence.quote.strip():
        raise QuestionFormError(
            f"the quote of {evidence.doc} is empty",
            "Quote the words that answer, or leave quote out if all of it answers.",
        )


def _check_span(evidence: Evidence) -> None:
    start, end = evidence.start, evidence.end
    if (start is None) != (end is None):
        raise QuestionFormError(
            "only one of start and end is there", "Give both, or a quote alone."
        )
    if start is None or end is None:
        return
    if start >= end:
        raise QuestionFormError(
            f"the span {start}-{end} ends before it has begun", "Give start below end."
        )
    is_counted = evidence.page is None or evidence.coordinates == "text"
    if is_counted and evidence.quote and len(evidence.quote) != end - start:
        raise QuestionFormError(
            f"the quote has {len(evidence.quote)} characters and the span {start}-{end} has "
            f"{end - start}",
            "Count in code points, with line ends as they are in the text; or leave out start and "
            "end, so that the quote is looked for.",
        )


def question_to_json(question: Question) -> dict[str, JSON]:
    """The question as it is written: what has its default is left out."""
    shape: dict[str, JSON] = {
        "id": question.id,
        "question": question.question,
        "evidence": [evidence_to_json(evidence) for evidence in question.evidence],
    }
    if question.match != "all":
        shape["match"] = question.match
    for key in ("scope", "tags"):
        if getattr(question, key):
            shape[key] = list(getattr(question, key))
    if question.language:
        shape["language"] = question.language
    if question.made:
        shape["made"] = True
    if question.principals:
        shape["principals"] = list(question.principals)
    return {**shape, **question.extra}


def evidence_to_json(evidence: Evidence) -> dict[str, JSON]:
    shape: dict[str, JSON] = {"doc": evidence.doc}
    if evidence.span is not None:
        shape.update(start=evidence.start, end=evidence.end)
    for key in ("quote", "prefix", "suffix", "version"):
        if getattr(evidence, key):
            shape[key] = getattr(evidence, key)
    if evidence.page is not None:
        shape["page"] = evidence.page
    if evidence.coordinates != "text":
        shape["coordinates"] = evidence.coordinates
    if evidence.grade != 1:
        shape["grade"] = evidence.grade
    return {**shape, **evidence.extra}


def _identifier(value: Mapping[str, Any]) -> str:
    found = value.get("id")
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    text = _string(value, "id")
    if text != text.strip() or any(character < " " for character in text):
        problem = f"the id {text!r} holds white space at its ends, or controls"
        raise QuestionFormError(problem, "Take it off.")
    return text


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise QuestionFormError(f"{key} is {found!r}", "Write it as text, in quotation marks.")
    return found


def _strings(value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = value.get(key)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise QuestionFormError(f"{key} is {found!r}", 'Write a list such as ["one", "two"].')
    return tuple(found)


def _number(value: Mapping[str, Any], key: str, least: int) -> int | None:
    found = value.get(key)
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool) or found < least:
        raise QuestionFormError(f"{key} is {found!r}", f"Write a whole number from {least} on.")
    return found
