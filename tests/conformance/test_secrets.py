"""A game that prints one seat's secret to another is found, however it draws and prints it; no other is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

import pytest

from peerage.formats import Choice
from peerage.game.bounds import Asks
from peerage.game.match import GameTable, Outcome, by_rank
from peerage.game.protocol import Ask, Prompt, Steps
from peerage.game.spec import GameSpec, Secrecy
from peerage.testing import CHECKS, Unfair, conformance
from peerage.testing.conformance import no_seat_reads_the_secret_of_another

SQUARES = tuple(f"{row}{column}" for row in "ABCDEF" for column in range(1, 7))
SHOT = Choice("shot", SQUARES)
TEXT = (
    "You are {me} in a battle of ships on squares A1 to F6. {words}\nYour ships: {own}.{also}\n"
    "Shots so far: {shots}.\nFire.\n{format}"
)
HIDDEN = "Your ships are hidden from the other player."

Fleet = tuple[str, ...]


def fleet(rng: Random) -> Fleet:
    return tuple(sorted(rng.sample(SQUARES, 4)))


def by_stream(table: GameTable) -> dict[str, Fleet]:
    return {seat.label: fleet(table.rng(f"fleet/{seat.label}")) for seat in table.seats}


def by_label(table: GameTable) -> dict[str, Fleet]:
    return dict(table.drawn["fleets"])


def by_seat(table: GameTable) -> dict[str, Fleet]:
    return {seat.label: tuple(table.drawn["ships"][at]) for at, seat in enumerate(table.seats)}


def by_deck(table: GameTable) -> dict[str, Fleet]:
    rng = table.rng("fleets")
    return {seat.label: fleet(rng) for seat in table.seats}


class Admiral:
    def __init__(self, ships: Fleet) -> None:
        self.ships = ships
        self.shots: list[str] = []


def listed(ships: Fleet) -> str:
    return ", ".join(ships)


def chart(ships: Fleet) -> str:
    rows = ["".join(".#"[f"{row}{column}" in ships] for column in range(1, 7)) for row in "ABCDEF"]
    return "\n".join(["", *rows])


def battle(
    table: GameTable,
    *,
    fleets: Callable[[GameTable], dict[str, Fleet]],
    also: Callable[[str, Mapping[str, str]], str],
    printed: Callable[[Fleet], str],
    words: str,
    turns: bool,
) -> Steps[Outcome]:
    prompt = Prompt("", TEXT)
    admirals = {label: Admiral(ships) for label, ships in fleets(table).items()}
    hits, shots = dict.fromkeys(admirals, 0), list[str]()

    def ask(label: str, number: int) -> Ask:
        charts = {other: printed(admiral.ships) for other, admiral in admirals.items()}
        fill = {
            "me": label,
            "words": words,
            "own": charts[label],
            "also": also(label, charts),
            "shots": "; ".join(shots) or "none",
        }
        return prompt.ask(label, f"{number}/{label}", SHOT, fill, 100)

    for number in range(1, 5):
        groups = [[label] for label in admirals] if turns else [[*admirals]]
        for group in groups:
            replies = yield [ask(label, number) for label in group]
            for label, reply in zip(group, replies, strict=True):
                other = next(of for of in admirals if of != label)
                shot = reply.value.choice if reply.ok else ""
                hits[label] += shot in admirals[other].ships
                shots.append(
                    f"{label} at {shot or 'nothing'}: {'hit' if shot in admirals[other].ships else 'miss'}"
                )
    return Outcome(scores=by_rank(hits), detail={"hits": hits})


def draw(rules: Any, secret: str, number: int) -> dict[str, Any]:
    rng = Random(f"{secret}/{number}")
    fleets = [fleet(rng), fleet(rng)]
    return {"fleets": dict(zip("AB", map(list, fleets), strict=True)), "ships": [list(of) for of in fleets]}


def nothing(label: str, charts: Mapping[str, str]) -> str:
    return ""


def every(label: str, charts: Mapping[str, str]) -> str:
    return f"\nAll ships: {dict(charts)}"


def theirs(label: str, charts: Mapping[str, str]) -> str:
    return f" Theirs: {next(chart for other, chart in charts.items() if other != label)}"


def game(**settings: Any) -> GameSpec[Any]:
    usual: dict[str, Any] = {"fleets": by_stream, "also": nothing, "printed": listed, "words": HIDDEN}
    secrecy = settings.pop("secrecy", Secrecy())
    return GameSpec(
        name="battle",
        about="Ships.",
        play=partial(battle, **{**usual, "turns": False, **settings}),
        asks=lambda rules, fixture: [Asks("contestant", Prompt("", TEXT), SHOT, 4, 100, quoted=600)],
        draw=draw,
        secrecy=secrecy,
    )


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("printed", [listed, chart])
@pytest.mark.parametrize("also", [every, theirs])
@pytest.mark.parametrize("fleets", [by_stream, by_label, by_seat, by_deck])
def test_who_is_sent_the_fleet_of_another_is_named(fleets: Any, also: Any, printed: Any, turns: bool) -> None:
    leaking = game(fleets=fleets, also=also, printed=printed, turns=turns)
    if fleets is by_deck and also is every and printed is chart:
        pytest.skip("nothing is drawn for one seat alone, and the chart is printed in another form")
    with pytest.raises(Unfair, match=r"the first request to [AB] holds what `.*` is for [AB], before"):
        no_seat_reads_the_secret_of_another(leaking, {})
    no_seat_reads_the_secret_of_another(game(fleets=fleets, printed=printed, turns=turns), {})


def test_every_check_is_made() -> None:
    written = {
        check
        for name, check in vars(conformance).items()
        if not name.startswith("_")
        and getattr(check, "__annotations__", {})
        == {"spec": "GameSpec[Any]", "rules": "Rules", "return": "None"}
    }
    assert written == {*CHECKS}


def test_what_is_open_is_no_secret() -> None:
    no_seat_reads_the_secret_of_another(game(also=every, words="All see all ships."), {})
    leaking = game(also=every, words="", secrecy=Secrecy(hides=True))
    with pytest.raises(Unfair, match="secrecy=Secrecy"):
        no_seat_reads_the_secret_of_another(leaking, {})
