from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from durability.building import Built, build
from durability.processes import Forker

if os.name != "posix":
    collect_ignore_glob = ["test_*.py"]  # these need fork, SIGKILL and rights of POSIX


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    with Forker() as started:
        yield started


@pytest.fixture(scope="session")
def built(forker: Forker, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(forker, tmp_path_factory.mktemp("built"))
