"""Positions of OpenSpiel as people and models know them: chess, Go, backgammon, hold'em, bargaining.

For each game: its legal moves by name, what fills the texts of `open_spiel.toml` that a player sees and that
show how a deal ended, and what a position is worth to a house player. Games without these have the library's
own names and texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias

RECENT = 20
"""Moves, the last ones, that a position shows: enough to see a plan, and a bound however long a deal is."""
STACK, BIG_BLIND = 200, 2
"""Chips that each player has at the beginning of a deal of hold'em, and the big blind."""
ROLLOUTS = 24
"""Deals of hold'em played out to see what a move is worth."""
MATE = 1_000
"""Worth of a deal that is won, next to pieces or points of a race."""

Played: TypeAlias = Sequence[tuple[int, str]]
"""The moves of players so far, by name, each with who made it."""


class Showing(NamedTuple):
    """One game: what a player may do, by name; what fills the texts of its view, and of its end. `worth` is
    that of a position to the player who led there; without it a search finds moves. `tried` are the moves
    worth looking at, all by default."""

    moves: Callable[[Any, int], dict[str, int]]
    view: Callable[[Any, int, Played], Mapping[str, object]]
    end: Callable[[Any], Mapping[str, object]]
    worth: Callable[[Any, int, Random], float] | None = None
    tried: Callable[[Any, int], Sequence[int]] | None = None


def named(state: Any, player: int) -> dict[str, int]:
    """Return the legal moves by the library's names, without what a reply may have around them."""
    legal = state.legal_actions(player)
    return {state.action_to_string(player, action).strip(" \n*.,;"): action for action in legal}


def _renamed(rename_move: Callable[[str], str]) -> Callable[[Any, int], dict[str, int]]:
    return lambda state, player: {rename_move(name): action for name, action in named(state, player).items()}


def _last(played: Played, names: Sequence[str], most: int = RECENT) -> str:
    """Return the last moves, each with who made it."""
    last = ", ".join([f"{names[player]} {name}" for player, name in played[-most:]])
    return f"{'…, ' * (len(played) > most)}{last or 'none yet'}"


# Chess: player 1 is White.

_VALUES = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9}


def _chess(state: Any, player: int, played: Played) -> Mapping[str, object]:
    fen = str(state)
    ranks = re.sub("[1-8]", lambda run: "." * int(run[0]), fen.split(" ")[0]).split("/")
    first, times = max(0, len(played) - RECENT) // 2 * 2, state.num_repetitions(state)
    moves = [f"{at // 2 + 1}. " * (at % 2 == 0) + name for at, (_, name) in enumerate(played[first:], first)]
    return {
        "board": "\n".join([f"{8 - at} {' '.join(rank)}" for at, rank in enumerate(ranks)]),
        "fen": fen,
        "side": "White (capital letters)" if player else "Black (small letters)",
        "again": " This position is on the board for the second time." * (times > 1),
        "last": " ".join(moves) or "none yet",
    }


def _ahead(state: Any, player: int) -> float:
    """Return by how much a player is ahead in chess: in material, or because the game is over."""
    if state.is_terminal():
        return float(MATE * state.player_return(player))
    pieces = str(state).split(" ")[0]
    white = sum(
        [worth * (pieces.count(sign) - pieces.count(sign.lower())) for sign, worth in _VALUES.items()]
    )
    return white if player else -white


def _chess_worth(state: Any, player: int, rng: Random) -> float:
    """Return what is left after the other's best capture or mate in reply."""
    legal = named(state, 1 - player)
    replies = [state.child(action) for name, action in legal.items() if "x" in name or "#" in name]
    return min([_ahead(each, player) for each in (state, *replies)]) + rng.random() / 2


# Go: player 0 is Black.


def _go_rows(state: Any) -> list[str]:
    return [row.replace("+", ".") for row in re.findall(r"^ ?\d+ ([X+O]+)", str(state), re.MULTILINE)]


def _go(state: Any, player: int, played: Played) -> Mapping[str, object]:
    return {
        "board": "\n".join([f"{9 - at} {' '.join(row)}" for at, row in enumerate(_go_rows(state))]),
        "side": ("Black (X)", "White (O)")[player],
        "last": _last(played, ("Black", "White")),
    }


def area(rows: Sequence[str]) -> tuple[int, int]:
    """Return the points of X and of O on a board: their stones, and the empty points that reach only them."""
    signs = {(y, x): sign for y, row in enumerate(rows) for x, sign in enumerate(row)}
    reached = []
    for sign in "XO":
        points = dict.fromkeys([at for at, held in signs.items() if held == sign])
        left = [*points]
        while left:
            y, x = left.pop()
            beside = [at for at in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)) if signs.get(at) == "."]
            left += [at for at in beside if at not in points]
            points |= dict.fromkeys(beside)
        reached.append({*points})
    return len(reached[0] - reached[1]), len(reached[1] - reached[0])


def _go_end(state: Any) -> Mapping[str, object]:
    rows = _go_rows(state)
    black, white = area(rows)
    return {"board": "\n".join(map(" ".join, rows)), "black": black, "white": white}


