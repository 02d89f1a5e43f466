"""What verbs take that put questions to several configurations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from merestone.cli.eval import questions_option

_OPTIONS = (
    questions_option,
    click.option(
        "--only", metavar="TAG|ID", multiple=True, help="Only these questions; may be repeated."
    ),
    click.option(
        "-k",
        "ks",
        type=click.IntRange(1, 1000),
        multiple=True,
        help="Hits scored; may be repeated.",
    ),
    click.option(
        "--budget",
        "budgets",
        type=click.IntRange(1),
        multiple=True,
        help="Token budget scored; may be repeated.",
    ),
    click.option(
        "--tokenizer", metavar="T", help="Counts the budgets: a name or a tokenizer.json."
    ),
)


def scoring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which questions are asked, and what of the answers is scored."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
