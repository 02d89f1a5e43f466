"""The CSV form of questions: a row for each piece of evidence."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from merestone.evaluation.questions.json_form import (
    QuestionFormError,
    evidence_to_json,
    question_from_json,
    question_to_json,
)
from merestone.evaluation.questions.keys import meant_key
from merestone.evaluation.questions.values import Question, question_id
from merestone.types import JSON

TABLE_SUFFIXES = (".csv", ".tsv")
_FIRST = ("id", "question", "document", "quote")
_LISTS = ("scope", "tags", "principals")
_OF_QUESTION = ("match", *_LISTS, "language", "made")
_NUMBERS = ("start", "end", "page", "grade")
_OF_EVIDENCE = (*_NUMBERS, "prefix", "suffix", "version", "coordinates")
_KNOWN = frozenset({*_FIRST, *_OF_QUESTION, *_OF_EVIDENCE})

_NoteFault = Callable[[int, QuestionFormError], None]


def from_table(text: str, suffix: str, note: _NoteFault) -> Iterator[tuple[int, Question]]:
    """Questions, each with the line of its first row. Rows with one id, or without any and with
    one question, are one question with several pieces of evidence."""
    rows = _rows_of(text, _delimiter_of(text, suffix), note)
    line, fields = next(rows, (1, []))
    try:
        columns = _columns(fields)
    except QuestionFormError as fault:
        note(line, fault)
        return
    gathered: dict[str, tuple[int, dict[str, Any]]] = {}
    for line, fields in rows:
        try:
            _gather(columns, fields, line, gathered)
        except QuestionFormError as fault:
            note(line, fault)
    for line, shape in gathered.values():
        try:
            yield line, question_from_json(shape)
        except QuestionFormError as fault:
            note(line, fault)


def _delimiter_of(text: str, suffix: str) -> str:
    """That of the suffix, or the semicolon or tab that spreadsheets write in some countries, by
    the first line."""
    usual = _delimiter(suffix)
    first = text.lstrip("\r\n").partition("\n")[0]
    for delimiter in (usual, ",", ";", "\t"):
        fields = first.lower().split(delimiter)
        if "question" in (field.strip().strip('"').strip() for field in fields):
            return delimiter
    return usual


def _rows_of(text: str, delimiter: str, note: _NoteFault) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line that it begins in."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in rows:
            if fields:
                yield line, fields
            line = rows.line_num + 1
    except csv.Error as error:
        note(line, QuestionFormError(f"it is no CSV: {error}", "Mend the quotation marks."))


def _columns(fields: list[str]) -> list[str]:
    """The names of the first line; those of known columns that are not there in lower case are
    read in any case."""
    folded = [field.strip().lower() for field in fields]
    columns = [
        low if low in _KNOWN and low not in fields else field
        for field, low in zip(fields, folded, strict=True)
    ]
    named = [column for column in columns if column]
    if "question" not in named:
        raise QuestionFormError(
            "there is no column called question",
            f"Begin the file with a line such as {','.join(_FIRST)}.",
        )
    _check_columns(named)
    return columns


def _check_columns(named: list[str]) -> None:
    """A column of answers that is mistyped would leave questions that nothing answers, or that
    whole documents do."""
    twice = next((column for column in named if named.count(column) > 1), None)
    if twice:
        raise QuestionFormError(f"two columns are called {twice}", "Name each column once.")
    of_evidence = {"document", "quote", *_OF_EVIDENCE}
    for column in named:
        meant = meant_key(column, _KNOWN - set(named)) if column not in _KNOWN else None
        if meant in of_evidence:
            raise QuestionFormError(
                f"the column {column!r} means nothing, and there is none called {meant}",
                f"Did you mean {meant}? Columns of answers: {', '.join(sorted(of_evidence))}.",
            )


def _gather(
    columns: Sequence[str],
    fields: Sequence[str],
    line: int,
    gathered: dict[str, tuple[int, dict[str, Any]]],
) -> None:
    """Add a row to the question that it belongs to."""
    if len(fields) > len(columns):
        raise QuestionFormError("the row has more fields than the first line", "Mend the row.")
    given = {key: value for key, value in zip(columns, fields, strict=False) if value}
    if not given:
        return
    text = given.get("question", "").strip()
    key = given.get("id") or question_id(text)
    if key not in gathered:
        gathered[key] = line, _question_shape(key, given)
    shape = gathered[key][1]
    if text and text != shape["question"]:
        raise QuestionFormError(
            f"the id {key!r} has another question in line {gathered[key][0]}",
            "Give each question an id of its own.",
        )
    if given.get("document"):
        shape["evidence"].append(_evidence_shape(given))
    elif given.get("quote"):
        raise QuestionFormError("the row has a quote and no document", "Name the document.")


def _question_shape(id: str, given: Mapping[str, str]) -> dict[str, Any]:
    shape: dict[str, Any] = {key: value for key, value in given.items() if key not in _KNOWN}
    shape |= {"id": id, "question": given.get("question", "").strip(), "evidence": []}
    for key in _OF_QUESTION:
        if key in given:
            shape[key] = given[key]
    for key in _LISTS:
        if key in given:
            shape[key] = _list_of(given[key])
    if "made" in given:
        shape["made"] = {"true": True, "false": False}.get(given["made"].lower(), given["made"])
    return shape


def _evidence_shape(given: Mapping[str, str]) -> dict[str, JSON]:
    shape: dict[str, JSON] = {"doc": given["document"]}
    for key in ("quote", *_OF_EVIDENCE):
        if key in given:
            shape[key] = given[key]
    for key in _NUMBERS:
        # What is no number is refused where all numbers are looked at.
        if key in given and given[key].isascii() and given[key].isdigit():
            shape[key] = int(given[key])
    return shape


def _list_of(text: str) -> JSON:
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return [part.strip() for part in text.split(";") if part.strip()]


def to_table(questions: Iterable[Question], suffix: str) -> str:
    """The questions as a table. Columns that no row needs are left out; of unknown keys those
    whose value is text are kept."""
    rows = [row for question in questions for row in _rows(question)]
    used = {key for row in rows for key, value in row.items() if value != ""}
    known = (*_FIRST, *_OF_QUESTION, *_OF_EVIDENCE)
    columns = [key for key in known if key in used or key in _FIRST]
    columns += sorted(used.difference(known))
    out = io.StringIO(newline="")
    # Lines end as RFC 4180 has them; then a lone carriage return in a field is quoted too.
    writer = csv.DictWriter(out, columns, restval="", delimiter=_delimiter(suffix))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _rows(question: Question) -> Iterator[dict[str, str]]:
    shape = question_to_json(question)
    items = [evidence_to_json(evidence) for evidence in question.evidence] or [{}]
    first = {key: value for key, value in shape.items() if key not in ("evidence", *_OF_QUESTION)}
    first = {key: value for key, value in first.items() if isinstance(value, str)}
    for key in _OF_QUESTION:
        if key in shape:
            first[key] = _field(shape[key])
    for number, item in enumerate(items):
        row = dict(first) if number == 0 else {"id": question.id, "question": question.question}
        row |= {key: _field(value) for key, value in item.items() if key in _OF_EVIDENCE}
        yield row | {"document": str(item.get("doc", "")), "quote": str(item.get("quote", ""))}


def _field(value: JSON) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        is_plain = not any(";" in each or each[:1] in "[ " or each[-1:] == " " for each in value)
        return "; ".join(value) if is_plain else json.dumps(value, ensure_ascii=False)
    return str(value)


def _delimiter(suffix: str) -> str:
    return "\t" if suffix == ".tsv" else ","
