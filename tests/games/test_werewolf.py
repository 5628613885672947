"""Werewolf: who is dealt what, what nights and votes come to, and who may know of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from tests.golden.shown import view
from tests.offline import call, check, fixture, house, play, scripted

from peerage.game.blocks import CellMark, Private, Sentence, seen_by
from peerage.game.match import Fixture
from peerage.game.protocol import Ask, Choice, Reply
from peerage.games.werewolf import GAME
from peerage.games.werewolf.rules import WerewolfRules, parts, wolves_among
from peerage.games.werewolf.show import _lives
from peerage.ledger import LedgerError
from peerage.testing.offline import Played
from peerage.views.match.match import as_seen

PLAYERS = [f"p{at}" for at in range(10)]
LABELS = "ABCDEFG"
DEALT = "ABCDEFG"
"""Who is dealt to in what order: A and B are werewolves, C the seer, D the doctor, E to G villagers."""


def made(dealt: str = DEALT, **rules: Any) -> Fixture:
    """A match of seven in which the roles are dealt to the seats in this order."""
    order = [LABELS.index(label) for label in dealt] + [7, 8, 9]
    return msgspec.structs.replace(fixture(GAME, PLAYERS, rules), drawn={"dealt": order})


Said = str | Reply | None


def told(says: Mapping[str, Said] | Callable[[Ask], Said], dealt: str = DEALT, **rules: Any) -> Played:
    """A match in which seats choose as stated, by the beginning of the key; else nobody is chosen."""

    def answer(ask: Ask, player: str) -> str | Reply:
        found = (
            says(ask)
            if callable(says)
            else next((say for key, say in says.items() if ask.key.startswith(key)), None)
        )
        if found is not None:
            return found
        return "nobody" if isinstance(ask.expects, Choice) else "I sleep."

    played = play(GAME, made(dealt, **rules), scripted(answer))
    check(GAME, played)
    return played


def nights(played: Played) -> list[dict[str, Any]]:
    return [event for event in played.outcome.detail["events"] if event["event"] == "night"]


def votes(played: Played) -> list[dict[str, Any]]:
    return [event for event in played.outcome.detail["events"] if event["event"] == "vote"]


def text(ask: Ask) -> str:
    return "\n".join(said for _, said in call(ask).messages)


# ------------------------------------------------------------------------------------------------ roles


@pytest.mark.parametrize(("seats", "wolves"), [(5, 1), (6, 1), (7, 2), (8, 2), (9, 2), (10, 3)])
def test_every_table_has_its_roles(seats: int, wolves: int) -> None:
    rules = WerewolfRules(seats=seats)
    found = Counter(parts(rules, fixture(GAME, PLAYERS, {"seats": seats})).values())
    rest = {"villager": seats - wolves - 2} if seats - wolves - 2 else {}
    assert found == {"werewolf": wolves, "seer": 1, "doctor": 1} | rest
    assert wolves_among(WerewolfRules(wolves=3), seats) * 2 < seats


def test_players_who_change_seats_change_roles_and_over_a_turn_each_plays_each() -> None:
    rules, first = WerewolfRules(), fixture(GAME, PLAYERS, {}, number=5)
    had: dict[str, list[str]] = {seat.player: [] for seat in first.seats}
    for turn in range(len(first.seats)):
        names = [seat.player for seat in first.seats]
        turned = names[turn:] + names[:turn]
        seats = tuple(
            [
                msgspec.structs.replace(seat, player=name)
                for seat, name in zip(first.seats, turned, strict=True)
            ]
        )
        now = msgspec.structs.replace(first, seats=seats)
        roles = parts(rules, now)
        for seat in now.seats:
            had[seat.player].append(roles[seat.label])
    assert {tuple(sorted(own)) for own in had.values()} == {tuple(sorted(parts(rules, first).values()))}


def test_roles_follow_from_the_arenas_secret_and_even_out() -> None:
    rules = WerewolfRules()
    dealt = [GAME.draw(rules, "secret", number) for number in range(1, 701)]
    assert dealt == [GAME.draw(rules, "secret", number) for number in range(1, 701)]
    assert dealt != [GAME.draw(rules, "another", number) for number in range(1, 701)]
    first = Counter(one["dealt"].index(0) for one in dealt)
    assert all(40 <= first[place] <= 105 for place in range(10)), first


# ------------------------------------------------------------------------------------- nights and votes


def test_the_werewolves_kill_whom_they_agree_on_and_all_learn_its_role() -> None:
    played = told({"night/2/kill/": "E"}, days=2)
    assert nights(played)[1]["dead"] == "E"
    assert "night/2/kill/2/A" not in played.keys
    assert "player E is dead, and was a villager" in text(played.step("day/2/talk/1/F").ask)
    assert "day/2/talk/1/E" not in played.keys


def test_nobody_is_killed_in_the_first_night_and_only_the_seer_is_asked() -> None:
    played = told({}, days=1)
    asked = {key.removesuffix("~repair") for key in played.keys if key.startswith("night/")}
    assert asked == {"night/1/look/C"}
    assert nights(played)[0]["dead"] == ""
    assert "Morning 1" not in text(played.step("day/1/talk/1/F").ask)
    rules = WerewolfRules()
    calls = dict.fromkeys(LABELS, 0)
    for asks in GAME.asks(rules, made()):
        if asks.to in calls:
            calls[asks.to] += asks.calls
    assert (calls["A"], calls["C"], calls["D"], calls["E"]) == (2 * 4, 5, 4, 0)


def test_werewolves_who_disagree_are_asked_once_more_and_then_most_votes_count() -> None:
    played = told({"night/2/kill/1/A": "E", "night/2/kill/1/B": "F", "night/2/kill/2": "G"}, days=2)
    assert nights(played)[1]["dead"] == "G"
    once_more = text(played.step("night/2/kill/2/A").ask)
    assert "werewolf B chose F" in once_more
    split = told(
        {"night/2/kill/1/A": "E", "night/2/kill/1/B": "F", "night/2/kill/2/A": "F", "night/2/kill/2/B": "E"},
        days=2,
    )
    assert nights(split)[1]["dead"] == "F", "between equals the first letter's choice counts, not chance"


def test_a_player_whom_the_doctor_protects_lives_and_is_not_protected_twice_running() -> None:
    played = told(
        {"night/2/kill": "E", "night/2/protect": "E", "night/3/kill": "E", "night/3/protect": "E"}, days=3
    )
    assert [night["dead"] for night in nights(played)] == ["", "", "E"]
    asked = played.step("night/3/protect/D").ask
    assert "E" not in asked.expects.options  # type: ignore[attr-defined]
    assert "Not E again" in text(asked)


def test_the_seer_learns_of_a_player_whether_it_is_a_werewolf_and_only_the_seer() -> None:
    played = told({"night/1/look": "A"}, days=1)
    assert "you learned that player A is a werewolf" in text(played.step("day/1/talk/1/C").ask)
    others = [step for step in played.steps if step.ask.to != "C"]
    assert not [step.ask.key for step in others if "you learned" in text(step.ask)]
    innocent = told({"night/1/look": "E"}, days=1)
    assert "you learned that player E is no werewolf" in text(innocent.step("day/1/vote/C").ask)


def test_a_vote_puts_out_who_gets_most_and_nobody_where_two_get_as_many() -> None:
    played = told({"day/1/vote/E": "A", "day/1/vote/F": "A", "day/1/vote/A": "E", "day/2": "B"}, days=2)
    assert [vote["out"] for vote in votes(played)] == ["A", "B"]
    assert played.outcome.detail["won"] == "village"
    tied = told({"day/1/vote/E": "A", "day/1/vote/A": "E"}, days=1)
    assert votes(tied)[0]["out"] == ""
    assert "E for A" in text(
        told({"day/1/vote/E": "A", "day/1/vote/A": "E"}, days=2).step("day/2/vote/F").ask
    )


def test_the_side_that_won_ranks_above_and_within_it_who_lived_longer() -> None:
    """A and B are voted out on days 2 and 3; E dies in night 2, F in night 3."""
    played = told({"night/2/kill": "E", "day/2": "A", "night/3/kill": "F", "day/3": "B"})
    scores = played.outcome.scores
    assert sorted(scores, key=lambda label: (-scores[label], label)) == ["C", "D", "G", "F", "E", "B", "A"]
    assert scores["C"] == scores["D"] == scores["G"]
    assert len({scores[label] for label in "GFEBA"}) == 5


def test_werewolves_win_as_soon_as_they_are_as_many_or_when_the_days_are_over() -> None:
    few = told({"day/1/vote": "D", "night/2/kill": "C", "night/3/kill": "E"})
    assert few.outcome.detail["won"] == "wolves"
    assert len(nights(few)) == 3
    idle = told({}, days=3)
    assert idle.outcome.detail["won"] == "wolves"
    assert idle.outcome.scores["A"] == idle.outcome.scores["B"] > idle.outcome.scores["C"]


def test_a_reply_that_cannot_be_used_is_silence_or_nobody() -> None:
    played = told(
        {
            "day/1/talk/1/E": Reply("refused", "No."),
            "day/1/vote/F": "whom? I cannot say",
            "night/2/kill": Reply("refused", "No."),
        },
        days=2,
    )
    assert nights(played)[1]["victim"] == ""
    assert votes(played)[0]["votes"]["F"] == ""
    assert "Player E said nothing." in text(played.step("day/1/vote/A").ask)
    assert sorted(played.outcome.scores) == sorted(LABELS)


def test_who_is_lost_is_asked_no_more_and_unranked_while_the_others_play_on() -> None:
    played = told({"day/1/talk/1/E": Reply("void"), "day/1/vote": "A", "day/2/vote": "B"})
    assert played.outcome.detail["unranked"] == ["E"]
    assert played.outcome.detail["won"] == "village"
    after = played.keys[played.keys.index("day/1/talk/1/E") + 1 :]
    assert not [key for key in after if key.endswith("/E")]


def test_a_side_without_anybody_who_can_answer_leaves_no_result() -> None:
    assert told({"night/2/kill": Reply("void")}).outcome.void == "no_answer"
    one = told({"night/2/kill/1/A": Reply("void"), "day/2/vote": "A", "day/3/vote": "B"})
    assert one.outcome.void == ""
    assert one.outcome.detail["unranked"] == ["A"]
    left = told({"night/2/kill/1/A": Reply("void"), "day/2/vote": "B"})
    assert left.outcome.void == "no_answer", "B is out, and A, who lives, cannot be asked"
    assert left.keys[-1].startswith("day/2/vote/")


# ------------------------------------------------------------------------------------------ who may know


@pytest.mark.parametrize("number", range(1, 6))
def test_what_is_private_reaches_nobody_else(number: int) -> None:
    """Mark every reason: those of werewolves at night reach the pack, all other reasons nobody."""
    new = fixture(GAME, PLAYERS, {}, number=number, seed=f"s{number}")
    roles = parts(WerewolfRules(), new)
    usual = house(dict.fromkeys(PLAYERS, "house:0.5"), new.seed).of(GAME)
    marks: dict[str, str] = {}

    def marking(ask: Ask, player: str) -> Reply:
        reply = usual(ask, player)
        if not isinstance(ask.expects, Choice):
            return reply
        mark = f"secret-{ask.key.replace('/', '-')}-"
        marks[mark] = ask.key
        return Reply(
            "ok",
            f'{{"reason": "{mark}", "{ask.expects.field}": "{ask.expects.parse(reply.text).choice}"}}',
            cost_nano=1,
        )

    played = play(GAME, new, marking)
    pack = {label for label, part in roles.items() if part == "werewolf"}
    reached: set[str] = set()
    for step in played.steps:
        said = text(step.ask)
        for mark, key in marks.items():
            if mark in said:
                if key.endswith(f"/{step.ask.to}"):
                    continue  # its own, in its conversation
                assert "/kill/" in key, f"{step.ask.key} tells the reason of {key}"
                assert step.ask.to in pack, f"{step.ask.key} overhears {key}"
                reached.add(step.ask.to)
        if step.ask.to not in pack:
            assert "werewolves chose" not in said
            assert "The other werewolves" not in said
    hunted = any("/kill/" in key for key in marks.values())
    assert not reached if not hunted or len(pack) == 1 else reached <= pack


def test_a_villager_is_told_the_same_whoever_the_others_are() -> None:
    """Two deals that differ in everybody's role but G's: until somebody dies G cannot tell them apart."""
    says = {"night/1/look": "G"}
    for key in ("day/1/talk/1/G", "day/1/talk/2/G", "day/1/vote/G"):
        texts = {text(told(says, dealt, days=1).step(key).ask) for dealt in ("ABCDEFG", "CDABEFG", "EFDCBAG")}
        assert len(texts) == 1


def test_a_match_marks_who_saw_what_and_a_seat_is_shown_no_more() -> None:
    match = view("werewolf")
    roles = match.detail["roles"]
    seer = next(label for label, part in roles.items() if part == "seer")
    left = match.detail["left"]
    villager = next(label for label, part in roles.items() if part == "villager" and label not in left)
    said = [block.text for block in seen_by(match.blocks, villager) if isinstance(block, Sentence)]
    everything = [block.text for block in match.blocks if isinstance(block, Sentence)]
    private = [block.labels for block in match.blocks if isinstance(block, Private) and block.labels]
    assert (seer,) in private
    assert len(said) < len(everything)
    assert not [one for one in said if "is the seer" in one or "werewolves choose" in one]
    own = as_seen(match, villager)
    assert own.exchanges
    assert {one.label for one in own.exchanges} == {villager}
    assert own.detail == own.drawn == {}
    assert as_seen(match, match.player(villager)) == own
    with pytest.raises(LedgerError, match="nobody of match 1 is 'Zoe'; its seats are A "):
        as_seen(match, "Zoe")


def test_a_vote_is_marked_where_the_village_finds_a_werewolf_and_death_where_it_came() -> None:
    votes = {"A": "B", "B": "C", "C": "A", "D": "C", "E": None}
    events: list[dict[str, Any]] = [{"event": "night"}, {"event": "vote", "day": 1, "votes": votes}]
    roles = {"A": "werewolf", "B": "werewolf", "C": "seer", "D": "doctor", "E": "villager", "F": "villager"}
    left = {"F": 1, "C": 2}
    days, rows = _lives(roles, events, left)
    assert days == ["Day 1"]
    assert [getattr(rows[label][2], "text", rows[label][2]) for label in roles] == [
        *("B", "C", "A ✓", "C", "", ""),
    ]
    lives = [cell.text for _, cell, *_ in rows.values() if isinstance(cell, CellMark)]
    assert lives == ["alive", "alive", "out on day 1", "alive", "alive", "dead in night 1"]
    lives = [cell.text for _, cell, *_ in _lives(roles, events[:1], left)[1].values()]  # type: ignore[union-attr]
    assert lives == ["alive", "alive", "alive", "alive", "alive", "dead in night 1"]


def test_a_game_that_marks_nothing_shows_a_seat_its_own_requests() -> None:
    own = as_seen(view("bug-hunt"), "B")
    assert own.blocks == ()
    assert {one.label for one in own.exchanges} == {"B"}
