"""Watching: from file events to a library that equals a fresh build."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexing.conftest import open_library

from merestone import Library
from merestone.indexing.listening import Heard, Listener
from merestone.indexing.pending import Pending, glance, place_of, without_covered
from merestone.indexing.resting import Rest
from merestone.indexing.sources.folders import FolderSource
from merestone.indexing.watching import Watch, WatchNote
from merestone.library import _Site
from merestone.storage.lease import lease
from merestone.types import Listed, Listing, Look, SettingsError, SourceSettings, SyncReport

_PATIENT = 60.0
"""Seconds to wait for what must come; only a failing test waits so long."""

# What events ask for


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/docs", "/docs"),
        ("/docs/a.md", "/docs/a.md"),
        ("/docs/deep/down", "/docs/deep/down"),
        ("/docs/.merestoneignore", "/docs"),
        ("/docs/deep/.merestoneignore", "/docs/deep"),
        ("/docs/4913", "/docs/4913"),
        ("/docs/.a.md.swp", None),
        ("/docs/.#a.md", None),
        ("/docs/#a.md#", None),
        ("/docs/a.md~", None),
        ("/docs/.merestone/library.db", None),
        ("/docs/.git/.merestoneignore", None),
        ("/docs/.git/objects/aa/bb", None),
        ("/docs2/a.md", None),
        ("/elsewhere", None),
    ],
)
def test_each_event_asks_for_the_least_that_it_concerns(path: str, place: str | None) -> None:
    assert place_of(path, "/docs") == place


def test_a_source_below_a_hidden_folder_or_at_the_root_is_heard() -> None:
    assert place_of("/home/.notes/a.md", "/home/.notes") == "/home/.notes/a.md"
    assert place_of("/a.md", "/") == "/a.md"


@given(st.lists(st.text("ab/", min_size=1, max_size=6).map(lambda t: "/" + t.strip("/"))))
def test_what_a_folder_covers_is_not_named_beside_it(paths: list[str]) -> None:
    kept = without_covered(paths)
    for path in paths:
        assert sum((path + "/").startswith(each.rstrip("/") + "/") for each in kept) == 1
    assert set(kept) <= set(paths)


class World:
    """What a glance sees."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[int, int]] = {}

    def __call__(self, path: str) -> tuple[int, int] | None:
        return self.files.get(path)


def test_a_file_that_changes_between_two_looks_waits() -> None:
    world, pending = World(), Pending(debounce=1, patience=10)
    world.files["/a"] = (1, 1)
    pending.add(["/a"], 0)
    assert pending.take(0.1, world) is None
    world.files["/a"] = (1, 2)
    assert pending.take(1.0, world) is None
    assert pending.take(1.9, world) is None
    assert pending.take(2.0, world) == ["/a"]
    assert not pending


def test_both_ends_of_a_move_come_together_even_right_after_an_edit() -> None:
    world, pending = World(), Pending(debounce=1, patience=10)
    pending.add(["/old"], 0)
    assert pending.take(0, world) is None
    world.files["/new"] = (1, 1)
    pending.add(["/new"], 0.9)
    assert pending.take(1.2, world) is None
    assert pending.take(2.2, world) == ["/new", "/old"]


def test_a_file_that_never_rests_holds_nothing_up() -> None:
    world, pending = World(), Pending(debounce=1, patience=10)
    for tick in range(200):
        world.files["/log"] = (tick, tick)
        pending.add(["/log"], tick / 10)
        pending.take(tick / 10, world)
    pending.add(["/a"], 20)
    taken = [pending.take(20 + tick / 10, world) for tick in range(9)]
    world.files["/log"] = (999, 999)
    assert taken == [None] * 9
    assert pending.take(21, world) == ["/a"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["/a", "/b", "/c"]), st.integers(0, 30), st.integers(0, 2)),
        max_size=25,
    )
)
def test_whatever_changes_is_taken_once_it_rests_and_never_before(
    steps: list[tuple[str, int, int]],
) -> None:
    world, pending = World(), Pending(debounce=1, patience=10)
    changed: dict[str, float] = {}
    now = 0.0
    for path, tenths, size in steps:
        now += tenths / 10
        taken = pending.take(now, world) or []
        for each in taken:
            assert now - changed.pop(each) >= 1
        world.files[path] = (int(now * 10), size)
        pending.add([path], now)
        changed[path] = now
    for _ in range(40):
        now += 0.5
        for each in pending.take(now, world) or []:
            assert now - changed.pop(each) >= 1
    assert not changed
    assert not pending


