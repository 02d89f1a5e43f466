"""Reading in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from merestone.extraction.worker import WorkerPool
from merestone.types import ExtractionError, ExtractionSettings, RawDocument, Status

SETTINGS = ExtractionSettings(
    worker_memory_bytes=600_000_000, worker_cpu_seconds=3, worker_wall_seconds=30
)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool() as made:
        yield made


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed plugin whose extractor does what its document says."""
    (tmp_path / "hostile_reader.py").write_text(
        textwrap.dedent(
            """
            import os, signal, sys, time
            from merestone.types import Document

            class Extractor:
                name, revision, isolated = "hostile", 1, True
                media_types = frozenset(["application/x-hostile"])

                def extract(self, raw, settings):
                    action = raw.data.decode()
                    if action == "crash":
                        os.kill(os.getpid(), signal.SIGSEGV)
                    if action == "spin":
                        while True:
                            pass
                    if action == "sleep":
                        time.sleep(600)
                    if action == "hoard":
                        held = [bytearray(50_000_000) for _ in range(100)]
                    if action == "raise":
                        raise RuntimeError("broken")
                    if action == "print":
                        print("noise between the frames", flush=True)
                        os.write(1, b"more noise")
                    text = action + " \\u00e9\\U0001f600"
                    return Document(id=raw.id, text=text, title=str(os.getpid()))

            EXTRACTOR = Extractor()
            """
        )
    )
    info = tmp_path / "hostile_reader-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile-reader\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[merestone.extractors]\nhostile = hostile_reader:EXTRACTOR\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


def read(pool: WorkerPool, action: str, settings: ExtractionSettings = SETTINGS) -> tuple[str, str]:
    document = pool.read("hostile", RawDocument("d", action.encode()), settings)
    return document.text, document.title or ""


@pytest.mark.usefixtures("hostile")
def test_a_child_is_used_again(pool: WorkerPool) -> None:
    first, child = read(pool, "fine")
    assert first == "fine \u00e9\U0001f600"
    assert int(child) != os.getpid()
    assert read(pool, "again")[1] == child


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    ("action", "status", "code"),
    [
        ("crash", Status.CRASHED, "reader-crashed"),
        ("raise", Status.CRASHED, "extractor-failed"),
        pytest.param(
            "spin",
            Status.TIMEOUT,
            "reading-timeout",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="no limit on CPU time"),
        ),
        pytest.param(
            "hoard",
            Status.MEMORY,
            "document-needs-memory",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="no limit on memory"),
        ),
    ],
)
def test_what_a_document_does_costs_that_document_alone(
    pool: WorkerPool, action: str, status: Status, code: str
) -> None:
    read(pool, "fine")
    with pytest.raises(ExtractionError) as caught:
        read(pool, action)
    assert (caught.value.status, caught.value.code) == (status, code)
    assert read(pool, "next")[0].startswith("next")


@pytest.mark.usefixtures("hostile")
def test_a_reader_that_waits_is_killed_at_the_deadline(pool: WorkerPool) -> None:
    with pytest.raises(ExtractionError) as caught:
        read(pool, "sleep", ExtractionSettings(worker_wall_seconds=1))
    assert caught.value.status == Status.TIMEOUT
    assert read(pool, "next")[0].startswith("next")


@pytest.mark.usefixtures("hostile")
def test_what_a_reader_prints_does_no_harm(pool: WorkerPool) -> None:
    assert read(pool, "print")[0].startswith("print")
    assert read(pool, "fine")[0].startswith("fine")


@pytest.mark.usefixtures("hostile")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_child_outlives_neither_its_pool_nor_an_interrupt(pool: WorkerPool) -> None:
    child = int(read(pool, "fine")[1])
    os.kill(child, signal.SIGINT)
    assert int(read(pool, "fine")[1]) == child
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_script_without_a_main_guard_is_safe(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    (tmp_path / "a.txt").write_text("Some words.")
    script.write_text(
        "import merestone\n"
        "print('once')\n"
        f"print(merestone.read({str(tmp_path / 'a.txt')!r}).text)\n"
    )
    done = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    assert done.stdout == "once\nSome words.\n"


NASTY = [
    "flate_bomb_1g.pdf",
    "form_xobject_loop.pdf",
    "laughs_xobject.pdf",
    "deep_array.pdf",
    "count_lie.pdf",
    "outline_cycle.pdf",
    "pagetree_loop.pdf",
    "declared_len_1g.pdf",
]


@pytest.mark.ci
@pytest.mark.parametrize("name", NASTY)
def test_a_hostile_pdf_gets_a_status(
    name: str, bench_data: Path, tmp_path_factory: pytest.TempPathFactory, pool: WorkerPool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "nasty"
    if not folder.exists():
        generator = bench_data / "corpus" / "gen_nasty.py"
        subprocess.run([sys.executable, generator, folder], check=True)
    raw = RawDocument(name, (folder / name).read_bytes(), media_type="application/pdf")
    try:
        status = pool.read("pdf", raw, SETTINGS).status
    except ExtractionError as error:
        status = Status(error.status)
    assert status in Status
    good = RawDocument("good", b"Some words.", media_type="text/plain")
    assert pool.read("plain", good, SETTINGS).text == "Some words."
