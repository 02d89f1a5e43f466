"""``merestone explain``."""

from __future__ import annotations

import click

from merestone.cli.session import answer, json_option
from merestone.types.codes import explain


@click.command("explain")
@click.argument("code")
@json_option
def command(code: str, as_json: bool) -> None:
    """Explain CODE: of an error, a finding, a status, a missed question or an outcome."""
    text = explain(code)
    answer({"code": code, "explanation": text}, as_json, lambda: text)
