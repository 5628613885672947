"""Shared parts of games of other libraries: rules in our own words, deals, moves by name, who loses how.

    A > {"reason": "a king, and they passed", "move": "Bet"}            (deal/1/2/A)

A match is some deals, each with the seats one place on. Chance follows from what was drawn for the match, a
seat is shown its own view alone, and a move is one of the legal ones by its name. A reply that names none,
also after one repair, loses the match at once, and so does a refusal: on record as that, apart from losing by
play. A library's module says what one deal is like (`Deal`), and how a house player finds its move.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from random import Random
from string import ascii_lowercase
from typing import Any, Literal, Protocol

import msgspec
from pydantic import Field, create_model

from peerage.game import (
    Ask,
    Asks,
    Block,
    Board,
    Chosen,
    Demo,
    Fixture,
    GameRules,
    GameSpec,
    GameTable,
    Heading,
    House,
    LegalMove,
    MaxTokens,
    Needs,
    Outcome,
    Prompt,
    Replies,
    Seating,
    Secrecy,
    Sentence,
    Steps,
    TaskText,
    by_rank,
    ending,
    move_format,
)
from peerage.game.texts import texts, toml
from peerage.games.earlier_deals import MOST_CHARS, EarlierDeals, Showdown

TEXTS = {
    "move": Prompt(
        """\
You play {title} with {others}.

{rules}

The match is {deals}; who is which player changes from deal to deal. {scoring} A reply that names no legal \
move is asked for once more; another such reply loses the match at once.""",
        "Deal {deal} of {deals_count}. You are player {me}; players are counted from 0.{earlier} What you "
        "see:\n\n{view}\n\nIt is your move.\n{format}",
    )
}
SCORING = (
    "Whoever has the most points over all deals wins the match; a deal won counts 1, a drawn deal 0 and a "
    "lost one -1, unless the rules above say otherwise."
)
CUT = "A deal that has not ended after {moves} moves of all players together is a draw."
VIEW_CHARS, REASON_CHARS = 6_000, 200


class AdaptedGame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A game of a list: see `open_spiel.toml` and `text_arena.toml`."""

    title: str
    load: str
    players: tuple[int, int]
    deals: int
    moves: int
    turns: int
    about: str
    rules: str
    view: str = "state"
    hidden: bool = True
    chance: bool = True
    series: bool = False
    cased: bool = False
    seats: int = 4
    demo: int = 0
    figures: str = ""
    sides: tuple[str, ...] = ()
    shows: str = ""
    ends: str = ""
    listed: bool = True
    actions: tuple[str, ...] = ()
    shown: Literal["", "all", "unfolded"] = ""
    fold: str = "Fold"


class Deal(Protocol):
    """One deal under way. Chance is seen to within; players are counted from 0."""

    def movers(self) -> Sequence[int]:
        """The players who move now, all at once; none when the deal is over."""

    def moves(self, player: int) -> Iterable[str]:
        """The legal moves of a player, by name."""

    def view(self, player: int) -> str:
        """Return what a player sees."""

    def act(self, moves: Mapping[int, str]) -> None:
        """Let the players who move do so."""

    def points(self) -> Sequence[float] | None:
        """Return what every player has; None where a deal that was broken off counts nothing."""

    def end(self) -> str:
        """Return how it looks to one who sees everything."""

    def oracle(self, player: int) -> Any:
        """Return what a house player's search begins with: plain data, equal where the deal is."""


@dataclass(frozen=True, kw_only=True)
class Library:
    """Another library: the first word of its games' names, the extra that installs it, the modules and the
    package that it is, its license and its list; one deal of a game between so many from a seed; how a house
    player moves; the matches of a demo."""

    name: str
    modules: tuple[str, ...]
    package: str
    license: str
    listed: Callable[[], Mapping[str, AdaptedGame]]
    world: Callable[[AdaptedGame, int, str], Deal]
    house: House
    demo: int = 60

    @property
    def missing(self) -> str:
        """The extra that is not installed; empty when it is."""
        return "" if all(find_spec(module) for module in self.modules) else self.name

    def spec(self, name: str) -> GameSpec[Any]:
        """The game of that name of the list. Raises KeyError."""
        return _spec(self, name)


