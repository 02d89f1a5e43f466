"""Rows of Chroma's chunking benchmark, by Merestone's own ``evaluate``.

    pip install benchmarks/plugins bm25s
    python benchmarks/chroma_rows.py --work FOLDER [CUTTING...]

The peers' cuttings are plugins; the five corpora of ``eval/chroma`` in the folder that
``MERESTONE_BENCH_DATA`` names stand in one library for each cutting, embedded by the bundled
model, searched by meaning alone, without focus and collapse, at five passages. Libraries and the
cache of vectors are kept in FOLDER, so that a second run takes seconds.

Printed are recall (GoldCoverage@5), precision, IoU and omega of ``evaluate``; *scorer*, the same
cutting searched and scored by ``chroma_table.py``, which has none of its code; and *measured
before*, where the row was measured by others with their own cutters, and how far the farthest of
the four is away.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from chroma import chroma_questions
from chroma_table import Corpora, peer_rows
from searching import CachedEmbedder

from merestone import Library
from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.measures.spans import precision_omega
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.runs.evaluating import evaluate
from merestone.text.plugins import required_plugin

MEASURES = ("GoldCoverage@5", "Precision@5", "IoU@5")

ROWS: Mapping[str, tuple[float, float, float, float] | None] = {
    "recursive-400-200": (0.798, 0.031, 0.031, 0.139),
    "recursive-400": (0.740, 0.032, 0.032, 0.177),
    "recursive-200": (0.756, 0.062, 0.062, 0.299),
    "recursive-minilm-250-125": (0.785, 0.049, 0.049, 0.219),
    "recursive-minilm-250": (0.787, 0.054, 0.054, 0.267),
    "cluster-200": (0.755, 0.072, 0.071, 0.336),
    "cluster-250": (0.777, 0.061, 0.061, 0.287),
    "sentences-200": (0.748, 0.051, 0.051, 0.261),
    "chonkie-200": (0.760, 0.060, 0.060, 0.267),
    "semantic-text-200": (0.763, 0.059, 0.059, 0.290),
    "window-200": None,
}
"""By cutting, what was measured before."""

CONFIGURATION = """
[[sources]]
path = "corpora"

[chunking]
strategy = "{strategy}"

[embedding]
on_overlong = "truncate"

[retrieval]
focus = false
collapse = false
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows of Chroma's benchmark by Merestone")
    parser.add_argument("cuttings", nargs="*", metavar="CUTTING", help=", ".join(ROWS))
    parser.add_argument("--work", required=True, type=Path, help="folder that is kept")
    options = parser.parse_args()
    data = Path(os.environ["MERESTONE_BENCH_DATA"]) / "eval" / "chroma"
    corpora = Corpora.read(data)
    options.work.mkdir(parents=True, exist_ok=True)
    embedder = CachedEmbedder(options.work / "embeddings.db")
    print(f"{'cutting':26} {'chunks':>6} {'recall':>7} {'prec.':>7} {'IoU':>7} {'omega':>7}")
    for name in options.cuttings or ROWS:
        rows = peer_rows(corpora, required_plugin("chunkers", name), "dense", embedder)
        scored = tuple(
            fmean(row[key] for row in rows)
            for key in ("top5 recall", "top5 precision", "top5 IoU", "omega")
        )
        chunks, found = measure(data, options.work, name)
        print(f"{name:26} {chunks:6} {_figures(found)}", flush=True)
        _print_other("scorer", scored, found)
        before = ROWS[name]
        if before:
            _print_other("measured before", before, found)


def _print_other(label: str, other: Sequence[float], found: Sequence[float]) -> None:
    far = max(abs(one - two) for one, two in zip(found, other, strict=True))
    print(f"  {label:31} {_figures(other)}   farthest {far:.3f}", flush=True)


def measure(data: Path, work: Path, strategy: str) -> tuple[int, tuple[float, ...]]:
    """Number of chunks, and recall, precision, IoU and omega."""
    root = work / strategy
    _prepare(data, root, strategy)
    questions = [
        Question(
            one.id,
            one.text,
            tuple(Evidence(document, start, end) for document, start, end in one.gold),
        )
        for one in chroma_questions(data)
    ]
    with Library.open(root) as library:
        library.sync()
        run = evaluate(library, questions, k=5, mode="dense", views=["search"])
        with library.snapshot() as snapshot:
            chunks = [
                (document, chunk.start, chunk.end)
                for document in snapshot.document_ids()
                for chunk in snapshot.chunks_of(document)
            ]
    omega = fmean(
        precision_omega([GoldSpan(*span) for span in one.gold], chunks)
        for one in chroma_questions(data)
    )
    return len(chunks), (*(run.measures[name].mean for name in MEASURES), omega)


def _prepare(data: Path, root: Path, strategy: str) -> None:
    """A folder with the corpora and settings, unless an earlier run made it."""
    if root.exists():
        return
    shutil.copytree(data / "corpora", root / "corpora")
    state = root / ".merestone"
    state.mkdir()
    for file in root.parent.glob("embeddings.db*"):
        shutil.copyfile(file, state / file.name)
    (root / "merestone.toml").write_text(CONFIGURATION.format(strategy=strategy))


def _figures(values: Sequence[float]) -> str:
    return " ".join(f"{value:7.3f}" for value in values)


if __name__ == "__main__":
    main()
