"""What cutting does to retrieval, at a budget of 1000 words.

    python benchmarks/cutting_retrieval.py [--sets NAME,...] [--retrievers bm25,dense,hybrid]
        [--configs auto,R,S] [--small] [--ablation] [--json FILE]

Every cutting is searched by the same retriever (``searching.py``) and scored on the same gold
spans (``scoring.py``). Cuttings are those of ``cuttings.py``: ``auto`` is Merestone's default, R
and S are peers, and ``--define NAME={...}`` adds one by JSON of chunking settings. Printed are,
for each set, the cost and the measures of each cutting, and the paired differences of the first
to each other one with 95 % intervals over questions; at the end the mean over sets.

``--ablation`` compares the default with variants of it, one variable at a time: what each part
adds (a variant without it is behind) or costs. ``--small`` takes the documents and questions of
``small.json``, for runs with the embedder; a variant that embeds sentences in order to cut needs
it. Vectors are kept below ``--work``, so that an interrupted run goes on where it was.

Columns: *chunks*; *k tok*, thousand tokens of distinct embedder inputs; *k post*, thousand postings
of the lexical index; *twice*, the share of the words of all chunks that another chunk has too;
*long*, inputs that the embedder truncates; *cut*, gold spans that no chunk holds whole, whether
they could fit or not. Recall is GoldCoverage, complete is FullGold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean

from cuttings import CONFIGS, DEFAULT, PEERS, VARIANTS, Passage, cutting_of, tokenizer
from gold import GoldSet, load_set, set_names
from scoring import Difference, Measures, difference, measure
from searching import RETRIEVERS, CachedEmbedder, Index

from merestone.types import JSON

COMPARED = ("GoldCoverage@1000w", "FullGold@1000w", "IoU@1000w", "complete@5", "hit@5")


@dataclass(frozen=True)
class Cost:
    """What a cutting makes of a set."""

    chunks: int
    tokens: int
    postings: int
    twice: float
    long: int
    cut: float


@dataclass
class Result:
    """One cutting of one set."""

    cost: Cost
    rows: dict[str, list[Measures]] = field(default_factory=dict)
    """By retriever, in the order of the set's questions."""

    def mean(self, retriever: str, name: str) -> float:
        return mean(row[name] for row in self.rows[retriever])


class Comparison:
    """All cuttings of all sets."""

    def __init__(self, configs: Mapping[str, Mapping[str, JSON]], retrievers: Sequence[str]):
        self.configs = configs
        self.retrievers = retrievers
        self.results: dict[str, dict[str, Result]] = {}
        """By set, then by cutting."""

    def add(self, gold_set: GoldSet, embedder: CachedEmbedder) -> None:
        self.results[gold_set.name] = {
            name: self._result(gold_set, name, values, embedder)
            for name, values in self.configs.items()
        }

    def _result(
        self, gold_set: GoldSet, name: str, values: Mapping[str, JSON], embedder: CachedEmbedder
    ) -> Result:
        cutting = cutting_of(name, values, embedder)
        passages = [p for view in gold_set.views.values() for p in cutting(view.document)]
        index = Index(passages, embedder)
        spans = [(p.document, p.start, p.end) for p in passages]
        result = Result(_cost(gold_set, passages, index))
        for retriever in self.retrievers:
            found = index.search(gold_set.questions, retriever)
            result.rows[retriever] = [
                measure(question, [spans[i] for i in ranked], gold_set.views)
                for question, ranked in zip(gold_set.questions, found, strict=True)
            ]
        return result

    def differences(
        self, first: str, second: str, retriever: str, sets: Sequence[str] | None = None
    ) -> dict[str, Difference]:
        """``first`` less ``second``, by measure."""
        found = {}
        for name in COMPARED:
            pairs = [
                [
                    one[name] - other[name]
                    for one, other in zip(
                        results[first].rows[retriever],
                        results[second].rows[retriever],
                        strict=True,
                    )
                ]
                for results in (self.results[each] for each in sets or self.results)
            ]
            found[name] = difference(pairs)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", help="names, by commas; all by default")
    parser.add_argument("--configs", help=f"names, by commas, of {', '.join(CONFIGS)}")
    parser.add_argument("--define", action="append", default=[], metavar="NAME=JSON")
    parser.add_argument("--retrievers", default="bm25", help=f"of {', '.join(RETRIEVERS)}")
    parser.add_argument("--small", action="store_true", help="the part that small.json names")
    parser.add_argument("--ablation", action="store_true", help="variants of the default")
    parser.add_argument("--work", type=Path, default=Path("build") / "gold")
    parser.add_argument("--fresh", action="store_true", help="read the documents again")
    parser.add_argument("--json", type=Path, help="file for the figures")
    args = parser.parse_args()
    configs = _configs(parser, args)
    comparison = Comparison(configs, args.retrievers.split(","))
    args.work.mkdir(parents=True, exist_ok=True)
    embedder = CachedEmbedder(args.work / "embeddings.db")
    for name in args.sets.split(",") if args.sets else set_names():
        gold_set = load_set(name, args.work, small=args.small, fresh=args.fresh)
        print(f"\n{gold_set.losses}", end="")
        if not gold_set.questions:
            continue
        comparison.add(gold_set, embedder)
        print(
            f"{name}: {len(gold_set.views)} documents, {len(gold_set.questions)} questions of "
            f"{gold_set.asked}",
            flush=True,
        )
        _print_results(comparison, name)
        _print_differences(comparison, [name], args.ablation)
        if args.json:
            args.json.write_text(json.dumps(_figures(comparison), indent=1) + "\n", "utf-8")
    print(f"\nMean of {len(comparison.results)} sets")
    _print_differences(comparison, list(comparison.results), args.ablation)
    if args.ablation:
        _print_costs(comparison)


