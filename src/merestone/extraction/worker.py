"""Reading documents in a process of their own, with limits on memory and time.

A PDF of a kilobyte can ask for gigabytes, and a parser in C can die and take its process with it.
So formats of that kind are read by a child: one document at a time, the child used again, and
replaced after a failure. What a system offers decides what is limited:

- everywhere: wall time, after which the child is killed;
- Linux and macOS: CPU time by ``RLIMIT_CPU``;
- Linux: memory by ``RLIMIT_AS`` (macOS takes the limit and does not enforce it).

The child is started with this interpreter's module path and a few words of code, not by
``multiprocessing``, so that notebooks and scripts without a main guard are safe. It ends when its
input ends, whatever becomes of the parent. Answers are JSON: nothing that a document shaped is ever
unpickled.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from types import TracebackType
from typing import IO, Any, Self

from merestone.text.wire import document_from_json, document_to_json
from merestone.types import (
    JSON,
    Document,
    ExtractionError,
    ExtractionSettings,
    RawDocument,
    Status,
)

_DOCUMENTS_PER_CHILD = 200
_LENGTH = 8
"""Bytes of the length before each frame, big-endian."""

_CHILD = (
    "import sys; sys.path[:] = {path!r}; from merestone.extraction.worker import serve; serve()"
)

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in one unit of ``ru_maxrss``."""

_MUCH = 0.6
"""A child that died with this share of its memory limit in use is taken to have died of it."""


class WorkerPool:
    """Children that read documents. Use it as a context manager, or call :meth:`close`.

    At most ``size`` documents are read at once; a call beyond waits. No child is started before
    the first document.
    """

    def __init__(self, size: int = 1) -> None:
        self._idle: list[_Child] = []
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the children that are idle."""
        with self._lock:
            children, self._idle = self._idle, []
        for child in children:
            child.end()

    def read(self, extractor: str, raw: RawDocument, settings: ExtractionSettings) -> Document:
        """What the extractor of this name makes of ``raw``.

        Raises :class:`ExtractionError` with status ``timeout``, ``memory`` or ``crashed`` if the
        child had to be killed or died, and what the extractor raised if it raised.
        """
        with self._places:
            with self._lock:
                child = self._idle.pop() if self._idle else None
            child = child or _Child()
            try:
                document = child.read(extractor, raw, settings)
            finally:
                if child.usable:
                    with self._lock:
                        self._idle.append(child)
                else:
                    child.end()
        return document


class _Child:
    """One child process, from the parent's side."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD.format(path=[part or os.getcwd() for part in sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # Linux counts the parent's memory at the fork as the child's own peak.
        self._inherited = _peak_memory()
        self._done = 0
        self._timed_out = False
        self.usable = True

    def read(self, extractor: str, raw: RawDocument, settings: ExtractionSettings) -> Document:
        self.usable = False
        request = {
            "extractor": extractor,
            "id": raw.id,
            "uri": raw.uri,
            "media_type": raw.media_type,
            "metadata": raw.metadata,
            "settings": asdict(settings),
        }
        timer = threading.Timer(settings.worker_wall_seconds, self._kill)
        timer.daemon = True
        timer.start()
        try:
            answer = self._ask(request, raw.data)
        finally:
            timer.cancel()
        if answer is None:
            raise self._death(raw.id, settings)
        self._done += 1
        self.usable = self._done < _DOCUMENTS_PER_CHILD
        return _document_or_error(answer)

    def _ask(self, request: JSON, data: bytes) -> dict[str, Any] | None:
        """The child's answer; ``None`` if it died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _write_frame(self._process.stdin, json.dumps(request).encode())
            _write_frame(self._process.stdin, data)
            frame = _read_frame(self._process.stdout)
        except OSError:
            return None
        if frame is None:
            return None
        answer: dict[str, Any] = json.loads(frame)
        return answer

    def _kill(self) -> None:
        self._timed_out = True
        self._process.kill()

    def _death(self, document: str, settings: ExtractionSettings) -> ExtractionError:
        """Why there is no answer."""
        peak = self._reap()
        code = self._process.returncode
        over_time = self._timed_out or code == -getattr(signal, "SIGXCPU", 0)
        if over_time:
            return ExtractionError(
                "reading-timeout",
                f"{document} could not be read within {settings.worker_cpu_seconds} s of CPU time "
                f"and {settings.worker_wall_seconds} s.",
                "Split it, or raise worker_cpu_seconds and worker_wall_seconds in [extraction].",
                status=Status.TIMEOUT,
            )
        if peak > max(_MUCH * settings.worker_memory_bytes, self._inherited):
            return out_of_memory(document, settings)
        return ExtractionError(
            "reader-crashed",
            f"{document} made its reader crash (exit status {code}).",
            "Repair the file by opening and saving it again with the program that made it.",
            status=Status.CRASHED,
        )

    def _reap(self) -> int:
        """Wait for the child; the most memory it used, in bytes, as far as the system says."""
        if not hasattr(os, "wait4"):
            self._process.wait()
            return 0
        try:
            _, status, usage = os.wait4(self._process.pid, 0)
        except ChildProcessError:
            self._process.wait()
            return 0
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_maxrss * _RSS_UNIT

    def end(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    # What was still to be written has no reader any more.
                    continue
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()


def _peak_memory() -> int:
    """The most memory that this process has used, in bytes, as far as the system says."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


