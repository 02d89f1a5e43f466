"""From offsets in UTF-8 bytes, as parsers give them, to offsets in code points."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_LEAD_BYTES = bytes(0 if 0x80 <= byte < 0xC0 else 1 for byte in range(256))


def code_points(source: bytes, base: int = 0) -> Sequence[int]:
    """The offset in code points, and ``base`` more, of each offset in the bytes of ``source``,
    its end included. Counted once for the whole text."""
    if source.isascii():
        return range(base, base + len(source) + 1)
    import numpy as np

    leads = np.frombuffer(source.translate(_LEAD_BYTES), np.uint8)
    table = array("q", [base])
    table.frombytes((np.cumsum(leads, dtype=np.int64) + base).tobytes())
    return table
