"""``merestone access``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from merestone.cli.session import answer, json_option, open_library, owner_option
from merestone.types import PUBLIC, DocumentAccess


@click.command("access")
@click.argument("documents", nargs=-1)
@owner_option
@json_option
@click.pass_obj
def command(directory: Path, documents: tuple[str, ...], as_owner: bool, as_json: bool) -> None:
    """Say who may read each of DOCUMENTS at this moment, and which rule, file or front matter
    says so. Without DOCUMENTS, list the readers of all.

    It is the owner's to ask, once anything is said of access.
    """
    with open_library(directory) as library:
        found = library.access(documents, as_owner=as_owner)
    told = _told if documents else _listed
    answer([each.to_json() for each in found], as_json, lambda: told(found))


def _listed(found: Iterable[DocumentAccess]) -> str:
    """A line a document."""
    lines = [
        f"{each.document}  {_readers(each)}{'; a sync is due' if each.is_waiting else ''}"
        for each in found
    ]
    return "\n".join(lines) or "No document is there."


def _told(found: Iterable[DocumentAccess]) -> str:
    """A paragraph a document, with a line for each place that names it."""
    return "\n\n".join("\n".join(_lines(each)) for each in found)


def _lines(found: DocumentAccess) -> list[str]:
    lines = [f"{found.document}: {_readers(found)}"]
    members = found.members.items()
    lines += [f"  in {group}: {', '.join(names) or 'nobody'}" for group, names in members]
    lines += [f"  {each.where}: {', '.join(each.allow) or 'nobody'}" for each in found.statements]
    if len(found.statements) > 1:
        lines.append("  Each of these must allow.")
    if found.is_waiting:
        lines.append("  What opens waits for the next sync.")
    return lines


def _readers(found: DocumentAccess) -> str:
    if found.readers == (PUBLIC,):
        return "everyone"
    if found.readers:
        return ", ".join(found.readers)
    reason = ", since nothing names it" if found.is_unnamed else ""
    return f"only the owner{reason}"