@cache
def entries(name: str) -> Mapping[str, AdaptedGame]:
    """A list, from its file."""
    listed = msgspec.convert(toml("peerage.games", name), dict[str, AdaptedGame])
    return {
        name: msgspec.structs.replace(
            entry, rules=entry.rules.replace("{cut}", CUT.format(moves=entry.moves))
        )
        for name, entry in listed.items()
    }


class TwoRules(GameRules):
    """Settings of a game of another library for two."""

    deals: int = Field(0, ge=0, le=100, description="Deals in a match; 0: as many as suit the game.")
    max_tokens: MaxTokens = 1_000


def _rules(entry: AdaptedGame) -> type[TwoRules]:
    """Return the settings of a game, with its seats where it can be played with more or fewer."""
    fewest, most = entry.players
    if fewest == most:
        return TwoRules
    about = "Players in a match, when there are enough."
    seats = Field(entry.seats, ge=fewest, le=most, description=about)
    return create_model("ManyRules", __base__=TwoRules, seats=(int, seats))


class Forfeit(Exception):
    """Seats that named no legal move."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)


def play(table: GameTable, library: Library, entry: AdaptedGame) -> Steps[Outcome]:
    """One match of all seats of `table`."""
    labels = [seat.label for seat in table.seats]
    seed = str(table.drawn["seed"])
    order = Random(f"{seed}/order").sample(labels, len(labels))
    record: list[dict[str, Any]] = []
    lost: Sequence[str] = ()
    earlier = EarlierDeals(Showdown(entry.hidden, entry.shown, entry.fold), labels)
    try:
        for number in range(1, deals_of(table.rules, entry) + 1):
            turned = [*order[(number - 1) % len(order) :], *order][: len(order)]
            recorded: dict[str, Any] = {"players": turned}
            record.append(recorded)
            yield from deal(table, library, entry, seed, number, recorded, earlier)
    except Forfeit as forfeit:
        lost = forfeit.labels
    ranked = {label: label not in lost for label in labels} if lost else earlier.points
    return Outcome(
        scores=by_rank(ranked),
        detail={
            "decided": "by an illegal move" if lost else "by play",
            "forfeited": [*lost],
            "points": {} if lost else earlier.points,
            "deals": record,
        },
    )


def deal(
    table: GameTable,
    library: Library,
    entry: AdaptedGame,
    seed: str,
    number: int,
    recorded: dict[str, Any],
    earlier: EarlierDeals,
) -> Steps[None]:
    """One deal between the players of `recorded`, after the `earlier` ones, to which it is added."""
    players: list[str] = recorded["players"]
    world, move = library.world(entry, len(players), f"{seed}/deal/{number}"), 0
    recorded["moves"] = moves_sent = list[str]()
    while move < entry.moves and (movers := world.movers()):
        move += 1
        at = number, move
        replies = yield [_ask(table, entry, world, at, player, players, earlier) for player in movers]
        chosen = {
            player: reply.value.choice
            for player, reply in zip(movers, replies, strict=True)
            if reply.ok and isinstance(reply.value, Chosen)
        }
        if lost := [players[player] for player in movers if player not in chosen]:
            recorded["end"] = world.end()[:VIEW_CHARS]
            raise Forfeit(lost)
        moves_sent += [f"{players[player]}: {name}" for player, name in chosen.items()]
        world.act(chosen)
    ended = world.points()
    points = [0.0] * len(players) if ended is None else ended
    recorded |= {"points": [*points], "end": world.end()[:VIEW_CHARS], "cut": ended is None}
    earlier.add(world.view, recorded)


def _ask(
    table: GameTable,
    entry: AdaptedGame,
    world: Deal,
    at: tuple[int, int],
    player: int,
    players: Sequence[str],
    earlier: EarlierDeals,
) -> Ask:
    """The request for a move; `at` counts deals and moves."""
    rules: TwoRules = table.rules
    (number, move), label = at, players[player]
    expects = move_format("move", world.moves(player), cased=entry.cased, reason_chars=REASON_CHARS)
    count = deals_of(rules, entry)
    others = len(table.seats) - 1
    fill = {
        "title": entry.title,
        "others": "one other language model" if others == 1 else f"{others} other language models",
        "rules": entry.rules,
        "deals": "one deal" if count == 1 else f"{count} deals",
        "scoring": SCORING,
        "deal": str(number),
        "deals_count": str(count),
        "me": str(player),
        "earlier": earlier.shown_to(label, players),
        "view": world.view(player).rstrip()[-VIEW_CHARS:],
    }
    key = f"deal/{number}/{move}/{label}"
    prompt: Prompt = texts(TEXTS, rules.texts)["move"]
    return prompt.ask(label, key, expects, fill, rules.max_tokens, oracle=world.oracle(player))


def deals_of(rules: TwoRules, entry: AdaptedGame) -> int:
    """Return how many deals a match has."""
    return rules.deals or entry.deals


def asks(rules: TwoRules, fixture: Fixture, entry: AdaptedGame) -> Iterator[Asks]:
    """Each seat makes some of the moves of each deal; at most it makes all of them."""
    deals = deals_of(rules, entry)
    expects = LegalMove("move", (), reason_chars=REASON_CHARS)
    move: Prompt = texts(TEXTS, rules.texts)["move"]
    prompt = Prompt(move.system + entry.rules, move.user)
    usual = deals * entry.turns
    yield Asks(
        "contestant",
        prompt,
        expects,
        deals * entry.moves,
        rules.max_tokens,
        2 * VIEW_CHARS + 2 * MOST_CHARS,
        usual=usual,
        usual_quoted=200 + 25 * (deals - 1) if entry.hidden else 200,
        usual_output=100,
    )


def show(fixture: Fixture, outcome: Outcome, replies: Replies, entry: AdaptedGame) -> Iterator[Block]:
    """The rules, deal by deal the moves and how it ended, and the result."""
    detail = outcome.detail
    yield Heading(f"The game: {entry.title}")
    yield TaskText(entry.rules)
    for number, deal in enumerate(detail.get("deals", ()), 1):
        sides = entry.sides or [f"player {at}" for at in range(len(deal["players"]))]
        who = ", ".join(f"{label} is {side}" for label, side in zip(deal["players"], sides, strict=True))
        yield Heading(f"Deal {number}")
        yield Sentence(f"{who}.", "quiet")
        yield Sentence(_line(deal["moves"], numbered=entry.cased))
        if end := deal.get("end"):
            by_label = partial(_labelled, deal["players"])
            shown = re.sub(r"(^P|p)layer (\d)", by_label, end, flags=re.MULTILINE) if entry.ends else end
            position, _, note = shown.partition("\n\n") if entry.ends else (end, "", "")
            yield board(position, entry.figures)
            if note:
                yield Sentence(note)
        if "points" in deal:
            came = zip(deal["players"], deal["points"], strict=True)
            gained = "; ".join(f"{label} {f'{points:+g}' if points else '0'}" for label, points in came)
            cut = f"It was cut after {entry.moves} moves, so it is a draw. " if deal.get("cut") else ""
            yield Sentence(f"{cut}{gained if any(deal['points']) else 'Nobody gained a point'}.")
    lost = detail.get("forfeited", ())
    wins = f"{' and '.join(lost)} named no legal move, and loses by that." if lost else ""
    why = {label: f"{points:+g} points" for label, points in detail.get("points", {}).items()}
    no_result = {"no_answer": "The provider of a player failed, so there is no result."}
    yield from ending(fixture, outcome, wins, why, no_result)


def _labelled(players: Sequence[str], number: re.Match[str]) -> str:
    """Return a player's label in place of its number, as wide as that where a line begins with it."""
    label = players[int(number[2])]
    return label.ljust(len(number[0])) if number[1] == "P" else label


