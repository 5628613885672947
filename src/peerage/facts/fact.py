"""Facts, sameness of answers, and the fame of entries. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from random import Random
from typing import TypeVar
from unicodedata import combining, normalize

from msgspec import Struct

from peerage.game.levels import LEVELS

FEWEST_KNOWN = 16
"""Entries that a level has to choose from."""
WRONG = 3
"""Wrong answers that every fact comes with."""

Entry = TypeVar("Entry")

_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_GROUPED = re.compile(r"[+-]?(?:\d{1,3}(?:[ ,_]\d{3})+|\d+)(?:\.\d+)?")
_IGNORED = re.compile(r"[\s.,;:!?\"“”„«»()\[\]{}<>‐-―_/\\*-]+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ARTICLES = ("a", "an", "the")


class Fact(Struct, frozen=True):
    """A question with exactly one right answer, and a statement that says it. `statement` has one place,
    `{}`: with `answer` in it it is true, with any of `wrong` it is false. `wrong` are plausible, `accepted`
    are other ways to write the answer. A `closed` question can only be put together with its options."""

    question: str
    statement: str
    answer: str
    wrong: tuple[str, ...]
    accepted: tuple[str, ...] = ()
    closed: bool = False
    domain: str = ""

    def says(self, answer: str) -> str:
        """The statement with that answer in its place."""
        return self.statement.replace("{}", answer)


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Return what of an answer counts: two that are plainly equal are the same answer. Case, accents, white
    space, punctuation, a leading article, leading zeros, the endings of ordinals and the separators of
    thousands do not count; small numbers may be written as words. Other symbols do: C, C++ and C# are three
    answers."""
    bare = normalize("NFKD", text.replace("−", "-")).casefold()
    bare = "".join([char for char in bare if not combining(char) and char not in "'’‘`"]).strip(" *_.\n\t")
    if _GROUPED.fullmatch(bare):
        number = re.sub("[ ,_+]", "", bare)
        return f"{float(number):.15g}" if "." in number else str(int(number[:40]))
    words = _ORDINAL.sub(r"\1", _IGNORED.sub(" ", bare)).split()
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join([_word(word) for word in words])


def _word(word: str) -> str:
    if word in _NUMBER_WORDS:
        return str(_NUMBER_WORDS.index(word))
    return word.lstrip("0") or "0" if word.isascii() and word.isdecimal() else word


def known(entries: Sequence[Entry], level: int) -> Sequence[Entry]:
    """The entries of a level, of such as are listed by fame: level 1 has the best known tenth, level 10 the
    least known, or as many around it as there must be to choose from."""
    wide = max(len(entries) // LEVELS, min(FEWEST_KNOWN, len(entries)))
    first = (len(entries) - wide) * (level - 1) // (LEVELS - 1)
    return entries[first : first + wide]


def others(rng: Random, pool: Iterable[str], right: Iterable[str]) -> tuple[str, ...]:
    """`WRONG` of a pool at random, plainly different from each other and from all that is right. Raises
    ValueError where the pool does not hold so many."""
    seen = {plain(answer) for answer in right}
    chosen: list[str] = []
    listed = list(dict.fromkeys(pool))
    while len(chosen) < WRONG:
        if not listed:
            raise ValueError("too few wrong answers to choose from")
        answer = listed.pop(rng.randrange(len(listed)))
        if plain(answer) not in seen:
            seen.add(plain(answer))
            chosen.append(answer)
    return tuple(chosen)