# Backgammon: each player counts the points from its own side, 24 to 1.


class Checkers(NamedTuple):
    """A player's checkers: how many on each point as it counts them, on the bar (25), off the board (0)."""

    points: Mapping[int, int]

    @property
    def pips(self) -> int:
        return sum([point * count for point, count in self.points.items()])

    def __str__(self) -> str:
        held = [f"{count} on {point}" for point, count in self.points.items() if 0 < point < 25]
        bar, off = self.points.get(25, 0), self.points.get(0, 0)
        points = ", ".join(held) or "none on the points"
        return f"{points}; on the bar {bar}, borne off {off}; pips left {self.pips}"


def checkers(state: Any) -> tuple[Checkers, Checkers]:
    """Return those of player 0, which the library prints as x, and of player 1, as o."""
    text, sides = str(state), []
    for player, sign in enumerate("xo"):
        off = re.findall(rf"{sign.upper()}: (\d+)", text.partition("Scores")[2])
        counts = {25: re.findall("Bar:(.*)", text)[0].count(sign), 0: int(off[0])}
        counts |= {24 - at if player == 0 else at + 1: state.board(player, at) for at in range(24)}
        sides.append(
            Checkers({point: counts[point] for point in sorted(counts, reverse=True) if counts[point]})
        )
    return sides[0], sides[1]


def _points(state: Any, player: int = 0) -> str:
    """Return the board as `player` counts its points, X those of player 0."""
    held = {
        point if at == player else 25 - point: f"{'XO'[at]}{count}"
        for at, side in enumerate(checkers(state))
        for point, count in side.points.items()
        if 0 < point < 25
    }
    rows = []
    for row in (range(13, 25), range(12, 0, -1)):
        for texts in ([f"{point:>3}" for point in row], [f"{held.get(point, '.'):>3}" for point in row]):
            rows += [f"{' '.join(texts[:6])} |{' '.join(texts[6:])}"]
    return "\n".join([*rows[:2], *rows[:1:-1]])


def _backgammon(state: Any, player: int, played: Played) -> Mapping[str, object]:
    sides = checkers(state)
    return {
        "board": _points(state, player),
        "sign": "XO"[player],
        "own": sides[player],
        "other": sides[1 - player],
        "last": _last(played, "XO", 6),
        "dice": " and ".join([*re.findall("Dice:(.*)", str(state))[0].strip()]),
        "half": ", the second half of your double" * ("Extra turn: 1" in str(state)),
    }


def _backgammon_end(state: Any) -> Mapping[str, object]:
    return {"board": _points(state), **dict(zip("xo", checkers(state), strict=True))}


def _backgammon_worth(state: Any, player: int, rng: Random) -> float:
    """Return how the race, made points, checkers sent back and lone ones look."""
    if state.is_terminal():
        return float(MATE * state.player_return(player))
    sides = checkers(state)
    own, other = sides[player], sides[1 - player]
    behind = 25 - min([0 if point == 25 else point for point in other.points if point], default=25)
    lone = sum([point < behind and count == 1 for point, count in own.points.items() if point])
    made = sum([0 < point < 8 and count > 1 for point, count in own.points.items()])
    return other.pips - own.pips + 4 * made - 5 * lone + rng.random()


# Hold'em: player 0 has the small blind.

_STREETS = ("Before the flop", "Flop", "Turn", "River")
_SUITS = str.maketrans("shdc", "♠♥♦♣")


def _cards(text: str) -> str:
    return " ".join(re.findall("[2-9TJQKA][shdc]", text))


def table_cards(state: Any) -> str:
    """Return the open cards in the order they came: what the library prints last, after all hands."""
    stated = re.findall("ACPC State: .*:(.*)", str(state))[0]
    return _cards(stated.partition("/")[2])


class HandBets(NamedTuple):
    """HandBets of a deal as all see them: chips put in by each player and by each before this street, and the
    actions by street, as the library spells them."""

    put_in: Sequence[int]
    before: int
    streets: Sequence[str]
    own: str

    @property
    def most(self) -> int:
        return max(self.put_in)


def _bets(state: Any, player: int) -> HandBets:
    seen = dict(re.findall(r"\[(\w+):? ([^\]]*)\]", state.information_state_string(player)))
    *past, _ = streets = seen["Sequences"].split("|")
    raised = re.findall(r"r(\d+)", "|".join(past))
    before = int(raised[-1]) if raised else BIG_BLIND * bool(past)
    return HandBets(
        [STACK - int(left) for left in seen["Money"].split()], before, streets, _cards(seen["Private"])
    )


def _holdem_moves(state: Any, player: int) -> dict[str, int]:
    bets = _bets(state, player)
    raises = "raise to" if bets.most > bets.before else "bet"
    others = {0: "fold", 1: "call" if bets.most > bets.put_in[player] else "check"}
    legal = state.legal_actions(player)
    return {others.get(action, f"{raises} {action - bets.before}"): action for action in legal}


