"""Chess, Go, backgammon, hold'em and bargaining: rules against published counts, views."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import msgspec
import pytest
from tests.offline import call, fixture, house, play, scripted

from peerage.formats import move_format
from peerage.game.blocks import Board, Sentence
from peerage.game.protocol import Ask
from peerage.games import GAMES, open_spiel, spiel_views
from peerage.games.open_spiel import SpielWorld, loaded
from peerage.games.spiel_views import SHOWINGS, STACK, area
from peerage.render.html.pictures import board as picture
from peerage.testing import CHECKS
from peerage.testing.conformance import memory_wins_nothing, skill_share, skill_wins

pyspiel = pytest.importorskip("pyspiel")

LISTED = open_spiel.LIBRARY.listed()
PLAYERS = [f"Zyxwv-{at}" for at in range(10)]
NEW = {
    "chess": {"deals": 1},
    "go-9x9": {"deals": 1},
    "backgammon": {"deals": 1},
    "holdem": {"deals": 3},
    "holdem-six": {"deals": 1, "seats": 4},
}


def world(name: str, seats: int = 2, seed: str = "s") -> SpielWorld:
    return SpielWorld(LISTED[name], seats, seed)


def state_of(name: str, seats: int = 2) -> Any:
    return pyspiel.load_game(loaded(LISTED[name], seats)).new_initial_state()


def played(name: str, *moves: str, seats: int = 2, seed: str = "s") -> SpielWorld:
    """A deal after these moves, made in turn."""
    deal = world(name, seats, seed)
    for move in moves:
        deal.act({deal.movers()[0]: move})
    return deal


# ------------------------------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize(
    "check",
    [each for each in CHECKS if each not in (memory_wins_nothing, skill_wins)],
    ids=lambda c: c.__name__,
)
def test_holds_what_every_game_must_hold(name: str, check: Any) -> None:
    """In deals that are cut after six moves, since checks make each reply of a match fail in turn."""
    entry = msgspec.structs.replace(LISTED[name], moves=6)
    spec = replace(open_spiel.LIBRARY, listed=lambda: {name: entry}).spec(name)
    check(spec, NEW[name])


@pytest.mark.parametrize(
    ("name", "matches"), [("chess", 4), ("go-9x9", 3), ("backgammon", 16), ("holdem", 24)]
)
def test_a_house_player_of_skill_wins(name: str, matches: int) -> None:
    assert skill_share(GAMES[f"openspiel-{name}"], {"deals": 1}, matches) >= 0.65


@pytest.mark.parametrize("name", [*NEW, "bargaining"])
def test_each_legal_move_has_a_name_of_its_own_and_is_read_back(name: str) -> None:
    """A reply that names a move makes that move, whatever others are legal."""
    seats = LISTED[name].seats if name == "holdem-six" else 2
    deal, rng = world(name, seats), Random(name)
    for _ in range(60):
        movers = deal.movers()
        if not movers:
            break
        names, legal = deal.moves(movers[0]), deal._state.legal_actions()
        if name != "backgammon":  # where the library has several actions for one move
            assert len(names) == len(legal)
        expects = _format(name, names)
        for move in rng.sample(list(names), min(12, len(names))):
            assert expects.parse(expects.write(move)).choice == move
            assert expects.option(move) == move
        deal.act({movers[0]: rng.choice(list(names))})


def _format(name: str, names: Mapping[str, int]) -> Any:
    return move_format("move", names, cased=LISTED[name].cased)


@pytest.mark.parametrize("name", LISTED)
def test_a_task_comes_back_in_a_series_where_something_is_dealt(name: str) -> None:
    entry = LISTED[name]
    mode = pyspiel.load_game(loaded(entry, entry.players[0])).get_type().chance_mode
    assert entry.chance is (mode != pyspiel.GameType.ChanceMode.DETERMINISTIC)
    assert entry.chance or not entry.series


@pytest.mark.parametrize("name", ["chess", "go-9x9", "backgammon"])
def test_a_request_does_not_grow_with_the_deal(name: str) -> None:
    game, rng = GAMES[f"openspiel-{name}"], Random(1)
    made = fixture(game, PLAYERS, {"deals": 1}, number=3)
    steps = play(game, made, scripted(lambda ask, player: ask.expects.write(ask.expects.sample(rng)))).steps
    sizes = [len(call(step.ask).messages[-1][1]) for step in steps]
    assert len(sizes) > 40
    assert max(sizes[len(sizes) // 2 :]) < 1.6 * max(sizes[: len(sizes) // 2])
    assert max(sizes) < 3_000


def test_a_deal_that_is_cut_is_a_draw_and_says_so() -> None:
    game = GAMES["openspiel-chess"]
    made = fixture(game, PLAYERS, {"deals": 1})
    rng = Random(2)
    outcome = play(
        game, made, scripted(lambda ask, player: ask.expects.write(ask.expects.sample(rng)))
    ).outcome
    (deal,) = outcome.detail["deals"]
    assert deal["cut"]
    assert len(deal["moves"]) == LISTED["chess"].moves
    assert outcome.scores == {"A": 0.5, "B": 0.5}
    texts = [block.text for block in game.show(made, outcome, {}) if isinstance(block, Sentence)]
    assert any("cut after 300 moves" in text for text in texts)
    assert "has not ended after 300 moves of all players together is a draw" in LISTED["chess"].rules


# ------------------------------------------------------------------------------------- chess

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def perft(state: Any, depth: int) -> int:
    """Legal games of so many moves, by the names that players are offered."""
    moves = SHOWINGS["chess"].moves(state, state.current_player())
    if depth == 1:
        return len(moves)
    return sum([perft(state.child(action), depth - 1) for action in moves.values()])


@pytest.mark.parametrize(
    ("fen", "counts"),
    [  # www.chessprogramming.org/Perft_Results
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", (20, 400, 8_902, 197_281)),
        (KIWIPETE, (48, 2_039, 97_862)),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", (14, 191, 2_812, 43_238)),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", (6, 264, 9_467)),
    ],
)
def test_chess_has_as_many_games_as_published(fen: str, counts: Sequence[int]) -> None:
    state = pyspiel.load_game("chess").new_initial_state(fen)
    assert tuple([perft(state, depth) for depth in range(1, len(counts) + 1)]) == tuple(counts)


@pytest.mark.parametrize(
    ("fen", "moves", "points"),
    [
        ("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", ["Qg7#"], [-1.0, 1.0]),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", ["Qf7"], [0.0, 0.0]),  # stalemate
        ("7k/8/8/8/8/8/6Kp/8 w - - 0 1", ["Kxh2"], [0.0, 0.0]),  # nobody can mate
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 99 80", ["Qf6+"], [0.0, 0.0]),  # fifty moves
        ("7k/8/8/8/8/8/8/R6K w - - 0 1", ["Ra2", "Kg8", "Ra1", "Kh8"] * 2, [0.0, 0.0]),  # third time
    ],
)
def test_a_game_of_chess_ends_by_its_rules(fen: str, moves: Sequence[str], points: Sequence[float]) -> None:
    state = pyspiel.load_game("chess").new_initial_state(fen)
    for move in moves:
        assert not state.is_terminal()
        state.apply_action(SHOWINGS["chess"].moves(state, state.current_player())[move])
    assert state.is_terminal()
    assert list(state.returns()) == points


def test_a_player_of_chess_sees_board_fen_and_last_moves() -> None:
    seen = played("chess", "e4", "e5", "Nf3", "Nc6", "Bb5").view(0)
    assert "8 r . b q k b n r\n7 p p p p . p p p\n6 . . n . . . . .\n5 . B . . p . . ." in seen
    assert "FEN: r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3" in seen
    assert "You play Black (small letters).\nLast moves: 1. e4 e5 2. Nf3 Nc6 3. Bb5" in seen
    shuffled = ["Nf3", "Nf6", "Ng1", "Ng8"]
    assert "on the board for the second time" in played("chess", *shuffled).view(1)
    long = played(
        "chess",
        "a3",
        "a6",
        *["Nf3", "Nf6", "Ng1", "Ng8"],
        *["e3", "e6", "d3", "d6"] * 1,
        *["c3", "c6"] * 1,
        *["b3", "b6", "h3", "h6", "g3", "g6", "f3", "f6", "Be2", "Be7", "Bd2", "Bd7"],
    )
    assert "Last moves: 3. Ng1 Ng8 4. e3" in long.view(1)


# ------------------------------------------------------------------------------------- Go


def go(*moves: str) -> SpielWorld:
    return played("go-9x9", *moves)


def test_stones_without_liberties_are_captured_and_suicide_is_not_legal() -> None:
    corner = go("A2", "A1", "B1")
    assert "1 . X . . . . . . ." in corner.view(1)  # the white stone in the corner is off
    assert "A1" not in corner.moves(1)
    assert "A1" in go("A2", "J9", "B1", "J8").moves(0)  # one's own eye may be filled


def test_a_ko_cannot_be_taken_back_at_once() -> None:
    ko = go("B1", "C1", "A2", "D2", "B3", "C3", "J9", "B2", "C2")  # Black captures at B2
    assert "B2" not in ko.moves(1)
    ko.act({1: "H1"})
    ko.act({0: "H9"})
    assert "B2" in ko.moves(1)


def test_two_passes_end_a_deal_which_is_counted_by_area() -> None:
    assert go("pass", "pass").points() == [-1.0, 1.0]  # 7.5 points for White
    wall = [move for row in range(1, 10) for move in (f"E{row}", f"J{row}" if row in (2, 4) else "pass")]
    deal = go(*wall, "pass")
    assert deal.points() == [1.0, -1.0]
    assert deal.end().endswith("Black has 45 points, White 2 and 7.5 more.")


@pytest.mark.parametrize(
    ("rows", "points"),
    [
        (["...", ".X.", "..."], (9, 0)),
        (["X.O", "X.O", "X.O"], (3, 3)),  # what reaches both is nobody's
        ([".XO.", ".XO.", ".XO.", ".XO."], (8, 8)),
        (["...", "...", "..."], (0, 0)),
    ],
)
def test_area_counts_stones_and_what_reaches_them_alone(rows: Sequence[str], points: tuple[int, int]) -> None:
    assert area(rows) == points


def test_area_agrees_with_the_library_on_who_wins() -> None:
    for seed in range(12):
        state, rng = pyspiel.load_game("go(board_size=9,komi=7.5)").new_initial_state(), Random(seed)
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        rows = re.findall(r"^ ?\d+ ([X+O]+)", str(state), re.MULTILINE)
        black, white = area([row.replace("+", ".") for row in rows])
        won = state.returns()[0]
        assert won == 0 or (won > 0) == (black > white + 7.5)


def test_stones_lie_on_lines_whose_columns_leave_out_i() -> None:
    game = GAMES["openspiel-go-9x9"]
    made = fixture(game, PLAYERS, {"deals": 1}, number=6)
    outcome = play(game, made, house(dict.fromkeys(PLAYERS, "house:0.5"), made.seed)).outcome
    (shown,) = [block for block in game.show(made, outcome, {}) if isinstance(block, Board)]
    assert shown.lines
    assert {*"".join(shown.rows)} <= {*"●○."}
    assert [len(row) for row in shown.rows] == [9] * 9
    drawn = picture(shown)
    assert drawn.count("<circle") == sum(row.count("●") + row.count("○") for row in shown.rows)
    assert ">J</text>" in drawn
    assert ">I</text>" not in drawn


# ------------------------------------------------------------------------------------- backgammon


def results(
    points: Mapping[int, int], other: set[int], dice: Sequence[int]
) -> set[tuple[tuple[int, int], ...]]:
    """Positions after both dice in either order, as far as each can be used: no bar, nothing borne off."""
    ends: set[tuple[int, tuple[tuple[int, int], ...]]] = set()
    for first, second in (dice, dice[::-1]):
        for after in _moved(points, other, first) or [dict(points)]:
            used = after != dict(points)
            then = _moved(after, other, second)
            ends |= {(used + 1, tuple(sorted(each.items()))) for each in then}
            ends |= set() if then else {(int(used), tuple(sorted(after.items())))}
    most = max(count for count, _ in ends)
    return {position for count, position in ends if count == most}


def _moved(points: Mapping[int, int], other: set[int], die: int) -> list[dict[int, int]]:
    return [
        dict(Counter(points) + Counter({start - die: 1}) - Counter({start: 1}))
        for start in points
        if start - die >= 1 and start - die not in other
    ]


def test_opening_rolls_have_as_many_plays_as_the_rules_give() -> None:
    """Positions after each of the fifteen opening rolls, of a generator here and of the moves offered."""
    start, other = {24: 2, 13: 5, 8: 3, 6: 5}, {1, 12, 17, 19}
    rolls = set()
    for action, _ in state_of("backgammon").chance_outcomes():
        state = state_of("backgammon")
        state.apply_action(action)
        player = state.current_player()
        dice = sorted(map(int, re.findall(r"\d", str(state).partition("Dice:")[2][:6])))
        rolls.add(tuple(dice))
        found = set()
        for move in SHOWINGS["backgammon"].moves(state, player).values():
            after = spiel_views.checkers(state.child(move))[player]
            found.add(tuple(sorted(after.points.items())))
        assert found == results(start, other, dice), dice
    assert len(rolls) == len([*combinations(range(1, 7), 2)]) == 15


def test_a_player_of_backgammon_sees_the_board_from_its_own_side() -> None:
    deal = world("backgammon")
    (first,) = deal.movers()
    rows = deal.view(first).split("\n")
    assert rows[0] == " 13  14  15  16  17  18 | 19  20  21  22  23  24"
    own, theirs = "XO"[first], "XO"[1 - first]
    assert rows[1] == f" {own}5   .   .   .  {theirs}3   . | {theirs}5   .   .   .   .  {own}2"
    assert rows[2] == f" {theirs}5   .   .   .  {own}3   . |  {own}5   .   .   .   .  {theirs}2".replace(
        "|  ", "| "
    )
    assert (
        f"Your checkers ({own}): 2 on 24, 5 on 13, 3 on 8, 5 on 6; on the bar 0, borne off 0; pips left 167"
        in rows
    )
    assert re.fullmatch(r"Your dice: [1-6] and [1-6]\.", rows[-1])


# ------------------------------------------------------------------------------------- hold'em


def run_down(hands: Sequence[str], table: str, actions: Sequence[int] = (), load: str = "") -> Any:
    """The end of a deal with these hands and table; actions in turn, then everybody calls."""
    name = "holdem" if len(hands) == 2 else "holdem-six"
    state = pyspiel.load_game(load or loaded(LISTED[name], len(hands))).new_initial_state()
    deck = [card for hand in hands for card in re.findall("..", hand)] + re.findall("..", table)
    left = list(actions)
    while not state.is_terminal():
        if state.is_chance_node():
            card = deck.pop(0)
            state.apply_action(4 * "23456789TJQKA".index(card[0]) + "cdhs".index(card[1]))
        else:
            state.apply_action(left.pop(0) if left else 1)
    return state


def test_cards_are_those_that_were_dealt() -> None:
    state = run_down(["AsKd", "2c7h"], "Td9s8h4c3d")
    assert re.findall(r"P\d Cards: (\w+)", str(state)) == ["AsKd", "7h2c"]
    assert spiel_views.table_cards(state).split()[3:] == ["4c", "3d"]


RANKED = [  # each beats the next on its table; en.wikipedia.org/wiki/List_of_poker_hands
    ("JhTh", "JsTs", "AhKhQh2c3d"),  # royal flush, straight
    ("9h8h", "AsAd", "7h6h5hAcAh"),  # straight flush, four of a kind
    ("AsAd", "KsKd", "AcAhKcKh2d"),  # four aces, four kings
    ("2s2h", "AsAd", "2c2dAcKh7d"),  # four of a kind, full house
    ("AsAd", "Ah9h", "AcKhKd5h2h"),  # full house, flush
    ("Ah9h", "TsJd", "KhQh5h9c2d"),  # flush, straight
    ("6s5d", "AsAd", "4c3h2dAcKh"),  # straight, three of a kind
    ("AsAd", "KsQd", "AcKhQh7c2d"),  # three of a kind, two pair
    ("KsQd", "AsJd", "KhQhAc7c2d"),  # two pair, one pair
    ("7s3d", "AsKd", "7hJc9d4c2d"),  # a pair, a high card
    ("AsKd", "AdQs", "7hJc9d4c2d"),  # the better kicker
]


@pytest.mark.parametrize(("better", "worse", "table"), RANKED)
def test_hands_rank_as_published(better: str, worse: str, table: str) -> None:
    held = re.findall("..", better + worse + table)
    if len({*held}) < len(held):
        pytest.fail(f"a card twice: {held}")
    assert list(run_down([better, worse], table, (STACK, 1)).returns()) == [STACK, -STACK]
    assert list(run_down([worse, better], table, (STACK, 1)).returns()) == [-STACK, STACK]


def test_equal_hands_share_the_pot_and_the_wheel_is_a_straight() -> None:
    assert list(run_down(["AsKd", "AdKs"], "7hJc9d4c2d", (STACK, 1)).returns()) == [0.0, 0.0]
    assert list(run_down(["As2d", "KdKs"], "3h4c5dKc9d", (STACK, 1)).returns()) == [STACK, -STACK]


def test_side_pots_go_to_those_who_paid_into_them() -> None:
    """Six with different stacks: the short stack with the best hand wins the main pot alone."""
    load = loaded(LISTED["holdem-six"], 6).replace(" ".join(["200"] * 6), "20 60 200 200 200 200")
    hands = ["AsAd", "KsKd", "QsQd", "JsJd", "7c2d", "8c3d"]
    # players 2 and 3 put in all, 4 and 5 fold, 0 and 1 call with what they have
    state = run_down(hands, "9h5h4sTc6s", (STACK, 1, 0, 0, 1, 1), load)
    # main pot 4 x 20 to aces; side pot 3 x 40 to kings; side pot 2 x 140 to queens
    assert list(state.returns()) == [80 - 20, 120 - 60, 280 - 200, -200, 0, 0]


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_no_chip_is_made_or_lost(seats: int) -> None:
    name = "holdem" if seats == 2 else "holdem-six"
    for seed in range(40):
        deal, rng = world(name, seats, str(seed)), Random(seed)
        while movers := deal.movers():
            expects = _format(name, deal.moves(movers[0]))
            deal.act({movers[0]: expects.sample(rng).choice})
        points = deal.points()
        assert points is not None
        assert sum(points) == 0
        assert all(-STACK <= each <= STACK * (seats - 1) for each in points)


def test_names_of_bets_count_the_chips_of_the_street() -> None:
    deal = world("holdem")
    assert deal.movers() == (0,)  # the button acts first before the flop
    assert {"fold", "call", "raise to 4", "raise to 200"} <= {*deal.moves(0)}
    assert "raise to 3" not in deal.moves(0)
    deal.act({0: "raise to 6"})
    assert min(int(name.split()[-1]) for name in deal.moves(1) if "raise" in name) == 10
    deal.act({1: "call"})
    assert deal.movers() == (1,)  # and last after it
    assert {"check", "bet 2", "bet 194"} == {*deal.moves(1)} & {
        "fold",
        "check",
        "bet 2",
        "bet 194",
        "bet 195",
    }
    deal.act({1: "bet 10"})
    seen = deal.view(0)
    assert "Pot: 22 chips. To call costs you 10." in seen
    assert "Before the flop: player 0: raise to 6; player 1: call\nFlop: player 1: bet 10" in seen
    assert (
        "For a bet or raise: 20 is the least, 26 is half the pot, 42 is the pot, 194 is all your chips."
        in seen
    )
    assert len(deal.view(0).split("\n")[1].split()) == len(["Cards", "on", "the", "table:", "1", "2", "3"])


def test_after_a_flop_that_nobody_raised_before_bets_count_from_nothing() -> None:
    deal = played("holdem", "call", "check")
    assert deal.movers() == (1,)
    assert {
        name for name in deal.moves(1) if name in ("bet 1", "bet 2", "bet 198", "bet 199", "bet 200")
    } == {
        "bet 2",
        "bet 198",
    }


def test_the_same_cards_come_when_seats_are_swapped() -> None:
    """Two matches of a series: one task, seats rotated, so each has the other's cards once."""
    game = GAMES["openspiel-holdem"]
    assert game.seating.rotates(game.rules())
    first = fixture(game, PLAYERS[:2], {"deals": 4}, number=1)
    second = fixture(game, PLAYERS[1::-1], {"deals": 4}, number=1)
    ends = []
    for made in (first, second):
        outcome = play(game, made, scripted(_fold)).outcome
        who = {seat.label: seat.player for seat in made.seats}
        ends.append(
            [
                {
                    who[label]: deal["end"].split(f"Player {at}  ")[1][:5]
                    for at, label in enumerate(deal["players"])
                }
                for deal in outcome.detail["deals"]
            ]
        )
    one, other = PLAYERS[:2]
    assert [{one: deal[other], other: deal[one]} for deal in ends[0]] == ends[1]


