"""Telling how far a long run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from merestone.types import Progress, ProgressCallback

_DOCUMENTS = "documents"
_STEP = 10
_SECONDS = 15


@contextmanager
def shown_progress(quiet: bool, noun: str = _DOCUMENTS) -> Iterator[ProgressCallback]:
    """A callback that shows on stderr how many of what ``noun`` names are done, and the time left;
    of documents chunks, tokens and rate too."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar(noun) as callback:
            yield callback
    else:
        yield _Lines(noun)


@contextmanager
def _bar(noun: str) -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    done = noun
    if noun == _DOCUMENTS:
        done += ", {task.fields[chunks]:,} chunks, {task.fields[tokens]:,} tokens"
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(done),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    began = time.monotonic()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scan", total=None, chunks=0, tokens=0, rate="")

        def show(progress: Progress) -> None:
            passed = time.monotonic() - began
            bar.update(
                task,
                description=progress.stage,
                total=progress.total or None,
                completed=progress.done,
                chunks=progress.chunks,
                tokens=progress.tokens,
                rate=f"{progress.tokens / passed:,.0f} tokens/s" if progress.tokens else "",
            )

        yield show


class _Lines:
    """A line for each tenth of what is to be done, and now and then between, so that logs stay
    short and a long run shows that it lives."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._began = self._last = time.monotonic()
        self._step = 0

    def __call__(self, progress: Progress) -> None:
        if not progress.total:
            return
        now = time.monotonic()
        step = progress.done * _STEP // progress.total
        if step <= self._step and now - self._last < _SECONDS:
            return
        self._step, self._last = step, now
        click.echo(_line(progress, now - self._began, self._noun), err=True)


def _line(progress: Progress, passed: float, noun: str) -> str:
    parts = [f"{progress.done}/{progress.total} {noun}"]
    if noun == _DOCUMENTS:
        parts += [f"{progress.chunks:,} chunks", f"{progress.tokens:,} tokens"]
    if progress.tokens and passed > 0:
        parts.append(f"{progress.tokens / passed:,.0f} tokens/s")
    if 0 < progress.done < progress.total:
        left = passed / progress.done * (progress.total - progress.done)
        parts.append(f"about {left:,.0f} s left")
    return ", ".join(parts)
