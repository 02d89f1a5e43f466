"""``merestone show``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import (
    answer,
    asked,
    asker,
    asker_options,
    json_option,
    open_library,
)


@click.command("show")
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
    """Show what REFERENCE names: a chunk id, a document, document#start-end[@version], or the
    JSON file of a citation or of a W3C annotation."""
    with open_library(directory) as library:
        who = asker(principals, as_owner)
        found = asked(reference, lambda each: library.show(each, **who))
    answer(found, as_json, lambda: str(found["text"]))
