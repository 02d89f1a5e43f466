"""``merestone doctor``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.findings import told
from merestone.cli.main import FINDINGS
from merestone.cli.session import answer, json_option, open_library, owner_option


@click.command("doctor")
@click.option(
    "--index",
    "of_index",
    is_flag=True,
    help="Compare the exact scan of vectors with approximate indexes, on the library's own.",
)
@click.option(
    "--target",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.98,
    show_default=True,
    help="With --index: the share of the nearest 10 and 50 that must be found.",
)
@click.option(
    "--queries",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="With --index: how many to ask, of the library's questions if it has some.",
)
@click.option(
    "--rows",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="With --index: how many vectors to look at, drawn at random.",
)
@owner_option
@json_option
@click.pass_obj
def command(
    directory: Path,
    of_index: bool,
    target: float,
    queries: int,
    rows: int,
    as_owner: bool,
    as_json: bool,
) -> int:
    """Look at this installation, its settings and the library's file."""
    if of_index:
        return _index(directory, target, queries, rows, as_owner, as_json)
    with open_library(directory) as library:
        examination = library.doctor(as_owner=as_owner)
    answer(examination, as_json, lambda: told(examination))
    return FINDINGS if examination.findings else 0


def _index(
    directory: Path, target: float, queries: int, rows: int, as_owner: bool, as_json: bool
) -> int:
    """What is found is advice: the exit code says nothing of it."""
    # Loads what `doctor` alone has no use for.
    from merestone.cli.index_table import index_table
    from merestone.evaluation.index.tuning import examine_index

    with open_library(directory) as library:
        found = examine_index(
            library,
            target=target,
            queries=queries,
            rows=rows,
            as_owner=as_owner,
            note=lambda text: click.echo(f"{text} ...", err=True),
        )
    answer(found, as_json, lambda: index_table(found))
    return 0
