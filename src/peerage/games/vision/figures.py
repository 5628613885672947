"""Families of figures: charts, clocks and tables as pictures. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import cos, pi, sin
from random import Random

from peerage.games.logic.puzzles import Drawn, listed
from peerage.games.vision.picture import COLORS, Disc, Letters, Picture, Point, Shape, Stroke, box

PRODUCTS = ("tea", "rice", "salt", "wool", "iron", "silk", "corn", "wine")
LINES = 10
"""Lines of a chart's scale above zero."""
CODES = [a + b for a in "ABCDEFGHKLMNPRSTUVWXYZ" for b in "ABCDEFGHKLMNPRSTUVWXYZ" if a != b]


def chart(rng: Random, columns: int, products: int, steps: int, span: int, among: int) -> Drawn:
    """Draw bars, lines or stacks; some values are read, added up or ranked. From one line of the scale to the
    next are so many `steps`. Work: heights read, times these steps."""
    kinds = ["bars"] * (columns * products <= 48) + ["stacks"] * (among < products)
    kind, unit, top = rng.choice(["lines", *kinds]), rng.choice([1, 2, 5, 10]), LINES * steps
    names, labels = rng.sample(PRODUCTS, products), sorted(rng.sample(CODES, columns))
    heights = [rng.sample(range(1, top + 1), products) for _ in labels]
    if kind == "stacks":
        heights = [[b - a for a, b in pairwise([0, *sorted(ends)])] for ends in heights]
    start, asked, place = rng.randrange(columns - span + 1), rng.sample(names, among), rng.randint(2, 7)
    spanned, what = heights[start : start + span], listed(asked)
    values = [[column[names.index(name)] * unit for name in asked] for column in spanned]
    sums = [sum(own) for own in values]
    over = f"from {labels[start]} to {labels[start + span - 1]}" if span > 1 else f"of {labels[start]}"
    answer: str | int = sum(sums)
    first = sorted(sums, reverse=True)[: place + 1]
    if span * among == 1:
        question = f"What is the value of {what} {over}?"
    elif span > 1 and among > 1 and rng.random() < 0.5 and len({*first}) > place:
        question = f"The labels {over} are put in order of the sums of their values of {what}, the greatest "
        question += f"first. Which one is number {place}?"
        answer = labels[start + sums.index(first[place - 1])]
    elif among == 2 and span == 1 and kind != "stacks" and rng.random() < 0.5:
        question = f"By how much do the values of {what} {over} differ?"
        answer = abs(values[0][0] - values[0][1])
    else:
        question = f"What do all values of {what} {over} add up to?"
    read = among
    if kind == "stacks":
        question += " Each value is the height of its part of the column."
        read = sum(a != b for a, b in pairwise([*[name in asked for name in names], False]))

    width, tall = max(340, min(900, 64 * columns)), min(680, 320 * steps**0.5)
    left, low, wide, pixel = 56, 40 + tall, width / columns, tall / top
    shapes, dots = list[Shape](), list[Shape]()
    for line in range(LINES + 1):
        y = low - line * steps * pixel
        shapes.append(Stroke([(left, y), (left + width, y)], "grid"))
        shapes.append(Letters((left - 28, y), str(line * steps * unit), 13))
    shapes += [Letters((left + wide * (at + 0.5), low + 14), label, 13) for at, label in enumerate(labels)]
    for at, (name, color) in enumerate(zip(names, COLORS, strict=False)):
        x = left + at * width / max(4, products)
        shapes += [box(x, 12, x + 16, 28, color), Letters((x + 38, 20), name)]
        tops = [sum(column[: at + 1]) if kind == "stacks" else column[at] for column in heights]
        ends = [(left + wide * (nth + 0.5), low - value * pixel) for nth, value in enumerate(tops)]
        shapes += [Stroke(ends, color, 2)] if kind == "lines" else []
        for (x, y), column in zip(ends, heights, strict=True):
            if kind == "bars":
                x += wide * 0.8 * (at / products - 0.5)
                shapes.append(box(x, y, x + wide * 0.8 / products, low, color))
            elif kind == "stacks":
                shapes.append(box(x - wide * 0.3, y, x + wide * 0.3, y + column[at] * pixel, color))
            else:
                dots.append(Disc((x, y), 4.5, color, "white"))
    picture = Picture(left + width + 20, low + 30, [*shapes, *dots], smooth=kind == "lines")
    return Drawn(question, answer, span * read * steps, {"picture": picture})


