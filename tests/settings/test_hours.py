"""Hours of the week: how they are written, and when they are, also where clocks change."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from peerage.settings.players.hours import closed_until, read_hours

BERLIN = ZoneInfo("Europe/Berlin")
NIGHTS = "22:00-06:00 Europe/Berlin, weekends"


def at(text: str, zone: ZoneInfo = BERLIN) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "now", "opens", "closes"),
    [
        (NIGHTS, "2026-11-23 12:00", "2026-11-23 22:00", None),
        (NIGHTS, "2026-11-23 05:59", None, "2026-11-23 06:00"),
        (NIGHTS, "2026-11-23 06:00", "2026-11-23 22:00", None),
        # Friday night, the weekend and the night to Monday are one stretch.
        (NIGHTS, "2026-11-27 23:00", None, "2026-11-30 06:00"),
        ("mon-fri 18:00-08:00 Europe/Berlin", "2026-11-28 07:00", None, "2026-11-28 08:00"),
        ("mon-fri 18:00-08:00 Europe/Berlin", "2026-11-28 09:00", "2026-11-30 18:00", None),
        ("fri-mon Europe/Berlin", "2026-11-25 09:00", "2026-11-27 00:00", None),
        ("Tuesday 9:00-12:00 Europe/Berlin", "2026-11-24 12:00", "2026-12-01 09:00", None),
        ("0:00-24:00 Europe/Berlin", "2026-11-24 12:00", None, None),
        # In March 2:00 is 3:00 at once, in October 3:00 is 2:00 again.
        ("1:00-4:00 Europe/Berlin", "2026-03-29 00:00", "2026-03-29 01:00", None),
        (NIGHTS, "2026-03-27 23:00", None, "2026-03-30 06:00"),
    ],
)
def test_hours(text: str, now: str, opens: str | None, closes: str | None) -> None:
    hours = read_hours(text)
    assert closed_until(hours, at(now)) == (at(opens) if opens else None)
    if closes:
        assert not any(closed_until(hours, time) for time in range(at(now), at(closes), 60_000))
        assert closed_until(hours, at(closes))


def test_without_a_zone_hours_are_utc() -> None:
    assert closed_until(read_hours("10:00-11:00"), at("2026-11-23 09:00", ZoneInfo("UTC"))) == at(
        "2026-11-23 10:00", ZoneInfo("UTC")
    )


@pytest.mark.parametrize(
    ("night", "hours"), [("2026-03-28 22:00", 7), ("2026-10-24 22:00", 9), ("2026-11-23 22:00", 8)]
)
def test_a_night_is_as_long_as_the_clocks_make_it(night: str, hours: int) -> None:
    found, begins = read_hours("22:00-06:00 Europe/Berlin"), at(night)
    assert closed_until(found, begins) is None
    assert closed_until(found, begins - 1) == begins
    ends = begins + hours * 3_600_000
    assert closed_until(found, ends - 1) is None
    assert closed_until(found, ends) == round(
        (datetime.fromisoformat(night) + timedelta(days=1)).replace(tzinfo=BERLIN).timestamp() * 1000
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("22-6", "'22-6' is neither hours nor days nor a time zone"),
        ("25:00-26:00", "'25:00-26:00' is no time of day"),
        ("10:00-10:00", "ends when it begins; write `0:00-24:00`"),
        ("mon,,sat", "nothing between two commas"),
        ("Europe/Berlin", "names neither hours nor days"),
        ("mon Europe/Berlin, tue UTC", "two time zones, Europe/Berlin and UTC"),
        ("1:00-2:00 3:00-4:00", "names hours twice"),
        ("mon Europe/Atlantis", "'Europe/Atlantis' is neither"),
    ],
)
def test_what_is_wrong_is_said(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        read_hours(text)
