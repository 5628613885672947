"""Positions of OpenSpiel as people and models know them: chess, Go, backgammon, hold'em, bargaining.

For each game: its legal moves by name, what a player sees, how a deal looks to one who sees everything, and
how a house player finds a move. Of any other game the library's own texts are shown (`open_spiel`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

RECENT = 20
"""Moves, the last ones, that a position shows: enough to see a plan, and a bound however long a deal is."""
ROLLOUTS = 24
"""Games of hold'em played out for each of a house player's moves."""
STACK, BIG_BLIND = 200, 2
"""Chips that each player has at the beginning of a deal of hold'em, and the big blind."""
MATE = 1_000


class PlayedMove(NamedTuple):
    """A move that a player made, by its name, in a stage of the deal; empty where the game has none."""

    player: int
    name: str
    stage: str = ""


class Showing(NamedTuple):
    """One game: what a player may do, by name; what it sees, of a position and the moves that led there; the
    deal to one who sees everything; a good move, where no search finds one soon enough; and the stage."""

    moves: Callable[[Any, int], dict[str, int]]
    view: Callable[[Any, int, Sequence[PlayedMove]], str]
    end: Callable[[Any], str]
    best: Callable[[Any, int, Mapping[str, int], Random], int] | None = None
    stage: Callable[[Any], str] = lambda state: ""


def named(state: Any, player: int) -> dict[str, int]:
    """Return the legal moves by the library's names, without what a reply may have around them."""
    legal = state.legal_actions(player)
    return {state.action_to_string(player, action).strip(" \n*.,;"): action for action in legal}


def _recent(played: Sequence[PlayedMove], names: Sequence[str]) -> str:
    """Return the last moves, each with who made it; `names` are those of the players."""
    last = [f"{names[move.player]} {move.name}" for move in played[-RECENT:]]
    return f"{'…, ' * (len(played) > RECENT)}{', '.join(last)}" if last else "none yet"


# Chess: player 1 is White.

_VALUES = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9}


def _chess_view(state: Any, player: int, played: Sequence[PlayedMove]) -> str:
    fen = state.observation_string(player)
    ranks = re.sub("[1-8]", lambda run: "." * int(run[0]), fen.split(" ")[0]).split("/")
    board = [f"{8 - at} {' '.join(rank)}" for at, rank in enumerate(ranks)]
    first = max(0, len(played) - RECENT) // 2 * 2
    numbered = [
        f"{at // 2 + 1}. {move.name}" if at % 2 == 0 else move.name
        for at, move in enumerate(played[first:], first)
    ]
    times = state.num_repetitions(state)
    again = f"\nThis position is on the board for the {('second', 'third')[times - 2]} time." * (times > 1)
    side = "White (capital letters)" if player else "Black (small letters)"
    return (
        "\n".join([*board, "  a b c d e f g h"])
        + f"\n\nFEN: {fen}\nYou play {side}.{again}\nLast moves: {' '.join(numbered) or 'none yet'}"
    )


def _material(fen: str) -> int:
    """Return by how much White is ahead."""
    return sum([value * (fen.count(sign) - fen.count(sign.lower())) for sign, value in _VALUES.items()])


def _chess_best(state: Any, player: int, moves: Mapping[str, int], rng: Random) -> int:
    """The move with most material after the other's best capture, mate before all."""
    sign = 1 if player else -1

    def ahead(position: Any) -> float:
        if position.is_terminal():
            return float(MATE * position.player_return(player))
        return sign * _material(position.observation_string(0).split(" ")[0])

    def worth(action: int) -> float:
        after = state.child(action)
        other = 1 - player
        takes = (
            []
            if after.is_terminal()
            else [a for a in after.legal_actions() if set("x#") & set(after.action_to_string(other, a))]
        )
        return min([ahead(after), *(ahead(after.child(action)) for action in takes)]) + rng.random() / 2

    return max(moves.values(), key=worth)


# Go: player 0 is Black.


def _go_moves(state: Any, player: int) -> dict[str, int]:
    legal = state.legal_actions(player)
    names = [state.action_to_string(player, action).split(" ")[1] for action in legal]
    return {
        "pass" if name == "PASS" else name.upper(): action for name, action in zip(names, legal, strict=True)
    }


def _go_rows(state: Any) -> list[str]:
    return re.findall(r"^ ?(\d+ [X+O]+)", str(state), re.MULTILINE)


