"""The tracks that rate players by votes on their answers: those of judges, and those of people."""

from __future__ import annotations

import numpy as np

from peerage.figures import counted
from peerage.judging.favours import favours
from peerage.ratings import judges, prediction_powered
from peerage.ratings.bradley_terry import PRIOR_GAMES
from peerage.ratings.history import duels
from peerage.ratings.kernels import Floats
from peerage.ratings.soft_votes import calibrate
from peerage.settings import Rating
from peerage.standings import Standings
from peerage.tables.people_votes import strata
from peerage.tables.played import PlayedMatches
from peerage.tables.rated import Ratings, of_odds


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
            f"reliability: from {high:.2f} ({best}) to {low:.2f} ({worst}); `peerage judges` shows all"
        )
    if not table.connected:
        notes.append("the graph of votes is not strongly connected: a prior of one tied game each was added")
    return of_odds(cast.players, table, table.bounds[1], notes, cast.history)


def anchored(played: PlayedMatches, rating: Rating, standings: Standings) -> Ratings:
    """Bradley-Terry from people's votes, narrowed by those of judges; see `ratings.prediction_powered`."""
    cast, duelled, given = played.annotated()
    voted = ~np.isnan(duelled.people)
    if not voted.any():
        return _nobody("no duel that judges voted on was judged by people; `peerage annotate` shows you some")
    row = np.searchsorted(duelled.match, cast.matches)
    soft = calibrate(row, cast.judge, cast.history.score, duelled.people, len(cast.judges))
    history = duels(len(cast.players), duelled.first, duelled.second, soft.probability, duelled.weight)
    stratum = strata(duelled.stratum, voted)
    table = prediction_powered.fit(history, duelled.people, stratum=stratum)
    by_weight = sorted(zip(soft.weight.tolist(), cast.judges, strict=True), reverse=True)
    (most, best), (least, worst) = by_weight[0], by_weight[-1]
    notes = [
        f"Bradley-Terry from {counted(given, 'vote')} of people on {int(voted.sum())} of "
        f"{counted(len(voted), 'duel')}; judges' "
        "votes on all of them narrow the intervals, and what judges prefer otherwise than people is taken "
        "out (prediction-powered inference, PPI++)",
        "judges' votes count as the probability that people agree, calibrated on other duels: a vote is "
        f"worth from {most:.2f} ({best}) to {least:.2f} ({worst}) in log-odds",
        f"judges weigh {round(table.trust, 2) + 0.0:.2f} (0 not at all, 1 in full): intervals as of "
        f"{table.effective:.0f} duel{'s' * (round(table.effective) != 1)} judged by people alone",
    ]
    if not table.freedom:
        notes.append(
            "people judged no more duels than there are players: no intervals, every rank is possible"
        )
    if table.groups > 1:
        notes.append(
            f"people's votes do not compare everybody yet ({table.groups} groups), so a prior of "
            f"{PRIOR_GAMES:g} tied game each against an average player was added; `peerage annotate` shows "
            "more"
        )
    if stratum.any():
        split = duelled.stratum == 1
        notes.append(
            f"people judged {voted[split].mean():.0%} of the duels on which judges split and "
            f"{voted[~split].mean():.0%} of the others: each weighs by one over its share"
        )
    return of_odds(cast.players, table, table.bounds[1], notes, history)


def _nobody(why: str) -> Ratings:
    nothing: Floats = np.zeros(0)
    return Ratings((), nothing, nothing, lambda: np.zeros((0, 0), bool), (why,))
