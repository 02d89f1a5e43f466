"""Student's distribution, by SciPy: the extra ``eval``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from merestone.types import SettingsError


@lru_cache(maxsize=256)
def t_quantile(share: float, freedom: int) -> float:
    """What ``share`` of the distribution with ``freedom`` degrees of freedom lies below."""
    return float(_student().ppf(share, freedom))


def check_student() -> None:
    """Raise ``SettingsError`` with code ``extra-missing`` if there is no SciPy: before the work
    whose end needs it."""
    _student()


def _student() -> Any:
    try:
        from scipy.stats import t
    except ImportError as error:
        raise SettingsError(
            "extra-missing",
            "Comparing several configurations needs a package that is not installed: scipy.",
            "Install it: pip install 'merestone[eval]'.",
        ) from error
    return t
