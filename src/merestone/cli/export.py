"""``merestone export``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from merestone.cli.session import amount, answer, json_option, open_library, owner_option
from merestone.config import config_files, note_written, written_files
from merestone.files import replacing
from merestone.indexing import Manifest
from merestone.indexing.sources import IGNORE_FILE
from merestone.library import Library
from merestone.types import LibrarySettings, SettingsError


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--library", "whole", is_flag=True, help="The whole library as an archive, for `import`."
)
@owner_option
@json_option
@click.pass_obj
def command(directory: Path, file: Path, whole: bool, as_owner: bool, as_json: bool) -> None:
    """Write every chunk to FILE, one JSON a line; `-` is stdout.

    With --library, write the whole library with its vectors to FILE, as one archive.
    """
    if whole and str(file) == "-":
        raise click.UsageError("An archive of the library needs a file; it can't go to stdout.")
    with open_library(directory) as library:
        library.require_owner(as_owner=as_owner)
        if str(file) == "-":
            library.export(sys.stdout, as_owner=as_owner)
            return
        target = writable_target(directory / file, library)
        note_written(library.settings.state, target)
        try:
            if whole:
                _tell_archive(library.export_library(target, as_owner=as_owner), target, as_json)
                return
            written = _write(library, target, as_owner)
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


def _tell_archive(manifest: Manifest, target: Path, as_json: bool) -> None:
    answer(
        manifest,
        as_json,
        lambda: (
            f"Wrote the library with {amount(manifest.documents, 'document')} and "
            f"{amount(manifest.chunks, 'chunk')} to {target}."
        ),
    )


def writable_target(path: Path, library: Library, *, besides: Sequence[Path] = ()) -> Path:
    """Where to write, behind symbolic links; never over the library, a document, questions,
    settings, what is named ``besides``, or a file in a folder of documents that no command wrote:
    the next sync would read it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise SettingsError("path-is-folder", f"{path} is a folder.", "Name a file in it.")
    state = Path(os.path.realpath(library.settings.state))
    # What must not be written over is every document, whoever asks.
    with library.snapshot(as_owner=True) as snapshot:
        # The row of a database names its file, then its key.
        sources = {record.uri.partition("#")[0] for record in snapshot.records()}
    own = [*config_files(Path(library.settings.root)), *besides]
    settings = {os.path.realpath(file) for file in own}
    settings.add(os.path.realpath(library.settings.evaluation.questions))
    if library.settings.access.file:
        settings.add(os.path.realpath(library.settings.access.file))
    is_ours = state in target.parents or str(target) in settings or target.name == IGNORE_FILE
    if is_ours or target.as_uri() in sources or _may_be_document(target, library.settings):
        raise SettingsError(
            "file-in-use",
            f"{path} is part of the library, one of its documents or a file among them, or holds "
            "its questions or settings.",
            "Name another file to write to.",
        )
    return target


def _may_be_document(target: Path, settings: LibrarySettings) -> bool:
    if not target.exists() or str(target) in map(
        os.path.realpath, written_files(Path(settings.state))
    ):
        return False
    folders = (os.path.realpath(source.path) for source in settings.sources if source.path)
    return any(target.is_relative_to(folder) for folder in folders)


def target_in_folder(path: Path, library: Library) -> Path:
    """:func:`writable_target` in a folder that is there: a mistyped one is not made."""
    target = writable_target(path, library)
    if not target.parent.is_dir():
        raise SettingsError(
            "file-unwritable",
            f"{path} cannot be written: there is no folder {target.parent}.",
            "Name a file in a folder that exists and may be written to.",
        )
    return target


def _write(library: Library, target: Path, as_owner: bool) -> int:
    """Write the chunks to ``target``; the number written."""
    with replacing(target) as draft, draft.open("w", encoding="utf-8") as out:
        return library.export(out, as_owner=as_owner)
