"""``merestone init``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone import config
from merestone.cli.session import answer, json_option
from merestone.types import CONFIG_FILE, SettingsError


@click.command("init")
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def command(base: Path, directory: Path | None, as_json: bool) -> None:
    """Write a starter merestone.toml into DIRECTORY (by default, here)."""
    from merestone.chunking import chunkers
    from merestone.extraction import extractors

    folder = base / directory if directory else base
    if not folder.is_dir():
        raise SettingsError(
            "path-not-found", f"{folder} is not a folder.", "Make it first, or name another."
        )
    path = folder / CONFIG_FILE
    text = config.starter("minilm", list(chunkers()), sorted(extractors()))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise SettingsError(
            "config-exists", f"{path} exists already.", "Edit it, or remove it first."
        ) from error
    answer({"wrote": str(path)}, as_json, lambda: f"Wrote {path}. Next: merestone sync")
