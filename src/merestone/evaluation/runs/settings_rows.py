"""Settings of several runs, one a row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from merestone.evaluation.runs.values import Run
from merestone.types import JSON


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting, by its place in the configuration file, with its value in each run."""

    key: str
    values: tuple[str, ...]
    """As JSON; empty where a run does not have it."""

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1

    def to_json(self) -> dict[str, JSON]:
        return {"key": self.key, "values": list(self.values), "differs": self.differs}


def setting_rows(runs: Sequence[Run]) -> tuple[SettingRow, ...]:
    """All settings that any run has; those that differ first."""
    flat = [dict(_flattened(_everything(run))) for run in runs]
    keys = dict.fromkeys(key for each in flat for key in each)
    rows = [SettingRow(key, tuple(each.get(key, "") for each in flat)) for key in keys]
    return tuple(sorted(rows, key=lambda row: not row.differs))


def _everything(run: Run) -> dict[str, JSON]:
    """The settings, and what else decides what is served."""
    return {
        **run.settings,
        "embedder": dict(run.embedder),
        "mode": run.mode,
        "tokenizer": run.tokenizer,
    }


def _flattened(table: Mapping[str, JSON], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _flattened(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", json.dumps(value, ensure_ascii=False)
