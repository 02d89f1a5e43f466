"""``merestone compare``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from merestone.cli.progress import shown_progress
from merestone.cli.scoring import chosen, questions_of, scoring_options
from merestone.cli.session import (
    amount,
    answer,
    json_option,
    mode_option,
    open_library,
    owner_option,
)
from merestone.evaluation.experiments.configurations import (
    DEFAULT_NAME,
    Configuration,
    distinct,
    grid,
    one_at_a_time,
    parse_choices,
    parse_configuration,
    read_configurations,
)
from merestone.library import Library
from merestone.types import SettingsError


@click.command("compare")
@click.argument("runs", nargs=-1)
@click.option(
    "--with",
    "changes",
    metavar="CHANGES",
    multiple=True,
    help='A configuration by what it changes, such as "small: chunking.max_tokens=128"; may be '
    "repeated.",
)
@click.option(
    "--from",
    "files",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A TOML or JSON file of configurations.",
)
@click.option(
    "--one-at-a-time",
    "choices",
    metavar="KEY=VALUE,…",
    multiple=True,
    help="Vary one setting, such as chunking.max_tokens=128,256; may be repeated.",
)
@click.option(
    "--grid",
    "crossed",
    metavar="KEY=VALUE,…",
    multiple=True,
    help="Vary several settings in all combinations.",
)
@click.option(
    "--baseline",
    metavar="CHANGES",
    help="Hold the others against this configuration instead of the library as it is.",
)
@scoring_options
@click.option(
    "--measure",
    "measures",
    metavar="NAME",
    multiple=True,
    help="What to compare, such as GoldCoverage@1000t; the first decides.",
)
@mode_option
@owner_option
@json_option
@click.pass_obj
def command(
    directory: Path,
    runs: tuple[str, ...],
    changes: tuple[str, ...],
    files: tuple[Path, ...],
    choices: tuple[str, ...],
    crossed: tuple[str, ...],
    baseline: str | None,
    ks: tuple[int, ...],
    budgets: tuple[int, ...],
    tokenizer: str | None,
    file: Path | None,
    only: tuple[str, ...],
    measures: tuple[str, ...],
    mode: str,
    as_owner: bool,
    as_json: bool,
) -> None:
    """Hold configurations, or recorded RUNS, against each other on your questions.

    Without anything named, the library as it is and one that cuts into fixed windows are compared:
    do the right passages appear, are they complete, is context duplicated. The first is what the
    others are held against. Scratch libraries are made where cutting or embedding differ.
    """
    from merestone.cli.comparisons import told_comparison
    from merestone.evaluation.experiments.advice import advice
    from merestone.evaluation.experiments.comparing import (
        compare,
        compare_runs,
        first_configurations,
    )
    from merestone.evaluation.runs.files import (
        find_run,
        kept_run,
        load_run,
        runs_folder,
        save_run,
    )

    is_tried = bool(changes or files or choices or crossed or baseline)
    if runs and is_tried:
        raise SettingsError(
            "ambiguous-comparison",
            "Recorded runs and configurations to be tried were named together.",
            "Compare one or the other; `merestone eval` records a run of the library as it is.",
        )
    with open_library(directory) as library:
        library.require_owner(as_owner=as_owner)
        folder = runs_folder(library.settings.state)
        if runs:
            loaded = [load_run(find_run(name, folder)) for name in runs]
            comparison = compare_runs(loaded, measures=measures or None)
        else:
            files = tuple(directory / path for path in files)
            tried, tables = _configurations(changes, files, choices, crossed, baseline)
            if not is_tried:
                tried = list(first_configurations(library.settings))
            asked = chosen(questions_of(library, directory, file), only)
            if not as_json:
                _tell_what_is_made(library, tried, as_owner)
            with shown_progress(as_json) as progress:
                comparison = compare(
                    library,
                    tried,
                    asked,
                    k=ks or None,
                    budgets=budgets or None,
                    tokenizer=tokenizer,
                    as_owner=as_owner,
                    mode=mode,
                    measures=measures or None,
                    tables=tables,
                    kept=partial(kept_run, folder=folder),
                    progress=progress,
                )
            for run in comparison.runs:
                save_run(run, folder, is_trial=True)
    shape = {**comparison.to_json(), "advice": advice(comparison, comparison.names)}
    answer(shape, as_json, lambda: told_comparison(comparison))
    if not runs:
        kept = " ".join(run.id[:12] for run in comparison.runs)
        click.echo(f"Kept as runs, for `merestone report {kept}`.", err=True)


def _tell_what_is_made(library: Library, tried: Sequence[Configuration], as_owner: bool) -> None:
    """What has to be cut and embedded before the questions are asked."""
    from merestone.evaluation.experiments.scratch import open_experiments

    with open_experiments(library, as_owner=as_owner) as experiments:
        for each in tried:
            experiments.check(each)
        made = [each.name for each in tried if experiments.needs_making(each)]
        documents, chunks = experiments.size
    if made:
        click.echo(
            f"Cut and embedded apart, as far as that was not done before: {', '.join(made)}; "
            f"each of {amount(documents, 'document')} that are {amount(chunks, 'chunk')} now.",
            err=True,
        )


def _configurations(
    changes: Sequence[str],
    files: Sequence[Path],
    choices: Sequence[str],
    crossed: Sequence[str],
    baseline: str | None,
) -> tuple[list[Configuration], dict[str, list[int]]]:
    """What is to be compared, the baseline first, and which of them vary one setting alone."""
    first = parse_configuration(baseline, "baseline") if baseline else Configuration(DEFAULT_NAME)
    alone = [parse_choices(text) for text in choices]
    found = distinct(
        [
            first,
            *(parse_configuration(text) for text in changes),
            *(each for path in files for each in read_configurations(path)),
            *one_at_a_time(alone),
            *(grid([parse_choices(text) for text in crossed]) if crossed else []),
        ]
    )
    columns = {each.fingerprint: column for column, each in enumerate(found)}
    tables = {
        key: [columns[each.fingerprint] for each in one_at_a_time([(key, values)])]
        for key, values in alone
    }
    return found, {key: [column for column in own if column] for key, own in tables.items()}
