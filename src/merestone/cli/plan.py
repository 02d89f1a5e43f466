"""``merestone plan``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.progress import shown_progress
from merestone.cli.report import told
from merestone.cli.session import answer, enter, json_option, open_library


@click.command("plan")
@click.argument("paths", nargs=-1)
@click.option("--full-hash", is_flag=True, help="Trust no file times: hash every file.")
@json_option
@click.pass_obj
def command(directory: Path, paths: tuple[str, ...], full_hash: bool, as_json: bool) -> None:
    """Say what a sync would do, and what it would embed. Nothing is changed."""
    with open_library(directory) as library, shown_progress(quiet=True) as progress:
        report = library.plan(
            enter(library, directory, paths), full_hash=full_hash, progress=progress
        )
    answer(report, as_json, lambda: told(report, planned=True))
