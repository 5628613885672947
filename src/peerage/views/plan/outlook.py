"""Forecasts of further matches and their price, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from peerage.engine.match.plans import policy_of, schedulers
from peerage.engine.record.memory import planned
from peerage.game.blocks import Sentence
from peerage.games import installed
from peerage.ratings.strength.posterior import strengths
from peerage.reading.reading import Reading
from peerage.reading.results.evidence import SEED
from peerage.reading.results.outside import in_words
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING, Scope
from peerage.render.blocks import Rows, numbers, texts
from peerage.scheduling.further import Further, forecast
from peerage.scheduling.standing import BEST, Goal
from peerage.values.figures import counted, dollars, percent, whole
from peerage.views.shown import Sentences

_NAMED = 3


class Pair(Struct, frozen=True):
    """Two players: the chance, 0 to 1, that `one` is `better` than the `other`, the share of matches that it
    `wins`, a tie being half a win, and what it takes to prove who is better."""

    one: str
    other: str
    better: float
    wins: float
    proven: Further

    def __str__(self) -> str:
        chances = [percent(part) if part <= 0.99 else "over 99%" for part in (self.better, self.wins)]
        likely = f"it is better with {chances[0]} and wins {chances[1]} of their matches"
        if self.proven.matches == 0:
            return f"It is proven that {self.one} is better than {self.other}; {likely}."
        return f"To prove that {self.one} is better than {self.other}: {self.proven}; {likely}."


class Outlook(Sentences, frozen=True):
    """The forecast after so many decided `matches`, as the arena's pairing goes on: until the `goal` is
    `proven`; until the pick is `clear`, which nobody else has a chance of 5% to be better than; and until the
    order of the `pair` asked about is proven. Where answers are given once, `left` is how many comparisons
    of them are left; None where there is no end. `lines` say it in sentences."""

    lines: tuple[str, ...]
    matches: int
    goal: str
    proven: Further
    clear: Further
    pair: Pair | None = None
    left: int | None = None

    @property
    def shortage(self) -> str:
        """The sentence on what is left to compare, where that is too little; else empty."""
        takes = [
            each.at_least if each.matches is None else each.matches for each in (self.proven, self.clear)
        ]
        if self.left is None or self.left >= max(takes):
            return ""
        few = f"only {counted(self.left, 'match is', 'matches are')}" if self.left else "no match is"
        return f"Answers are compared once, so {few} left: add tasks, or raise `samples`."


def outlook(
    reading: Reading,
    scope: Scope = EVERYTHING,
    names: tuple[str, str] | None = None,
    goal: Goal | None = None,
) -> Outlook | None:
    """Return what it takes by all results of a scope, outside ones too, of the players of the settings (of
    all in them, where fewer than two of those are), and of two players by `names`. Without a `goal` it is
    that of the settings, else who is best. Of several games all matches count, by the games' weights. None
    before two players met."""
    settings, played, outside = reading.settings, reading.within(scope), reading.outside(scope)
    known = outside or played
    present = [player.name for player in settings.players]
    absent = [name for name in present if name not in known.players]
    everybody = [*known.players, *absent]
    if not known.players or len(everybody) < 2:
        return None
    policy = policy_of(settings)
    goal = goal or settings.goal or BEST
    if goal.player and goal.player not in everybody:
        goal = BEST
    if policy.learns or goal.player:  # a player is placed by `adaptive`, as a run does it
        policy = policy._replace(name="adaptive", goal=goal)
    active = np.array([name in present for name in everybody])
    if active.sum() < 2:
        active[:] = True
    number = {name: at for at, name in enumerate(everybody)}
    evidence, found, count = known.evidence, known.strengths, len(known.players)
    above = np.zeros((len(everybody), len(everybody)), bool)
    above[:count, :count] = known.claims.these
    if count < len(everybody):
        rankings = replace(evidence.rankings, players=len(everybody))
        evidence = replace(evidence, players=len(everybody), rankings=rankings)
        found = strengths(evidence, seed=SEED)
    pairs = []
    if names:
        one, other = sorted((number[name] for name in names), key=lambda player: -found.rating[player])
        active[[one, other]] = True
        pairs = [(one, other)]
    ahead = forecast(
        found,
        evidence,
        policy,
        goal,
        _per_match(played),
        placed=number[goal.player] if goal.player else None,
        pairs=pairs,
        active=active,
        above=above,
    )
    pair = None
    for a, b in pairs:
        better, wins = float(found.better[a, b]), float(found.wins[a, b])
        pair = Pair(everybody[a], everybody[b], better, wins, ahead.pairs[0])
    foreseen = Outlook((), played.count, str(goal), ahead.proven, ahead.clear, pair, _left(reading))
    lines = [*_lines(goal, ahead.proven, ahead.clear, pair, absent)]
    lines += filter(None, [foreseen.shortage])
    if outside:
        lines.append(
            f"This counts {in_words(outside.counts)} of others too; a run pairs, and proves its goal, by "
            "matches played here."
        )
    return msgspec.structs.replace(foreseen, lines=tuple(lines))


def _left(reading: Reading) -> int | None:
    """Return how many matches are left where answers are given once; None without an end, or unknown."""
    if not all(map(installed, reading.settings.lineup)):
        return None
    games = list(schedulers(reading.settings, "").values())
    memories = [planned(game.spec, game.rules, reading.moment) for game in games]
    names = [player.name for player in reading.settings.players]
    left = [memory.left(names) if memory is not None else None for memory in memories]
    return None if None in left else sum(filter(None, left))


def _per_match(played: PlayedMatches) -> float | None:
    """Return the mean dollars of a decided match so far, None where unknown or nothing."""
    if not played.decided or any(None in match.costs for match in played.decided):
        return None
    return sum([match.spent_nano for match in played.finished]) / 1e9 / len(played.decided) or None


def _lines(
    goal: Goal, proven: Further, clear: Further, pair: Pair | None, absent: Sequence[str]
) -> Iterator[str]:
    what = {
        "top": f"who the first {goal.places} are" if goal.places > 1 else "who is best",
        "order": "the order of all players",
        "placed": f"where {goal.player} is among the others",
    }[goal.kind] + f", to {goal.within:g} Elo" * bool(goal.within)
    if pair is not None:
        yield str(pair)
    yield f"It is proven {what}." if proven.matches == 0 else f"To prove {what}: {proven}."
    if goal == BEST and proven.matches != 0:
        chance = "nobody else has a chance of 5% to be better"
        yield f"The pick is clear: {chance}." if clear.matches == 0 else f"Until {chance}: {clear}."
    if absent:
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        has = "has" if len(absent) == 1 else "have"
        yield f"{', '.join(absent[:_NAMED])}{more} {has} no result yet."


def rows(found: Outlook) -> tuple[list[Sentence], Rows]:
    """Return a forecast in sentences, and as rows: one for each thing that is to be proven."""
    further = {f"proven: {found.goal}": found.proven, "nobody else may be as good": found.clear}
    if found.pair:
        further[f"proven: {found.pair.one} is better than {found.pair.other}"] = found.pair.proven
    takes_each = [{"until": until, **asdict(takes)} for until, takes in further.items()]
    columns = [
        *texts(until="Until"),
        *numbers(whole, matches="Matches", at_least="At least", at_most="At most"),
        *numbers(dollars, usd="Cost"),
    ]
    return [Sentence(line) for line in found.lines], Rows(takes_each, columns)
