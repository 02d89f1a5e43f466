"""A service on this machine that embeds, reranks, and misbehaves as it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

WIDTH = 8

Body = dict[str, Any]
Respond = Callable[["Request"], "Response"]


@dataclass(frozen=True)
class Request:
    """One request, as it came."""

    path: str
    headers: dict[str, str]
    body: Body
    number: int
    """From 1."""

    @property
    def texts(self) -> list[str]:
        for key in ("input", "inputs", "texts", "documents"):
            if key in self.body:
                return list(self.body[key])
        return []


@dataclass(frozen=True)
class Response:
    """What goes back. ``cut``: the connection ends after so many bytes of the body. ``drips``:
    headers without end, one each so many seconds."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    raw: bytes | None = None
    wait: threading.Event | None = None
    drips: float | None = None


class Service:
    """What was asked, and how it is answered."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.requests: list[Request] = []
        self.url = ""
        self._lock = threading.Lock()

    @property
    def texts(self) -> list[str]:
        """Every text that was sent, again and again where it was."""
        return [text for request in self.requests for text in request.texts]

    def answer(self, path: str, headers: dict[str, str], body: Body) -> Response:
        with self._lock:
            request = Request(path, headers, body, len(self.requests) + 1)
            self.requests.append(request)
        return self.respond(request)


@contextmanager
def serve(respond: Respond) -> Iterator[Service]:
    """The service, at a free port, for a while."""
    service = Service(respond)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two would wait for each other

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            response = service.answer(self.path, dict(self.headers), json.loads(data))
            if response.wait is not None:
                response.wait.wait(10)
            raw = json.dumps(response.body).encode() if response.raw is None else response.raw
            try:
                self.send_response(response.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                for name, value in response.headers.items():
                    self.send_header(name, value)
                self._drip(response.drips)
                self.end_headers()
                self.wfile.write(raw if response.cut is None else raw[: response.cut])
                self.wfile.flush()
            except OSError:
                pass  # who asked did not wait
            if response.cut is not None:
                self.close_connection = True

        def _drip(self, seconds: float | None) -> None:
            # 12 s, should nobody end it.
            for number in range(round(12 / seconds) if seconds else 0):
                self.send_header(f"X-{number}", "")
                self.flush_headers()
                self.wfile.flush()
                time.sleep(seconds or 0)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # Who asked did not wait.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def vector(text: str, width: int = WIDTH, model: int = 0) -> list[float]:
    """The vector of a text, the same wherever it stands; another for another ``model``."""
    seed = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    random = np.random.default_rng([len(text), model, *seed.tolist()])
    return [float(value) for value in random.normal(size=width)]


def unit(text: str, width: int = WIDTH, model: int = 0) -> np.ndarray:
    """:func:`vector`, as it should come out."""
    made = np.array(vector(text, width, model), np.float32)
    return made / np.linalg.norm(made)


def openai(texts: list[str], **changes: Any) -> Response:
    """A good answer of OpenAI's shape; ``data`` and others can be changed."""
    data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    body = {"data": data, "usage": {"prompt_tokens": sum(map(len, texts))}, **changes}
    return Response(body=body)


@dataclass
class FakeTime:
    """Time that passes only when someone sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
