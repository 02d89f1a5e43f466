"""The default of Merestone beside other systems, on Chroma's chunking benchmark.

    pip install benchmarks/plugins bm25s
    python benchmarks/chroma_table.py --work FOLDER [--json FILE] [ROW...]

All by the benchmark's own protocol, on its five corpora and 472 questions, with the bundled
embedder and exact search; measures are ``chroma.py``'s, in characters. A peer's row is a cutting
(``plugins/peer_chunkers.py``) and a retriever (``searching.py``): its best 5 chunks, and its chunks
in rank order up to 500, 1000 and 2000 tokens of cl100k, the last one cut at the budget. Merestone's
are what it serves by default, ``hybrid`` with all stages:

- *search*: the best 5 chunks of ``search``
- *5 passages*: the first 5 passages of ``context``
- *precise*: the precise form of ``context``, which ends by score

At a budget it is ``context``, whose passages never exceed it; text alone is counted, as for the
peers. Below the table are the paired differences, Merestone less each row, with 95 % intervals over
questions. Vectors are kept in FOLDER.
"""

from __future__ import annotations

import argparse
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

import peer_chunkers
from chroma import chroma_measures, chroma_questions
from cuttings import Passage
from gold import Question, Span, data_folder
from retrieval import BUDGETS, VARIANTS, Row, open_set
from scoring import Difference, difference
from searching import CachedEmbedder, Index

from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.measures.spans import precision_omega
from merestone.text.tokenizer_names import tokenizer_named
from merestone.types import Edge

ROWS: Mapping[str, tuple[peer_chunkers.PeerChunker, str]] = {
    "recursive 400/200": (peer_chunkers.RECURSIVE_400_200, "dense"),
    "recursive 400": (peer_chunkers.RECURSIVE_400, "dense"),
    "recursive 200": (peer_chunkers.RECURSIVE_200, "dense"),
    "recursive 250/125, MiniLM tokens": (peer_chunkers.RECURSIVE_MINILM_250_125, "dense"),
    "recursive 250, MiniLM tokens": (peer_chunkers.RECURSIVE_MINILM_250, "dense"),
    "like ClusterSemantic 200": (peer_chunkers.CLUSTER_200, "dense"),
    "like ClusterSemantic 250": (peer_chunkers.CLUSTER_250, "dense"),
    "SentenceSplitter 200": (peer_chunkers.SENTENCES_200, "dense"),
    "chonkie recursive 200": (peer_chunkers.CHONKIE_200, "dense"),
    "semantic-text-splitter 200": (peer_chunkers.SEMANTIC_TEXT_200, "dense"),
    "windows 200": (peer_chunkers.WINDOW_200, "dense"),
    "BM25, recursive 200": (peer_chunkers.RECURSIVE_200, "bm25"),
    "hybrid, recursive 200": (peer_chunkers.RECURSIVE_200, "hybrid"),
}

_FORMS = {"search": "top5", "5 passages": "first5", "precise": "precise"}
"""Merestone's answers of about five passages, by the names of ``retrieval.py``'s columns."""
_EDGE = Edge("unknown", 0.0)


@dataclass(frozen=True)
class Corpora:
    """The five texts, their tokens and what is asked of them."""

    texts: Mapping[str, str]
    questions: Sequence[Question]

    @classmethod
    def read(cls, folder: Path) -> Corpora:
        files = sorted((folder / "corpora").glob("*.md"))
        texts = {file.name: file.read_bytes().decode("utf-8") for file in files}
        return cls(texts, chroma_questions(folder))

    @cached_property
    def _starts(self) -> Mapping[str, Sequence[int]]:
        tokenizer = tokenizer_named("cl100k_base")
        return {name: tokenizer.starts(text) for name, text in self.texts.items()}

    def within(self, ranked: Sequence[Span], budget: int) -> list[Span]:
        """The first ``budget`` tokens of ranked passages; what comes twice counts twice."""
        taken = []
        for document, start, end in ranked:
            starts = self._starts[document]
            first = bisect_left(starts, start)
            last = bisect_left(starts, end)
            if last - first >= budget:
                cut = starts[first + budget] if first + budget < len(starts) else end
                return [*taken, (document, start, min(end, cut))]
            taken.append((document, start, end))
            budget -= last - first
        return taken


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="; ".join(ROWS))
    parser.add_argument("--work", required=True, type=Path, help="folder that is kept")
    parser.add_argument("--cache", type=Path, help="embeddings.db of another run")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    unknown = set(options.rows) - set(ROWS)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}")
    options.work.mkdir(parents=True, exist_ok=True)
    embedder = CachedEmbedder(options.work / "embeddings.db")
    corpora = Corpora.read(data_folder() / "chroma")
    with open_set("chroma", options.work, cache=options.cache) as asked:
        own = asked.rows(asked.candidates("hybrid"), VARIANTS["default"])
    _print_head()
    for form, column in _FORMS.items():
        _print_row(f"Merestone, {form}", own, column)
    peers: dict[str, list[Row]] = {}
    for name in options.rows or ROWS:
        peers[name] = peer_rows(corpora, *ROWS[name], embedder)
        _print_row(name, peers[name], "top5")
    _print_differences(own, peers)
    if options.json:
        options.json.write_text(json.dumps({"Merestone": own, **peers}, indent=1) + "\n", "utf-8")


