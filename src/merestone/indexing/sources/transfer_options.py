"""The options of a source of pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from merestone.types import JSON, SettingsError

_TIMEOUT = 20.0
_RETRIES = 2
_MOST_RETRIES = 10


@dataclass(frozen=True, slots=True)
class TransferOptions:
    """How patient and how busy a transfer is."""

    timeout: float
    """Seconds of one wait."""
    concurrency: int
    """Requests at a time."""
    retries: int
    """How often a document is asked for again whose server is busy or does not answer."""

    @classmethod
    def of(cls, options: Mapping[str, JSON], concurrency: int) -> Self:
        """The options in a source's settings; ``SettingsError`` for one that is none."""
        unknown = options.keys() - {"timeout", "concurrency", "retries"}
        if unknown:
            raise SettingsError(
                "unknown-setting",
                f"A source of pages has the unknown options {', '.join(sorted(unknown))}.",
                "Known are timeout (seconds), concurrency and retries.",
            )
        return cls(
            _positive(options, "timeout", _TIMEOUT),
            int(_positive(options, "concurrency", concurrency)),
            _count(options, "retries", _RETRIES),
        )


def _positive(options: Mapping[str, JSON], name: str, default: float) -> float:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise SettingsError(
            "invalid-setting", f"The option {name} of a source is no number above 0.", "Mend it."
        )
    return float(value)


def _count(options: Mapping[str, JSON], name: str, default: int) -> int:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_RETRIES:
        raise SettingsError(
            "invalid-setting",
            f"The option {name} of a source is no whole number from 0 to {_MOST_RETRIES}.",
            "Mend it.",
        )
    return value
