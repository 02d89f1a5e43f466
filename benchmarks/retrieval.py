"""Each stage of retrieval on and off, on sets with gold spans.

    python benchmarks/retrieval.py [--sets chroma,id_node,...] [--variants default,no-focus,...]
        [--mode hybrid] [--small] [--cache FILE] [--work DIR] [--json FILE]

A set's documents are synchronised into a library below DIR, and each question goes through the
product's own stages: candidates, focus, collapse, expansion, packing. A variant is the default
with one setting changed, the default in another mode (*dense*, *lexical*, *hybrid*), or a peer's
cutting: *R* or *S* of ``cuttings.py``, ranked by ``searching.py`` in the mode and read from the
best chunk on until the budget is used up (not for ``chroma``: see ``chroma_table.py``). Printed
are its means, and the paired differences to the default with 95 % intervals over questions.

Columns: *precise*, what ``context`` gives in its precise form (recall, IoU, tokens); *500*, *1000*,
*2000*, recall within a budget of so many tokens and whether nothing is missing; *top 5*, recall of
the best five chunks, as ``search`` returns them. Budgets count text only, not citations; *cited*
is recall at 1000 with them. For ``chroma`` measures are in characters and tokens are cl100k's, as
its own protocol has them; for the other sets both are in the words of ``gold.View``.

``--small`` takes the documents and questions of ``small.json``. ``--cache`` takes vectors from an
embedding cache that another run left. ``--mode lexical`` asks no model anything.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import nan
from pathlib import Path
from statistics import mean

from chroma import chroma_measures, chroma_questions
from gold import Question, Span, View, data_folder, located, question_rows, set_names
from score_sets import read_views
from scoring import difference, measure_whole

from merestone import Library
from merestone.retrieval.candidates import Candidates, find_candidates
from merestone.retrieval.citation import CitedDocuments
from merestone.retrieval.expansion import expand
from merestone.retrieval.packing import Packing
from merestone.retrieval.passages import Passages
from merestone.retrieval.ranking import Ranking, arrange
from merestone.retrieval.trace import Trace
from merestone.text.tokenizer_names import tokenizer_named
from merestone.types import Comparison, Passage, RetrievalSettings, Snapshot, Tokenizer

BUDGETS = (500, 1000, 2000)
_CANDIDATES = 50
_PLENTY = 100_000

VARIANTS: dict[str, dict[str, object]] = {
    "default": {},
    "no-focus": {"focus": False},
    "no-focus-expand": {"focus": False, "expand": "none", "gap_units": 0},
    "no-expand": {"expand": "none"},
    "no-gaps": {"gap_units": 0},
    "no-collapse": {"collapse": False},
    "window:1": {"expand": "window:1"},
    "neighbours:1": {"expand": "neighbours:1"},
    "section": {"expand": "section"},
    "parent": {"expand": "parent"},
    "mmr-0.7": {"mmr": 0.7},
}

MODES = {"hybrid": "hybrid", "dense": "dense", "lexical": "bm25"}
"""Of the product, and what ``searching.py`` calls the same."""
PEERS = ("R", "S")

Row = dict[str, float]


class GoldWords:
    """Counts what the sets' own scorer counts as words."""

    name = fingerprint = "words of the sets"
    special_tokens = 0
    adds_up = False

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [len(self.starts(text)) for text in texts]

    def starts(self, text: str) -> Sequence[int]:
        return _word_starts(text)


@lru_cache(maxsize=100_000)
def _word_starts(text: str) -> Sequence[int]:
    """Kept, since variants and budgets ask about the same passages."""
    return View(_Text(text)).starts  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Text:
    text: str


