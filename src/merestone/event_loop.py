"""An event loop in a thread of its own, for waiting that has an end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class OutOfTimeError(Exception):
    """What was waited for took longer than it may."""


class EventLoop:
    """Runs coroutines for threads that wait for them. Begins with the first, and ends by
    :meth:`close` or with the program."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, _Result], seconds: float) -> _Result:
        """What ``work`` gives. After ``seconds`` it is ended wherever it waits, for a name to be
        looked up or for one more byte, and :class:`OutOfTimeError` is raised."""
        future = asyncio.run_coroutine_threadsafe(_within(work, seconds), self._begun())
        try:
            return future.result()
        except BaseException:
            # Who was interrupted does not leave it running.
            future.cancel()
            raise

    def close(self, last: Callable[[], Awaitable[object]]) -> None:
        """End after ``last``, without being waited for: it may be this very thread that lets go."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(_ending(loop, last), loop)

    def _begun(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                name = "merestone-http"
                threading.Thread(target=_turn, args=(self._loop,), name=name, daemon=True).start()
            return self._loop


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _within(work: Coroutine[Any, Any, _Result], seconds: float) -> _Result:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await work
    except TimeoutError as error:
        if limit.expired():
            raise OutOfTimeError from error
        raise


async def _ending(loop: asyncio.AbstractEventLoop, last: Callable[[], Awaitable[object]]) -> None:
    try:
        await last()
    finally:
        loop.stop()
