"""Common goods: the repeated prisoner's dilemma of everybody with everybody, and shared pots. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from peerage.blocks import Cell
from peerage.formats import Json
from peerage.games.market.rules import BoardPlayed, Family, MarketRules, Move, Part, as_they_are, moves
from peerage.games.texts import texts
from peerage.protocol import Prompt, Steps

# ---------------------------------------------------------------------------------- prisoner's dilemma


class Choices(Struct, frozen=True):
    """Your moves."""

    moves: Annotated[
        list[Literal["cooperate", "defect"]],
        Meta(description="your move towards each player listed, in order"),
    ]


DILEMMA: Prompt = texts(__package__)["dilemma"]


def draw_dilemma(rng: Random, seats: int, rounds: int) -> dict[str, Any]:
    """Temptation above reward above punishment above sucker; two rewards above a temptation and a sucker."""
    sucker = rng.randint(0, 5)
    punishment = sucker + rng.randint(3, 6)
    reward = punishment + rng.randint(3, 6)
    temptation = reward + rng.randint(3, reward - sucker - 1)
    return {"temptation": temptation, "reward": reward, "punishment": punishment, "sucker": sucker}


def play_dilemma(rules: MarketRules, board: Mapping[str, int], seating: Sequence[str]) -> Steps[BoardPlayed]:
    """All rounds of everybody with everybody."""
    lost: set[str] = set()
    done: dict[tuple[str, str], list[str]] = {(me, other): [] for me in seating for other in seating}
    for number in range(1, rules.rounds + 1):
        left = [label for label in seating if label not in lost]
        if len(left) < 2:
            break
        expects = Json(Choices, moves=Meta(min_length=len(left) - 1, max_length=len(left) - 1))
        others = {me: [other for other in left if other != me] for me in left}
        asked = {
            me: Move(
                {
                    **{name: str(gain) for name, gain in board.items()},
                    "rounds": str(rules.rounds),
                    "number": str(number),
                    "me": me,
                    "history": _listed([_told(one, done[me, one], done[one, me]) for one in mine]),
                },
                expects,
                Choices([grim(done[other, me], number == rules.rounds) for other in mine]),
            )
            for me, mine in others.items()
        }
        said = yield from moves(rules, number, DILEMMA, asked, lost)
        for me, mine in others.items():
            chosen = said[me].moves if said[me] is not None else ["cooperate"] * len(mine)
            for other, move in zip(mine, chosen, strict=True):
                done[me, other].append(move)
    parts, rows = list[Part](), list[tuple[Cell, ...]]()
    for pair in combinations(seating, 2):
        both = [*zip(done[pair], done[pair[::-1]], strict=False)]
        gains = {
            pair[0]: sum([gain(board, mine, theirs) for mine, theirs in both]),
            pair[1]: sum([gain(board, theirs, mine) for mine, theirs in both]),
        }
        parts.append(Part(pair, gains))
        rows += [(me, other, _letters(done[me, other]), gains[me]) for me, other in (pair, pair[::-1])]
    return BoardPlayed(parts, lost, ("Player", "With", "Cooperated or defected", ">Gain"), rows)


def grim(theirs: Sequence[str], last: bool) -> Literal["cooperate", "defect"]:
    """The move of a perfect player: it cooperates until the other defects, and defects in the last round,
    which nobody can answer."""
    return "defect" if last or "defect" in theirs else "cooperate"


def gain(board: Mapping[str, int], mine: str, theirs: str) -> int:
    """What one round gains."""
    if mine == "cooperate":
        return board["reward" if theirs == "cooperate" else "sucker"]
    return board["temptation" if theirs == "cooperate" else "punishment"]


def _told(other: str, mine: Sequence[str], theirs: Sequence[str]) -> str:
    return f"{other}, you {_letters(mine)}, it {_letters(theirs)}" if mine else f"{other}, nothing yet"


def _listed(told: Sequence[str]) -> str:
    return "; ".join(told) + "."


def _letters(chosen: Sequence[str]) -> str:
    return " ".join([move[0] for move in chosen])


PRISONERS_DILEMMA = Family(
    draw_dilemma,
    play_dilemma,
    as_they_are,
    DILEMMA,
    Json(Choices),
    lambda players, rounds: rounds,
    lambda players, rounds: players * (20 + 4 * rounds),
)

# ---------------------------------------------------------------------------------------- public goods

MOST_COINS = 30


class Puts(Struct, frozen=True):
    """What you put in."""

    puts: Annotated[
        list[Annotated[int, Meta(ge=0, le=MOST_COINS)]],
        Meta(description="coins you put into each pot listed, in order"),
    ]


SHARE: Prompt = texts(__package__)["share"]


POTS = {
    True: "There are {pots} pots, and each player is a member of all but one.",
    False: "There is one pot, and both players are its members.",
}


def draw_goods(rng: Random, seats: int, rounds: int) -> dict[str, Any]:
    """Coins for each pot, and tenths of the factor: more than 1, less than a pot has members."""
    members = max(2, seats - 1)
    return {"coins": rng.randint(10, MOST_COINS), "factor": rng.randint(13, min(20, 10 * members - 4))}


def play_goods(rules: MarketRules, board: Mapping[str, int], seating: Sequence[str]) -> Steps[BoardPlayed]:
    """All rounds of all pots, each named by the player that is no member; two players have one pot, in which
    nothing pays that the other gets half of."""
    several = len(seating) > 2
    pots = {out: [one for one in seating if one != out] for out in seating} if several else {"": [*seating]}
    members = len(seating) - several
    coins, factor = board["coins"], goods_factor(board, members)
    put: dict[str, list[dict[str, int]]] = {out: [] for out in pots}
    lost: set[str] = set()
    for number in range(1, rules.rounds + 1):
        whole = [out for out, mine in pots.items() if not lost & {*mine}]
        mine = {me: [out for out in whole if me in pots[out]] for me in seating if me not in lost}
        mine = {me: outs for me, outs in mine.items() if outs}
        if not mine:
            break
        asked = {
            me: Move(
                {
                    "pots": POTS[several].format(pots=len(pots)),
                    "members": str(members),
                    "coins": str(coins),
                    "factor": f"{float(factor):g}",
                    "rounds": str(rules.rounds),
                    "number": str(number),
                    "me": me,
                    "history": _listed([_pot(pots[out], put[out]) for out in outs]),
                },
                Json(Puts, puts=Meta(min_length=len(outs), max_length=len(outs))),
                Puts(
                    [
                        matching(me, put[out], coins) if several and number < rules.rounds else 0
                        for out in outs
                    ]
                ),
            )
            for me, outs in mine.items()
        }
        said = yield from moves(rules, number, SHARE, asked, lost)
        for out in whole:
            put[out].append({})
        for me, outs in mine.items():
            given = said[me].puts if said[me] is not None else [coins] * len(outs)
            for out, coins_in in zip(outs, given, strict=True):
                put[out][-1][me] = min(coins_in, coins)
    parts, rows = list[Part](), list[tuple[Cell, ...]]()
    for out, sharers in pots.items():
        back = factor * sum([sum(one.values()) for one in put[out]]) / members
        gains = {me: back + sum([coins - one[me] for one in put[out]]) for me in sharers}
        parts.append(Part(sharers, gains))
        shown = {me: round(float(gained), 2) for me, gained in gains.items()}
        pot = f"all but {out}" if out else "all"
        rows += [(me, pot, _round_by_round(me, put[out]), shown[me]) for me in sharers]
    return BoardPlayed(parts, lost, ("Player", "Pot of", "Put in, round by round", ">Gain"), rows)


def goods_factor(board: Mapping[str, int], members: int) -> Fraction:
    """By how much a pot is multiplied: less than it has members, even where a match has fewer than its board
    was drawn for."""
    return Fraction(min(board["factor"], 10 * members - 4), 10)


def matching(me: str, put: Sequence[Mapping[str, int]], coins: int) -> int:
    """What a perfect player puts in before the last round: all at first, then what the others' least was."""
    return min([one for label, one in put[-1].items() if label != me]) if put else coins


def _pot(members: Sequence[str], put: Sequence[Mapping[str, int]]) -> str:
    told = ", ".join([f"{label} put {_round_by_round(label, put)}" for label in members])
    return f"the pot of {', '.join(members)}, {told if put else 'nothing yet'}"


def _round_by_round(label: str, put: Sequence[Mapping[str, int]]) -> str:
    return " ".join([str(one[label]) for one in put])


PUBLIC_GOODS = Family(
    draw_goods,
    play_goods,
    as_they_are,
    SHARE,
    Json(Puts),
    lambda players, rounds: rounds,
    lambda players, rounds: players * (20 + players * (10 + 3 * rounds)),
)
