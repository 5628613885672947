"""Names that nobody bears, so that nothing can be known of them beforehand. Pure."""

from __future__ import annotations

from random import Random

_SIGNS = {"C": "bdfgklmnprstvz", "V": "aeiou"}


def made_up(rng: Random, shape: str) -> str:
    """A name of consonants and vowels as `shape` says: "CVCCV" gives "Dalmo"."""
    return "".join([rng.choice(_SIGNS[sign]) for sign in shape]).capitalize()
