"""Figures and names as a report tells them, on the page and in Markdown alike."""

from __future__ import annotations

from merestone.evaluation.measures.spans import at
from merestone.evaluation.measures.units import MINUS, PLAIN, family, is_share, unit_of
from merestone.evaluation.report.contents import Column, Report, Row
from merestone.evaluation.report.outcomes import Group
from merestone.evaluation.report.views import COVERAGE, told
from merestone.evaluation.runs.values import Interval, Run

_MANY = 3
"""Verdicts up to which each is told in full."""

COSTS = {
    "documents": "documents",
    "chunks": "chunks",
    "passages_per_question": "passages for a question",
    "tokens_stored": "tokens stored",
    "tokens_to_embed": "tokens embedded",
    "index_bytes": "size of the index",
    "seconds_per_question": "time for a question",
}

DOCUMENTS_NOTE = (
    "Whether the documents that hold the answers were found, whatever the passage: a document "
    "stands where the first of its hits ranks."
)

GROUP_TITLES: dict[Group, str] = {
    "different": "Different",
    "missed": "Missed",
    "part": "In part",
    "whole": "Whole",
    "none": "Not scored",
    "made": "Made by a machine",
}
"""Of one run; of several, see :func:`group_title`."""


def group_title(group: Group, report: Report) -> str:
    """What the questions of a group have in common."""
    title = GROUP_TITLES[group]
    if len(report.columns) == 1 or group in ("different", "none", "made"):
        return title
    return f"{title} by all" + ("" if report.is_of_same_questions else " that were asked")


def percent(share: float, digits: int = 0) -> str:
    """``73 %``; what is not all is never told as 100, and what is something never as 0."""
    value = share * 100
    if digits == 0 and 99.5 <= value < 100:
        return "> 99 %"
    if digits == 0 and 0 < value < 0.5:
        return "< 1 %"
    return f"{value:.{digits}f} %".replace("-", MINUS)


def figure(name: str, value: float) -> str:
    """The value of a measure: shares in per cent with one digit, tokens as a number, RR and nDCG,
    which are no shares of anything, as they are."""
    if unit_of(name) is PLAIN:
        return f"{value:.3f}"
    return percent(value, 1) if is_share(name) else f"{value:,.0f}"


def bounds(name: str, cell: Interval) -> str:
    """The interval: ``64.1–80.2``, in the unit of :func:`figure`."""
    if unit_of(name) is PLAIN:
        return f"{cell.low:.3f}–{cell.high:.3f}"
    if is_share(name):
        return f"{cell.low * 100:.1f}–{cell.high * 100:.1f}"
    return f"{cell.low:,.0f}–{cell.high:,.0f}"


def counts_told(row: Row) -> str:
    """The number of questions that the means of a row are of: ``7``, or ``1–7`` where it is not
    the same of each."""
    return "–".join(f"{count:,}" for count in dict.fromkeys((row.counts[0], row.counts[-1])))


def change(name: str, value: float) -> str:
    """A difference with its sign, of shares in percentage points."""
    return unit_of(name).change(value)


def spread(name: str, value: float) -> str:
    """A standard error or another width, in the unit of :func:`change`."""
    return change(name, value).removeprefix("+")


def probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def cost_name(name: str) -> str:
    """A cost in words; what is not known by name stays as it is."""
    if family(name) == "tokens_retrieved" and "@" in name:
        return f"tokens served {told(name.partition('@')[2])}"
    return COSTS.get(name, name.replace("_", " "))


def cost(name: str, value: float) -> str:
    """A cost with its unit."""
    if name.endswith("bytes"):
        return f"{value / 1e6:,.1f} MB" if value >= 1e5 else f"{value / 1e3:,.1f} kB"
    if name.startswith("seconds"):
        return f"{value * 1000:,.0f} ms" if value < 1 else f"{value:,.1f} s"
    return f"{value:,.1f}" if value != int(value) else f"{value:,.0f}"


def failure_name(failure: str) -> str:
    """``cut-by-boundary`` as words."""
    return failure.replace("-", " ").replace("_", " ")


