"""Games of OpenSpiel: what the library knows of a game's states becomes requests, replies become moves.

    A > {"reason": "a king, and they passed", "move": "Bet"}            (deal/1/2/A)

A match is some deals, each with the seats one place on. Chance follows from what was drawn for the match, a
seat is shown its own view alone, and a move is one of the legal ones by its name. A reply that names none,
also after one repair, loses the match at once, and so does a refusal: on record as that, apart from losing by
play.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple

import msgspec
from pydantic import Field

from peerage.blocks import Block, Board, Heading, Replies, Sentence, names, score_lines
from peerage.formats import Choice, Chosen
from peerage.games.game import Asks, GameRules, GameSpec
from peerage.games.house import Call
from peerage.games.ranking import by_rank
from peerage.games.section import Seats, Temperature
from peerage.match import Fixture, Outcome, Table
from peerage.protocol import Ask, Prompt, Reply, Steps, Together

EXTRA, MODULE, PACKAGE, LICENSE = "openspiel", "pyspiel", "open_spiel", "Apache-2.0"
MOVE = Prompt(
    """\
You play {title} with {others}.

{rules}

The match is {deals}; who is which player changes from deal to deal. {scoring} A reply that names no legal \
move, also when you are asked once more, loses the match at once.""",
    "Deal {deal} of {deals_count}. You are player {me}; players are counted from 0. What you see:\n\n"
    "{view}\n\nIt is your move.\n{format}",
)
SCORING = {
    False: "Whoever has most points over all deals wins the match; a deal won counts 1 and a deal lost -1, "
    "unless the rules above say otherwise.",
    True: "Whoever reaches most points wins the match.",
}
VIEW_CHARS, REASON_CHARS = 6_000, 200
SEARCH, ROLLOUTS = 30, 12
"""How far a perfect house player looks: simulations of a search, and games played out for each move where
all move at once."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A game of the list: see `open_spiel.toml`."""

    title: str
    load: str
    players: tuple[int, int]
    deals: int
    moves: int
    turns: int
    view: str
    about: str
    rules: str
    together: bool = False


class TwoRules(GameRules):
    """How a game of OpenSpiel for two is played."""

    deals: int = Field(0, ge=0, le=100, description="Deals in a match; 0: as many as suit the game.")
    max_tokens: int = Field(
        1_000, ge=1, description="Tokens an answer may take, beside what is thought before it."
    )
    temperature: Temperature = None


class ManyRules(TwoRules):
    """How a game of OpenSpiel for several is played."""

    seats: Seats = 4


class Position(NamedTuple):
    """What a house player searches: a game, all that was done in it, chance included, the player to move, its
    moves by name."""

    load: str
    done: tuple[tuple[int, ...], ...]
    player: int
    moves: Mapping[str, int]

    def state(self) -> Any:
        """The state that this is of."""
        state = _game(self.load).new_initial_state()
        for actions in self.done:
            _act(state, actions)
        return state


