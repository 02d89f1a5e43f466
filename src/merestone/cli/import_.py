"""``merestone import``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import amount, answer, json_option
from merestone.library import Library


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path), default=Path("."), metavar="[DIR]")
@json_option
@click.pass_obj
def command(directory: Path, file: Path, folder: Path, as_json: bool) -> None:
    """Make the library in FILE, which `export --library` wrote, that of DIR.

    It answers at once. Bring merestone.toml along: settings and rules of access are those of DIR.
    """
    target = directory / folder
    with Library.import_library(directory / file, target) as library:
        status = library.status(as_owner=True)
    documents = sum(status.documents.values())
    answer(
        {
            "documents": documents,
            "chunks": status.chunks,
            "library_version": status.library_version,
        },
        as_json,
        lambda: (
            f"Imported {amount(documents, 'document')} with {amount(status.chunks, 'chunk')} "
            f"into {target}."
        ),
    )
