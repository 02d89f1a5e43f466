"""``merestone context``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.prompts import Prompt, planned, prompt_options
from merestone.cli.session import (
    answer,
    asker,
    asker_options,
    json_option,
    mode_option,
    open_library,
    printable,
    where_option,
)
from merestone.cli.traces import told_trace
from merestone.cli.verdicts import told_verdict
from merestone.types import ContextResult


@click.command("context")
@click.argument("query")
@prompt_options
@click.option(
    "--tokenizer",
    type=click.Path(),
    help="Of the model that will read it: a tokenizer.json, or a name such as cl100k_base.",
)
@asker_options
@where_option
@mode_option
@click.option("--precise", is_flag=True, help="Stop by score instead of filling the budget.")
@click.option(
    "--explain", is_flag=True, help="What each stage did, and what became of each candidate."
)
@json_option
@click.pass_obj
def command(
    directory: Path,
    query: str,
    budget: int | None,
    model_limit: int | None,
    system_prompt: Path | None,
    history: Path | None,
    reserve: int | None,
    safety: float | None,
    tokenizer: str | None,
    principals: tuple[str, ...],
    as_owner: bool,
    where: str | None,
    mode: str,
    precise: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Fill a token budget with cited passages for QUERY, never exceeding it.

    The budget is --budget, or what of --model-limit the system prompt, the history, the answer and
    a share for safety leave. The text goes to stdout; what was left out and why, to stderr.
    """
    wanted = planned(Prompt(budget, model_limit, system_prompt, history, reserve, safety))
    with open_library(directory) as library:
        result = library.context(
            query,
            budget=wanted,
            where=where,
            mode=mode,
            tokenizer=tokenizer,
            precise=precise,
            explain=explain,
            **asker(principals, as_owner),
        )
    answer(result, as_json, lambda: result.text)
    if not as_json:
        click.echo(printable(_summary(result)), err=True)


def _summary(result: ContextResult) -> str:
    lines = [
        *result.notes,
        *told_verdict(result.verdict, result.passages),
        *([result.plan.explain()] if result.plan else []),
        f"{result.tokens} of {result.budget} tokens, {len(result.passages)} passages, "
        f"{len(result.left_out)} candidates left out.",
    ]
    lines += [
        f"  left out {left.document}"
        + (f", lines {left.lines[0]}–{left.lines[1]}" if left.lines else "")
        + f" ({left.chunk[:12]}): {left.reason}"
        for left in result.left_out[:5]
    ]
    if len(result.left_out) > 5:
        lines.append(f"  and {len(result.left_out) - 5} more (all of them with --json)")
    if result.trace:
        lines += ["", told_trace(result.trace, result.decisions)]
    return "\n".join(lines)
