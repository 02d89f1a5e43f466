"""``merestone report``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from merestone.cli.evaluations import may_read, require_own, told_runs
from merestone.cli.export import target_in_folder
from merestone.cli.session import answer, asker_options, json_option, open_library
from merestone.config import note_written
from merestone.evaluation.report import Report, report_of, to_markdown, write_page
from merestone.evaluation.report.cuttings import open_cuttings
from merestone.evaluation.runs.files import LAST, find_run, list_runs, load_run, runs_folder
from merestone.evaluation.runs.values import Run
from merestone.files import write_text
from merestone.library import Library
from merestone.types import Snapshot


@click.command("report")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write one HTML file that needs no network. It holds texts of the documents.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the same figures as Markdown, without texts of the documents.",
)
@click.option("--list", "is_list", is_flag=True, help="List the runs that are kept.")
@asker_options
@json_option
@click.pass_obj
def command(
    directory: Path,
    runs: tuple[str, ...],
    page: Path | None,
    markdown: Path | None,
    is_list: bool,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> None:
    """Tell what recorded runs found: one by itself, or several held against the first.

    RUN is a file, the first digits of a run's id, or `last`, which is also meant without one.
    Without a file to write, the figures come as Markdown.
    """
    if is_list and (runs or page or markdown):
        raise click.UsageError("--list tells which runs there are, and takes nothing else.")
    with open_library(directory) as library:
        folder = runs_folder(library.settings.state)
        if is_list:
            with library.snapshot(principals=principals or None, as_owner=as_owner) as snapshot:
                kept = [
                    each for each in list_runs(folder) if may_read(each.run, snapshot, principals)
                ]
            answer([each.to_json() for each in kept], as_json, lambda: told_runs(kept))
            return
        loaded = [load_run(find_run(name, folder)) for name in runs or (LAST,)]
        with library.snapshot(principals=principals or None, as_owner=as_owner) as snapshot:
            require_own(loaded, snapshot, principals)
            report = report_of(loaded, snapshot=snapshot)
            html, text = (
                target_in_folder(directory / path, library) if path else None
                for path in (page, markdown)
            )
            if html is not None:
                note_written(library.settings.state, html)
                with _cuttings(library, loaded, snapshot, as_owner) as cuttings:
                    write_page(report, html, snapshot=snapshot, cuttings=cuttings)
            if text is not None:
                note_written(library.settings.state, text)
                write_text(text, to_markdown(report))
    written = [path for path in (html, text) if path is not None]
    answer(report, as_json, lambda: _told(report, written))


@contextmanager
def _cuttings(
    library: Library, runs: Sequence[Run], snapshot: Snapshot, as_owner: bool
) -> Iterator[Mapping[str, Snapshot]]:
    """The scratch libraries of the runs, where the asker may see all of them."""
    if snapshot.is_limited:
        yield {}
        return
    with open_cuttings(library, runs, as_owner=as_owner) as cuttings:
        yield cuttings


def _told(report: Report, written: Sequence[Path]) -> str:
    if not written:
        return to_markdown(report).rstrip("\n")
    return "\n".join(f"Wrote {path}." for path in written)
