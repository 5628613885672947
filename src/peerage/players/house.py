"""House players: players of known skill, for demos, tests and simulations.

`house:0.85` plays any game through the same door as models: the game's `house` says what a player of that
skill replies (`game.house`), and here stands what all games share: latency, tokens, faults, and how house
players judge. A reply is a pure function of its settings and of the call's seed and key, so every attempt
and every resume gives the same. Latency is virtual: drawn, never waited for. Tokens are counted at four
characters each.

Faults are probabilities per reply (`faults:` in the player's settings): slow, refusing, malformed, failing,
and for judges position_bias and self_preference. A repair is asked under a key of its own but finds the
same fault again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from hashlib import blake2b
from random import Random
from typing import Any

from msgspec.structs import replace

from peerage.formats import Choice, Choices, Chosen, ChosenEach, LegalMove, Scored, Scores, Text, WithTool
from peerage.formats.scores import MOST
from peerage.game.house import CHARS_PER_TOKEN, SPREAD, WORDS, HouseReply
from peerage.game.programs.tools import answers as question
from peerage.game.protocol import Works
from peerage.players.client import Answer, Call, InstantClient, PlayerError
from peerage.settings import PlayerSettings

BLUR_BEST, BLUR_WORST = 0.03, 0.30
"""Standard deviation of a judge's error in comparing two qualities, at skill 1 and at skill 0."""
TIE_BAND = 0.04
"""Differences of quality that a judge calls a tie when it may."""
PASSABLE = 0.3
"""Quality, as a committee member sees it, from which it approves a draft."""
SEVERITY = 1.0
"""Points by which the strictest and the most generous judge differ from an even-handed one."""
LEAST_POINTS, MOST_POINTS = 1.0, 9.0
"""Points for work of quality 0 and 1: room for strict and generous judges, who would else seem to favour
those who are not at the end of the scale."""
MEDIAN_SECONDS, SIGMA_LATENCY = 2.0, 0.8
"""Latency is log-normal; `slow` makes it `SLOW` times as long."""
SLOW = 20.0
ABLE = 0.25
"""Skill from which a house player runs a program where it may, once; it has no use for what comes of it."""
TRIED = "I work it out first.\n\n```python\nprint(sum(n * n for n in range(100)))\n```"


