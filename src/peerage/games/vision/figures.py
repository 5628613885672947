"""Families of figures: charts, clocks and tables as pictures. Pure."""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin
from random import Random

from peerage.games.logic.puzzles import Drawn
from peerage.games.vision.picture import COLORS, Disc, Letters, Picture, Shape, Stroke, box

PRODUCTS = ("tea", "rice", "salt", "wool", "iron", "silk", "corn", "wine")
LINES = 10
"""Lines of a chart's scale above zero."""
RANKED = 8
"""Columns among which one is asked for at least: one of fewer could be guessed."""
CODES = [a + b for a in "ABCDEFGHKLMNPRSTUVWXYZ" for b in "ABCDEFGHKLMNPRSTUVWXYZ" if a != b]


def chart(rng: Random, columns: int, products: int, steps: int, span: int, among: int) -> Drawn:
    """Draw bars, lines or stacks; some values are read, added up or ranked. From one line of the scale to the
    next are so many `steps`. Work: values read, times these steps."""
    kinds = ["bars"] * (columns * products <= 48) + ["stacks"] * (products > 1)
    kind, unit, top = rng.choice(["lines", *kinds]), rng.choice([1, 2, 5, 10]), LINES * steps
    names, labels = rng.sample(PRODUCTS, products), sorted(rng.sample(CODES, columns))
    heights = [rng.sample(range(1, top + 1), products) for _ in labels]
    if kind == "stacks":
        heights = [[b - a for a, b in pairwise([0, *sorted(ends)])] for ends in heights]
    values = {name: [column[at] * unit for column in heights] for at, name in enumerate(names)}

    start, asked = rng.randrange(columns - span + 1), rng.sample(names, among)
    sums = [sum(values[name][at] for name in asked) for at in range(start, start + span)]
    what = " and ".join(filter(None, [", ".join(asked[:-1]), asked[-1]]))
    over = f"from {labels[start]} to {labels[start + span - 1]}" if span > 1 else f"of {labels[start]}"
    place = rng.randint(2, 7)
    if span * among == 1:
        question, answer = f"What is the value of {what} {over}?", str(sums[0])
    elif span >= RANKED and rng.random() < 0.5 and sums.count(ranked := sorted(sums)[-place]) == 1:
        question = f"Which label has number {place} of the values of {what} {over}, from the greatest down?"
        question = question if among == 1 else question.replace("the values", "the sums of the values")
        answer = labels[start + sums.index(ranked)]
    elif among == 2 and span == 1 and rng.random() < 0.5:
        question = f"By how much do the values of {what} {over} differ?"
        answer = str(abs(values[asked[0]][start] - values[asked[1]][start]))
    else:
        question, answer = f"What do all values of {what} {over} add up to?", str(sum(sums))
    if kind == "stacks":
        question += " Each value is the height of its part of the column."

    width, tall = max(340, min(900, 64 * columns)), min(680, 320 * steps**0.5)
    left, low, wide, pixel = 56, 40 + tall, width / columns, tall / top
    shapes: list[Shape] = []
    for line in range(LINES + 1):
        y = low - line * steps * pixel
        shapes.append(Stroke([(left, y), (left + width, y)], "grid"))
        shapes.append(Letters((left - 28, y), str(line * steps * unit), 13))
    shapes += [Letters((left + wide * (at + 0.5), low + 14), label, 13) for at, label in enumerate(labels)]
    for place, (name, color) in enumerate(zip(names, COLORS, strict=False)):
        x = left + place * width / max(4, products)
        shapes += [box(x, 12, x + 16, 28, color), Letters((x + 38, 20), name)]
        tops = [sum(column[: place + 1]) if kind == "stacks" else column[place] for column in heights]
        ends = [(left + wide * (at + 0.5), low - value * pixel) for at, value in enumerate(tops)]
        for (x, y), column in zip(ends, heights, strict=True):
            if kind == "bars":
                x += wide * 0.8 * (place / products - 0.5)
                shapes.append(box(x, y, x + wide * 0.8 / products, low, color))
            elif kind == "stacks":
                shapes.append(box(x - wide * 0.3, y, x + wide * 0.3, y + column[place] * pixel, color))
            else:
                shapes.append(Disc((x, y), 4, color, color))
        shapes += [Stroke(ends, color, 2)] if kind == "lines" else []
    picture = Picture(left + width + 20, low + 30, shapes, smooth=kind == "lines")
    return Drawn(question, answer, span * among * steps, {"picture": picture})


def clock(rng: Random, clocks: int, minutes: int, mirrored: bool, turned: bool) -> Drawn:
    """Draw clocks, whose time is read, or the time from one to the next. Work: clocks, times the positions of
    hands that there are, twice in a mirror and four times where faces are turned."""
    times = rng.sample(range(0, 720, minutes), clocks)
    across, size = min(5, clocks), 260 if clocks == 1 else 200
    shapes: list[Shape] = []
    for at, time in enumerate(times):
        x, y = size * (at % across + 0.5), size * (at // across + 0.5)
        turn = rng.randrange(0, 360, 15) if turned else 0
        spot = "red" if turned or mirrored else "white"

        def to(
            degrees: float, part: float, x: float = x, y: float = y, turn: int = turn
        ) -> tuple[float, float]:
            angle = (degrees + turn) * pi / (-180 if mirrored else 180)
            return x + size * part * sin(angle), y - size * part * cos(angle)

        shapes += [Disc((x, y), size * 0.43, "white", "ink"), Disc(to(0, 0.33), size / 28, spot, spot)]
        shapes += [
            Stroke([to(6 * tick, 0.42), to(6 * tick, 0.4 if tick % 5 else 0.37)]) for tick in range(60)
        ]
        if spot == "white":
            shapes += [Letters(to(30 * hour, 0.33), str(hour), size / 14) for hour in range(1, 13)]
        shapes.append(Stroke([(x, y), to(time / 2, 0.2)], "ink", 6))
        shapes.append(Stroke([(x, y), to(time * 6, 0.35)], "blue", 3))
        shapes += [Letters((x - size * 0.44, y - size * 0.42), chr(65 + at), 20)] if clocks > 1 else []
    if clocks == 1:
        answer = f"{times[0] // 60 or 12}:{times[0] % 60:02}"
        question = "What time does the clock show? Write hours from 1 to 12 and minutes, such as 7:05."
    else:
        answer = str(sum([(after - before) % 720 for before, after in pairwise(times)]))
        then = ", then that of C, and so on to the last" if clocks > 2 else ""
        question = f"How many minutes go by from the time of A until a clock first shows that of B{then}?"
    question += " The clocks are seen in a mirror." if mirrored else ""
    question += " Each face is turned by an angle of its own." if turned else ""
    question += " A red spot marks where 12 is." if turned or mirrored else ""
    work = clocks * 720 // minutes * (2 if mirrored else 1) * (4 if turned else 1)
    picture = Picture(across * size, -(-clocks // across) * size, shapes, smooth=True)
    return Drawn(question, answer, work, {"picture": picture})


def table(rng: Random, rows: int, columns: int, steps: int) -> Drawn:
    """Draw a table whose cells name rows; a way leads from cell to cell, and numbers met are added up. Work:
    names of rows and columns looked at, at each step."""
    names, wide, high = rng.sample(CODES, rows), 72, 24
    cells = [[(rng.choice(names), rng.randint(10, 99)) for _ in range(columns)] for _ in names]
    row, column, total = rng.randrange(rows), rng.randrange(columns), 0
    start = f"row {names[row]}, column {column + 1}"
    for step in range(steps):
        name, number = cells[row][(column + step) % columns]
        row, total = names.index(name), total + number
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