@dataclass
class Asked:
    """A set in a library, with everything that its questions are scored by."""

    name: str
    library: Library
    snapshot: Snapshot
    questions: list[Question]
    views: Mapping[str, View]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return tokenizer_named("cl100k_base") if self.name == "chroma" else GoldWords()

    def measures(self, question: Question, passages: Sequence[Span]) -> Row:
        if self.name == "chroma":
            return chroma_measures(question, passages)
        return measure_whole(question, passages, self.views)

    def candidates(self, mode: str) -> list[Candidates]:
        """Found once, since no variant changes them."""
        return [
            find_candidates(
                self.snapshot,
                self.library.embedder,
                question.text,
                _CANDIDATES,
                mode,  # type: ignore[arg-type]
                Comparison("document", "in", question.scope) if question.scope else None,
                self.library.settings.retrieval,
            )
            for question in self.questions
        ]

    def peer_rows(self, name: str, mode: str, cache: Path) -> list[Row]:
        """Of a peer's cutting; its vectors are kept in ``cache``."""
        from cuttings import cutting_of
        from searching import CachedEmbedder, Index

        cutting = cutting_of(name, {})
        passages = [p for view in self.views.values() for p in cutting(view.document)]
        spans = [(passage.document, passage.start, passage.end) for passage in passages]
        ranked = Index(passages, CachedEmbedder(cache)).search(self.questions, MODES[mode])
        rows = []
        for question, order in zip(self.questions, ranked, strict=True):
            best = [spans[place] for place in order]
            row: Row = {"top5 recall": self.measures(question, best[:5])["recall"]}
            for budget in BUDGETS:
                scored = measure_whole(question, best, self.views, budget)
                row[f"recall@{budget}"] = scored["recall"]
                row[f"complete@{budget}"] = scored["complete"]
            rows.append(row)
        return rows

    def rows(self, found: Sequence[Candidates], changed: Mapping[str, object]) -> list[Row]:
        settings = replace(RetrievalSettings(), **changed)  # type: ignore[arg-type]
        own = self.library.embedder.tokenizer
        documents = CitedDocuments(self.snapshot)
        passages = Passages(self.snapshot, documents)
        rows = []
        for question, each in zip(self.questions, found, strict=True):
            ranking = arrange(self.snapshot, each, settings, 0, Trace(False))
            expanded = expand(self.snapshot, ranking, documents, own, settings)
            plain = Packing(expanded, passages, self.tokenizer, settings, cited=False)
            cited = Packing(expanded, passages, self.tokenizer, settings)
            rows.append(self._row(question, ranking, plain, cited))
        return rows

    def _row(self, question: Question, ranking: Ranking, plain: Packing, cited: Packing) -> Row:
        best = [each.chunk for each in ranking.ranked[:5]]
        first, *_ = plain.pack(_PLENTY)
        made, _, tokens, _ = plain.pack(_PLENTY, precise=True)
        forms = {
            "top5": [(chunk.document, chunk.start, chunk.end) for chunk in best],
            "first5": _spans(first[:5]),
            "precise": _spans(made),
        }
        row: Row = {"precise tokens": tokens, "precise passages": len(made)}
        for form, spans in forms.items():
            for name, value in self.measures(question, spans).items():
                row[f"{form} {name}"] = float(value)
        for budget in BUDGETS:
            made, *_ = plain.pack(budget)
            scored = self.measures(question, _spans(made))
            row[f"recall@{budget}"] = scored["recall"]
            row[f"complete@{budget}"] = scored["complete"]
        made, *_ = cited.pack(1000)
        row["cited recall@1000"] = self.measures(question, _spans(made))["recall"]
        return row


