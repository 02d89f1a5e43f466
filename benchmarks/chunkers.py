"""Measure Merestone's chunker beside its peers, in one run.

    python benchmarks/chunkers.py [--quick] [--only NAME] [--sample NAME] [--unit NAME]
        [--json FILE] [--examples] [--jobs N]

It needs the peers, best in an environment of their own, and the folder that
``MERESTONE_BENCH_DATA`` names, with ``samples/md``, ``samples/zh`` and ``samples/novel``; the
Python sample is a part of the standard library, ``graphemes`` is made here:

    pip install 'merestone[openai-tokens]' semantic-text-splitter langchain-text-splitters \\
        llama-index-core chonkie haystack-ai semchunk tiktoken tree-sitter-python \\
        markdown-it-py regex psutil

Every tool cuts to 1000 characters, to 256 tokens of BERT's tokenizer and to 256 of cl100k_base,
without overlap, its own defaults otherwise; nothing comes from the network.

Columns, over all texts of a sample:

- chunks: their number
- MB/s: of UTF-8, by CPU time of all threads, best of up to five runs; Merestone's texts are
  read before, its row ``read + cut`` counts the reading too
- passes: the same time, in times that one ``encode`` of every text takes: by the Hugging Face
  tokenizer for chars and bert, by tiktoken for cl100k
- mem: highest rise of resident memory over what it was before, in sizes of the text (1 MB of it)
- over: chunks over the limit as the tool promises it, Merestone with special tokens and context;
  model: chunks that a model of that limit would cut off, special tokens counted
- pos: chunks whose reported range of the text is the chunk (of tools that tell only a start,
  with the length of the chunk); <: chunks that are said to begin before the one before them
- kept: non-blank characters of the texts that are in a chunk; not 100 % if text is lost or changed
- \\X: cuts inside what a reader sees as one character
- broken: fences, tables, rows, list items and paragraphs that fit but are cut, of those that fit
- orphan: headings at a chunk's end with their text in the next
- header: chunks that go on with a table and show its header, of those that go on with one
- new: chunks with a new text when a paragraph is put at the top, mean per document, and the share
  of all; for the novel without its headings, in parts of 60,000 characters
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

from peers.forks import ChildError, cpu_seconds, described, run_in_fork
from peers.measures import figures, memory
from peers.oracle import Outline, outlines
from peers.samples import Sample, odd_texts, samples
from peers.tools import Cutter, Tool, tools
from peers.units import MissingError, Unit, bert, cl100k, units

PACKAGES = """
    merestone semantic-text-splitter langchain-text-splitters llama-index-core chonkie haystack-ai
    semchunk tiktoken tokenizers markdown-it-py regex
