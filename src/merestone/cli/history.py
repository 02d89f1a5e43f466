"""``merestone history``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import amount, answer, asker, asker_options, json_option, open_library
from merestone.types import DocumentHistory, HistoryEntry


@click.command("history")
@click.argument("document")
@asker_options
@json_option
@click.pass_obj
def command(
    directory: Path,
    document: str,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> None:
    """List the versions that DOCUMENT had, and how many chunks came and went with each."""
    with open_library(directory) as library:
        found = library.history(document, **asker(principals, as_owner))
    answer(found, as_json, lambda: _told(found))


def _told(found: DocumentHistory) -> str:
    return "\n".join(map(_line, found.versions))


def _line(entry: HistoryEntry) -> str:
    version = entry.version[:12] or "removed"
    origin = f", from {entry.moved_from}" if entry.moved_from else ""
    return (
        f"{entry.time}  {version:12}  {amount(len(entry.added), 'chunk')} came, "
        f"{len(entry.removed):,} went{origin}"
    )
