"""Names on a plane of points: near its point each, over nothing that it would hide.

A name that finds no room next to its point stands further off, and a thin line leads to it. Of few points
every one is named; of many those that matter, and of the others as many as have room right there. Where the
names of those that matter do not all find room, their numbers take their place, the last point's being 1.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import cos, hypot, pi, sin
from typing import NamedTuple

from peerage.render.charts.drawings import INK, LETTER_PX, QUIET, Label, Plane

CROWD = 12
"""Of more points than so many only those that matter are sure to be named."""
MANY = 200
"""Of more than so many no others are: there is no room."""
FAR = range(26, 122, 12)
"""How far off a name may be, in pixels, at the end of a line."""
TRIES = 3
ACROSS = 1
"""Of more names whose lines pass other points than so many numbers are easier to read."""
CROSSING = 30
"""For a name across an interval, as many pixels further off are taken."""

Segment = tuple[float, float, float, float]


class Point(NamedTuple):
    """A point in pixels, its name as it is to be written, its interval from above, and whether it matters."""

    x: float
    y: float
    name: str
    bar: tuple[float, float] | None
    best: bool


class Box(NamedTuple):
    """Where a name would be: left end, middle from above, length, its end at the point, the line there."""

    left: float
    middle: float
    long: float
    end: str
    lead: Segment | None = None

    @property
    def right(self) -> float:
        return self.left + self.long

    def over(self, low: float, high: float, up: float, down: float) -> bool:
        """Return whether it lies over a box from `low` to `high` across and from `up` to `down`."""
        return self.left < high and low < self.right and self.middle - 7 < down and up < self.middle + 7

    def struck(self, line: Segment) -> bool:
        """Return whether a line goes through it."""
        x, y, to_x, to_y = line
        if not self.over(min(x, to_x) - 2, max(x, to_x) + 2, min(y, to_y) - 2, max(y, to_y) + 2):
            return False
        return any(self.over(x - 2, x + 2, y - 2, y + 2) for x, y in _along(line))

    def label(self, point: Point) -> Label:
        across = {"start": self.left, "middle": self.left + self.long / 2, "end": self.right}[self.end]
        color = INK if point.best else QUIET
        return Label(across, self.middle, point.name, color, self.end, self.lead)


def placed(points: Sequence[Point], plane: Plane) -> list[Label]:
    """The names of points, those that matter first, from the last one on; numbers in place of their names
    where those would be hard to follow or be missing."""
    labels, fit = _placed(points, plane)
    if fit:
        return labels
    number = sum(point.best for point in points)
    numbered = []
    for point in points:
        numbered.append(point._replace(name=str(number)) if point.best else point)
        number -= point.best
    return _placed(numbered, plane)[0]


def _placed(points: Sequence[Point], plane: Plane) -> tuple[list[Label], bool]:
    """Names where there is room, and whether all that matter have it. A name that is sure to be there and
    finds no room has its line past other points at worst, and is tried before the others next time."""
    best = [point for point in reversed(points) if point.best]
    others = [point for point in reversed(points) if not point.best]
    order = best if len(points) > CROWD else best + others
    room, fewest = _Room(points, plane), (len(points), 0)
    for _ in range(TRIES):
        tried = _Room(points, plane)
        tight = [point for point in order if not tried.place(point)]
        missing = len(order) - len(tried.labels)
        if (missing, len(tight)) < fewest:
            room, fewest = tried, (missing, len(tight))
        if not tight:
            break
        order = [*tight, *(point for point in order if point not in tight)]
    if CROWD < len(points) <= MANY:
        for point in others:
            room.put(point, far=False, strict=True)
    missing, across = fewest
    return room.labels, not missing and across <= ACROSS


class _Room:
    """What is taken on a plane."""

    def __init__(self, points: Sequence[Point], plane: Plane) -> None:
        self.points, self.plane = sorted(points, key=lambda point: point.x), plane
        self.across = [point.x for point in self.points]
        self.labels: list[Label] = []
        self.boxes: list[Box] = []
        self.leads: list[Segment] = []
        joined = [point for point in points if point.best]
        self.steps = [
            box
            for one, then in pairwise(joined)
            for box in (
                (one.x, then.x, one.y, one.y),
                (then.x, then.x, min(one.y, then.y), max(one.y, then.y)),
            )
        ]

    def place(self, point: Point) -> bool:
        """Name a point, at worst past others; whether there was room without that."""
        if self.put(point, far=True, strict=True):
            return True
        self.put(point, far=True, strict=False)
        return False

    def put(self, point: Point, *, far: bool, strict: bool) -> bool:
        """Name a point where there is room, with `far` further off too; whether there is any. Not `strict`:
        with a line to it past other points, too. No name lies across the line that joins the best."""
        best: tuple[float, Box] | None = None
        for away, box in _choices(point, far=far):
            if best is not None and best[0] <= away:
                break
            if not self._free(box, point, strict=strict):
                continue
            crossings = sum([crossed(box, one) for one in self._within(box.left, box.right)])
            crossings += any(box.lead and meet(box.lead, step) for step in self.steps)
            cost = away + CROSSING * crossings
            if (far or crossings < 2) and (best is None or cost < best[0]):
                best = cost, box
        if best is None:
            return False
        self.boxes.append(best[1])
        self.leads += [best[1].lead] if best[1].lead else []
        self.labels.append(best[1].label(point))
        return True

    def _free(self, one: Box, point: Point, *, strict: bool) -> bool:
        plane, lead = self.plane, one.lead
        return (
            one.left >= plane.left
            and one.right <= plane.right
            and plane.top + 6 < one.middle < plane.bottom - 6
            and not any(abs(it.y - one.middle) < 12 for it in self._within(one.left - 6, one.right + 6))
            and not any(
                one.over(it.left - 4, it.right + 4, it.middle - 8, it.middle + 8) for it in self.boxes
            )
            and not any(one.struck(other) for other in self.leads)
            and not any(one.over(low - 2, high + 2, up - 1, down + 1) for low, high, up, down in self.steps)
            and not (lead and self._led_astray(lead, point, strict=strict))
        )

    def _led_astray(self, lead: Segment, point: Point, *, strict: bool) -> bool:
        """Return whether a line to a name goes through another name, or (`strict`) past another point."""
        return any(box.struck(lead) for box in self.boxes) or (
            strict
            and any(
                hypot(x - it.x, y - it.y) < 6
                for x, y in _along(lead)
                for it in self._within(x - 6, x + 6)
                if it is not point
            )
        )

    def _within(self, low: float, high: float) -> Sequence[Point]:
        """The points from one place to another across."""
        return self.points[bisect_left(self.across, low) : bisect_right(self.across, high)]


def crossed(box: Box, point: Point) -> bool:
    """Return whether a name would lie over a point's interval."""
    return point.bar is not None and box.over(point.x - 1, point.x + 1, *point.bar)


