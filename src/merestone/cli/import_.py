"""``merestone import``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import amount, answer, json_option
from merestone.library import Library
from merestone.types import CONFIG_FILE


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path), default=Path("."), metavar="[DIR]")
@json_option
@click.pass_obj
def command(directory: Path, file: Path, folder: Path, as_json: bool) -> None:
    """Make the library in FILE, which `export --library` wrote, that of DIR.

    It answers at once, whom both the rules of access of DIR and those that it was synced under
    let in. Bring merestone.toml along: settings and rules are those of DIR.
    """
    target = directory / folder
    with Library.import_library(directory / file, target) as library:
        status = library.status(as_owner=True)
        access = library.access(as_owner=True)
    closed = sum(1 for each in access if not each.readers)
    other = sum(1 for each in access if each.is_waiting)
    documents = sum(status.documents.values())
    answer(
        {
            "documents": documents,
            "chunks": status.chunks,
            "library_version": status.library_version,
            "closed": closed,
            "other_rules": other,
        },
        as_json,
        lambda: (
            f"Imported {amount(documents, 'document')} with {amount(status.chunks, 'chunk')} "
            f"into {target}.{_told_closed(closed, other, len(access), target)}"
        ),
    )


def _told_closed(closed: int, other: int, documents: int, target: Path) -> str:
    """Who of the askers at home may be let in no more, if anyone: ``closed`` of the documents are
    read by nobody but the owner, of ``other`` the rules here say something else than there."""
    told = ""
    if closed:
        told += f"\n{closed:,} of {amount(documents, 'document')} answer nobody but the owner here."
    if other:
        told += (
            f"\nOf {amount(other, 'document')} the rules of access in {target} are others than "
            "those of the last sync; until the next one both must allow. Bring the library's own "
            f"{CONFIG_FILE} along, and the file of rules that it names."
        )
    if told:
        told += "\n`merestone access --as-owner` says who may read what, and why."
    return told