def _line(moves: Sequence[str], *, numbered: bool) -> str:
    """Return the moves of a deal, each with who made it; those of chess in pairs that are `numbered`."""
    if not numbered:
        return "; ".join(moves) + "." if moves else "Nobody moved."
    names = [move.partition(": ")[2] for move in moves]
    pairs = [" ".join(names[at : at + 2]) for at in range(0, len(names), 2)]
    return " ".join([f"{number}. {pair}" for number, pair in enumerate(pairs, 1)]) or "Nobody moved."


_ROW = re.compile(r"\s*\d{0,2} ?([^\s\d](?: ?[^\s\d])+)\s*\d{0,2}\s*")
"""A row of a board: one sign a square, blanks between them or none, the row's number before or after it."""


def board(text: str, figures: str = "") -> Board:
    """Return a position as its library prints it: as squares where it has rows of as many single signs each,
    one below the other, else as it is. A placement of chess (FEN) is written out. `figures` are stones on
    lines: pairs of the sign that is printed and the one that is shown."""
    first = text.split(" ")[0]
    if first.count("/") == 7:
        ranks = re.sub("[1-8]", lambda found: "." * int(found[0]), first).split("/")
        if all(len(rank) == 8 for rank in ranks):
            return Board(tuple(ranks), squared=True)
    lines = text.rstrip().split("\n")
    found = [(line, match[1].replace(" ", "")) for line in lines if (match := _ROW.fullmatch(line))]
    rows = [(line, row) for line, row in found if row.lower() != ascii_lowercase[: len(row)]]
    wide = Counter([len(row) for _, row in rows]).most_common(1)[0][0] if rows else 0
    kept = [line for line, row in rows if len(row) == wide]
    begin = lines.index(kept[0]) if kept else 0
    indents = {len(line) - len(line.lstrip()) for line in kept}  # slanted rows are no squares
    if min(wide, len(kept)) > 2 and len(indents) == 1 and lines[begin : begin + len(kept)] == kept:
        signs = str.maketrans(figures[::2], figures[1::2])
        squared = tuple([row.translate(signs) for _, row in rows if len(row) == wide])
        return Board(squared, squared=True, lines=bool(figures))
    return Board(tuple(lines))


