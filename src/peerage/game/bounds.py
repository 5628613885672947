"""Requests that a match may make of its seats, and the bounds on them: what plan and budget rest on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, get_args

from peerage.formats import Format
from peerage.game.match import TOKEN_BYTES, Fixture
from peerage.game.media import Media
from peerage.game.protocol import Prompt, Role

REPAIR_BYTES = 20_000
"""UTF-8 bytes that one repair may add to a request: the unusable reply, cut, and what is wrong with it."""
_SMALL_BYTES = 4_000
"""UTF-8 bytes of all that the arena itself fills a prompt with, its format and what was drawn left out."""
_CHAR_BYTES = 4
_REPAIRED = 1.02
"""Requests for one reply, as a rule."""
QUOTE = 40
"""Characters that the markers of one quote count for in `Asks.quoted`."""


class Asks(NamedTuple):
    """Requests of one sort that a match makes of each seat of a role: what plan and budget rest on.

    `to` is a role ("contestant": every contestant) or the label of one seat; a seat may be asked several
    sorts. `calls` are the most requests to each, not counting a second one where a reply cannot be used,
    `usual` as many as there are as a rule (default: all). `quoted` bounds the characters of players' texts in
    one request, `QUOTE` for each quote among them; what was drawn for the match counts by itself.
    `usual_quoted` and `usual_output` are the tokens of what fills a prompt and of a reply, as a rule. `turns`
    are the requests to a seat that follow one another; the others are side by side. None: all do.
    """

    to: str
    prompts: Prompt | Sequence[Prompt]
    expects: Format
    calls: int
    max_tokens: int = 1_000
    quoted: int = 0
    usual: float | None = None
    usual_quoted: int | None = None
    usual_output: int = 300
    turns: int | None = None


class CallBound(NamedTuple):
    """Calls that one seat may get in one match: the basis of the plan and of the budget's promise. A seat may
    have several, for phases of a different kind; they add up.

    `expected` is the usual number, `worst` the most (redrafts and one repair each included).
    `input_bytes` bounds a request's UTF-8 bytes, `usual_input_tokens` and `usual_output_tokens` are
    estimates for the plan; `max_tokens` bounds a reply. `media` are the pictures and sounds of a request at
    most, whose tokens come on top.
    """

    seat: str
    expected: float
    worst: int
    input_bytes: int
    usual_input_tokens: int
    usual_output_tokens: int
    max_tokens: int
    media: tuple[Media, ...] = ()


def asked_of(asks: Asks, fixture: Fixture) -> tuple[str, ...]:
    """The labels of the seats that are asked so."""
    if asks.to not in get_args(Role):
        return (asks.to,)
    seats = fixture.seats if asks.to == "contestant" else fixture.officials.get(asks.to, ())
    return tuple([seat.label for seat in seats])


def call_bounds(
    asked: Iterable[Asks], fixture: Fixture, *, drawn: int, replaced: int, media: tuple[Media, ...] = ()
) -> tuple[CallBound, ...]:
    """Return the bounds on each seat's requests, where so many bytes of what was `drawn` are shown, with
    `media` in it, and those of texts that an arena `replaced` come on top."""
    by_seat: dict[str, list[tuple[Asks, CallBound]]] = {}
    for asks in asked:
        for label in asked_of(asks, fixture) if asks.calls else ():
            bound = _bound(label, asks, drawn, _SMALL_BYTES + replaced)._replace(media=media)
            by_seat.setdefault(label, []).append((asks, bound))
    return tuple(chain(*[_bounds(own, fixture.sessions.get(seat, 0)) for seat, own in by_seat.items()]))


def _bound(label: str, asks: Asks, drawn: int, small: int) -> CallBound:
    prompt_bytes = _prompt_bytes(_prompts(asks), asks.expects)
    quoted = (drawn + asks.quoted) // 16 if asks.usual_quoted is None else asks.usual_quoted
    return CallBound(
        label,
        _REPAIRED * (asks.calls if asks.usual is None else asks.usual),
        2 * asks.calls,
        prompt_bytes + drawn + _CHAR_BYTES * asks.quoted + small + REPAIR_BYTES,
        prompt_bytes // 4 + quoted,
        min(asks.max_tokens, asks.usual_output),
        asks.max_tokens,
    )


def _bounds(own: Sequence[tuple[Asks, CallBound]], tokens: int) -> list[CallBound]:
    """Return the bounds on requests to a seat that come after earlier turns of so many `tokens` at most.

    As a rule that is on average half of what was asked before, without system messages; or three quarters of
    the most, since half of the turns go when they are too many.
    """
    calls = sum([bound.expected for _, bound in own])
    turns = min([asks.turns for asks, _ in own if asks.turns is not None], default=calls)
    spent = 0.0
    for asks, bound in own if tokens else ():
        system = max([len(prompt.system.encode()) for prompt in _prompts(asks)], default=0) // TOKEN_BYTES
        spent += bound.expected * (bound.usual_input_tokens - system + bound.usual_output_tokens)
    past = round(min(max(turns - 1, 0) / 2 * spent / max(calls, 1), 0.75 * tokens))
    most = TOKEN_BYTES * tokens
    return [
        each._replace(input_bytes=each.input_bytes + most, usual_input_tokens=each.usual_input_tokens + past)
        for _, each in own
    ]


def _prompts(asks: Asks) -> tuple[Prompt, ...]:
    return (asks.prompts,) if isinstance(asks.prompts, Prompt) else tuple(asks.prompts)


@lru_cache(maxsize=256)
def _prompt_bytes(prompts: tuple[Prompt, ...], expects: Format) -> int:
    """Bytes of the longest of these prompts, unfilled, and of the words about the format."""
    sizes = [len((prompt.system + prompt.user).encode()) for prompt in prompts]
    return max(sizes, default=0) + len(expects.instruction().encode())
