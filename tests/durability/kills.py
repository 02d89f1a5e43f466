"""Syncs that are killed at random moments while a reader takes snapshots.

What a reader must see is known without any library: reading and cutting a document's bytes gives
its chunks. So each snapshot is held against that, row by row, and both indexes against the rows.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from durability import documents
from durability.libraries import SLICE, given, open_library, whole
from durability.processes import Child, Forker

from merestone import Library
from merestone.chunking import render
from merestone.indexing.pipeline import open_pipeline, raw_document
from merestone.text.hashing import digest
from merestone.types import Document, Snapshot, Vectors

NAMES = tuple(documents.name(number) for number in range(20))
ALL = 10**6
_KEPT = 2000
_AGAIN = 30
"""Texts that come again and again; the others are new each time."""
_CLOSE = 2e-5


@dataclass(frozen=True)
class Expected:
    """What a document with a given text must give."""

    version: str
    chunks: tuple[tuple[str, int, int, str], ...]
    """Id, start, end and input hash, by ordinal."""
    terms: tuple[frozenset[str], ...]
    vectors: Vectors
    """As they are kept: float16, read as float32."""


class Truth:
    """Documents as their bytes give them."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[tuple[str, str], Expected] = {}

    def of(self, document: str, text: str) -> Expected:
        if (document, text) not in self._known:
            if len(self._known) > _KEPT:
                self._known.clear()
            self._known[document, text] = self._made(document, text)
        return self._known[document, text]

    def _made(self, document: str, text: str) -> Expected:
        embedder = self._library.embedder
        with open_pipeline(self._library.settings, embedder) as pipeline:
            read: Document = pipeline.read(raw_document(document, document, text.encode()))
            rows = pipeline.rows(read, pipeline.cut(read))
        vectors = embedder.embed_passages([render(row.chunk) for row in rows])
        return Expected(
            read.version,
            tuple((r.chunk.id, r.chunk.start, r.chunk.end, r.input_hash) for r in rows),
            tuple(frozenset(row.terms) for row in rows),
            vectors.astype(np.float16).astype(np.float32),
        )


def faults_in(snapshot: Snapshot, truth: Truth, query: Vectors, word: str) -> list[str]:
    """What in a snapshot is not as the bytes of its documents say, in words."""
    found: list[str] = []
    vectors: dict[str, Vectors] = {}
    holders: set[str] = set()
    for record in snapshot.records():
        text = snapshot.text(record.id) or ""
        expected = truth.of(record.id, text)
        if (record.version, record.source_hash) != (expected.version, digest(text.encode())):
            found.append(f"{record.id}: its text is not that of its version")
        inputs = snapshot.inputs(record.id)
        chunks = snapshot.chunks_of(record.id)
        if tuple((c.id, c.start, c.end, inputs[c.id]) for c in chunks) != expected.chunks:
            found.append(f"{record.id}: not the chunks of its version")
        if any(text[c.start : c.end] != c.text or c.version != record.version for c in chunks):
            found.append(f"{record.id}: a chunk is not a slice of its text")
        for row, terms, (chunk, *_) in zip(
            expected.vectors, expected.terms, expected.chunks, strict=True
        ):
            vectors[chunk] = row
            if word in terms:
                holders.add(chunk)
    ids = {number: chunk for number, chunk, _ in snapshot.numbers()}
    if Counter(ids.values()) != Counter(list(vectors)):
        found.append("the rows are not the chunks of the documents")
    dense = snapshot.dense(query, ALL)
    if Counter(ids.get(hit.number) for hit in dense) != Counter(list(vectors)):
        found.append("the dense index does not hold each row once")
    elif any(
        abs(hit.score - float(vectors[ids[hit.number]] @ query)) > _CLOSE for hit in dense
    ) or any(one.score < other.score for one, other in pairwise(dense)):
        found.append("the dense index does not score as a scan of the rows does")
    lexical = snapshot.lexical([word], ALL)
    if Counter(ids.get(hit.number) for hit in lexical) != Counter(holders):
        found.append(f"the lexical index does not find {word!r} where the rows have it")
    return found


def read(root: str, stop: str, answer: str) -> None:
    """Take snapshots and examine them until the file ``stop`` is there."""
    draw = random.Random(root)
    snapshots, found, states = 0, Counter[str](), set[int]()
    with open_library(Path(root)) as library:
        truth = Truth(library)
        while not Path(stop).exists():
            word = draw.choice(documents.WORDS)
            query = library.embedder.embed_queries([" ".join(draw.choices(documents.WORDS, k=3))])
            with whole(library) as snapshot:
                found.update(faults_in(snapshot, truth, query[0], word))
                states.add(snapshot.library_version)
            snapshots += 1
    Path(answer).write_text(
        json.dumps({"snapshots": snapshots, "states": len(states), "faults": found})
    )


@dataclass
class Outcome:
    """What a series of kills has shown so far."""

    kills: int = 0
    too_late: int = 0
    """Syncs that ended before they were killed."""
    finished: int = 0
    """Syncs that were let run to their end after kills, and their libraries compared."""
    snapshots: int = 0
    states: int = 0
    """Different library versions that the reader saw."""
    embedded: int = 0
    twice: int = 0
    """Texts that were embedded again after a kill."""
    most_twice_a_kill: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass
class Series:
    """One folder, changed and synced and killed again and again."""

    folder: Path
    forker: Forker
    seed: int
    outcome: Outcome = field(default_factory=Outcome)
    _held: dict[str, str] = field(default_factory=dict)
    """Document → its text now."""
    _seconds: float = 0.1
    """About how long a sync takes."""

    @cached_property
    def _draw(self) -> random.Random:
        return random.Random(self.seed)

    @cached_property
    def _root(self) -> Path:
        root = self.folder / "root"
        root.mkdir(parents=True)
        (root / "merestone.toml").write_text("")
        return root

    def run(self, kills: int) -> Outcome:
        """Go on until so many syncs were killed."""
        with open_library(self._root) as library:
            truth = Truth(library)
            self._change()
            self._finish(library, truth, 0, set())
            with self._reader():
                while self.outcome.kills < kills:
                    self._round(library, truth)
        return self.outcome

    def _round(self, library: Library, truth: Truth) -> None:
        """Some kills, with or without changes between them, and a sync that ends."""
        before = self._stored_inputs(truth)
        log = self._log
        log.unlink(missing_ok=True)
        deaths = 0
        wanted: set[str] = set()
        for _ in range(self._draw.randint(1, 3)):
            if self._draw.random() < 0.8:
                self._change()
            wanted |= self._stored_inputs(truth)
            deaths += self._kill()
        self._finish(library, truth, deaths, wanted - before)

    def _change(self) -> None:
        """Edit, delete, add and rename."""
        draw = self._draw
        for document in draw.sample(NAMES, draw.randint(1, 12)):
            kind = draw.random()
            if kind < 0.2:
                self._held.pop(document, None)
                (self._root / document).unlink(missing_ok=True)
            elif kind < 0.4 and self._held:
                origin = draw.choice(sorted(self._held))
                text = self._held.pop(origin)
                (self._root / origin).unlink()
                self._write(document, text)
            else:
                known = draw.random() < 0.3
                seed = draw.randrange(_AGAIN) if known else draw.randrange(10**9)
                self._write(document, documents.text(seed))

    def _write(self, document: str, text: str) -> None:
        self._held[document] = text
        documents.write(self._root, document, text, self._draw.randrange(10**9))

    def _stored_inputs(self, truth: Truth) -> set[str]:
        return {chunk[3] for item in self._held.items() for chunk in truth.of(*item).chunks}

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _sync(self) -> Child:
        return self.forker.start("sync", root=str(self._root), log=str(self._log))

    def _kill(self) -> int:
        child = self._sync()
        time.sleep(self._draw.uniform(0, 1.1) * self._seconds)
        child.kill()
        killed = child.wait() == -signal.SIGKILL
        self.outcome.kills += killed
        self.outcome.too_late += not killed
        return killed

    def _finish(self, library: Library, truth: Truth, deaths: int, new: set[str]) -> None:
        begun = time.monotonic()
        status = self._sync().wait()
        self._seconds = 0.7 * self._seconds + 0.3 * (time.monotonic() - begun)
        if status:
            self._fault(f"a sync ended with {status}")
        self.outcome.finished += 1
        with whole(library) as snapshot:
            for fault in snapshot.check():
                self._fault(fault)
            held = {record.id: record.source_hash for record in snapshot.records()}
            query = library.embedder.embed_queries(["anchor basin"])[0]
            for fault in faults_in(snapshot, truth, query, "cedar"):
                self._fault(fault)
        if held != {name: digest(text.encode()) for name, text in self._held.items()}:
            self._fault("the library does not hold the documents of the folder")
        embedded = Counter(given(self._log))
        twice = sum(embedded.values()) - len(embedded)
        if deaths:
            most = max(self.outcome.most_twice_a_kill, -(-twice // deaths))
            self.outcome.most_twice_a_kill = most
        self.outcome.embedded += len(embedded)
        self.outcome.twice += twice
        if twice > SLICE * deaths:
            self._fault(f"{twice} texts were embedded twice after {deaths} kills")
        if deaths and len(embedded) > len(new):
            self._fault(f"{len(embedded)} texts were embedded where {len(new)} were new")

    def _fault(self, words: str) -> None:
        self.outcome.faults.append(f"series {self.seed}, kill {self.outcome.kills}: {words}")

    @contextmanager
    def _reader(self) -> Iterator[None]:
        stop, answer = self.folder / "stop", self.folder / "answer"
        child = self.forker.start("read", root=str(self._root), stop=str(stop), answer=str(answer))
        try:
            yield
        finally:
            stop.touch()
            status = child.wait()
        if status:
            self._fault(f"the reader ended with {status}")
            return
        seen = json.loads(answer.read_text())
        self.outcome.snapshots += seen["snapshots"]
        self.outcome.states += seen["states"]
        for fault, times in seen["faults"].items():
            self._fault(f"reader: {fault} ({times} times)")


def series(folder: Path, forker: Forker, seed: int, kills: int) -> Outcome:
    """``kills`` kills in a folder of its own, which is removed if nothing was found."""
    outcome = Series(folder, forker, seed).run(kills)
    if not outcome.faults:
        shutil.rmtree(folder)
    return outcome
