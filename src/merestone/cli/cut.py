"""``merestone cut``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from merestone.chunking import cut, effective
from merestone.cli import cuttings
from merestone.cli.session import answer, json_option
from merestone.config import chunking_settings, find_root, load_settings
from merestone.cutting import LIMIT, changes_between, examine_cutting, read
from merestone.embedding import open_embedder
from merestone.text.tokenizer_names import tokenizer_named
from merestone.types import (
    CONTEXT_ROLES,
    JSON,
    Cutting,
    CuttingReport,
    Document,
    Embedder,
)


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
    tokenizer: str | None,
    **options: JSON,
) -> None:
    """Cut FILE and show each chunk with the reason for its boundaries. Needs no index.

    Options that are not given are those of the configuration that FILE lies under, if there is one.
    """
    if since is not None and as_report:
        raise click.UsageError("--report and --since are two answers; ask for one of them.")
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value not in (None, ())
    }
    cutter = _Cutter(directory / file, given, tokenizer)
    document = cutter.read(directory / file)
    if since is not None:
        _compare(cutter, cutter.read(directory / since), document, as_json)
    else:
        _cut(cutter, document, as_report, as_json)


class _Cutter:
    """Reads and cuts as the library that a file belongs to would, where options say nothing else.

    With a ``tokenizer`` of its own nothing is asked of the embedder, nor is its limit.
    """

    def __init__(self, file: Path, given: dict[str, JSON], tokenizer: str | None) -> None:
        folder = file.absolute().parent
        flags = {"chunking": {} if tokenizer else given}
        self._library = load_settings(find_root(folder) or folder, flags, for_preview=True)
        if tokenizer is None:
            self._settings = self._library.chunking
            self._embedder: Embedder | None = open_embedder(self._library.embedding)
            self._tokenizer = self._embedder.tokenizer
        else:
            self._tokenizer = tokenizer_named(tokenizer)
            self._settings = chunking_settings(given, LIMIT)
            self._embedder = None

    def read(self, path: Path) -> Document:
        return read(path, settings=self._library.extraction)

    def cut(self, document: Document) -> Cutting:
        return cut(document, self._settings, self._tokenizer, self._embedder)

    def report(self, document: Document, cutting: Cutting) -> CuttingReport:
        settings = effective(self._settings, document.media_type)
        return examine_cutting(
            document,
            cutting,
            max_tokens=settings.max_tokens,
            target_tokens=settings.target_tokens,
            min_tokens=settings.min_tokens,
            max_chars=settings.max_chars,
            tokenizer=self._tokenizer,
        )


def _cut(cutter: _Cutter, document: Document, as_report: bool, as_json: bool) -> None:
    cutting = cutter.cut(document)
    if as_json:
        answer(_shape(document, cutting, cutter.report(document, cutting)), as_json, str)
    elif as_report:
        click.echo(cuttings.told_report(cutter.report(document, cutting), document))
    else:
        answer(cutting, as_json, lambda: cuttings.told_chunks(document, cutting))


def _compare(cutter: _Cutter, old: Document, new: Document, as_json: bool) -> None:
    # Ids hash the document's id, and files of two versions seldom have one name.
    old_chunks, new_chunks = cutter.cut(replace(old, id=new.id)), cutter.cut(new)
    changes = changes_between(old, new, old_chunks=old_chunks, new_chunks=new_chunks)
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
