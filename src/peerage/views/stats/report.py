"""What everybody did: statistics of players, judges and authors over the finished matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from peerage.engine.record.probed import ProbeCost, probe_costs
from peerage.game.protocol import SANDBOX
from peerage.judging.marks.ballots import ballots_in, judge_statistics
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import read_reply
from peerage.reading.matches import in_words
from peerage.reading.observations import Drafts, Replies
from peerage.reading.reading import Reading
from peerage.reading.results.outside import SourceStats, listed
from peerage.reading.results.played import EVERYTHING, Scope
from peerage.reading.speed import quantile
from peerage.render.blocks import Column, Rows, explained, numbers, texts
from peerage.standings.accounts import NOTHING, Account
from peerage.values.figures import counted, dollars, hundredths, percent, rounded, seconds, whole
from peerage.views.leaderboard.notes import maker_of
from peerage.views.plan.costs import CostStats, KindStats, cost_stats, gained, kind_stats
from peerage.views.shown import Shown
from peerage.views.stats.calibration import calibration
from peerage.views.stats.hosts import HostedStats, hosted_stats
from peerage.views.stats.readings import Readings, ReadingStats

if TYPE_CHECKING:
    import pandas

    from peerage.render.table import Table


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


class JudgeStats(Shown, frozen=True):
    """One player as a judge; see `ballots.JudgeStatistics`. `flips` counts what changed with the
    order of the answers, `agreement` is with the other judges of the same matches."""

    player: str
    votes: int
    abstentions: int
    ties: int
    unusable: int
    flips: int
    flip_share: float | None
    agreement: float | None
    first_share: float | None


class AuthorStats(Shown, frozen=True):
    """One player as an author: finished `drafts`, how many were `approved`, the mean share of the committee
    that approved (None where no vote was valid), and `turns_lost` by an unusable, refused or void text."""

    player: str
    drafts: int
    approved: int
    approval: float | None
    turns_lost: int


class ProbeStats(Struct, frozen=True):
    """The `probes` of one player, the small questions before runs, and what they cost in dollars: billed, and
    beyond that possibly billed (no usage reported, or a crash). They belong to no match and are in no other
    sum here. Both are None while the price of any probe is unknown."""

    player: str
    probes: int
    cost_usd: float | None
    possibly_usd: float | None


class UnfinishedStats(Struct, frozen=True):
    """The `calls` of one player in matches that have not ended yet, and what they cost in dollars: billed,
    and beyond that possibly billed (failed calls, calls in flight or left open by a crash, no usage
    reported). They are in no other sum here."""

    player: str
    calls: int
    cost_usd: float
    possibly_usd: float


class Stats(Shown, frozen=True):
    """All statistics of an arena; `voids` counts matches without a result by reason, `readings` are tables
    under each reading of its game, one after another (none where the game has but one), `outside` the
    imported results by source, `unfinished` what matches cost that have not ended yet, `hosted` what players
    took of the uptimes of their hosts, `costs` and `kinds` the information and matches that players' and
    games' dollars and hours bought."""

    matches: int
    voids: dict[str, int]
    players: tuple[PlayerStats, ...]
    judges: tuple[JudgeStats, ...]
    authors: tuple[AuthorStats, ...]
    readings: tuple[ReadingStats, ...]
    outside: tuple[SourceStats, ...]
    probes: tuple[ProbeStats, ...]
    unfinished: tuple[UnfinishedStats, ...]
    hosted: tuple[HostedStats, ...]
    costs: tuple[CostStats, ...]
    kinds: tuple[KindStats, ...]

    def to_pandas(self, of: Literal["players", "judges", "authors"] = "players") -> pandas.DataFrame:
        """A data frame of players, judges or authors with a column for each field. Raises ImportError where
        pandas is not installed."""
        return self._table(of).to_pandas()

    def _repr_html_(self) -> str:
        """For notebooks: what players, judges and authors did."""
        from peerage.render.html import notebook

        return notebook([part for part in parts(self)[:3] if part.rows])

    def _table(self, of: str) -> Table[Any]:
        from peerage.render.table import Table

        return Table(next(part for part in parts(self) if part.name == of))


