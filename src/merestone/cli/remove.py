"""``merestone remove``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import amount, answer, json_option, open_library


@click.command("remove")
@click.argument("documents", nargs=-1, required=True)
@json_option
@click.pass_obj
def command(directory: Path, documents: tuple[str, ...], as_json: bool) -> None:
    """Drop DOCUMENTS from the index, and leave them out until a sync names them.

    A file that is renamed is another document, and comes back under its new name; what should
    stay out belongs into .merestoneignore.
    """
    with open_library(directory) as library:
        library.remove(documents)
    answer(
        {"removed": list(documents)},
        as_json,
        lambda: f"Removed {amount(len(documents), 'document')}.",
    )
