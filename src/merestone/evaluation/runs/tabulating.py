"""Runs in the forms of other tools: TREC's run file, and a table of questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from merestone.evaluation.questions.exporting import trec_name
from merestone.evaluation.runs.values import SEARCH, QuestionResult, Run


def trec_run(run: Run) -> str:
    """The documents that were found, best first, as lines of TREC's run files.

    Those of the hits of ``search`` where they were measured, else those of the main view. Each
    document stands once, where it came first; the score is made from the rank. Made questions
    beside those that people asked are left out, since whoever reads it takes one mean of all.
    """
    name = trec_name(run.name or run.id[:12])
    return "".join(
        f"{trec_name(result.id)} Q0 {trec_name(document)} {rank} {1 / rank:.6f} {name}\n"
        for result in run.counted
        for rank, document in enumerate(found_documents(run, result), 1)
    )


def found_documents(run: Run, result: QuestionResult) -> list[str]:
    """Ids of the documents that a question found, best first, each once."""
    served = result.served.get(SEARCH) or result.served.get(run.main, ())
    return list(dict.fromkeys(passage.document for passage in served))


def csv_table(run: Run) -> str:
    """One line a question, with every measure as a column."""
    names = list(dict.fromkeys(name for result in run.results for name in result.measures))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_COLUMNS, *names])
    writer.writerows(_rows(run, names))
    return out.getvalue()


_COLUMNS = ("id", "question", "failure", "detail", "content_type", "tags", "language", "made")


def _rows(run: Run, names: list[str]) -> Iterator[list[object]]:
    for result in run.results:
        yield [
            result.id,
            result.question,
            result.failure or "",
            result.detail,
            result.content_type,
            " ".join(result.tags),
            result.language or "",
            str(result.made).lower(),
            *(result.measures.get(name, "") for name in names),
        ]