def _spans(passages: Iterable[Passage]) -> list[Span]:
    return [(passage.document, passage.start, passage.end) for passage in passages]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="chroma", help="names, by commas, or all")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--mode", default="hybrid", choices=list(MODES))
    parser.add_argument("--small", action="store_true", help="the part that small.json names")
    parser.add_argument("--cache", type=Path, help="embeddings.db of another run")
    parser.add_argument("--work", type=Path, default=Path("build") / "retrieval")
    parser.add_argument("--json", type=Path, help="file for the figures")
    args = parser.parse_args()
    names = args.sets.split(",") if args.sets != "all" else ["chroma", *set_names()]
    known = [*VARIANTS, *MODES, *PEERS]
    unknown = set(args.variants.split(",")) - set(known)
    if unknown:
        parser.error(f"no variant {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    variants = list(dict.fromkeys(["default", *args.variants.split(",")]))
    results: dict[str, dict[str, list[Row]]] = {}
    for name in names:
        results[name] = _measured(name, variants, args)
        _print(results[name])
        if args.json:
            args.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    if len(results) > 1:
        print(f"\nDifferences to the default, mean of {len(results)} sets")
        _print_differences(results)


@contextmanager
def open_set(
    name: str,
    work: Path,
    small: bool = False,
    cache: Path | None = None,
    settings: Sequence[str] = (),
) -> Iterator[Asked]:
    """A set in a library below ``work`` that is in step with its documents. ``settings`` are
    lines of its configuration."""
    with _library(name, work, small, cache, settings) as library:
        report = library.sync(allow_deletions=True)
        with library.snapshot(as_owner=True) as snapshot:
            views = dict(read_views(snapshot))
            asked = Asked(name, library, snapshot, _questions(name, views, small), views)
            print(
                f"\n{name}: {len(views)} documents, {snapshot.chunk_count()} chunks, "
                f"{report.embedded} embedded now, {len(asked.questions)} questions",
                flush=True,
            )
            yield asked


def _measured(name: str, variants: Sequence[str], args: argparse.Namespace) -> dict[str, list[Row]]:
    with open_set(name, args.work, args.small, args.cache) as asked:
        found = asked.candidates(args.mode)
        results = {}
        for variant in variants:
            if variant in MODES:
                results[variant] = asked.rows(asked.candidates(variant), {})
            elif variant not in PEERS:
                results[variant] = asked.rows(found, VARIANTS[variant])
            elif name != "chroma":
                cache = args.work / "peers.db"
                results[variant] = asked.peer_rows(variant, args.mode, cache)
        return results


def _library(
    name: str, work: Path, small: bool, cache: Path | None, settings: Sequence[str]
) -> Library:
    """The library of a set, made anew or as an earlier run left it."""
    folder = data_folder() / name
    source: dict[str, object] = {"path": str(folder / "documents")}
    if name == "chroma":
        source["path"] = str(folder / "corpora")
    elif small:
        part = json.loads((data_folder() / "small.json").read_text("utf-8"))[name]
        source["include"] = [f"/{document}" for document in part["documents"]]
    root = (work / (f"{name}-small" if small else name)).absolute()
    state = root / ".merestone"
    if cache and not (state / "embeddings.db").exists():
        state.mkdir(parents=True, exist_ok=True)
        for suffix in ("", "-wal"):
            if Path(f"{cache}{suffix}").exists():
                shutil.copyfile(f"{cache}{suffix}", state / f"embeddings.db{suffix}")
    root.mkdir(parents=True, exist_ok=True)
    lines = [f"{key} = {json.dumps(value)}" for key, value in source.items()]
    (root / "merestone.toml").write_text("\n".join(["[[sources]]", *lines, *settings, ""]), "utf-8")
    return Library.open(root)


def _questions(name: str, views: Mapping[str, View], small: bool) -> list[Question]:
    folder = data_folder() / name
    if name == "chroma":
        return chroma_questions(folder)
    rows = question_rows(folder / "questions.jsonl")
    if small:
        wanted = set(
            json.loads((data_folder() / "small.json").read_text("utf-8"))[name]["questions"]
        )
        rows = [row for row in rows if row["id"] in wanted]
    return list(located(rows, views.get))


def _print(results: Mapping[str, list[Row]]) -> None:
    print(
        f"  {'variant':16} {'precise':>20} {'500':>12} {'1000':>12} {'2000':>12} "
        f"{'cited':>6} {'top 5':>6}"
    )
    for variant, rows in results.items():
        means = {
            key: mean(row[key] for row in rows) if key in rows[0] else nan
            for key in results["default"][0]
        }
        budgets = " ".join(
            f"{100 * means[f'recall@{b}']:6.1f}/{100 * means[f'complete@{b}']:5.1f}"
            for b in BUDGETS
        )
        print(
            f"  {variant:16} {100 * means['precise recall']:6.1f} "
            f"{100 * means['precise IoU']:6.1f} {means['precise tokens']:6.0f} {budgets} "
            f"{100 * means['cited recall@1000']:6.1f} {100 * means['top5 recall']:6.1f}"
        )
    print("  differences to the default")
    _print_differences({"": dict(results)})


_COMPARED = (
    *("recall@500", "complete@500", "recall@1000", "complete@1000", "recall@2000"),
    *("precise recall", "top5 recall"),
)


def _print_differences(results: Mapping[str, Mapping[str, list[Row]]]) -> None:
    """Mean over those sets that have the variant."""
    variants = dict.fromkeys(name for rows in results.values() for name in rows)
    for variant in list(variants)[1:]:
        held = [rows for rows in results.values() if variant in rows]
        parts = []
        for key in _COMPARED:
            if key not in held[0][variant][0]:
                continue
            pairs = [
                [
                    one[key] - other[key]
                    for one, other in zip(rows[variant], rows["default"], strict=True)
                ]
                for rows in held
            ]
            parts.append(f"{key} {difference(pairs)!s}")
        print(f"  {variant:16} {'  '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
