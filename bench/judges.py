"""The report on judges of a long arena, once its matches are read: 60 players, panels of five in both orders.

Votes are made up from the players' skills and the judges' discernment. Targets for 100,000 duels, a million
marks: to join what was told in stretches of a thousand and to report on it 5 s and 300 MB together. Then
Bradley-Terry on a million votes on 200,000 duels, uncorrected and corrected: 0.5 s. The last column says how
many times the uncorrected fit that is, whatever the machine.
Usage: python -m bench.judges [DUELS]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from peerage.judging.marks.ballots import BALLOTS, PanelRecord, add_panel, marks_of
from peerage.judging.marks.marks import MARKS, MarkRows, Votes, add_marks
from peerage.judging.measures.corrections import CORRECTIONS, corrected
from peerage.judging.panels.panel import Ballot
from peerage.ledger import open_ledger
from peerage.ratings.columns.history import duels
from peerage.reading.observations import CHALLENGES, Observations, together
from peerage.reading.reading import Reading
from peerage.settings import ArenaSettings
from peerage.views.judges.report import judges_of

PLAYERS, JUDGES, STRETCH = 60, 5, 1_000
_KEPT = ("ballots", "challenges", "marks")


def panels(duels: int) -> Iterator[tuple[PanelRecord, dict[str, int]]]:
    """Made-up panels, with the lengths of the answers."""
    rng = np.random.default_rng(1)
    skill, discernment = rng.normal(0, 1, PLAYERS), rng.uniform(0.5, 2, PLAYERS)
    labels = ["A", "B", *[f"judge/{at}" for at in range(1, JUDGES + 1)]]
    for _ in range(duels):
        seated = rng.permutation(PLAYERS)[: len(labels)]
        gap = skill[seated[0]] - skill[seated[1]] + rng.normal(0, 0.7)
        chance = 1 / (1 + np.exp(-discernment[seated[2:]] * gap))
        said = np.where(rng.random((2, JUDGES)) < chance, "A", "B").T.tolist()
        ballots = [
            Ballot(label, one if one == two else "tie", {"A-B": one, "B-A": two}, one != two, 1 / JUDGES)
            for label, (one, two) in zip(labels[2:], said, strict=True)
        ]
        players = {label: f"player-{at:02}" for label, at in zip(labels, seated.tolist(), strict=True)}
        long, short = rng.integers(300, 900, 2).tolist()
        yield PanelRecord(players, ("A", "B"), tuple(ballots)), {"A": long, "B": short}


def stretches(duels: int) -> Iterator[bytes]:
    """What the matches tell, as it is kept."""
    made = panels(duels)
    for first in range(1, duels + 1, STRETCH):
        ballots, marks, challenges = MarkRows(BALLOTS), MarkRows(MARKS), MarkRows(CHALLENGES)
        last = min(first + STRETCH, duels + 1)
        for number, (panel, chars) in zip(range(first, last), made, strict=False):
            add_panel(ballots, str(number), panel)
            add_marks(marks, marks_of(panel, str(number), chars))
            challenges.add((str(number), f"topic {number % 12}", panel.players["A"]))
        columns = [rows.columns() for rows in (ballots, challenges, marks)]
        yield msgspec.msgpack.encode(Observations(last - first, **dict(zip(_KEPT, columns, strict=True))))


def cast(votes: int = 1_000_000) -> tuple[Votes, np.ndarray, dict[str, str]]:
    """Made-up votes of judges who saw one order, the styles of the answers, and families: judges meet their
    own."""
    rng = np.random.default_rng(2)
    skill, matches = rng.normal(0, 1, PLAYERS), votes // JUDGES
    seated = rng.integers(0, PLAYERS, (matches, 2))
    seated[:, 1] = (seated[:, 0] + 1 + seated[:, 1] % (PLAYERS - 1)) % PLAYERS
    panel = rng.permuted(np.tile(np.arange(PLAYERS), (matches, 1)), axis=1)[:, :JUDGES]
    match = np.repeat(np.arange(matches), JUDGES)
    a, b, judge = seated[match, 0], seated[match, 1], panel.ravel()
    shown = np.where(rng.random(votes) < 0.5, 1, -1)
    counts = rng.integers(0, 12, (matches, 2, 4)) * np.array([100, 1, 1, 1])
    sway = 0.3 * shown + np.log((1 + counts[:, 0, 0]) / (1 + counts[:, 1, 0]))[match] / 20
    won = rng.random(votes) < 1 / (1 + np.exp(skill[b] - skill[a] - sway))
    names = tuple([f"player-{at:02}" for at in range(PLAYERS)])
    history = duels(PLAYERS, a, b, won, np.full(votes, 1 / JUDGES))
    families = {name: f"maker-{at % 8}" for at, name in enumerate(names)}
    return Votes(names, history, names, judge, match, shown.astype(np.int8)), counts.astype(float), families


def main(matches: int = 100_000) -> None:
    kept = list(stretches(matches))
    settings = ArenaSettings.model_validate({"players": [{"model": "house:0.5"}, {"model": "house:0.6"}]})
    with tempfile.TemporaryDirectory() as name:
        ledger = open_ledger("sqlite:///arena.db", Path(name), create=True)
        began = time.process_time()
        told = together([msgspec.msgpack.decode(one, type=Observations) for one in kept])
        joined, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        reading = Reading(settings, ledger)
        reading.observations = told
        report = judges_of(reading)
        counted, after = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ledger.close()
    marks = sum([row.marks for row in report.judges])
    print(f"{matches:,} duels, {marks:,} marks, {sum(map(len, kept)) / 1e6:.0f} MB kept")
    print(f"  {'s of CPU to join':20} {joined - began:8.2f}")
    print(f"  {'s of CPU to report':20} {counted - joined:8.2f}")
    print(f"  {'MB more at most':20} {(after - before) / 1024:8.0f}")
    votes, styles, families = cast()
    print(f"{len(votes.judge):,} votes, Bradley-Terry, s of CPU, first and second time")
    without: list[float] = []
    some = ("position", "own", "family")
    for wanted in ((), some, ("position", "style", "own", "family"), CORRECTIONS):
        spent = []
        for _ in range(2):
            began = time.process_time()
            corrected(votes, wanted, styles, families)
            spent.append(time.process_time() - began)
        without = without or spent
        about, times = ", ".join(wanted) or "uncorrected, twice", spent[1] / without[1]
        print(f"  {about:61} {spent[0]:8.2f} {spent[1]:8.2f} {times:6.1f}×")


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:]])
