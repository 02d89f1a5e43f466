"""Late chunking beside plain vectors, on sets with gold spans.

    python benchmarks/late_chunking.py [--sets chroma,tech_man,...] [--whole] [--mode dense]
        [--work DIR] [--json FILE]

Late chunking (Guenther et al. 2024, arXiv 2409.04701) runs the model over a long stretch of the
document and pools each chunk's vector from its own tokens, so that it knows what stands around it.
The bundled model is mean-pooled and reads 256 tokens: longer documents go in by overlapping
windows, and there is little around a chunk that a window holds besides. ``plain+late`` is the
mean of both vectors.

For each set and each ``embedding.mode``: recall of the best five chunks, and recall and complete at
500 and 1000 words or tokens, as ``retrieval.py`` has them, ``dense`` by default, since only that
side changes; paired differences to plain with 95 % intervals over questions. Documents and
questions are those of ``small.json`` unless ``--whole`` is given; ``chroma`` is always whole.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from gold import set_names
from retrieval import VARIANTS, Row, open_set
from scoring import difference

MODES = ("plain", "late", "plain+late")
_COLUMNS = ("top5 recall", "recall@500", "complete@500", "recall@1000", "complete@1000")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", help="names, by commas; all by default")
    parser.add_argument("--whole", action="store_true", help="whole sets")
    parser.add_argument("--mode", default="dense", choices=["dense", "hybrid"])
    parser.add_argument("--work", type=Path, default=Path("build") / "late")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    found: dict[str, dict[str, list[Row]]] = {}
    for name in options.sets.split(",") if options.sets else ["chroma", *set_names()]:
        small = not options.whole and name != "chroma"
        found[name] = {mode: _rows(name, mode, small, options.mode, options.work) for mode in MODES}
        _print(found[name])
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(f"\nMean of {len(found)} sets, less plain, in points")
    _print_differences(list(found.values()))


def _rows(name: str, embedding: str, small: bool, mode: str, work: Path) -> list[Row]:
    folder = work / embedding.replace("+", "-")
    lines = ["[embedding]", f'mode = "{embedding}"']
    with open_set(name, folder, small, settings=lines) as asked:
        return asked.rows(asked.candidates(mode), VARIANTS["default"])


def _print(modes: dict[str, list[Row]]) -> None:
    print(f"  {'':12}" + "".join(f"{column:>15}" for column in _COLUMNS))
    for mode, rows in modes.items():
        means = (100 * fmean(row[column] for row in rows) for column in _COLUMNS)
        print(f"  {mode:12}" + "".join(f"{value:15.1f}" for value in means))
    print("  less plain, in points")
    _print_differences([modes])


def _print_differences(sets: Sequence[dict[str, list[Row]]]) -> None:
    for mode in MODES[1:]:
        told = []
        for column in _COLUMNS:
            pairs = [
                [
                    one[column] - other[column]
                    for one, other in zip(modes[mode], modes["plain"], strict=True)
                ]
                for modes in sets
            ]
            told.append(f"{column} {difference(pairs)!s}")
        print(f"  {mode:12} {'  '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
