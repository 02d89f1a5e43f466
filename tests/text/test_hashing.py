from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from merestone.text.hashing import canonical_json, digest

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def test_a_digest_is_the_same_everywhere() -> None:
    assert digest("a", b"bc") == "5310a58788781ab25d5ad7c3f8503582"
    assert digest() == "e3b0c44298fc1c149afbf4c8996fb924"


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_digests_differ_where_the_parts_do(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_the_borders_between_parts_count() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", "")}) == 4
    assert digest("1:a") != digest("", "a")


def test_text_is_hashed_as_utf_8_and_a_lone_surrogate_passes() -> None:
    assert digest("é") == digest("é".encode())
    assert re.fullmatch("[0-9a-f]{32}", digest("\ud800"))
    assert digest("\ud800") != digest("\ufffd")


@given(values)
def test_canonical_json_is_ascii_and_reads_back(value: object) -> None:
    written = canonical_json(value)
    assert written.isascii()
    assert json.loads(written) == value
    assert canonical_json(json.loads(written)) == written


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=6))
def test_the_order_of_keys_does_not_count(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


def test_canonical_json_has_no_spaces() -> None:
    assert canonical_json({"b": [1, 2], "a": None}) == '{"a":null,"b":[1,2]}'
