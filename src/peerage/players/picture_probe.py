"""Questions that find out what a player takes: it reads four digits in a picture, it is sent a sound.

Who reads the digits sees. A server that leaves the picture out, or a model that guesses, does not say them. A
sound is taken where it is not refused.
"""

from __future__ import annotations

import asyncio
import struct
import wave
from collections.abc import Iterable
from hashlib import sha256
from io import BytesIO
from math import sin
from random import Random

from msgspec.structs import replace

from peerage.game.media import Kind, Media
from peerage.game.protocol import Text
from peerage.players.checks import PATIENCE_S, probe_call
from peerage.players.client import Answer, Call, Client, NotTaken, PlayerError
from peerage.settings import PlayerSettings

_GLYPHS = ["75557", "26227", "71747", "71717", "55711", "74717", "74757", "71111", "75757", "75717"]
"""The rows of each digit from the top, three cells in the bits of each."""
CELL = 12
"""Pixels of a cell's side; as wide is the space between digits, and twice as wide the margin."""
RATE = 8_000


def digits_of(seed: str) -> str:
    """Return the four digits of a question, no two alike, drawn from a seed."""
    return "".join(Random(f"digits\0{seed}").sample("0123456789", 4))


def picture_of(digits: str) -> tuple[Media, bytes]:
    """Draw digits, black on white."""
    from PIL import Image

    blank = "0" * (4 * len(digits) + 3)
    rows = ["0".join([f"{int(_GLYPHS[int(digit)][row]):03b}" for digit in digits]) for row in range(5)]
    lines = [blank, blank, *[f"00{bits}00" for bits in rows], blank, blank]
    cells = bytes([255 * (bit == "0") for line in lines for bit in line])
    picture = Image.frombytes("L", (len(blank), len(lines)), cells)
    picture = picture.resize((CELL * picture.width, CELL * picture.height), Image.Resampling.NEAREST)
    picture.save(out := BytesIO(), "PNG")
    body = out.getvalue()
    return Media(sha256(body).hexdigest(), "image/png", len(body), *picture.size), body


def tone() -> tuple[Media, bytes]:
    """Return half a second of a tone, as WAV."""
    samples = [round(9_000 * sin(440 * 6.2832 * at / RATE)) for at in range(RATE // 2)]
    data = struct.pack(f"<{len(samples)}h", *samples)
    out = BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setparams((1, 2, RATE, len(samples), "NONE", ""))
        sound.writeframes(data)
    body = out.getvalue()
    return Media(sha256(body).hexdigest(), "audio/wav", len(body), seconds=0.5), body


def media_call(kind: Kind, seed: str = "", thinking_tokens: int = 0) -> tuple[Call, str]:
    """The question about a kind of media, asked as other probes are, and what a right answer has in it."""
    usual = probe_call(thinking_tokens)
    if kind == "image":
        wanted = digits_of(seed)
        media, body = picture_of(wanted)
        text = f"Which four digits are in the picture?\n\n{media.mark}\n\nAnswer with the four digits."
    else:
        wanted, (media, body) = "", tone()
        text = f"{media.mark}\n\nIs there a sound? Answer yes or no."
    messages = (usual.messages[0], ("user", text))
    return replace(usual, messages=messages, expects=Text(), media={media.sha256: body}), wanted


async def probe_media(
    settings: PlayerSettings, client: Client, kinds: Iterable[Kind], thinking_tokens: int = 0
) -> dict[Kind, tuple[bool | None, Answer | PlayerError]]:
    """Ask a started client about each kind of media, as `probe` asks: whether it takes that (None: not known
    now), and the reply or the failure. Raises nothing."""
    found: dict[Kind, tuple[bool | None, Answer | PlayerError]] = {}
    for kind in kinds:
        call, wanted = media_call(kind, f"{settings.name}\0{settings.model}", thinking_tokens)
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await client.answer(call)
        except TimeoutError:
            late = f"{settings.name}: no reply within {PATIENCE_S:g} s"
            found[kind] = None, PlayerError(late, maybe_paid=True, busy=True)
        except NotTaken as failure:
            found[kind] = False, failure
        except PlayerError as failure:
            found[kind] = None, failure
        else:
            said = "".join([letter for letter in answer.text if letter.isdigit()])
            found[kind] = (None if answer.truncated and wanted not in said else wanted in said), answer
    return found
