"""Stepping a match: sequences, branches, voids, repairs, and the faults of a game told plainly."""

from __future__ import annotations

from collections.abc import Generator
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct
from tests.engine.games import ask, drive, yes

from peerage.engine.match.driver import REPAIR_CHARS, GameError
from peerage.game.match import GameTable, Outcome
from peerage.game.protocol import Json, Quote, Reply, Text, Together, Voided

WON = Outcome(scores={"A": 1.0, "B": 0.0})


def done(_: GameTable) -> Generator[Any, Any, Outcome]:
    return WON
    yield


def test_a_game_that_asks_nothing_ends_at_once() -> None:
    driver = drive(done)
    assert driver.start() == []
    assert driver.outcome == WON


def test_a_list_is_asked_at_once_and_answered_in_its_order_whatever_comes_first() -> None:
    seen: list[Any] = []

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        replies = yield (ask(f"k{i}") for i in range(3))
        seen.extend(reply.text for reply in replies)
        return WON

    driver = drive(play)
    assert [request.key for request in driver.start()] == ["k0", "k1", "k2"]
    for key in ("k2", "k0"):
        assert driver.feed(key, Reply("ok", f'{{"vote": "yes", "reason": "{key}"}}')) == []
        assert driver.outcome is None
    driver.feed("k1", yes())
    assert driver.outcome is not None
    assert ["k0" in seen[0], "k2" in seen[2]] == [True, True]


def test_an_empty_list_costs_nothing() -> None:
    got: list[Any] = []

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        got.append((yield []))
        got.append((yield [ask("k")]))
        got.append((yield iter([])))
        return WON

    driver = drive(play)
    assert [request.key for request in driver.start()] == ["k"]
    driver.feed("k", yes())
    assert got[0] == [] == got[2]
    assert [reply.value.choice for reply in got[1]] == ["yes"]
    assert driver.outcome is not None


def test_together_prefixes_keys_at_every_depth_and_gathers_by_name() -> None:
    got: list[Any] = []

    def leaf(name: str) -> Generator[Any, Any, str]:
        first = yield ask("k")
        second = yield [ask("l1"), ask("l2")]
        return name + first.value.choice + second[1].value.choice

    def branch() -> Generator[Any, Any, Any]:
        inner = yield Together({"x": leaf("x"), "y": leaf("y")})
        return inner

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        got.append((yield Together({"one": branch(), "two": leaf("two"), "none": empty()})))
        return WON

    def empty() -> Generator[Any, Any, str]:
        return "nothing"
        yield

    driver = drive(play)
    todo = driver.start()
    assert {request.key for request in todo} == {"one/x/k", "one/y/k", "two/k"}
    asked = []
    while todo:
        request = todo.pop()
        asked.append(request.key)
        todo += driver.feed(request.key, yes())
    assert len(asked) == 9
    assert got == [{"one": {"x": "xyesyes", "y": "yyesyes"}, "two": "twoyesyes", "none": "nothing"}]


def test_together_of_branches_that_end_at_once_and_of_none() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        both = yield Together({"a": done(_), "b": done(_)})
        none = yield Together({})
        assert set(both) == {"a", "b"}
        assert none == {}
        return Outcome(void="fine")

    driver = drive(play)
    assert driver.start() == []
    assert driver.outcome == Outcome(void="fine")


def test_a_void_in_a_branch_reaches_its_parent_only_when_all_branches_have_ended() -> None:
    caught: list[str] = []

    def fails(reason: str) -> Generator[Any, Any, None]:
        yield ask("k")
        raise Voided(reason)

    def slow() -> Generator[Any, Any, None]:
        yield ask("k1")
        yield ask("k2")

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        try:
            yield Together({"slow": slow(), "first": fails("first"), "second": fails("second")})
        except Voided as voided:
            caught.append(str(voided))
        yield ask("after")
        return WON

    driver = drive(play)
    driver.start()
    driver.feed("second/k", yes())
    driver.feed("first/k", yes())
    assert caught == []
    assert [request.key for request in driver.feed("slow/k1", yes())] == ["slow/k2"]
    assert caught == []
    assert [request.key for request in driver.feed("slow/k2", yes())] == ["after"]
    assert caught == ["first"]  # by the order of the names, not of the replies
    driver.feed("after", yes())
    assert driver.outcome == WON


def test_an_uncaught_void_voids_the_match_with_its_reason() -> None:
    def deep() -> Generator[Any, Any, None]:
        yield ask("k")
        raise Voided("no paper")

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        yield Together({"a": deep()})
        raise AssertionError("the parent went on")

    driver = drive(play)
    driver.start()
    driver.feed("a/k", yes())
    assert driver.outcome == Outcome(void="no paper")


def test_an_unusable_reply_is_asked_for_once_more_with_what_was_said() -> None:
    got: list[Reply] = []

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        got.append((yield ask("k", text="Vote.")))
        return WON

    driver = drive(play)
    driver.start()
    (repair,) = driver.feed("k", Reply("ok", "perhaps", cost_nano=5, input_tokens=3, latency_ms=10))
    assert repair.key == "k~repair"
    assert [message.speaker for message in repair.messages] == ["user", "assistant", "user"]
    assert repair.messages[1].fill["said"] == Quote("", "perhaps", "k")
    assert '"yes" | "no"' in repair.messages[2].fill["instruction"]  # type: ignore[operator]
    driver.feed("k~repair", yes(cost_nano=7, input_tokens=4, latency_ms=20))
    (reply,) = got
    assert (reply.status, reply.value.choice, reply.key) == ("ok", "yes", "k~repair")
    assert (reply.cost_nano, reply.input_tokens, reply.latency_ms) == (12, 7, 30)


