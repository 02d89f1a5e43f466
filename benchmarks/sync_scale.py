"""What keeping an index costs at scale, beside peers.

    python benchmarks/sync_scale.py [files] [build] [memory]
        [--files 10000] [--only NAME] [--sizes 64,256] [--passages 300] [--json FILE]

Peers as in ``benchmarks/incremental.py``, which says what to install. All but ``build`` use an
embedder without a model, whose vectors are hashes of the text, over generated Markdown
(``indexers/corpus.py``); Merestone cuts by the bundled model's tokenizer. Every run but those of
whole processes is in a process that has imported everything and run once; the state is on disk,
except that LangChain's and LlamaIndex's vector stores stay in memory.

- files: ``--files`` files of about 1 kB. nothing: a run that has nothing to do; beside it
  ``os.walk`` and a ``stat`` of each file, and how many times their wall clock it takes;
  best of three. ``process``: Merestone's command from start to end, with its hashing embedder.
  edit: one of the files gets a paragraph; until the index holds it, by a run over everything
  and by one that is given the name of the file, where that is possible without the others being
  forgotten. Best of three; texts embedded are counted.
- build: a first build of some documents of ``samples/md`` with the bundled embedder, once it is
  loaded, against that embedder alone over the same distinct inputs in one call. Best of two.
- memory: the peak of resident memory of a process that builds a library of so many megabytes of
  text, in files of 100 kB. ``--sizes 64,256,1024`` goes up to a gigabyte.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from indexers.corpus import write_files
from indexers.embedder import NamedEmbedder
from indexers.scenario import LARGE, markdown_files
from indexers.systems import SYSTEMS, Entry, MissingError
from peers.forks import ChildError, run_in_fork

PARTS = ("files", "build", "memory")
_FILE_BYTES = 1_000
_LARGE_FILE_BYTES = 100_000
_RUNS = 3
_LIMIT_S = 3600.0


class Cost(NamedTuple):
    """Seconds of one run."""

    wall: float
    cpu: float


class Edit(NamedTuple):
    """A run after an edit."""

    cost: Cost
    texts: int
    """Texts embedded."""


@dataclass(slots=True)
class Scale:
    """A system's figures over many files."""

    build: Cost
    nothing: Cost
    edit: Edit
    edit_named: Edit | None


def main() -> None:
    options = _options()
    if options.worker:
        _build_library(Path(options.worker))
        return
    found: dict[str, Any] = {}
    parts = options.parts or PARTS
    if "files" in parts:
        found["files"] = many_files(options.files, options.only)
    if "build" in parts:
        found["build"] = build_throughput(options.passages)
    if "memory" in parts:
        found["memory"] = memory([int(size) for size in options.sizes.split(",")])
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Cost of keeping an index at scale")
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--only", action="append", help="a system, or a part of its name")
    parser.add_argument("--passages", type=int, default=300, help="for build, at least")
    parser.add_argument("--sizes", default="64,256", help="for memory, megabytes")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--json", help="write every figure to this file")
    return parser.parse_args()


