"""Simulated power cuts in the middle of syncs, and what is found after them."""

from __future__ import annotations

import json
import pickle
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from durability import documents
from durability.disk import Disk, Recording
from durability.libraries import contents, given, open_library, some, whole
from durability.processes import Forker

from merestone.storage import engine
from merestone.storage.writer import SQLiteWriter
from merestone.types import MerestoneError

STAGES = (documents.CHUNKING, documents.CHUNKING, documents.SMALLER)
"""Settings of the syncs that are recorded: a first build, changes, and other settings."""

State = dict[str, tuple[str, str]]
"""Document → its version, and how it was cut."""


def record(root: str, notes: str, synchronous: bool = True) -> None:
    """Do all stages and write notes of what that did to files to the file ``notes``.

    Without ``synchronous`` SQLite is told to leave out every sync.
    """
    folder = Path(root)
    recording = Recording(folder / ".merestone")
    apply = SQLiteWriter.apply
    batches = 0

    def marked(writer: SQLiteWriter, changes: Any) -> Any:
        nonlocal batches
        batches += 1
        recording.note("begun", None, batches)
        counts = apply(writer, changes)
        recording.note("stored", None, batches, _state(folder))
        return counts

    SQLiteWriter.apply = marked
    if not synchronous:
        opened = engine.open_writer

        def careless(path: Path) -> Any:
            connection = opened(path)
            connection.pragma("synchronous", 0)
            return connection

        engine.open_writer = careless
    for stage, chunking in enumerate(STAGES):
        if stage == 1:
            documents.change(folder)
        recording.note("stage", None, stage)
        with open_library(folder, chunking=chunking) as library:
            library.sync(allow_deletions=True)
    Path(notes).write_bytes(pickle.dumps(recording.notes))


def _state(root: Path) -> State:
    with open_library(root) as library, whole(library) as snapshot:
        return {record.id: (record.version, record.pipeline) for record in snapshot.records()}


@dataclass
class Outcome:
    """What a series of cuts has shown so far."""

    cuts: int = 0
    in_flight: int = 0
    """Cuts during a batch's transaction; the others fell elsewhere."""
    kept_unacknowledged: int = 0
    """Cuts that left a batch whole which was not reported yet."""
    most_embedded_next: int = 0
    faults: list[str] = field(default_factory=list)


class Cuts:
    """Cuts in one recording."""

    def __init__(self, folder: Path, forker: Forker, *, synchronous: bool = True) -> None:
        self._folder = folder
        self._forker = forker
        self._root = folder / "root"
        self._root.mkdir(parents=True)
        documents.make(self._root)
        self._sources = [folder / f"sources-{stage}" for stage in range(len(STAGES))]
        shutil.copytree(self._root, self._sources[0])
        notes = folder / "notes"
        status = forker.run(
            "record", root=str(self._root), notes=str(notes), synchronous=synchronous
        )
        assert status == 0
        self.notes = pickle.loads(notes.read_bytes())
        for later in self._sources[1:]:
            shutil.copytree(self._root, later, ignore=shutil.ignore_patterns(".merestone"))
        self._words = some(documents.words_of(self._root))
        self._states: list[State] = [{}]
        self._states += [note[3] for note in self.notes if note[0] == "stored"]
        self._fresh: dict[int, dict[str, Any]] = {}
        self.outcome = Outcome()

    def cut(self, at: int, seed: int) -> None:
        """Cut the power before the note number ``at``, and examine what is left."""
        disk = Disk(self._root / ".merestone")
        stage, begun, stored = 0, 0, 0
        for note in self.notes[:at]:
            match note:
                case ("stage", _, stage):
                    pass
                case ("begun", _, begun):
                    pass
                case ("stored", _, stored, _):
                    pass
                case _:
                    disk.play(note)
        self._restore(stage, disk.cut(random.Random(seed)))
        self.outcome.cuts += 1
        self.outcome.in_flight += begun > stored
        with self._named(f"cut {at} of {len(self.notes)}, seed {seed}"):
            self._examine(stage, stored, begun)

    def _restore(self, stage: int, files: dict[str, bytes | None]) -> None:
        shutil.rmtree(self._root)
        shutil.copytree(self._sources[stage], self._root)
        for path in sorted(files):
            data = files[path]
            if data is None:
                Path(path).mkdir()
            else:
                Path(path).write_bytes(data)

    def _examine(self, stage: int, stored: int, begun: int) -> None:
        chunking = STAGES[stage]
        with open_library(self._root, chunking=chunking) as library:
            if not (self._root / ".merestone" / "library.db").exists():
                found: State = {}
            else:
                with whole(library) as snapshot:
                    for fault in snapshot.check():
                        self._fault(fault)
                found = _state(self._root)
        held = [number for number in range(stored, begun + 1) if self._states[number] == found]
        if not held:
            self._fault(f"what batch {stored} stored is not there")
        elif held[-1] > stored:
            self.outcome.kept_unacknowledged += 1
        log, answer = self._folder / "log", self._folder / "answer"
        log.unlink(missing_ok=True)
        job = {"root": str(self._root), "log": str(log), "chunking": chunking}
        job["answer"] = str(answer)
        if self._forker.run("sync", **job):
            self._fault("the next sync failed")
            return
        embedded = given(log)
        self.outcome.most_embedded_next = max(self.outcome.most_embedded_next, len(embedded))
        version = json.loads(answer.read_text())["library_version"]
        with open_library(self._root, chunking=chunking) as library:
            if contents(library, self._words) != self._built(stage):
                self._fault("after the next sync it differs from a fresh build")
            for finding in library.verify().findings:
                self._fault(finding.message)
        self._forker.run("sync", **job)
        if json.loads(answer.read_text())["library_version"] != version or given(log) != embedded:
            self._fault("a further sync found something to do")

    def _built(self, stage: int) -> dict[str, Any]:
        if stage not in self._fresh:
            root = self._folder / f"fresh-{stage}"
            shutil.copytree(self._sources[stage], root)
            with open_library(root, chunking=STAGES[stage]) as library:
                library.sync()
                self._fresh[stage] = contents(library, self._words)
        return self._fresh[stage]

    @contextmanager
    def _named(self, where: str) -> Iterator[None]:
        self._where = where
        try:
            yield
        except MerestoneError as error:
            self._fault(str(error))

    def _fault(self, words: str) -> None:
        self.outcome.faults.append(f"{self._where}: {words}")


def series(
    folder: Path, forker: Forker, seed: int, count: int, *, synchronous: bool = True
) -> Outcome:
    """``count`` cuts at random places of one recording; half of them inside of transactions."""
    trial = Cuts(folder, forker, synchronous=synchronous)
    draw = random.Random(seed)
    inside = []
    is_inside = False
    for at, note in enumerate(trial.notes):
        is_inside = note[0] == "begun" or (is_inside and note[0] != "stored")
        if is_inside:
            inside.append(at + 1)
    for number in range(count):
        at = draw.choice(inside) if number % 2 else draw.randint(1, len(trial.notes))
        trial.cut(at, draw.randrange(10**9))
    if not trial.outcome.faults:
        shutil.rmtree(folder)
    return trial.outcome
