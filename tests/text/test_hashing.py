from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.text.hashing import canonical_json, digest

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((), "e3b0c44298fc1c149afbf4c8996fb924"),
        (("a",), "4162fddd39a3e4225e8e2392eced237f"),
        (("é", b"\xff"), "147e0b3d0095d2e54b2b9e6d90ba7288"),
    ],
)
def test_digests_never_change(parts: tuple[str | bytes, ...], expected: str) -> None:
    assert digest(*parts) == expected


def test_where_one_part_ends_and_the_next_begins_counts() -> None:
    variants = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("1:a", "bc")]
    assert len({digest(*parts) for parts in variants}) == len(variants)


def test_text_and_its_utf8_are_the_same_part() -> None:
    assert digest("é") == digest("é".encode())


@given(st.text(st.characters()))
def test_any_text_has_a_digest(text: str) -> None:
    assert len(digest(text)) == 32
    assert digest(text + "\ud800") != digest(text)


@given(values)
def test_canonical_json_reads_back(value: object) -> None:
    written = canonical_json(value)
    assert written.isascii()
    assert json.loads(written) == value


@given(st.dictionaries(st.text(), values, max_size=6))
def test_the_order_of_keys_does_not_show(value: dict[str, object]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)
