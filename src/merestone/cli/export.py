"""``merestone export``."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from merestone.cli.session import amount, json_option, open_library
from merestone.library import Library
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
        target = _target(directory / file, library)
        try:
            written = _write(library, target)
        except OSError as error:
            raise SettingsError(
                "file-unwritable",
                f"{target} cannot be written: {error.strerror or error}.",
                "Name a file in a folder that exists and may be written to.",
            ) from error
    if as_json:
        click.echo(f'{{"chunks": {written}}}')
    else:
        click.echo(f"Wrote {amount(written, 'chunk')} to {target}.")


def _target(path: Path, library: Library) -> Path:
    """Where to write, behind symbolic links; never over the library or a document of it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise SettingsError("path-is-folder", f"{path} is a folder.", "Name a file in it.")
    state = Path(os.path.realpath(library.settings.state))
    with library.snapshot() as snapshot:
        sources = {record.uri for record in snapshot.records()}
    if state in target.parents or target.as_uri() in sources:
        raise SettingsError(
            "file-in-use",
            f"{path} is part of the library or one of its documents.",
            "Name another file for the export.",
        )
    return target


def _write(library: Library, target: Path) -> int:
    """Write the chunks to ``target``; the number written."""
    if target.exists() and not target.is_file():
        # A pipe or a device is written into, never replaced.
        with target.open("w", encoding="utf-8") as out:
            return library.export(out)
    # Written beside and renamed, so that a failure leaves no half file under the name.
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("w", encoding="utf-8") as out:
            written = library.export(out)
        os.replace(part, target)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    return written