def test_of_a_long_unusable_reply_the_repair_shows_the_beginning() -> None:

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        yield ask("k", text="Vote.")
        return WON

    driver = drive(play)
    driver.start()
    (repair,) = driver.feed("k", Reply("ok", "perhaps " * 1_000))
    assert repair.messages[1].fill["said"] == Quote("", "perhaps " * (REPAIR_CHARS // 8), "k")


@pytest.mark.parametrize(
    ("second", "status", "cost"),
    [
        (Reply("ok", "still not", cost_nano=7), "invalid", 12),
        (Reply("refused", "no", cost_nano=7), "refused", 12),
        (Reply("void", cost_nano=0, reason="down"), "void", 5),
        (Reply("ok", '{"vote": "no"}'), "ok", None),
    ],
)
def test_what_a_repair_may_come_to(second: Reply, status: str, cost: int | None) -> None:
    got: list[Reply] = []

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        got.append((yield ask("k")))
        return WON

    driver = drive(play)
    driver.start()
    driver.feed("k", Reply("ok", "", cost_nano=5))
    assert driver.feed("k~repair", second) == []
    assert (got[0].status, got[0].cost_nano) == (status, cost)


@pytest.mark.parametrize("status", ["refused", "void"])
def test_only_a_format_is_repaired(status: Any) -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        reply = yield ask("k", expects=Text())
        return Outcome(void=reply.status)

    driver = drive(play)
    driver.start()
    assert driver.feed("k", Reply(status)) == []
    assert driver.outcome == Outcome(void=status)


def test_a_reply_nobody_waits_for_is_refused() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        yield [ask("k"), ask("l")]
        return WON

    driver = drive(play)
    driver.start()
    driver.feed("k", yes())
    for key in ("k", "never"):
        with pytest.raises(KeyError):
            driver.feed(key, yes())


def unprefixed(_: GameTable) -> Generator[Any, Any, Outcome]:
    yield [ask("a/k")]
    yield Together({"a": iter_one("k")})
    return WON


def iter_one(key: str) -> Generator[Any, Any, None]:
    yield ask(key)


def forgotten(_: GameTable) -> Generator[Any, Any, Outcome]:
    yield (x for x in [[ask("k")]])
    return WON


def listed(*requests: Any) -> Any:
    def play(_: GameTable) -> Generator[Any, Any, Any]:
        for request in requests:
            _ = yield request
        return {"not": "an outcome"}

    return play


def crashes(_: GameTable) -> Generator[Any, Any, Outcome]:
    yield ask("k")
    return {}["no such seat"]


@pytest.mark.parametrize(
    ("play", "message"),
    [
        (listed([ask("k"), ask("k")]), "'k' twice"),
        (listed(ask("k"), ask("k")), "'k' twice"),
        (unprefixed, "'a/k' twice"),
        (listed(ask("k~repair")), "the engine's"),
        (listed(ask("k", to="C")), "'C', which it does not have; its seats are A, B"),
        (listed(3), "yielded int"),
        (listed("text"), "holds str"),
        (forgotten, "yield from"),
        (listed(), "returned dict; an Outcome"),
        (crashes, "raised KeyError"),
    ],
)
def test_a_game_that_breaks_its_contract_is_named_with_its_match(play: Any, message: str) -> None:
    def through() -> None:
        todo = driver.start()
        while todo:
            todo += driver.feed(todo.pop().key, yes())

    driver = drive(play)
    with pytest.raises(GameError, match=r"game 'tiny', match 7 ") as caught:
        through()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("scores", "fault"), [({"A": 1.0}, "scored 1"), ({}, "scored 0"), ({"A": 1.0, "Z": 0.0}, "'Z'")]
)
def test_a_decided_match_ranks_two_of_its_contestants_at_least(scores: dict[str, float], fault: str) -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        return Outcome(scores=scores)
        yield

    with pytest.raises(GameError, match=fault):
        drive(play).start()


class Careless(Text, frozen=True):
    """A format whose author forgot a case."""

    def parse(self, text: str) -> str:
        return text.split()[3]


def test_a_format_that_fails_is_the_fault_of_the_game() -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        yield ask("k", expects=Careless())
        return WON

    driver = drive(play)
    driver.start()
    with pytest.raises(GameError, match=r"tiny.*Careless.*'k' raised IndexError.*is a FormatError"):
        driver.feed("k", Reply("ok", "too short"))


@pytest.mark.parametrize("expects", [{"not": "a format"}, Text, None, "yes or no"])
def test_what_is_no_format_is_refused_before_anybody_is_asked(expects: Any) -> None:
    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        yield ask("k", expects=expects)
        return WON

    with pytest.raises(GameError, match=r"reply to 'k'; an object with the methods of"):
        drive(play).start()


class Bid(Struct, frozen=True):
    amount: Annotated[int, Meta(ge=0, le=9)]


def test_any_struct_is_asked_for_and_repaired() -> None:
    got: list[Reply] = []

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        got.append((yield ask("k", expects=Json(Bid))))
        return WON

    driver = drive(play)
    driver.start()
    [again] = driver.feed("k", Reply("ok", 'I bid {"amount": 12}'))
    assert again.key == "k~repair"
    assert again.messages[-1].fill["problem"] == '"amount" is 12; a whole number from 0 to 9 was expected'
    driver.feed("k~repair", Reply("ok", '{"amount": 9}'))
    assert got[0].value == Bid(9)