def listed(name: str, mtime_ns: int, size: int = 1) -> Listed:
    return Listed(name, f"/docs/{name}", mtime_ns=mtime_ns, size=size)


DOCS = FolderSource(SourceSettings(path="/docs"))


def test_a_young_file_is_neither_read_nor_gone() -> None:
    rest = Rest(1.0, wall=lambda: 10_000_000_000)
    listing = Listing(DOCS, (listed("old", 8_000_000_000), listed("new", 9_500_000_000)))
    settled = rest.settle(listing)
    assert [each.id for each in settled.documents] == ["old"]
    assert settled.unlisted == ("new",)
    assert rest.held == {"/docs/new"}


def test_a_file_of_a_wrong_clock_is_read_when_two_looks_agree() -> None:
    rest = Rest(1.0, wall=lambda: 10_000_000_000)
    future = Listing(DOCS, (listed("a", 99_000_000_000),))
    assert not rest.settle(future).documents
    assert rest.settle(future).documents
    other = Listing(DOCS, (listed("a", 99_000_000_000, size=2),))
    assert not rest.settle(other).documents
    assert rest.settle(other).documents
    assert rest.settle(other).documents


def test_what_was_read_while_it_changed_is_thrown_away(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("first")
    rest = Rest(1.0, wall=lambda: time.time_ns() + 86_400_000_000_000)
    listing = FolderSource(SourceSettings(path=str(tmp_path))).scan(Look())
    (found,) = rest.settle(listing).documents
    assert rest.is_still(found)
    path.write_text("second")
    assert not rest.is_still(found)
    path.unlink()
    assert not rest.is_still(found)
    assert rest.held == {str(path)}


# From operations to a fresh build: the events are made up, the rest is real


@dataclass
class Simulation:
    """A library over a folder, driven by hand: its clock stands until it is told to go."""

    folder: Path
    now: float = 0.0
    notes: list[WatchNote] = field(default_factory=list)
    reports: list[SyncReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.library = open_library(self.folder)
        self.watch = Watch(
            _Site(self.library, False, True, lambda _: None),
            debounce=1,
            every=1e9,
            on_note=self.notes.append,
            on_report=self.reports.append,
            clock=lambda: self.now,
            # As if what is on the disk had been written a day ago.
            rest=Rest(1, wall=lambda: time.time_ns() + 86_400_000_000_000),
            listen=self._listen,
        )

    def _listen(self, root: str, hear: Callable[[Heard], None]) -> Listener:
        self.hear = hear
        return Deaf()

    def event(self, *paths: Path, is_lost: bool = False) -> None:
        self.hear(Heard(str(self.folder), frozenset(map(str, paths)), is_lost))

    def go(self, seconds: float) -> None:
        for _ in range(max(1, int(seconds / 0.5))):
            self.now += 0.5
            self.watch.hear(0)
            self.watch.step()

    def close(self) -> None:
        self.watch.close()
        self.library.close()


class Deaf(Listener):
    """Listens to nothing."""

    def __init__(self) -> None:
        pass

    def close(self) -> None:
        pass


NAMES = st.sampled_from(["a.md", "b.md", "x/a.md", "x/c.md", "x/y/d.md", "z/e.md"])
FOLDERS = st.sampled_from(["x", "x/y", "z"])
TEXTS = st.integers(0, 3).map(lambda n: f"# Title {n}\n\nWords about number {n}.\n")
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("atomic"), NAMES, TEXTS),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("move folder"), FOLDERS, FOLDERS),
    st.tuples(st.just("move out"), FOLDERS),
    st.tuples(st.just("move in"), FOLDERS),
    st.tuples(st.just("ignore"), st.sampled_from(["", "a.md\n", "x/\n"])),
    st.tuples(
        st.just("lose"),
    ),
    st.tuples(st.just("swap file"), NAMES),
    st.tuples(st.just("wait"), st.sampled_from([0.5, 1.0, 3.0])),
)


