"""Secrets of one seat in the first request of another, of any game that hides something.

A secret of a seat is what follows from a draw of its own: an entry for its label, its place in a list with
one for each seat, or a stream named after it. With another such draw, all else and all replies equal, nobody
else may be asked anything else. Nor may what fills a place of the seat's own prompt stand in another's, in
all of some matches, unless it stands there by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

from peerage.game.match import Fixture, GameTable
from peerage.game.protocol import Ask, Quote, Reply, Steps
from peerage.game.spec import GameSpec
from peerage.testing.offline import Answering, call, play

CHANCE = 0.5
"""The share of other matches, at most, whose secrets stand in a request by chance."""
_SAYS_SO = re.compile(
    r"secret|hidden|\bhid(?:e|es)\b|private|sealed|conceal|(?:only|just) you\b|nobody else|no one else"
    r"|(?:can|do|does)(?:not|n't| not) (?:see|know)\b|known to (?:you|it|that player) alone",
    re.IGNORECASE,
)
"""Words of a game that hides something from its players."""
_READINGS = (re.compile(r"[^\s\[\]{}(),;:'\"]+"), re.compile(r"[A-Za-z]+|[0-9]+"))
"""Pieces in which texts are compared: between blanks and brackets, or words and numbers."""


def leaks(spec: GameSpec[Any], fixtures: Sequence[Fixture], answering: Answering) -> Iterator[str]:
    """Yield each secret that another seat is sent, in words; none of a game that hides nothing. `fixtures`
    are those of matches with the same seats."""
    labels = [seat.label for seat in fixtures[0].seats]
    matches = [_Opening(spec, made, answering) for made in fixtures]
    first, shown = matches[0], {*spec.secrecy.shown}
    if not (spec.secrecy.hides or _SAYS_SO.search(" ".join([spec.about, *first.texts.values()]))):
        return
    pairs = [(reader, owner) for reader in labels for owner in labels if reader != owner]
    again = first.again(answering)
    for name, owner, disturbed in _disturbed(spec, fixtures, first, again):
        differ = [label for label in labels if first.texts.get(label) != disturbed.texts.get(label)]
        yield from [_problem(label, owner, name) for label in differ if label != owner and name not in shown]
    for place in set.intersection(*[set(match.fills) for match in matches]) - shown:
        for reader, owner in pairs:
            fills = [match.fills[place] for match in matches]
            secrets = [fill.get(owner, "") for fill in fills if fill.get(owner) != fill.get(reader)]
            if len(secrets) == len(fills) and _stand_in(
                secrets, [match.texts.get(reader, "") for match in matches]
            ):
                yield _problem(reader, owner, place)


def _problem(reader: str, owner: str, name: str) -> str:
    return (
        f"the first request to {reader} holds what `{name}` is for {owner}, before {owner} could have said "
        f"it. Leave it out of that prompt; where all may know it, say secrecy=Secrecy(shown=({name!r},))"
    )


def _stand_in(secrets: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether each secret stands in the text of its match, and in others by chance at most."""
    for reading in _READINGS if len({*secrets}) >= len(secrets) / 2 else ():
        parts = [f" {' '.join(reading.findall(secret))} " for secret in secrets]
        said = [f" {' '.join(reading.findall(text))} " for text in texts]
        if all(part.strip() and part in text for part, text in zip(parts, said, strict=True)):
            others = [
                part in text for at, part in enumerate(parts) for to, text in enumerate(said) if at != to
            ]
            return sum(others) <= CHANCE * len(others)
    return False


def _disturbed(
    spec: GameSpec[Any], fixtures: Sequence[Fixture], first: _Opening, again: Answering
) -> Iterator[tuple[str, str, _Opening]]:
    """Yield each draw for a seat: its name, the seat's label, and the first match with another such draw."""
    made, labels = fixtures[0], [seat.label for seat in fixtures[0].seats]
    for stream in sorted(first.streams):
        owners = [label for label in labels if re.search(rf"(?<![A-Za-z0-9]){label}(?![A-Za-z0-9])", stream)]
        if len(owners) == 1:
            yield stream, owners[0], _Opening(spec, made, again, stream)
    for name, entries, others in _for_each(made.drawn, fixtures[1].drawn, labels):
        seats: list[tuple[str, _Opening]] = []
        for at, label in enumerate(labels):
            key: Any = label if isinstance(entries, dict) else at
            before, entries[key] = entries[key], others[key]
            with suppress(Exception):  # a draw that fits no other
                seats.append((label, _Opening(spec, made, again)))
            entries[key] = before
        if isinstance(entries, dict) or all(first.owns(label, other) for label, other in seats):
            yield from [(name, label, other) for label, other in seats]


def _for_each(value: Any, other: Any, labels: list[str], name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield what is drawn with an entry for each seat, by label or in their order, beside another draw."""
    if isinstance(value, dict) and isinstance(other, dict) and value.keys() == other.keys():
        if value.keys() == {*labels}:
            yield name, value, other
        for key, part in value.items():
            yield from _for_each(part, other[key], labels, str(key))
    elif isinstance(value, list) and isinstance(other, list) and len(value) == len(other) == len(labels):
        yield name, value, other


class _Table(GameTable):
    """The table of a match that notes the streams that are drawn from; `other` gives one of them anew."""

    __slots__ = ("names", "other")
    names: set[str]
    other: str

    def rng(self, name: str) -> Random:
        self.names.add(name)
        return Random(f"{self.seed}/{name}{'/other' * (name == self.other)}")


class _Opening:
    """A match, with the first request to each contestant: its text, and what fills each place of it."""

    def __init__(self, spec: GameSpec[Any], made: Fixture, answering: Answering, other: str = "") -> None:
        self.texts: dict[str, str] = {}
        self.fills: dict[str, dict[str, str]] = {}
        self.streams = set[str]()
        labels = {seat.label for seat in made.seats}

        def watched(table: GameTable) -> Steps[Any]:
            seen = _Table(made, table.rules)
            seen.names, seen.other = self.streams, other
            return spec.play(seen)

        def answer(ask: Ask, player: str) -> Reply:
            if ask.to in labels and ask.to not in self.texts:
                self.texts[ask.to] = "\n".join([text for _, text in call(ask, made.seed).messages])
                for place, value in [item for message in ask.messages for item in message.fill.items()]:
                    text = value.text if isinstance(value, Quote) else str(value)
                    self.fills.setdefault(place, {})[ask.to] = text
            return answering(ask, player)

        self._steps = play(replace(spec, play=watched), made, answer).steps

    def again(self, answering: Answering) -> Answering:
        """Return the replies of this match once more, by the keys of their requests."""
        before: Mapping[str, Reply] = {step.ask.key: step.reply for step in self._steps}
        return lambda ask, player: before.get(ask.key) or answering(ask, player)

    def owns(self, label: str, other: _Opening) -> bool:
        """Return whether in some place of their prompts this seat alone reads something else in `other`."""
        places = [(texts, other.fills.get(place, {})) for place, texts in self.fills.items()]
        return any([of for of in ours if ours[of] != theirs.get(of)] == [label] for ours, theirs in places)
