"""``merestone sync``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import click

from merestone.cli.main import DOCUMENTS_FAILED, FINDINGS
from merestone.cli.progress import shown_progress
from merestone.cli.session import answer, enter, json_option, open_library, printable
from merestone.cli.sync_report import told, told_round
from merestone.library import Library
from merestone.types import Progress, SyncReport


@click.command("sync")
@click.argument("paths", nargs=-1)
@click.option("--watch", is_flag=True, help="Go on syncing whatever changes, until Ctrl-C.")
@click.option(
    "--every",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    default=300,
    show_default=True,
    help="With --watch: look at everything so often, for what the system tells nothing of.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; answer and exit as the sync would.")
@click.option("--full-hash", is_flag=True, help="Trust no file times: hash every file.")
@click.option(
    "--allow-deletions", is_flag=True, help="Even if more than 30 % of the documents would go."
)
@click.option("--all", "every_change", is_flag=True, help="With --dry-run: show every change.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@json_option
@click.pass_obj
def command(
    directory: Path,
    paths: tuple[str, ...],
    watch: bool,
    every: float,
    dry_run: bool,
    full_hash: bool,
    allow_deletions: bool,
    every_change: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Bring the index up to date with the sources, or with the PATHS that are named.

    Only what is new is embedded. A run with PATHS touches nothing outside them. With --watch,
    everything is synced first and then what changes; --json gives one line a sync.
    """
    if watch and (paths or dry_run):
        raise click.UsageError("--watch looks at all sources: it takes no PATHS and no --dry-run.")
    with open_library(directory) as library:
        if watch:
            _watch(library, every, full_hash, allow_deletions, quiet, as_json)
            return 0
        names = enter(library, directory, paths)
        if dry_run:
            report = library.plan(names, full_hash=full_hash, allow_deletions=allow_deletions)
        else:
            with shown_progress(quiet) as progress:
                report = library.sync(
                    names, full_hash=full_hash, allow_deletions=allow_deletions, progress=progress
                )
    answer(report, as_json, lambda: told(report, planned=dry_run, every=every_change))
    if report.refusal:
        return FINDINGS
    return DOCUMENTS_FAILED if report.retry else 0


def _watch(
    library: Library,
    every: float,
    full_hash: bool,
    allow_deletions: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Watch until Ctrl-C. Each sync that changed something is told on stdout, trouble on
    stderr."""
    with ExitStack() as first_sync:
        shown = first_sync.enter_context(shown_progress(quiet))
        is_first = True

        def progress(moment: Progress) -> None:
            if is_first:
                shown(moment)

        def tell(report: SyncReport) -> None:
            nonlocal is_first
            first_sync.close()
            if as_json:
                click.echo(json.dumps(report.to_json(), ensure_ascii=False))
            else:
                text = told(report, planned=False) if is_first else told_round(report)
                click.echo(printable(text))
            if is_first:
                click.echo("Watching. Ctrl-C ends it.", err=True)
            is_first = False

        try:
            library.watch(
                tell,
                on_note=lambda note: click.echo(printable(f"note: {note}"), err=True),
                every=every,
                full_hash=full_hash,
                allow_deletions=allow_deletions,
                progress=progress,
            )
        except KeyboardInterrupt:
            first_sync.close()
    click.echo("Stopped watching. What was stored is whole.", err=True)
