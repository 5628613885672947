"""Markets: bids, bargains, dilemmas and votes with simultaneous moves.

    A, B, C, D > {"bids": [42, 17, 63, 8, 30]}       (1/1/1/A, …: board 1, seating 1, round 1)
    A, B, C, D > {"bids": [30, 51, 8, 77, 12]}       (1/2/1/A, …: the same board, everybody in another role)

Who gains most over the match wins; in an auction who misses least of what it could have gained. Each board is
played in all seatings at once, so that everybody is in every role once and the luck of values cancels. What a
player alone may know is in its own requests alone. Whose provider fails is unranked, while two are left;
pairs with it do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from peerage.game import (
    Asks,
    Bar,
    Block,
    Cell,
    Demo,
    Fixture,
    GameSpec,
    GameTable,
    Grid,
    Heading,
    HouseCall,
    Outcome,
    Quoted,
    Replies,
    Seating,
    SeatName,
    Secrecy,
    Sentence,
    Steps,
    Together,
    by_rank,
    quoted,
    result_grid,
    texts,
)
from peerage.game.same_tasks import FEWEST
from peerage.game.texts import toml
from peerage.games.market.auctions import AUCTION
from peerage.games.market.dilemma import PRISONERS_DILEMMA
from peerage.games.market.negotiation import NEGOTIATION, HouseSecret, PriceOffer
from peerage.games.market.rules import AUCTIONS, REPEATED, BoardPlayed, MarketFamily, MarketRules
from peerage.games.market.voting import VOTING

FAMILIES: Mapping[str, MarketFamily] = {
    "first-price": AUCTION,
    "second-price": AUCTION,
    "negotiation": NEGOTIATION,
    "prisoners-dilemma": PRISONERS_DILEMMA,
    "voting": VOTING,
}


def play(table: GameTable) -> Steps[Outcome]:
    """All boards of the match, in all seatings at once."""
    rules: MarketRules = table.rules
    family, labels, boards = (
        FAMILIES[rules.market],
        [seat.label for seat in table.seats],
        table.drawn["boards"],
    )
    seatings, apart = family.seatings(labels, bool(rules.rotate)), _apart(rules)
    played: Mapping[str, BoardPlayed] = yield Together(
        {
            f"{number}/{at}": family.play(rules, boards[(number - 1) * apart + (at - 1) % apart], seating)
            for number in range(1, len(boards) // apart + 1)
            for at, seating in enumerate(seatings, 1)
        }
    )
    lost = set[str]().union(*[part_played.lost for part_played in played.values()])
    left = [label for label in labels if label not in lost]
    if len(left) < FEWEST:
        return Outcome(void="no_answer")
    parts = [part for market in played.values() for part in market.parts]
    counted = [part.gains for part in parts if not lost & {*part.members}]
    gains = {label: sum([part.get(label, 0) for part in counted]) for label in left}
    boards = {
        key: {"columns": [*market.columns], "rows": [[*row] for row in market.rows]}
        for key, market in played.items()
    }
    detail = {
        "decided": "by what was missed" if rules.market in AUCTIONS else "by the sum of all gains",
        "sums": {label: round(float(gain), 2) for label, gain in gains.items()},
        "boards": boards,
    }
    return Outcome(scores=by_rank(gains), detail=detail)


def _apart(rules: MarketRules) -> int:
    """Return how many boards are played in place of one, so that no two seatings share theirs."""
    everybody = "ABCDEFGHIJ"[: rules.seats]
    return len(FAMILIES[rules.market].seatings(everybody, True)) if rules.rotate == "fresh" else 1


def draw(rules: MarketRules, secret: str, number: int) -> dict[str, Any]:
    """The boards of match `number`."""
    rng, family = Random(f"{secret}/market/{number}"), FAMILIES[rules.market]
    many = rules.boards * _apart(rules)
    return {"boards": [family.draw(rng, rules.seats, rules.rounds) for _ in range(many)]}


def asks(rules: MarketRules, fixture: Fixture) -> tuple[Asks, ...]:
    """Each contestant moves in every round of every board, in every seating."""
    family, players = FAMILIES[rules.market], len(fixture.seats)
    calls = len(fixture.drawn["boards"]) // _apart(rules) * family.calls(players, rules.rounds)
    heard = family.heard(players, rules.rounds)
    most, own = rules.max_tokens, texts(__package__, rules.texts)[family.prompt]
    usual: dict[str, Any] = {"usual_output": 150, "turns": rules.rounds}
    return (Asks("contestant", own, family.expects, calls, most, heard, **usual),)


def forgets(rules: MarketRules) -> str:
    """Return why nobody may remember one seating of a board in another; empty where nothing is private."""
    if rules.rotate is not True or rules.market == "prisoners-dilemma":
        return ""
    return (
        "a board is played with everybody in every role, so who remembers one role knows the private values "
        "of the others. Set `rotate: fresh`, or leave it out"
    )


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    """Each move is perfect with a chance of the skill, else any; a negotiator gives some of its gain away."""
    right = call.oracle
    if isinstance(right, HouseSecret):
        weak = rng.randint(*sorted((right.price, right.value)))
        return PriceOffer(right.price if rng.random() < skill else weak, "That is my price.")
    (name,) = right.__struct_fields__
    both = zip(getattr(right, name), getattr(call.expects.sample(rng), name), strict=True)
    return type(right)([perfect if rng.random() < skill else wild for perfect, wild in both])


# ----------------------------------------------------------------------------------------------------- shown


MARKETS: Mapping[str, str] = toml(__package__, "shown")["markets"]
WINS = {
    False: "Who gained most over all boards and seatings wins.",
    True: "Who missed least of what it could have gained against the others' bids wins, over all seatings.",
}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of the gains in each seating of each board, then each seating with its moves."""
    market = fixture.settings["market"]
    missed = market in AUCTIONS
    boards: dict[str, Any] = outcome.detail.get("boards", {})
    gains = {key: _gains(board) for key, board in boards.items()}
    every = [gain for board in gains.values() for gain in board.values()]
    ends = max(every, default=1.0), min(every, default=0.0)
    sums = outcome.detail.get("sums", {})
    most = max(map(abs, sums.values()), default=1.0)
    rows: dict[str, tuple[Cell, ...]] = {
        label: (
            Bar("", abs(total) if missed else total, most, min(0.0, *sums.values()) if not missed else 0.0),
            *[Bar("", board[label], *ends) if label in board else None for board in gains.values()],
        )
        for label, total in sums.items()
    }
    titles = [f">{'' if at else 'Gain in '}{key.replace('/', '.')}" for at, key in enumerate(gains)]
    columns = (">Missed" if missed else ">Gained", *titles)
    came = "missed" if missed else "gained"
    why = {label: f"{abs(total) if missed else total:,g} {came}" for label, total in sums.items()}
    yield from result_grid(outcome, f"{MARKETS[market]} {WINS[missed]}", columns, rows, why)
    keys = boards or dict.fromkeys(["/".join(key.split("/")[:2]) for key in replies])
    for key in keys:
        number, seating = key.split("/")
        yield Heading(f"Board {number}, seating {seating}{_deal(boards.get(key, {}))}", closed=True)
        if terms := _terms(market, fixture.drawn["boards"][int(number) - 1]):
            yield Sentence(terms, "quiet")
        if key in boards:
            labels = {seat.label for seat in fixture.seats}
            moves = [
                (SeatName(row[0]) if row[0] in labels else row[0], *row[1:]) for row in boards[key]["rows"]
            ]
            yield Grid(tuple(boards[key]["columns"]), tuple(moves))
        for name, reply in replies.items():
            if name.startswith(f"{key}/") and reply.status != "ok":
                yield quoted(reply)
            elif name.startswith(f"{key}/") and (message := getattr(reply.value, "message", "")):
                yield Quoted(reply.label, message, reply.key, note=f"in round {name.split('/')[2]}")


