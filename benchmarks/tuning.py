"""What ``tune`` gains on sets with gold spans, on questions that it did not choose by.

    python benchmarks/tuning.py [--sets NAME,...] [--small] [--mode lexical] [--seed 0]
        [--limit 24] [--stages retrieval,cutting] [--budgets 500,1000,2000] [--count words]
        [--work DIR]

For each set: its documents are synchronised into a library below DIR, ``tune`` chooses by one half
of the questions, and on the other half what it advises is held against

- the default: Merestone as it is;
- R: recursive separators at 1000 characters with 200 of overlap, and S: sentences up to as many
  tokens as 512 of GPT's with a tenth of overlap, each as the first of many tutorials would have it:
  the best passages by the retriever alone, no focus, no expansion.

Printed are means and paired differences with 95 % intervals, by set and over all sets. ``--mode
lexical`` asks no model: vectors are the hashing embedder's and not looked at, and sizes and budgets
are in words; ``--count tokens`` takes tokens of the bundled embedder, for scripts that put no space
between words. Else the bundled embedder serves, sizes and budgets are in its tokens, and S has at
most 256 of them.

Figures of each set are kept in DIR, so that an interrupted run goes on where it was. Scratch
libraries are kept, too, until they are no longer needed for a set.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from gold import data_folder, set_names
from scoring import difference

from merestone import Configuration, Library, compare, tune
from merestone.embedding import hashing
from merestone.embedding.named_tokenizers import embedder_tokenizer
from merestone.evaluation.questions import Question, Questions
from merestone.evaluation.questions.importing import import_questions
from merestone.evaluation.runs.values import Run
from merestone.indexing.scratch import drop_scratch
from merestone.types import JSON

_WORDS = 200
"""Of a chunk in lexical mode: about 256 tokens of MiniLM."""
_WORDS_OF_S = 400
_WIDEST = 1024
_PLAIN = {
    "focus": False,
    "expand": "none",
    "gap_units": 0,
    "collapse": False,
}
_COMPARED = ("GoldCoverage", "FullGold")


@dataclass(frozen=True)
class Setting:
    """How libraries are made and asked."""

    work: Path
    mode: str
    count: str
    small: bool
    seed: int
    limit: int
    stages: tuple[str, ...]
    budgets: tuple[int, ...]

    @property
    def is_lexical(self) -> bool:
        return self.mode == "lexical"

    @property
    def by_words(self) -> bool:
        return self.is_lexical and self.count == "words"

    @property
    def main(self) -> int:
        return self.budgets[(len(self.budgets) - 1) // 2]


def baselines(setting: Setting) -> list[Configuration]:
    """The two that everyone begins with."""
    size = _WORDS_OF_S if setting.by_words else 256
    recursive = {
        "strategy": "recursive",
        "max_chars": 1000,
        "overlap_chars": 200,
        "context": [],
        "max_tokens": _WIDEST if setting.by_words else 256,
        "target_tokens": None,
    }
    sentences = {
        "strategy": "sentences",
        "max_tokens": size,
        "target_tokens": size,
        "overlap_tokens": size // 10,
        "max_chars": 8 * size,
        "context": [],
    }
    return [
        Configuration("R", {"chunking": recursive, "retrieval": _PLAIN}),
        Configuration("S", {"chunking": sentences, "retrieval": _PLAIN}),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", help="names, by commas; all by default")
    parser.add_argument("--small", action="store_true", help="the part that small.json names")
    parser.add_argument("--mode", default="lexical", choices=["hybrid", "dense", "lexical"])
    parser.add_argument("--count", default="words", choices=["words", "tokens"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=24, help="configurations for each set")
    parser.add_argument("--stages", default="retrieval,cutting,types")
    parser.add_argument("--budgets", default="500,1000,2000")
    parser.add_argument("--work", type=Path, default=Path("build") / "tuning")
    args = parser.parse_args()
    setting = Setting(
        work=args.work.absolute(),
        mode=args.mode,
        count=args.count,
        small=args.small,
        seed=args.seed,
        limit=args.limit,
        stages=tuple(args.stages.split(",")),
        budgets=tuple(map(int, args.budgets.split(","))),
    )
    if setting.by_words:
        # Words cost nothing: what S wants is longer than this embedder reads otherwise.
        hashing._MAX_TOKENS = hashing.HashingEmbedder.max_tokens = _WIDEST
    elif setting.is_lexical:
        tokenizer = embedder_tokenizer("bert-uncased")
        hashing.HashingEmbedder.tokenizer = property(lambda _: tokenizer)  # type: ignore[assignment]
    found = {}
    for name in args.sets.split(",") if args.sets else set_names():
        figures = _figures(name, setting)
        if figures is not None:
            found[name] = figures
            _print(name, figures)
    if len(found) > 1:
        print(f"\nMean of {len(found)} sets")
        _print_differences(list(found.values()))


def _figures(name: str, setting: Setting) -> dict[str, JSON] | None:
    """Those of a set, measured or as an earlier run left them; ``None`` without questions."""
    part = "small" if setting.small else "whole"
    budgets = "-".join(map(str, setting.budgets))
    stages = "-".join(setting.stages)
    mode = setting.mode if setting.count == "words" else f"{setting.mode}-{setting.count}"
    title = f"{name}-{part}-{mode}-{setting.seed}-{setting.limit}-{stages}-{budgets}.json"
    file = setting.work / title
    if file.is_file():
        kept: dict[str, JSON] = json.loads(file.read_text("utf-8"))
        return kept
    with _opened(name, setting) as library:
        library.sync(allow_deletions=True)
        questions = _questions(name, library, setting)
        if len(questions) < 2:
            return None
        figures = _measured(library, questions, setting)
        drop_scratch(library.settings.state, everything=True)
    file.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return figures


def _opened(name: str, setting: Setting) -> Library:
    documents = data_folder() / name / "documents"
    root = setting.work / (f"{name}-small" if setting.small else name)
    root.mkdir(parents=True, exist_ok=True)
    lines = ["[[sources]]", f"path = {json.dumps(str(documents))}"]
    if setting.small:
        chosen = _small(name)["documents"]
        lines.append(f"include = {json.dumps([f'/{document}' for document in chosen])}")
    if setting.is_lexical:
        lines += ["[embedding]", 'model = "hashing"']
    if setting.by_words:
        lines += ["[chunking]", f"max_tokens = {_WORDS}"]
    (root / "merestone.toml").write_text("\n".join(lines) + "\n", "utf-8")
    return Library.open(root)


def _small(name: str) -> Mapping[str, Sequence[str]]:
    part: Mapping[str, Sequence[str]] = json.loads(
        (data_folder() / "small.json").read_text("utf-8")
    )[name]
    return part


def _questions(name: str, library: Library, setting: Setting) -> Sequence[Question]:
    with library.snapshot() as snapshot:
        found = import_questions(data_folder() / name, "set", snapshot=snapshot).questions
    return found.only(ids=_small(name)["questions"]) if setting.small else found


def _measured(library: Library, questions: Sequence[Question], setting: Setting) -> dict[str, JSON]:
    began = time.process_time()
    tuning = tune(
        library,
        questions,
        seed=setting.seed,
        k=5,
        budgets=setting.budgets,
        mode=setting.mode,
        stages=setting.stages,  # type: ignore[arg-type]
        limit=setting.limit,
    )
    tuned = time.process_time() - began
    asked = Questions(questions).only(ids=tuning.halves.confirming)
    compared = [
        Configuration("advised", tuning.configuration.tables),
        Configuration("default"),
        Configuration("candidate", tuning.candidate.tables),
        *baselines(setting),
    ]
    comparison = compare(library, compared, asked, k=5, budgets=setting.budgets, mode=setting.mode)
    return {
        "configuration": tuning.configuration.brief,
        "candidate": tuning.candidate.brief,
        "confirmed": tuning.is_confirmed,
        "words": tuning.words,
        "attempts": len(tuning.attempts),
        "embedded": sum(attempt.embedded for attempt in tuning.attempts),
        "questions": [len(tuning.halves.choosing), len(tuning.halves.confirming)],
        "cpu_seconds": round(tuned),
        "main": setting.main,
        "rows": {run.name: _rows(run, setting) for run in comparison.runs},
    }


def _rows(run: Run, setting: Setting) -> dict[str, dict[str, float]]:
    """Measures by question."""
    names = [f"{measure}@{budget}t" for budget in setting.budgets for measure in _COMPARED]
    return {
        result.id: {name: result.measures[name] for name in names}
        for result in run.results
        if all(name in result.measures for name in names)
    }


def _print(name: str, figures: Mapping[str, JSON]) -> None:
    choosing, confirming = figures["questions"]
    print(
        f"\n{name}: {choosing} questions to choose by, {confirming} to confirm on; "
        f"{figures['attempts']} configurations, {figures['cpu_seconds']} s of CPU\n"
        f"  candidate: {figures['candidate']}\n  {figures['words']}"
    )
    for run, rows in figures["rows"].items():
        names = next(iter(rows.values()))
        means = "  ".join(
            f"{each} {100 * fmean(row[each] for row in rows.values()):5.1f}" for each in names
        )
        print(f"  {run:10} {means}")
    _print_differences([figures])


def _print_differences(sets: Sequence[Mapping[str, JSON]]) -> None:
    pairs = [("advised", other) for other in ("default", "R", "S")]
    for first, second in [*pairs, ("candidate", "default"), ("default", "R"), ("default", "S")]:
        told = []
        for measure in _COMPARED:
            gains = []
            for figures in sets:
                one, other = figures["rows"][first], figures["rows"][second]
                name = f"{measure}@{figures['main']}t"
                gains.append([one[id][name] - other[id][name] for id in one if id in other])
            found = difference(gains)
            told.append(f"{measure} {found!s:24} {found.verdict:6}")
        print(f"  {first + ' - ' + second:22} {'  '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
