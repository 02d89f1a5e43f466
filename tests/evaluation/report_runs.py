"""Runs as reports are made of, without a library: random gold, random passages, real measures."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.measures.spans import at, span_measures
from merestone.evaluation.runs.values import PRECISE, SEARCH, Interval, QuestionResult, Run, Served

VIEWS = ("5", "500t", "1000t", PRECISE)
HOSTILE = (
    '<script>alert("x")</script> & "quotes" \u2028 \x00 \x9b',
    "</script><!-- <b>bold</b> -->",
    "ما هي مدة الإجازة؟ \u202e abc",
    "日本語の質問はどこで答えられますか",
    "👩‍🔬 emoji 🇩🇪 and \ud83d alone",
    "a" * 400,
    "| pipes | `ticks` | *stars* [link](javascript:alert(1))",
)
"""Questions that something could go wrong with."""


@dataclass(frozen=True)
class Record:
    id: str
    version: str = "1"


@dataclass(frozen=True)
class Chunk:
    id: str
    start: int
    end: int


class Shown:
    """The part of a snapshot that a report reads."""

    def __init__(self, texts: Mapping[str, str], size: int = 300, limited: bool = False) -> None:
        self.texts = texts
        self.size = size
        self.is_limited = limited

    def text(self, document: str) -> str | None:
        return self.texts.get(document)

    def document_ids(self) -> list[str]:
        return sorted(self.texts)

    def records(self) -> Iterator[Record]:
        return (Record(document) for document in sorted(self.texts))

    def chunks_of(self, document: str) -> list[Any]:
        length = len(self.texts.get(document, ""))
        return [
            Chunk(f"{document}-{self.size}-{start}", start, min(start + self.size, length))
            for start in range(0, length, self.size)
        ]


def texts(count: int, length: int, seed: int = 1) -> dict[str, str]:
    """Documents by id, of words that tell where they stand."""
    numbers = random.Random(seed)
    words = [
        "harbour",
        "valve",
        "leave",
        "Größe",
        "水位",
        "🚢",
        "policy",
        "torque",
        "\r\n",
        "limit",
    ]
    found = {}
    for place in range(count):
        parts = [f"# Document {place}\n\n"]
        while sum(map(len, parts)) < length:
            parts.append(f"{numbers.choice(words)} {numbers.randrange(10_000)} ")
        found[f"folder/document-{place}.md"] = "".join(parts)[:length]
    return found


def served_passages(
    shown: Shown, gold: GoldSpan, budget: int, numbers: random.Random
) -> tuple[Served, ...]:
    """Chunks that fill ``budget`` tokens, the one with the gold among them as often as not."""
    documents = shown.document_ids()
    found: list[Served] = []
    near = [c for c in shown.chunks_of(gold.document) if c.start < gold.end and gold.start < c.end]
    first = numbers.random() < 0.7
    while sum(each.tokens for each in found) < budget:
        if first and near:
            document, chunk = gold.document, near.pop(0)
        else:
            document = numbers.choice(documents)
            chunk = numbers.choice(shown.chunks_of(document))
        first = bool(near) and numbers.random() < 0.6
        tokens = max((chunk.end - chunk.start) // 4, 1)
        score = round(numbers.random(), 6)
        found.append(Served(document, chunk.start, chunk.end, tokens, (chunk.id,), score))
    return tuple(found)


def random_run(
    shown: Shown,
    questions: int,
    *,
    name: str = "default",
    seed: int = 1,
    hostile: bool = False,
    chunk_size: int = 300,
) -> Run:
    """A run of so many questions over the documents of ``shown``; equal seeds ask the same."""
    asked = random.Random(1)
    numbers = random.Random(seed)
    cut = Shown(shown.texts, chunk_size)
    results = []
    for place in range(questions):
        document = asked.choice(shown.document_ids())
        start = asked.randrange(max(len(shown.texts[document]) - 200, 1))
        gold = GoldSpan(document, start, start + asked.randrange(20, 200))
        text = HOSTILE[place % len(HOSTILE)] if hostile else f"What is said at {start}?"
        kind, tag = asked.choice(["markdown", "pdf"]), asked.choice(["howto", "limits", "table"])
        views = {
            SEARCH: served_passages(cut, gold, 400, numbers)[:5],
            "500t": served_passages(cut, gold, 500, numbers),
            "1000t": served_passages(cut, gold, 1000, numbers),
            PRECISE: served_passages(cut, gold, 150, numbers),
        }
        measures = {
            at(measure, view): value
            for view in VIEWS
            for measure, value in span_measures(
                [gold], "all", views[SEARCH if view == "5" else view]
            ).items()
        }
        failures = {
            view: numbers.choice(["outranked", "cut-by-boundary"])
            for view in VIEWS
            if not measures[at("FullGold", view)]
        }
        results.append(
            QuestionResult(
                id=f"q{place}",
                question=text,
                match="all",
                gold=(gold,),
                served=views,
                measures=measures,
                failure=failures.get("1000t"),
                detail="The chunk ranks at 31." if "1000t" in failures else "",
                content_type=kind,
                tags=(tag, HOSTILE[0]) if hostile else (tag,),
                language="en",
                made=place % 10 == 9,
                relevance=round(numbers.random(), 3),
                failures=failures,
            )
        )
    return run_of(results, name=name, chunk_size=chunk_size)


def run_of(
    results: Sequence[QuestionResult],
    *,
    name: str = "default",
    chunk_size: int = 300,
    **given: Any,
) -> Run:
    """A run of these results, with means of what they say."""
    people = [result for result in results if not result.made]
    groups: dict[str, list[QuestionResult]] = {}
    for result in people:
        groups.setdefault(f"type:{result.content_type}", []).append(result)
        for tag in result.tags:
            groups.setdefault(f"tag:{tag}", []).append(result)
    values: dict[str, Any] = {
        "id": (name.encode().hex() * 4)[:40],
        "name": name,
        "time": "2026-01-31T12:00:00Z",
        "library_version": 3,
        "questions_hash": "questions",
        "documents_hash": "documents",
        "settings": {
            "extraction": {"max_document_bytes": 50_000_000},
            "chunking": {"strategy": "auto", "max_chars": chunk_size, "types": {}},
            "embedding": {"model": "minilm"},
            "retrieval": {"dense_weight": 0.5},
        },
        "embedder": {"name": "minilm", "dimension": 384},
        "tokenizer": "bert",
        "measures": intervals(people),
        "groups": {group: intervals(members) for group, members in groups.items()},
        "costs": {
            "documents": 12,
            "chunks": 400,
            "tokens_stored": 80_000,
            "index_bytes": 2_400_000,
            "seconds_per_question": 0.012,
        },
        "results": tuple(results),
        "skipped": {},
        "warnings": (),
        "views": VIEWS,
        "main": "1000t",
        "asker": (),
        "version": "0.1.0",
    }
    return Run(**{**values, **given})


def intervals(results: Sequence[QuestionResult]) -> dict[str, Interval]:
    """Means with intervals of a width that shows."""
    found = {}
    for name in dict.fromkeys(name for result in results for name in result.measures):
        values = [result.measures[name] for result in results if name in result.measures]
        middle = mean(values)
        reach = 0.5 / len(values) ** 0.5 * (100 if name.startswith("Tokens") else 1)
        low = max(middle - reach, 0.0)
        high = middle + reach if name.startswith("Tokens") else min(middle + reach, 1.0)
        found[name] = Interval(middle, low, high, len(values))
    return found
