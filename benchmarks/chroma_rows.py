"""Rows of Chroma's chunking benchmark, by Merestone's own ``evaluate``.

    pip install benchmarks/plugins
    python benchmarks/chroma_rows.py --work FOLDER [CUTTING...]

The peers' cuttings are plugins; the five corpora of ``eval/chroma`` in the folder that
``MERESTONE_BENCH_DATA`` names stand in one library for each cutting, embedded by the bundled
model, searched by meaning alone, without focus and collapse, at five passages. Libraries and the
cache of vectors are kept in FOLDER, so that a second run takes seconds.

Printed beside the figures of an independent scorer, where it has some: recall (GoldCoverage@5),
precision, IoU, omega.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from chroma import chroma_questions

from merestone import Library
from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.measures.spans import precision_omega
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.runs.evaluating import evaluate

MEASURES = ("GoldCoverage@5", "Precision@5", "IoU@5")

ROWS: Mapping[str, tuple[float, float, float, float] | None] = {
    "recursive-200": (0.756, 0.062, 0.062, 0.299),
    "recursive-400": (0.740, 0.032, 0.032, 0.177),
    "recursive-400-200": (0.798, 0.031, 0.031, 0.139),
    "cluster-200": (0.755, 0.072, 0.071, 0.336),
    "window-200": None,
}
"""By cutting, what an independent scorer measured."""

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
    print(f"{'cutting':18} {'chunks':>6} {'recall':>7} {'prec.':>7} {'IoU':>7} {'omega':>7}")
    for name in options.cuttings or ROWS:
        chunks, found = measure(data, options.work, name)
        print(f"{name:18} {chunks:6} {_figures(found)}", flush=True)
        expected = ROWS[name]
        if expected:
            far = max(abs(one - other) for one, other in zip(found, expected, strict=True))
            print(f"{'  independent':25} {_figures(expected)}   farthest {far:.3f}", flush=True)


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
    (root / "merestone.toml").write_text(CONFIGURATION.format(strategy=strategy))


def _figures(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:7.3f}" for value in values)


if __name__ == "__main__":
    main()