class Forfeit(Exception):
    """Seats that named no legal move."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)


def listed() -> Mapping[str, Entry]:
    """The games of the list by name."""
    return _entries("open_spiel")


@cache
def _entries(name: str) -> Mapping[str, Entry]:
    found = tomllib.loads(files("peerage.games").joinpath(f"{name}.toml").read_text("utf-8"))
    return msgspec.convert(found, dict[str, Entry])


@cache
def _game(load: str) -> Any:
    import pyspiel

    return pyspiel.load_game(load)


def _act(state: Any, actions: Sequence[int]) -> None:
    """Do what chance, or the players to move, chose."""
    if state.is_simultaneous_node():
        state.apply_actions(list(actions))
    else:
        state.apply_action(actions[0])


def play(table: Table, entry: Entry) -> Steps[Outcome]:
    """One match of all seats of `table`."""
    labels = [seat.label for seat in table.seats]
    seed = str(table.drawn["seed"])
    order = Random(f"{seed}/order").sample(labels, len(labels))
    record: list[dict[str, Any]] = []
    try:
        if entry.together:
            alone = {label: deal(table, entry, seed, 1, [label] * 2, record) for label in labels}
            found = yield Together({label: _forfeited(steps) for label, steps in alone.items()})
            lost = [label for label, points in found.items() if points is None]
            gained = {label: -1.0 if points is None else points for label, points in found.items()}
            record.sort(key=lambda one: labels.index(one["players"][0]))
            how = {"decided": "by play", "forfeited": lost, "points": gained, "deals": record}
            return Outcome(scores=by_rank(gained), detail=how)
        gained = dict.fromkeys(labels, 0.0)
        for number in range(1, deals_of(table.rules, entry) + 1):
            turned = order[(number - 1) % len(order) :] + order[: (number - 1) % len(order)]
            points = yield from deal(table, entry, seed, number, turned, record)
            for label, one in points.items():
                gained[label] = round(gained[label] + one, 9)
    except Forfeit as forfeit:
        lost = [*forfeit.labels]
        kept = {label: label not in lost for label in labels}
        return Outcome(
            scores=by_rank(kept), detail={"decided": "by an illegal move", "forfeited": lost, "deals": record}
        )
    detail = {"decided": "by play", "forfeited": [], "points": gained, "deals": record}
    return Outcome(scores=by_rank(gained), detail=detail)


def _forfeited(steps: Steps[Mapping[str, float]]) -> Steps[float | None]:
    """What one contestant reaches by itself; None where it named no legal move."""
    try:
        points = yield from steps
    except Forfeit:
        return None
    return next(iter(points.values()))


def deal(
    table: Table, entry: Entry, seed: str, number: int, players: Sequence[str], record: list[dict[str, Any]]
) -> Steps[Mapping[str, float]]:
    """One deal between `players`, in the library's order; points by label."""
    load = entry.load.format(seats=len(players))
    state, chance, moves = _game(load).new_initial_state(), Random(f"{seed}/deal/{number}"), 0
    done: list[tuple[int, ...]] = []
    told: list[str] = []
    one: dict[str, Any] = {"players": list(players), "moves": told}
    record.append(one)
    while not state.is_terminal() and moves < entry.moves:
        if state.is_chance_node():
            done.append((_drawn(state, chance),))
            _act(state, done[-1])
            continue
        turn = range(len(players)) if state.is_simultaneous_node() else [state.current_player()]
        moves += 1
        positions = [Position(load, tuple(done), player, _moves(state, player)) for player in turn]
        asked = [_ask(table, entry, state, (number, moves), position, players) for position in positions]
        replies = yield asked
        chosen = [_chosen(reply, position.moves) for reply, position in zip(replies, positions, strict=True)]
        if lost := [players[at] for at, action in zip(turn, chosen, strict=True) if action is None]:
            one["end"] = _text(state)
            raise Forfeit(lost)
        told += [f"{players[at]}: {reply.value.choice}" for at, reply in zip(turn, replies, strict=True)]
        done.append(tuple([action for action in chosen if action is not None]))
        _act(state, done[-1])
    returns = state.returns() if state.is_terminal() or entry.together else [0.0] * len(players)
    one |= {"points": returns, "end": _text(state)}
    return dict(zip(players, returns, strict=True))


def _drawn(state: Any, rng: Random) -> int:
    """What chance does."""
    actions, weights = zip(*state.chance_outcomes(), strict=True)
    return int(rng.choices(actions, weights)[0])


def _moves(state: Any, player: int) -> dict[str, int]:
    """The legal moves by name, without what a reply may have around it."""
    return {state.action_to_string(player, one).strip(" \n*.,;"): one for one in state.legal_actions(player)}


def _text(state: Any) -> str:
    return str(state)[:VIEW_CHARS]


def _chosen(reply: Reply, moves: Mapping[str, int]) -> int | None:
    return moves[reply.value.choice] if reply.ok and isinstance(reply.value, Chosen) else None


def _ask(
    table: Table,
    entry: Entry,
    state: Any,
    at: tuple[int, int],
    position: Position,
    players: Sequence[str],
) -> Ask:
    """The request for a move; `at` counts deals and moves."""
    rules: TwoRules = table.rules
    number, move = at
    player = position.player
    expects = Choice("move", tuple(position.moves), REASON_CHARS)
    sees = state.information_state_string if entry.view == "state" else state.observation_string
    view = sees(player)
    count = deals_of(rules, entry)
    others = len(table.seats) - 1
    fill = {
        "title": entry.title,
        "others": "one other language model" if others == 1 else f"{others} other language models",
        "rules": entry.rules,
        "deals": "one deal" if count == 1 else f"{count} deals",
        "scoring": SCORING[entry.together],
        "deal": str(number),
        "deals_count": str(count),
        "me": str(player),
        "view": view.rstrip()[:VIEW_CHARS],
        "format": expects.instruction(),
    }
    label = players[player]
    key = f"deal/{number}/{move}" if entry.together else f"deal/{number}/{move}/{label}"
    messages = MOVE.messages(fill)
    return Ask(label, key, "contestant", messages, expects, rules.max_tokens, rules.temperature, position)


def deals_of(rules: TwoRules, entry: Entry) -> int:
    """How many deals a match has."""
    return 1 if entry.together else rules.deals or entry.deals


def asks(rules: TwoRules, fixture: Fixture, entry: Entry) -> Iterator[Asks]:
    """Each seat makes some of the moves of each deal; at most it makes all of them."""
    deals = deals_of(rules, entry)
    expects = Choice("move", (), REASON_CHARS)
    prompt = Prompt(MOVE.system + entry.rules, MOVE.user)
    usual = deals * entry.turns
    yield Asks(
        "contestant",
        prompt,
        expects,
        deals * entry.moves,
        rules.max_tokens,
        2 * VIEW_CHARS,
        usual=usual,
        usual_quoted=200,
        usual_output=100,
    )


