"""The audience's table: what people who judged blind say, experts among them, next to what the peers say.

Votes are amendments (`ledger.topics.votes`). Here they are folded into a table of their own; they move no
rating of the peers. A vote counts when it cites the record that stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from peerage.game.blocks import Heading, Sentence
from peerage.ledger import Ledger
from peerage.ledger.topics.votes import BOTH_BAD, SKIPPED, TIE, Vote
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import duels
from peerage.ratings.fits.bradley_terry import BradleyTerry
from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.ratings.table import known
from peerage.reading.verdicts.people import Finished, cited
from peerage.render.blocks import Column, Facts, LoneFigure, Rows, ViewBlock, numbers
from peerage.values.figures import chance, interval, percent, whole

_SEED = 1  # of the posterior from which chances come


class AudienceRow(Struct, frozen=True):
    """One player's line: a Bradley-Terry rating of the audience's votes, with its 95% interval, none below
    ten matches.

    `rank` is 1 for the best, shared by equal ratings. `best` is the chance to be the best, None where matches
    are too few for intervals; `above` names those whom this player is proven above. `wins`, `draws` and
    `losses` count votes.
    """

    rank: int
    player: str
    rating: float
    lower: float | None
    upper: float | None
    best: float | None
    above: tuple[str, ...]
    votes: int
    wins: int
    draws: int
    losses: int


class Audience(Struct, frozen=True):
    """The audience's table, best first, and what it rests on.

    `votes` counted, from `voters` (sessions and experts), on `matches`; `uncounted` cite a record that does
    not stand. `agreement` is the share of votes that name the winner whom the peers named, among those where
    neither found a tie; None without one. `comparable` is False when the votes do not connect all players:
    the ratings then lean on a prior.
    """

    rows: tuple[AudienceRow, ...] = ()
    votes: int = 0
    voters: int = 0
    matches: int = 0
    uncounted: int = 0
    agreement: float | None = None
    comparable: bool = True


class _Counted(NamedTuple):
    vote: Vote
    match: Finished

    def points(self, label: str) -> float:
        """Return what the vote gives to one of the two."""
        return 0.5 if self.vote.verdict in (TIE, BOTH_BAD) else float(self.vote.verdict == label)


def audience(ledger: Ledger, votes: Iterable[Vote]) -> Audience:
    """The audience's table. Intervals allow votes on one match to hang together (`regression.fit_clustered`).
    Raises LedgerError when the ledger cannot be read."""
    given = [vote for vote in votes if vote.verdict != SKIPPED and vote.take == 1]
    matches = cited(ledger, given)
    counted: list[_Counted] = []
    uncounted = 0
    for vote in given:
        match = matches.get(vote.match)
        if match is None or not match.fits(vote):
            uncounted += 1
        else:
            counted.append(_Counted(vote, match))
    if not counted:
        return Audience(uncounted=uncounted)
    names = sorted({player for one in counted for player in one.match.players.values()})
    places = {name: place for place, name in enumerate(names)}
    first, second = ([places[one.match.players[one.vote.shown[side]]] for one in counted] for side in (0, 1))
    score = [one.points(one.vote.shown[0]) for one in counted]
    history, matches_of = duels(len(names), first, second, score), [one.vote.match for one in counted]
    fitted = fit_clustered(history, matches_of)
    return Audience(
        _rows(fitted, of_duels(history, matches_of), names, counted),
        len(counted),
        len({one.vote.voter for one in counted}),
        len({one.vote.match for one in counted}),
        uncounted,
        _agreement(counted),
        fitted.connected,
    )


def _rows(
    fitted: BradleyTerry, evidence: Evidence, names: list[str], counted: list[_Counted]
) -> tuple[AudienceRow, ...]:
    tallies = {name: [0, 0, 0] for name in names}
    for one in counted:
        for label, player in one.match.players.items():
            tallies[player][int(2 - 2 * one.points(label))] += 1
    rows = [
        AudienceRow(
            rank=row.rank,
            player=name,
            rating=row.rating,
            lower=low,
            upper=high,
            best=None if low is None else chance,
            above=tuple([names[other] for other in np.flatnonzero(below)]) if low is not None else (),
            votes=sum(tallies[name]),
            wins=tallies[name][0],
            draws=tallies[name][1],
            losses=tallies[name][2],
        )
        for name, row, low, high, chance, below in zip(
            names,
            fitted.rows,
            known(fitted.lower),
            known(fitted.upper),
            strengths(evidence, seed=_SEED).best.tolist(),
            proven(evidence),
            strict=True,
        )
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, row.player)))


def _agreement(counted: list[_Counted]) -> float | None:
    same = [agrees for vote, match in counted if (agrees := match.agrees(vote)) is not None]
    return sum(same) / len(same) if same else None


ABOUT = (
    "People judged pairs of answers blind. Their votes make a table of their own, next to the peers’, and "
    "move none of the peers’ ratings."
)
MADE = (
    "Bradley-Terry over the votes, mean 1500, 400 points for odds of ten to one; a tie is half a win each. "
    "The 95% intervals allow for votes on the same match being alike."
)
LEANING = (
    "The votes do not yet connect all players, so each rating also counts one tied game against an average "
    "player."
)
VOTERS = "Voters are anonymous sessions, of which two may be one person, and experts by name."


def audience_blocks(found: Audience, peers: Mapping[str, int | None]) -> Iterator[ViewBlock]:
    """Yield the audience's table, beside each player its rank among the `peers`."""
    yield Heading("What the audience says", 1)
    yield Sentence(ABOUT)
    if not found.votes:
        yield Sentence("Nobody has voted yet.")
        return
    facts = ("Votes", found.votes), ("Voters", found.voters), ("Matches judged", found.matches)
    agreed = LoneFigure("Agreed with the peers", percent(found.agreement))
    yield Facts([*[LoneFigure(title, whole(value)) for title, value in facts], agreed])
    gone = (
        f"{whole(found.uncounted)} votes cite a record that is no longer in the ledger and are not counted."
    )
    notes = [MADE, *[LEANING] * (not found.comparable), *[gone] * bool(found.uncounted), VOTERS]
    yield Rows(found.rows, [*_columns(peers)], notes=notes, name="audience", search=True)


def _columns(peers: Mapping[str, int | None]) -> Iterator[Column]:
    yield from numbers(whole, rank="Rank")
    yield Column("player", "Player", link=lambda row: ("player", row.player))
    yield from numbers(whole, rating="Rating")
    yield Column(
        "interval",
        "95%",
        lambda ends: interval(ends[0], ends[2], whole) or "",
        number=True,
        value=lambda row: None if row.lower is None else (row.lower, row.rating, row.upper),
        draw="interval",
    )
    yield from numbers(chance, best="Best")
    names = Column("above", "Proven above", number=True, value=lambda row: len(row.above) or None)
    yield replace(names, tip=lambda row: ", ".join(row.above))
    yield Column("peers", "Peers’ rank", number=True, value=lambda row: peers.get(row.player))
    yield from numbers(whole, votes="Votes", wins="W ~1", draws="D ~1", losses="L ~1")
