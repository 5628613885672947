"""Questions that find out what a player takes: it reads four digits in a picture, it is sent a sound.

Who reads the digits sees. A server that leaves the picture out, or a model that guesses, does not say them. A
sound is taken where it is not refused.
"""

from __future__ import annotations

import asyncio
import wave
from base64 import b64encode
from collections.abc import Iterable
from io import BytesIO
from math import sin
from random import Random

from msgspec.structs import replace

from peerage.game.media import Kind, with_marks
from peerage.game.protocol import Text
from peerage.games.vision.picture import Letters, Picture
from peerage.players.checks import PATIENCE_S, probe_call
from peerage.players.client import Answer, Call, Client, NotTaken, PlayerError
from peerage.settings import PlayerSettings

RATE = 8_000


def picture_of(digits: str) -> str:
    """Return four digits, black on white, as a data URL."""
    return Picture(200, 80, [Letters((100, 40), digits, 56)]).data_url()


def tone() -> str:
    """Return half a second of a tone, as a data URL of a WAV."""
    samples = [round(9_000 * sin(440 * 6.2832 * at / RATE)) for at in range(RATE // 2)]
    with wave.open(out := BytesIO(), "wb") as sound:
        sound.setparams((1, 2, RATE, 0, "NONE", ""))
        sound.writeframes(b"".join([sample.to_bytes(2, "little", signed=True) for sample in samples]))
    return f"data:audio/wav;base64,{b64encode(out.getvalue()).decode()}"


def media_call(kind: Kind, seed: str = "", thinking_tokens: int = 0) -> tuple[Call, str]:
    """The question about a kind of media, asked as other probes are, and what a right answer has in it."""
    wanted = "".join(Random(f"digits\0{seed}").sample("0123456789", 4)) if kind == "image" else ""
    mark, media = with_marks(picture_of(wanted) if wanted else tone())
    text = f"{mark}\n\nIs there a sound? Answer yes or no."
    if wanted:
        text = f"Which four digits are in the picture?\n\n{mark}\n\nAnswer with the four digits."
    usual = probe_call(thinking_tokens)
    messages = (usual.messages[0], ("user", text))
    return replace(usual, messages=messages, expects=Text(), media=media), wanted


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
