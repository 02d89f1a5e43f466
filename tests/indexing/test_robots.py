"""Rules of a robots.txt, whatever it holds."""

from __future__ import annotations

from merestone.indexing.sources.robots import RobotRules


def test_rules_count_once_however_often_someone_is_named() -> None:
    rules = RobotRules.of("User-agent: *\n" * 2000 + "Disallow: /q\n" * 2000)
    assert rules.rules == (("/q", False),)
    assert not rules.allow("https://a.example/q")


def test_of_one_pattern_twice_the_one_that_allows_counts() -> None:
    for lines in ("Allow: /a\nDisallow: /a\n", "Disallow: /a\nAllow: /a\n"):
        assert RobotRules.of(f"User-agent: *\n{lines}").allow("https://a.example/a")


def test_rules_are_bounded() -> None:
    lines = "".join(f"Disallow: /{number}\n" for number in range(20_000))
    rules = RobotRules.of(f"User-agent: merestone\n{lines}")
    assert len(rules.rules) == 10_000
    assert not rules.allow("https://a.example/9999")
