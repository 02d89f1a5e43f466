"""Which sign divides the fields of a file."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from merestone.extraction.csv_rows import NO_DELIMITER, RowReader

_CANDIDATES = "\t;|,"
"""The rarer a sign is inside values, the earlier it stands."""
_SAMPLE = 65_536
"""Code points that are looked at."""
_STEADY = 0.9
"""Share of rows of one width from which on a sign is trusted before those behind it."""
_LOOSE = 0.3
"""Share of rows of one width below which a sign may be punctuation of the values."""


class _Fit(NamedTuple):
    delimiter: str
    share: float
    """Share of the rows that have the width that most have."""
    divided: float
    """Share of the rows that the sign divides."""
    width: int


def find_delimiter(text: str) -> str:
    """The sign that divides most rows of the beginning of ``text`` into as many fields each;
    ``NO_DELIMITER`` if none does."""
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    fits = [_fit(sample, sign) for sign in _CANDIDATES if sign in sample]
    # Decimal commas stand in each row as steadily as the semicolons between the numbers.
    for fit in fits:
        if fit.share >= _STEADY and fit.delimiter in "\t;":
            return fit.delimiter
    best = max(fits, key=lambda fit: (fit.share, fit.width), default=None)
    if best is None or best.width < 2 or (best.share < _LOOSE and best.divided < 0.5):
        return NO_DELIMITER
    return best.delimiter


def _fit(sample: str, delimiter: str) -> _Fit:
    widths = Counter(row.fields for row in RowReader(sample, delimiter, max_cells=0))
    rows = widths.total()
    divided = {width: count for width, count in widths.items() if width > 1}
    if not divided:
        return _Fit(delimiter, 0.0, 0.0, 1)
    width = max(divided, key=lambda width: (divided[width], width))
    return _Fit(delimiter, divided[width] / rows, sum(divided.values()) / rows, width)
