"""Observations of players, judges and authors in finished matches: all that `stats` and `judges` need.

Reading the exchanges takes nearly all of the time, and nothing here depends on settings. So any
process can read some of the matches; `together` puts what they read one after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from peerage.game.match import DONE, Fixture, Outcome
from peerage.games import installed
from peerage.judging.marks.ballots import BALLOTS, add_panel, controls_of, marks_of, panel_record
from peerage.judging.marks.marks import MARKS, Layout, MarkColumns, MarkRows, add_marks
from peerage.judging.measures.addressing import spoken_to_judges
from peerage.judging.measures.known import KNOWN, known_votes
from peerage.reading.match import Match
from peerage.reading.replies import Replies, ReplyCounts
from peerage.reading.verdicts.scores import scores

CHALLENGES = Layout(codes=3, counts=0, numbers=0)
"""Challenges put to contestants before a panel: match, topic and drafter; empty where there is none."""


Forecasts = dict[str, dict[int, int]]
"""By player how often it gave each probability: 2 × percent, plus 1 where it came true."""


class Drafts(Struct):
    """One player's finished drafts, and the committees' approval of each that had a valid vote."""

    drafts: int = 0
    approved: int = 0
    approvals: list[float] = []
    turns_lost: int = 0


class Observations(Struct):
    """Sums over `matches` finished matches: void ones by reason, everybody's replies and drafts by name, the
    `ballots` of panels and on what `challenges`, the `marks` that judges gave
    (of votes, or else of scores), `forecasts` (`views.stats.players`), and the matches in which
    a player's answers `spoken` to their judges (see `judging.measures.addressing`). The most numerous are
    columns: see `judging.marks.ballots`, `judging.marks.marks`."""

    matches: int = 0
    voids: dict[str, int] = {}
    replies: dict[str, Replies] = {}
    authors: dict[str, Drafts] = {}
    ballots: MarkColumns = MarkRows(BALLOTS).columns()
    marks: MarkColumns = MarkRows(MARKS).columns()
    challenges: MarkColumns = MarkRows(CHALLENGES).columns()
    known: MarkColumns = MarkRows(KNOWN).columns()
    forecasts: Forecasts = {}
    spoken: dict[str, list[int]] = {}


_COLUMNS = {"ballots": BALLOTS, "marks": MARKS, "challenges": CHALLENGES, "known": KNOWN}


def observe(matches: Iterable[Match]) -> Observations:
    """Return the observations of these matches."""
    seen = Observations()
    ballots, marks, challenges, known = map(MarkRows, (BALLOTS, MARKS, CHALLENGES, KNOWN))
    replies = ReplyCounts()
    for match in matches:
        fixture, outcome, name = match.fixture, match.outcome, str(match.fixture.number)
        seen.matches += 1
        if match.status != DONE:
            seen.voids[match.status] = seen.voids.get(match.status, 0) + 1
        replies.add([step for step in match.steps if step.role != "sandbox"])
        _drafts(seen, match)
        texts = match.judged_texts
        chars = {label: len(text) for label, text in texts.items()}
        for player in dict.fromkeys([player for player, _ in spoken_in(match, texts)]):
            seen.spoken.setdefault(player, []).append(fixture.number)
        known_on = str(fixture.drawn.get("task", fixture.number))
        judges = {seat.label: seat.player for seat in fixture.officials.get("judge", ())}
        for judge, points in known_votes(
            outcome.detail.get("checks", {}), (*match.ballots, *controls_of(outcome)), judges
        ):
            known.add((judge, known_on), (points,))
        panel = panel_record(fixture, match.ballots)
        if panel is not None:
            add_panel(ballots, name, panel)
            add_marks(marks, marks_of(panel, name, chars))
            challenges.add((name, fixture.topic, _drafter(match)))
        add_marks(marks, scores(fixture, outcome, chars))
        if given := forecasts(fixture, outcome):
            seen.forecasts = _added(seen.forecasts, given)
    seen.replies = replies.by_player()
    seen.ballots, seen.marks = ballots.columns(), marks.columns()
    seen.challenges, seen.known = challenges.columns(), known.columns()
    return seen


def together(parts: Iterable[Observations]) -> Observations:
    """Return the observations of all parts, which are in number order."""
    whole, columns = Observations(), {name: MarkRows(layout) for name, layout in _COLUMNS.items()}
    for part in parts:
        whole = _added(whole, part)
        for name, rows in columns.items():
            rows.join(getattr(part, name))
    for name in _COLUMNS:
        setattr(whole, name, columns.pop(name).columns())
    return whole


def _added(observation: Any, other: Any) -> Any:
    """The sum of two values of a kind, field by field; columns are joined apart."""
    if isinstance(observation, MarkColumns):
        return other
    if isinstance(observation, Struct):
        return type(observation)(*map(_added, astuple(observation), astuple(other)))
    if isinstance(observation, dict):
        return observation | {
            key: _added(observation[key], more) if key in observation else more for key, more in other.items()
        }
    return observation + other


def spoken_in(match: Match, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The authors of judged `texts` that speak to their judges, and the words with which they do."""
    fixture = match.fixture
    players = {seat.label: seat.player for seat in fixture.all_seats()} | fixture.authors
    for label, text in texts.items():
        author = next((players[part] for part in reversed(label.split("/")) if part in players), None)
        if author is not None and (words := spoken_to_judges(text)):
            yield author, words


def _drafter(match: Match) -> str:
    """Return who wrote the challenge that was answered, the first of several; empty where it was given."""
    used = next((draft for draft in match.drafts if draft.accepted), None)
    return match.players[next(iter(used.authors.values()))] if used and used.authors else ""


def _drafts(seen: Observations, match: Match) -> None:
    for draft in match.drafts:
        silent = [match.players[label] for stage, label in draft.authors.items() if stage not in draft.keys]
        if silent:
            seen.authors.setdefault(silent[0], Drafts()).turns_lost += 1
            continue
        for player in dict.fromkeys(match.players[label] for label in draft.authors.values()):
            tally = seen.authors.setdefault(player, Drafts())
            tally.drafts += 1
            tally.approved += draft.accepted
            if draft.approval is not None:
                tally.approvals.append(draft.approval)


def forecasts(fixture: Fixture, outcome: Outcome) -> Forecasts:
    """Return what the contestants of a match forecast; empty where its game knows no probabilities."""
    spec = installed(fixture.game)
    forecasts: Forecasts = {}
    if spec is not None and spec.rating.forecasts is not None:
        players = {seat.label: seat.player for seat in fixture.seats}
        for label, probability, came_true in spec.rating.forecasts(fixture, outcome):
            counts = forecasts.setdefault(players[label], {})
            key = 2 * round(100 * probability) + came_true
            counts[key] = counts.get(key, 0) + 1
    return forecasts
