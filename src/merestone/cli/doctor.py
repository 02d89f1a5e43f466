"""``merestone doctor``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.findings import told
from merestone.cli.main import FINDINGS
from merestone.cli.session import answer, json_option, open_library, owner_option


@click.command("doctor")
@owner_option
@json_option
@click.pass_obj
def command(directory: Path, as_owner: bool, as_json: bool) -> int:
    """Look at this installation, its settings and the library's file."""
    with open_library(directory) as library:
        examination = library.doctor(as_owner=as_owner)
    answer(examination, as_json, lambda: told(examination))
    return FINDINGS if examination.findings else 0
