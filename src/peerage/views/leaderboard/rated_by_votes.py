"""The track that rates players by the votes of judges on their answers."""

from __future__ import annotations

import numpy as np

from peerage.judging.measures.favours.evidence import JUDGES
from peerage.judging.measures.favours.search import favours
from peerage.ratings.fits import judges
from peerage.reading.results.played import PlayedMatches
from peerage.settings import Rating
from peerage.standings import Standings
from peerage.views.leaderboard.rated import Ratings, of_odds


def judge_aware(played: PlayedMatches, rating: Rating, standings: Standings) -> Ratings:
    """Bradley-Terry on the votes of judges, each weighing by a reliability estimated with the ratings."""
    cast = played.votes()
    guilty = [pair for pair in favours(cast).favours if pair.found]
    aside = np.zeros((len(cast.judges), len(cast.players)), np.bool_)
    for pair in guilty:
        aside[cast.judges.index(pair.judge), cast.players.index(pair.author)] = True
    cluster = [played.cluster(number) for number in cast.matches.tolist()]
    table = judges.fit_coded(cast.history, cast.judges, cast.judge, cluster=cluster, aside=aside)
    reliable = sorted(table.listed, key=lambda judge: -judge[1])
    notes = [
        "Bradley-Terry on the judges' votes, each judge counting by its reliability (1 on average, 0 tosses "
        "a coin), which is how well it agrees with what the other judges see; the votes of a match count as "
        "one match together"
    ]
    if guilty:
        named = ", ".join(f"{pair.judge} on {pair.author}" for pair in guilty)
        notes.append(f"left out, being favour or the opposite beyond chance: the votes of {named}")
    if reliable:
        (best, high, *_), (worst, low, *_) = reliable[0], reliable[-1]
        notes.append(
            f"reliability: from {high:.2f} ({best}) to {low:.2f} ({worst}); "
            "`peerage stats --of judges` shows all"
        )
    if 1 < len(cast.judges) < JUDGES:
        notes.append(f"of fewer than {JUDGES} judges two that favour each other pass for the reliable ones")
    if not table.connected:
        notes.append("the graph of votes is not strongly connected: a prior of one tied game each was added")
    return of_odds(cast.players, table, notes)
