"""Families of boards, shapes and mazes. Pure."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import cos, hypot, pi, sin
from random import Random

from peerage.games.logic.puzzles import Drawn
from peerage.games.vision.picture import COLORS, Area, Disc, Letters, Picture, Point, Shape, Stroke, box

STRAIGHT, ASLANT = ((1, 0), (-1, 0), (0, 1), (0, -1)), ((1, 1), (1, -1), (-1, 1), (-1, -1))
LEAPS = tuple([(x, y) for x, y in product((-2, -1, 1, 2), repeat=2) if abs(x) != abs(y)])
WAYS = {"K": STRAIGHT + ASLANT, "Q": STRAIGHT + ASLANT, "R": STRAIGHT, "B": ASLANT, "N": LEAPS}
"""Directions in which each piece moves."""


def board(rng: Random, side: int, pieces: int, both: bool) -> Drawn:
    """Draw pieces on a board, whose empty squares some attack. Work: pairs of a square and a piece."""
    squares = [*product(range(side), repeat=2)]
    on = {at: rng.choice("KQRBNN") for at in rng.sample(squares, pieces)}
    white = {*rng.sample([*on], pieces // 2)} if both else set()
    attacked: dict[bool, Counter[tuple[int, int]]] = {True: Counter(), False: Counter()}
    for at, piece in on.items():
        for x, y in WAYS[piece]:
            for far in range(1, 2 if piece in "KN" else side):
                to = at[0] + far * x, at[1] + far * y
                if to in on or not (0 <= to[0] < side and 0 <= to[1] < side):
                    break
                attacked[at in white][to] += 1
    black, others = attacked[False], attacked[True]
    question = (
        "Pieces attack as in chess (K king, Q queen, R rook, B bishop, N knight): all but knights no farther "
        "than the first piece in their way, of either color. How many empty squares are attacked"
    )
    if both:
        question += " by white pieces, how many by black ones, how many by both?"
        answer = f"{len(others)}, {len(black)}, {len(others.keys() & black.keys())}"
    else:
        question += ", and how many of them by two or more pieces?"
        answer = f"{len(black)}, {sum(many > 1 for many in black.values())}"
    size = min(64, 960 // side)
    shapes: list[Shape] = []
    for column, row in squares:
        shade = "grid" if (column + row) % 2 else "pale"
        shapes.append(box(column * size, row * size, (column + 1) * size, (row + 1) * size, shade))
    for at, piece in on.items():
        middle = (at[0] + 0.5) * size, (at[1] + 0.5) * size
        fill, ink = ("white", "ink") if at in white else ("ink", "white")
        shapes += [Disc(middle, size * 0.38, fill, "ink"), Letters(middle, piece, size * 0.45, ink)]
    picture = Picture(side * size, side * size, shapes, smooth=True)
    return Drawn(question, answer, side * side * pieces, {"picture": picture})


KINDS, NAMED = {"triangle": 3, "square": 4, "circle": 40, "star": 10}, tuple(COLORS)[:6]
"""Kinds of shapes and their corners; colors that are named to players."""
CLOSEST, APART = 1.3, 2.4
"""Distance of the middles of two shapes at least, in radii: where one covers part of the other, and where
none does. Each covers or is covered by one other at most, so enough of it is seen."""
SHRINKS = 0.9999
"""Part of the radius that is left where a shape found no place, so that all of them find one."""


def shapes(rng: Random, shapes: int, looks: int, counts: int, overlap: bool) -> Drawn:
    """Draw shapes, of which some are counted, or one is found. Work: looks compared, for each shape and
    count; looks are the color, the kind, and whether it is hollow."""
    every = [*product(NAMED, KINDS, ("filled", "hollow"))]
    groups = [*dict.fromkeys([look[:looks] for look in every])]
    asked, most = rng.sample(groups, counts), round(1.7 * shapes / (counts + 2))
    squares = 5 if counts == 1 and rng.random() < 0.4 else 0
    many = [1] if squares else [most] * shapes
    while sum(many) > shapes:
        many = [rng.randint(counts == 1, most) for _ in asked]
    left = [group for group in groups if group not in asked]
    chosen = [group for group, times in zip(asked, many, strict=True) for _ in range(times)]
    chosen += rng.choices(left, k=shapes - len(chosen))
    radius = max(17.0, min(30.0, 110 / shapes**0.33))
    side, margin = max(300, min(960, round(shapes**0.5 * radius * 3.5))), 26 if squares else 0
    cell, placed, paired = side / max(1, squares), list[Point](), set[Point]()
    for group in chosen:
        while True:
            x, y = rng.uniform(radius, side - radius), rng.uniform(radius, side - radius)
            off = max(abs(x / cell % 1 - 0.5), abs(y / cell % 1 - 0.5)) if squares and group in asked else 0
            close = [(hypot(x - a, y - b), (a, b)) for a, b in placed if hypot(x - a, y - b) < radius * APART]
            pairs = overlap and len(close) == 1 and close[0][0] > radius * CLOSEST
            if off < 0.3 and (not close or (pairs and close[0][1] not in paired)):
                break
            radius *= SHRINKS
        placed.append((x, y))
        paired |= {(x, y), close[0][1]} if close else set()

    names = [" ".join([*reversed(group[:1] + group[2:]), *(group[1:2] or ["shape"])]) for group in asked]
    if squares:
        x, y = placed[0]
        answer = f"{chr(65 + int(x // cell))}{int(y // cell) + 1}"
        question = f"In which square, such as B4, is the middle of the only {names[0]}?"
    else:
        answer = ", ".join(map(str, many))
        question = f"How many are there of these: {'; '.join([f'{name}s' for name in names])}?"
    question += " Shapes may cover parts of others." if overlap else ""

    drawn: list[Shape] = []
    for at in range(squares):
        line, middle = margin + at * cell, margin + (at + 0.5) * cell
        drawn.append(Stroke([(line, margin), (line, side + margin)], "grid"))
        drawn.append(Stroke([(margin, line), (side + margin, line)], "grid"))
        drawn += [Letters((middle, 13), chr(65 + at), 18), Letters((13, middle), str(at + 1), 18)]
    for (x, y), group in rng.sample([*zip(placed, chosen, strict=True)], shapes):
        color, kind, fill = rng.choice([look for look in every if look[: len(group)] == group])
        parts = [(1.08, "white"), (1, color), (0.5, "white")][: 3 if fill == "hollow" else 2]
        drawn += [_shape(x + margin, y + margin, radius * part, kind, paint) for part, paint in parts]
    picture = Picture(side + margin, side + margin, drawn, smooth=True)
    return Drawn(question, answer, shapes * looks * counts, {"picture": picture})


def _shape(x: float, y: float, radius: float, kind: str, color: str) -> Area:
    corners, ends = KINDS[kind], list[Point]()
    for at in range(corners):
        angle = pi * (2 * at + (kind == "square")) / corners
        reach = radius / 2 if kind == "star" and at % 2 else radius
        ends.append((x + reach * sin(angle), y - reach * cos(angle)))
    return Area(ends, color)


def maze(rng: Random, side: int, exits: int, starts: int) -> Drawn:
    """Draw a maze of as many parts as it has exits, and starts in different ones. Work: cells that a search
    from each start can get to."""
    cells = [*product(range(side), range(side))]
    inside = {*cells}
    outside = {at: to for at in cells for to in _around(at) if to not in inside}
    ends = rng.sample([at for at in outside if sum(at) % 2], exits)
    leads, passed = {cell: at for at, cell in enumerate(ends)}, {(at, outside[at]) for at in ends}
    parts, ways = [[cell] for cell in ends], [[cell] for cell in ends]
    while ways := [way for way in ways if way]:
        way = rng.choice(ways)
        at = way[-1] if rng.random() < 0.85 else rng.choice(way)
        free = [to for to in _around(at) if to in inside and to not in leads]
        if not free:
            way.remove(at)
            continue
        way.append(to := rng.choice(free))
        leads[to] = leads[at]
        parts[leads[at]].append(to)
        passed |= {(at, to), (to, at)}
    answers = rng.sample(range(exits), starts)
    chosen = [rng.choice(parts[each][1:] or parts[each]) for each in answers]
    letters = f"from each letter, A to {chr(64 + starts)}," if starts > 1 else "from the letter A"
    question = f"At which number does the way {letters} leave the maze?"
    size, margin = min(40, 970 // side), 26
    half, whole = size / 2, side * size + 2 * margin

    def middle(at: tuple[int, int]) -> Point:
        return margin + at[0] * size + half, margin + at[1] * size + half

    drawn: list[Shape] = []
    for at in cells:
        x, y = middle(at)
        for (dx, dy), to in zip(STRAIGHT, _around(at), strict=True):
            if (at, to) not in passed and (dx + dy > 0 or to not in inside):
                wall = [(x + (dx + way * dy) * half, y + (dy + way * dx) * half) for way in (-1, 1)]
                drawn.append(Stroke(wall, "ink", 2))
    for number, at in enumerate(ends, 1):
        (x, y), (dx, dy) = middle(at), (outside[at][0] - at[0], outside[at][1] - at[1])
        drawn.append(Letters((x + dx * (half + 12), y + dy * (half + 12)), str(number)))
    drawn += [Letters(middle(at), chr(65 + n), min(24, size - 2), "red") for n, at in enumerate(chosen)]
    answer, work = ", ".join([str(each + 1) for each in answers]), sum([len(parts[each]) for each in answers])
    return Drawn(question, answer, work, {"picture": Picture(whole, whole, drawn)})


def _around(at: tuple[int, int]) -> list[tuple[int, int]]:
    return [(at[0] + x, at[1] + y) for x, y in STRAIGHT]
