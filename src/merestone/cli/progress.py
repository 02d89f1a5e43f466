"""Telling how far a long run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from merestone.types import Progress, ProgressCallback

_NOUNS = {"evaluate": "questions", "compare": "configurations", "tune": "configurations"}
"""What is counted in a stage; in all others it is documents."""
_DOCUMENTS = "documents"
_STEP = 10
_SECONDS = 15


@contextmanager
def shown_progress(quiet: bool) -> Iterator[ProgressCallback]:
    """A callback that shows on stderr how much is done, and the time left; of documents chunks,
    tokens and rate too."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar() as callback:
            yield callback
    else:
        yield _Lines()


@contextmanager
def _bar() -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    began, noun = time.monotonic(), ""
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scan", total=None, told="")

        def show(progress: Progress) -> None:
            nonlocal began, noun
            if progress.total and _noun(progress) != noun:
                # Other work has another speed.
                began, noun = time.monotonic(), _noun(progress)
                bar.reset(task)
            bar.update(
                task,
                description=_stage(progress),
                total=1.0 if progress.total else None,
                completed=_share(progress),
                told=", ".join(_details(progress, time.monotonic() - began)),
            )

        yield show


class _Lines:
    """A line for each tenth of what is to be done, and now and then between, so that logs stay
    short and a long run shows that it lives."""

    def __init__(self) -> None:
        self._noun = ""
        self._began = self._last = time.monotonic()
        self._step = 0

    def __call__(self, progress: Progress) -> None:
        if not progress.total:
            return
        now = time.monotonic()
        noun = _noun(progress)
        if noun != self._noun:
            # Another configuration, or its documents after its questions.
            self._noun, self._began, self._last, self._step = noun, now, now, 0
        step = int(_share(progress) * _STEP)
        is_new = noun == "configurations"
        if not is_new and step <= self._step and now - self._last < _SECONDS:
            return
        self._step, self._last = step, now
        click.echo(_line(progress, now - self._began), err=True)


def _noun(progress: Progress) -> str:
    return _NOUNS.get(progress.stage, _DOCUMENTS)


def _stage(progress: Progress) -> str:
    named = progress.item and _noun(progress) == "configurations"
    return f"{progress.stage} {progress.item}" if named else progress.stage


def _share(progress: Progress) -> float:
    """Of the work that is done, 0 to 1."""
    if progress.share is not None:
        return progress.share
    return progress.done / progress.total if progress.total else 0.0


def _details(progress: Progress, passed: float) -> list[str]:
    noun = _noun(progress)
    parts = [f"{progress.done}/{progress.total} {noun}"] if progress.total else []
    if noun == _DOCUMENTS:
        parts += [f"{progress.chunks:,} chunks", f"{progress.tokens:,} tokens"]
    if progress.tokens and passed > 0:
        parts.append(f"{progress.tokens / passed:,.0f} tokens/s")
    return parts


def _line(progress: Progress, passed: float) -> str:
    if _noun(progress) == "configurations":
        return f"{_stage(progress)} ({progress.done + 1} of {progress.total})"
    parts = _details(progress, passed)
    share = _share(progress)
    if 0 < share < 1:
        parts.append(f"about {passed / share * (1 - share):,.0f} s left")
    return ", ".join(parts)
