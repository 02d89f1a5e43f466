"""What keeping an index true costs in embedded texts, and whether it is true afterwards.

    python benchmarks/incremental.py [--documents 200] [--only NAME] [--json FILE]

It needs the folder that ``MERESTONE_BENCH_DATA`` names, with ``samples/md``, and for the peers,
best in an environment of their own:

    pip install merestone langchain-core langchain-classic langchain-text-splitters sqlalchemy \\
        llama-index-core cocoindex

Documents are the first files of ``samples/md`` by name that are not empty. Steps, one after the
other: the first build; U1, of the documents one paragraph edited in 10, 5 deleted, 5 renamed and
5 added (``indexers/scenario.py`` says which); U2, chunks of half the size; U3, another embedder.
Each system cuts with its own chunker at about the same size, and sees the whole folder each time.
The embedder has no model: its vectors are hashes of its name and the text.

Columns for each step: texts of documents given to the embedder / the fewest possible, and their
ratio; stale/duplicate/missing rows behind the step. ``+1`` is a text of no document, by whose
vector Merestone notices in its first batch that an embedder is not the one it was. The fewest
possible are the distinct embedder inputs of this state, by the system's own chunks, that no
earlier state had with this embedder. What counts as stale, duplicate and missing is said in
``indexers/rows.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from indexers.rows import Faults, Ledger, System, faults
from indexers.scenario import Scenario, markdown_files
from indexers.systems import SYSTEMS, Entry, MissingError


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one step took, and what it left."""

    step: str
    embedded: int
    probed: int
    """Texts embedded that are of no document."""
    fewest: int
    faults: Faults
    chunks: int
    characters: float
    """Mean length of an embedder input."""

    @property
    def ratio(self) -> float:
        """Texts embedded, in multiples of the fewest; infinite where none was needed."""
        return self.embedded / self.fewest if self.fewest else float("inf") * bool(self.embedded)


def main() -> None:
    options = _options()
    scenario = Scenario(markdown_files(_data_folder() / "samples" / "md"), options.documents)
    found: dict[str, Any] = {}
    for entry in SYSTEMS:
        if options.only and not any(part.lower() in entry.name.lower() for part in options.only):
            continue
        try:
            make = entry.load()
        except MissingError as error:
            print(f"{entry.name}: {error}", flush=True)
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "files"
            outcomes = run(scenario, folder, make)
        _print(entry, outcomes, with_title=not found)
        found[entry.name] = {
            "versions": entry.versions(),
            "steps": [asdict(outcome) for outcome in outcomes],
        }
    print("\n" + "; ".join(dict.fromkeys(system["versions"] for system in found.values())))
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))


def run(scenario: Scenario, folder: Path, make: Any) -> list[Outcome]:
    """Play the scenario in ``folder`` with the system that ``make`` makes of it."""
    ledger = Ledger()
    outcomes = []
    system: System | None = None
    for step in scenario.play(folder):
        system = system or make(folder)
        given, probed = step.embedder.given, step.embedder.probed
        system.sync(step.size, step.embedder)
        # Before the rows are read: a system may embed for that.
        given, probed = step.embedder.given - given, step.embedder.probed - probed
        wanted = system.wanted(step.size)
        outcomes.append(
            Outcome(
                step.name,
                given,
                probed,
                ledger.owed(wanted, step.embedder.name),
                faults(system.rows(), wanted, step.embedder),
                len(wanted),
                statistics.fmean(len(place.input) for place in wanted),
            )
        )
    return outcomes


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Work and truth of incremental indexing")
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--only", action="append", help="a system, or a part of its name")
    parser.add_argument("--json", help="write every figure to this file")
    return parser.parse_args()


def _data_folder() -> Path:
    if "MERESTONE_BENCH_DATA" not in os.environ:
        raise SystemExit("MERESTONE_BENCH_DATA must name the folder that holds samples/.")
    return Path(os.environ["MERESTONE_BENCH_DATA"])


def _print(entry: Entry, outcomes: list[Outcome], *, with_title: bool) -> None:
    if with_title:
        columns = "".join(f"{outcome.step:>33}" for outcome in outcomes)
        print(f"{'':30}{'chunks':>7}{'chars':>6}{columns}")
    first = outcomes[0]
    cells = "".join(
        f"{f'{o.embedded}{_plus(o.probed)}/{o.fewest}':>13}{f'x{o.ratio:.2f}':>7}{o.faults!s:>13}"
        for o in outcomes
    )
    print(f"{entry.name:30}{first.chunks:7}{first.characters:6.0f}{cells}", flush=True)


def _plus(number: int) -> str:
    return f"+{number}" if number else ""


if __name__ == "__main__":
    main()
