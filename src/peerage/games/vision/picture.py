"""Pictures as lists of shapes, and the PNG that comes of one: pixels and a palette, no metadata. Pillow is
needed for the PNG alone, and the same version of it makes the same bytes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import NamedTuple, TypeAlias

Point: TypeAlias = tuple[float, float]

COLORS: Mapping[str, str] = {
    "blue": "#0072B2",
    "red": "#D55E00",
    "green": "#009E73",
    "yellow": "#F0E442",
    "pink": "#CC79A7",
    "black": "#000000",
    "sky": "#56B4E9",
    "orange": "#E69F00",
    "ink": "#202020",
    "grid": "#C4C4C4",
    "pale": "#EDE8DC",
    "white": "#FFFFFF",
}
"""First Okabe and Ito's colors (2008), which those who are blind to some tell apart too; `red` is their
vermilion, and only the first six are named to players. Then what all else is drawn in."""
PALETTE = [
    int(color[at : at + 2], 16) // shares + 255 - 255 // shares
    for shares in (1, 2)
    for color in COLORS.values()
    for at in (1, 3, 5)
]
"""Red, green and blue of each color, then of each mixed with as much white, as on the edge of a shape."""
SIDE = 1_024
"""Pixels a side at most."""


class Stroke(NamedTuple):
    points: Sequence[Point]
    color: str = "ink"
    width: int = 1


class Area(NamedTuple):
    corners: Sequence[Point]
    color: str


class Disc(NamedTuple):
    center: Point
    radius: float
    color: str
    edge: str


class Letters(NamedTuple):
    middle: Point
    text: str
    size: float = 15
    color: str = "ink"


Shape: TypeAlias = Stroke | Area | Disc | Letters


class Picture(NamedTuple):
    """So many pixels of white, and what is on it, the lowest first; letters are above all. Drawn at twice the
    size, and reduced, where it is to be `smooth`."""

    width: float
    height: float
    shapes: Sequence[Shape]
    smooth: bool = False

    def data_url(self) -> str:
        """Return the picture as a data URL of a PNG."""
        from PIL import Image, ImageDraw, ImageFont

        scale = 2 if self.smooth else 1
        image = Image.new("RGB", (round(self.width) * scale, round(self.height) * scale), COLORS["white"])
        pen = ImageDraw.Draw(image)

        def scaled(*points: Point) -> list[Point]:
            return [(x * scale, y * scale) for x, y in points]

        for shape in self.shapes:
            match shape:
                case Stroke(points, color, width):
                    pen.line(scaled(*points), COLORS[color], width * scale)
                case Area(corners, color):
                    pen.polygon(scaled(*corners), COLORS[color])
                case Disc((x, y), radius, color, edge):
                    around = scaled((x - radius, y - radius), (x + radius, y + radius))
                    pen.ellipse(around, COLORS[color], COLORS[edge], scale)
        image = image.reduce(scale)
        pen = ImageDraw.Draw(image)
        fonts = {size: ImageFont.load_default(size) for size in {one.size for one in self.letters}}
        for middle, text, size, color in self.letters:
            pen.text(middle, text, COLORS[color], fonts[size], "mm")
        palette, file = Image.new("P", (1, 1)), BytesIO()
        palette.putpalette(PALETTE)
        image.quantize(palette=palette, dither=Image.Dither.NONE).save(file, "PNG")
        return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"

    @property
    def letters(self) -> list[Letters]:
        return [shape for shape in self.shapes if isinstance(shape, Letters)]


def box(left: float, top: float, right: float, low: float, color: str) -> Area:
    """An area of upright sides, without the pixels of the right and lower one."""
    return Area([(left, top), (right - 1, top), (right - 1, low - 1), (left, low - 1)], color)
