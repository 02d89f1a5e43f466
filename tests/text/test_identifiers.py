"""Identifiers are found by their terms alone, however they are written."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from merestone.text.analysis import query_terms, terms

FILES = {
    "dec.md": "Decision DEC-0054 replaces DEC-0045.",
    "cve.md": "CVE-2024-1234 affects the parser.",
    "api.md": "Call apply_secrets() before getUserById().",
    "rust.md": "error[E0277]: the trait bound is not satisfied",
    "ver.md": "Upgrade from v2.10.3 to v2.11.0.",
    "lang.md": "Written in C++ and C#.",
    "path.md": "Edit /etc/app/config.d/10-net.conf first.",
    "flag.md": "Run with --no-cache to skip it.",
    "plain.md": "Nothing special here, only words about secrets and users in general.",
}


def scores(query: str) -> dict[str, float]:
    """BM25 of the files that hold any term of ``query`` (k1 1.2, b 0.75)."""
    counts = {name: Counter(terms(text)) for name, text in FILES.items()}
    mean = sum(held.total() for held in counts.values()) / len(counts)
    found: dict[str, float] = {}
    for term in query_terms(query):
        holders = [name for name in counts if term in counts[name]]
        weight = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for name in holders:
            count, length = counts[name][term], counts[name].total()
            part = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))
            found[name] = found.get(name, 0.0) + weight * part
    return found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("DEC-0054", "dec.md"),
        ("dec-0054", "dec.md"),
        ('"DEC-0054"', "dec.md"),
        ("0054", "dec.md"),
        ("DEC-0045", "dec.md"),
        ("CVE-2024-1234", "cve.md"),
        ("apply_secrets", "api.md"),
        ("apply_secrets()", "api.md"),
        ("getUserById", "api.md"),
        ("user by id", "api.md"),
        ("E0277", "rust.md"),
        ("v2.10.3", "ver.md"),
        ("C++", "lang.md"),
        ("/etc/app/config.d/10-net.conf", "path.md"),
        ("10-net.conf", "path.md"),
        ("--no-cache", "flag.md"),
        # The same in other hands
        ("GETUSERBYID", "api.md"),
        ("get_user_by_id", "api.md"),
        ("e0277", "rust.md"),
        ("2.10.3", "ver.md"),
        ("c#", "lang.md"),
        ("config.d", "path.md"),
        ("no-cache", "flag.md"),
        ("(DEC\u20110054),", "dec.md"),
    ],
)
def test_the_file_that_holds_an_identifier_is_best_and_alone(query: str, expected: str) -> None:
    found = scores(query)
    best, *others = sorted(found.values(), reverse=True)
    assert found[expected] == best
    assert not others or others[0] < best


def test_a_leading_minus_in_a_question_is_text_and_excludes_nothing() -> None:
    assert "secret" in query_terms("users -secrets")
    found = scores("words about users -secrets")
    assert max(found, key=found.__getitem__) == "plain.md"
