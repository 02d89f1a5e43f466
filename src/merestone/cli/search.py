"""``merestone search``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.chunking.render import shown
from merestone.cli.session import (
    answer,
    asker,
    asker_options,
    indented,
    json_option,
    mode_option,
    open_library,
    where_option,
)
from merestone.retrieval import place
from merestone.types import Hit, SearchResult


@click.command("search")
@click.argument("query")
@click.option("-k", default=5, show_default=True, help="How many hits.")
@asker_options
@where_option
@mode_option
@click.option("--explain", is_flag=True, help="Show what each side found and how it was fused.")
@json_option
@click.pass_obj
def command(
    directory: Path,
    query: str,
    k: int,
    principals: tuple[str, ...],
    as_owner: bool,
    where: str | None,
    mode: str,
    explain: bool,
    as_json: bool,
) -> None:
    """Find the passages that answer QUERY, each with its citation."""
    with open_library(directory) as library:
        result = library.search(
            query,
            k=k,
            where=where,
            mode=mode,
            explain=explain,
            **asker(principals, as_owner),
        )
    answer(result, as_json, lambda: _told(result))


def _told(result: SearchResult) -> str:
    parts = list(result.notes)
    parts += [_hit(number, hit) for number, hit in enumerate(result.hits, 1)]
    if not result.hits:
        parts.append("Nothing was found.")
    for entry in result.trace:
        parts.append(_stage(dict(entry)))
    return "\n\n".join(parts)


def _hit(number: int, hit: Hit) -> str:
    ranks = ", ".join(
        f"{side} {rank}" for side, rank in hit.ranks.to_json().items() if rank is not None
    )
    head = f"[{number}] {place(hit.citation)}  (score {hit.score:.3f}; rank {ranks})"
    added = "".join(
        indented(f"({shown(span)})") + "\n"
        for span in hit.chunk.context
        if span.role not in ("title", "heading")
    )
    return f"{head}\n{added}{indented(hit.chunk.text)}"


def _stage(entry: dict[str, object]) -> str:
    ranked = entry.pop("ranked", None)
    lines = [f"{entry.pop('stage')}: " + ", ".join(f"{k} {v}" for k, v in entry.items())]
    if isinstance(ranked, list):
        for place_, row in enumerate(ranked, 1):
            dense, lexical = row["dense"], row["lexical"]
            lines.append(
                f"  {place_:>3} {row['score']:.3f}  dense {dense['rank'] or '-':>3}  "
                f"lexical {lexical['rank'] or '-':>3}  {row['document']} {row['chunk'][:12]}"
            )
    return "\n".join(lines)
