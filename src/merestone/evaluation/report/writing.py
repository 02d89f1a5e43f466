"""Writing a report to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from merestone.evaluation.experiments.comparability import on_common_questions
from merestone.evaluation.experiments.comparison import Comparison
from merestone.evaluation.report.contents import Report, letter, make_report
from merestone.evaluation.report.page import page
from merestone.evaluation.report.sources import gather_sources, require_readable
from merestone.evaluation.report.svg import require_plots
from merestone.evaluation.report.views import COVERAGE, FULL
from merestone.evaluation.runs.recording import documents_hash
from merestone.evaluation.runs.values import Run
from merestone.evaluation.statistics.contrasts import contrasts_of
from merestone.files import write_text
from merestone.types import SettingsError, Snapshot


def write_report(
    runs: Run | Sequence[Run],
    path: str | os.PathLike[str],
    *,
    snapshot: Snapshot | None = None,
    comparison: Comparison | None = None,
    cuttings: Mapping[str, Snapshot] | None = None,
) -> Path:
    """Write one static HTML file about one run, or about several held against the first.

    ``snapshot`` gives the texts of the documents and the borders of chunks, as far as who opened
    it may read them; without one the page has neither. ``cuttings`` has by run id the library that
    a run was made in, where it is another one. ``comparison`` is of the same runs; without it they
    are compared here. Raises ``SettingsError`` with code ``extra-missing`` without matplotlib,
    ``owner-only`` if a run is of more than the reader of ``snapshot`` may see, ``no-runs``,
    ``nothing-to-compare`` if the runs have no question in common, and what writing the file
    raises.
    """
    report = report_of(runs, snapshot=snapshot, comparison=comparison)
    return write_page(report, path, snapshot=snapshot, cuttings=cuttings)


def write_page(
    report: Report,
    path: str | os.PathLike[str],
    *,
    snapshot: Snapshot | None = None,
    cuttings: Mapping[str, Snapshot] | None = None,
) -> Path:
    """The page of a report that :func:`report_of` made with the same ``snapshot``."""
    require_plots()
    text = page(report, gather_sources(report, snapshot, cuttings or {}))
    write_text(Path(path), text)
    return Path(path)


def report_of(
    runs: Run | Sequence[Run],
    *,
    snapshot: Snapshot | None = None,
    comparison: Comparison | None = None,
) -> Report:
    """The figures of a report, for ``Report.to_json`` and ``to_markdown``.

    With a ``snapshot`` it is refused as :func:`write_report` says.
    """
    several = (runs,) if isinstance(runs, Run) else tuple(runs)
    if not several:
        raise SettingsError(
            "no-runs", "A report needs at least one run.", "Make one with `merestone eval`."
        )
    warnings: tuple[str, ...] = ()
    if snapshot is not None:
        require_readable(several, snapshot)
        warnings = _doubts(several, snapshot)
    limited = on_common_questions(several)
    if comparison is not None:
        warnings = (*comparison.warnings, *warnings)
        return make_report(several, comparison.contrasts, warnings, limited=limited)
    report = make_report(several, (), warnings, limited=limited)
    if len(several) == 1:
        return report
    found = contrasts_of(limited, report.in_main(COVERAGE, FULL))
    return replace(report, contrasts=tuple(found))


def _doubts(runs: Sequence[Run], snapshot: Snapshot) -> tuple[str, ...]:
    """What is to be said if a run was made on other documents than can be shown."""
    today = documents_hash(snapshot)
    others = [letter(place) for place, run in enumerate(runs) if run.documents_hash != today]
    if not others:
        return ()
    names = "The run" if len(runs) == 1 else ", ".join(others)
    which = f"{names} {'was' if len(others) == 1 else 'were'}"
    return (
        f"{which} made on another state of the documents than the one that this report shows: "
        "texts and places may be off.",
    )