def operate(simulation: Simulation, outside: Path, operation: tuple[object, ...]) -> None:
    """Do it, and tell what the system would tell of it. A folder that is new is told by its own
    name alone: what came into it before it was watched has no events."""
    folder = simulation.folder
    kind, *rest = operation
    match kind:
        case "write" | "atomic":
            path = folder / str(rest[0])
            made = next((p for p in reversed(path.parents) if not p.exists()), None)
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "atomic":
                temporary = path.with_name("4913")
                temporary.write_text(str(rest[1]))
                temporary.replace(path)
                simulation.event(made or temporary, made or path)
            else:
                path.write_text(str(rest[1]))
                simulation.event(made or path)
        case "delete":
            path = folder / str(rest[0])
            if path.exists():
                path.unlink()
                simulation.event(path)
        case "rename" | "move folder":
            old, new = (folder / str(name) for name in rest)
            taken = new.exists() and kind == "move folder"
            if old.exists() and new.parent.exists() and not taken and old not in new.parents:
                old.replace(new)
                simulation.event(old)
                simulation.event(new)
        case "move out":
            old = folder / str(rest[0])
            if old.exists() and not outside.exists():
                old.rename(outside)
                simulation.event(old)
        case "move in":
            new = folder / str(rest[0])
            if outside.exists() and not new.exists() and new.parent.exists():
                outside.rename(new)
                simulation.event(new)
        case "ignore":
            (folder / ".merestoneignore").write_text(str(rest[0]))
            simulation.event(folder / ".merestoneignore")
        case "lose":
            (folder / "lost.md").write_text("# Lost\n\nNobody heard of it.\n")
            simulation.event(is_lost=True)
        case "swap file":
            path = folder / str(rest[0])
            if path.parent.exists():
                backup = path.with_name(path.name + "~")
                backup.write_text("# Backup\n\nAn older version.\n")
                simulation.event(backup)
        case "wait":
            simulation.go(float(str(rest[0])))


def contents(library: Library) -> dict[str, tuple[str, list[str]]]:
    if not library._store.exists():
        return {}
    with library.snapshot(as_owner=True) as snapshot:
        return {
            record.id: (record.source_hash, [c.id for c in snapshot.chunks_of(record.id)])
            for record in snapshot.records()
        }


def fresh(library: Library, state: Path) -> dict[str, tuple[str, list[str]]]:
    with Library(replace(library.settings, state=str(state))) as other:
        other.sync()
        return contents(other)


def end_in_a_fresh_build(base: Path, operations: list[tuple[object, ...]]) -> None:
    (base / "docs").mkdir()
    simulation = Simulation(base / "docs")
    try:
        simulation.go(0.5)
        for operation in operations:
            operate(simulation, base / "outside", operation)
        simulation.go(12)
        assert contents(simulation.library) == fresh(simulation.library, base / "state")
        assert not simulation.notes
    finally:
        simulation.close()
        shutil.rmtree(base)


@settings(max_examples=15)
@given(st.lists(OPERATIONS, max_size=12))
def test_any_operations_followed_by_quiet_end_in_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[object, ...]]
) -> None:
    end_in_a_fresh_build(tmp_path_factory.mktemp("watched"), operations)


@pytest.mark.ci
@settings(max_examples=60)
@given(st.lists(OPERATIONS, max_size=30))
def test_many_operations_followed_by_quiet_end_in_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[object, ...]]
) -> None:
    end_in_a_fresh_build(tmp_path_factory.mktemp("watched"), operations)


@pytest.fixture
def simulation(tmp_path: Path) -> Iterator[Simulation]:
    (tmp_path / "docs").mkdir()
    made = Simulation(tmp_path / "docs")
    yield made
    made.close()


def test_a_move_costs_no_embedding(simulation: Simulation) -> None:
    folder = simulation.folder
    (folder / "x").mkdir()
    for number in range(3):
        (folder / f"x/{number}.md").write_text(f"# T{number}\n\nWords of {number}.\n")
    simulation.go(1)
    (folder / "x").rename(folder / "y")
    simulation.event(folder / "x")
    simulation.event(folder / "y")
    simulation.go(3)
    assert [report.embedded for report in simulation.reports] == [3, 0]
    assert simulation.reports[1].documents["moved"] == 3


def test_a_document_removed_by_hand_stays_out_when_it_is_edited(simulation: Simulation) -> None:
    path = simulation.folder / "a.md"
    path.write_text("# A\n\nWords.\n")
    simulation.go(1)
    simulation.library.remove(["a.md"])
    path.write_text("# A\n\nOther words.\n")
    simulation.event(path)
    simulation.go(3)
    assert not contents(simulation.library)
    assert not simulation.notes


