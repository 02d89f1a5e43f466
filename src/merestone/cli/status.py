"""``merestone status``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from merestone.cli.session import (
    amount,
    answer,
    asker,
    asker_options,
    json_option,
    open_library,
    told_problem,
    where_option,
)
from merestone.types import JSON, DocumentRecord, LibraryStatus, Problem, Status


@click.command("status")
@click.option("--stale", is_flag=True, help="Only documents that a sync would change.")
@click.option("--failed", is_flag=True, help="Only documents that could not be read.")
@click.option("--no-text", is_flag=True, help="Only documents without text.")
@click.option("--documents", is_flag=True, help="List the documents.")
@where_option
@asker_options
@json_option
@click.pass_obj
def command(
    directory: Path,
    stale: bool,
    failed: bool,
    no_text: bool,
    documents: bool,
    where: str | None,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> None:
    """Show counts, sizes on disk, versions, and documents that have a problem.

    With --documents it lists the documents instead, with --where those that match.
    """
    if where is not None and not documents:
        raise click.UsageError("--where chooses documents of a list: add --documents.")
    with open_library(directory) as library:
        who = asker(principals, as_owner)
        if documents:
            found = library.documents(where=where, **who)
            shapes: list[JSON] = [record.to_json() for record in found]
            answer(shapes, as_json, lambda: _listed(found))
            return
        if stale:
            # What a sync would change is told of every document.
            library.require_owner(**who)
            report = library.plan()
            changes = [change.to_json() for change in report.changes]
            answer(
                changes,
                as_json,
                lambda: (
                    "\n".join(f"{c.change} {c.document}" for c in report.changes)
                    or "Nothing is stale."
                ),
            )
            return
        status = library.status(**who)
    if failed or no_text:
        textless = (Status.EMPTY, Status.NEEDS_OCR)
        kept = tuple(
            problem
            for problem in status.problems
            if problem.status is not Status.OK
            and ((problem.status in textless) == no_text or (failed and no_text))
        )
        status = replace(status, problems=kept)
        answer(status, as_json, lambda: _problems(status.problems) or _NONE[failed, no_text])
        return
    answer(status, as_json, lambda: _told(status))


_NONE = {
    (True, False): "No document failed to be read.",
    (False, True): "No document is without text.",
    (True, True): "No document failed to be read, and none is without text.",
}
"""What is said where a list of problems is asked for and there are none, by which was asked for."""


def _listed(records: Sequence[DocumentRecord]) -> str:
    """A line a document: its id, what it is, and its title."""
    if not records:
        return "No document is there, or none that matches."
    lines = []
    for record in records:
        facts = [record.media_type, *([record.status] if record.status != Status.OK else [])]
        title = f"  {record.title}" if record.title else ""
        # A name may hold a line end; a document is one line.
        name = record.id.replace("\n", "\\n")
        lines.append(f"{name}  ({', '.join(filter(None, facts))}){title}")
    return "\n".join(lines)


def _problems(problems: Sequence[Problem]) -> str:
    return "\n".join(told_problem(problem) for problem in problems)


def _told(status: LibraryStatus) -> str:
    documents = ", ".join(f"{count:,} {name}" for name, count in sorted(status.documents.items()))
    sizes = {name: size / 1e6 for name, size in status.bytes.items()}
    shown = ", ".join(f"{name} {size:,.1f}" for name, size in sizes.items() if size >= 0.05)
    lines = [
        f"Library version {status.library_version}, schema {status.schema}.",
        f"Documents: {documents or 'none'}; {amount(status.chunks, 'chunk')}.",
        f"Embedder: {status.embedder['name']}, {status.embedder['dimension']} dimensions.",
    ]
    if sizes:
        lines.append(f"On disk: {sum(sizes.values()):,.1f} MB" + (f" ({shown})." if shown else "."))
    if status.outdated:
        lines.append(
            f"{amount(status.outdated, 'document')} of these in an older version: what is there "
            "now can't be read."
        )
    lines += status.notes
    lines += [told_problem(problem) for problem in status.problems]
    if status.unnamed:
        lines.append(
            f"Only the owner reads {amount(status.unnamed, 'document')} that nothing names: "
            "there are rules of access, or documents that say who may read them."
        )
    if status.left_out:
        lines.append(f"Removed by hand, left out: {', '.join(status.left_out)}.")
    return "\n".join(lines)
