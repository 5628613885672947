"""One door to every method: data in, table out. What `peerage rate` calls.

>>> from peerage.ratings.read.histories import Battles
>>> played = Battles(("ann", "bob"), duels(2, [0, 0, 1], [1, 1, 0], [1, 0.5, 1]))
>>> report = rate(played, Options(method="bt"))
>>> [(row["player"], row["rank"], row["games"]) for row in report.rows]
[('ann', 1, 3), ('bob', 1, 3)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, NamedTuple

import numpy as np

from peerage.ratings.categories import by_category
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import (
    Duels,
    GameColumns,
    as_games,
    duels,
    games,
    met_by_pair,
    pairings,
    shared,
)
from peerage.ratings.fits import bradley_terry, irt, judges
from peerage.ratings.fits.clusters import FEWEST
from peerage.ratings.fits.regression import fit_clustered, fit_covariates
from peerage.ratings.options import METHODS, Method, Options, wanted
from peerage.ratings.paired import compared
from peerage.ratings.read.answers import Answers
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.sequential import glicko2, trueskill
from peerage.ratings.sequential.elo import DuelResult, EloSettings, fold, in_order
from peerage.ratings.sequential.elo_error import elo_error
from peerage.ratings.strength.evidence import of_duels, of_games
from peerage.ratings.strength.posterior import strengths
from peerage.ratings.table import Z95, RatingRow, rows_of
from peerage.values.figures import counted

ONE_LOOK = "intervals hold where results did not decide who met whom, nor when the data end"
TIED = 0.15
"""The share of ties from which on a table notes their effect on its scale."""
_SEED = 1  # of the posterior from which chances come


@dataclass(frozen=True)
class MethodReport:
    """A table from best to worst: plain rows, what they are, and what a reader must know. `challenges` is the
    second table of item response theory, hardest first, and `pairs` that of paired differences."""

    title: str
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    challenges: tuple[dict[str, Any], ...] = ()
    pairs: tuple[dict[str, Any], ...] = ()


class SpecialTable(NamedTuple):
    """A table before it is written out, and a second one of `challenges`."""

    title: str
    rows: Sequence[RatingRow]
    notes: list[str]
    challenges: Sequence[dict[str, Any]] = ()


def rate(data: Battles | PlayedGames | Answers, options: Options) -> MethodReport:
    """Rate what was read. Raises ValueError where method, options and data do not go together."""
    method = options.method
    if method == "auto":
        method = _fitting(data, options)
    _refuse_unused(data, method, options)
    if isinstance(data, Battles) and data.both_bad is not None and options.both_bad != 1:
        data = _weighed(data, data.both_bad, options.both_bad)
    if options.anchor is not None and options.anchor not in data.names:
        shown = ", ".join(data.names[:20]) + (", …" if len(data.names) > 20 else "")
        raise ValueError(f"anchor {options.anchor!r} does not play; the players are {shown}")
    if options.by and isinstance(data, Battles):
        ways = _clusters(data, options)
        listed, about = by_category(data.names, data.duels, data.labels[options.by], ways, options.anchor)
        return MethodReport(f"Strengths by {options.by}, 95% intervals", tuple(listed), (*data.notes, *about))
    if method == "paired" and isinstance(data, Answers):
        scores, pairs, about = compared(data.names, data.solved)
        return MethodReport("Mean scores, 95% intervals", scores, (*data.notes, *about), pairs=pairs)
    table, shift = _table(data, method, options), 0.0
    rated = table.rows
    if options.anchor is not None:
        shift = 1500 - rated[data.names.index(options.anchor)].rating
    if isinstance(data, PlayedGames):
        met = _games(data, options).played()
        rated = [replace(row, games=float(met[row.player])) for row in rated]
    plain = [_plain(data.names[row.player], row, shift) for row in rated]
    notes = (*data.notes, *table.notes)
    if any(row["lower"] is not None for row in plain):
        notes += (ONE_LOOK,)
    if method in ("bt", "trueskill") and not isinstance(data, Answers):
        notes += _compare(data, options, plain)
    plain.sort(key=lambda row: (-row["rating"], row["player"]))
    return MethodReport(table.title, tuple(plain), notes, tuple(table.challenges))


def _weighed(data: Battles, bad: np.ndarray, weight: float) -> Battles:
    """Return battles in which ties of two bad answers have that weight; of weight 0 they are left out."""
    duels = replace(data.duels, weight=np.where(bad, weight * data.duels.weight, data.duels.weight))
    data = replace(data, duels=duels, notes=(*data.notes, f"each of these counts {weight:g} of a tie"))
    return data if weight else replace(data.only(~bad), notes=(*data.notes[:-1], "these are left out"))


def _compare(data: Battles | PlayedGames, options: Options, rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Write into each row, in order of players, its chance to be the best and whom it is proven above. Return
    notes on them. Rows stay as they are where a covariate is held equal, or clusters are too few."""
    hangs = [] if isinstance(data, PlayedGames) else _clusters(data, options)
    labels = [np.unique(np.asarray(column), return_inverse=True)[1] for column in hangs]
    fewest = min([int(column.max(initial=-1)) + 1 for column in labels], default=FEWEST)
    if options.controls or fewest < FEWEST:
        return ()
    if isinstance(data, PlayedGames):
        parts = [of_games(_games(data, options))]
    else:
        history = _duels(data, options)
        parts = [of_duels(history, column) for column in labels] or [of_duels(history)]
    widest = min(parts, key=lambda part: np.inf if part.cluster is None else part.cluster.max(initial=-1))
    best = strengths(widest, seed=_SEED).best
    above = np.logical_and.reduce([proven(part) for part in parts])
    for row, chance, below in zip(rows, best.tolist(), above, strict=True):
        named = sorted([rows[at] for at in np.flatnonzero(below)], key=lambda other: -other["rating"])
        row |= {"best": chance, "above": [other["player"] for other in named]}
    by_task = bool(hangs) and "question" in (options.cluster or ("question",))
    about = "tasks like these" if by_task else "these tasks"
    return (
        f"proven above: {int(above.sum())} of {counted(comb(len(rows), 2), 'pair')}, about {about}; the "
        "chance that any such claim is ever false is 5%",
    )