def house(call: Call, skill: float, rng: Random) -> Any:
    """The move that a search finds, with a chance of the skill; else any legal one. The search sees hidden
    cards, which no other player does."""
    position: Position = call.oracle
    if rng.random() >= skill:
        return Chosen(rng.choice(list(position.moves)))
    best = searched(position, rng.randrange(2**31))
    return Chosen(next(name for name, action in position.moves.items() if action == best))


def searched(position: Position, seed: int) -> int:
    """A good move: by Monte Carlo tree search, or by playing out where all move at once."""
    import pyspiel

    if len(position.moves) == 1:
        return next(iter(position.moves.values()))
    state, moves = position.state(), position.moves.values()
    alone = state.get_game().get_type().utility == pyspiel.GameType.Utility.IDENTICAL
    if not (alone or state.is_simultaneous_node()):
        evaluator, most = pyspiel.RandomRolloutEvaluator(1, seed), SEARCH + 2 * len(moves)
        bot = pyspiel.MCTSBot(_game(position.load), evaluator, 2.0, most, 100, False, seed, False)
        return int(bot.step(state))
    rng = Random(seed)
    worth = {
        action: sum(
            [_played_out(state.clone(), position.player, action, rng, alone) for _ in range(ROLLOUTS)]
        )
        for action in moves
    }
    return max(worth, key=lambda action: worth[action])


def _played_out(state: Any, player: int, action: int, rng: Random, alone: bool) -> float:
    """What a move of one player comes to when everybody else, and later everybody, moves at random; for a
    player `alone` the most points on the way."""
    first: int | None = action
    best = float("-inf")
    while not state.is_terminal():
        if state.is_chance_node():
            _act(state, (_drawn(state, rng),))
            continue
        movers = range(state.num_players()) if state.is_simultaneous_node() else [state.current_player()]
        actions = [rng.choice(state.legal_actions(one)) for one in movers]
        if first is not None:
            actions[player if len(actions) > 1 else 0], first = first, None
        _act(state, actions)
        best = max(best, state.returns()[player])
    return best if alone else float(state.returns()[player])


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Deal by deal the moves and how it ended, and the result."""
    players, detail = names(fixture), outcome.detail
    for number, one in enumerate(detail.get("deals", ()), 1):
        who = ", ".join(
            f"{players[label]} ({label}) is player {at}" for at, label in enumerate(one["players"])
        )
        yield Heading(f"Deal {number}")
        yield Sentence(f"{who}.", "quiet")
        yield Sentence("; ".join(one["moves"]) + "." if one["moves"] else "Nobody moved.")
        if end := one.get("end"):
            yield Board(tuple(end.rstrip().split("\n")))
        if "points" in one:
            came = zip(one["players"], one["points"], strict=True)
            yield Sentence("; ".join(f"{label} {points:+g}" for label, points in dict(came).items()) + ".")
    yield Heading("What came of it")
    if outcome.void:
        yield Sentence("The provider of a player failed, so there is no result.")
    for label in detail.get("forfeited", ()):
        yield Sentence(f"{players[label]} ({label}) named no legal move, and loses by that.", "bad")
    gained = detail.get("points", {})
    yield from score_lines(
        fixture, outcome, {label: f"{points:+g} points" for label, points in gained.items()}
    )


def draw(rules: TwoRules, secret: str, number: int) -> dict[str, Any]:
    """What all chance of match `number` follows from."""
    return {"seed": sha256(f"{secret}/openspiel/{number}".encode()).hexdigest()[:32]}


def forgets(rules: TwoRules, entry: Entry) -> str:
    """Why nobody may play who remembers what it was asked; empty: it may."""
    if not entry.together:
        return ""
    return "each contestant plays both hands by itself, and one that remembers has seen the other's cards"


@cache
def spec(name: str) -> GameSpec[Any]:
    """The game of that name of the list. Raises KeyError."""
    entry = listed()[name]
    hidden = entry.view == "state" or entry.together or name == "battleship"
    return GameSpec(
        name=f"{EXTRA}-{name}",
        about=entry.about,
        contestants=entry.players,
        rules=ManyRules if entry.players[1] > 2 else TwoRules,
        play=partial(play, entry=entry),
        asks=partial(asks, entry=entry),
        draw=draw,
        house=house,
        show=show,
        hides=hidden,
        forgets=partial(forgets, entry=entry),
        extra=lambda rules: "" if find_spec(MODULE) else EXTRA,
        unshown=("seed",),
        demo=60,
    )
