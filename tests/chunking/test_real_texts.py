"""Invariants over documents as people write them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from chunking.invariants import check_cutting

from merestone import read
from merestone.chunking import cut
from merestone.types import ChunkingSettings, Tokenizer

DEFAULT = ChunkingSettings()
SMALL = ChunkingSettings(max_tokens=64, target_tokens=50, min_tokens=8, max_chars=512)
FIXED = ChunkingSettings(strategy="fixed", overlap_tokens=40)

SHARED = [
    "samples/md/*.md",
    "samples/zh/*.md",
    "eval/id_postgres/documents/*.html",
    "eval/tech_man/documents/*.txt",
    "eval/multi_xquad/documents/*/*",
]
_FILES = 6


@pytest.mark.parametrize("settings", [DEFAULT, SMALL, FIXED], ids=["default", "small", "fixed"])
def test_the_handbook(settings: ChunkingSettings, handbook: Path, bert: Tokenizer) -> None:
    files = [path for path in sorted(handbook.rglob("*")) if path.is_file()]
    for path in files:
        if ".merestone" in path.parts or path.suffix == ".toml":
            continue
        document = read(path)
        check_cutting(document, cut(document, settings, bert), settings, bert)


@pytest.mark.parametrize("pattern", SHARED)
def test_shared_documents(pattern: str, bench_data: Path, bert: Tokenizer) -> None:
    found = sorted(bench_data.glob(pattern))
    assert found
    for path in islice(found, 0, None, max(1, len(found) // _FILES)):
        document = read(path)
        for settings in (DEFAULT, SMALL):
            check_cutting(document, cut(document, settings, bert), settings, bert)


def test_a_novel(bench_data: Path, bert: Tokenizer) -> None:
    document = read(bench_data / "samples" / "novel" / "2701-0.txt")
    check_cutting(document, cut(document, DEFAULT, bert), DEFAULT, bert)
