"""Texts to be put into another form, with references and constraints that each reference satisfies. Pure.

A text is a few records of one domain (`grammar.toml`). Five kinds: notation to prose, prose to notation, one
notation to another (each shown by an example), prose rewritten as an example shows, and said in other words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

from msgspec import Struct

from peerage.game.texts import toml
from peerage.games.names import made_up

KINDS = ("prose", "notation", "convert", "rewrite", "paraphrase")
_SHOWN = 2
"""Records of an example."""
_SPARE_WORDS, _SPARE_CHARS = 1.1, 1.2
"""Room that a limit leaves over the longest reference."""
_ALIKE = {"prose": 2, "rewrite": 1}
"""Forms of sentences that are as good as the example's, its own among them."""
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
_SHAPES = {"name": ("CVCV", "CVCCV", "CVCVC"), "town": ("CVCCVC", "VCCVC", "CVCVCC")}


_Record: TypeAlias = dict[str, str]
"""Words that fill the places of a sentence or a notation."""


class TextLimits(Struct, frozen=True):
    """Limits that a text must keep: lengths at most (0: any), words it must and must not hold, by case."""

    words: int = 0
    chars: int = 0
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    def breaches(self, text: str) -> list[str]:
        """Each limit that a text breaks, in words."""
        held = set(re.findall(r"\w+", text.casefold()))
        count = len(text.split())
        problems = [f"{count} words, at most {self.words}"] * (0 < self.words < count)
        problems += [f"{len(text)} characters, at most {self.chars}"] * (0 < self.chars < len(text))
        problems += [f"without “{word}”" for word in self.required if word not in held]
        return problems + [f"with “{word}”" for word in self.forbidden if word in held]


class TextTask(Struct, frozen=True):
    """One text of a match; `shown` is an example with its solution, empty where there is none."""

    kind: str
    source: str
    references: tuple[str, ...]
    limits: TextLimits
    shown: tuple[str, ...] = ()
    level: int = 0


def drawn_task(rng: Random, kind: str, records: int) -> TextTask:
    """Draw a text of so many records."""
    domain = toml(__package__, "grammar")[rng.choice(sorted(toml(__package__, "grammar")))]
    facts = [_filled(rng, domain["slots"]) for _ in range(records + _SHOWN)]
    while not _settles(facts[:_SHOWN]):
        facts[:_SHOWN] = [_filled(rng, domain["slots"]) for _ in range(_SHOWN)]
    made = _into_notation if kind in ("notation", "convert") else _into_prose
    return made(rng, kind, domain, facts)


def _settles(shown: Sequence[_Record]) -> bool:
    """Return whether an example of these records leaves one reading: its values differ, a day and its
    month too, and shows whether numbers below 10 in a date have a zero before them."""
    dates = [record["day_short"].split("/") if "day" in record else [] for record in shown]
    values = [
        [*date, *[value for place, value in record.items() if not place.startswith("day")]]
        for date, record in zip(dates, shown, strict=True)
    ]
    columns = [*zip(*values, strict=True)]
    small = [part for date in dates for part in date if len(part) == 1]
    return len({*columns}) == len(columns) and bool(small or not any(dates))


def _into_notation(rng: Random, kind: str, domain: Mapping[str, Any], facts: Sequence[_Record]) -> TextTask:
    target, other = rng.sample(domain["notations"], 2)
    usual = {place: words[0] for place, words in domain["words"].items()}
    # a text in prose has sentences of several forms, so that no pattern turns one into the other
    forms = [rng.choice(domain["prose"]) if kind == "notation" else other for _ in facts]
    given = [_in_form(form, record | usual) for form, record in zip(forms, facts, strict=True)]
    wanted = [_in_form(target, record) for record in facts]
    between = " " if kind == "notation" else "\n"
    source, reference = between.join(given[_SHOWN:]), "\n".join(wanted[_SHOWN:])
    limits = TextLimits(chars=int(_SPARE_CHARS * len(reference)) + 1)
    example = between.join(given[:_SHOWN]), "\n".join(wanted[:_SHOWN])
    return TextTask(kind, source, (reference,), limits, example)


def _into_prose(rng: Random, kind: str, domain: Mapping[str, Any], facts: Sequence[_Record]) -> TextTask:
    def words(usual: bool) -> _Record:
        options = domain["words"].items()
        return {place: same[0] if usual else rng.choice(same[1:]) for place, same in options}

    def text(form: str, chosen: _Record, of: Sequence[_Record]) -> str:
        return (" " if form.endswith(".") else "\n").join([_in_form(form, record | chosen) for record in of])

    shown, given = facts[:_SHOWN], facts[_SHOWN:]
    forms = list(domain["prose"])
    rng.shuffle(forms)
    usual, chosen = words(True), words(False)
    was = rng.choice(domain["notations"]) if kind == "prose" else forms.pop()
    required: tuple[str, ...] = ()
    example: tuple[str, ...] = ()
    if kind == "paraphrase":
        references = [text(form, words(False), given) for form in forms]
    else:
        references = [text(form, chosen, given) for form in forms[: _ALIKE[kind]]]
        required, example = tuple(chosen.values()), (text(was, usual, shown), text(forms[0], chosen, shown))
    most = int(_SPARE_WORDS * max(len(reference.split()) for reference in references)) + 1
    limits = TextLimits(most, 0, required, tuple(usual.values()))
    return TextTask(kind, text(was, usual, given), tuple(references), limits, example)


def _in_form(form: str, facts: _Record) -> str:
    text = form.format_map(facts)
    return text[0].upper() + text[1:] if form.endswith(".") else text


def _filled(rng: Random, slots: Mapping[str, Any]) -> _Record:
    """A record: a value for each slot."""
    filled: _Record = {}
    for slot, how in slots.items():
        if how == "day":
            day, month = rng.randint(1, 28), rng.randrange(len(_MONTHS))
            filled |= {slot: f"{day} {_MONTHS[month]}", f"{slot}_iso": f"{month + 1:02}-{day:02}"}
            filled[f"{slot}_short"] = f"{day}/{month + 1}"
        elif how == "hour":
            hour, minute = rng.randint(6, 21), rng.randrange(0, 60, 5)
            filled |= {slot: f"{hour:02}:{minute:02}", f"{slot}_bare": f"{hour:02}{minute:02}"}
        elif isinstance(how, str):
            filled[slot] = made_up(rng, rng.choice(_SHAPES[how]))
        elif isinstance(how[0], int):
            filled[slot] = str(rng.randint(*how))
        else:
            filled[slot] = rng.choice(how)
    return filled
