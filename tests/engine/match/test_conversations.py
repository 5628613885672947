"""Memory within a match: a seat's own earlier turns, and nothing else, whatever comes first."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.games import FIXTURE, NoRules, ask, game

from peerage.engine.match.driver import Driver
from peerage.engine.match.plans import first_fixtures
from peerage.formats import Text
from peerage.game.match import TOKEN_BYTES, Fixture, GameTable, Outcome
from peerage.game.programs.tools import with_python
from peerage.game.protocol import Ask, Message, Quote, Reply, Together, fence, size_of
from peerage.game.spec import Needs
from peerage.games import GAMES
from peerage.ledger.forms.codec import by_hex, fixture_body, read_fixture
from peerage.ledger.forms.codec_requests import read_request, request_body
from peerage.settings import ArenaSettings
from peerage.settings.players.sessions import SESSION_TOKENS
from peerage.standings.fold import NOBODY
from peerage.testing import offline

WON = Outcome(scores={"A": 1.0, "B": 0.0})
BOTH = msgspec.structs.replace(FIXTURE, sessions={"A": 8_000, "B": 8_000})


def words(key: str, to: str, said: Quote | str = "") -> Ask:
    system = Message("system", "Rules of {me}.", {"me": to})
    return Ask(
        to, key, "contestant", (system, Message("user", "Ask {k}: {q}", {"k": key, "q": said})), Text(), 100
    )


def rounds(_: GameTable) -> Generator[Any, Any, Outcome]:
    """Two seats, three rounds; then two threads of B side by side, and a last question to each."""
    heard: dict[str, str | Quote] = {"A": "", "B": ""}
    for number in range(1, 4):
        a, b = yield [words(f"{number}/{to}", to, heard[to]) for to in "AB"]
        heard = {"A": Quote.of("B", b), "B": Quote.of("A", a)}
    yield Together({"x": thread(), "y": thread()})
    yield words("last/A", "A")
    yield words("last/B", "B")
    return WON


def thread() -> Generator[Any, Any, None]:
    yield words("p/B", "B")
    yield words("q/B", "B")


def played(
    play: Any = rounds, fixture: Fixture = BOTH, seed: int = 0, replies: Mapping[str, Reply] = {}
) -> dict[str, Ask]:
    """Every request of a match by key, answered in an order that follows from `seed`."""
    spec = replace(game(play), needs=Needs(sandbox=lambda rules: True))
    driver, order = Driver(spec, fixture, NoRules()), Random(seed)
    waiting, asked = driver.start(), dict[str, Ask]()
    while waiting:
        request = waiting.pop(order.randrange(len(waiting)))
        if isinstance(request, Ask):
            asked[request.key] = request
        waiting += driver.feed(request.key, replies.get(request.key, Reply("ok", f"reply to {request.key}")))
    assert driver.outcome == WON
    return asked


def past(request: Ask) -> list[str]:
    return [turn.key for turn in request.past]


def test_a_request_comes_after_what_its_own_seat_was_asked_and_replied() -> None:
    asked = played()
    assert past(asked["1/A"]) == []
    assert past(asked["3/A"]) == ["1/A", "2/A"]
    shown = asked["3/A"].shown("s")
    assert [speaker for speaker, _ in shown] == ["system", *["user", "assistant"] * 2, "user"]
    assert shown[2] == ("assistant", "reply to 1/A")
    assert shown[0] == ("system", "Rules of A."), "only once, and first"


def test_branches_side_by_side_know_nothing_of_each_other_until_both_have_ended() -> None:
    asked = played()
    before = ["1/B", "2/B", "3/B"]
    assert past(asked["x/q/B"]) == [*before, "x/p/B"]
    assert past(asked["y/q/B"]) == [*before, "y/p/B"]
    assert past(asked["last/B"]) == [*before, "x/p/B", "x/q/B", "y/p/B", "y/q/B"]
    assert past(asked["last/A"]) == ["1/A", "2/A", "3/A"]


@given(st.integers(0, 10**6))
def test_the_same_replies_give_the_same_requests_whatever_comes_first(seed: int) -> None:
    assert {key: request_body(made) for key, made in played(seed=seed).items()} == {
        key: request_body(made) for key, made in played().items()
    }


@given(st.integers(0, 10**6))
def test_nothing_of_another_seat_is_ever_in_a_request_but_what_the_game_quotes(seed: int) -> None:
    for key, request in played(seed=seed).items():
        for speaker, text in request.shown("s"):
            if speaker == "assistant":
                assert text.endswith(f"/{request.to}"), key
        assert all(turn.key.endswith(f"/{request.to}") for turn in request.past)


def test_what_is_sent_first_stays_the_same_to_the_byte() -> None:
    asked = played()
    for before, after in (("1/A", "2/A"), ("2/A", "3/A"), ("3/A", "last/A")):
        earlier, later = asked[before].shown("s"), asked[after].shown("s")
        assert later[: len(earlier)] == earlier


def test_an_earlier_turn_keeps_the_markers_of_its_own_request() -> None:
    shown = dict(enumerate(text for _, text in played()["3/B"].shown("s")))
    assert fence("s", "2/B") in shown[3]
    assert fence("s", "3/B") not in shown[3]
    assert fence("s", "3/B") in shown[5]


def test_who_does_not_remember_is_asked_as_if_nobody_did() -> None:
    only_a = msgspec.structs.replace(FIXTURE, sessions={"A": 8_000})
    asked, nobody = played(fixture=only_a), played(fixture=FIXTURE)
    assert all(not request.past for key, request in asked.items() if request.to == "B")
    assert asked["3/B"] == nobody["3/B"]
    assert past(asked["3/A"])


def test_only_the_reply_that_counted_is_a_turn_and_none_that_declined_or_failed() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        for number in range(1, 7):
            yield ask(f"{number}")
        return WON

    yes = Reply("ok", '{"reason": "r", "vote": "yes"}')
    replies = {
        "1": Reply("ok", "rubbish"), "1~repair": yes,
        "2": Reply("refused", "No."),
        "3": Reply("void", reason="down"),
        "4": Reply("ok", "more rubbish"), "4~repair": Reply("ok", "still rubbish"),
        "5": Reply("ok", '{"vo', cut=100), "5~room": yes,
        "6": yes,
    }  # fmt: skip
    asked = played(play, replies=replies)
    assert past(asked["6"]) == ["1~repair", "4~repair", "5~room"]
    texts = [text for _, text in asked["6"].shown("s")]
    assert "rubbish" not in texts[1]
    assert texts[:2] == ["?", yes.text], "what was asked is the game's own request, not the repair"
    assert past(asked["5~room"]) == past(asked["5"]), "a second request comes after the same turns"


def test_the_oldest_turns_go_until_half_of_the_bound_is_left() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        for number in range(1, 40):
            yield words(f"{number}/A", "A")
        return WON

    most = 100
    bounded = msgspec.structs.replace(FIXTURE, sessions={"A": most})
    asked = list(played(play, bounded).values())
    sizes = [sum(size_of(turn.shown) for turn in request.past) for request in asked]
    assert max(sizes) <= 4 * most
    assert min(sizes[12:]) > most, "it keeps about half of its bound at least"
    newest = [request.past[-1].key for request in asked[1:]]
    assert newest == [f"{number}/A" for number in range(1, 39)]
    firsts = [request.past[0].key for request in asked[1:]]
    assert len(set(firsts)) < len(firsts) / 3, "so most requests begin as the one before"


def test_a_turn_that_is_longer_than_the_bound_is_left_out() -> None:
    tiny = msgspec.structs.replace(FIXTURE, sessions={"A": 1, "B": 1})
    assert not any(request.past for request in played(fixture=tiny).values())


def test_a_long_reply_does_not_cost_a_seat_what_it_remembers() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        for number in range(1, 7):
            yield words(f"{number}/A", "A")
        return WON

    bounded = msgspec.structs.replace(FIXTURE, sessions={"A": 100})
    huge, large = Reply("ok", "x" * 401), Reply("ok", "x" * 360)
    asked = played(play, bounded, replies={"3/A": huge, "5/A": large})
    assert past(asked["4/A"]) == ["1/A", "2/A"], "the long one is left out"
    assert past(asked["6/A"]) == ["5/A"], "of those that fit, the newest stays"


def test_turns_with_a_tool_are_one_turn_of_the_question() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        yield from with_python(words("first", "A"), 2)
        yield from with_python(words("second", "A"), 2)
        return WON

    program = Reply("ok", "```python\nprint(1)\n```")
    ran = Reply("ok", '{"status": "ok", "stdout": "1\\n"}')
    replies = {f"{key}/turn/1": program for key in ("first", "second")}
    asked = played(play, replies=replies | {f"{key}/run/1": ran for key in ("first", "second")})
    assert past(asked["first/turn/2"]) == [], "a request of its own holds the turns before it"
    assert past(asked["second/turn/1"]) == past(asked["second/turn/2"]) == ["first/turn/2"]
    speakers = [speaker for speaker, _ in asked["second/turn/1"].shown("s")]
    assert speakers == ["system", "user", "assistant", "user", "assistant", "user"]


def test_judges_and_requests_that_are_all_one_may_know_remember_nothing() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        yield words("1", "A")
        yield msgspec.structs.replace(words("2", "A"), role="judge")
        yield msgspec.structs.replace(words("3", "A"), verbatim=True)
        yield words("4", "A")
        return WON

    asked = played(play)
    assert [past(asked[key]) for key in "1234"] == [[], [], [], ["1"]]


def test_a_request_is_stored_with_references_and_reads_back() -> None:
    request = played()["last/B"]
    body, texts = request_body(request)
    assert b"reply to" not in body
    assert all("reply to" not in text for _, text in texts)
    assert len(body) < 300
    back = read_request(request.key, body, by_hex(dict(texts)), {}.__getitem__)
    assert isinstance(back, Ask)
    assert past(back) == past(request)
    sealed, _ = request_body(request, "secret")
    assert past(read_request(request.key, sealed, by_hex(dict(texts)), {}.__getitem__)) == past(request)  # type: ignore[arg-type]


def test_a_fixture_says_who_remembers_and_how_much() -> None:
    body, texts = fixture_body(BOTH)
    assert read_fixture(body, by_hex(dict(texts))).sessions == {"A": 8_000, "B": 8_000}
    assert b"sessions" not in fixture_body(FIXTURE)[0]


@pytest.mark.parametrize(
    ("game_name", "rules"),
    [("market", {"market": "prisoners-dilemma"}), ("market", {"market": "negotiation"}), ("werewolf", {})],
)
def test_the_plan_counts_earlier_turns_as_they_come(game_name: str, rules: dict[str, Any]) -> None:
    """The tokens that house players were asked lie below the plan, and above a third of it, for each call."""
    spec, players = GAMES[game_name], [f"p{place}" for place in range(8)]
    with_turns = offline.fixture(spec, players, rules)
    without = msgspec.structs.replace(with_turns, sessions={})
    planned, taken = list[float](), list[float]()
    for made in (with_turns, without):
        steps = offline.play(spec, made, offline.house(dict.fromkeys(players, "house:0.7"), made.seed)).steps
        taken.append(sum([step.reply.input_tokens or 0 for step in steps]) / len(steps))
        bounds = spec.bounds(spec.rules.model_validate(made.settings), made)
        calls = sum([bound.expected for bound in bounds])
        planned.append(sum([bound.expected * bound.usual_input_tokens for bound in bounds]) / calls)
    assert taken[0] > 1.2 * taken[1]
    assert taken[0] < planned[0] < 4 * taken[0]
    assert planned[0] > 1.2 * planned[1]
    parsed = spec.rules.model_validate(with_turns.settings)
    assert {bound.input_bytes for bound in spec.bounds(parsed, with_turns)} == {
        bound.input_bytes + TOKEN_BYTES * SESSION_TOKENS for bound in spec.bounds(parsed, without)
    }


@pytest.mark.parametrize(
    ("rules", "sessions"),
    [
        ({"market": "prisoners-dilemma"}, {"all": 500, "usual": SESSION_TOKENS}),
        ({"market": "negotiation", "seats": 3}, {"all": 500, "usual": SESSION_TOKENS}),
        ({"market": "negotiation", "seats": 3, "rounds": 1}, {}),
        ({"market": "voting"}, {}),
        ({"market": "voting", "rotate": False}, {"all": 500}),
    ],
)
def test_a_fixture_follows_the_players_setting_but_where_rules_want_nobody_to_remember(
    rules: dict[str, Any], sessions: dict[str, int]
) -> None:
    players = [
        {"model": "house:0.5", "name": name, **stated}
        for name, stated in {"all": {"session": 500}, "none": {"session": "none"}, "usual": {}}.items()
    ]
    settings = ArenaSettings.model_validate(
        {"game": "market", "rules": {"seats": 3, **rules}, "players": players, "seed": 1}
    )
    (fixture,) = first_fixtures(settings, NOBODY, 1)
    who = {seat.label: seat.player for seat in fixture.seats}
    assert {who[label]: tokens for label, tokens in fixture.sessions.items()} == sessions
