from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from merestone.storage.engine import SQLiteStore


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / ".merestone"


@pytest.fixture
def store(state: Path) -> Iterator[SQLiteStore]:
    opened = SQLiteStore(state)
    yield opened
    opened.close()
