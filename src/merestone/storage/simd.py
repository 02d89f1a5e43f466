"""simsimd, imported so that no other library answers in its place."""

from __future__ import annotations

import os
import sys
from types import ModuleType


def _imported() -> ModuleType:
    """simsimd, also where usearch is loaded already.

    On Linux usearch (2.26) puts the C functions of another library among those that all modules
    share. Some have the names of simsimd's own, and simsimd, loaded after it, would call them.
    """
    own_first = getattr(os, "RTLD_DEEPBIND", 0) if "usearch" in sys.modules else 0
    if not own_first:
        import simsimd

        return simsimd
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | own_first)
    try:
        import simsimd

        return simsimd
    finally:
        sys.setdlopenflags(flags)


simsimd = _imported()
