"""Whatever is done to the sources, the settings and the library, and wherever it is killed: after
a sync it is what a fresh build would be, and before the next one it is what the last one left."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from merestone import Library
from merestone.chunking import input_hash
from merestone.config import load_settings
from merestone.embedding import open_embedder
from merestone.indexing.pipeline import Pipeline, raw_document
from merestone.storage import faults
from merestone.types import OWNER

NAMES = ["a.md", "b.md", "hr/c.md", "hr/deep/d.md"]
WORDS = ["amber", "birch", "cedar", "dune"]
ASKERS = [(), ("user:ann",), ("user:bob",)]
ACCESS: dict[str, dict[str, object]] = {
    "none": {},
    "hr": {
        "groups": {"hr": ["user:ann"]},
        "rules": [{"allow": ["public"]}, {"paths": ["hr/**"], "allow": ["group:hr"]}],
    },
    "bob": {"rules": [{"allow": ["user:bob"]}]},
    "no b": {"rules": [{"allow": ["public"]}, {"paths": ["b.md"], "allow": []}]},
}
PARAGRAPHS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), max_size=4
)
STATED = st.sampled_from([None, None, None, "[]", "[public]", "[user:bob]"])
TEXTS = st.builds(
    lambda stated, heading, parts: (
        ("" if stated is None else f"---\naccess: {stated}\n---\n")
        + (f"# {heading}\n\n" if heading else "")
        + "".join(f"{part}.\n\n" for part in parts)
    ),
    STATED,
    st.sampled_from(["", *WORDS]),
    PARAGRAPHS,
)
NAME = st.sampled_from(NAMES)


@dataclass(frozen=True)
class Setup:
    """The settings of a library."""

    max_tokens: int = 24
    on_overlong: str = "error"
    access: str = "none"

    def open(self, folder: Path) -> Library:
        return Library.open(
            folder,
            embedding={"model": "hashing", "on_overlong": self.on_overlong},
            chunking={"max_tokens": self.max_tokens, "min_tokens": 2},
            access=ACCESS[self.access],
        )


@dataclass(frozen=True)
class State:
    """What a library was brought up to date with."""

    setup: Setup
    files: tuple[tuple[str, str], ...]


@lru_cache(maxsize=4000)
def chunks_of(setup: Setup, name: str, text: str) -> tuple[tuple[str, int, int, str], ...]:
    """Id, span and input hash of each chunk that a document must have."""
    flags = {
        "embedding": {"model": "hashing", "on_overlong": setup.on_overlong},
        "chunking": {"max_tokens": setup.max_tokens, "min_tokens": 2},
    }
    effective = load_settings(Path(__file__).parent, flags)
    embedder = open_embedder(effective.embedding)
    pipeline = Pipeline(effective.extraction, effective.chunking, embedder, None)
    document = pipeline.read(raw_document(name, name, text.encode()))
    return tuple(
        (chunk.id, chunk.start, chunk.end, input_hash(chunk))
        for chunk in pipeline.cut(document).chunks
    )


def stated(text: str) -> list[str] | None:
    """What a document's front matter says of access."""
    line = text.partition("access: [")[2]
    return [name for name in line.partition("]")[0].split(",") if name] if line else None


def may_read(state: State, asker: Sequence[str], name: str) -> bool:
    """By one set of rules; ``state.files`` are the documents that are served."""
    names = {"public", *asker}
    if state.setup.access == "hr" and "user:ann" in names:
        names.add("group:hr")
    files = dict(state.files)
    lists = []
    if stated(files[name]) is not None:
        lists.append(stated(files[name]) or [])
    match state.setup.access:
        case "hr":
            lists.append(["group:hr"] if name.startswith("hr/") else ["public"])
        case "bob":
            lists.append(["user:bob"])
        case "no b":
            lists.append([] if name == "b.md" else ["public"])
    if not lists:
        return all(stated(text) is None for text in files.values())
    return all(names & set(allowed) for allowed in lists)