def _gains(board: Mapping[str, Any]) -> dict[str, float]:
    """Return what each player gained on a board, as its table says."""
    columns, rows = board["columns"], board["rows"]
    if columns[-1] != ">Gain":  # a line of its own, with players in columns
        (gained,) = [row for row in rows if row[0] == "gain"]
        return {
            label: value for label, value in zip(columns[1:], gained[1:], strict=True) if value is not None
        }
    gains: dict[str, float] = {}
    for row in rows:
        gains[row[0]] = gains.get(row[0], 0) + (row[-1] or 0)
    return gains


def _deal(board: Mapping[str, Any]) -> str:
    """Return how a negotiation ended, or what everybody gained."""
    if not board:
        return ""
    columns, rows = board["columns"], board["rows"]
    if len(columns) > 2 and columns[-2:] == ["", ">Gain"] and rows:
        return f": {rows[0][-2]}"
    return f": {', '.join([f'{label} {gain:,g}' for label, gain in _gains(board).items()])}"


def _terms(market: str, board: Mapping[str, Any]) -> str:
    """Return what the table of a board cannot be read without."""
    match market:
        case "prisoners-dilemma":
            return (
                "c cooperated, d defected. A round gains {reward} each where both cooperate, {punishment} "
                "each where both defect; {temptation} for the one who defects alone, {sucker} for the other."
            ).format_map(board)
        case "first-price" | "second-price":
            return "At most: what other bids could have gained against those of the others."
        case _:
            return ""


GAME: GameSpec[MarketRules] = GameSpec(
    name="market",
    version=6,
    texts=__package__,
    about="Auctions, bargains, prisoner's dilemmas and votes with simultaneous moves; most gained wins.",
    contestants=(2, 10),
    rules=MarketRules,
    play=play,
    draw=draw,
    asks=asks,
    converses=lambda rules: rules.market in REPEATED and rules.rounds > 1,
    survives=True,
    seating=Seating(rotates=lambda rules: not rules.rotate),
    secrecy=Secrecy(hides=True, forgets=forgets, remembered={"rotate": "fresh"}),
    house=house,
    show=show,
    demo=Demo(240),
)
