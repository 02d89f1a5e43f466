"""``merestone tune``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from merestone.cli.progress import shown_progress
from merestone.cli.scoring import chosen, questions_of, scoring_options
from merestone.cli.session import (
    answer,
    json_option,
    mode_option,
    open_library,
    owner_option,
)
from merestone.evaluation.experiments.variables import STAGES

if TYPE_CHECKING:
    from rich.table import Table

    from merestone.evaluation.experiments.tuning import Tuning


@click.command("tune")
@click.option(
    "--stage",
    "stages",
    type=click.Choice(STAGES),
    multiple=True,
    help="Only this of what is usually tried: retrieval makes nothing anew; may be repeated.",
)
@click.option(
    "--try",
    "choices",
    metavar="KEY=VALUE,…",
    multiple=True,
    help="Try these values and nothing else, none of the usual settings either; may be repeated.",
)
@click.option(
    "--limit",
    type=click.IntRange(2),
    default=40,
    show_default=True,
    help="Configurations to try at most, the library as it is among them.",
)
@click.option("--seed", default=0, show_default=True, help="Of the split of the questions.")
@click.option("--measure", metavar="NAME", help="What decides, such as FullGold@1000t.")
@scoring_options
@click.option("--write", is_flag=True, help="Write a confirmed configuration into your file.")
@mode_option
@owner_option
@json_option
@click.pass_obj
def command(
    directory: Path,
    stages: tuple[str, ...],
    choices: tuple[str, ...],
    limit: int,
    seed: int,
    measure: str | None,
    ks: tuple[int, ...],
    budgets: tuple[int, ...],
    tokenizer: str | None,
    file: Path | None,
    only: tuple[str, ...],
    write: bool,
    mode: str,
    as_owner: bool,
    as_json: bool,
) -> None:
    """Look for settings under which your questions are answered better.

    Half of the questions choose, the other half confirms: what is not significantly better there
    as well is not advised. Nothing is changed without --write, and then your configuration alone;
    a sync puts it to work.
    """
    from merestone.evaluation.experiments.choosing import tune
    from merestone.evaluation.experiments.configuration_file import write_configuration
    from merestone.evaluation.experiments.configurations import parse_choices
    from merestone.evaluation.experiments.variables import variable_of
    from merestone.evaluation.runs.files import kept_run, runs_folder, save_run

    if stages and choices:
        raise click.UsageError(
            "--stage chooses among what is usually tried, and --try takes its place. Give one."
        )
    with open_library(directory) as library:
        library.require_owner(as_owner=as_owner)
        folder = runs_folder(library.settings.state)
        with shown_progress(as_json) as progress:
            tuning = tune(
                library,
                chosen(questions_of(library, directory, file), only),
                seed=seed,
                measure=measure,
                k=ks or None,
                budgets=budgets or None,
                tokenizer=tokenizer,
                as_owner=as_owner,
                mode=mode,
                stages=[stage for stage in STAGES if stage in (stages or STAGES)],
                variables=[variable_of(*parse_choices(text)) for text in choices],
                limit=limit,
                kept=partial(kept_run, folder=folder),
                progress=progress,
            )
        for run in tuning.comparison.runs if tuning.comparison else ():
            save_run(run, folder, is_trial=True)
        root = library.settings.root
    answer(tuning, as_json, lambda: _told(tuning))
    if write and tuning.is_confirmed:
        path = write_configuration(root, tuning.configuration, tuning.evidence)
        click.echo(f"{path} was changed. Run `merestone sync` to put it to work.", err=True)
    elif write:
        click.echo("Nothing was written: there is no configuration to be advised.", err=True)


def _told(tuning: Tuning) -> str:
    from merestone.cli.tables import printed
    from merestone.evaluation.experiments.configuration_file import as_toml

    parts = [printed(iter([tuning.words]))]
    if tuning.is_confirmed:
        # It is to be copied, so its lines stay as they are.
        parts.append(as_toml(tuning.configuration, tuning.evidence).rstrip("\n"))
    parts.append(printed(_parts(tuning)))
    return "\n\n".join(parts)


def _parts(tuning: Tuning) -> Iterator[str | Table]:
    from merestone.cli.comparisons import told_comparison

    yield _attempts(tuning)
    yield from _explained(tuning)
    yield ""
    yield _front(tuning)
    yield (
        "Of what was asked all of them, in any view: nothing gives more for as few tokens. That is "
        "no advice, since nothing of it was confirmed."
    )
    yield ""
    if tuning.comparison:
        yield f"On the {len(tuning.halves.confirming)} questions that it was not chosen by:"
        yield ""
        yield told_comparison(tuning.comparison, advised=False)
    for warning in tuning.warnings:
        yield f"! {warning}"


def _attempts(tuning: Tuning) -> Table:
    """A row for each configuration, with why it was taken or not."""
    from merestone.cli.tables import measure_title, simple_table
    from merestone.evaluation.report.words import change, figure, spread

    title = f"tried on {len(tuning.halves.choosing)} questions"
    heads = (title, "asked", measure_title(tuning.measure), "gain ±", "")
    table = simple_table(*heads, numbers=(1, 2, 3))
    for each in tuning.attempts:
        gain = ""
        if each.outcome != "start":
            gain = f"{change(tuning.measure, each.gain)} ± {spread(tuning.measure, each.error)}"
        told = each.reason if each.outcome == "start" else f"{each.outcome}: {each.reason}"
        quality = figure(tuning.measure, each.quality)
        table.add_row(each.configuration.name, str(each.count), quality, gain, told)
    return table


def _explained(tuning: Tuning) -> Iterator[str]:
    whole = len(tuning.halves.choosing)
    yield (
        "A step is taken if its gain over where it began is larger than the standard error (±), "
        "else by whole answers, else by tokens."
    )
    if any(each.outcome == "dropped early" for each in tuning.attempts):
        yield (
            f"What was dropped early was asked a part of the {whole}: its mean is of these, and "
            "its gain is over the best that was tried with it."
        )


def _front(tuning: Tuning) -> Table:
    from merestone.cli.tables import simple_table
    from merestone.evaluation.measures.units import family
    from merestone.evaluation.report.words import figure

    heads = ("most for the tokens", "view", "tokens", family(tuning.measure))
    table = simple_table(*heads, numbers=(2, 3))
    for point in tuning.front:
        quality = figure(tuning.measure, point.quality)
        table.add_row(point.configuration, point.view, f"{point.tokens:,.0f}", quality)
    return table
