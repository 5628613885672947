"""First names for those who appear in tasks."""

from __future__ import annotations

from random import Random

NAMES = (
    "Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "June", "Kai", "Lea", "Max", "Nora",
    "Oto", "Pia", "Quin", "Rosa", "Sam", "Tess", "Uma", "Vito", "Wes", "Yara", "Zoe",
)  # fmt: skip


_SIGNS = {"C": "bdfgklmnprstvz", "V": "aeiou"}


def made_up(rng: Random, shape: str) -> str:
    """A name of consonants and vowels as `shape` says: "CVCCV" gives "Dalmo"."""
    return "".join([rng.choice(_SIGNS[sign]) for sign in shape]).capitalize()
