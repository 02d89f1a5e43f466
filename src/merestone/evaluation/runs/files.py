"""Records of runs on disk."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from merestone.evaluation.questions.files import write_text
from merestone.evaluation.runs.values import Run
from merestone.types import NotFoundError, SettingsError

LAST = "last"
"""Names the newest run."""

_FOLDER = "runs"
_ID_DIGITS = 12


def runs_folder(state: str) -> Path:
    """Where a library keeps its runs. It is as private as the state folder that it is in: a run
    holds ids and positions of all that its asker could read."""
    return Path(state) / _FOLDER


def save_run(run: Run, folder: Path) -> Path:
    """Write ``run`` under its time and id, in the place of an earlier one of the same id and name,
    which says the same; the file."""
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
    says how questions scored and not by which passages, which is all that a baseline needs."""
    if not served:
        bare = (replace(result, gold=(), served={}) for result in run.results)
        run = replace(run, results=tuple(bare))
    shape = run.to_json()
    rows = shape.pop("per_question")
    assert isinstance(rows, list)
    head = json.dumps(shape, ensure_ascii=True, indent=1).removesuffix("\n}")
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=True) for row in rows)
    write_text(path, f'{head},\n "per_question": [\n{lines}\n ]\n}}\n')


def load_run(path: Path) -> Run:
    """The run in ``path``; ``SettingsError`` with code ``invalid-run`` if there is none in it."""
    try:
        shape = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            "invalid-run",
            f"{path} cannot be read as a run: {error}.",
            "Give a file that `merestone eval` wrote.",
        ) from error
    try:
        return Run.from_json(shape)
    except SettingsError as error:
        raise SettingsError(error.code, f"{path}: {error.message}", error.remedy) from error


def saved_runs(folder: Path) -> list[Path]:
    """The files of all runs, newest first."""
    with suppress(OSError):
        return sorted((path for path in folder.glob("*.json")), reverse=True)
    return []


def find_run(name: str, folder: Path) -> Path:
    """The file that ``name`` means: a path, :data:`LAST`, or the beginning of an id or of a file's
    name; the newest where several runs are of that id. ``NotFoundError`` if there is none."""
    if Path(name).is_file():
        return Path(name)
    known = saved_runs(folder)
    for path in known:
        _, _, digits = path.stem.partition("-")
        is_id = bool(digits) and (digits.startswith(name) or name.startswith(digits))
        if name == LAST or is_id or path.name.startswith(name):
            return path
    raise NotFoundError(
        "run-not-found",
        f"There is no run {name!r}; {len(known)} are kept in {folder}.",
        "Give a file, the first digits of a run's id, or `last`. `merestone eval` makes one.",
    )
