"""The shipped checks find what is wrong with a game, and name it."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.golden.matches import again, difference, transcript

from peerage.formats import Choice, Color, Text
from peerage.game.bounds import QUOTE, Asks
from peerage.game.match import GameTable, Outcome, by_rank
from peerage.game.protocol import Ask, Message, Prompt, Quote, Reply, Steps
from peerage.game.spec import GameSpec
from peerage.testing import Unfair, fixture, house, play
from peerage.testing.conformance import (
    it_can_be_shown,
    it_ends_and_ranks_every_contestant,
    it_survives_failures,
    its_settings_are_sound,
    memory_wins_nothing,
    skill_wins,
    what_it_declares_holds,
    words_of_players_are_fenced,
)

SAY = Prompt("", "Say something.")
GUESS = Choice("guess", ("heads", "tails"))


def game(passed_on: Callable[[Reply], Message] | None, **more: Any) -> GameSpec[Any]:
    """Each says something; each then guesses after it was shown what the other said."""

    def play(table: GameTable) -> Steps[Outcome]:
        said: list[Reply] = yield [
            Ask(seat.label, f"say/{seat.label}", "contestant", SAY.messages({}), Text(200), 100)
            for seat in table.seats
        ]
        guesses: list[Reply] = yield [
            Ask(
                seat.label,
                f"guess/{seat.label}",
                "contestant",
                (Message("user", "Guess."), *([passed_on(other)] if passed_on and other.ok else [])),
                GUESS,
                100,
                oracle="heads",
            )
            for seat, other in zip(table.seats, said[::-1], strict=True)
        ]
        right = {
            seat.label: float(guess.ok and guess.value.choice == "heads")
            for seat, guess in zip(table.seats, guesses, strict=True)
        }
        return Outcome(scores=right)

    plain: dict[str, Any] = {
        "name": "telling",
        "about": "A game for tests.",
        "play": play,
        "asks": lambda rules, fixture: [
            Asks("contestant", SAY, Text(200), 1, 100),
            Asks("contestant", SAY, GUESS, 1, 100, quoted=200 + QUOTE),
        ],
    }
    return GameSpec(**(plain | more))


FENCED = game(lambda said: Message("user", "It said {said}", {"said": Quote.of("words", said, 200)}))


def test_an_honest_game_passes_whether_it_passes_words_on_or_not() -> None:
    for honest in (FENCED, game(None)):
        words_of_players_are_fenced(honest, {})
        what_it_declares_holds(honest, {})
        it_survives_failures(honest, {})
        skill_wins(honest, {})


@pytest.mark.parametrize(
    "leak",
    [
        lambda said: Message("user", "It said {said}", {"said": said.text}),
        lambda said: Message("user", "It said {said}", {"said": said.text.upper()}),
        lambda said: Message("user", "It said {said}", {"said": Quote("", said.text)}),
        lambda said: Message("assistant", "{said}", {"said": Quote("", said.text)}),
        lambda said: Message("user", "It began with {said}", {"said": said.text[:40]}),
    ],
    ids=["filled", "in capitals", "bare quote", "as one's own", "beginning"],
)
def test_a_leak_is_found_and_named(leak: Callable[[Reply], Message]) -> None:
    with pytest.raises(Unfair, match=r"reads in the request guess/. what another wrote in reply to say/."):
        words_of_players_are_fenced(game(leak), {})


def test_a_leak_in_words_of_a_choice_is_found() -> None:
    def play(table: GameTable) -> Steps[Outcome]:
        first, second = table.seats
        said: Reply = yield Ask(first.label, "one", "contestant", SAY.messages({}), GUESS, 100)
        told = said.value.reason if said.ok else ""
        message = Message("user", "It says {why}", {"why": told})
        yield Ask(second.label, "two", "contestant", (message,), GUESS, 100)
        return Outcome(scores={first.label: 0.5, second.label: 0.5})

    with pytest.raises(Unfair, match="in the request two what another wrote in reply to one"):
        words_of_players_are_fenced(game(None, play=play), {})


def test_what_is_not_declared_is_found() -> None:
    with pytest.raises(Exception, match="more often than `asks`"):
        it_ends_and_ranks_every_contestant(
            replace(FENCED, asks=lambda rules, fixture: [Asks("contestant", SAY, Text(200), 1, 100)]), {}
        )
    with pytest.raises(Exception, match="for 100 tokens, more than `asks`"):
        it_ends_and_ranks_every_contestant(
            replace(FENCED, asks=lambda rules, fixture: [Asks("contestant", SAY, GUESS, 2, 50)]), {}
        )
    silent = replace(
        game(lambda said: Message("user", "{said}", {"said": Quote("words", said.text * 2_000)})),
        asks=lambda rules, fixture: [Asks("contestant", SAY, GUESS, 2, 100)],
    )
    with pytest.raises(Unfair, match=r"bytes .* more than `asks` declares"):
        what_it_declares_holds(silent, {})


def test_other_faults_are_named() -> None:
    with pytest.raises(Unfair, match="the perfect player took"):
        skill_wins(replace(FENCED, house=lambda call, skill, rng: call.expects.sample(rng)), {})
    with pytest.raises(Unfair, match="got a score though its provider failed"):
        it_survives_failures(replace(FENCED, survives=True), {})
    with pytest.raises(Unfair, match="shows nothing"):
        it_can_be_shown(replace(FENCED, show=lambda fixture, outcome, replies: []), {})

    def endless(table: GameTable) -> Steps[Outcome]:
        yield []
        return Outcome(scores={seat.label: 7.0 for seat in table.seats})

    with pytest.raises(Unfair, match="between 0 and 1"):
        it_ends_and_ranks_every_contestant(game(None, play=endless), {})


RIDDLE = Prompt("", "Two are asked.\n\nRiddle {number}: which color am I?\n\nReply with it.")


def riddles(known: int, asked_first: str = "") -> GameSpec[Any]:
    """Each names the color of one of `known` riddles; `asked_first` is what each hears before."""

    def play(table: GameTable) -> Steps[Outcome]:
        number = Random(table.seed).randrange(known)
        color = f"{Random(number).randrange(16**6):06X}"
        fill = {"number": str(number)}
        if asked_first:
            told = Message("user", asked_first.replace("@", color))
            yield [
                Ask(seat.label, f"hear/{seat.label}", "contestant", (told,), GUESS, 100)
                for seat in table.seats
            ]
        said: list[Reply] = yield [
            Ask(
                seat.label,
                f"name/{seat.label}",
                "contestant",
                RIDDLE.messages(fill),
                Color(),
                100,
                oracle=color,
            )
            for seat in table.seats
        ]
        return Outcome(
            scores=by_rank(
                {
                    seat.label: one.ok and one.value == color
                    for seat, one in zip(table.seats, said, strict=True)
                }
            )
        )

    return game(None, play=play, asks=lambda rules, fixture: [Asks("contestant", RIDDLE, Color(), 2, 100)])


def test_a_player_with_a_memory_wins_where_tasks_come_again_or_a_match_tells_its_secret() -> None:
    memory_wins_nothing(riddles(10**9), {})
    with pytest.raises(Unfair, match=r"one that remembers earlier requests .* took [789].% of the points"):
        memory_wins_nothing(riddles(6), {})
    with pytest.raises(Unfair, match="reveal to nobody what it is asked to find out"):
        memory_wins_nothing(riddles(10**9, asked_first="I am @. Choose."), {})


def test_settings_that_nobody_describes_are_found() -> None:
    from peerage.game.spec import GameRules

    class Bare(GameRules):
        rounds: int = 3

    with pytest.raises(Unfair, match="rounds have no description"):
        its_settings_are_sound(replace(FENCED, rules=Bare), {})


def test_a_match_is_void_when_the_provider_of_a_contestant_fails() -> None:
    made = fixture(FENCED, ["ann", "bob"])
    said = Reply("ok", "heads", cost_nano=5_000_000_000)
    lost = play(FENCED, made, lambda ask, player: Reply("void") if player == "bob" else said)
    assert lost.outcome.void == "no_answer"
    assert lost.keys == ["say/A", "say/B"], "nobody is asked further"
    done = play(FENCED, made, lambda ask, player: said)
    assert done.outcome.costs == {"A": 10.0, "B": 10.0}, "every reply of a contestant counts"


def test_a_match_is_written_down_and_played_again() -> None:
    before = transcript(FENCED, fixture(FENCED, ["ann", "bob"]), house({"ann": "house:1", "bob": "house:0"}))
    assert difference(before, again(FENCED, before)) is None
    other = replace(FENCED, play=game(lambda said: Message("user", "Hear {it}", {"it": "x"})).play)
    assert "messages: " in str(difference(before, again(other, before)))
