"""Every game between house players on one core: how fast it is played and drawn, how soon the order is right.

Matches are played offline under the settings of the demo, drawing them included; the best of some batches
counts, in seconds of this process alone. A draw is all that is drawn for one match: its tasks, with their
reference answers. The order is that of `bench.separation`: the matches after which eight house players are in
their right order in 95% of simulated arenas.

Usage: python -m bench.games [GAME…] [--rounds N]    N 0: without the order, which may take minutes a game
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from statistics import median, quantiles
from typing import Any, NamedTuple

from bench.separation import LONGEST, MODELS, PLAYERS, separation
from peerage.game.spec import GameSpec
from peerage.games import GAMES
from peerage.testing.offline import Played, fixture, house, play

ROUNDS = 120
"""Rounds that the order is judged by."""
BATCHES = 5
SECONDS = 0.4
"""Processor time that a batch takes, at least."""
DRAWS = 300


class Speed(NamedTuple):
    """Matches and requests a second, and the milliseconds of a draw: the median and that of 95 in 100."""

    matches: float
    requests: float
    draw: float
    slow_draw: float


def speed(spec: GameSpec[Any], rules: Mapping[str, Any]) -> Speed:
    """How fast a game is played and drawn under these rules."""
    _match(spec, rules, 0)  # imports, formats, caches
    batches, number = [], 1
    for _ in range(BATCHES):
        began, first, requests = time.process_time(), number, 0
        while (took := time.process_time() - began) < SECONDS or number == first:
            requests += len(_match(spec, rules, number).steps)
            number += 1
        batches.append(((number - first) / took, requests / took))
    drawn = [_draw_ms(spec, rules, number) for number in range(DRAWS)]
    return Speed(*max(batches), median(drawn), quantiles(drawn, n=20)[-1])


def _match(spec: GameSpec[Any], rules: Mapping[str, Any], number: int) -> Played:
    made = fixture(spec, PLAYERS, rules, number=number, seed=f"games/{number}")
    return play(spec, made, house(MODELS, made.seed))


def _draw_ms(spec: GameSpec[Any], rules: Mapping[str, Any], number: int) -> float:
    parsed = spec.rules.model_validate(rules)
    memory = spec.memory.make(parsed) if spec.memory and spec.remembers(parsed) else None
    began = time.process_time()
    if memory is None:
        spec.draw(parsed, "games", number)
    else:
        memory.draw("games", number, "sealing")
    return (time.process_time() - began) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.games", description=__doc__)
    parser.add_argument("games", nargs="*", default=list(GAMES), metavar="GAME")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds that the order is judged by")
    given = parser.parse_args()
    print("game                 matches/s  requests/s  draw ms: median     95%  ordered after      ties")
    for name in given.games:
        spec = GAMES[name]
        found = speed(spec, spec.demo.rules)
        told = f"{name:20} {found.matches:10,.1f}  {found.requests:10,.0f}"
        told += f" {found.draw:16.2f} {found.slow_draw:7.2f}"
        if given.rounds:
            order = separation(spec, spec.demo.rules, given.rounds)
            after = f"> {LONGEST} rounds" if order.matches is None else f"{order.matches:,} matches"
            told += f" {after:>14} {order.ties:9.0%}"
        print(told, flush=True)


if __name__ == "__main__":
    main()