def stats(reading: Reading, scope: Scope = EVERYTHING) -> Stats:
    """Statistics over the finished matches of a scope; reads every record and exchange once.

    Raises ScopeError for a game or topic without a match, LedgerError when the ledger cannot be read.
    """
    ledger, settings, played = reading.moment, reading.settings, reading.within(scope)
    read, accounts = reading.observed(scope), reading.accounts(played)
    readings = Readings()
    for stated in read.readings:
        readings.count(*stated)
    judges = judge_statistics(ballots_in(read.ballots))
    players = [player.name for player in settings.everyone]
    names = [*players, *sorted((accounts.keys() | read.replies.keys()) - {*players})]
    hosted, found, probes = hosted_stats(ledger), gained(played), probe_costs(ledger)
    return Stats(
        matches=read.matches,
        voids=read.voids,
        players=tuple(
            [
                _player(
                    name,
                    *reading.identities.get(name, ("", "")),
                    account=accounts.get(name, NOTHING),
                    possibly=reading.possibly_billed.get(name, 0),
                    said=read.replies.get(name, Replies()),
                    given=read.forecasts.get(name, {}),
                    failed_probes=probes.get(name, ProbeCost()).failed,
                )
                for name in names
            ]
        ),
        judges=tuple([JudgeStats(name, **msgspec.structs.asdict(found)) for name, found in judges.items()]),
        authors=tuple([_author(name, read.authors[name]) for name in sorted(read.authors)]),
        readings=readings.rows(reading.elo),
        outside=listed(ledger),
        probes=probe_stats(ledger),
        unfinished=unfinished_stats(ledger),
        hosted=hosted,
        costs=cost_stats(names, accounts, hosted, found),
        kinds=tuple(kind_stats(played, found, any(one.unknown_costs for one in accounts.values()))),
    )


def probe_stats(ledger: Ledger) -> tuple[ProbeStats, ...]:
    """What was spent on probes, by player in the order of names."""
    return tuple(
        [
            ProbeStats(
                player,
                cost.probes,
                None if cost.unknown else cost.billed_nano / 1e9,
                None if cost.unknown else cost.possibly_nano / 1e9,
            )
            for player, cost in sorted(probe_costs(ledger).items())
        ]
    )


def unfinished_stats(ledger: Ledger) -> tuple[UnfinishedStats, ...]:
    """What was spent in matches that have not ended yet, by player in the order of names."""
    first = ledger.heads()[1] + 1
    sums: dict[str, list[int]] = {}

    def add(player: str, billed: int, possibly: int | None) -> None:
        for place, more in enumerate((1, billed, possibly or 0)):
            sums.setdefault(player, [0, 0, 0])[place] += more

    for one in ledger.exchanges(first):
        if one.reply is not None and one.player != SANDBOX:
            known = read_reply(one).cost_nano
            add(one.player, known or 0, one.cost_nano if known is None else 0)
        elif one.player != SANDBOX:
            add(one.player, 0, one.lost_nano)
    return tuple(
        [
            UnfinishedStats(player, calls, billed / 1e9, possibly / 1e9)
            for player, (calls, billed, possibly) in sorted(sums.items())
        ]
    )


