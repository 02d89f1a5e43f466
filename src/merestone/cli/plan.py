"""``merestone plan``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import answer, enter, json_option, open_library
from merestone.cli.sync_report import told


@click.command("plan")
@click.argument("paths", nargs=-1)
@click.option("--full-hash", is_flag=True, help="Trust no file times: hash every file.")
@click.option("--all", "every", is_flag=True, help="Show every change, not 20 of each kind.")
@json_option
@click.pass_obj
def command(
    directory: Path, paths: tuple[str, ...], full_hash: bool, every: bool, as_json: bool
) -> None:
    """Say what a sync would do, what it would embed, and what that would take. Nothing is
    changed.

    Time is reckoned from what past syncs took, a price from embedding.price_per_million_tokens.
    """
    with open_library(directory) as library:
        report = library.plan(enter(library, directory, paths), full_hash=full_hash)
    answer(report, as_json, lambda: told(report, planned=True, every=every))