def _go_view(state: Any, player: int, played: Sequence[PlayedMove]) -> str:
    board = [f"{row[:2]}{' '.join(row[2:].replace('+', '.'))}" for row in _go_rows(state)]
    side = ("Black (X)", "White (O)")[player]
    return (
        "\n".join([*board, "  A B C D E F G H J"])
        + f"\n\nYou play {side}.\nLast moves: {_recent(played, ('Black', 'White'))}"
    )


def area(rows: Sequence[str]) -> tuple[int, int]:
    """Return the points of X and of O on a board: their stones, and the empty points that reach only them."""
    signs = {(y, x): sign for y, row in enumerate(rows) for x, sign in enumerate(row)}
    points = {"X": 0, "O": 0}
    seen: set[tuple[int, int]] = set()
    for start, sign in signs.items():
        if sign in points:
            points[sign] += 1
        elif start not in seen:
            region, reached, left = 0, set[str](), [start]
            seen.add(start)
            while left:
                y, x = left.pop()
                region += 1
                for at in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                    if signs.get(at) in points:
                        reached.add(signs[at])
                    elif at in signs and at not in seen:
                        seen.add(at)
                        left.append(at)
            if len(reached) == 1:
                points[reached.pop()] += region
    return points["X"], points["O"]


def _go_end(state: Any) -> str:
    rows = [row[2:].replace("+", ".") for row in _go_rows(state)]
    black, white = area(rows)
    komi = state.get_game().get_parameters()["komi"]
    return "\n".join(
        [*map(" ".join, rows), "", f"Black has {black} points, White {white} and {komi:g} more."]
    )


# Backgammon: each player counts the points from its own side, 24 to 1.


class _Side(NamedTuple):
    """A player's checkers by point as it counts them, on the bar, and off the board."""

    points: Mapping[int, int]
    bar: int
    off: int

    @property
    def pips(self) -> int:
        return sum([point * count for point, count in self.points.items()]) + 25 * self.bar


def _sides(state: Any) -> tuple[_Side, _Side]:
    text = str(state)
    bar = text.partition("Bar:")[2].partition("\n")[0]
    off = [int(score) for score in re.findall(r"[XO]: (\d+)", text.partition("Scores")[2])]
    held = [
        {24 - at if player == 0 else at + 1: state.board(player, at) for at in range(24)} for player in (0, 1)
    ]
    x, o = (
        {point: count for point, count in sorted(points.items(), reverse=True) if count} for points in held
    )
    return _Side(x, bar.count("x"), off[0]), _Side(o, bar.count("o"), off[1])


def _backgammon_moves(state: Any, player: int) -> dict[str, int]:
    legal = state.legal_actions(player)
    names = [state.action_to_string(player, action) for action in legal]
    return {name.partition(" - ")[2] or name: action for name, action in zip(names, legal, strict=True)}


def _points(player: int, sides: tuple[_Side, _Side]) -> list[str]:
    """Return the board as `player` counts its points, X those of player 0."""
    held: dict[int, str] = {}
    for at, side in enumerate(sides):
        for point, count in side.points.items():
            held[point if at == player else 25 - point] = f"{'XO'[at]}{count}"
    rows = []
    for row in (range(13, 25), range(12, 0, -1)):
        for texts in ([f"{point:>3}" for point in row], [f"{held.get(point, '.'):>3}" for point in row]):
            rows += [f"{' '.join(texts[:6])} |{' '.join(texts[6:])}"]
    return [*rows[:2], *rows[:1:-1]]


def _backgammon_view(state: Any, player: int, played: Sequence[PlayedMove]) -> str:
    sides = _sides(state)
    dice = " and ".join(re.findall(r"\d", str(state).partition("Dice:")[2].partition("\n")[0]))
    second = ", the second half of your double" if "Extra turn: 1" in str(state) else ""
    lines = [
        f"{who} ({'XO'[at]}): "
        + ", ".join([f"{count} on {point}" for point, count in sides[at].points.items()])
        + f"; on the bar {sides[at].bar}, borne off {sides[at].off}; pips left {sides[at].pips}"
        for at, who in ((player, "Your checkers"), (1 - player, "The other's, as it counts its points"))
    ]
    return "\n".join(
        [
            *_points(player, sides),
            "",
            *lines,
            f"Last moves: {_recent(played[-6:], ('X', 'O'))}",
            f"Your dice: {dice}{second}.",
        ]
    )


