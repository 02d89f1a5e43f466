"""``merestone resolve``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import (
    answer,
    asked,
    asker,
    asker_options,
    indented,
    json_option,
    open_library,
)
from merestone.types import Resolution


@click.command("resolve")
@click.argument("reference")
@asker_options
@json_option
@click.pass_obj
def command(
    directory: Path,
    reference: str,
    principals: tuple[str, ...],
    as_owner: bool,
    as_json: bool,
) -> None:
    """Say where the passage that REFERENCE names is now: the same, moved, changed or gone.

    REFERENCE is a chunk id, a document, document#start-end[@version] of any version, or the JSON
    file of a citation or of a W3C annotation, also of another library.
    """
    with open_library(directory) as library:
        who = asker(principals, as_owner)
        found = asked(reference, lambda each: library.resolve(each, **who))
    answer(found, as_json, lambda: _told(found))


def _told(found: Resolution) -> str:
    if found.start is None:
        return f"gone: last in {found.document}"
    place = f"{found.document}#{found.start}-{found.end}@{(found.version or '')[:12]}"
    return f"{found.outcome}: {place}\n\n{indented(found.text or '')}"