def _fold(ask: Ask, player: str) -> str:
    return ask.expects.write("fold")


# ------------------------------------------------------------------------------------- bargaining


def test_whoever_made_the_last_offer_keeps_it_and_the_other_gets_the_rest() -> None:
    deal = world("bargaining")
    assert deal.movers() == (0,)
    assert "agree" not in deal.moves(0)
    pooled, *worth = str(deal._state).split("\n")[:3]
    pool, *values = [[int(count) for count in re.findall(r": (\d+)", line)] for line in (pooled, *worth)]
    assert [sum(a * b for a, b in zip(pool, each, strict=True)) for each in values] == [10, 10]
    kept = f"keep {pool[0]} book{'s' * (pool[0] != 1)}, 0 hats, 0 basketballs"
    deal.act({0: kept})
    assert f"To divide: {pool[0]} book" in deal.view(1)
    assert f"Offers so far, 1 of 10: The other: {kept}." in deal.view(1)
    own, other = (f"a book {each[0]}, a hat {each[1]}, a basketball {each[2]}" for each in values[::-1])
    assert own in deal.view(1)
    assert own != other
    assert other not in deal.view(1)
    deal.act({1: "agree"})
    rest = sum(count * value for count, value in zip(pool[1:], values[1][1:], strict=True))
    assert deal.points() == [pool[0] * values[0][0], rest]


def test_ten_offers_without_agreement_are_worth_nothing() -> None:
    deal = world("bargaining")
    for offer in range(10):
        assert deal.movers() == (offer % 2,)
        deal.act({offer % 2: next(name for name in deal.moves(offer % 2) if name != "agree")})
    assert deal.movers() == ()
    assert deal.points() == [0.0, 0.0]
    assert "They did not agree." in deal.end()


@pytest.mark.parametrize(("name", "seats"), [("holdem", 2), ("holdem-six", 6)])
def test_raises_on_a_street_end_before_the_library_complains(
    name: str, seats: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its own limit is one that it writes to the terminal at every look at a position."""
    deal, chosen = world(name, seats), list[str]()
    while movers := deal.movers():
        moves = list(deal.moves(movers[0]))
        raises = [move for move in moves if move.startswith("raise")]
        waits = len(chosen) % (seats - 1) > 0  # so that others call in between
        chosen.append(raises[0] if raises and not waits else "call" if "call" in moves else "check")
        deal.act({movers[0]: chosen[-1]})
    assert len([move for move in chosen if move.startswith("raise")]) == 8
    assert sum(deal.points() or (1.0,)) == 0
    assert capfd.readouterr().err == ""