def _player(
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


def _author(name: str, tally: Drafts) -> AuthorStats:
    mean = sum(tally.approvals) / len(tally.approvals) if tally.approvals else None
    return AuthorStats(name, tally.drafts, tally.approved, mean, tally.turns_lost)


def parts(found: Stats) -> list[Rows]:
    """Return the tables of what everybody did, each under the name of its field."""
    return [
        Rows(
            found.players,
            explained(
                [
                    *texts(player="Player", maker="Maker ~12"),
                    *numbers(whole, matches="Matches", wins="W ~4", draws="D ~4", losses="L ~4"),
                    Column("calls", "Calls", whole, number=True, spare=6, tip=_by_role),
                    Column("input_tokens", "Tokens in", whole, number=True, spare=9, tip=_cached),
                    Column("output_tokens", "Tokens out", whole, number=True, spare=9, tip=_thought),
                    *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly ~8"),
                    *numbers(seconds, latency_p50_s="Answer ~3", latency_p95_s="95% ~7"),
                    *numbers(whole, repaired="Repaired ~10", cut="Cut ~10", invalid="Invalid ~2"),
                    *numbers(whole, refused="Refused ~1"),
                    Column("void", "No reply", whole, number=True, spare=1, tip=_failed),
                    Column("brier", "Brier", "{:.4f}".format, number=True, spare=5, tip=_forecast),
                    *numbers(percent, calibration_error="Calibration ~5"),
                ],
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
            ),
            title="Players: matches, what they were asked and how they replied",
            name="players",
        ),
        Rows(
            found.judges,
            explained(
                [
                    *texts(player="Judge"),
                    *numbers(whole, votes="Votes", ties="Ties", abstentions="Abstained"),
                    *numbers(whole, unusable="Unusable ~2", flips="Flipped ~5"),
                    *numbers(percent, flip_share="Flips", agreement="Agreement"),
                    *numbers(percent, first_share="Prefers the first ~3"),
                ],
                unusable="verdicts that could not be read",
                flips="votes that changed with the order of the answers",
                flip_share="their share of the votes that saw both orders",
                agreement="how often it votes as another judge of the same match does",
                first_share="how often it picks the answer shown first; a judge without bias has 50%",
            ),
            title="Judges",
            name="judges",
        ),
        Rows(
            found.authors,
            [
                *texts(player="Author"),
                *numbers(whole, drafts="Drafts", approved="Approved"),
                *numbers(percent, approval="Mean approval"),
                *numbers(whole, turns_lost="Invalid turns"),
            ],
            title="Authors",
            name="authors",
        ),
        Rows(
            found.readings,
            [
                *texts(reading="Reading"),
                *numbers(whole, rank=""),
                *texts(player="Player"),
                *numbers(whole, rating="Raw Elo", matches="Matches", wins="W", draws="D", losses="L"),
            ],
            title="Readings: where a game's rules leave room, the table under each of them",
            name="readings",
        ),
        Rows(
            found.outside,
            [
                *texts(source="Source", layout="Format"),
                *numbers(whole, results="Results", players="Players"),
                *texts(sha256="SHA-256 ~1"),
            ],
            title="Outside results: imported, not played here",
            name="outside",
        ),
        Rows(
            found.probes,
            [
                *texts(player="Player"),
                *numbers(whole, probes="Probes"),
                *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly billed"),
            ],
            title="Probes: small questions before runs, in no match and no other sum here",
            name="probes",
        ),
        Rows(
            found.unfinished,
            [
                *texts(player="Player"),
                *numbers(whole, calls="Calls"),
                *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly billed"),
            ],
            title="Matches that have not ended: their calls so far, in no other sum here",
            name="unfinished",
        ),
        hosted(found),
        costs(found),
        kinds(found),
    ]


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


def linked(part: Rows) -> Rows:
    """Return a table whose players lead to their pages."""
    return replace(
        part,
        columns=[
            replace(column, link=lambda row: ("player", row.player)) if column.key == "player" else column
            for column in part.columns
        ],
    )


def hosted(found: Stats) -> Rows:
    """Return what players took of the hours for which hosts were held."""
    columns = [
        *texts(player="Player", host="Host"),
        *numbers(whole, calls="Calls"),
        *numbers(hundredths, hours="Hours"),
        *numbers(dollars, billed_usd="Billed to calls", unused_usd="Start and idle"),
    ]
    about = "what players took of the hours held; what no call was billed is in no other sum here"
    return Rows(found.hosted, columns, title=f"On hosts: {about}", name="hosted")


def billed(found: Stats) -> Rows:
    """Return what each player's calls came to."""
    columns = [
        *texts(player="Player"),
        *numbers(whole, calls="Calls", input_tokens="Tokens in ~2", output_tokens="Tokens out ~2"),
        *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly ~1"),
    ]
    return Rows(found.players, columns, title="Calls in every role, and what they cost", name="players")


def costs(found: Stats) -> Rows:
    """Return what each player's dollars and hours bought."""
    columns = [
        *texts(player="Player"),
        *numbers(dollars, cost_usd="Cost"),
        *numbers(whole, matches="Matches"),
        *numbers(hundredths, bits="Bits"),
        *numbers(rounded, matches_per_usd="Matches/$", bits_per_usd="Bits/$"),
        *numbers(hundredths, gpu_hours="Hours held ~1"),
        *numbers(rounded, matches_per_gpu_hour="Matches/h ~1", bits_per_gpu_hour="Bits/h ~1"),
    ]
    title = "Costs: what dollars and hours bought; a bit of information halves the error of one rating"
    return Rows(found.costs, columns, title=title, name="costs")


def kinds(found: Stats) -> Rows:
    """Return what a dollar buys in each game or topic."""
    columns = [
        *texts(kind="Topic or game"),
        *numbers(dollars, cost_usd="Cost"),
        *numbers(whole, matches="Matches"),
        *numbers(hundredths, bits="Bits"),
        *numbers(rounded, matches_per_usd="Matches/$", bits_per_usd="Bits/$"),
    ]
    return Rows(found.kinds, columns, title="Topics, or games: what a dollar buys in each", name="kinds")


def remarks(found: Stats) -> Iterator[str]:
    """Yield why matches have no result, and where players did not reply, in sentences."""
    if found.voids:
        reasons = "; ".join(f"{number:,}: {in_words(reason)}" for reason, number in found.voids.items())
        yield f"Matches without a result: {reasons}."
    for row in found.players:
        if row.failures:
            yield f"{row.player}: {row.failures}."