""".split()
QUICK_SHARE = 10
"""``--quick`` takes one of so many texts, or the first part of a text."""

Row = dict[str, Any]


def main() -> None:
    options = _options()
    if options.worker:
        _work(options)
        return
    share = QUICK_SHARE if options.quick else 1
    chosen_units = _available_units(options.unit)
    print(_environment(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        chosen = _chosen(samples(share), options.sample)
        passes = _prepare(Path(folder), chosen, chosen_units)
        names = list(_chosen(tools(), options.only))
        workers = [_worker_command(Path(folder), name, options) for name in names]
        with ThreadPoolExecutor(options.jobs) as pool:
            answers = list(pool.map(_run_worker, workers))
    rows = [row for answer in answers for row in answer.get("rows", [])]
    odd = {name: answer["odd"] for name, answer in zip(names, answers, strict=True)}
    for sample in chosen.values():
        _print_sample(sample, [row for row in rows if row["sample"] == sample.name], passes)
    _print_odd(odd)
    _print_reach(rows, passes)
    if options.examples:
        _print_examples(rows)
    if options.json:
        found = {"environment": _environment(), "passes": passes, "rows": rows, "odd": odd}
        Path(options.json).write_text(json.dumps(found, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Merestone's chunker beside its peers")
    parser.add_argument("--quick", action="store_true", help="a tenth of the texts")
    parser.add_argument("--only", action="append", help="a tool, or a part of its name")
    parser.add_argument("--sample", action="append", help="md, zh, novel, python or graphemes")
    parser.add_argument("--unit", action="append", help="chars, bert or cl100k")
    parser.add_argument("--json", help="write every figure to this file")
    parser.add_argument("--examples", action="store_true", help="show the first text of each fault")
    parser.add_argument("--jobs", type=int, default=2, help="tools at a time")
    parser.add_argument("--limit", type=float, default=120, help="CPU seconds for a sample")
    parser.add_argument("--worker", nargs=2, metavar=("FOLDER", "TOOL"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _chosen(found: dict[str, Any], parts: Sequence[str] | None) -> dict[str, Any]:
    """Those whose name holds one of ``parts``; all without any."""
    return {
        name: value
        for name, value in found.items()
        if not parts or any(part in name for part in parts)
    }


def _available_units(names: Sequence[str] | None) -> dict[str, Unit]:
    chosen: dict[str, Unit] = _chosen(units(), names)
    if "cl100k" in chosen:
        try:
            cl100k()
        except MissingError as error:
            print(f"cl100k is left out: {error}")
            del chosen["cl100k"]
    return chosen


def _environment() -> str:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            found.append(f"{package} not installed")
    return f"Python {platform.python_version()}, {os.cpu_count()} cores: {', '.join(found)}"


def _prepare(
    folder: Path, chosen: dict[str, Sample], chosen_units: dict[str, Unit]
) -> dict[str, dict[str, float]]:
    """Leave samples and outlines in ``folder``; CPU seconds of each tokenizer's pass."""
    found = {
        name: (sample, outlines(sample, list(chosen_units.values())))
        for name, sample in chosen.items()
    }
    (folder / "samples").write_bytes(pickle.dumps(found))
    (folder / "units").write_text(json.dumps(list(chosen_units)))
    return {name: _passes(sample, "cl100k" in chosen_units) for name, sample in chosen.items()}


def _passes(sample: Sample, with_cl100k: bool) -> dict[str, float]:
    """CPU seconds that encoding each text once takes, by tokenizer."""
    tokenizer = bert()
    texts = list(sample.texts)

    def best(function: Callable[[], Any]) -> float:
        return min(cpu_seconds(function) for _ in range(3))

    found = {
        "bert": best(lambda: [tokenizer.encode(text).ids for text in texts]),
        "bert fast": best(lambda: tokenizer.encode_batch_fast(texts)),
    }
    if with_cl100k:
        encoding = cl100k()
        found["cl100k"] = best(lambda: [encoding.encode_ordinary(text) for text in texts])
    found["chars"] = found["bert"]
    return found


def _worker_command(folder: Path, name: str, options: argparse.Namespace) -> list[str]:
    seconds = "30" if options.quick else str(options.limit)
    quick = ["--quick"] if options.quick else []
    worker = ["--worker", str(folder), name, "--limit", seconds]
    return [sys.executable, __file__, *worker, *quick]


def _run_worker(command: list[str]) -> dict[str, Any]:
    """What a worker found. Its tool's own messages don't reach the report."""
    name = command[4]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = spent.ru_utime + spent.ru_stime
    print(f"  {name}: measured; {seconds:.0f} CPU s so far", file=sys.stderr, flush=True)
    try:
        found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        lines = ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"]
        print(f"{name}: {lines[-1]}")
        return {"rows": [], "odd": {lines[-1]: ["all"]}}
    return found


def _work(options: argparse.Namespace) -> None:
    """Measure one tool in this process's forks and print what was found as a line of JSON."""
    folder, name = Path(options.worker[0]), options.worker[1]
    tool = tools()[name]
    tool.load()
    chosen: dict[str, tuple[Sample, list[Outline]]] = pickle.loads(
        (folder / "samples").read_bytes()
    )
    known = units()
    wanted = [known[name] for name in json.loads((folder / "units").read_text())]
    _load_tokenizers(wanted)
    rows = [
        _row(tool, sample, found, unit, options)
        for unit in wanted
        for sample, found in chosen.values()
    ]
    odd = _survival(tool, wanted)
    print(json.dumps({"rows": rows, "odd": odd}))


