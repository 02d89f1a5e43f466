"""What the page's script needs to show one question: compact, and each text once."""

from __future__ import annotations

import json
from collections.abc import Sequence

from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.markup import Markup, clean
from merestone.evaluation.report.outcomes import QuestionRow, group, ordered, outcome, share
from merestone.evaluation.report.sources import Sources
from merestone.evaluation.report.views import is_ours, label, served_in
from merestone.evaluation.report.words import group_title
from merestone.evaluation.runs.values import QuestionResult, Served
from merestone.types import JSON

_LETTERS = {"whole": "w", "part": "p", "missed": "m", "none": "-"}


def drilldown_data(report: Report, sources: Sources) -> Markup:
    """JSON for a script element; no text can end the element."""
    places = _Places()
    questions = [_question(report, row, places, sources) for row in report.questions]
    data: dict[str, JSON] = {
        "views": list(report.views),
        "labels": {view: label(view) for view in report.views},
        "main": report.main,
        "runs": [{"letter": c.letter, "name": clean(c.name)} for c in report.columns],
        "measures": _names(report),
        "views_data": {view: _view(report, view) for view in report.views},
        "questions": questions,
        "passages": places.passages,
        "documents": [clean(document) for document in places.documents],
        "texts": {
            str(places.document(document)): [[start, clean(text)] for start, text in pieces]
            for document, pieces in sources.texts.items()
        },
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


class _Places:
    """Documents and passages by number, so that each is written once."""

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.passages: list[JSON] = []
        self._documents: dict[str, int] = {}
        self._passages: dict[tuple[str, int, int], int] = {}

    def document(self, document: str) -> int:
        if document not in self._documents:
            self._documents[document] = len(self.documents)
            self.documents.append(document)
        return self._documents[document]

    def passage(self, passage: Served) -> int:
        key = passage.document, passage.start, passage.end
        if key not in self._passages:
            self._passages[key] = len(self.passages)
            place = self.document(passage.document)
            self.passages.append([place, passage.start, passage.end, passage.tokens])
        return self._passages[key]


def _names(report: Report) -> list[JSON]:
    """The measures that a result is told with, without the view."""
    names = dict.fromkeys(
        row.name.partition("@")[0] for row in report.measures if is_ours(row.name)
    )
    return list(names)


def _view(report: Report, view: str) -> JSON:
    """By question: its group, and how each run fared; and the order of the questions."""
    return {
        "order": list(ordered(report.questions, view)),
        "groups": [group(row, view) for row in report.questions],
        "titles": {
            name: group_title(name, report)
            for name in dict.fromkeys(group(row, view) for row in report.questions)
        },
        "outcomes": [
            "".join(_LETTERS[outcome(result, view)] for result in row.results)
            for row in report.questions
        ],
        "shares": [
            [_short(share(result, view)) for result in row.results] for row in report.questions
        ],
    }


def _question(report: Report, row: QuestionRow, places: _Places, sources: Sources) -> JSON:
    first = row.first
    return {
        "id": clean(row.id),
        "text": clean(first.question) if first else "",
        "match": first.match if first else "all",
        "facts": [clean(fact) for fact in facts(row)],
        "skipped": clean(row.skipped),
        "gold": [
            [places.document(span.document), span.start, span.end]
            for span in (first.gold if first else ())
        ],
        "strips": [
            [
                places.document(strip.document),
                strip.start,
                strip.end,
                strip.length,
                [None if cut is None else [list(each) for each in cut] for cut in strip.cuts],
            ]
            for strip in (sources.strips.get(first.key, ()) if first else ())
        ],
        "results": [_result(report, result, places) for result in row.results],
    }


def facts(row: QuestionRow) -> list[str]:
    """What is known of the question itself, in short words."""
    first = row.first
    if first is None:
        return []
    found = [first.content_type, first.language or "", *first.tags]
    if first.made:
        found.append("made")
    if first.match == "any" and len(first.gold) > 1:
        found.append("any of the answers will do")
    return [fact for fact in dict.fromkeys(found) if fact]


def _result(report: Report, result: QuestionResult | None, places: _Places) -> JSON:
    if result is None:
        return None
    names = _names(report)
    return {
        "failure": result.failure or "",
        "failures": dict(result.failures),
        "detail": clean(result.detail),
        "relevance": _short(result.relevance),
        "measures": {
            view: [_short(result.measures.get(f"{name}@{view}")) for name in names]
            for view in report.views
        },
        "served": {view: _served(served_in(result.served, view), places) for view in report.views},
    }


def _served(passages: Sequence[Served], places: _Places) -> JSON:
    return [
        [places.passage(passage), *([] if passage.score is None else [_short(passage.score)])]
        for passage in passages
    ]


def _short(value: float | None) -> float | int | None:
    """No more digits than a page shows; whole numbers without a point."""
    if value is None:
        return None
    short = round(value, 4)
    return int(short) if short == int(short) else short
