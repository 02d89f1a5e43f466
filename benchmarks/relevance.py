"""What predicts that a hit holds an answer, on sets with gold spans.

    python benchmarks/relevance.py [--sets wiki_en,tech_man,...] [--mode hybrid] [--small]
        [--model minilm] [--asked 40] [--cache FILE] [--work DIR] [--out FILE]

Each set is split in two libraries by document, and its questions are put to both: one of them holds
the answer, and the other is about the same matters and does not. Questions of other sets are put to
both as well. What is written to FILE, a line a question, are the signals of its first hits, whether
each holds half of a gold span or lies half in one, and the kind of the question:

    answerable  a gold span is in the library
    domain      asked of the half that does not hold it
    foreign     a question of another set

Questions that are limited to documents are asked of those only, and of no other half: a clause that
every contract has would be found there too. ``chroma`` is split by corpus, so that its questions
are answerable or foreign. ``tools/fit_relevance.py`` reads the file.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from chroma import chroma_questions
from gold import Question, Span, data_folder, located, question_rows
from score_sets import read_views

from merestone import Library
from merestone.retrieval.ranking import Request, rank
from merestone.retrieval.relevance import LOOKED_AT, judge_answer
from merestone.retrieval.trace import Trace
from merestone.text.hashing import digest
from merestone.types import Chunk, Comparison

_T = TypeVar("_T")

_SEED = 20261130
_FOREIGN = 3
"""Questions of each other set."""
_SETS = (
    "chroma,code_py,contracts_cuad,contracts_nli,faq_medquad,fin_tatqa,id_node,id_postgres,"
    "sci_evinf,tech_man,wiki_en"
)


class Asked(NamedTuple):
    """A question and the library that it is put to."""

    question: Question
    kind: str


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=_SETS)
    parser.add_argument("--mode", default="hybrid", choices=["hybrid", "dense", "lexical"])
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--small", action="store_true", help="the part that small.json names")
    parser.add_argument("--asked", type=int, default=40, help="questions of a kind and half")
    parser.add_argument("--cache", type=Path, help="embeddings.db of another run")
    parser.add_argument("--work", type=Path, default=Path("build") / "relevance")
    parser.add_argument("--out", type=Path, default=Path("build") / "relevance.jsonl")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    names = args.sets.split(",")
    foreign = {name: _some(_set_questions(name), _FOREIGN) for name in _SETS.split(",")}
    with args.out.open("w", encoding="utf-8") as file:
        for name in names:
            others = [text for other, texts in foreign.items() if other != name for text in texts]
            began, count = time.perf_counter(), 0
            for row in _observed(name, others, args):
                file.write(json.dumps(row) + "\n")
                count += 1
            file.flush()
            print(f"{name}: {count} questions, {time.perf_counter() - began:.0f} s", flush=True)


def _observed(name: str, others: Sequence[str], args: argparse.Namespace) -> Iterator[object]:
    parts = _parts(name, args.small)
    libraries = [_opened(name, number, part, args) for number, part in enumerate(parts)]
    views = {}
    for library in libraries:
        library.sync(allow_deletions=True)
        with library.snapshot() as snapshot:
            views.update(read_views(snapshot))
    if name == "chroma":
        questions = chroma_questions(data_folder() / name)
    else:
        questions = list(
            located(question_rows(data_folder() / name / "questions.jsonl"), views.get)
        )
    for library in libraries:
        yield from _asked_of(library, name, questions, others, args)
        library.close()


def _asked_of(
    library: Library,
    name: str,
    questions: Sequence[Question],
    others: Sequence[str],
    args: argparse.Namespace,
) -> Iterator[object]:
    settings = library.settings.retrieval
    with library.snapshot() as snapshot:
        held = set(snapshot.document_ids())
        kinds: dict[str, list[Question]] = {"answerable": [], "domain": []}
        for question in questions:
            if any(document in held for document, _, _ in question.gold):
                kinds["answerable"].append(question)
            elif not question.scope and name != "chroma":
                kinds["domain"].append(question)
        asked = [
            Asked(question, kind)
            for kind, found in kinds.items()
            for question in _some(found, args.asked)
        ]
        asked += [Asked(Question("", text, "all", []), "foreign") for text in others]
        for question, kind in asked:
            scope = question.scope if kind == "answerable" else None
            where = Comparison("document", "in", scope) if scope else None
            request = Request(question.text, LOOKED_AT, args.mode, where, least=LOOKED_AT)
            ranking = rank(snapshot, library.embedder, settings, request, Trace(False))
            judged = judge_answer(
                snapshot, library.embedder, settings, ranking, question.text, 0, Trace(False)
            )
            yield {
                "set": name,
                "question": question.text,
                "kind": kind,
                "basis": judged.basis,
                "hits": [
                    {"signals": each.signals, "holds": _holds(each.chunk, question.gold)}
                    for each in judged.whole.ranked[:LOOKED_AT]
                ],
            }


def _holds(chunk: Chunk, gold: Sequence[Span]) -> bool:
    """True if the chunk holds half of a gold span, or lies half in one."""
    for document, start, end in gold:
        shared = min(end, chunk.end) - max(start, chunk.start)
        if document == chunk.document and 2 * shared >= min(end - start, chunk.end - chunk.start):
            return True
    return False


def _set_questions(name: str) -> list[str]:
    folder = data_folder() / name
    if name == "chroma":
        return [question.text for question in chroma_questions(folder)]
    return [str(row["question"]) for row in question_rows(folder / "questions.jsonl")]


def _parts(name: str, small: bool) -> list[list[str]]:
    """Documents of each library."""
    folder = data_folder() / name / ("corpora" if name == "chroma" else "documents")
    found = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    if name == "chroma":
        return [[document] for document in found if document.endswith(".md")]
    if small:
        part = json.loads((data_folder() / "small.json").read_text("utf-8"))[name]
        found = [document for document in found if document in set(part["documents"])]
    found.sort(key=digest)
    return [found[: len(found) // 2], found[len(found) // 2 :]]


def _opened(name: str, number: int, part: Sequence[str], args: argparse.Namespace) -> Library:
    folder = data_folder() / name / ("corpora" if name == "chroma" else "documents")
    size = "-small" if args.small else ""
    root = (args.work / f"{args.model}-{name}{size}-{number}").absolute()
    state = root / ".merestone"
    state.mkdir(parents=True, exist_ok=True)
    if args.cache and not (state / "embeddings.db").exists():
        for suffix in ("", "-wal"):
            if Path(f"{args.cache}{suffix}").exists():
                shutil.copyfile(f"{args.cache}{suffix}", state / f"embeddings.db{suffix}")
    include = json.dumps([f"/{document}" for document in part])
    lines = ["[[sources]]", f"path = {json.dumps(str(folder))}", f"include = {include}", ""]
    (root / "merestone.toml").write_text("\n".join(lines), "utf-8")
    return Library.open(root, embedding={"model": args.model})


def _some(items: Sequence[_T], count: int) -> list[_T]:
    return random.Random(_SEED).sample(list(items), min(count, len(items)))


if __name__ == "__main__":
    main()
