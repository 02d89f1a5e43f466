"""Processes that a trial may kill: forked from one that has loaded everything already.

A trial needs several processes and a second of importing for each would be most of its time. So one
server is started, which imports the library and then forks a child a job. It is asked by lines of
JSON on its standard input.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

TESTS = Path(__file__).parent.parent


@dataclass(frozen=True)
class Child:
    """A running job."""

    forker: Forker
    pid: int

    def kill(self) -> None:
        """End it as the system would: nothing is tidied up."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Its exit status; that of a signal is negative."""
        return self.forker.ask({"wait": self.pid})["status"]


class Forker:
    """The server and its client's end."""

    def __enter__(self) -> Self:
        path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._server = subprocess.Popen(
            [sys.executable, "-m", "durability.processes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.communicate()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(question) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())  # type: ignore[no-any-return]

    def start(self, job: str, **arguments: Any) -> Child:
        """Run the function ``job`` of :mod:`durability.jobs` in a process of its own."""
        return Child(self, self.ask({"job": job, "arguments": arguments})["pid"])

    def run(self, job: str, **arguments: Any) -> int:
        """Run ``job`` to its end; its exit status."""
        return self.start(job, **arguments).wait()


def _serve() -> None:
    jobs = importlib.import_module("durability.jobs")
    jobs.load()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a job prints is no answer
    running: set[int] = set()
    for line in iter(sys.stdin.readline, ""):
        question = json.loads(line)
        if "wait" in question:
            _, status = os.waitpid(question["wait"], 0)
            running.discard(question["wait"])
            answer = {"status": os.waitstatus_to_exitcode(status)}
        else:
            pid = os.fork()
            if pid == 0:
                answers.close()
                _work(getattr(jobs, question["job"]), question["arguments"])
            running.add(pid)
            answer = {"pid": pid}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    for pid in running:
        os.kill(pid, signal.SIGKILL)


def _work(job: Any, arguments: dict[str, Any]) -> None:
    status = 1
    try:
        job(**arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