def test_hundreds_of_events_are_one_sync(simulation: Simulation) -> None:
    simulation.go(1)
    for number in range(150):
        path = simulation.folder / f"{number}.md"
        path.write_text(f"# T{number}\n\nWords.\n")
        simulation.event(path)
    simulation.go(3)
    assert [report.documents["added"] for report in simulation.reports] == [0, 150]


@pytest.mark.parametrize("how", ["gone", "emptied"])
def test_a_large_deletion_is_told_once_and_the_rest_goes_on(
    simulation: Simulation, how: str
) -> None:
    simulation.watch.site = _Site(simulation.library, False, False, lambda _: None)
    paths = [simulation.folder / f"{number}.md" for number in range(10)]
    for path in paths:
        path.write_text(f"# {path.stem}\n\nWords.\n")
    simulation.go(1)
    for path in paths[:5]:
        path.unlink() if how == "gone" else path.write_text("")
        simulation.event(path)
    simulation.go(20)
    assert [note.code for note in simulation.notes] == ["large-deletion"]
    assert len(contents(simulation.library)) == 10
    paths[9].write_text("# 9\n\nOther words.\n")
    simulation.event(paths[9])
    simulation.go(20)
    assert [note.code for note in simulation.notes] == ["large-deletion"]
    assert simulation.reports[-1].documents["changed"] == 1
    assert len(contents(simulation.library)) == 10
    # Back below the limit, what is still gone is removed, and what is empty is.
    for path in paths[:3]:
        path.write_text(f"# {path.stem}\n\nWords.\n")
        simulation.event(path)
    simulation.go(20)
    assert sum(1 for _, chunks in contents(simulation.library).values() if chunks) == 8


def test_another_writer_is_waited_for(simulation: Simulation) -> None:
    simulation.go(1)
    path = simulation.folder / "a.md"
    path.write_text("# A\n\nWords.\n")
    with lease(Path(simulation.library.settings.state)):
        simulation.event(path)
        simulation.go(20)
        assert [note.code for note in simulation.notes] == ["store-busy"]
        assert not contents(simulation.library)
    simulation.go(5)
    assert set(contents(simulation.library)) == {"a.md"}
    assert len(simulation.notes) == 1


