"""``merestone gc``: tidy up the state folder."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import answer, json_option, open_library


@click.command()
@click.option(
    "--purge",
    is_flag=True,
    help="Leave no byte of deleted documents: not in the library, its log or the cached vectors.",
)
@json_option
@click.pass_obj
def command(directory: Path, purge: bool, as_json: bool) -> None:
    """Drop what no longer answers and merge what is small.

    A sync does this by itself as far as it is worth while. With --purge what was deleted is
    overwritten too, which takes longer; a process that reads an older state is named.
    Scratch libraries of comparisons go if they were not used for thirty days, with --purge all.
    """
    with open_library(directory) as library:
        found = library.gc(purge=purge)
    before, after = (sum(found[name].values()) for name in ("before", "after"))
    answer(found, as_json, lambda: f"{before:,} bytes before, {after:,} bytes after.")
