"""The questions of a match, and which answers to them are right. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from msgspec import Struct

from peerage.facts import plain

_AROUND = " .,:;()[]*_`\"'"
_LETTERED = re.compile(r"\W*(?:([A-Za-z])[).:\]]|([A-Z])\s)\s*(.+)", re.DOTALL)


class Question(Struct, frozen=True):
    """A question as it is asked and on record.

    `right` are all answers that count, the one to be shown first; `options` are empty where players answer in
    their own words, and `wrong` are then answers that a player might give.
    """

    domain: str
    question: str
    right: tuple[str, ...]
    options: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()

    def numbered(self, number: int) -> str:
        """Return what players read."""
        return "\n".join([f"{number}. {self.question}", *map("{}. {}".format, ascii_uppercase, self.options)])

    def accepts(self, answer: str) -> bool:
        """Return whether an answer is right: a letter or an option's words of multiple choice, else any that
        is plainly equal to one of `right`."""
        if not self.options:
            return plain(answer) in set(map(plain, self.right)) - {""}
        return self.chosen(answer) == self.right[0]

    def chosen(self, answer: str) -> str:
        """The option that an answer names: by its letter, with or without its words, else by its words alone;
        empty where it names none."""
        given, words = plain(answer), answer.strip()
        letters = dict(zip(ascii_uppercase, self.options, strict=False))
        alone = words.strip(_AROUND).upper()
        if alone in letters:
            return letters[alone]
        if words in self.options:
            return words
        if found := _LETTERED.fullmatch(answer):
            one = letters.get((found[1] or found[2]).upper(), "")
            return one if plain(found[3]) == plain(one) else ""
        meant = [one for one in self.options if given and given == plain(one)]
        return meant[0] if len(meant) == 1 else ""

    def known(self) -> tuple[str, Sequence[str]]:
        """The right answer and some wrong ones, as a player writes them; an empty one where none is known."""
        if not self.options:
            return self.right[0], self.wrong or ("",)
        letters = dict(zip(self.options, ascii_uppercase, strict=False))
        right = letters.pop(self.right[0])
        return right, tuple(letters.values())
