"""Players: their matches, what they were asked in every role, how they replied, and what that cost.

Games give players' probabilities (`GameSpec.forecasts`), and they count to the percent. Of what a
well-calibrated player calls 70% likely, seven in ten come true; the Brier score also rewards telling true
from false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from peerage.reading.replies import Replies
from peerage.reading.speed import quantile
from peerage.render.blocks import Column, Rows, explained, numbers, texts
from peerage.standings.accounts import Account
from peerage.values.figures import counted, dollars, percent, seconds, whole
from peerage.views.leaderboard.notes import maker_of
from peerage.views.shown import Shown

BINS = 10
"""Of equal width, over the probabilities from 0 to 1; the last holds 1 too."""
PLAYER = Column("player", "Player", link=lambda row: ("player", row.player))
POSSIBLY = Column(
    "possibly_usd", "Possibly", dollars, number=True, spare=1, value=lambda row: row.possibly_usd or None
)
"""The sum that may have been billed in addition, where that is anything."""


class PlayerStats(Shown, frozen=True):
    """What one player did in every role.

    `matches` were decided, `void_matches` came to nothing. `calls` are answered requests, `calls_as` counts
    them by role. Of the replies `invalid` were unusable also when asked again, `refused` declined, `void`
    never came (the provider failed). `asked_in` counts by role the matches in which it was asked, `failed_in`
    those of them in which a reply never came, and `failures` says both in words: "as a contestant no reply in
    19 of 23 matches, as a judge in 0 of 170"; empty where it always replied. `repaired` had to be
    asked twice for their format; `cut` ended at their limit; `failed` are attempts without a reply (retried,
    or cut off by a crash), those of probes too. `reasoning_tokens` are those of `output_tokens` that were
    thought and not said, `cached_tokens` those of `input_tokens` that were read from a provider's cache, as
    far as providers count them. `models` counts its replies by the model that its provider named, with the
    upstream that served it where a gateway says: "deepseek/deepseek-chat at DeepInfra". Latency in seconds,
    over its `answers`: the replies that came to
    what it was asked as a contestant (see `speed`); None without any. `cost_usd` is what it is known to have
    been billed, None while the cost of no call is known; `possibly_usd` what it may have been billed in
    addition, in all games (failed calls, replies of unknown cost), None without a known price. `brier` and
    `calibration_error` say how well its `forecasts` hold (`calibration`), None where it gave none.
    """

    player: str
    model: str
    family: str
    maker: str
    matches: int
    wins: int
    draws: int
    losses: int
    void_matches: int
    calls: int
    calls_as: dict[str, int]
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    possibly_usd: float | None
    cost_per_match: float | None
    answers: int
    latency_mean_s: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    invalid: int
    refused: int
    void: int
    repaired: int
    cut: int
    failed: int
    reasoning_tokens: int
    cached_tokens: int
    models: dict[str, int]
    asked_in: dict[str, int]
    failed_in: dict[str, int]
    failures: str
    forecasts: int
    brier: float | None
    calibration_error: float | None


def player_stats(
    name: str,
    model: str,
    family: str,
    *,
    account: Account,
    possibly: int,
    said: Replies,
    given: Mapping[int, int],
    failed_probes: int,
) -> PlayerStats:
    """Return what a player did, by its account and its replies; `possibly` is what it may have been billed
    beyond what is known, in 1e-9 dollars, `given` its forecasts, `failed_probes` the probes without reply."""
    answers = sum(said.waits.values())
    calibrated = calibration(given)
    waited = sum([wait * count for wait, count in said.waits.items()])
    from_account = ("matches", "wins", "draws", "losses", "calls", "input_tokens", "output_tokens")
    return PlayerStats(
        player=name,
        model=model,
        family=family,
        maker=maker_of(family),
        **{field: getattr(account, field) for field in from_account},
        void_matches=account.void,
        calls_as=dict(sorted(said.calls.items())),
        cost_usd=account.cost_usd,
        possibly_usd=None if account.unknown_costs and not possibly else possibly / 1e9,
        cost_per_match=account.cost_per_match,
        answers=answers,
        latency_mean_s=waited / answers / 1e3 if answers else None,
        latency_p50_s=quantile(said.waits, 0.5),
        latency_p95_s=quantile(said.waits, 0.95),
        **{status: said.statuses.get(status, 0) for status in ("invalid", "refused", "void")},
        repaired=said.repaired,
        cut=said.cut,
        failed=said.lost + failed_probes,
        reasoning_tokens=said.reasoning_tokens,
        cached_tokens=said.cached_tokens,
        models=dict(sorted(said.models.items())),
        asked_in=dict(sorted(said.asked.items())),
        failed_in=dict(sorted(said.failed.items())),
        failures=failures_in_words(said.asked, said.failed),
        forecasts=calibrated.forecasts if calibrated else 0,
        brier=calibrated.brier if calibrated else None,
        calibration_error=calibrated.error if calibrated else None,
    )


def failures_in_words(asked: Mapping[str, int], failed: Mapping[str, int]) -> str:
    """Return by role in how many matches a player gave no reply; empty where it always replied."""
    if not any(failed.values()):
        return ""
    roles = sorted(asked, key=lambda role: (role != "contestant", role))
    counts = [f"{_AS.get(role, role)} in {failed.get(role, 0):,} of {asked[role]:,}" for role in roles]
    counts[0] = f"{counts[0].replace(' in ', ' no reply in ', 1)} matches"
    return ", ".join(counts)


_AS = {
    "contestant": "as a contestant",
    "author": "as an author",
    "committee": "as a committee member",
    "judge": "as a judge",
}


class Calibration(NamedTuple):
    """The calibration of one player's probabilities. `brier` is the mean of (probability - truth)², 0 at best
    (Brier, 1950). `error` is the mean distance between what was said and what came true, over `BINS` bins and
    weighed by their forecasts (the expected calibration error of Naeini, Cooper and Hauskrecht, 2015)."""

    forecasts: int
    brier: float
    error: float


def calibration(counts: Mapping[int, int]) -> Calibration | None:
    """The figures of one player's forecasts; None for none."""
    total = sum(counts.values())
    if not total:
        return None
    squares, gaps = 0.0, [0.0] * BINS
    for key, count in counts.items():
        percent, came_true = divmod(key, 2)
        squares += count * (percent / 100 - came_true) ** 2
        gaps[min(percent * BINS // 100, BINS - 1)] += count * (percent / 100 - came_true)
    return Calibration(total, squares / total, sum(map(abs, gaps)) / total)


def table(rows: Sequence[PlayerStats]) -> Rows:
    """Return the table of players."""
    columns = [
        PLAYER,
        *texts(maker="Maker ~12"),
        *numbers(whole, matches="Matches", wins="W ~4", draws="D ~4", losses="L ~4"),
        Column("calls", "Calls", whole, number=True, spare=6, tip=_by_role),
        Column("input_tokens", "Tokens in", whole, number=True, spare=9, tip=_cached),
        Column("output_tokens", "Tokens out", whole, number=True, spare=9, tip=_thought),
        *numbers(dollars, cost_usd="Billed"),
        replace(POSSIBLY, spare=8),
        *numbers(seconds, latency_p50_s="Answer ~3", latency_p95_s="95% ~7"),
        *numbers(whole, repaired="Repaired ~10", cut="Cut ~10", invalid="Invalid ~2"),
        *numbers(whole, refused="Refused ~1"),
        Column("void", "No reply", whole, number=True, spare=1, tip=_failed),
        Column("brier", "Brier", "{:.4f}".format, number=True, spare=5, tip=_forecast),
        *numbers(percent, calibration_error="Calibration ~5"),
    ]
    hints = explained(
        columns,
        brier="the mean of (probability - truth)² over the probabilities that it gave; 0 is perfect, "
        "50% for everything comes to 0.25",
        calibration_error="the mean distance between these probabilities and what came true",
        possibly_usd="what it may have been billed in addition, at most, for calls that failed or "
        "stated no usage",
        latency_p50_s="the median time of its answers as a contestant",
        latency_p95_s="the time that 95% of these answers took at most",
        repaired="unusable replies that were asked for again and then could be used",
        cut="replies that ended at their token limit",
        invalid="replies that could not be used, also when asked again",
        void="requests that its provider failed to answer",
    )
    title = "Players: matches, what they were asked and how they replied"
    return Rows(rows, hints, title=title, name="players")


def billed(rows: Sequence[PlayerStats]) -> Rows:
    """Return what each player's calls came to."""
    columns = [
        PLAYER,
        *numbers(whole, calls="Calls", input_tokens="Tokens in ~2", output_tokens="Tokens out ~2"),
        *numbers(dollars, cost_usd="Billed"),
        POSSIBLY,
    ]
    return Rows(rows, columns, title="Calls in every role, and what they cost", name="players")


def _by_role(row: PlayerStats) -> str:
    return ", ".join([f"{count:,} as {role}" for role, count in row.calls_as.items()])


def _cached(row: PlayerStats) -> str:
    return f"{row.cached_tokens:,} of them from a cache" if row.cached_tokens else ""


def _thought(row: PlayerStats) -> str:
    return f"{row.reasoning_tokens:,} of them reasoning" if row.reasoning_tokens else ""


def _failed(row: PlayerStats) -> str:
    return "; ".join(filter(None, (row.failures, counted(row.failed, "failed attempt"))))


def _forecast(row: PlayerStats) -> str:
    return f"over {counted(row.forecasts, 'forecast')}"