def clock(rng: Random, clocks: int, minutes: int, mirrored: bool, turned: bool) -> Drawn:
    """Draw clocks, whose time is read, or the time from one of a pair to the other. Work: clocks, times the
    positions of hands that there are, twice in a mirror and four times where faces are turned."""
    times = rng.sample(range(0, 720, minutes), clocks)
    across, size = min(4, clocks), rng.randint(220, 300) if clocks == 1 else 200
    shapes: list[Shape] = []
    for at, time in enumerate(times):
        x, y = size * (at % across + 0.5), size * (at // across + 0.5)
        turn = rng.randrange(0, 360, 15) if turned else 0
        shapes += _face(x, y, size, time, -1 if mirrored else 1, turn, numbered=not (turned or mirrored))
        shapes += [Letters((x - size * 0.44, y - size * 0.42), chr(65 + at), 20)] if clocks > 1 else []
    if clocks == 1:
        answer = f"{times[0] // 60 or 12}:{times[0] % 60:02}"
        question = "What time does the clock show? Write hours from 1 to 12 and minutes, such as 7:05."
    else:
        waits = [(after - before) % 720 for before, after in zip(times[::2], times[1::2], strict=True)]
        answer = ", ".join(map(str, waits))
        pairs = [f"from {chr(65 + at)} to {chr(66 + at)}" for at in range(0, clocks, 2)]
        question = "How many minutes go by from one time until a clock next shows the other, "
        question += f"{listed(pairs)}?"
    question += " The clocks are seen in a mirror." if mirrored else ""
    question += " Each face is turned by an angle of its own." if turned else ""
    question += " A red spot marks where 12 is." if turned or mirrored else ""
    work = clocks * 720 // minutes * (2 if mirrored else 1) * (4 if turned else 1)
    picture = Picture(across * size, -(-clocks // across) * size, shapes, smooth=True)
    return Drawn(question, answer, work, {"picture": picture})


def _face(
    x: float, y: float, size: float, time: int, way: int, turn: int, *, numbered: bool
) -> Iterator[Shape]:
    """Yield a clock: its hands go `way` 1 or, in a mirror, -1, and 12 is `turn` degrees on; where it is not
    `numbered`, a spot marks 12."""

    def to(degrees: float, part: float) -> Point:
        angle = way * (degrees + turn) * pi / 180
        return x + size * part * sin(angle), y - size * part * cos(angle)

    yield Disc((x, y), size * 0.43, "white", "ink")
    for tick in range(60):
        yield Stroke([to(6 * tick, 0.42), to(6 * tick, 0.4 if tick % 5 else 0.37)])
    if numbered:
        for hour in range(1, 13):
            yield Letters(to(30 * hour, 0.33), str(hour), size / 14)
    else:
        yield Disc(to(0, 0.33), size / 28, "red", "red")
    yield Stroke([(x, y), to(time / 2, 0.2)], "ink", 6)
    yield Stroke([(x, y), to(time * 6, 0.35)], "blue", 3)


def table(rng: Random, rows: int, columns: int, steps: int) -> Drawn:
    """Draw a table whose cells name rows; a way leads from cell to cell, to none twice, and numbers met are
    added up. Work: names of rows and columns looked at, at each step."""
    names, wide, high = rng.sample(CODES, rows), 72, 24
    cells = [[(rng.choice(names), rng.randint(10, 99)) for _ in range(columns)] for _ in names]
    row, column, total = rng.randrange(rows), rng.randrange(columns), 0
    left = [{*names} for _ in range(columns)]
    start = f"row {names[row]}, column {column + 1}"
    for at in range(column, column + steps):
        left[at % columns].discard(names[row])
        to, number = rng.choice(sorted(left[(at + 1) % columns])), cells[row][at % columns][1]
        cells[row][at % columns] = to, number
        row, total = names.index(to), total + number
    question = f"Which number is in {start}?"
    if steps > 1:
        question = (
            f"Start in {start}. Each cell names a row: go on there, one column to the right; after the last "
            f"column comes column 1. Add up the numbers of the first {steps} cells, the start among them."
        )
    end = 50 + wide * columns
    shapes: list[Shape] = [box(0, high * at, end, high * (at + 1), "pale") for at in range(1, rows + 1, 2)]
    shapes += [Letters((50 + wide * (at + 0.5), 12), str(at + 1)) for at in range(columns)]
    for at, name in enumerate(names):
        y = high * (at + 1.5)
        shapes.append(Letters((24, y), name))
        texts = [f"{to} {number}" for to, number in cells[at]]
        shapes += [Letters((50 + wide * (place + 0.5), y), text) for place, text in enumerate(texts)]
    shapes.append(Stroke([(47, 0), (47, high * (rows + 1))]))
    picture = Picture(end, high * (rows + 1), shapes)
    return Drawn(question, total, steps * (rows + columns), {"picture": picture})