def _load_tokenizers(wanted: Sequence[Unit]) -> None:
    """Before any fork, so that no fork's memory counts them."""
    for unit in wanted:
        if unit.name == "bert":
            bert()
        elif unit.name == "cl100k":
            cl100k()


def _row(
    tool: Tool, sample: Sample, found: list[Outline], unit: Unit, options: argparse.Namespace
) -> Row:
    row: Row = {"tool": tool.name, "sample": sample.name, "unit": unit.name, "bytes": sample.bytes}
    seconds = 0.3 if options.quick else 1.5

    def make() -> Cutter:
        return tool.make(unit, sample.suffix)

    try:
        make()
        row |= run_in_fork(
            lambda: figures(make, sample, found, unit, seconds, tool.reads), options.limit
        )
        row["memory"] = run_in_fork(lambda: memory(make, sample, False), options.limit)
        if tool.reads:
            row["read_memory"] = run_in_fork(lambda: memory(make, sample, True), options.limit)
    except MissingError as error:
        row["missing"] = str(error)
    except ChildError as error:
        row["failed"] = str(error)
    except Exception as error:  # A peer may fail in any way, and the others still count.
        row["failed"] = described(error)
    return row


def _survival(tool: Tool, wanted: Sequence[Unit]) -> dict[str, list[str]]:
    """By what went wrong, the odd strings and units with which it did."""
    faults: dict[str, list[str]] = {}
    for unit in wanted:
        try:
            tool.make(unit, ".md")
        except Exception:
            continue
        for name, text in odd_texts().items():
            try:
                run_in_fork(lambda text=text, unit=unit: _cut(tool, unit, text), 20)
            except ChildError as error:
                fault = str(error).partition(":")[0]
                faults.setdefault(fault, []).append(f"{name} ({unit.name})")
    return faults


def _cut(tool: Tool, unit: Unit, text: str) -> int:
    cutter = tool.make(unit, ".md")
    return len(cutter.pieces(cutter.cut(text)))


COLUMNS = (
    ("chunks", 7),
    ("MB/s", 8),
    ("passes", 8),
    ("mem", 6),
    ("over", 6),
    ("model", 6),
    ("pos %", 7),
    ("<", 4),
    ("kept %", 8),
    ("\\X", 5),
    ("broken", 10),
    ("orphan", 7),
    ("header", 9),
    ("new", 7),
    ("new %", 6),
)


def _print_sample(sample: Sample, rows: Sequence[Row], passes: dict[str, dict[str, float]]) -> None:
    took = passes[sample.name]
    speeds = ", ".join(
        f"{name} {sample.bytes / 1e6 / seconds:.1f}"
        for name, seconds in took.items()
        if name != "chars"
    )
    size = f"{sample.bytes / 1e6:.2f} MB in {len(sample.texts)}"
    print(f"\n{sample.name}: {size}; one tokenizer pass, MB/s: {speeds}")
    for unit in dict.fromkeys(row["unit"] for row in rows):
        print(f"{unit:24}" + "".join(f"{title:>{width}}" for title, width in COLUMNS))
        for row in rows:
            if row["unit"] == unit:
                _print_row(row, took[unit])


def _print_row(row: Row, seconds: float) -> None:
    if "quality" not in row:
        print(f"{row['tool']:24}  {row.get('failed') or 'not offered: ' + row['missing']}")
        return
    print(f"{row['tool']:24}" + _cells(row, row["cut_s"], seconds, row.get("memory")))
    if "read_s" in row:
        both = row["cut_s"] + row["read_s"]
        cells = ("", f"{row['bytes'] / 1e6 / both:.2f}", f"{both / seconds:.2f}")
        cells += (_one(row.get("read_memory")),)
        print(
            f"{'  read + cut':24}"
            + "".join(f"{cell:>{width}}" for cell, (_, width) in zip(cells, COLUMNS, strict=False))
        )
    if "failed" in row:
        print(f"  {row['tool']}, memory: {row['failed']}")


