"""Each family of pictures: what is on the picture alone leaves one answer, found here in another way.

`SOLVERS` read a picture as a player does, from its shapes and letters, and the question; they know nothing of
what was drawn. They must find the answer.
"""

import re
from collections import Counter, deque
from collections.abc import Callable
from itertools import chain, combinations, pairwise
from math import atan2, dist, pi
from random import Random
from statistics import median
from typing import Any, NamedTuple

import pytest

from peerage.game.levels import LEVELS, SLOPE, USUAL_LEVEL
from peerage.games.logic.puzzles import solves
from peerage.games.vision import boards
from peerage.games.vision.boards import CLOSEST, KINDS
from peerage.games.vision.figures import PRODUCTS
from peerage.games.vision.picture import COLORS, SIDE, Area, Disc, Picture, Stroke
from peerage.games.vision.play import FAMILIES

SEEDS = range(6)


def words(text: str) -> list[str]:
    return re.split(r", | and ", text)


def chart(picture: Picture, question: str) -> str:
    scale = sorted((each.middle[1], int(each.text)) for each in picture.letters if each.middle[0] == 28)
    (top, most), (low, least) = scale[0], scale[-1]
    by_pixel = (most - least) / (low - top)
    labels = {each.middle[0]: each.text for each in picture.letters if each.middle[1] > low}
    legend = [each for each in picture.letters if each.middle[1] == 20]
    named = {
        each.color: each for each in picture.shapes if isinstance(each, Area) and each.corners[0][1] == 12
    }
    name = {
        color: min(legend, key=lambda each: abs(each.middle[0] - box.corners[0][0] - 38)).text
        for color, box in named.items()
    }
    value: dict[tuple[str, str], float] = {}
    for shape in picture.shapes:
        if isinstance(shape, Disc):
            x, height = shape.center[0], low - shape.center[1]
        elif isinstance(shape, Area) and shape is not named.get(shape.color):
            (left, above), _, (right, below), _ = shape.corners
            x = (left + right + 1) / 2
            height = (below + 1 if "part of the column" in question else low) - above
        else:
            continue
        label = labels[min(labels, key=lambda at: abs(at - x))]
        assert (name[shape.color], label) not in value
        value[name[shape.color], label] = height * by_pixel
    whole = {key: round(height) for key, height in value.items()}
    assert all(abs(whole[key] - height) < 0.01 for key, height in value.items())
    first, last = re.search(r"(?:of|from) ([A-Z]{2})(?: to ([A-Z]{2}))?", question).groups()  # type: ignore[union-attr]
    asked = re.search(r"values? of ([a-z, ]+?)(?:,| of| from)? (?:[A-Z]{2}|the greatest)", question)[1]  # type: ignore[index]
    assert "its part" not in question or {*words(asked)} < {*name.values()}, "whole columns take less work"
    ordered = sorted(labels.values())
    span = ordered[ordered.index(first) : ordered.index(last or first) + 1]
    sums = [sum(whole[each, label] for each in words(asked)) for label in span]
    if place := re.search(r"number (\d+)", question):
        first_ones = sorted(sums, reverse=True)[: int(place[1]) + 1]
        assert len({*first_ones}) == len(first_ones), "equal sums leave two ways to count places"
        return span[sums.index(first_ones[-2])]
    if "differ" in question:
        one, other = words(asked)
        return str(abs(whole[one, first] - whole[other, first]))
    return str(sum(sums))


def clock(picture: Picture, question: str) -> str:
    hand = -1 if "mirror" in question else 1
    faces = [each.center for each in picture.shapes if isinstance(each, Disc) and each.edge == "ink"]
    spots = [each for each in picture.shapes if isinstance(each, Disc) and each.color == "red"]
    twelve = [each.center for each in spots] or [each.middle for each in picture.letters if each.text == "12"]

    def turned(center: tuple[float, float], end: tuple[float, float]) -> float:
        return atan2(end[0] - center[0], center[1] - end[1]) * hand

    times = []
    for center in faces:
        start = turned(center, min(twelve, key=lambda spot: dist(spot, center)))
        ends = {
            each.color: each.points[1]
            for each in picture.shapes
            if isinstance(each, Stroke) and each.width > 1 and each.points[0] == center
        }
        hour, minute = [(turned(center, ends[each]) - start) / (2 * pi) % 1 for each in ("ink", "blue")]
        times.append(round(hour * 720) % 720)
        assert round(minute * 60) % 60 == times[-1] % 60
    order = [each.text for each in picture.letters if each.text.isalpha()]
    assert order == [chr(65 + at) for at in range(len(faces))] or len(faces) == 1
    if len(times) == 1:
        return f"{(times[0] // 60 - 1) % 12 + 1}:{times[0] % 60:02}"
    pairs = re.findall(r"from ([A-L]) to ([A-L])", question)
    assert sorted(chain(*pairs)) == order, "a clock that is in no pair need not be read"
    by_name = dict(zip(order, times, strict=True))
    return ", ".join(str((by_name[after] - by_name[before] - 1) % 720 + 1) for before, after in pairs)