def _fitting(data: Battles | PlayedGames | Answers, options: Options) -> Method:
    """The method for these data: that of an arena's own table, which for games of two is Bradley-Terry."""
    if isinstance(data, Answers):
        return "irt"
    if data.layout == "cob":
        return "elo"
    if isinstance(data, Battles):
        return "bt"
    of_skills = options.draw_probability is not None or options.k is not None
    duels = data.layout == "games" and all([*map(len, game.teams)] == [1, 1] for game in data.games)
    return "bt" if duels and not of_skills else "trueskill"


def _table(data: Battles | PlayedGames | Answers, method: Method, options: Options) -> SpecialTable:
    if isinstance(data, Answers) or method in ("irt", "paired"):
        if not isinstance(data, Answers) or method != "irt":
            raise ValueError(
                f"{method} cannot rate these data: irt and paired read answers (player, challenge, solved), "
                "every other method battles or games"
            )
        return _irt(data)
    if method == "judge-aware":
        if not isinstance(data, Battles):
            raise ValueError("judge-aware rates battles; these are games")
        return _judge_aware(data)
    if method == "trueskill":
        return _trueskill(data, options)
    if method == "glicko2":
        return _glicko2(data, options)
    if method == "elo":
        return _elo(data, options)
    return _bradley_terry(data, options)


def _plain(name: str, row: RatingRow, shift: float) -> dict[str, Any]:
    known = row.lower == row.lower
    plain: dict[str, Any] = {
        "player": name,
        "rating": row.rating + shift,
        "lower": row.lower + shift if known else None,
        "upper": row.upper + shift if known else None,
        "rank": row.rank,
        "games": int(row.games) if row.games == int(row.games) else row.games,
    }
    if row.mu is not None:
        plain |= {"mu": row.mu, "sigma": row.sigma}
    return plain


def _refuse_unused(data: Battles | PlayedGames | Answers, method: Method, options: Options) -> None:
    regression = method == "bt"
    for name, used, given, those in (
        ("cluster", regression, bool(options.cluster), "bt"),
        ("control", regression, bool(options.controls), "bt"),
        ("ties", regression, options.ties != "half", "bt"),
        ("track cost", method == "elo", options.track == "cost", "elo"),
        ("anchor", method not in ("trueskill", "paired"), options.anchor is not None, "bt and elo"),
        ("by", regression, bool(options.by), "bt"),
    ):
        if given and not used:
            raise ValueError(f"{name} does not go with the method {method}, but with {those}")
    if options.by and (options.controls or not isinstance(data, Battles)):
        raise ValueError("by goes with battles of two, and not with control")
    if options.both_bad != 1 and not isinstance(data, Battles):
        raise ValueError("both_bad goes with battles; these are games or answers")
    if isinstance(data, PlayedGames) and (options.controls or options.cluster or options.track == "cost"):
        raise ValueError("cluster, control and track cost read columns of battles; these are games")


def _duels(data: Battles | PlayedGames, options: Options) -> Duels:
    return data.duels if isinstance(data, Battles) else pairings(_games(data, options))[0]


