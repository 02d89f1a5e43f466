"""What runs in the processes of :mod:`durability.processes`."""

from __future__ import annotations

import json
import os
import resource
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from durability import cuts, documents, kills, libraries, refusing
from durability.libraries import open_library

from merestone.indexing import batches, vectors
from merestone.storage import faults
from merestone.types import MerestoneError

# So that a small folder takes several batches, and a batch several slices.
for module, constant, value in (
    (batches, "_BATCH_DOCUMENTS", libraries.BATCH),
    (vectors, "_SLICE", libraries.SLICE),
):
    assert hasattr(module, constant)
    setattr(module, constant, value)


def load() -> None:
    """Import all that a sync imports on its way, once for all jobs."""
    with tempfile.TemporaryDirectory() as folder:
        documents.make(Path(folder))
        with open_library(Path(folder)) as library:
            library.sync()
            library.search("anchor")


def sync(
    root: str,
    log: str = "",
    chunking: dict[str, Any] | None = None,
    fault: str = "",
    answer: str = "",
    on_overlong: str = "error",
) -> None:
    """A real sync, ended by ``fault`` if it is named; its report goes to the file ``answer``."""
    os.environ["MERESTONE_FAULT"] = fault
    with open_library(
        Path(root), log=Path(log) if log else None, chunking=chunking, on_overlong=on_overlong
    ) as library:
        report = library.sync(allow_deletions=True)
    if answer:
        Path(answer).write_text(json.dumps(report.to_json()))


def count(answer: str, **job: Any) -> None:
    """A sync that writes how often it passed each point to the file ``answer``."""
    passed: Counter[str] = Counter()
    faults.reach = lambda name: passed.update([name])
    sync(**job)
    Path(answer).write_text(json.dumps(passed))


read = kills.read
record = cuts.record


def try_sync(
    root: str,
    answer: str,
    log: str = "",
    call: str = "",
    name: str = "",
    error: str = "",
    after: int = 1,
    once: bool = False,
    user: int | None = None,
    file_size: int | None = None,
) -> None:
    """A sync that may be refused: writes its report, or the error in words, to ``answer``."""
    told = os.open(answer, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)  # while there is the right to
    if user is not None:
        os.setgid(user)
        os.setuid(user)
        os.environ |= {"HOME": root, "XDG_CONFIG_HOME": root}
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, resource.RLIM_INFINITY))
    refusal = None
    if call:
        refusal = refusing.Refusal(call, name, refusing.number_of(error), after, once=once)
        refusing.refuse(refusal)
    try:
        sync(root, log)
        found: dict[str, Any] = {"code": ""}
    except MerestoneError as failure:
        found = {"code": failure.code, "message": str(failure)}
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    found["met"] = refusal is None or refusal.was_met
    os.write(told, json.dumps(found).encode())


def try_search(root: str, answer: str, user: int | None = None) -> None:
    """A search that may be refused."""
    told = os.open(answer, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    if user is not None:
        os.setgid(user)
        os.setuid(user)
        os.environ |= {"HOME": root, "XDG_CONFIG_HOME": root}
    try:
        with open_library(Path(root)) as library:
            found: dict[str, Any] = {"code": "", "hits": len(library.search("anchor").hits)}
    except MerestoneError as failure:
        found = {"code": failure.code, "message": str(failure)}
    os.write(told, json.dumps(found).encode())