def draw(rules: TwoRules, secret: str, number: int) -> dict[str, Any]:
    """Return what all chance of match `number` follows from."""
    return {"seed": sha256(f"{secret}/deals/{number}".encode()).hexdigest()[:32]}


@cache
def _spec(library: Library, name: str) -> GameSpec[Any]:
    entry = library.listed()[name]
    return GameSpec(
        name=f"{library.name}-{name}",
        version=10,
        texts=TEXTS,
        about=entry.about,
        contestants=entry.players,
        rules=_rules(entry),
        play=partial(play, library=library, entry=entry),
        asks=partial(asks, entry=entry),
        page=f"{entry.title}. {entry.rules}\n\nA match has {entry.deals} deals unless `deals` says "
        f"otherwise. {'Players meet once in each seat, dealt the same. ' * entry.series}A reply that names "
        "no legal move, also after one repair, loses the match. From "
        f"{library.package} "
        f'({library.license}): `pip install "peerage[{library.name}]"`.',
        draw=draw,
        house=library.house,
        show=partial(show, entry=entry),
        seating=Seating(rotates=lambda rules: entry.chance, series=lambda rules: entry.series),
        converses=lambda rules: entry.hidden and deals_of(rules, entry) > 1,
        secrecy=Secrecy(hides=entry.hidden, unshown=("seed",)),
        needs=Needs(extra=lambda rules: library.missing),
        demo=Demo(entry.demo or library.demo),
    )