def _backgammon_end(state: Any) -> str:
    sides = _sides(state)
    lines = [f"{'XO'[at]}: on the bar {side.bar}, borne off {side.off}" for at, side in enumerate(sides)]
    return "\n".join([*_points(0, sides), "", *lines])


def _backgammon_best(state: Any, player: int, moves: Mapping[str, int], rng: Random) -> int:
    """The move after which the race, made points, checkers sent back and lone ones look best."""

    def worth(action: int) -> float:
        after = state.child(action)
        if after.is_terminal():
            return float(MATE * after.player_return(player))
        sides = _sides(after)
        own, other = sides[player], sides[1 - player]
        behind = max([25 - point for point in other.points] + [25 * (other.bar > 0)], default=0)
        lone = sum([point < behind and count == 1 for point, count in own.points.items()])
        made = sum([point < 8 and count > 1 for point, count in own.points.items()])
        return other.pips - own.pips + 4 * made - 5 * lone + rng.random()

    return max(moves.values(), key=worth)


# Hold'em: player 0 has the small blind.

_STREETS = ("Before the flop", "Flop", "Turn", "River")
_SUITS = str.maketrans("shdc", "♠♥♦♣")


class _Hand(NamedTuple):
    """A deal of hold'em as a player sees it: the street, its own cards, those on the table, chips put in by
    player, and how many each put in before this street."""

    street: int
    own: tuple[str, ...]
    table: tuple[str, ...]
    put_in: tuple[int, ...]
    before: int

    @property
    def to_call(self) -> int:
        return max(self.put_in)


def _cards(text: str) -> tuple[str, ...]:
    return tuple(re.findall("[2-9TJQKA][shdc]", text))


def _table(state: Any) -> tuple[str, ...]:
    """Return the open cards in the order they came: what the library prints last, after all hands."""
    stated = str(state).partition("ACPC State: ")[2].partition("\n")[0].rpartition(":")[2]
    return tuple([card for street in stated.split("/")[1:] for card in _cards(street)])


def _hand(state: Any, player: int) -> _Hand:
    seen = dict(re.findall(r"\[(\w+):? ([^\]]*)\]", state.information_state_string(player)))
    streets = seen["Sequences"].split("|")
    raised = re.findall(r"r(\d+)", "|".join(streets[:-1]))
    money = [STACK - int(left) for left in seen["Money"].split()]
    before = int(raised[-1]) if raised else BIG_BLIND if len(streets) > 1 else 0
    return _Hand(int(seen["Round"]), _cards(seen["Private"]), _table(state), tuple(money), before)


def _holdem_moves(state: Any, player: int) -> dict[str, int]:
    hand = _hand(state, player)
    raises = f"{'raise to' if hand.to_call > hand.before else 'bet'} "
    calls = "call" if hand.to_call > hand.put_in[player] else "check"
    return {
        {0: "fold", 1: calls}.get(action, f"{raises}{action - hand.before}"): action
        for action in state.legal_actions(player)
    }


def sizes(state: Any, player: int) -> dict[str, int]:
    """Return bets that players often choose, by their names: from the least to all chips."""
    legal = [action for action in state.legal_actions(player) if action > 1]
    if not legal:
        return {}
    hand = _hand(state, player)
    pot = sum(hand.put_in) + hand.to_call - hand.put_in[player]
    wanted = {
        "the least": legal[0],
        "half the pot": hand.to_call + pot // 2,
        "the pot": hand.to_call + pot,
        "all your chips": legal[-1],
    }
    return {name: min(max(size, legal[0]), legal[-1]) for name, size in wanted.items()}