def test_an_error_of_a_round_is_told_once_and_tried_again(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation.go(1)
    path = simulation.folder / "a.md"
    path.write_text("# A\n\nWords.\n")

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    with monkeypatch.context() as patch:
        patch.setattr(Library, "_indexer", broken)
        simulation.event(path)
        simulation.go(30)
    assert [note.code for note in simulation.notes] == ["watch-failed"]
    assert "a fault of ours" in str(simulation.notes[0])
    simulation.go(60)
    assert set(contents(simulation.library)) == {"a.md"}


def test_settings_that_cannot_be_end_the_watch_at_its_start(simulation: Simulation) -> None:
    (simulation.folder / ".merestoneignore").write_text("!\n")
    with pytest.raises(SettingsError):
        simulation.go(1)


def test_settings_that_cannot_be_any_more_are_told(simulation: Simulation) -> None:
    simulation.go(1)
    (simulation.folder / "a.md").write_text("# A\n\nWords.\n")
    (simulation.folder / ".merestoneignore").write_text("!\n")
    simulation.event(simulation.folder / ".merestoneignore")
    simulation.go(10)
    assert [note.code for note in simulation.notes] == ["invalid-pattern"]
    (simulation.folder / ".merestoneignore").write_text("")
    simulation.event(simulation.folder / ".merestoneignore")
    simulation.go(20)
    assert set(contents(simulation.library)) == {"a.md"}


# With the system's own events


@dataclass
class Watched:
    """A library that is watched in a thread of its own."""

    folder: Path
    library: Library
    reports: list[SyncReport] = field(default_factory=list)
    notes: list[WatchNote] = field(default_factory=list)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENT
        while not condition():
            assert time.monotonic() < end, (self.reports, self.notes)
            time.sleep(0.02)

    def wait_for_documents(self, *names: str) -> None:
        self.wait_for(lambda: set(self.contents()) == set(names))

    def contents(self) -> dict[str, tuple[str, list[str]]]:
        return contents(self.library)

    def total(self, kind: str) -> int:
        """Documents of a kind in all reports."""
        return sum(report.documents[kind] for report in self.reports)

    def embedded(self) -> int:
        return sum(report.embedded for report in self.reports)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@contextmanager
def watched(folder: Path, every: float = 300.0) -> Iterator[Watched]:
    with open_library(folder) as library:
        made = Watched(folder, library)
        stop = threading.Event()
        thread = threading.Thread(
            target=library.watch,
            args=(made.reports.append,),
            kwargs={"stop": stop, "every": every, "on_note": made.notes.append},
        )
        thread.start()
        try:
            made.wait_for(lambda: bool(made.reports) or bool(made.notes) or not thread.is_alive())
            yield made
        finally:
            stop.set()
            thread.join(_PATIENT)
            assert not thread.is_alive()


def test_creations_edits_renames_and_deletions_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe first words.\n")
    (tmp_path / "keep.md").write_text("# Keep\n\nThis stays.\n")
    with watched(tmp_path) as found:
        found.wait_for_documents("a.md", "keep.md")
        found.write("deep/er/b.md", "# B\n\nSecond words.\n")
        found.wait_for_documents("a.md", "keep.md", "deep/er/b.md")
        found.write("a.md", "# A\n\nOther words altogether.\n")
        found.wait_for(lambda: found.total("changed") == 1)
        embedded = found.embedded()
        (tmp_path / "a.md").rename(tmp_path / "c.md")
        found.wait_for(lambda: found.total("moved") == 1)
        (tmp_path / "deep").rename(tmp_path / "deeper")
        found.wait_for(lambda: found.total("moved") == 2)
        assert set(found.contents()) == {"c.md", "keep.md", "deeper/er/b.md"}
        assert found.embedded() == embedded
        found.write("deeper/er/b.md", "# B\n\nEdited after the move.\n")
        found.wait_for(lambda: found.total("changed") == 2)
        (tmp_path / "c.md").unlink()
        found.wait_for_documents("keep.md", "deeper/er/b.md")
        assert not found.notes
        assert not found.library.verify().findings


def test_folders_moved_out_and_in_are_followed(tmp_path: Path) -> None:
    docs, outside = tmp_path / "docs", tmp_path / "outside"
    docs.mkdir()
    for number in range(9):
        (docs / f"{number}.md").write_text(f"# {number}\n\nWords {number}.\n")
    (docs / "x").mkdir()
    (docs / "x" / "a.md").write_text("# A\n\nWords of a.\n")
    names = [f"{number}.md" for number in range(9)]
    with watched(docs) as found:
        found.wait_for_documents(*names, "x/a.md")
        (docs / "x").rename(outside)
        found.wait_for_documents(*names)
        outside.rename(docs / "y")
        found.wait_for(lambda: found.total("added") == 11)
        assert set(found.contents()) == {*names, "y/a.md"}
        assert found.embedded() == 10
        assert not found.notes


def test_what_editors_do_ends_in_one_document(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n\nWords 0.\n")
    with watched(tmp_path) as found:
        # As vim saves with a backup: probe, move the old away, write the new.
        (tmp_path / ".a.md.swp").write_bytes(b"b0VIM")
        (tmp_path / "4913").write_text("")
        (tmp_path / "4913").unlink()
        path.rename(tmp_path / "a.md~")
        path.write_text("# A\n\nWords 1.\n")
        (tmp_path / ".a.md.swp").unlink()
        found.wait_for(lambda: "Words 1" in text_of(found, "a.md"))
        # As emacs autosaves and locks.
        (tmp_path / "#a.md#").write_text("# A\n\nUnsaved.\n")
        os.symlink("user@host.1:1", tmp_path / ".#a.md")
        # As most others do: write beside, then rename over.
        temporary = tmp_path / "a.md.tmp-7812"
        temporary.write_text("# A\n\nWords 2.\n")
        temporary.replace(path)
        found.wait_for(lambda: "Words 2" in text_of(found, "a.md"))
        found.write("b.md", "# B\n\nAnother.\n")
        found.wait_for(lambda: found.reports[-1].changes[-1].document == "b.md")
        changes = [change.document for report in found.reports for change in report.changes]
        assert set(changes) == {"a.md", "b.md"}
        assert not found.notes


def text_of(found: Watched, document: str) -> str:
    with found.library.snapshot() as snapshot:
        return snapshot.text(document) or ""


def test_a_file_is_never_seen_half_written(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Other\n\nStays.\n")
    seen: set[str] = set()
    with watched(tmp_path) as found:
        for round_number in range(3):
            marker = f"round {round_number}"
            with (tmp_path / "slow.md").open("w") as file:
                for part in range(4):
                    file.write(f"# Part {part}\n\nWords of {marker}.\n\n")
                    file.flush()
                    # Shorter than what a file has to rest, so that it never does in between.
                    time.sleep(0.15)
                    seen.add(text_of(found, "slow.md"))
                file.write("The end.\n")
            found.wait_for(lambda marker=marker: marker in text_of(found, "slow.md"))  # type: ignore[misc]
            seen.add(text_of(found, "slow.md"))
    assert {text for text in seen if text and not text.endswith("The end.\n")} == set()
    assert len(seen) == 4


def test_ignore_files_and_configuration_are_read_again(tmp_path: Path) -> None:
    config = tmp_path / "merestone.toml"
    config.write_text("[chunking]\nmax_tokens = 100\n")
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}\n\nWords of {name}.\n")
    with watched(tmp_path) as found:
        found.wait_for_documents("a.md", "b.md")
        (tmp_path / ".merestoneignore").write_text("b.md\n")
        found.wait_for_documents("a.md")
        (tmp_path / ".merestoneignore").unlink()
        found.wait_for_documents("a.md", "b.md")
        config.write_text("[chunking]\nmax_tokns = 100\n")
        found.wait_for(lambda: bool(found.notes))
        assert found.notes[-1].code == "unknown-setting"
        found.write("c.md", "# C\n\nStill followed.\n")
        found.wait_for_documents("a.md", "b.md", "c.md")
        config.write_text('[chunking]\nmax_tokens = 90\n\n[[sources]]\nexclude = ["c.md"]\n')
        found.wait_for_documents("a.md", "b.md")
        assert [note.code for note in found.notes] == ["unknown-setting", ""]
        assert found.library.settings.chunking.max_tokens == 90


def test_a_source_folder_that_goes_and_comes_back_is_followed_again(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (tmp_path / "merestone.toml").write_text('[[sources]]\npath = "docs"\n')
    (docs / "a.md").write_text("# A\n\nWords.\n")
    with watched(tmp_path) as found:
        found.wait_for_documents("a.md")
        docs.rename(tmp_path / "away")
        found.wait_for(lambda: bool(found.notes))
        assert found.notes[-1].code == "path-not-found"
        assert set(found.contents()) == {"a.md"}
        docs.mkdir()
        (docs / "b.md").write_text("# B\n\nNew words.\n")
        found.wait_for_documents("b.md")
        # Removed and made again at once, so that it may even have its old number.
        shutil.rmtree(docs)
        docs.mkdir()
        (docs / "c.md").write_text("# C\n\nNewer words.\n")
        found.wait_for_documents("c.md")
        (docs / "d.md").write_text("# D\n\nNewest words.\n")
        found.wait_for_documents("c.md", "d.md")


@pytest.mark.skipif(sys.platform != "linux", reason="only there a name need not be Unicode")
def test_a_name_that_is_no_unicode_is_followed(tmp_path: Path) -> None:
    with watched(tmp_path) as found:
        with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "w") as file:
            file.write("# Menu\n\nWords.\n")
        found.wait_for_documents("caf%E9.md")
        found.write("b.md", "# B\n\nHeard as well.\n")
        found.wait_for_documents("b.md", "caf%E9.md")


def test_a_folder_that_the_system_cannot_watch_is_looked_at_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(root: str, hear: object) -> Listener:
        raise OSError("no space left for watches")

    monkeypatch.setattr(Watch, "__init__", _with_listener(refuse))
    with watched(tmp_path, every=0.3) as found:
        found.write("a.md", "# A\n\nWords.\n")
        found.wait_for_documents("a.md")
        assert [note.code for note in found.notes] == ["not-watchable"]


def _with_listener(listen: object) -> Callable[..., None]:
    original = Watch.__init__

    def made(self: Watch, *arguments: object, **keywords: object) -> None:
        original(self, *arguments, **{**keywords, "listen": listen})  # type: ignore[arg-type]

    return made


def test_events_are_heard_from_the_making_of_the_listener_on(tmp_path: Path) -> None:
    heard: list[Heard] = []
    listener = Listener(str(tmp_path), heard.append)
    try:
        (tmp_path / "a.md").write_text("x")
        end = time.monotonic() + _PATIENT
        while not heard and time.monotonic() < end:
            time.sleep(0.01)
        assert str(tmp_path / "a.md") in heard[0].paths
        assert glance(str(tmp_path / "a.md")) == glance(str(tmp_path / "a.md")) != None  # noqa: E711
    finally:
        listener.close()