def questions_told(run: Run) -> str:
    """How many questions the figures of a run are of: ``15 questions: 12 with an answer, 2 that
    nothing answers, 1 not scored; besides 30 made ones, told apart``."""
    counted, apart = run.counted, run.apart
    total = len(counted) + len(run.skipped)
    noun = "question" if total == 1 else "questions"
    is_made = bool(counted) and all(result.made for result in counted)
    parts = [
        (sum(result.has_answer for result in counted), "with an answer"),
        (sum(not result.has_answer for result in counted), "that nothing answers"),
        (len(run.skipped), "not scored"),
    ]
    told_parts = [f"{count:,} {what}" for count, what in parts if count]
    text = f"{total:,} {noun}{' made by a machine' if is_made else ''}"
    if len(told_parts) > 1 or run.skipped:
        text += f": {', '.join(told_parts)}"
    if apart:
        ones = "one" if len(apart) == 1 else "ones"
        text += f"; besides {len(apart):,} made {ones}, told apart"
    return text


def asked(report: Report) -> str:
    """How many questions the report is of."""
    if report.is_of_same_questions:
        return questions_told(report.columns[0].run)
    return f"{report.common:,} {'question' if report.common == 1 else 'questions'} in common"


def asked_of(report: Report, column: Column) -> str:
    """How many questions a run was asked, to be set behind its name; empty where that is told of
    all runs at once."""
    return "" if report.is_of_same_questions else f", {questions_told(column.run)}"


def of_common(report: Report) -> str:
    """On which questions all runs can be held together; empty if these are all."""
    return "" if report.is_of_same_questions else f"on {asked(report)}"


def share_note(report: Report) -> str:
    """What the share beside a question is; empty where no answer was to be served."""
    if report.measure(at(COVERAGE, report.main)) is None:
        return ""
    return f"A share is how much of the answer's text was served {told(report.main)}."


def measure_name(name: str) -> tuple[str, str]:
    """A measure, and the view that it is taken in."""
    kind, _, view = name.partition("@")
    return kind, view


def headline(report: Report, column: int = 0) -> str:
    """How one run fared in a sentence or two: of the questions that have an answer, and of those
    that nothing answers."""
    counts, none = report.counts(column), report.counts(column, answered=False)
    by = f" with {report.columns[column].letter}" if len(report.columns) > 1 else ""
    found = []
    if asked := counts.total():
        share = f" ({percent(counts['whole'] / asked)})" if asked >= 10 else ""
        found.append(
            f"{counts['whole']} of {asked} {'question' if asked == 1 else 'questions'} got the "
            f"whole answer {told(report.main)}{by}{share}."
        )
    if silent := none.total():
        found.append(
            f"Of {silent} that nothing answers, {none['whole']} "
            f"{'was' if none['whole'] == 1 else 'were'} told so{'' if asked else by}."
        )
    return " ".join(found) or "No question could be scored."


def misses(report: Report, column: int = 0) -> str:
    """Why the others did not, in a sentence; empty if all did."""
    parts = [f"{counts[column]} {failure_name(name)}" for name, counts in report.failures]
    parts = [part for part in parts if not part.startswith("0 ")]
    return f"Missed: {', '.join(parts)}." if parts else ""


def verdicts(report: Report) -> list[str]:
    """What the comparison with the first run says of each other one; of many, of those that are
    better or worse."""
    found = [
        (column, contrast.verdict)
        for place, column in enumerate(report.columns)
        if (contrast := report.deciding(place)) is not None
    ]
    shown = found
    if len(found) > _MANY:
        shown = [each for each in found if each[1].kind in ("better", "worse")]
    lines = [f"{column.letter} {column.name}: {verdict.words}" for column, verdict in shown]
    if len(shown) < len(found):
        left = len(found) - len(shown)
        lines.append(
            f"Of {'the other ' if shown else ''}{left} configurations it cannot be told, or they "
            "make no difference that matters."
        )
    return lines
