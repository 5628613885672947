"""Models that read the digits in pictures by their bytes, next to such as ignore, refuse or guess."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from string import digits
from typing import Any

from aiohttp import web
from PIL import Image
from tests.servers import openai_server as behave

from peerage.players.picture_probe import picture_of

SHAPE = (16, 24)
"""Columns and rows to which each digit is brought before it is compared."""


def _digits(png: bytes) -> Iterator[bytes]:
    """The digits in a picture, from the left, each cut out and brought to one shape."""
    with Image.open(BytesIO(png)) as opened:
        dark = opened.convert("L").point([255 * (grey < 160) for grey in range(256)])
    row = dark.resize((dark.width, 1), Image.Resampling.BOX).tobytes()
    for inked in re.finditer(rb"[^\0]+", row):
        digit = dark.crop((inked.start(), 0, inked.end(), dark.height))
        yield digit.crop(digit.getbbox()).resize(SHAPE).tobytes()


@cache
def _known() -> dict[str, bytes]:
    return {digit: next(_digits(b64decode(picture_of(digit).partition(",")[2]))) for digit in digits}


def read_digits(png: bytes) -> str:
    """The digits in a picture, each by its pixels that of which it has most."""

    def read(seen: bytes) -> str:
        return min(digits, key=lambda one: sum(abs(a - b) for a, b in zip(seen, _known()[one], strict=True)))

    return "".join(map(read, _digits(png)))


async def seeing(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """`sees-…` reads, `ignores` leaves pictures out, `guesses` says any digits, `refuses` turns them down."""
    content = body["messages"][-1]["content"] if "messages" in body else ""
    parts = [] if isinstance(content, str) else content
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    if not urls:
        return await behave.sensible(request, body)
    model = body["model"]
    if model == "refuses":
        error = {"message": "Invalid content type. image_url is only supported by certain models."}
        return web.json_response({"error": error}, status=400)
    said = "0000" if model == "guesses" else "a picture I cannot see"
    if model.startswith("sees"):
        said = read_digits(b64decode(urls[0].partition("base64,")[2]))
    if "response_format" in body:
        said = json.dumps({"digits": said})
    return web.json_response(behave.completion(said, model=model))
