"""``merestone cut``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli import cuttings
from merestone.cli.session import answer, json_option
from merestone.config import chunking_values, find_root
from merestone.cutting import changes_between, cut_document, examine_cutting, read
from merestone.types import (
    CONTEXT_ROLES,
    JSON,
    Cutting,
    CuttingReport,
    Document,
    content_type,
)

Sizes = dict[str, JSON]


@click.command("cut")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strategy", help="By default by content type, see `merestone init`.")
@click.option("--max-tokens", type=int, help="Hard limit; by default what the embedder reads.")
@click.option("--target-tokens", type=int, help="By default 0.8 of the limit.")
@click.option("--min-tokens", type=int, help="Smaller pieces are merged.")
@click.option("--overlap-tokens", type=int, help="What each chunk repeats; by default nothing.")
@click.option("--max-chars", type=int, help="By default 8 times the limit in tokens.")
@click.option("--overlap-chars", type=int, help="The same in characters.")
@click.option(
    "--torn-overlap-tokens",
    type=int,
    help="Largest sentence repeated where a paragraph had to be cut; by default a quarter.",
)
@click.option("--group", type=int, help="Sentences or records in a chunk, for these strategies.")
@click.option(
    "--context",
    multiple=True,
    type=click.Choice(CONTEXT_ROLES),
    help="Give chunks this context only; may be repeated.",
)
@click.option(
    "--separator",
    "separators",
    multiple=True,
    help="For the strategy recursive, the strongest first; may be repeated.",
)
@click.option(
    "--tokenizer",
    help="Count by this tokenizer.json, or by a name such as cl100k_base or words.",
)
@click.option(
    "--semantic-weight",
    type=float,
    help="How much the similarity of neighbouring sentences moves boundaries.",
)
@click.option(
    "--report",
    "as_report",
    is_flag=True,
    help="Show how good the cutting is in place of the chunks: sizes, what was torn, coverage.",
)
@click.option(
    "--since",
    metavar="OLD",
    type=click.Path(path_type=Path),
    help="Show what became of each chunk of OLD, an earlier version of FILE.",
)
@json_option
@click.pass_obj
def command(
    directory: Path,
    /,
    file: Path,
    as_report: bool,
    since: Path | None,
    as_json: bool,
    **options: JSON,
) -> None:
    """Cut FILE and show each chunk with the reason for its boundaries. Needs no index.

    Options that are not given are those of the configuration, if there is one.
    """
    if since is not None and as_report:
        raise click.UsageError("--report and --since are two answers; ask for one of them.")
    document = read(directory / file)
    given = {name: value for name, value in options.items() if value not in (None, ())}
    root = find_root(directory.absolute())
    kind = content_type(document.media_type)
    sizes = {**(chunking_values(root, kind) if root is not None else {}), **given}
    if since is not None:
        _compare(read(directory / since), document, as_json, sizes)
    else:
        _cut(document, as_report, as_json, sizes)


def _cut(document: Document, as_report: bool, as_json: bool, sizes: Sizes) -> None:
    cutting = cut_document(document, **sizes)
    if as_json:
        answer(_shape(document, cutting, _report(document, cutting, sizes)), as_json, str)
    elif as_report:
        click.echo(cuttings.told_report(_report(document, cutting, sizes), document))
    else:
        answer(cutting, as_json, lambda: cuttings.told_chunks(document, cutting))


def _report(document: Document, cutting: Cutting, sizes: Sizes) -> CuttingReport:
    names = ("max_tokens", "target_tokens", "min_tokens", "max_chars", "tokenizer")
    limits = {name: sizes[name] for name in names if name in sizes}
    return examine_cutting(document, cutting, **limits)


def _compare(old: Document, new: Document, as_json: bool, sizes: Sizes) -> None:
    changes = changes_between(old, new, **sizes)
    shape = {"document": new.id, "since": old.id, **changes.to_json()}
    answer(shape, as_json, lambda: cuttings.told_changes(changes, old, new))


def _shape(document: Document, cutting: Cutting, report: CuttingReport) -> dict[str, JSON]:
    return {
        "document": document.id,
        "text": document.text,
        "chunks": [chunk.to_json() for chunk in cutting.chunks],
        "dropped": [dropped._asdict() for dropped in cutting.dropped],
        "report": report.to_json(),
    }