def _holdem_view(state: Any, player: int, played: Sequence[PlayedMove]) -> str:
    hand = _hand(state, player)
    folded = {move.player for move in played if move.name == "fold"}
    chips = [
        f"Player {at}{' (you)' * (at == player)}: {STACK - paid} chips left, {paid} in the pot"
        f"{', folded' * (at in folded)}"
        for at, paid in enumerate(hand.put_in)
    ]
    done = [
        f"{street}: "
        + "; ".join([f"player {move.player}: {move.name}" for move in played if move.stage == street])
        for street in _STREETS[: hand.street + 1]
        if any(move.stage == street for move in played)
    ]
    usual = {size: f"{size - hand.before} is {name}" for name, size in sizes(state, player).items()}
    price = hand.to_call - hand.put_in[player]
    return "\n".join(
        [
            f"Your cards: {' '.join(hand.own)}",
            f"Cards on the table: {' '.join(hand.table) or 'none yet'}",
            f"Pot: {sum(hand.put_in)} chips. {f'To call costs you {price}.' if price else 'You may check.'}",
            *chips,
            *(done or ["Nobody has acted yet; the blinds are paid."]),
            *([f"For a bet or raise: {', '.join(usual.values())}."] if usual else []),
        ]
    )


def _holdem_end(state: Any) -> str:
    text, table = str(state), _table(state)
    hands = re.findall(r"P\d+ Cards: (\w+)", text)
    paid = re.findall(r"P\d+: (\d+)", text.partition("Spent:")[2])
    lines = [
        f"Player {at}  {' '.join(_cards(cards)).translate(_SUITS)}  put in {chips}"
        for at, (cards, chips) in enumerate(zip(hands, paid, strict=True))
    ]
    return "\n".join([f"Table     {' '.join(table).translate(_SUITS) or 'no cards'}", *lines])


def _holdem_best(state: Any, player: int, moves: Mapping[str, int], rng: Random) -> int:
    """The move that wins most where all others call what they may, on cards that are not yet dealt."""
    tried = {action for action in moves.values() if action < 2} | {*[*sizes(state, player).values()][:3]}

    def worth(action: int) -> float:
        won = 0.0
        for _ in range(ROLLOUTS):
            after = state.child(action)
            while not after.is_terminal():
                legal = after.legal_actions()
                after.apply_action(rng.choice(legal) if after.is_chance_node() else 1)
            won += after.player_return(player)
        return won

    return max(sorted(tried), key=worth)


# Bargaining: an offer names what its maker keeps.

_THINGS = ("book", "hat", "basketball")


def _things(counts: Sequence[int]) -> str:
    return ", ".join(
        [f"{count} {thing}{'s' * (count != 1)}" for count, thing in zip(counts, _THINGS, strict=True)]
    )


def _bargaining_moves(state: Any, player: int) -> dict[str, int]:
    agree = state.agree_action()
    return {
        "agree"
        if action == agree
        else f"keep {_things(_counts(state.action_to_string(player, action)))}": action
        for action in state.legal_actions(player)
    }


def _counts(text: str) -> list[int]:
    return [int(count) for count in re.findall(r": (\d+)", text)]


def _values(counts: Sequence[int]) -> str:
    return ", ".join([f"a {thing} {value}" for thing, value in zip(_THINGS, counts, strict=True)])


def _bargaining_view(state: Any, player: int, played: Sequence[PlayedMove]) -> str:
    pool, values = map(_counts, state.information_state_string(player).split("\n")[:2])
    offers = [f"{'You' if move.player == player else 'The other'}: {move.name}" for move in played]
    return "\n".join(
        [
            f"There are {_things(pool)}.",
            f"Worth to you: {_values(values)}.",
            f"Offers so far, {len(played)} of 10: {'; '.join(offers) or 'none yet'}.",
        ]
    )


def _bargaining_end(state: Any) -> str:
    pool, first, second = map(_counts, str(state).split("\n")[:3])
    agreed = "Agreement reached? 1" in str(state)
    return "\n".join(
        [
            f"There were {_things(pool)}.",
            f"Worth to player 0: {_values(first)}.",
            f"Worth to player 1: {_values(second)}.",
            "They agreed on the last offer." if agreed else "They did not agree.",
        ]
    )


def _street(state: Any) -> str:
    return _STREETS[int(re.findall(r"\[Round (\d)\]", state.observation_string(0))[0])]


SHOWINGS: Mapping[str, Showing] = {
    "chess": Showing(named, _chess_view, str, _chess_best),
    "go": Showing(_go_moves, _go_view, _go_end),
    "backgammon": Showing(_backgammon_moves, _backgammon_view, _backgammon_end, _backgammon_best),
    "universal_poker": Showing(_holdem_moves, _holdem_view, _holdem_end, _holdem_best, _street),
    "bargaining": Showing(_bargaining_moves, _bargaining_view, _bargaining_end),
}
"""Games of their own texts, by the library's name."""
