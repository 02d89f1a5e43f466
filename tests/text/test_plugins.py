from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from merestone.text import plugins
from merestone.text.plugins import load_plugin, plugin_points, required_plugin
from merestone.types import SettingsError

_POINTS = {
    "good": "json:dumps",
    "gone": "merestone_no_such_module:thing",
    "nameless": "json:no_such_name",
}


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Three plugins, two of them broken; gives the groups that were asked for."""
    asked: list[str] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        asked.append(group)
        if group != "merestone.widgets":
            return []
        return [EntryPoint(name, value, group) for name, value in _POINTS.items()]

    _forget()
    monkeypatch.setattr(plugins, "entry_points", entry_points)
    yield asked
    _forget()


def _forget() -> None:
    plugin_points.cache_clear()
    load_plugin.cache_clear()


def test_points_are_listed_by_name_without_being_loaded(installed: list[str]) -> None:
    assert set(plugin_points("widgets")) == set(_POINTS)
    assert plugin_points("widgets") is plugin_points("widgets")
    assert installed == ["merestone.widgets"]


def test_a_good_plugin_is_loaded() -> None:
    assert load_plugin("widgets", "good") is json.dumps
    assert required_plugin("widgets", "good") is json.dumps


@pytest.mark.parametrize("name", ["gone", "nameless"])
def test_a_broken_plugin_is_reported_once_and_skipped(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "merestone"):
        assert load_plugin("widgets", name) is None
        assert load_plugin("widgets", name) is None
    (record,) = caplog.records
    assert repr(name) in record.getMessage()
    assert _POINTS[name] in record.getMessage()


def test_a_broken_plugin_that_is_required_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"widget 'gone' .* cannot be loaded") as caught:
        required_plugin("widgets", "gone")
    assert caught.value.code == "broken-plugin"


def test_an_unknown_plugin_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(SettingsError, match="no widget named 'god'") as caught:
        required_plugin("widgets", "god")
    assert caught.value.code == "unknown-plugin"
    assert "'good'?" in caught.value.remedy
    assert "gone, good, nameless" in caught.value.remedy


def test_where_nothing_is_installed_the_error_says_so() -> None:
    with pytest.raises(SettingsError) as caught:
        required_plugin("gadgets", "good")
    assert caught.value.remedy == "Installed here: none."
