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
from merestone.cli.traces import told_trace
from merestone.cli.verdicts import told_verdict
from merestone.retrieval import place
from merestone.retrieval.relevance import shown_relevance
from merestone.types import Hit, SearchResult


@click.command("search")
@click.argument("query")
@click.option("-k", default=5, show_default=True, help="How many hits.")
@asker_options
@where_option
@mode_option
@click.option(
    "--explain", is_flag=True, help="What each stage did, and what became of each candidate."
)
@click.option("--links", is_flag=True, help="Show what opens the source at each place.")
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
    links: bool,
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
    answer(result, as_json, lambda: _told(result, links))


def _told(result: SearchResult, links: bool) -> str:
    parts = [*result.notes, *told_verdict(result.verdict, result.hits)]
    parts += [_hit(number, hit, links) for number, hit in enumerate(result.hits, 1)]
    if not result.hits:
        parts.append("Nothing was found.")
    if result.trace:
        parts.append(told_trace(result.trace))
    return "\n\n".join(parts)


def _hit(number: int, hit: Hit, links: bool) -> str:
    ranks = ", ".join(
        f"{side} {rank}" for side, rank in hit.ranks.to_json().items() if rank is not None
    )
    likely = "" if hit.relevance is None else f", relevance {shown_relevance(hit.relevance)}"
    head = f"[{number}] {place(hit.citation)}  (score {hit.score:.3f}{likely}; rank {ranks})"
    if links and hit.citation.link:
        head += f"\n    {hit.citation.link}"
    added = "".join(
        indented(f"({shown(span)})") + "\n"
        for span in hit.chunk.context
        if span.role not in ("title", "heading")
    )
    return f"{head}\n{added}{indented(hit.chunk.text)}"