def _games(data: Battles | PlayedGames, options: Options) -> GameColumns:
    if isinstance(data, PlayedGames):
        return games(len(data.names), data.games, seats=options.seats)
    return as_games(data.duels)


def _bradley_terry(data: Battles | PlayedGames, options: Options) -> SpecialTable:
    history = _duels(data, options)
    graded = not np.isin(history.score, (0, 0.5, 1)).all()
    if options.ties != "half" and graded:
        raise ValueError(f"ties {options.ties} counts wins, ties and losses; these data have parts of a win")
    clusters: list[Sequence[str] | np.ndarray] = []
    names: tuple[str, ...] = ("game",)
    if isinstance(data, PlayedGames):
        source = shared(pairings(_games(data, options))[1])
        clusters = [] if source is None else [source]
    else:
        clusters = [*_clusters(data, options)]
        names = options.cluster or ("question",)
    if options.controls and isinstance(data, Battles):
        if options.ties != "half":
            raise ValueError("control takes ties as half wins")
        columns = np.column_stack([data.controls[name] for name in options.controls])
        table = fit_covariates(history, columns, options.controls, clusters=clusters)
    elif clusters:
        table = fit_clustered(history, *clusters, ties=options.ties)
    else:
        table = bradley_terry.fit_duels(history, ties=options.ties)
    notes = [
        f"held equal: {effect.name}, {effect.points:+.1f} points a standard deviation"
        + (f" ({effect.lower:+.1f} to {effect.upper:+.1f})" if np.isfinite(effect.lower) else "")
        for effect in table.effects
    ]
    if not table.connected:
        notes.append(
            f"not everybody can be compared: {len(table.components)} groups without wins both ways; "
            f"each player was given {table.prior_games:g} tied game against a phantom of average strength"
        )
    if not np.isnan(table.tie):
        notes.append(f"tie parameter ({options.ties}): {table.tie:.4f}")
    tied = float(history.weight[history.score == 0.5].sum() / max(history.weight.sum(), 1e-300))
    if np.isnan(table.tie) and tied >= TIED and not graded:
        notes.append(
            f"{tied:.0%} of results are ties, half a win each, which draws ratings together; with `--ties "
            "davidson` the scale is that of the decided ones"
        )
    for count, name in zip(table.clusters, names, strict=False):
        notes.append(f"intervals allow for {counted(count, 'cluster')} ({name})")
        if count < FEWEST:
            notes.append(
                f"{counted(count, 'cluster is', 'clusters are')} too few to show how far off ratings are: no "
                f"intervals, no chances and no claims; {FEWEST} are needed"
            )
    return SpecialTable("Bradley-Terry, 95% intervals", table.rows, notes)


def _clusters(data: Battles, options: Options) -> list[Sequence[str]]:
    """Return the labels by which battles hang together: of the columns named, or each
    question where several rows judge one."""
    if options.cluster:
        return [data.labels[name] for name in options.cluster]
    questions = _judged_often(data)
    return [questions] if questions else []


def _judged_often(data: Battles) -> list[str]:
    """Return what hangs together where several rows judge one question's answers of the same two, as several
    judges do: each row's question, or the row itself where it names none. Nothing where no two rows do, or
    where questions were not read."""
    questions = data.labels.get("question", ())
    duels = data.duels
    low, high = np.minimum(duels.first, duels.second), np.maximum(duels.first, duels.second)
    rows = zip(questions, low.tolist(), high.tolist(), strict=False)
    named = [row for row in rows if row[0]]
    if len(set(named)) == len(named):
        return []
    return [f"question {question}" if question else f"row {row}" for row, question in enumerate(questions)]


def _elo(data: Battles | PlayedGames, options: Options) -> SpecialTable:
    k = options.k if options.k is not None else 32.0 if data.layout == "cob" else 16.0
    if options.track == "cost" and isinstance(data, Battles):
        return _cost_elo(data, k, options)
    history = _duels(data, options)
    settings = EloSettings(k_factor=k, initial=options.initial, propagation_width=None)
    rating = in_order(history, settings)
    met, squares = (met_by_pair(history, weight) for weight in (history.weight, history.weight**2))
    error = elo_error(rating, met, settings, squares=squares)
    wide = Z95 * error.error
    rows = rows_of(rating, rating - wide, rating + wide, history.games())
    notes = [
        "intervals are of the rating, where it would end were the same games played again; strengths are "
        "less sure"
    ]
    return SpecialTable(f"Elo, K = {k:g}, in order; intervals of the rating", rows, notes)