def peer_rows(
    corpora: Corpora, chunker: peer_chunkers.PeerChunker, retriever: str, embedder: CachedEmbedder
) -> list[Row]:
    """The measures of each question, without any of Merestone's stages."""
    spans = [
        (name, start, end)
        for name, text in corpora.texts.items()
        for start, end in chunker.spans(text, embedder)
    ]
    passages = [
        Passage(name, start, end, corpora.texts[name][start:end], _EDGE)
        for name, start, end in spans
    ]
    found = Index(passages, embedder).search(corpora.questions, retriever)
    rows = []
    for question, numbers in zip(corpora.questions, found, strict=True):
        ranked = [spans[number] for number in numbers]
        best = chroma_measures(question, ranked[:5])
        row = {f"top5 {name}": float(value) for name, value in best.items()}
        row["omega"] = precision_omega([GoldSpan(*span) for span in question.gold], spans)
        for budget in BUDGETS:
            scored = chroma_measures(question, corpora.within(ranked, budget))
            row[f"recall@{budget}"] = scored["recall"]
            row[f"complete@{budget}"] = float(scored["complete"])
        rows.append(row)
    return rows


def _print_head() -> None:
    budgets = " ".join(f"{budget:>13}" for budget in BUDGETS)
    print(
        f"{'':34} {'5 passages: recall':>18} {'prec.':>6} {'IoU':>6} {'omega':>6} {budgets}\n"
        f"{'':75}{'  recall/complete within so many tokens':>42}"
    )


def _print_row(name: str, rows: Sequence[Row], form: str) -> None:
    def figure(key: str) -> float:
        return fmean(row[key] for row in rows)

    omega = f"{figure('omega'):6.3f}" if "omega" in rows[0] else f"{'-':>6}"
    budgets = " ".join(
        f"{figure(f'recall@{budget}'):7.3f}/{figure(f'complete@{budget}'):.3f}"
        for budget in BUDGETS
    )
    print(
        f"{name:34} {figure(f'{form} recall'):18.3f} {figure(f'{form} precision'):6.3f} "
        f"{figure(f'{form} IoU'):6.3f} {omega} {budgets}",
        flush=True,
    )


def _print_differences(own: Sequence[Row], peers: Mapping[str, Sequence[Row]]) -> None:
    """Merestone's columns less a row's; ``+`` and ``-`` mark intervals that exclude zero."""
    blocks = (
        {
            "search: recall": ("top5 recall", "top5 recall"),
            "IoU": ("top5 IoU", "top5 IoU"),
            "precise: recall": ("precise recall", "top5 recall"),
            "IoU ": ("precise IoU", "top5 IoU"),
        },
        {
            **{f"recall at {budget}": (f"recall@{budget}",) * 2 for budget in BUDGETS},
            "complete at 1000": ("complete@1000", "complete@1000"),
        },
    )
    print("\nMerestone less each row, in points")
    for block in blocks:
        print("".join([f"{'':34}", *(f"{label:>22}" for label in block)]).rstrip())
        for name, rows in peers.items():
            told = [
                _told(
                    difference(
                        [[one[mine] - two[theirs] for one, two in zip(own, rows, strict=True)]]
                    )
                )
                for mine, theirs in block.values()
            ]
            print("".join([f"{name:34}", *(f"{each:>22}" for each in told)]), flush=True)


def _told(found: Difference) -> str:
    return str(found) + {"ahead": "+", "behind": "-", "level": " "}[found.verdict]


if __name__ == "__main__":
    main()
