"""Pictures and sounds as players are sent them, and the tokens that they count as at most. Pure.

What a provider counts is known from its documentation; of a server that is nobody's the largest count that is
known for any counts.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from peerage.game.media import SUFFIXES, Kind, Media, parts
from peerage.players.client import NotTaken, PlayerError

KINDS: dict[Kind, str] = {"image": "pictures", "audio": "sound"}


def held(turns: Iterable[tuple[str, str]]) -> list[Media]:
    """Return all that marks in the texts of turns stand for, as often as they do."""
    return [found for _, text in turns for found in parts(text) if isinstance(found, Media)]


# --------------------------------------------------------------------------------------------------- sending


class Sent(NamedTuple):
    """A picture or a sound with its bytes."""

    media: Media
    body: bytes

    @property
    def base64(self) -> str:
        return b64encode(self.body).decode()


def divided(
    text: str, bodies: Mapping[str, bytes], takes: Collection[str] = tuple(KINDS)
) -> Sequence[str | Sent]:
    """Return the parts of a text, pictures and sounds with their bytes; without marks the text. What is
    blank between two of them is left out, since Anthropic refuses it. Raises PlayerError where one is of a
    kind that the player does not take, or its bytes are not there."""
    sent: list[str | Sent] = []
    for found in parts(text):
        if isinstance(found, str):
            sent += [found] if found.strip() else []
        elif (kind := found.kind) not in takes:
            raise NotTaken(f"does not take {KINDS[kind]}, and the request holds a {found.words}")
        elif (body := bodies.get(found.sha256)) is None:
            raise PlayerError(
                f"the {found.words} is not in the ledger, so it cannot be sent; restore the ledger from a "
                "whole copy",
                kind="request",
            )
        else:
            sent.append(Sent(found, body))
    return sent or [text]


def only_users(turns: Iterable[tuple[str, str]]) -> None:
    """Raise PlayerError where another turn than a user's holds a picture or a sound: no provider takes it."""
    if found := held(turn for turn in turns if turn[0] != "user"):
        raise PlayerError(
            f"a {found[0].words} stands in a turn that is not the user's, where no provider takes one; move "
            "it",
            kind="request",
        )


def chat_content(text: str, bodies: Mapping[str, bytes]) -> str | list[dict[str, Any]]:
    """Return the content of a chat completion's message: the text itself, or its parts where it has marks."""
    found = divided(text, bodies)
    return text if found == [text] else list(map(_chat_part, found))


def _chat_part(part: str | Sent) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if part.media.is_image:
        url = f"data:{part.media.type};base64,{part.base64}"
        return {"type": "image_url", "image_url": {"url": url}}
    sound = {"data": part.base64, "format": SUFFIXES[part.media.type]}
    return {"type": "input_audio", "input_audio": sound}


# ---------------------------------------------------------------------------------------------------- tokens


def tokens_of(found: Media, model: str = "") -> int:
    """Return the input tokens that it counts as at most for a `provider:model`, whose provider is empty where
    that is not known to count as its name says."""
    provider = model.partition(":")[0]
    if not found.is_image:
        known = ceil(_AUDIO_TOKENS * found.seconds)
        return known if provider in _PICTURE_TOKENS else max(known, found.size // 4)
    count = _PICTURE_TOKENS.get(provider)
    counts = [count] if count else [*_PICTURE_TOKENS.values(), _small_patches]
    return max([each(found.width, found.height, model) for each in counts])


_AUDIO_TOKENS = 32
"""Tokens of a second: Google's; OpenAI's are 10."""


def _openai(width: int, height: int, model: str) -> int:
    """Tiles of 512 pixels after scaling of the older models, of which one counts them 34-fold; patches of 32
    of the newer, at the largest factor of any."""
    scale = min(1.0, 2048 / max(width, height, 1), 768 / max(min(width, height), 1))
    tiles = ceil(width * scale / 512) * ceil(height * scale / 512)
    patches = min(ceil(width / 32) * ceil(height / 32), 10_000)
    return max((85 + 170 * tiles) * (34 if "4o-mini" in model else 1), ceil(2.46 * patches))


def _anthropic(width: int, height: int, _: str) -> int:
    """Patches of 28 pixels; what is more than the newest models read is scaled down before it is counted."""
    return min(max(ceil(width * height / 750), ceil(width / 28) * ceil(height / 28)), 4_784)


def _google(width: int, height: int, _: str) -> int:
    """Tiles of 256 to 768 pixels by the shorter side; the newest models have a count for any picture."""
    tile = min(max(min(width, height) / 1.5, 256.0), 768.0)
    return max(258 * ceil(width / tile) * ceil(height / tile), 1_120)


def _small_patches(width: int, height: int, _: str) -> int:
    """Patches of 14 pixels, the smallest that models in the open have."""
    return ceil(width / 14) * ceil(height / 14)


_PICTURE_TOKENS = {"openai": _openai, "anthropic": _anthropic, "google": _google}


def tokens_in(turns: Iterable[tuple[str, str]], model: str = "") -> int:
    """Return the tokens of all pictures and sounds in turns at most; see `tokens_of`."""
    return sum([tokens_of(found, model) for found in held(turns)])
