"""One small question before a run: does the player answer, with this key, this model and these settings?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from peerage.players import checks
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.keys import PROVIDERS
from peerage.protocol import Choice
from peerage.settings import PlayerSettings

PROBE_TOKENS = 32
"""Output tokens a probe may take: enough for an answer, or to see that a model thinks before it gives one."""
PATIENCE_S = 30.0
"""Seconds after which a probe is given up; a player may be that slow and still play."""
AGAIN = 3
"""Further requests where a server refuses a setting that can be left out: a refused request costs nothing."""
_OWN_LIMIT = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "budget_tokens")
"""Words of a server that finds the probe's limit too small, as some do with models that think."""

_EXPECTS = Choice("answer", ("yes", "no"))
_QUESTION = f"Is 7 greater than 5? {_EXPECTS.instruction()}"


class Probed(Struct, frozen=True):
    """What a probe found: an answer, or a failure and what to do about it; `requests` is how many it took."""

    player: str
    requests: int
    answer: Answer | None = None
    failure: PlayerError | None = None
    advice: str = ""

    @property
    def unusable(self) -> bool:
        """Whether the player cannot play until somebody changes its settings, key or account.

        A server that turns down so small a question turns down every other one, unless it is the small token
        limit that it does not like.
        """
        if self.failure is None or self.failure.kind == "transient" or self.failure.maybe_paid:
            return False
        said = str(self.failure).casefold()
        return self.failure.kind == "permanent" or not any(word in said for word in _OWN_LIMIT)

    @property
    def thinks(self) -> bool:
        """Whether the model was seen to think before it answers."""
        return self.answer is not None and self.answer.thought

    @property
    def problem(self) -> str:
        """The failure and its advice, in one sentence for people; empty without one."""
        if self.failure is None:
            return ""
        return f"{self.failure}; {self.advice}" if self.advice else str(self.failure)


def together(problems: Mapping[str, str]) -> list[str]:
    """Problems by player, a line for each; of players with the same one, one line."""
    players: dict[str, list[str]] = {}
    for player, problem in problems.items():
        players.setdefault(problem.removeprefix(f"{player}: "), []).append(player)
    return [f"{', '.join(names)}: {problem}" for problem, names in players.items()]


def needs_probe(settings: PlayerSettings) -> bool:
    """Whether a player is behind a network: a model of a provider or at a `base_url`, an agent's address."""
    return settings.provider in PROVIDERS or settings.provider in ("http", "https")


def probe_call() -> Call:
    """The question of every probe."""
    return Call(
        "probe", "contestant", (("user", _QUESTION),), _EXPECTS, PROBE_TOKENS, temperature=None, seed="probe"
    )


async def probe(settings: PlayerSettings, client: Client, env: Mapping[str, str]) -> Probed:
    """Ask a started client one small question.

    A server that refuses an optional setting is asked again without it, as the client itself decides; nothing
    else is repeated. Raises nothing: every failure is in what it returns.
    """
    sent = 0
    while True:
        sent += 1
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await client.answer(probe_call())
        except TimeoutError:
            late = PlayerError(f"{settings.name}: no reply within {PATIENCE_S:g} s", maybe_paid=True)
            return Probed(settings.name, sent, failure=late)
        except PlayerError as failure:
            if failure.retry_after_s == 0.0 and not failure.maybe_paid and sent <= AGAIN:
                continue
            found = Probed(settings.name, sent, failure=failure)
            if found.unusable:
                return replace(found, advice=await checks.advice(settings, env))
            return found
        return Probed(settings.name, sent, answer)