def _sizes(state: Any, player: int) -> dict[int, str]:
    """Return bets that players often choose, as the library counts them, with their names."""
    legal, bets = [action for action in state.legal_actions(player) if action > 1], _bets(state, player)
    if not legal:
        return {}
    pot = sum(bets.put_in) + bets.most - bets.put_in[player]
    half, whole = (min(max(bets.most + part, legal[0]), legal[-1]) for part in (pot // 2, pot))
    return {legal[0]: "the least", half: "half the pot", whole: "the pot", legal[-1]: "all your chips"}


def _holdem(state: Any, player: int, played: Played) -> Mapping[str, object]:
    bets, left, lines = _bets(state, player), [*played], []
    for street, actions in zip(_STREETS, bets.streets, strict=False):
        made = [left.pop(0) for _ in re.findall("[a-z]", actions)]
        lines += (
            [f"{street}: " + "; ".join([f"player {mover}: {name}" for mover, name in made])] if made else []
        )
    folded = {mover for mover, name in played if name == "fold"}
    price = bets.most - bets.put_in[player]
    sizes = [f"{size - bets.before} is {name}" for size, name in _sizes(state, player).items()]
    return {
        "own": bets.own,
        "table": table_cards(state) or "none yet",
        "pot": sum(bets.put_in),
        "price": ""
        if state.is_terminal()
        else f" To call costs you {price}."
        if price
        else " You may check.",
        "stacks": "\n".join(
            [
                f"Player {at}{' (you)' * (at == player)}: {STACK - paid} chips left, {paid} in the pot"
                f"{', folded' * (at in folded)}"
                for at, paid in enumerate(bets.put_in)
            ]
        ),
        "line": "\n".join(lines) or "Nobody has acted yet; the blinds are paid.",
        "sizes": f"\nFor a bet or raise: {', '.join(sizes)}." if sizes else "",
    }


def _holdem_end(state: Any) -> Mapping[str, object]:
    paid = re.findall(r"P\d+: (\d+)", str(state).partition("Spent:")[2])
    hands = zip(re.findall(r"P\d+ Cards: (\w+)", str(state)), paid, strict=True)
    lines = [f"Player {at}  {_cards(own)}  put in {chips}" for at, (own, chips) in enumerate(hands)]
    cards = "\n".join([f"Table     {table_cards(state) or 'no cards'}", *lines])
    return {"cards": re.sub(r"(?<=[2-9TJQKA])[shdc]\b", lambda suit: suit[0].translate(_SUITS), cards)}


def _holdem_worth(state: Any, player: int, rng: Random) -> float:
    """Return what a player wins where all call from here on, on cards that are not yet dealt."""
    won = 0.0
    for _ in range(ROLLOUTS):
        after = state.clone()
        while not after.is_terminal():
            after.apply_action(rng.choice(after.legal_actions()) if after.is_chance_node() else 1)
        won += after.player_return(player)
    return won


def _holdem_tried(state: Any, player: int) -> Sequence[int]:
    few = [action for action in state.legal_actions(player) if action < 2]
    return [*few, *[*_sizes(state, player)][:3]]


# Bargaining: an offer names what its maker keeps.

_THINGS = ("book", "hat", "basketball")


def _counts(text: str) -> list[int]:
    return [int(count) for count in re.findall(r": (\d+)", text)]


def _things(text: str) -> str:
    """Return the numbers that the library prints in a line with the things they count."""
    counts = zip(_counts(text), _THINGS, strict=True)
    return ", ".join([f"{count} {thing}{'s' * (count != 1)}" for count, thing in counts])


def _values(text: str) -> str:
    return ", ".join([f"a {thing} {value}" for value, thing in zip(_counts(text), _THINGS, strict=True)])


def _bargaining(state: Any, player: int, played: Played) -> Mapping[str, object]:
    pool, values, *_ = state.information_state_string(player).split("\n")
    offers = [f"{'You' if mover == player else 'The other'}: {name}" for mover, name in played]
    return {
        "pool": _things(pool),
        "values": _values(values),
        "count": len(played),
        "offers": "; ".join(offers) or "none yet",
    }


def _bargaining_end(state: Any) -> Mapping[str, object]:
    pool, first, second, agreed, *_ = str(state).split("\n")
    came = "They agreed on the last offer." if agreed.endswith("1") else "They did not agree."
    return {"pool": _things(pool), "first": _values(first), "second": _values(second), "came": came}


SHOWINGS: Mapping[str, Showing] = {
    "chess": Showing(named, _chess, lambda state: {"fen": state}, _chess_worth),
    "go": Showing(_renamed(lambda name: "pass" if name.endswith("PASS") else name[2:].upper()), _go, _go_end),
    "backgammon": Showing(
        _renamed(lambda name: name.partition(" - ")[2] or name),
        _backgammon,
        _backgammon_end,
        _backgammon_worth,
    ),
    "universal_poker": Showing(_holdem_moves, _holdem, _holdem_end, _holdem_worth, _holdem_tried),
    "bargaining": Showing(
        _renamed(lambda name: f"keep {_things(name)}" if ":" in name else name.lower()),
        _bargaining,
        _bargaining_end,
    ),
}
"""Games with names and texts of their own, by the library's name."""
