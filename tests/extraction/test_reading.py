from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint

import pytest
from extraction.checks import read

from merestone.extraction import (
    extraction_fingerprint,
    extractor_for,
    extractors,
    read_document,
    registry,
)
from merestone.types import (
    Block,
    Document,
    ExtractionError,
    ExtractionSettings,
    RawDocument,
    Segments,
    Status,
)

SETTINGS = ExtractionSettings()


@dataclass
class Reader:
    """An extractor of a plugin."""

    name: str = "shouting"
    revision: int = 1
    media_types: frozenset[str] = frozenset({"text/x-shout"})
    isolated: bool = False
    failure: Exception | None = None

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        if self.failure is not None:
            raise self.failure
        text = raw.data.decode().upper()
        blocks = (Block("paragraph", 0, len(text)),)
        return Document(raw.id, text, blocks, Segments.identity(len(text)), title="Loud")


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch):
    """Lets a test say which entry points are installed beside the built-in ones."""
    builtin = [
        entry
        for entry in registry.entry_points(group=registry.GROUP)
        if entry.name in ("plain", "markdown", "html")
    ]

    def install(**values: str) -> None:
        added = [EntryPoint(name, value, registry.GROUP) for name, value in values.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: [*added, *builtin])
        clear()

    def clear() -> None:
        registry.extractors.cache_clear()
        registry._by_media_type.cache_clear()

    yield install
    monkeypatch.undo()
    clear()


@pytest.fixture
def reader(plugins, monkeypatch: pytest.MonkeyPatch) -> Reader:
    module = type(sys)("shouting_plugin")
    module.READER, module.NOT_A_READER = Reader(), "nothing"
    monkeypatch.setitem(sys.modules, "shouting_plugin", module)
    plugins(shouting="shouting_plugin:READER")
    return module.READER


def test_importing_the_package_loads_no_parser() -> None:
    code = (
        "import sys, merestone.extraction\n"
        "print([m for m in ('turbohtml', 'pyromark', 'pypdfium2', 'charset_normalizer')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reading_one_format_loads_only_its_parser() -> None:
    code = (
        "import sys\n"
        "from merestone.extraction import read_document\n"
        "from merestone.types import RawDocument\n"
        "read_document(RawDocument('a.md', b'# A'))\n"
        "print([m for m in ('turbohtml', 'pyromark', 'pypdfium2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['pyromark']"


def test_built_in_extractors_are_found_by_name_and_type() -> None:
    assert {"plain", "markdown", "html"} <= set(extractors())
    assert extractor_for("text/markdown") is extractors()["markdown"]
    assert extractor_for("text/html; charset=utf-8") is extractors()["html"]
    assert extractor_for("text/unheard-of") is extractors()["plain"]
    assert extractor_for("image/png") is None


def test_a_plugin_reads_its_media_type(reader: Reader) -> None:
    document = read_document(RawDocument("a", b"hello", media_type="text/x-shout"))
    assert document.text == "HELLO"
    assert document.title == "Loud"


def test_a_plugin_takes_the_place_of_a_built_in_extractor(reader: Reader) -> None:
    reader.media_types = frozenset({"text/plain"})
    assert read(b"hello", "a.txt").text == "HELLO"


def test_a_broken_plugin_is_reported_and_skipped(
    reader: Reader, plugins, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="merestone"):
        plugins(absent="no_such_module:X", wrong="shouting_plugin:NOT_A_READER")
        assert set(extractors()) == {"plain", "markdown", "html"}
    assert "absent" in caplog.text
    assert "no_such_module" in caplog.text
    assert "media_types" in caplog.text


def test_an_isolated_extractor_runs_in_the_worker(reader: Reader) -> None:
    reader.isolated = True

    class Worker:
        def read(self, extractor: str, raw: RawDocument, settings: ExtractionSettings) -> Document:
            return Document(raw.id, f"read by {extractor}", (Block("paragraph", 0, 16),))

    raw = RawDocument("a", b"hello", media_type="text/x-shout")
    assert read_document(raw, SETTINGS, worker=Worker()).text == "read by shouting"
    assert read_document(raw, SETTINGS).text == "HELLO"


@pytest.mark.parametrize(
    ("failure", "code", "status"),
    [
        (ValueError("boom"), "extractor-failed", Status.CRASHED),
        (RecursionError("deep"), "extractor-failed", Status.CRASHED),
        (MemoryError(), "document-needs-memory", Status.MEMORY),
    ],
)
def test_a_failing_extractor_fails_one_document(
    reader: Reader, failure: Exception, code: str, status: Status
) -> None:
    reader.failure = failure
    with pytest.raises(ExtractionError) as caught:
        read_document(RawDocument("bad.doc", b"x", media_type="text/x-shout"))
    assert caught.value.code == code
    assert caught.value.status == status
    assert "bad.doc" in caught.value.message


def test_what_is_not_read_says_what_it_is() -> None:
    with pytest.raises(ExtractionError) as caught:
        read(b"\x89PNG\r\n\x1a\nIHDR", "guide.md")
    assert caught.value.code == "unsupported-format"
    assert caught.value.status == Status.UNSUPPORTED
    assert "guide.md is a PNG image (image/png), not Markdown" in caught.value.message


def test_a_source_that_calls_binary_data_text_is_not_believed() -> None:
    with pytest.raises(ExtractionError, match="PNG"):
        read_document(RawDocument("x", b"\x89PNG\r\n\x1a\n\0\0", media_type="text/plain"))


def test_mail_is_read_as_plain_text() -> None:
    document = read("From: a@example.org\nSubject: Hi\n\nHello there.\n", "a.eml")
    assert document.media_type == "message/rfc822"
    assert document.blocks[-1].kind == "paragraph"


def test_a_large_document_is_not_read() -> None:
    with pytest.raises(ExtractionError) as caught:
        read(b"x" * 11, "a.txt", max_document_bytes=10)
    assert caught.value.code == "document-too-large"
    assert caught.value.status == Status.TOO_LARGE
    assert read(b"x" * 10, "a.txt", max_document_bytes=10).status is Status.OK


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "a.py", "a.csv"])
@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_document_without_text_is_empty(name: str, data: bytes) -> None:
    document = read(data, name)
    assert document.status is Status.EMPTY
    assert document.blocks == ()