def table(picture: Picture, question: str) -> str:
    rows: dict[float, list[str]] = {}
    for each in sorted(picture.letters, key=lambda each: each.middle):
        rows.setdefault(each.middle[1], []).append(each.text)
    head, *body = [rows[y] for y in sorted(rows)]
    cells = {(name, head[at]): text for name, *own in body for at, text in enumerate(own)}
    row, column = re.search(r"row (\w+), column (\w+)", question).groups()  # type: ignore[union-attr]
    steps = int((re.search(r"first (\d+) cells", question) or [0, 1])[1])
    total, been = 0, set[tuple[str, str]]()
    for _ in range(steps):
        assert (row, column) not in been, "the way goes round, and need not be followed to its end"
        been.add((row, column))
        row, number = cells[row, column].split()
        total += int(number)
        column = head[(head.index(column) + 1) % len(head)]
    return str(total)


def board(picture: Picture, question: str) -> str:
    """From each empty square outwards, to the first piece on each line."""
    squares = [each.corners for each in picture.shapes if isinstance(each, Area)]
    size = squares[0][1][0] + 1
    side = round(picture.width / size)
    assert len(squares) == side * side
    discs = {each.center: each for each in picture.shapes if isinstance(each, Disc)}
    on = {
        (round(each.middle[0] / size - 0.5), round(each.middle[1] / size - 0.5)): (
            each.text, discs[each.middle].color == "white"
        )
        for each in picture.letters
    }  # fmt: skip
    attackers: dict[tuple[int, int], list[bool]] = {}
    for x in range(side):
        for y in range(side):
            if (x, y) in on:
                continue
            seen = attackers[x, y] = list[bool]()
            for dx in range(-2, 3):
                for dy in range(-2, 3):
                    if {abs(dx), abs(dy)} == {1, 2} and on.get((x + dx, y + dy), "?")[0] == "N":
                        seen.append(bool(on[x + dx, y + dy][1]))
                    if max(abs(dx), abs(dy)) != 1:
                        continue
                    far = next((f for f in range(1, side) if (x + f * dx, y + f * dy) in on), 0)
                    kind, white = on[x + far * dx, y + far * dy] if far else ("", False)
                    reach = {"K": far == 1, "Q": True, "R": not (dx and dy), "B": bool(dx and dy)}
                    if reach.get(kind):
                        seen.append(bool(white))
    if "white" in question:
        by = [
            sum({*own} <= {*each} for each in attackers.values()) for own in ([True], [False], [True, False])
        ]
    else:
        by = [sum(len(each) >= least for each in attackers.values()) for least in (1, 2)]
    return ", ".join(map(str, by))


class Seen(NamedTuple):
    middle: tuple[float, ...]
    radius: float
    look: tuple[str, str, str]


def seen(picture: Picture) -> list[Seen]:
    """The shapes on a picture, the lowest first: of one color, and hollow where white is on the middle."""
    rounds = []
    for area in [each for each in picture.shapes if isinstance(each, Area)]:
        middle = tuple(sum(place) / len(area.corners) for place in zip(*area.corners, strict=True))
        rounds.append((area, middle, max(dist(middle, corner) for corner in area.corners)))
    found: list[Seen] = []
    for (area, middle, radius), (_, other, less) in pairwise([*rounds, (rounds[0][0], (-1, -1), 0)]):
        if area.color != "white":
            kind = next(name for name, corners in KINDS.items() if corners == len(area.corners))
            hollow = dist(middle, other) < 1e-6 and less < radius
            found.append(Seen(middle, radius, (area.color, kind, "hollow" if hollow else "filled")))
    return found


def shapes(picture: Picture, question: str) -> str:
    looks = [each.look for each in seen(picture)]

    def fits(look: tuple[str, str, str], named: str) -> bool:
        *adjectives, kind = named.removesuffix("s").split()
        return {*adjectives} <= {look[0], look[2]} and kind in (look[1], "shape")

    if only := re.search(r"the only ([\w ]+)\?", question):
        (one,) = [each for each in seen(picture) if fits(each.look, only[1])]
        columns = {each.text: each.middle[0] for each in picture.letters if each.text.isalpha()}
        rows = {each.text: each.middle[1] for each in picture.letters if each.text.isdigit()}
        column = min(columns, key=lambda name: abs(columns[name] - one.middle[0]))
        return column + min(rows, key=lambda name: abs(rows[name] - one.middle[1]))
    listed = re.search(r"of these: ([\w; ]+)\?", question)[1].split("; ")  # type: ignore[index]
    return ", ".join(str(sum(fits(look, named) for look in looks)) for named in listed)


