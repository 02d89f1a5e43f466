"""Fit the numbers of ``retrieval/relevance.py`` and say how good they are.

    python benchmarks/relevance.py --small --out hybrid.jsonl
    python benchmarks/relevance.py --small --mode lexical --model hashing --out lexical.jsonl
    python tools/fit_relevance.py hybrid.jsonl lexical.jsonl
    python tools/fit_relevance.py --shipped other.jsonl    the shipped numbers on other data

Each set counts the same, half of it questions with an answer. Figures are of leaving one set out:
numbers fitted on all others, judged on it. Printed last are the numbers fitted on all.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merestone.evaluation.calibration.logistic import Floats, fit_logistic, sigmoid
from merestone.evaluation.statistics.intervals import mean_interval
from merestone.evaluation.statistics.probabilities import area, goodness, reliability
from merestone.retrieval.relevance import ANSWERED_FROM, BY_BOTH, BY_WORDS, NOTHING_BELOW

_SHARES = {"answerable": 0.5, "domain": 0.35, "foreign": 0.15}


@dataclass
class Data:
    """Hits of one set of questions, a row each."""

    features: Floats
    holds: NDArray[np.bool_]
    weights: Floats
    question: NDArray[np.int64]
    kinds: list[str]
    """Of each question."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--shipped", action="store_true", help="fit nothing")
    args = parser.parse_args()
    rows = [
        json.loads(line) for file in args.files for line in file.read_text("utf-8").splitlines()
    ]
    for basis, columns in (("both", 3), ("words", 2)):
        of_basis: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            # The few questions that hybrid sets asked by words alone are too few to be a set.
            if row["basis"] == basis:
                of_basis[row["set"]].append(row)
        sets = {
            name: _data(found, columns)
            for name, found in sorted(of_basis.items())
            if sum(row["kind"] == "answerable" for row in found) >= 20
        }
        if len(sets) > 1 or (sets and args.shipped):
            shipped = np.array((BY_BOTH if basis == "both" else BY_WORDS)[: columns + 1])
            _report(basis, sets, shipped if args.shipped else None)


def _data(rows: Sequence[Mapping[str, Any]], columns: int) -> Data:
    counts = {kind: sum(row["kind"] == kind for row in rows) for kind in _SHARES}
    shares = dict(_SHARES)
    if not counts["domain"]:
        shares["foreign"] = shares["foreign"] + shares["domain"]
    features, holds, weights, question = [], [], [], []
    for number, row in enumerate(rows):
        for hit in row["hits"]:
            features.append([value or 0.0 for value in hit["signals"][:columns]])
            holds.append(hit["holds"])
            weights.append(shares[row["kind"]] / counts[row["kind"]])
            question.append(number)
    return Data(
        np.array(features),
        np.array(holds, bool),
        np.array(weights) / sum(weights),
        np.array(question),
        [row["kind"] for row in rows],
    )


def _report(basis: str, sets: Mapping[str, Data], shipped: Floats | None) -> None:
    print(f"\n## {basis}\n")
    print(
        "| set | hits | AUC | ECE | Brier | answerable: nothing | with the answer found | "
        "domain: nothing | foreign: nothing | answered: answerable, domain, foreign |"
    )
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    every: list[tuple[Floats, NDArray[np.bool_], Floats]] = []
    pooled: defaultdict[str, list[float]] = defaultdict(list)
    by_threshold: defaultdict[float, defaultdict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for name, data in sets.items():
        others = [other for key, other in sets.items() if key != name]
        chances = _chances(_fitted(others) if shipped is None else shipped, data)
        every.append((chances, data.holds, data.weights))
        good = goodness(chances, data.holds, data.weights)
        best, found = _by_question(chances, data)
        kinds = np.array(data.kinds)
        cells, answered = [], []
        for kind in ("answerable", "found", "domain", "foreign"):
            chosen = (kinds == "answerable") & found if kind == "found" else kinds == kind
            values = best[chosen]
            cells.append(_share(values < NOTHING_BELOW))
            if kind != "found" and len(values):
                answered.append(f"{100 * float((values >= ANSWERED_FROM).mean()):.0f}")
                for threshold in (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
                    share = float((values < threshold).mean())
                    by_threshold[threshold][kind].append(share)
            if len(values):
                pooled[kind].append(float((values < NOTHING_BELOW).mean()))
        is_answerable = kinds == "answerable"
        pooled["auc"].append(area(best, is_answerable))
        print(
            f"| {name} | {good.count} | {good.auc:.3f} | {good.ece:.3f} | {good.brier:.3f} | "
            + " | ".join(cells)
            + f" | {', '.join(answered)} |"
        )
    chances = np.concatenate([each[0] for each in every])
    holds = np.concatenate([each[1] for each in every])
    weights = np.concatenate([each[2] for each in every])
    good = goodness(chances, holds, weights)
    means = [
        f"{100 * float(np.mean(pooled[k])):.0f}" if pooled[k] else ""
        for k in ("answerable", "found", "domain", "foreign")
    ]
    print(
        f"| mean | {good.count} | {good.auc:.3f} | {good.ece:.3f} | {good.brier:.3f} | "
        + " | ".join(means)
        + " | |"
    )
    print(
        f"\nQuestions with an answer against those without, by the best hit: AUC "
        f"{float(np.mean(pooled['auc'])):.3f} (mean of sets)\n"
    )
    print("| relevance | true | share of hits |\n| --: | --: | --: |")
    for given, true, size in reliability(chances, holds, weights):
        print(f"| {given:.2f} | {true:.2f} | {size:.3f} |")
    print("\n| best hit below | answerable | domain | foreign |\n| --: | --: | --: | --: |")
    for threshold, shares in by_threshold.items():
        cells = [f"{100 * float(np.mean(shares[kind])):.0f}" for kind in _SHARES if shares[kind]]
        print(f"| {threshold:.2f} | {' | '.join(cells)} |")
    if shipped is not None:
        return
    fitted = _fitted(list(sets.values()))
    print(f"\nFitted on all: {', '.join(f'{value:.2f}' for value in fitted)}")


def _fitted(sets: Sequence[Data]) -> Floats:
    return fit_logistic(
        np.concatenate([data.features for data in sets]),
        np.concatenate([data.holds for data in sets]),
        np.concatenate([data.weights for data in sets]),
        ridge=1e-4,
    )


def _chances(values: Floats, data: Data) -> Floats:
    return sigmoid(values[0] + data.features @ values[1:])


def _by_question(chances: Floats, data: Data) -> tuple[Floats, NDArray[np.bool_]]:
    """The best relevance of each question, and whether any of its hits holds the answer. Without
    hits the relevance is 0."""
    best = np.zeros(len(data.kinds))
    found = np.zeros(len(data.kinds), bool)
    np.maximum.at(best, data.question, chances)
    np.logical_or.at(found, data.question, data.holds)
    return best, found


def _share(is_so: NDArray[np.bool_]) -> str:
    """In per cent with its 95 % interval."""
    if not len(is_so):
        return "–"
    share = mean_interval(is_so.astype(float).tolist())
    return f"{100 * share.mean:.0f} [{100 * share.low:.0f}, {100 * share.high:.0f}]"


if __name__ == "__main__":
    main()
