"""JSON whose objects have each key once."""

from __future__ import annotations

import pytest

from merestone.text.strict_json import strict_json


def test_a_key_that_stands_twice_is_refused_at_any_depth() -> None:
    assert strict_json('[{"a": {"b": 1}}, {"a": 2}]') == [{"a": {"b": 1}}, {"a": 2}]
    with pytest.raises(ValueError, match="'b' stands twice"):
        strict_json('[{"a": {"b": 1, "c": 2, "b": 1}}]')