def maze(picture: Picture, question: str) -> str:
    """By flooding from outside, number by number, at a fifth of a cell a step."""
    walls = [each.points for each in picture.shapes if isinstance(each, Stroke)]
    size = min(dist(*points) for points in walls)
    blocked = {
        (round((a[0] + b[0] - 52) / size), round((a[1] + b[1] - 52) / size)) for a, b in walls
    }  # doubled coordinates: odd, odd is a cell, and what is between two cells a wall or none
    side = round((picture.width - 52) / size)

    def doubled(at: tuple[float, float]) -> tuple[int, int]:
        return int((at[0] - 26) // size) * 2 + 1, int((at[1] - 26) // size) * 2 + 1

    leads: dict[tuple[int, int], str] = {}
    for number in [each for each in picture.letters if each.text.isdigit()]:
        at = doubled(number.middle)
        start = tuple(min(max(place, 1), 2 * side - 1) for place in at)
        assert ((at[0] + start[0]) // 2, (at[1] + start[1]) // 2) not in blocked, "the exit is closed"
        queue: deque[Any] = deque([start])
        while queue:
            x, y = queue.popleft()
            assert leads.setdefault((x, y), number.text) == number.text, "two ways lead out"
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                to = (x + 2 * dx, y + 2 * dy)
                inside = 0 < to[0] < 2 * side and 0 < to[1] < 2 * side
                if inside and (x + dx, y + dy) not in blocked and to not in leads:
                    queue.append(to)
    letters = sorted([each for each in picture.letters if each.text.isalpha()], key=lambda each: each.text)
    led = [leads[doubled(each.middle)] for each in letters]
    assert len({*led}) == len(led), "where ways meet, cells are searched once that count twice"
    return ", ".join(led)


SOLVERS: dict[str, Callable[[Picture, str], str]] = {
    solve.__name__: solve for solve in (chart, clock, table, board, shapes, maze)
}


def drawn(family: str, level: int, seed: int) -> Any:
    return FAMILIES[family](Random(f"{family}/{level}/{seed}"), level)


@pytest.mark.parametrize("level", range(1, LEVELS + 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_picture_alone_leaves_the_answer(family: str, level: int) -> None:
    for seed in SEEDS if level < LEVELS else SEEDS[:2]:
        task = drawn(family, level, seed)
        assert solves(SOLVERS[family](task.picture, task.text), task.answer), (task.text, task.answer)


@pytest.mark.parametrize("family", FAMILIES)
def test_all_of_a_picture_is_on_it(family: str) -> None:
    for level in range(1, LEVELS + 1):
        picture = drawn(family, level, 7).picture
        assert max(picture.width, picture.height) <= SIDE
        for x, y in [letters.middle for letters in picture.letters]:
            assert 4 < x < picture.width - 4
            assert 4 < y < picture.height - 4


@pytest.mark.parametrize("family", FAMILIES)
def test_each_level_is_as_much_harder_as_levels_are(family: str) -> None:
    """The difficulty that pictures measure is that of their level, within 0.4 logits in the median."""
    medians = []
    for level in range(1, LEVELS + 1):
        tasks = [drawn(family, level, seed) for seed in range(9 if level < 7 else 3)]
        medians.append(median(each.difficulty for each in tasks))
        assert abs(medians[-1] - SLOPE * (level - USUAL_LEVEL)) < 0.4
        assert max(len(each.text) for each in tasks) < 1_000
    assert medians == sorted({*medians})


@pytest.mark.parametrize(("level", "most"), [(1, 0.18), (USUAL_LEVEL, 0.16)])
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_cannot_be_guessed(family: str, level: int, most: float) -> None:
    answers = Counter(drawn(family, level, seed).answer for seed in range(200))
    assert answers.most_common(1)[0][1] <= 200 * most


def test_shapes_are_as_many_as_the_answer_says() -> None:
    """However many are drawn of each: the numbers of one picture must not come to more than it has."""
    for seed in range(60):
        text, answer, _, more = boards.shapes(Random(seed), shapes=10, looks=3, counts=8, overlap=True)
        assert shapes(more["picture"], text) == answer
        assert len(seen(more["picture"])) == 10


def test_a_shape_is_covered_by_one_other_at_most() -> None:
    for level in (5, 8):
        found = seen(drawn("shapes", level, 1).picture)
        close = Counter[Seen]()
        for one, other in combinations(found, 2):
            gap = dist(one.middle, other.middle) / one.radius
            assert gap > CLOSEST * 0.99
            close.update((one, other) if gap < 2 else ())
        assert close
        assert max(close.values()) == 1


MATRICES = {
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""Linear red, green and blue as the colour-blind see them (Machado, Oliveira and Fernandes, 2009)."""


def linear(color: str) -> list[float]:
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]


WHITE = (0.9505, 1.0, 1.089)
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))


def lab(shares: list[float]) -> tuple[float, float, float]:
    x, y, z = (
        max(0.0, sum(a * b for a, b in zip(row, shares, strict=True)) / white) ** (1 / 3)
        for row, white in zip(XYZ, WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("blindness", MATRICES)
def test_who_is_blind_to_a_color_tells_those_of_shapes_and_charts_apart(blindness: str) -> None:
    """By CIELAB, in which people notice a difference of 2.3."""

    def as_seen(color: str) -> tuple[float, float, float]:
        return lab([sum(a * b for a, b in zip(row, linear(COLORS[color]), strict=True))
                    for row in MATRICES[blindness]])  # fmt: skip

    for one, other in combinations((*tuple(COLORS)[: len(PRODUCTS)], "white"), 2):
        assert dist(as_seen(one), as_seen(other)) > 15, (one, other)
