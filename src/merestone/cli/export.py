"""``merestone export``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from merestone.cli.session import amount, json_option, open_library
from merestone.types import SettingsError


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def command(directory: Path, file: Path, as_json: bool) -> None:
    """Write every chunk to FILE, one JSON a line. `-` is stdout."""
    with open_library(directory) as library:
        if str(file) == "-":
            library.export(sys.stdout)
            return
        target = directory / file
        # Written beside and renamed, so that a failure leaves no half file under the name.
        part = target.with_name(f".{target.name}.part")
        try:
            with part.open("w", encoding="utf-8") as out:
                written = library.export(out)
            os.replace(part, target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise SettingsError(
                "file-unwritable",
                f"{target} cannot be written: {error.strerror or error}.",
                "Name a file in a folder that exists and may be written to.",
            ) from error
    if as_json:
        click.echo(f'{{"chunks": {written}}}')
    else:
        click.echo(f"Wrote {amount(written, 'chunk')} to {target}.")
