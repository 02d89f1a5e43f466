"""Points at which a test may end the process, as a power cut or ``kill -9`` would.

A crash test names a point in the environment variable ``MERESTONE_FAULT``, with a count if the
first time is not meant: ``before-commit`` or ``after-commit:3``. Code calls ``faults.reach`` by
its module, so that a test can also put a function of its own in its place.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

TRANSACTION = (
    "before-begin",
    "after-begin",
    "after-rows",
    "after-lexical",
    "after-dense",
    "before-commit",
    "after-commit",
)
"""The points of one batch's transaction."""

POINTS = (
    "before-create",
    "after-create",
    "before-list",
    "after-list",
    "before-read",
    "after-read",
    "after-cut",
    "before-embed",
    "after-embed",
    "after-cache",
    *TRANSACTION,
    "before-flip",
    "after-flip",
    "before-drop",
    "after-drop",
    "before-merge",
    "after-merge",
    "before-optimise",
    "after-optimise",
    "before-checkpoint",
    "after-checkpoint",
    "before-journal",
    "after-journal",
)
"""All points, in the order in which a sync passes them."""

_reached: Counter[str] = Counter()


def reach(name: str) -> None:
    """End the process here, without any tidying up, if the environment asks for it."""
    wanted = os.environ.get("MERESTONE_FAULT")
    if not wanted:
        return
    point, _, count = wanted.partition(":")
    if point != name:
        return
    _reached[name] += 1
    if _reached[name] == int(count or 1):
        # Windows has no SIGKILL; there os.kill ends the process at once for any signal.
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