def out_of_memory(document: str, settings: ExtractionSettings) -> ExtractionError:
    """The error of a document that needs more memory than it may have."""
    return ExtractionError(
        "document-needs-memory",
        f"{document} needs more than {settings.worker_memory_bytes:,} bytes of memory to be read.",
        "Split it, or raise worker_memory_bytes in [extraction].",
        status=Status.MEMORY,
    )


def _document_or_error(answer: Mapping[str, Any]) -> Document:
    if "document" in answer:
        return document_from_json(answer["document"])
    error = answer["error"]
    raise ExtractionError(error["code"], error["message"], error["remedy"], status=error["status"])


def serve() -> None:
    """Answer requests from standard input until it ends: the child's whole life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = sys.stdin.buffer
    # Whatever a parser prints must not get between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (frame := _read_frame(requests)) is not None:
        data = _read_frame(requests)
        if data is None:
            return
        _write_frame(answers, json.dumps(_answer(json.loads(frame), data)).encode())


def _answer(request: Mapping[str, Any], data: bytes) -> dict[str, JSON]:
    from merestone.extraction.registry import extractors

    settings = ExtractionSettings(**request["settings"])
    raw = RawDocument(
        request["id"], data, request["uri"], request["media_type"], request["metadata"]
    )
    _limit(settings)
    try:
        document = extractors()[request["extractor"]].extract(raw, settings)
        return {"document": document_to_json(document)}
    except ExtractionError as error:
        return _error(error)
    except MemoryError:
        return _error(out_of_memory(raw.id, settings))
    except Exception as error:
        return _error(
            ExtractionError(
                "extractor-failed",
                f"{raw.id} could not be read: the extractor {request['extractor']!r} failed with "
                f"{type(error).__name__}: {error}.",
                "Report it to the author of the extractor, with the document if you may.",
                status=Status.CRASHED,
            )
        )


def _error(error: ExtractionError) -> dict[str, JSON]:
    parts = {
        "code": error.code,
        "message": error.message,
        "remedy": error.remedy,
        "status": str(error.status),
    }
    return {"error": parts}


def _limit(settings: ExtractionSettings) -> None:
    """Set the limits of this process for the next document, as far as the system has them."""
    if sys.platform == "win32":
        return
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime)
    for kind, value in (
        (resource.RLIMIT_CPU, spent + settings.worker_cpu_seconds),
        (resource.RLIMIT_AS, settings.worker_memory_bytes),
    ):
        _, hard = resource.getrlimit(kind)
        soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (soft, hard))


def _write_frame(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def _read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame; ``None`` at the end of the stream or for one that was cut short."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    return data if len(data) == size else None
