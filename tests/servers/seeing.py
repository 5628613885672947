"""Models that read the digits in pictures by their bytes, next to such as ignore, refuse or guess."""

from __future__ import annotations

import base64
import json
from io import BytesIO
from typing import Any

from aiohttp import web
from PIL import Image
from tests.servers import openai_server as behave

_ROWS = {
    "75557": "0", "26227": "1", "71747": "2", "71717": "3", "55711": "4",
    "74717": "5", "74757": "6", "71111": "7", "75757": "8", "75717": "9",
}  # fmt: skip
CELL = 12


def read_digits(png: bytes) -> str:
    """The digits in a picture, each of three by five cells, read from its pixels."""
    with Image.open(BytesIO(png)) as opened:
        grey = opened.convert("L")
    dark = [
        [grey.getpixel((x, y)) < 128 for x in range(CELL // 2, grey.width, CELL)]  # type: ignore[operator]
        for y in range(CELL // 2, grey.height, CELL)
    ]
    found = ""
    for left in range(2, len(dark[0]) - 3, 4):
        rows = [sum(dark[2 + row][left + bit] << (2 - bit) for bit in range(3)) for row in range(5)]
        found += _ROWS["".join(map(str, rows))]
    return found


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
        said = read_digits(base64.b64decode(urls[0].partition("base64,")[2]))
    if "response_format" in body:
        said = json.dumps({"digits": said})
    return web.json_response(behave.completion(said, model=model))
