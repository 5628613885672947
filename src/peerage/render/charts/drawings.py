"""Drawings: two axes and the marks between them, as SVG.

    plane = Plane(Axis.over("matches", [1, 90]), Axis.over("rating", [1410, 1620]))
    plane.line([(1, 1500), (90, 1620)], "#0a56a5")
    plane.svg("Ratings over the matches")

Marks take values of the axes; only where names are put it is pixels that count. Text is made visible and
escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from math import ceil, exp, floor, log, log10
from typing import Any, NamedTuple, TypeAlias

from markupsafe import Markup, escape

from peerage.values.figures import round_step, round_steps, shortened
from peerage.values.texts import visible

INK, QUIET, LINE, PAPER = "#111111", "#666666", "#dddddd", "#ffffff"
WIDTH, HEIGHT = 352, 290
"""Of a drawing in pixels: it fits a phone of 360, and two stand next to each other on a page."""
LETTER_PX = 7.2
"""A letter's width in the widest of the usual fonts, at the size of all text here."""
APART = 40
"""Of an axis, what is set off for zero."""
_LINE_PX = 18

Points: TypeAlias = Iterable[tuple[float, float]]


class PixelScale(NamedTuple):
    """Values from `low` to `high` on pixels from `first` to `last`; `log` where equal steps are factors, and
    zero has a place of its own, `zero`."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False
    zero: float | None = None

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.zero is not None and not value:
            return self.zero
        if self.log:
            value, low, high = log(value), log(low), log(high)
        return self.first + (value - low) / (high - low) * (self.last - self.first)


class Axis(NamedTuple):
    """What an axis is called and shows: values from `low` to `high`, with some `steps` of them written by
    `form`. Its ends are round numbers where it is `nice`, and `pad` pixels beyond the values. `names` stand
    in place of the values 0, 1, … On a logarithmic one zero, which it has no place for, stands apart on the
    left, as `zero`."""

    title: str
    low: float
    high: float
    steps: int = 5
    form: Callable[[float], str] = "{:,.10g}".format
    log: bool = False
    nice: bool = True
    pad: float = 0.0
    names: Sequence[str] = ()
    zero: str = ""

    @classmethod
    def over(cls, title: str, values: Iterable[float | None], **more: Any) -> Axis:
        """An axis that spans these values."""
        known = [value for value in values if value is not None] or [0.0, 1.0]
        low, high = min(known), max(known)
        if low == high:
            low, high = (low / 2, high * 2) if more.get("log") else (low - 1, high + 1)
        return cls(title, low, high, **more)

    @classmethod
    def of(cls, names: Sequence[str]) -> Axis:
        """An axis on which each of these names has as much room."""
        return cls("", -0.5, len(names) - 0.5, nice=False, names=names)

    def scale(self, first: float, last: float) -> PixelScale:
        low, high = self.low, self.high
        if self.nice:
            step = round_step(low, high, self.steps)
            low, high = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
        if self.log and self.zero:
            inner = self._replace(zero="").scale(first + APART, last)
            return inner._replace(zero=first + APART / 2)
        share = self.pad / (abs(last - first) - 2 * self.pad)
        if self.log:
            factor = exp(log(high / low) * share)
            return PixelScale(low / factor, high * factor, first, last, log=True)
        beyond = (high - low) * share
        return PixelScale(low - beyond, high + beyond, first, last)

    def ticks(self, scale: PixelScale) -> list[tuple[float, str]]:
        """Return where something is written on it, in pixels, and what."""
        if self.names:
            return [(scale(at), visible(name)) for at, name in enumerate(self.names)]
        values = _factors(scale.low, scale.high) if self.log else []
        if not 1 < len(values) <= self.steps + 2:
            whole = [value for value in values if f"{value:e}"[0] == "1"]
            values = whole if len(whole) > 1 else values or round_steps(scale.low, scale.high, self.steps)
        free = [] if scale.zero is None else [(scale.zero, self.zero)]
        return free + [(scale(value), self.form(value)) for value in values]


class Label(NamedTuple):
    """A name on a drawing: pixels across and down, text, colour, which end is there, a line to its point."""

    x: float
    y: float
    text: str
    color: str
    end: str
    lead: tuple[float, float, float, float] | None = None


class Plane:
    """A drawing of so many pixels, `right` of its marks more, and `series`, names with colours, above."""

    def __init__(
        self,
        x: Axis,
        y: Axis,
        *,
        width: float = WIDTH,
        height: float = HEIGHT,
        right: float = 10,
        series: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []
        self.top, self.bottom = 10.0 + self._keys(series), height - 28 - 24 * bool(x.title)
        self.y = y.scale(self.bottom, self.top)
        rows = y.ticks(self.y)
        self.left = 12 + 24 * bool(y.title) + LETTER_PX * max([len(text) for _, text in rows], default=0)
        self.right = max(width - right, self.left + 40)
        self.x = x.scale(self.left, self.right)
        for at, text in rows:
            if not y.names:
                self._add(f'<path d="M{_px(self.left)} {_px(at)}H{_px(self.right)}" stroke="{LINE}"/>')
            self.text(self.left - 8, at, text, QUIET, "end")
        gap = "" if self.x.zero is None else f"H{_px(self.x.first - 9)}m6 0"
        self._add(f'<path d="M{_px(self.left)} {_px(self.bottom)}{gap}H{_px(self.right)}" stroke="{LINE}"/>')
        for at, text in _apart(x.ticks(self.x), width):
            self._add(f'<path d="M{_px(at)} {_px(self.bottom)}v5" stroke="{LINE}"/>')
            self.text(at, self.bottom + 16, text, QUIET, "middle")
        if x.title:
            self.text((self.left + self.right) / 2, height - 10, x.title, QUIET, "middle")
        if y.title:
            turned = f' transform="rotate(-90 12 {_px((self.top + self.bottom) / 2)})"'
            self.text(12, (self.top + self.bottom) / 2, y.title, QUIET, "middle", turned)

    def line(
        self,
        points: Points,
        color: str,
        *,
        size: float = 2,
        dash: str = "",
        step: bool = False,
        tip: str = "",
    ) -> None:
        """Join points, in `step` across before up or down; without a color only there to be pointed at."""
        at = [(_px(self.x(x)), _px(self.y(y))) for x, y in points]
        drawn = "".join(
            [
                f"H{x}V{y}" if step and place else f"{'L' if place else 'M'}{x} {y}"
                for place, (x, y) in enumerate(at)
            ]
        )
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        shown = f'stroke="{color}"' if color else 'stroke="#000000" opacity="0"'
        self._mark("path", f'd="{drawn}" fill="none" {shown} stroke-width="{size:g}"{dashed}', tip)

    def band(self, ends: Iterable[tuple[float, float, float]], color: str, *, seen: bool) -> None:
        """Fill what lies between the lower and the upper of (x, lower, upper), unless a style sheet says
        otherwise only where it is to be `seen`."""
        known = list(ends)
        around = [(x, low) for x, low, _ in known] + [(x, high) for x, _, high in reversed(known)]
        drawn = "L".join([f"{_px(self.x(x))} {_px(self.y(y))}" for x, y in around])
        if drawn:
            shown = f'fill="{color}" opacity="{".16" if seen else 0}" pointer-events="none"'
            self._mark("path", f'class="band" d="M{drawn}Z" {shown}')

    def dot(self, x: float, y: float, color: str, *, radius: float = 4, tip: str = "") -> None:
        """Draw a point; without a color it is only there to be pointed at."""
        shown = f'fill="{color}"' if color else 'opacity="0"'
        self._mark("circle", f'cx="{_px(self.x(x))}" cy="{_px(self.y(y))}" r="{radius:g}" {shown}', tip)

    def bar(self, x: float, low: float, high: float, color: str, *, size: float, tip: str = "") -> None:
        """Draw a bar so many pixels wide."""
        top, bottom = self.y(high), self.y(low)
        box = (
            f'x="{_px(self.x(x) - size / 2)}" y="{_px(top)}" width="{_px(size)}" height="{_px(bottom - top)}"'
        )
        self._mark("rect", f'{box} fill="{color}"', tip)

    def run(self, number: int) -> AbstractContextManager[None]:
        """Keep together what is drawn within: the marks of the series of this number, from 1 on."""
        return self._group(f'class="run run{number}"')

    @contextmanager
    def _group(self, what: str) -> Iterator[None]:
        self._add(f"<g {what}>")
        yield
        self._add("</g>")

    def names(self, placed: Iterable[Label]) -> None:
        """Write names, with some paper around their letters."""
        halo = f'stroke="{PAPER}" stroke-width="1.5" stroke-linejoin="round" paint-order="stroke"'
        self._add(f'<g class="names" {halo}>')
        for x, y, text, color, end, lead in placed:
            if lead:
                drawn = "M{} {}L{} {}".format(*map(_px, lead))
                self._add(f'<path d="{drawn}" stroke="{QUIET}" stroke-width=".75"/>')
            self.text(x, y, text, color, end)
        self._add("</g>")

    def text(self, x: float, y: float, text: str, color: str, end: str, more: str = "") -> None:
        """Write a text whose start, middle or end is there, in pixels."""
        said = escape(visible(text))
        anchor = "" if end == "start" else f' text-anchor="{end}"'
        self._add(f'<text x="{_px(x)}" y="{_px(y)}" dy=".33em" fill="{color}"{anchor}{more}>{said}</text>')

    def svg(
        self, said: str, more: str = "", inside: str = "", *, above: float = 0, below: float = 0
    ) -> Markup:
        """The drawing, which readers of screens are told is what is `said`, with room `above` and `below`."""
        box = f"0 {-above:g} {self.width:g} {above + self.height + below:g}"
        head = f'<svg{more} viewBox="{box}" role="img" aria-label="{escape(said)}" '
        text = 'font-size="12" font-family="system-ui, sans-serif">'
        return Markup(f"{head}{text}{inside}{''.join(self._parts)}</svg>")

    def _add(self, part: str) -> None:
        self._parts.append(part)

    def _mark(self, kind: str, what: str, tip: str = "") -> None:
        told = f"><title>{escape(visible(tip))}</title></{kind}>" if tip else "/>"
        self._add(f"<{kind} {what}{told}")

    def _keys(self, series: Sequence[tuple[str, str]]) -> float:
        """Write names beside their colours, in as many lines as it takes; how high those are."""
        x, y = 4.0, 12.0
        for name, color in series:
            long = 22 + LETTER_PX * len(name)
            if x + long > self.width and x > 4:
                x, y = 4.0, y + _LINE_PX
            self._add(f'<circle cx="{_px(x + 4)}" cy="{_px(y)}" r="4" fill="{color}"/>')
            self.text(x + 12, y, name, QUIET, "start")
            x += long
        return y + 10 if series else 0.0


def fitted(names: Iterable[str], limit: float) -> dict[str, str]:
    """Names as they are written in `limit` pixels at most, each different."""
    shown = {name: visible(name) for name in names}
    short = shortened({*shown.values()}, int(limit / LETTER_PX))
    return {name: short[text] for name, text in shown.items()}


def _px(value: float) -> str:
    return f"{round(value, 1):g}"


def _apart(ticks: Sequence[tuple[float, str]], width: float) -> list[tuple[float, str]]:
    """Return every tick, every second or every third …: as many as have room for their texts."""
    half = {at: LETTER_PX * len(text) / 2 for at, text in ticks}
    inside = [(at, text) for at, text in ticks if half[at] <= at <= width - half[at]]
    kept = (inside[::stride] for stride in range(1, len(inside) + 1))
    return next(
        (one for one in kept if all(b - a >= half[a] + half[b] + 8 for (a, _), (b, _) in pairwise(one))), []
    )


def _factors(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten from one value to another."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    return [
        value for power in powers for size in (1, 2, 5) if low <= (value := float(f"{size}e{power}")) <= high
    ]
