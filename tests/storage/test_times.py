"""Dates and moments, and what comes before what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.storage.times import read_time, written, year


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2024-01", "2024-02"),
        ("2023-12", "2024-01-01"),
        ("2024-02-29", "2024-03-01"),
        ("2024-02-29", "2024-03-01T00:00"),
        ("2024-02-28T23:59:59.999", "2024-02-29"),
        ("2024-05-01T10:00+02:00", "2024-05-01T09:00Z"),
        ("2024-05-01 10:00", "2024-05-01 10:00:01"),
        ("9999-11", "9999-12"),
    ],
)
def test_one_is_before_the_other(earlier: str, later: str) -> None:
    one, other = read_time(earlier), read_time(later)
    assert one is not None
    assert other is not None
    assert one.order(other) < 0 < other.order(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05", "2024-05-31"),
        ("2024-05-01", "2024-05-01T00:00"),
        ("2024-05-01", "2024-05-01T23:59:59.9+14:00"),
        ("2024-05-01T10:00+02:00", "2024-05-01T08:00:00Z"),
        ("2024-05-01T24:00", "2024-05-02T00:00"),
        ("2024-05-01T10:00", "2024-05-01T10:00-07"),
    ],
)
def test_one_holds_the_other(one: str, other: str) -> None:
    first, second = read_time(one), read_time(other)
    assert first is not None
    assert second is not None
    assert first.order(second) == second.order(first) == 0


@pytest.mark.parametrize(
    "text",
    ["", "2024", "2024-13", "2024-02-30", "2024-05-01T25:00", "2024-05-01T10:60", "20240501"]
    + ["2024-05-01T10:00+25:00", "0000-01", "v2024-05", "2024-05-01T24:01", "2024-5-1", "٢٠٢٤-٠٥"],
)
def test_what_is_no_time(text: str) -> None:
    assert read_time(text) is None


def test_years() -> None:
    whole, day = year(2024), read_time("2024-12-31T23:59")
    assert whole is not None
    assert day is not None
    assert whole.order(day) == 0
    assert year(0) is year(10_000) is None
    assert year(9999) is not None


MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
ZONES = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(MOMENTS, ZONES, MOMENTS, ZONES)
def test_moments_of_any_zones_are_in_the_order_of_time(
    one: datetime, zone: timezone, other: datetime, other_zone: timezone
) -> None:
    first, second = one.replace(tzinfo=zone), other.replace(tzinfo=other_zone)
    read, read_other = read_time(first.isoformat()), read_time(second.isoformat())
    assert read is not None
    assert read_other is not None
    assert read.order(read_other) == (first > second) - (first < second)


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 30)), st.dates())
def test_a_day_holds_its_moments(moment: datetime, day: object) -> None:
    own, whole = read_time(moment.isoformat()[:19]), read_time(str(day))
    assert own is not None
    assert whole is not None
    order = (moment.date() > day) - (moment.date() < day)  # type: ignore[operator]
    assert own.order(whole) == order


def test_the_time_of_a_file() -> None:
    assert written(0) == datetime(1970, 1, 1, tzinfo=UTC).isoformat()
    assert written(10**30) == ""
    for one, other in product((0, 1), (2, 3)):
        assert written(one * 10**9) < written(other * 10**9)