def _cost_elo(data: Battles, k: float, options: Options) -> SpecialTable:
    if data.costs is None:
        raise ValueError("track cost needs the columns cost_a and cost_b")
    settings = EloSettings(
        k_factor=k, initial=options.initial, cost_sensitivity=options.cost_sensitivity, propagation_width=None
    )
    history = data.duels
    if (history.weight != 1).any():
        raise ValueError("track cost takes no weights")
    results = [
        DuelResult(a, b, s, None if x != x else x, None if y != y else y)
        for a, b, s, x, y in zip(
            history.first.tolist(),
            history.second.tolist(),
            history.score.tolist(),
            *data.costs.tolist(),
            strict=True,
        )
    ]
    ratings = np.array(fold(history.players, results, settings).cost)
    unknown = int(np.isnan(data.costs).any(axis=0).sum())
    left = counted(unknown, "battle without both costs is", "battles without both costs are")
    notes = [f"{left} left out"] if unknown else []
    unknown_bounds = np.full(len(ratings), np.nan)
    rows = rows_of(ratings, unknown_bounds, unknown_bounds, history.games())
    return SpecialTable("Elo adjusted for cost", rows, notes)


def _given(options: Options, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def _trueskill(data: Battles | PlayedGames, options: Options) -> SpecialTable:
    given = _given(options, "k", "draw_probability")
    notes = []
    if data.layout == "valyrian" and options.draw_probability is None:
        given["draw_probability"] = 0.0
        notes.append("draw probability 0, in the exact limit; the published table has its package's rounding")
    settings = trueskill.TrueSkillSettings(**given)
    table = trueskill.rate(_games(data, options), settings)
    notes.append(
        "lower and upper are mu ± 1.96 sigma, by TrueSkill's own sigma: from 90% to 99% of them held the "
        "skill in simulations"
    )
    return SpecialTable(f"TrueSkill, sorted by mu - {settings.k:g} sigma; mu ± 1.96 sigma", table.rows, notes)


def _glicko2(data: Battles | PlayedGames, options: Options) -> SpecialTable:
    history = _duels(data, options)
    settings = glicko2.Glicko2Settings(rating=options.initial)
    bounds = glicko2.even_periods(history)
    table = glicko2.rate(history, settings, bounds=bounds)
    notes = [counted(len(bounds) - 1, "rating period")]
    return SpecialTable("Glicko-2; mu and sigma are rating and deviation", table.rows, notes)


def _judge_aware(data: Battles) -> SpecialTable:
    """Bradley-Terry with a reliability of each judge, the label `judge`; votes on a `question` together."""
    if "judge" not in data.labels:
        raise ValueError("judge-aware needs battles with a column judge")
    questions = data.labels.get("question", ())
    cluster = questions if questions and all(questions) else None
    fitted = judges.fit(data.duels, data.labels["judge"], cluster=cluster)
    notes = [
        f"judge {name}: reliability {reliability:.2f} ({low:.2f} to {high:.2f}), {count:g} "
        f"{'vote' if count == 1 else 'votes'}"
        for name, reliability, low, high, count in fitted.listed
    ]
    if cluster is not None:
        notes.append(f"intervals allow for {counted(len(set(questions)), 'cluster')} (question)")
    return SpecialTable("Bradley-Terry with judges' reliabilities", fitted.rows, notes)


def _irt(data: Answers) -> SpecialTable:
    """Abilities of players, and difficulty and discrimination of challenges: 2PL item response theory."""
    fitted = irt.fit(data.solved)
    notes = [] if fitted.settled else [f"not settled after {fitted.rounds} rounds"]
    notes.append("mu and sigma are the ability and its error; 1500 is the average player")
    tried = ~np.isnan(data.solved)
    rows = zip(
        data.challenges,
        fitted.difficulty.tolist(),
        fitted.difficulty_error.tolist(),
        fitted.discrimination.tolist(),
        fitted.discrimination_error.tolist(),
        np.nansum(data.solved, axis=0).tolist(),
        tried.sum(axis=0).tolist(),
        strict=True,
    )
    challenges = [
        {
            "challenge": name,
            "difficulty": b,
            "difficulty_error": b_error,
            "discrimination": a,
            "discrimination_error": a_error,
            "solved": solved / count,
            "answers": count,
        }
        for name, b, b_error, a, a_error, solved, count in rows
    ]
    challenges.sort(key=lambda row: (-row["difficulty"], row["challenge"]))
    return SpecialTable("Item response theory (2PL)", fitted.rows, [*data.notes, *notes], challenges)


__all__ = ["METHODS", "Method", "MethodReport", "Options", "duels", "rate", "wanted"]