class LibraryMachine(RuleBasedStateMachine):
    @initialize()
    def create(self) -> None:
        self.folder = Path(mkdtemp(prefix="merestone-"))
        # Without a configuration, giving up rules would be taken for its loss.
        (self.folder / "merestone.toml").write_text("")
        self.setup = Setup()
        self.files: dict[str, str] = {}
        self.served: State | None = None
        self.killed = False
        """A sync was killed since the last whole one: readers may see some of its batches."""
        self.held: dict[str, set[str]] = {}
        self.library = self.setup.open(self.folder)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.library.close()
            shutil.rmtree(self.folder)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        self.files[name] = text

    def _reopen(self, setup: Setup) -> None:
        self.library.close()
        self.setup = setup
        self.library = setup.open(self.folder)

    @rule(name=NAME, text=TEXTS)
    def add_or_edit(self, name: str, text: str) -> None:
        self._write(name, text)

    @rule(name=NAME)
    def delete(self, name: str) -> None:
        if self.files.pop(name, None) is not None:
            (self.folder / name).unlink()

    @rule(old=NAME, new=NAME)
    def rename(self, old: str, new: str) -> None:
        if old in self.files and old != new:
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / old).rename(self.folder / new)
            self.files[new] = self.files.pop(old)

    @rule(one=NAME, other=NAME)
    def swap(self, one: str, other: str) -> None:
        if one in self.files and other in self.files and one != other:
            aside = self.folder / ".aside"
            (self.folder / one).rename(aside)
            (self.folder / other).rename(self.folder / one)
            aside.rename(self.folder / other)
            self.files[one], self.files[other] = self.files[other], self.files[one]

    @rule(name=NAME, copy=NAME)
    def duplicate(self, name: str, copy: str) -> None:
        if name in self.files:
            self._write(copy, self.files[name])

    @rule(name=NAME)
    def touch(self, name: str) -> None:
        if name in self.files:
            os.utime(self.folder / name)

    @rule(name=NAME, age=st.sampled_from([0, 3600]))
    def edit_in_secret(self, name: str, age: int) -> None:
        """Another text of the same size, and the old times put back."""
        if name in self.files:
            path = self.folder / name
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
            status = path.stat()
            for word, other in zip(WORDS, [*WORDS[1:], WORDS[0]], strict=True):
                if word in self.files[name] and len(word) == len(other):
                    self._write(name, self.files[name].replace(word, other))
                    break
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    @rule(size=st.sampled_from([12, 24]))
    def change_chunker(self, size: int) -> None:
        self._reopen(replace(self.setup, max_tokens=size))

    @rule(kind=st.sampled_from(["error", "window"]))
    def change_embedder(self, kind: str) -> None:
        self._reopen(replace(self.setup, on_overlong=kind))

    @rule(access=st.sampled_from(list(ACCESS)))
    def change_access(self, access: str) -> None:
        self._reopen(replace(self.setup, access=access))

    @rule()
    def reopen(self) -> None:
        self._reopen(self.setup)

    @rule(purge=st.booleans())
    @precondition(lambda self: self.served is not None)
    def compact(self, purge: bool) -> None:
        self.library.gc(purge=purge)
        if purge:
            with self.library._store.snapshot(OWNER) as snapshot:
                fingerprint = snapshot.generation.embedder.fingerprint
                live = {value for _, _, value in snapshot.numbers()}
                making = snapshot.building()
            self.held = {fingerprint: live}
            if making is not None:
                with self.library._store.snapshot(OWNER, generation=making.number) as snapshot:
                    self.held[making.embedder.fingerprint] = {
                        value for _, _, value in snapshot.numbers()
                    }

    @rule()
    def sync(self) -> None:
        report = self.library.sync(allow_deletions=True)
        expected = self._expected(State(self.setup, tuple(self.files.items())))
        wanted = {key for chunks in expected.values() for _, _, _, key in chunks}
        held = self.held.setdefault(self.library.embedder.fingerprint, set())
        if self.killed:
            assert report.embedded <= len(wanted - held)
        else:
            assert report.embedded == len(wanted - held)
        held |= wanted
        self.served, self.killed = State(self.setup, tuple(self.files.items())), False
        again = self.library.sync()
        assert (again.embedded, again.library_version) == (0, report.library_version)
        assert not again.changes
        assert self.library.verify(every_vector=True, as_owner=True).findings == ()

    @rule(point=st.sampled_from(faults.POINTS), count=st.integers(1, 3))
    @precondition(lambda self: hasattr(os, "fork"))
    def kill_a_sync(self, point: str, count: int) -> None:
        self.library.close()
        child = os.fork()
        if child == 0:
            os.environ["MERESTONE_FAULT"] = f"{point}:{count}"
            faults._reached.clear()
            try:
                self.setup.open(self.folder).sync(allow_deletions=True)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        self.library = self.setup.open(self.folder)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            self.killed = True
        else:
            expected = self._expected(State(self.setup, tuple(self.files.items())))
            held = self.held.setdefault(self.library.embedder.fingerprint, set())
            held |= {key for chunks in expected.values() for _, _, _, key in chunks}
            self.served, self.killed = State(self.setup, tuple(self.files.items())), False

    @rule(word=st.sampled_from(WORDS), asker=st.sampled_from(ASKERS))
    @precondition(lambda self: self.served is not None and not self.killed)
    def query(self, word: str, asker: tuple[str, ...]) -> None:
        assert self.served is not None
        files = dict(self.served.files)
        today = replace(self.served, setup=replace(self.served.setup, access=self.setup.access))
        readable = {
            name
            for name in files
            if may_read(self.served, asker, name) and may_read(today, asker, name)
        }
        texts = {name: files[name] for name in readable}
        expected = {
            f"{name}#{chunk[1]}-{chunk[2]}"
            for name, text in texts.items()
            for chunk in chunks_of(self.served.setup, name, text)
            if word in text[chunk[1] : chunk[2]]
        }
        for mode in ("lexical", "dense", "hybrid"):
            hits = self.library.search(word, k=50, mode=mode, principals=asker).hits
            found = {
                place
                for hit in hits
                for place in (f"{hit.chunk.document}#{hit.chunk.start}-{hit.chunk.end}", *hit.also)
            }
            assert {place.partition("#")[0] for place in found} <= readable
            assert expected <= found

    @invariant()
    def serves_what_was_synced(self) -> None:
        if not hasattr(self, "folder") or not self.library._store.exists():
            return
        with self.library._store.snapshot(OWNER) as snapshot:
            assert snapshot.check() == []
            if self.served is None or self.killed:
                return
            found = {
                record.id: tuple(
                    (chunk.id, chunk.start, chunk.end, snapshot.inputs(record.id)[chunk.id])
                    for chunk in snapshot.chunks_of(record.id)
                )
                for record in snapshot.records()
            }
            assert found == self._expected(self.served)

    def _expected(self, state: State) -> dict[str, tuple[tuple[str, int, int, str], ...]]:
        return {name: chunks_of(state.setup, name, text) for name, text in state.files}


TestLibraryMachine = LibraryMachine.TestCase
TestLibraryMachine.settings = settings(
    max_examples=60,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
