"""One door to every method: data in, table out. What `peerage rate` calls.

>>> from peerage.ratings.data import Battles
>>> played = Battles(("ann", "bob"), duels(2, [0, 0, 1], [1, 1, 0], [1, 0.5, 1]))
>>> report = rate(played, Options(method="bt"))
>>> [(row["player"], row["rank"], row["games"]) for row in report.rows]
[('ann', 1, 3), ('bob', 1, 3)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from peerage.ratings import bradley_terry, glicko2, judges, published, trueskill, weng_lin
from peerage.ratings.data import Battles, Played
from peerage.ratings.elo import CostMode, DuelResult, EloSettings, fold
from peerage.ratings.history import Duels, Games, Seats, duels, free_for_all, games, pairings
from peerage.ratings.orders import elo
from peerage.ratings.resampling import bootstrap
from peerage.ratings.rows import fit_clustered, fit_covariates
from peerage.ratings.table import Row, ranks
from peerage.ratings.tally import inverse_frequency
from peerage.ratings.tie_models import Ties

Method = Literal[
    "auto",
    "bt",
    "elo",
    "elo-averaged",
    "trueskill",
    "plackett-luce",
    "weng-lin-bt",
    "glicko2",
    "judge-aware",
]
METHODS: tuple[Method, ...] = (
    "auto",
    "bt",
    "elo",
    "elo-averaged",
    "trueskill",
    "plackett-luce",
    "weng-lin-bt",
    "glicko2",
    "judge-aware",
)


@dataclass(frozen=True, slots=True)
class Options:
    """What to compute; None leaves a constant at its method's default.

    `method` auto is Elo as published for `cob`, TrueSkill for games, Bradley-Terry for battles. `k` is
    Elo's K, and the k of mu - k·sigma elsewhere. `cluster` and `controls` name columns that were read.
    `anchor` is the player who stands at 1500 (methods of 400 points a decade).
    """

    method: Method = "auto"
    track: Literal["raw", "cost"] = "raw"
    k: float | None = None
    initial: float = 1500.0
    mu: float | None = None
    sigma: float | None = None
    beta: float | None = None
    tau: float | None = None
    draw_probability: float | None = None
    ties: Ties = "half"
    cost_sensitivity: float = 0.2
    cost_mode: CostMode = "linear"
    cluster: str | None = None
    controls: tuple[str, ...] = ()
    inverse_frequency: bool = False
    bootstrap: int = 0
    orders: int = 100
    seed: int = 0
    seats: Seats = "mean"
    anchor: str | None = None
    as_published: bool = False


@dataclass(frozen=True)
class Report:
    """A table from best to worst: plain rows, what they are, and what a reader must know."""

    title: str
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]


def rate(data: Battles | Played, options: Options) -> Report:
    """Rate what was read. Raises ValueError where method, options and data do not go together."""
    method = options.method
    if method == "auto":
        method = "elo" if data.layout == "cob" else "bt" if isinstance(data, Battles) else "trueskill"
    _refuse_unused(data, method, options)
    if method == "trueskill":
        title, rows, notes = _trueskill(data, options)
    elif method in ("plackett-luce", "weng-lin-bt"):
        title, rows, notes = _weng_lin(data, method, options)
    elif method == "glicko2":
        title, rows, notes = _glicko2(data, options)
    elif method in ("elo", "elo-averaged"):
        title, rows, notes = _elo(data, method, options)
    elif method == "judge-aware":
        title, rows, notes = _judge_aware(data)
    else:
        title, rows, notes = _bradley_terry(data, options)
    shift = 0.0
    if options.anchor is not None:
        if options.anchor not in data.names:
            raise ValueError(
                f"anchor {options.anchor!r} does not play; the players are {', '.join(data.names)}"
            )
        shift = 1500 - rows[data.names.index(options.anchor)].rating
    if isinstance(data, Played):
        met = _games(data, options).played()
        rows = [replace(row, games=float(met[row.player])) for row in rows]
    shown = [_plain(data.names[row.player], row, shift) for row in rows]
    shown.sort(key=lambda row: (-row["rating"], row["player"]))
    return Report(title, tuple(shown), (*data.notes, *notes))


def _plain(name: str, row: Row, shift: float) -> dict[str, Any]:
    known = row.lower == row.lower
    plain: dict[str, Any] = {
        "player": name,
        "rating": row.rating + shift,
        "lower": row.lower + shift if known else None,
        "upper": row.upper + shift if known else None,
        "rank": row.rank,
        "rank_range": list(row.rank_range),
        "games": int(row.games) if row.games == int(row.games) else row.games,
    }
    if row.mu is not None:
        plain |= {"mu": row.mu, "sigma": row.sigma}
    return plain


def _refuse_unused(data: Battles | Played, method: Method, options: Options) -> None:
    regression = method == "bt"
    for name, used, given in (
        ("cluster", regression, options.cluster is not None),
        ("control", regression, bool(options.controls)),
        ("bootstrap", regression, options.bootstrap > 0),
        ("ties", regression, options.ties != "half"),
        ("track cost", method == "elo", options.track == "cost"),
        ("anchor", method not in ("trueskill", "plackett-luce", "weng-lin-bt"), options.anchor is not None),
    ):
        if given and not used:
            raise ValueError(f"{name} does not go with the method {method}")
    if isinstance(data, Played) and (options.controls or options.cluster or options.track == "cost"):
        raise ValueError("cluster, control and track cost read columns of battles; these are games")


def _duels(data: Battles | Played, options: Options) -> Duels:
    history = data.duels if isinstance(data, Battles) else pairings(_games(data, options))[0]
    return inverse_frequency(history) if options.inverse_frequency else history


def _games(data: Battles | Played, options: Options) -> Games:
    if isinstance(data, Played):
        return games(len(data.names), data.games, seats=options.seats)
    history = data.duels
    seated = np.stack([history.first, history.second], axis=1)
    ranks = np.stack([1 - history.score, history.score], axis=1)
    made = free_for_all(history.players, seated.reshape(-1, 2), ranks.reshape(-1, 2))
    made.weight[:] = history.weight
    return made


def _bradley_terry(data: Battles | Played, options: Options) -> tuple[str, Sequence[Row], list[str]]:
    history = _duels(data, options)
    cluster: Sequence[str] | np.ndarray | None = None
    if isinstance(data, Played):
        cluster = pairings(_games(data, options))[1]
    elif options.cluster:
        cluster = data.labels[options.cluster]
    if options.controls and isinstance(data, Battles):
        if options.bootstrap or options.ties != "half":
            raise ValueError("control takes ties as half wins, and robust rather than bootstrap intervals")
        columns = np.column_stack([data.controls[name] for name in options.controls])
        table = fit_covariates(history, columns, options.controls, cluster=cluster)
    elif options.bootstrap:
        table = bootstrap(
            history, draws=options.bootstrap, seed=options.seed, ties=options.ties, cluster=cluster
        )
    elif cluster is not None:
        table = fit_clustered(history, cluster, ties=options.ties)
    else:
        table = bradley_terry.fit_duels(history, ties=options.ties)
    notes = [
        f"held equal: {effect.name}, {effect.points:+.1f} points a standard deviation "
        f"({effect.lower:+.1f} to {effect.upper:+.1f})"
        for effect in table.effects
    ]
    if not table.connected:
        notes.append(
            f"not everybody can be compared: {len(table.components)} groups without wins both ways; "
            f"each player was given {table.prior_games:g} tied game against a phantom of average strength"
        )
    if not np.isnan(table.tie):
        notes.append(f"tie parameter ({options.ties}): {table.tie:.4f}")
    if table.clusters:
        notes.append(f"intervals allow for {table.clusters} clusters ({options.cluster or 'game'})")
        if table.clusters < 30:
            notes.append("so few clusters make intervals that are rough, and often too narrow")
    return "Bradley-Terry, 95 % intervals", table.rows, notes


def _elo(data: Battles | Played, method: Method, options: Options) -> tuple[str, Sequence[Row], list[str]]:
    k = options.k if options.k is not None else 32.0 if data.layout == "cob" else 16.0
    if options.track == "cost" and isinstance(data, Battles):
        return _cost_elo(data, k, options)
    history = _duels(data, options)
    table = elo(history, k_factor=k, initial=options.initial, orders=options.orders, seed=options.seed)
    notes = []
    if options.orders:
        notes.append(f"intervals hold 95 % of {options.orders} random orders: they are about order alone")
        leaders = sorted(table.leaders.items(), key=lambda item: -item[1])
        shares = ", ".join(f"{data.names[player]} {share:.0%}" for player, share in leaders[:5])
        notes.append(f"leader by order: {shares}")
    if method == "elo-averaged":
        return f"Elo, K = {k:g}, mean of {options.orders} orders", table.rows, notes
    return f"Elo, K = {k:g}, in order", table.rows_in_order, notes


def _cost_elo(data: Battles, k: float, options: Options) -> tuple[str, Sequence[Row], list[str]]:
    if data.costs is None:
        raise ValueError("track cost needs the columns cost_a and cost_b")
    settings = EloSettings(
        k_factor=k,
        initial=options.initial,
        cost_sensitivity=options.cost_sensitivity,
        cost_mode=options.cost_mode,
        propagation_width=None,
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
    met = np.bincount(history.first, minlength=history.players) + np.bincount(
        history.second, minlength=history.players
    )
    unknown = int(np.isnan(data.costs).any(axis=0).sum())
    notes = [f"{unknown} battles without both costs are left out"] if unknown else []
    return f"Elo adjusted for cost, {options.cost_mode}", _without_intervals(ratings, met), notes


def _without_intervals(ratings: np.ndarray, met: np.ndarray) -> list[Row]:
    nan = float("nan")
    everybody = (1, len(ratings))
    placed = ranks(ratings)
    return [
        Row(i, float(ratings[i]), nan, nan, placed[i], everybody, float(met[i])) for i in range(len(ratings))
    ]


def _given(options: Options, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def _trueskill(data: Battles | Played, options: Options) -> tuple[str, Sequence[Row], list[str]]:
    given = _given(options, "k", "mu", "sigma", "beta", "tau", "draw_probability")
    if options.as_published and isinstance(data, Played) and not given:
        table = published.rate(games(len(data.names), data.games, seats="each"))
        return "TrueSkill as published (the package's own rounding)", table.rows, []
    notes = []
    if data.layout == "valyrian" and options.draw_probability is None:
        given["draw_probability"] = 0.0
        notes.append("draw probability 0 in the exact limit; --format valyrian gives the published table")
    settings = trueskill.TrueSkillSettings(**given)
    if isinstance(data, Battles):
        table = trueskill.rate_duels(_duels(data, options), settings)
    else:
        table = trueskill.rate(_games(data, options), settings)
    return f"TrueSkill, sorted by mu - {settings.k:g} sigma; intervals of mu", table.rows, notes


def _weng_lin(
    data: Battles | Played, method: Method, options: Options
) -> tuple[str, Sequence[Row], list[str]]:
    model: Literal["plackett-luce", "bradley-terry"] = (
        "plackett-luce" if method == "plackett-luce" else "bradley-terry"
    )
    settings = weng_lin.WengLinSettings(model=model, **_given(options, "k", "mu", "sigma", "beta", "tau"))
    table = weng_lin.rate(_games(data, options), settings)
    return f"Weng-Lin, {model}, sorted by mu - {settings.k:g} sigma; intervals of mu", table.rows, []


def _glicko2(data: Battles | Played, options: Options) -> tuple[str, Sequence[Row], list[str]]:
    history = _duels(data, options)
    settings = glicko2.Glicko2Settings(rating=options.initial, **_given(options, "tau"))
    bounds = glicko2.even_periods(history)
    table = glicko2.rate(history, settings, bounds=bounds)
    return (
        "Glicko-2; mu and sigma are rating and deviation",
        table.rows,
        [f"{len(bounds) - 1} rating periods"],
    )


def _judge_aware(data: Battles | Played) -> tuple[str, Sequence[Row], list[str]]:
    if isinstance(data, Played) or "judge" not in data.labels:
        raise ValueError("judge-aware needs battles with a column judge")
    fitted = judges.fit(data.duels, data.labels["judge"])
    notes = [
        f"judge {name}: reliability {reliability:.2f} ({low:.2f} to {high:.2f}), {count:g} votes"
        for name, reliability, low, high, count in fitted.listed
    ]
    return "Bradley-Terry with judges' reliabilities", fitted.rows, notes


__all__ = ["METHODS", "Method", "Options", "Report", "duels", "rate"]
