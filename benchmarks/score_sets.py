"""Score retrieval on evaluation sets with gold spans.

    python benchmarks/score_sets.py SET... [--mode hybrid] [--work DIR] [--strategy auto]

A SET is a folder with ``documents/`` and ``questions.jsonl``, or the name of one below
``$MERESTONE_BENCH_DATA/eval``. The set's documents are synchronised into a library below DIR, so
that a second run embeds nothing, and each question is asked of it as ``merestone search`` would.

Measures, in per cent, over all questions: *cut*, gold spans that no chunk holds whole, and those of
``scoring.measure``, by the words that ``gold.View`` counts.

Beside them stand the figures of two splitters with BM25, measured with the sets' own scorer:
R = RecursiveCharacterTextSplitter 1000/200 characters, S = SentenceSplitter 512/50 tokens.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from gold import Question, Span, View, located, question_rows
from scoring import measure

from merestone import Library
from merestone.retrieval.candidates import find_candidates
from merestone.types import Comparison, Snapshot

PEERS = {
    "code_py": "cut 41/14  complete@5 17/34  hit@5 37/43  GoldCoverage@1000w 29/32  IoU 5.4/6.9",
    "contracts_cuad": "cut 8/0  complete@5 25/48  hit@5 26/48  GoldCoverage@1000w 31/28  "
    "IoU 1.4/1.2",
    "contracts_nli": "cut 8/2  complete@5 82/95  hit@5 90/98  GoldCoverage@1000w 86/83  "
    "IoU 8.0/7.7",
    "faq_medquad": "cut 38/17  complete@5 32/53  hit@5 49/64  GoldCoverage@1000w 50/55  "
    "IoU 7.1/9.4",
    "fin_bench": "cut 70/45  complete@5 8/11  hit@5 32/34  GoldCoverage@1000w 21/25  IoU 6.1/8.2",
    "fin_tatqa": "cut 1/0  complete@5 97/99  hit@5 98/99  GoldCoverage@1000w 98/99  IoU 3.3/3.3",
    "id_node": "cut 33/27  complete@5 49/61  hit@5 79/85  GoldCoverage@1000w 66/71  IoU 12.0/12.3",
    "id_postgres": "cut 26/14  complete@5 49/70  hit@5 75/84  GoldCoverage@1000w 71/73  "
    "IoU 7.9/8.6",
    "sci_evinf": "cut 0/2  complete@5 59/81  hit@5 60/81  GoldCoverage@1000w 70/61  IoU 3.7/2.8",
    "tech_man": "cut 9/6  complete@5 69/79  hit@5 72/84  GoldCoverage@1000w 71/72  IoU 3.6/3.8",
    "tech_pydocs": "cut 50/34  complete@5 6/12  hit@5 20/25  GoldCoverage@1000w 15/13  IoU 2.8/2.9",
}
"""Sets that are near their ceiling for every system have no row."""

_DEPTH = 100


def cut_share(questions: Sequence[Question], snapshot: Snapshot) -> float:
    """Share of gold spans that no chunk holds whole."""
    gold = {span for question in questions for span in question.gold}
    chunks = {name: snapshot.chunks_of(name) for name, _, _ in gold}
    whole = sum(
        any(chunk.start <= start and end <= chunk.end for chunk in chunks[name])
        for name, start, end in gold
    )
    return 1 - whole / max(1, len(gold))


def score(folder: Path, work: Path, modes: list[str], chunking: dict[str, object]) -> None:
    work.mkdir(parents=True, exist_ok=True)
    source = json.dumps(str(folder / "documents"))
    (work / "merestone.toml").write_text(f"[[sources]]\npath = {source}\n", "utf-8")
    with Library.open(work, chunking=chunking) as library:
        report = library.sync(allow_deletions=True)
        status = library.status()
        print(
            f"\n{folder.name}: {dict(status.documents)} documents, {status.chunks} chunks, "
            f"{report.embedded} embedded now"
        )
        with library.snapshot() as snapshot:
            views = dict(read_views(snapshot))
            questions = list(located(question_rows(folder / "questions.jsonl"), views.get))
            print(f"  {len(questions)} questions, cut {100 * cut_share(questions, snapshot):.1f}")
            for mode in modes:
                rows = [
                    measure(question, ranked(library, snapshot, question, mode), views)
                    for question in questions
                ]
                figures = "  ".join(
                    f"{name} {100 * mean(row[name] for row in rows):.1f}" for name in rows[0]
                )
                print(f"  {mode:8} {figures}")
    print(f"  BM25 R/S {PEERS.get(folder.name, 'no row: near its ceiling')}")


def read_views(snapshot: Snapshot) -> Iterator[tuple[str, View]]:
    """The library's documents that have text, by id."""
    for record in snapshot.records():
        document = snapshot.document(record.id)
        if document is not None:
            yield record.id, View(document)


def ranked(library: Library, snapshot: Snapshot, question: Question, mode: str) -> list[Span]:
    """The places of the chunks, in the order in which ``search`` returns them."""
    where = Comparison("document", "in", question.scope) if question.scope else None
    found = find_candidates(
        snapshot,
        library.embedder,
        question.text,
        _DEPTH,
        mode,  # type: ignore[arg-type]
        where,
        library.settings.retrieval,
    )
    chunks = snapshot.by_number([item.number for item in found.ranked])
    places = [chunks[item.number] for item in found.ranked]
    return [(chunk.document, chunk.start, chunk.end) for chunk in places]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--mode", action="append", choices=["hybrid", "dense", "lexical"])
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--overlap-tokens", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("build") / "score_sets")
    args = parser.parse_args()
    shared = os.environ.get("MERESTONE_BENCH_DATA")
    chunking = {
        "strategy": args.strategy,
        "max_tokens": args.max_tokens,
        "overlap_tokens": args.overlap_tokens,
    }
    for name in args.sets:
        folder = Path(name)
        if not folder.is_dir():
            if not shared:
                parser.error(f"{name} is not a folder, and MERESTONE_BENCH_DATA is not set")
            folder = Path(shared) / "eval" / name
        suffix = f"-{args.strategy}-{args.max_tokens or 'default'}-{args.overlap_tokens}"
        modes = args.mode or ["hybrid", "dense", "lexical"]
        score(folder.absolute(), args.work.absolute() / (folder.name + suffix), modes, chunking)


if __name__ == "__main__":
    main()