class HouseClient:
    """The client of one house player; implements `Client` and `InstantClient`."""

    def __init__(self, settings: PlayerSettings) -> None:
        self.skill = float(settings.model.partition(":")[2])
        self._family = settings.family
        self._faults = settings.faults
        self._person = f"\0{settings.name}\0{settings.model}".encode()
        # strict or generous, whatever is judged: drawn once for each player
        self._severity = SEVERITY * (2 * blake2b(self._person).digest()[0] / 255 - 1)

    async def start(self) -> None:
        """Nothing to get ready."""

    async def answer(self, call: Call) -> Answer:
        """`answer_now`, for callers that treat every player alike."""
        return self.answer_now(call)

    async def close(self) -> None:
        """Nothing to release."""

    def answer_now(self, call: Call) -> Answer:
        """The reply to a call. Raises PlayerError when the `failing` fault strikes, or when the game's
        `house` cannot reply."""
        key = question(call.key.partition("~")[0])  # a program run on the way changes no answer
        rng = Random(blake2b(f"{call.seed}\0{key}".encode() + self._person, digest_size=8).digest())
        seconds = MEDIAN_SECONDS * rng.lognormvariate(0, SIGMA_LATENCY)
        faults = self._faults
        failing, slow, refused, malformed = [
            rng.random() < chance
            for chance in (faults.failing, faults.slow, faults.refusing, faults.malformed)
        ]
        if failing:
            raise PlayerError(
                f"house player {call.key}: the provider is down (its `failing` fault, not a real failure)"
            )
        hidden = None
        if refused:
            text = rng.choice(WORDS["refusals"])
        elif malformed:
            text = " \n" if isinstance(call.expects, Text) else rng.choice(WORDS["rambles"])
        else:
            try:
                text, hidden = self._reply_to(call, rng)
            except Exception as error:
                raise PlayerError(
                    f"the game's house player cannot reply to {call.key} in the format "
                    f"{type(call.expects).__name__} ({type(error).__name__}: {error})",
                    kind="request",
                ) from error
        most = call.max_tokens * CHARS_PER_TOKEN
        truncated = len(text) > most
        if truncated:
            if isinstance(call.expects, Text) and hidden is not None:  # a half is worth more than half
                hidden = {**hidden, "quality": round(hidden["quality"] * (most / len(text)) ** 0.5, 4)}
            text = text[:most]
        asked = sum([len(content) for _, content in call.messages])
        return Answer(
            text=text,
            latency_s=seconds * SLOW if slow else seconds,
            input_tokens=asked // CHARS_PER_TOKEN + 1,
            output_tokens=-(-len(text) // CHARS_PER_TOKEN),
            cost_usd=None,
            snapshot="house",
            refused=refused,
            truncated=truncated,
            hidden=hidden,
        )

    def _reply_to(self, call: Call, rng: Random) -> tuple[str, Any]:
        """The text of a reply, and what it is worth."""
        if isinstance(call.expects, WithTool):
            if self.skill >= ABLE and not any(speaker == "assistant" for speaker, _ in call.messages):
                return TRIED, None
            call = replace(call, expects=call.expects.answer)
        works = call.oracle
        if isinstance(works, Works):
            value, hidden = self._judged(call, works, rng), None
        else:
            reply = call.house(call, self.skill, rng)
            value, hidden = reply if isinstance(reply, HouseReply) else (reply, None)
        if isinstance(call.expects, Choice | LegalMove) and isinstance(value, Chosen) and rng.random() < 0.3:
            return f"{value.reason}\n\n**{call.expects.field.capitalize()}:** {value.choice}", None
        text = call.expects.write(value)
        if text.startswith("{") and rng.random() < 0.3:
            text = f"```json\n{text}\n```"
        return text, self._signed(hidden)

    def _signed(self, hidden: Any) -> Any:
        """Return what work is worth, with the family it comes from."""
        if isinstance(hidden, list):
            return [self._signed(value) for value in hidden]
        return {**hidden, "family": self._family} if isinstance(hidden, Mapping) else hidden

    def _judged(self, call: Call, works: Works, rng: Random) -> Any:
        """Return what it makes of others' work, whose true worth the oracle holds."""
        expects: Any = call.expects
        noise = rng.gauss(0, BLUR_WORST + (BLUR_BEST - BLUR_WORST) * self.skill)
        if isinstance(expects, Choices):
            verdict, reason = self._compare(call, works, noise, expects.options, rng)
            return ChosenEach(dict.fromkeys(expects.fields, verdict), reason)
        if not isinstance(expects, Choice):
            return self._points(expects, works, rng)
        if expects.options == ("approve", "object"):
            drafts = [_quality(draft) for draft in works.hidden]
            approve = min(drafts, default=0.5) + noise > PASSABLE
            reason = rng.choice(WORDS["approvals" if approve else "objections"])
            return Chosen(expects.options[not approve], reason)
        return Chosen(*self._compare(call, works, noise, expects.options, rng))

    def _compare(
        self, call: Call, works: Works, noise: float, options: tuple[str, ...], rng: Random
    ) -> tuple[str, str]:
        """A judge's verdict on two answers, in the order shown, and its reason.

        Of a right and a wrong answer it prefers the right one with a chance of its skill, in both orders
        alike.
        """
        first, second = works.hidden
        words = WORDS
        if rng.random() < self._faults.position_bias:
            return "A", f"The first answer {rng.choice(words['biased_reasons'])}."
        same_family = [_family(answer) == self._family for answer in works.hidden]
        if rng.random() < self._faults.self_preference and same_family[0] != same_family[1]:
            ordinal = "first" if same_family[0] else "second"
            return "AB"[same_family[1]], f"The {ordinal} answer {rng.choice(words['biased_reasons'])}."
        better = _right(first), _right(second)
        if None not in better and better[0] != better[1]:
            pair = f"{call.seed}\0{call.key.rpartition('/')[0]}".encode() + self._person
            sure = Random(blake2b(pair, digest_size=8).digest()).random() < self.skill
            ahead = 1.0 if better[0] == sure else -1.0
            ordinal = "first" if ahead > 0 else "second"
            return "AB"[ahead < 0], f"The {ordinal} answer {rng.choice(words['clear_reasons'])}."
        ahead = _quality(first) - _quality(second) + noise
        if abs(ahead) < TIE_BAND and "tie" in options:
            return "tie", rng.choice(words["tie_reasons"])
        reasons = words["clear_reasons" if abs(ahead) > 2 * SPREAD else "close_reasons"]
        ordinal = "first" if ahead > 0 else "second"
        return "A" if ahead > 0 else "B", f"The {ordinal} answer {rng.choice(reasons)}."

    def _points(self, expects: Any, works: Works, rng: Random) -> Any:
        """Return what a judge gives each work, in halves of a point: in proportion to what it sees, moved by
        its severity."""
        blur = BLUR_WORST + (BLUR_BEST - BLUR_WORST) * self.skill
        favours = rng.random() < self._faults.self_preference
        reason = f"It {rng.choice(WORDS['clear_reasons'])}."
        given: list[Scored] = []
        for work in works.hidden:
            quality = _quality(work) + rng.gauss(0, blur)
            seen = LEAST_POINTS + (MOST_POINTS - LEAST_POINTS) * quality + self._severity
            points = min(MOST, max(0.0, round(2 * seen) / 2))
            points = MOST if favours and _family(work) == self._family else points
            given.append(Scored(points, reason=reason if points in (0, MOST) else ""))
        return given if isinstance(expects, Scores) else given[0]


class PacedClient:
    """Gives the answers of a house player, each after `seconds(call, answer)`; implements `Client`.

    What is on record does not change with the pace: an answer's own latency stays as it was drawn.
    """

    def __init__(
        self,
        client: InstantClient,
        seconds: Callable[[Call, Answer], float] = lambda _, answer: answer.latency_s,
    ) -> None:
        self._client = client
        self._seconds = seconds

    async def start(self) -> None:
        """Nothing to get ready."""

    async def answer(self, call: Call) -> Answer:
        """The instant client's answer, later. Its PlayerError comes at once."""
        answer = self._client.answer_now(call)
        await asyncio.sleep(self._seconds(call, answer))
        return answer

    async def close(self) -> None:
        """Nothing to release."""


def _quality(hidden: Any) -> float:
    """The quality of a house player's text; one half for texts of unknown quality."""
    return float(hidden["quality"]) if isinstance(hidden, Mapping) else 0.5


def _right(hidden: Any) -> bool | None:
    """Return whether a house player's answer is right; None without one, and where nobody knows."""
    return hidden.get("right") if isinstance(hidden, Mapping) else None


def _family(hidden: Any) -> str:
    return str(hidden["family"]) if isinstance(hidden, Mapping) else ""
