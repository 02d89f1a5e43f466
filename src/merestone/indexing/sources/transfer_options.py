"""The options of a source of pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from merestone.types import JSON, SettingsError

_TIMEOUT = 20.0
_RETRIES = 2
_LONGEST_TIMEOUT = 3600
_MOST_REQUESTS = 100
_MOST_RETRIES = 10
_WHOLE = 10


@dataclass(frozen=True, slots=True)
class TransferOptions:
    """How patient and how busy a transfer is."""

    timeout: float
    """Seconds of one wait."""
    concurrency: int
    """Requests at a time."""
    retries: int
    """How often a document is asked for again whose server is busy or does not answer."""

    @property
    def whole(self) -> float:
        """Seconds that a document may take in all: requests, redirects, tries, and what is waited
        between them."""
        return _WHOLE * self.timeout

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
            _seconds(options, "timeout", _TIMEOUT),
            _count(options, "concurrency", concurrency, 1, _MOST_REQUESTS),
            _count(options, "retries", _RETRIES, 0, _MOST_RETRIES),
        )


def _seconds(options: Mapping[str, JSON], name: str, default: float) -> float:
    value = options.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= _LONGEST_TIMEOUT:
        raise SettingsError(
            "invalid-setting",
            f"The option {name} of a source is no number above 0, of {_LONGEST_TIMEOUT} at most.",
            "Mend it.",
        )
    return float(value)


def _count(options: Mapping[str, JSON], name: str, default: int, least: int, most: int) -> int:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SettingsError(
            "invalid-setting",
            f"The option {name} of a source is no whole number from {least} to {most}.",
            "Mend it.",
        )
    return value
