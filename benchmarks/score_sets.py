"""Score retrieval on evaluation sets with gold spans.

    python benchmarks/score_sets.py SET... [--mode hybrid] [--work DIR] [--strategy structure]

A SET is a folder with ``documents/`` and ``questions.jsonl``, or the name of one below
``$MERESTONE_BENCH_DATA/eval``. The set's documents are synchronised into a library below DIR, so
that a second run embeds nothing, and each question is asked of it as ``merestone search`` would.

Measures, in per cent, over all questions. *Words* are counted as the sets' own scorer does: a CJK
character, a punctuation mark or a run of letters and digits is one.

- cut: gold spans that no chunk holds whole
- complete@5: some gold span lies whole in one of the first 5 chunks
- FullGold@5: as the set asks, all spans or any of them
- hit@5: some gold span is touched by one of the first 5 chunks
- GoldCoverage, IoU: share of gold words retrieved, and words in both by words in either, in the
  first 5 chunks and in the first 1000 words retrieved

Beside them stand the figures of two splitters with BM25, measured with the sets' own scorer:
R = RecursiveCharacterTextSplitter 1000/200 characters, S = SentenceSplitter 512/50 tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from statistics import mean

from merestone import Document, Library
from merestone.retrieval.candidates import find_candidates
from merestone.types import Chunk, Comparison, Snapshot, SourceSpan

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

_CJK = "぀-ヿ㐀-鿿가-힯"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_K, _WORDS, _DEPTH = 5, 1000, 100

Span = tuple[str, int, int]


@dataclass
class View:
    """A document as the library holds it, and where its words begin."""

    document: Document

    @cached_property
    def starts(self) -> list[int]:
        return [match.start() for match in _WORD.finditer(self.document.text)]

    def words(self, start: int, end: int) -> range:
        """Indexes of the words that begin in ``[start, end)``."""
        return range(bisect_left(self.starts, start), bisect_left(self.starts, end))

    def locate(self, item: dict[str, object]) -> tuple[int, int] | None:
        """The evidence in the document's text."""
        if item.get("page"):
            return self._on_page(str(item["quote"]), int(str(item["page"])))
        spans = self.document.segments.from_source(
            SourceSpan(int(str(item["start"])), int(str(item["end"])))
        )
        if not spans:
            return None
        # Furniture and notes stand behind the body; the evidence is its longest piece.
        start, end = max(spans, key=lambda span: span.end - span.start)
        text = self.document.text[start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def _on_page(self, quote: str, page: int) -> tuple[int, int] | None:
        """The best match of the quote's words among the words of its page."""
        found = [
            match
            for match in re.finditer(r"\w+", self.document.text)
            if page in self.document.pages_of(match.start(), match.end())
        ]
        wanted = [word.lower() for word in re.findall(r"\w+", quote)]
        matcher = SequenceMatcher(None, [m.group().lower() for m in found], wanted, autojunk=False)
        blocks = [b for b in matcher.get_matching_blocks() if b.size >= min(3, len(wanted))]
        if not blocks:
            return None
        first, last = blocks[0].a, blocks[-1].a + blocks[-1].size - 1
        return found[first].start(), found[last].end()


@dataclass
class Question:
    """A question with its gold in the coordinates of the library's texts."""

    text: str
    match: str
    scope: list[str]
    gold: list[Span] = field(default_factory=list)


class Scorer:
    """Scores rankings of chunks against gold spans."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._views: dict[str, View] = {}

    def view(self, name: str) -> View | None:
        if name not in self._views:
            document = self._snapshot.document(name)
            if document is None:
                return None
            self._views[name] = View(document)
        return self._views[name]

    def questions(self, path: Path) -> Iterator[Question]:
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            question = Question(
                row["question"], row.get("match", "all"), list(row.get("scope") or [])
            )
            for item in row["evidence"]:
                view = self.view(item["doc"])
                place = view.locate(item) if view else None
                if place:
                    question.gold.append((item["doc"], *place))
            if question.gold:
                yield question

    def cut(self, questions: list[Question]) -> float:
        """Share of gold spans that no chunk holds whole."""
        gold = {span for question in questions for span in question.gold}
        chunks: dict[str, list[Chunk]] = {}
        for name, _, _ in gold:
            if name not in chunks:
                chunks[name] = self._snapshot.chunks_of(name)
        whole = sum(
            any(chunk.start <= start and end <= chunk.end for chunk in chunks[name])
            for name, start, end in gold
        )
        return 1 - whole / max(1, len(gold))

    def measure(self, question: Question, chunks: list[Chunk]) -> dict[str, float]:
        top = chunks[:_K]
        inside = [
            any(c.document == name and c.start <= start and end <= c.end for c in top)
            for name, start, end in question.gold
        ]
        touched = any(
            c.document == name and c.start < end and start < c.end
            for name, start, end in question.gold
            for c in top
        )
        at_k = self._taken(top, None)
        at_words = self._taken(chunks, _WORDS)
        coverage_k, iou_k = self._shared(question, at_k)
        coverage_words, iou_words = self._shared(question, at_words)
        return {
            "complete@5": any(inside),
            "FullGold@5": all(inside) if question.match == "all" else any(inside),
            "hit@5": touched,
            "GoldCoverage@5": coverage_k,
            "IoU@5": iou_k,
            "GoldCoverage@1000w": coverage_words,
            "IoU@1000w": iou_words,
        }

    def _taken(self, chunks: list[Chunk], limit: int | None) -> set[tuple[str, int]]:
        """Words of the chunks, the first ``limit`` of them, counted as often as they come."""
        taken: set[tuple[str, int]] = set()
        left = limit
        for chunk in chunks:
            if left is not None and left <= 0:
                break
            view = self.view(chunk.document)
            assert view is not None
            words = view.words(chunk.start, chunk.end)
            words = words if left is None else words[:left]
            taken.update((chunk.document, word) for word in words)
            left = None if left is None else left - len(words)
        return taken

    def _shared(self, question: Question, taken: set[tuple[str, int]]) -> tuple[float, float]:
        groups = [[span] for span in question.gold] if question.match == "any" else [question.gold]
        scores = []
        for spans in groups:
            gold: set[tuple[str, int]] = set()
            for name, start, end in spans:
                view = self.view(name)
                assert view is not None
                gold.update((name, word) for word in view.words(start, end))
            both = len(gold & taken)
            scores.append((both / max(1, len(gold)), both / max(1, len(gold | taken))))
        return max(scores)


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
            scorer = Scorer(snapshot)
            questions = list(scorer.questions(folder / "questions.jsonl"))
            print(f"  {len(questions)} questions, cut {100 * scorer.cut(questions):.1f}")
            for mode in modes:
                rows = [
                    scorer.measure(question, ranked(library, snapshot, question, mode))
                    for question in questions
                ]
                figures = "  ".join(
                    f"{name} {100 * mean(row[name] for row in rows):.1f}" for name in rows[0]
                )
                print(f"  {mode:8} {figures}")
    print(f"  BM25 R/S {PEERS.get(folder.name, 'no row: near its ceiling')}")


def ranked(library: Library, snapshot: Snapshot, question: Question, mode: str) -> list[Chunk]:
    """The chunks in the order in which ``search`` returns them."""
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
    return [chunks[item.number] for item in found.ranked]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--mode", action="append", choices=["hybrid", "dense", "lexical"])
    parser.add_argument("--strategy", default="structure")
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