def _configs(
    parser: argparse.ArgumentParser, args: argparse.Namespace
) -> dict[str, Mapping[str, JSON]]:
    """The cuttings to compare, the one that the others are held against first."""
    defined = dict(item.split("=", 1) for item in args.define)
    known = {**CONFIGS, **VARIANTS, **{name: json.loads(text) for name, text in defined.items()}}
    names = [DEFAULT, *(VARIANTS if args.ablation else PEERS)]
    if args.configs:
        names = args.configs.split(",")
    names = list(dict.fromkeys([*names, *defined]))
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no configuration {', '.join(unknown)}; known: {', '.join(known)}")
    if not args.small:
        heavy = [name for name in names if _embeds(known[name])]
        names = [name for name in names if name not in heavy]
        if heavy:
            print(f"Left out, since they embed every sentence, without --small: {heavy}")
    return {name: known[name] for name in names}


def _embeds(values: Mapping[str, JSON]) -> bool:
    return bool(values.get("semantic_weight")) or values.get("strategy") == "semantic"


def _cost(gold_set: GoldSet, passages: Sequence[Passage], index: Index) -> Cost:
    inputs = list({passage.input for passage in passages})
    special = tokenizer().special_tokens
    counts = [count + special for count in tokenizer().counts(inputs)]
    seen: set[tuple[str, int]] = set()
    words = 0
    ranges: dict[str, list[Passage]] = {}
    for passage in passages:
        ranges.setdefault(passage.document, []).append(passage)
        held = gold_set.views[passage.document].words(passage.start, passage.end)
        words += len(held)
        seen.update((passage.document, word) for word in held)
    cut = [
        not any(p.start <= start and end <= p.end for p in ranges.get(name, []))
        for name, start, end in gold_set.gold
    ]
    return Cost(
        chunks=len(passages),
        tokens=sum(counts),
        postings=index.postings,
        twice=1 - len(seen) / max(1, words),
        long=sum(count > _MODEL_TOKENS for count in counts),
        cut=mean(cut),
    )


_MODEL_TOKENS = 256


def _print_results(comparison: Comparison, name: str) -> None:
    print(
        f"  {'cutting':18} {'chunks':>7} {'k tok':>7} {'k post':>7} {'twice':>6} {'long':>6} "
        f"{'cut':>5}   retriever  recall@1000w  complete@1000w  IoU@1000w  complete@5  hit@5"
    )
    for config, result in comparison.results[name].items():
        cost = result.cost
        head = (
            f"{config:18} {cost.chunks:>7} {cost.tokens / 1000:>7.0f} {cost.postings / 1000:>7.0f} "
            f"{100 * cost.twice:>5.1f}% {cost.long:>6} {100 * cost.cut:>5.1f}"
        )
        for retriever in comparison.retrievers:
            means = [100 * result.mean(retriever, measured) for measured in COMPARED]
            print(
                f"  {head}   {retriever:9}  {means[0]:>12.1f}  {means[1]:>14.1f}  "
                f"{means[2]:>9.1f}  {means[3]:>10.1f}  {means[4]:>5.1f}"
            )
            head = " " * len(head)


def _print_differences(comparison: Comparison, sets: Sequence[str], ablation: bool) -> None:
    """The first cutting less each other one; for variants the other way round."""
    base, *others = comparison.configs
    for other in others:
        first, second = (other, base) if ablation else (base, other)
        label = other if ablation else f"{first} - {second}"
        for retriever in comparison.retrievers:
            found = comparison.differences(first, second, retriever, sets)
            recall, complete, iou, *_ = found.values()
            print(
                f"  {label:22} {retriever:7} recall {recall!s:24} {recall.verdict:6}  "
                f"complete {complete!s:24} {complete.verdict:6}  IoU {iou!s:22} {iou.verdict}"
            )


def _print_costs(comparison: Comparison) -> None:
    """What each cutting costs over all sets, by the first."""
    print(f"\nCosts over all sets; {next(iter(comparison.configs))} = 1")
    totals = {
        config: [results[config].cost for results in comparison.results.values()]
        for config in comparison.configs
    }
    base = next(iter(totals.values()))
    for config, costs in totals.items():
        ratios = [
            sum(getattr(cost, name) for cost in costs) / sum(getattr(cost, name) for cost in base)
            for name in ("chunks", "tokens", "postings")
        ]
        print(
            f"  {config:22} chunks {ratios[0]:5.2f}  tokens {ratios[1]:5.2f}  "
            f"postings {ratios[2]:5.2f}  twice {100 * mean(c.twice for c in costs):5.1f}%  "
            f"cut {100 * mean(c.cut for c in costs):5.1f}%"
        )


def _figures(comparison: Comparison) -> JSON:
    base, *others = comparison.configs
    return {
        "base": base,
        "configs": dict(comparison.configs),
        "sets": {
            name: {
                config: {
                    "cost": asdict(result.cost),
                    "means": {
                        retriever: {
                            measured: mean(row[measured] for row in rows) for measured in rows[0]
                        }
                        for retriever, rows in result.rows.items()
                    },
                }
                for config, result in results.items()
            }
            for name, results in comparison.results.items()
        },
        "base_less_other": {
            name: {
                other: {
                    retriever: {
                        measured: asdict(found)
                        for measured, found in comparison.differences(
                            base, other, retriever, sets
                        ).items()
                    }
                    for retriever in comparison.retrievers
                }
                for other in others
            }
            for name, sets in [
                *((name, [name]) for name in comparison.results),
                ("mean of sets", list(comparison.results)),
            ]
        },
    }


if __name__ == "__main__":
    main()