def _cells(row: Row, cut_s: float, seconds: float, memory_ratio: float | None) -> str:
    q = row["quality"]
    markdown = bool(q["fitting"])
    churn = row.get("churn")
    values = (
        q["chunks"],
        f"{row['bytes'] / 1e6 / cut_s:.2f}",
        f"{cut_s / seconds:.2f}",
        _one(memory_ratio),
        q["over"],
        q["over_model"],
        _per_cent(q["placed"], q["chunks"]),
        q["backwards"],
        _per_cent(q["covered"], q["characters"]),
        q["inside_graphemes"],
        f"{sum(q['broken'].values())}/{sum(q['fitting'].values())}" if markdown else "",
        q["orphans"] if markdown else "",
        f"{q['with_header']}/{q['continued']}" if markdown else "",
        f"{churn['texts']:.2f}" if churn else "",
        f"{100 * churn['share']:.0f}" if churn else "",
    )
    return "".join(f"{value:>{width}}" for value, (_, width) in zip(values, COLUMNS, strict=True))


def _one(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _per_cent(part: int, whole: int) -> str:
    """Two decimals, and never 100 for less than all."""
    if part == whole:
        return "100"
    return f"{min(99.99, 100 * part / whole):.2f}" if whole else "-"


def _print_odd(odd: dict[str, dict[str, list[str]]]) -> None:
    print(f"\nodd strings ({', '.join(odd_texts())})")
    for name, faults in odd.items():
        print(f"{name:24}  {'all survived' if not faults else ''}")
        for fault, strings in faults.items():
            print(f"    {fault}: {', '.join(strings)}")


def _print_reach(rows: Sequence[Row], passes: dict[str, dict[str, float]]) -> None:
    """What the project set itself to reach, for each row of Merestone's default strategy."""
    print("\nMerestone against what it set itself")
    for row in rows:
        if row["tool"] != "merestone" or "quality" not in row:
            continue
        missed = _missed(row, passes[row["sample"]])
        print(f"  {row['sample']:10}{row['unit']:8}{'; '.join(missed) or 'reached'}")


def _missed(row: Row, took: dict[str, float]) -> list[str]:
    q, unit = row["quality"], row["unit"]
    most_passes = {"chars": 0.04, "bert": 0.85, "cl100k": 1.3}[unit]
    most_memory = 3 if unit == "chars" else 20
    spent = row["cut_s"] / took[unit]
    broken = sum(q["broken"].values())
    checks = (
        (spent > most_passes, f"{spent:.2f} passes (reach {most_passes})"),
        (row.get("memory", 0) > most_memory, f"memory {row.get('memory', 0):.1f} ({most_memory})"),
        (q["over_model"], f"{q['over_model']} over the limit"),
        (q["placed"] < q["chunks"], f"{q['chunks'] - q['placed']} misplaced"),
        (q["backwards"], f"{q['backwards']} out of order"),
        (q["covered"] < q["characters"], f"{q['characters'] - q['covered']} characters lost"),
        (q["inside_graphemes"], f"{q['inside_graphemes']} cuts inside graphemes"),
        (broken, f"{broken} blocks broken"),
        (q["orphans"], f"{q['orphans']} orphan headings"),
        (
            q["with_header"] < q["continued"],
            f"{q['continued'] - q['with_header']} without table header",
        ),
        (
            "churn" in row and row["churn"]["texts"] > (2.5 if row["sample"] == "novel" else 1.2),
            f"{row.get('churn', {}).get('texts', 0):.2f} chunks new",
        ),
    )
    return [message for wrong, message in checks if wrong]


def _print_examples(rows: Sequence[Row]) -> None:
    print("\nThe first text of each fault")
    for row in rows:
        for fault, text in row.get("quality", {}).get("example", {}).items():
            print(f"  {row['tool']}, {row['sample']}, {row['unit']}, {fault}: {text!r}")


if __name__ == "__main__":
    main()
