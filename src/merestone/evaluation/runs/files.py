"""Records of runs on disk."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from merestone.evaluation.measures.spans import at
from merestone.evaluation.runs.values import Run
from merestone.files import write_text
from merestone.types import JSON, NotFoundError, SettingsError

LAST = "last"
"""Names the newest run of the library as it was; a trial of other settings is never meant."""

_FOLDER = "runs"
_TRIALS = "trials"
_ID_DIGITS = 12


def runs_folder(state: str) -> Path:
    """Where a library keeps its runs. It is as private as the state folder that it is in: a run
    holds ids and positions of all that its asker could read."""
    return Path(state) / _FOLDER


def save_run(run: Run, folder: Path, *, is_trial: bool = False) -> Path:
    """Write ``run`` under its time and id, in the place of an earlier one of the same id and name,
    which says the same; the file. Runs of settings that are only tried out are kept apart."""
    if is_trial:
        folder = folder / _TRIALS
    for path in folder.glob(f"*-{run.id[:_ID_DIGITS]}.json"):
        with suppress(SettingsError, OSError):
            if load_run(path).name == run.name:
                path.unlink()
    moment = run.time.replace("-", "").replace(":", "")
    path = folder / f"{moment}-{run.id[:_ID_DIGITS]}.json"
    write_run(run, path)
    return path


def write_run(run: Run, path: Path, *, served: bool = True) -> None:
    """Write ``run`` to ``path``, whole or not at all, one question a line. Without ``served`` it
    says how questions scored, which is all that a baseline needs, and names no document: who may
    read the file need not be one who may read these."""
    if not served:
        run = _bare(run)
    shape = run.to_json()
    rows = shape.pop("per_question")
    assert isinstance(rows, list)
    head = json.dumps(shape, ensure_ascii=True, indent=1).removesuffix("\n}")
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=True) for row in rows)
    write_text(path, f'{head},\n "per_question": [\n{lines}\n ]\n}}\n')


def _bare(run: Run) -> Run:
    """``run`` without what names documents: gold, passages, and what is said in words of misses
    and of questions that were not scored."""
    bare = (replace(result, gold=(), served={}, detail="") for result in run.results)
    skipped = dict.fromkeys(run.skipped, "not scored")
    return replace(run, results=tuple(bare), skipped=skipped)


def load_run(path: Path) -> Run:
    """The run in ``path``; ``SettingsError`` with code ``invalid-run`` if there is none in it."""
    try:
        shape = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            "invalid-run",
            f"{path} cannot be read as a run: {error}.",
            "Give a file that `merestone eval` kept or `merestone gate --update-baseline` wrote.",
        ) from error
    try:
        return Run.from_json(shape)
    except SettingsError as error:
        raise SettingsError(error.code, f"{path}: {error.message}", error.remedy) from error


def kept_run(id: str, folder: Path) -> Run | None:
    """The run of that id, if it is kept."""
    for path in saved_runs(folder):
        if path.stem.endswith(f"-{id[:_ID_DIGITS]}"):
            with suppress(SettingsError):
                run = load_run(path)
                if run.id == id:
                    return run
    return None


def saved_runs(folder: Path) -> list[Path]:
    """The files of all runs, newest first, and behind them those of trials."""
    return [*_runs_in(folder), *_runs_in(folder / _TRIALS)]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run on disk."""

    run: Run
    path: Path
    is_trial: bool
    """True: of settings that were only tried out."""

    def to_json(self) -> dict[str, JSON]:
        run = self.run
        measure = run.means.get(at("GoldCoverage", run.main))
        return {
            "run": run.id,
            "name": run.name,
            "time": run.time,
            "library_version": run.library_version,
            "questions": len(run.counted),
            "made_apart": len(run.apart),
            "asker": list(run.asker),
            "main": run.main,
            "coverage": measure.mean if measure else None,
            "trial": self.is_trial,
            "file": str(self.path),
        }


def list_runs(folder: Path) -> list[KeptRun]:
    """All runs that can be read, newest first, and behind them those of trials, but for trials
    that gave what a run gave that is listed already."""
    found: list[KeptRun] = []
    for path in saved_runs(folder):
        with suppress(SettingsError):
            found.append(KeptRun(load_run(path), path, path.parent != folder))
    known = {each.run.id for each in found if not each.is_trial}
    return [each for each in found if not each.is_trial or each.run.id not in known]


def _runs_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.glob("*.json"), reverse=True)
    return []


def find_run(name: str, folder: Path) -> Path:
    """The file that ``name`` means: a path, :data:`LAST`, the beginning of an id or of a file's
    name, or what a run is called; the newest where there are several. ``NotFoundError`` if there
    is none."""
    if Path(name).is_file():
        return Path(name)
    known = _runs_in(folder) if name == LAST else saved_runs(folder)
    for path in known:
        _, _, digits = path.stem.partition("-")
        is_id = bool(digits) and (digits.startswith(name) or name.startswith(digits))
        if name == LAST or is_id or path.name.startswith(name):
            return path
    for path in known:
        with suppress(SettingsError):
            if load_run(path).name == name:
                return path
    raise NotFoundError(
        "run-not-found",
        f"There is no run {name!r}; {len(known)} are kept in {folder}.",
        "Give a file, a run's name or the first digits of its id, or `last`. `merestone report "
        "--list` shows them, `merestone eval` makes one.",
    )
