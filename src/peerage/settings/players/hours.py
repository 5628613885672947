"""Hours of the week at which a player or a host is there, as people write them. Pure: the time is passed in.

    22:00-06:00 Europe/Berlin, weekends        # each night, and all of Saturday and Sunday
    mon-fri 18:00-08:00 America/New_York       # Friday's stretch ends on Saturday at 8:00

Commas part stretches; each names days, hours or both, and one time zone is that of all (UTC where none is
named). Hours that end before they begin end on the next day. Clocks that change: a time that a clock shows
twice is its first, one that it skips comes as much later as the clock is put forward.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from peerage.values.texts import lazy

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_GROUPS = {"daily": range(7), "weekdays": range(5), "weekends": range(5, 7)}
_HOURS = lazy(r"(\d{1,2}):(\d\d)-(\d{1,2}):(\d\d)")
_EXAMPLE = "write it as in `22:00-06:00 Europe/Berlin, weekends` or `mon-fri 18:00-08:00`"
_WEEK = 8
"""Days to look ahead: the next stretch begins within a week, and a night that began today ends tomorrow."""


class Stretch(NamedTuple):
    """Minutes after midnight from when to when, on which days of the week (Monday is 0) it begins."""

    days: frozenset[int]
    start: int
    end: int


class Hours(NamedTuple):
    stretches: tuple[Stretch, ...]
    zone: ZoneInfo | None = None


@lru_cache
def read_hours(text: str) -> Hours:
    """Hours from their text. Raises ValueError."""
    zones: list[ZoneInfo] = []
    stretches: list[Stretch] = []
    for part in text.split(","):
        days: set[int] = set()
        hours: tuple[int, int] | None = None
        words = part.split()
        for word in words:
            if span := _HOURS.fullmatch(word):
                if hours is not None:
                    raise ValueError(f"{part.strip()!r} names hours twice; part them by a comma")
                hours = _minutes(word, *map(int, span.groups()))
            elif word[0].isalpha() and (named := _days(word.lower())):
                days |= named
            else:
                zones.append(_zone(word))
        if not words:
            raise ValueError(f"found nothing between two commas; {_EXAMPLE}")
        if days or hours:
            stretches.append(Stretch(frozenset(days or range(7)), *(hours or (0, 1440))))
    if not stretches:
        raise ValueError(f"{text.strip()!r} names neither hours nor days; {_EXAMPLE}")
    if len({zone.key for zone in zones}) > 1:
        raise ValueError(f"two time zones, {zones[0].key} and {zones[-1].key}; name one")
    return Hours(tuple(stretches), zones[0] if zones else None)


def closed_until(hours: Hours, at_ms: int) -> int | None:
    """Return when the next stretch begins, in Unix milliseconds; None within one."""
    later: list[int] = []
    for start, end in _around(hours, at_ms):
        if start <= at_ms < end:
            return None
        if start > at_ms:
            later.append(start)
    return min(later)


def _around(hours: Hours, at_ms: int) -> Iterator[tuple[int, int]]:
    """The stretches from the day before on, in Unix milliseconds."""
    zone = hours.zone or UTC
    today = datetime.fromtimestamp(at_ms / 1000, zone).date()
    for ahead in range(-1, _WEEK + 1):
        day = today + timedelta(days=ahead)
        for stretch in hours.stretches:
            if day.weekday() in stretch.days:
                start = _at(day, stretch.start, hours.zone)
                yield start, _at(day, stretch.end, hours.zone)


def _at(day: date, minute: int, zone: ZoneInfo | None) -> int:
    days, minute = divmod(minute, 1440)
    day += timedelta(days=days)
    local = datetime(day.year, day.month, day.day, *divmod(minute, 60), tzinfo=zone or UTC)
    return round(local.timestamp() * 1000)


def _minutes(word: str, hour: int, minute: int, to_hour: int, to_minute: int) -> tuple[int, int]:
    start, end = 60 * hour + minute, 60 * to_hour + to_minute
    if hour > 23 or max(minute, to_minute) > 59 or end > 1440:
        raise ValueError(f"{word!r} is no time of day; hours go from 0:00 to 24:00")
    if start == end:
        raise ValueError(f"{word!r} ends when it begins; write `0:00-24:00` for all day")
    return start, end if end > start else end + 1440


def _days(word: str) -> set[int]:
    """The days of `mon`, `mon-fri`, `fri-mon` or `weekends`; none where the word is about something else."""
    if word in _GROUPS:
        return {*_GROUPS[word]}
    names = word.split("-")
    if len(names) > 2 or any(name[:3] not in DAYS or not _whole(name) for name in names):
        return set()
    first, last = DAYS.index(names[0][:3]), DAYS.index(names[-1][:3])
    return {day % 7 for day in range(first, last + 1 + 7 * (last < first))}


def _whole(name: str) -> bool:
    """Return whether a word is `tue`, `tues` or `tuesday`."""
    return any(
        day.startswith(name)
        for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )


def _zone(word: str) -> ZoneInfo:
    try:
        return ZoneInfo(word)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{word!r} is neither hours nor days nor a time zone that is known here; {_EXAMPLE}"
        ) from None