def many_files(count: int, only: list[str] | None) -> dict[str, Any]:
    """Runs with nothing and with little to do over many small files."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        write_files(folder, count, _FILE_BYTES)
        walk = best(lambda: walk_and_stat(folder))
        print(f"{count} files, hash embedder; seconds of wall clock and CPU")
        print(
            f"{'':32}{'build':>16}{'nothing':>15}{'x walk':>8}{'edit':>15}{'texts':>6}"
            f"{'edit, named':>15}{'texts':>6}"
        )
        print(f"{'os.walk and stat':32}{'':16}{_shown(walk):>15}{1:8.1f}", flush=True)
        for entry in SYSTEMS:
            if only and not any(part.lower() in entry.name.lower() for part in only):
                continue
            try:
                entry.require()
                # A fork each, which imports for itself: not every package survives a fork.
                own = Path(place) / entry.name.replace(" ", "-")
                answer = run_in_fork(lambda e=entry, o=own: _scale(e, o, count), _LIMIT_S)
            except (MissingError, ChildError) as error:
                print(f"{entry.name:32}{error}", flush=True)
                continue
            _print_scale(entry.name, answer, walk)
            found[entry.name] = asdict(answer)
        if not only or any(part.lower() in "merestone" for part in only):
            process = best(lambda: _command(folder))
            print(f"{'Merestone, process':32}{'':16}{_shown(process):>15}")
            found["process"] = process
    return {"count": count, "walk": walk, **found}


def _scale(entry: Entry, folder: Path, count: int) -> Scale:
    write_files(folder, count, _FILE_BYTES)
    embedder = NamedEmbedder("first")
    system = entry.load()(folder)

    def sync(*only: str) -> None:
        system.sync(LARGE, embedder, only)

    built = cost(sync)
    nothing = best(sync)
    name = f"{count // 2 // 100:04}/{count // 2:06}.md"

    def edited(number: int, *only: str) -> Edit:
        path, words = folder / name, f"Paragraph {number} was added."
        path.write_text(f"{path.read_text('utf-8')}\n{words}\n", "utf-8")
        before = embedder.given
        spent = cost(lambda: sync(*only))
        if not any(words in row.input for row in system.rows() if row.document == name):
            raise RuntimeError("the edit is not in the index")
        return Edit(spent, embedder.given - before)

    everything = min(edited(number) for number in range(_RUNS))
    named = min(edited(_RUNS + number, name) for number in range(_RUNS)) if entry.scoped else None
    return Scale(built, nothing, everything, named)


def walk_and_stat(folder: Path) -> int:
    """List a tree and look at each file; the number of files."""
    return sum(
        bool(os.stat(os.path.join(place, name)))
        for place, _, names in os.walk(folder)
        for name in names
    )


def _command(folder: Path) -> None:
    """`merestone sync`; the first time it builds."""
    (folder / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    command = [sys.executable, "-m", "merestone.cli.main", "-C", str(folder), "sync"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cost(run: Callable[[], object]) -> Cost:
    """Seconds that one call takes."""
    wall, cpu = time.perf_counter(), _cpu_seconds()
    run()
    return Cost(time.perf_counter() - wall, _cpu_seconds() - cpu)


def best(run: Callable[[], object], runs: int = _RUNS) -> Cost:
    """The least of several calls, behind one that is not counted."""
    run()
    costs = [cost(run) for _ in range(runs)]
    return Cost(min(item.wall for item in costs), min(item.cpu for item in costs))


def _cpu_seconds() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def build_throughput(passages: int) -> dict[str, Any]:
    """A build with the bundled embedder against the embedder alone."""
    from merestone import Library
    from merestone.chunking import render
    from merestone.embedding import open_embedder
    from merestone.types import EmbeddingSettings

    embedder = open_embedder(EmbeddingSettings())

    def built(folder: Path) -> list[str]:
        """Sync a new library; its distinct embedder inputs."""
        with Library.open(folder) as library:
            library.embedder = embedder
            library.sync()
            with library.snapshot() as snapshot:
                chunks = [
                    chunk
                    for record in snapshot.records()
                    for chunk in snapshot.chunks_of(record.id)
                ]
                return list(dict.fromkeys(render(chunk) for chunk in chunks))

    with tempfile.TemporaryDirectory() as place:
        sample = Path(place) / "sample"
        _copy_documents(sample, passages)
        inputs: list[str] = []
        builds, bare = [], []
        embedder.embed_passages(["The weights are read at the first text."])
        for run in range(2):
            folder = Path(place) / f"run-{run}"
            sample.rename(folder) if run else _copy_documents(folder, passages)
            builds.append(cost(lambda f=folder: inputs.__setitem__(slice(None), built(f))))
            bare.append(cost(lambda: embedder.embed_passages(inputs)))
    build, alone = (
        Cost(min(item.wall for item in costs), min(item.cpu for item in costs))
        for costs in (builds, bare)
    )
    print(f"\nbuild with the bundled embedder, {len(inputs)} distinct passages")
    print(f"{'':32}{'wall s':>9}{'CPU s':>9}{'texts/s':>9}")
    for name, item in (("embedder alone", alone), ("first build", build)):
        print(f"{name:32}{item.wall:9.2f}{item.cpu:9.2f}{len(inputs) / item.wall:9.1f}")
    share = Cost(alone.wall / build.wall, alone.cpu / build.cpu)
    print(f"{'share of the embedder':32}{share.wall:9.2f}{share.cpu:9.2f}", flush=True)
    return {"passages": len(inputs), "build": build, "embedder": alone, "share": share}


def _copy_documents(folder: Path, passages: int) -> None:
    """Documents of ``samples/md`` that come to about so many passages."""
    folder.mkdir(parents=True)
    left = passages * 600
    for path in markdown_files(_data_folder() / "samples" / "md"):
        if left <= 0:
            return
        data = path.read_bytes()
        (folder / path.name).write_bytes(data)
        left -= len(data)


def _data_folder() -> Path:
    if "MERESTONE_BENCH_DATA" not in os.environ:
        raise SystemExit("MERESTONE_BENCH_DATA must name the folder that holds samples/.")
    return Path(os.environ["MERESTONE_BENCH_DATA"])


def memory(sizes: list[int]) -> dict[str, Any]:
    """Peaks of memory by size of the text."""
    print("\nmemory of a first build, hash embedder")
    print(f"{'MB of text':>12}{'peak MB':>10}{'wall s':>9}{'CPU s':>9}{'MB/s':>7}")
    found = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "files"
            write_files(folder, size * 1_000_000 // _LARGE_FILE_BYTES, _LARGE_FILE_BYTES)
            began = time.perf_counter()
            process = subprocess.Popen([sys.executable, __file__, "--worker", str(folder)])
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            if os.waitstatus_to_exitcode(status) != 0:
                raise SystemExit(f"The build of {size} MB failed.")
        cpu = usage.ru_utime + usage.ru_stime
        peak = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        print(f"{size:12}{peak:10.0f}{wall:9.1f}{cpu:9.1f}{size / cpu:7.2f}", flush=True)
        found[size] = {"peak_mb": peak, "wall": wall, "cpu": cpu}
    return found


def _build_library(folder: Path) -> None:
    """What a process whose memory is measured does."""
    from indexers.merestone_library import MerestoneSystem

    MerestoneSystem(folder).sync(LARGE, NamedEmbedder("first"))


def _print_scale(name: str, scale: Scale, walk: Cost) -> None:
    edits = "".join(
        f"{_shown(edit.cost):>15}{edit.texts:6}" if edit else f"{'-':>15}{'-':>6}"
        for edit in (scale.edit, scale.edit_named)
    )
    print(
        f"{name:32}{_shown(scale.build):>16}{_shown(scale.nothing):>15}"
        f"{scale.nothing.wall / walk.wall:8.1f}{edits}",
        flush=True,
    )


def _shown(cost: Cost) -> str:
    return f"{cost.wall:.2f} {cost.cpu:.2f}"


if __name__ == "__main__":
    main()
