"""``merestone sync``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.main import DOCUMENTS_FAILED
from merestone.cli.progress import shown_progress
from merestone.cli.report import told
from merestone.cli.session import answer, enter, json_option, open_library


@click.command("sync")
@click.argument("paths", nargs=-1)
@click.option("--dry-run", is_flag=True, help="The same as `plan`.")
@click.option("--full-hash", is_flag=True, help="Trust no file times: hash every file.")
@click.option(
    "--allow-deletions", is_flag=True, help="Even if more than 30 % of the documents would go."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@json_option
@click.pass_obj
def command(
    directory: Path,
    paths: tuple[str, ...],
    dry_run: bool,
    full_hash: bool,
    allow_deletions: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Bring the index up to date with the sources, or with the PATHS that are named.

    Only what is new is embedded. A run with PATHS touches nothing outside them.
    """
    with open_library(directory) as library, shown_progress(quiet or dry_run) as progress:
        names = enter(library, directory, paths)
        if dry_run:
            report = library.plan(names, full_hash=full_hash)
        else:
            report = library.sync(
                names, full_hash=full_hash, allow_deletions=allow_deletions, progress=progress
            )
    answer(report, as_json, lambda: told(report, planned=dry_run))
    return DOCUMENTS_FAILED if report.retry and not dry_run else 0