def meet(lead: Segment, step: Segment) -> bool:
    """Return whether a line to a name goes through an upright or level piece (low, high, up, down)."""
    low, high, up, down = step
    return any(low - 2 <= x <= high + 2 and up - 2 <= y <= down + 2 for x, y in _along(lead)[1:])


def _choices(point: Point, *, far: bool) -> Iterator[tuple[float, Box]]:
    """Yield where a name may be, and how many pixels worse that counts than right next to its point."""
    long = LETTER_PX * len(point.name)
    for away, dy in enumerate((-10, 11, 0)):
        yield away, Box(point.x + 7, point.y + dy, long, "start")
        yield away, Box(point.x - 7 - long, point.y + dy, long, "end")
    for away, dy in ((3, -15), (3, 16)):
        yield away, Box(point.x - long / 2, point.y + dy, long, "middle")
    for distance in FAR if far else ():
        for turn in range(16):
            across, down = cos(turn * pi / 8), sin(turn * pi / 8)
            x, y = point.x + distance * across, point.y + distance * down
            lead = (point.x + 6 * across, point.y + 6 * down, x, y)
            if abs(across) < 0.3:
                # A line from above or below ends before the letters.
                yield distance, Box(x - long / 2, y + (7 if down > 0 else -7), long, "middle", lead)
            elif across > 0:
                yield distance, Box(x + 3, y, long, "start", lead)
            else:
                yield distance, Box(x - 3 - long, y, long, "end", lead)


def _along(line: Segment) -> list[tuple[float, float]]:
    """Points along a line, some three pixels apart."""
    x, y, to_x, to_y = line
    count = max(1, round(hypot(to_x - x, to_y - y) / 3))
    return [(x + (to_x - x) * at / count, y + (to_y - y) * at / count) for at in range(count + 1)]
