"""Running a function in a child process, with a time limit and its peak of memory."""

from __future__ import annotations

import ctypes
import gc
import math
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_CONTEXT = multiprocessing.get_context("fork")


class ChildError(Exception):
    """A child that gave no answer, or an exception of it, in words for the report."""


def run_in_fork(function: Callable[[], Any], limit: float) -> Any:
    """What ``function`` returns, run in a fork of this process for at most ``limit`` CPU seconds.

    A fork begins with everything that is imported and with a peak of memory of its own. One that
    waits without working is given up after ten times the limit.
    """
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_answer, args=(function, sender, limit))
    process.start()
    sender.close()
    try:
        if not receiver.poll(10 * limit):
            raise ChildError(f"no answer in {10 * limit:.0f} s")
        passed, value = receiver.recv()
    except EOFError:
        process.join()
        over = process.exitcode == -signal.SIGXCPU
        fault = f"over {limit:.0f} s" if over else f"process died ({process.exitcode})"
        raise ChildError(fault) from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if not passed:
        raise ChildError(value)
    return value


def _answer(function: Callable[[], Any], sender: Connection, limit: float) -> None:
    spent = max(1, math.ceil(limit))
    resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 1))
    # A panic of a Rust library is a BaseException, and is what some peers raise.
    try:
        answer = (True, function())
    except BaseException as error:
        answer = (False, described(error))
    sender.send(answer)
    sender.close()


def described(error: BaseException) -> str:
    """An exception in one short line."""
    lines = str(error).strip().splitlines()
    message = lines[0] if lines else ""
    return f"{type(error).__name__}: {message}"[:100].rstrip(": ")


def cpu_seconds(function: Callable[[], Any]) -> float:
    """CPU seconds of one call, all threads and finished children included."""
    before = _cpu()
    function()
    return _cpu() - before


def _cpu() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def peak_bytes(function: Callable[[], Any]) -> int:
    """By how much resident memory rises above what it was before, at most, during one call.

    What was freed before is given back first, as far as the allocator can, so that it does not
    hide a need. Off Linux a peak can't be forgotten: call it in a fork that had none.
    """
    _forget_peak()
    before = _resident_bytes()
    kept = function()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del kept
    return max(0, (peak if sys.platform == "darwin" else peak * 1024) - before)


def _forget_peak() -> None:
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def _resident_bytes() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)
