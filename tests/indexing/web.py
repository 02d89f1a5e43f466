"""A web server on this machine that behaves as told."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """What the server says at one path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    tag: str = ""
    """Entity tag, by which conditional requests are answered."""
    length: int | None = None
    """A length that the body doesn't have."""
    hangs: bool = False
    drips: float = 0
    """Seconds for which the headers come, a byte at a time, before the rest does."""
    endless: bool = False
    pause: float = 0
    """Seconds between the parts of what is endless."""


class Site:
    """Replies by path, and the requests that came."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.host = url.removeprefix("http://")
        self.replies: dict[str, Reply] = {}
        self.before: dict[str, list[Reply]] = {}
        """Replies by path that are given first, one each."""
        self.requests: list[str] = []
        self.credentials: dict[str, str | None] = {}
        """``Authorization`` of the last request, by path."""
        self.bytes_sent = 0
        self.released = threading.Event()

    def put(self, path: str, body: str | bytes = b"", **rest: object) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.replies[path] = Reply(data, **rest)  # type: ignore[arg-type]

    def put_gzip(self, path: str, body: bytes, *, cut: int = 0) -> None:
        packed = gzip.compress(body)
        self.put(path, packed[: len(packed) - cut], headers={"Content-Encoding": "gzip"})

    def asked(self) -> list[str]:
        """The requests since the last call."""
        found, self.requests = self.requests, []
        return sorted(found)


@contextmanager
def serve() -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    server.site = site  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        # Who asked may have gone.
        with suppress(OSError):
            self._answer()

    def _answer(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        site.requests.append(self.path)
        site.credentials[self.path] = self.headers.get("Authorization")
        reply = site.replies.get(self.path, Reply(b"no such page", 404))
        if site.before.get(self.path):
            reply = site.before[self.path].pop(0)
        if reply.hangs:
            site.released.wait(30)
            self.close_connection = True
            return
        if reply.tag and self.headers.get("If-None-Match") == reply.tag:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.tag:
            self.send_header("ETag", reply.tag)
        if reply.drips:
            self._drip(site, reply.drips)
        if reply.endless:
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            self._send_without_end(site, reply.pause)
            return
        length = len(reply.body) if reply.length is None else reply.length
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(reply.body)
        if reply.length is not None:
            self.close_connection = True

    def _drip(self, site: Site, seconds: float) -> None:
        until = time.monotonic() + seconds
        self.flush_headers()
        self.wfile.write(b"X-Slow: ")
        while time.monotonic() < until and not site.released.wait(0.02):
            self.wfile.write(b"a")
        self.wfile.write(b"\r\n")

    def _send_without_end(self, site: Site, pause: float) -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until and not site.released.wait(pause):
            try:
                self.wfile.write(b"word " * 2000)
            except OSError:
                return
            site.bytes_sent += 10_000

    def log_message(self, *_: object) -> None:
        pass
