"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test depends on a clock: a slow machine makes no example fail.
settings.register_profile(
    "merestone", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("merestone")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ci", action="store_true", help="also what needs more time")
    parser.addoption("--long", action="store_true", help="also the full counts")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes may hold the time at which they were made; each process must find the same tests."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for marker, wanted in (
        ("ci", config.getoption("--ci") or config.getoption("--long")),
        ("long", config.getoption("--long")),
    ):
        if wanted:
            continue
        skip = pytest.mark.skip(reason=f"needs --{marker}")
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def bench_data() -> Path:
    """The folder of shared test data, which is too large to be in the repository."""
    folder = os.environ.get("MERESTONE_BENCH_DATA")
    if not folder:
        pytest.skip("MERESTONE_BENCH_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def handbook() -> Path:
    """The documents that the repository ships."""
    return Path(__file__).parent.parent / "examples" / "handbook"