def test_bytes_that_are_no_text_make_a_document_partial() -> None:
    document = read("überall größere Häuser ".encode() * 20 + b"\xff", "a.md")
    assert document.status is Status.PARTIAL
    assert [warning.code for warning in document.warnings] == ["undecodable-bytes"]


def test_the_version_follows_what_is_read_and_not_the_bytes() -> None:
    plain = read("# A\n\ntext", "a.md")
    marked = read(b"\xef\xbb\xbf# A\n\ntext", "a.md")
    other = read("# A\n\ntext.", "a.md")
    assert plain.version == marked.version
    assert plain.source_hash != marked.source_hash
    assert plain.version != other.version


def test_metadata_of_the_source_joins_that_of_the_document() -> None:
    raw = RawDocument(
        "a.md", b"---\ntitle: T\nteam: a\n---\ntext", metadata={"team": "b", "year": 2020}
    )
    document = read_document(raw)
    assert document.metadata == {"title": "T", "team": "b", "year": 2020}
    assert document.version != read_document(replace(raw, metadata={})).version


def test_reading_twice_gives_equal_documents() -> None:
    for name, data in [("a.md", "# A\n\n- b\n"), ("a.html", "<h1>A</h1><p>b &amp; c")]:
        assert read(data, name) == read(data, name)


def test_the_fingerprint_follows_extractor_revision_and_settings(reader: Reader) -> None:
    before = extraction_fingerprint("text/x-shout", SETTINGS)
    assert before == extraction_fingerprint("text/x-shout", replace(SETTINGS, worker_cpu_seconds=1))
    assert before != extraction_fingerprint("text/markdown", SETTINGS)
    assert before != extraction_fingerprint(
        "text/x-shout", replace(SETTINGS, default_encoding="cp1252")
    )
    reader.revision = 2
    assert before != extraction_fingerprint("text/x-shout", SETTINGS)
    assert extraction_fingerprint("image/png", SETTINGS) == extraction_fingerprint("x/y", SETTINGS)
