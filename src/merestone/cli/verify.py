"""``merestone verify``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.findings import told
from merestone.cli.main import FINDINGS
from merestone.cli.session import answer, json_option, open_library, owner_option


@click.command("verify")
@click.option("--all", "every_vector", is_flag=True, help="Embed every chunk again, not a sample.")
@owner_option
@json_option
@click.pass_obj
def command(directory: Path, every_vector: bool, as_owner: bool, as_json: bool) -> int:
    """Prove on this library what must always hold."""
    with open_library(directory) as library:
        examination = library.verify(every_vector=every_vector, as_owner=as_owner)
    answer(examination, as_json, lambda: told(examination))
    return FINDINGS if examination.findings else 0
