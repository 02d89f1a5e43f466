"""``merestone cut``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.session import answer, indented, json_option
from merestone.library import cut_document, read
from merestone.types import JSON, Chunk, Cutting, Document


@click.command("cut")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strategy", default="structure", show_default=True)
@click.option("--max-tokens", type=int, help="Hard limit; by default what the embedder reads.")
@click.option("--target-tokens", type=int, help="By default 0.8 of the limit.")
@click.option("--min-tokens", type=int, help="Smaller pieces are merged.")
@click.option("--overlap-tokens", type=int, default=0, show_default=True)
@click.option("--max-chars", type=int, help="By default 8 times the limit in tokens.")
@click.option("--overlap-chars", type=int, default=0, show_default=True)
@json_option
@click.pass_obj
def command(directory: Path, /, file: Path, as_json: bool, **sizes: int | str | None) -> None:
    """Cut FILE and show each chunk with the reason for its boundaries. Needs no index."""
    document = read(directory / file)
    cutting = cut_document(document, **sizes)  # type: ignore[arg-type]
    answer(_shape(document, cutting), as_json, lambda: _told(document, cutting))


def _shape(document: Document, cutting: Cutting) -> dict[str, JSON]:
    return {
        "document": document.id,
        "text": document.text,
        "chunks": [chunk.to_json() for chunk in cutting.chunks],
        "dropped": [dropped._asdict() for dropped in cutting.dropped],
        "report": {
            "chunks": len(cutting.chunks),
            "tokens": sum(chunk.tokens for chunk in cutting.chunks),
            "largest": max((chunk.tokens for chunk in cutting.chunks), default=0),
            "smallest": min((chunk.tokens for chunk in cutting.chunks), default=0),
            "dropped": len(cutting.dropped),
        },
    }


def _told(document: Document, cutting: Cutting) -> str:
    parts = [_chunk(chunk) for chunk in cutting.chunks]
    parts += [
        f"dropped {dropped.start}-{dropped.end}: {dropped.reason}" for dropped in cutting.dropped
    ]
    parts.append(
        f"{len(cutting.chunks)} chunks of {document.id} ({document.status}), "
        f"{sum(chunk.tokens for chunk in cutting.chunks)} tokens."
    )
    return "\n\n".join(parts)


def _chunk(chunk: Chunk) -> str:
    where = f"{chunk.start}-{chunk.end}"
    if chunk.lines:
        where += f", lines {chunk.lines[0]}-{chunk.lines[1]}"
    if chunk.pages:
        where += f", pages {', '.join(map(str, chunk.pages))}"
    begin, end = chunk.boundary_start, chunk.boundary_end
    head = [
        f"--- {chunk.ordinal + 1}/{chunk.total}  {where}  {chunk.tokens} tokens  {chunk.kind}  "
        f"{chunk.id[:12]}",
        f"    begins at: {begin.reason} ({begin.strength:.2f})   "
        f"ends at: {end.reason} ({end.strength:.2f})",
    ]
    if chunk.heading_path:
        head.append(f"    path: {' > '.join(chunk.heading_path)}")
    head += [
        f"    {role}: {' '.join(span.text.split())}"
        for role, spans in (("context", chunk.context), ("shed", chunk.shed))
        for span in spans
    ]
    return "\n".join(head) + "\n" + indented(chunk.text, "  | ")
