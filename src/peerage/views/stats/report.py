"""What everybody did: statistics of players, judges and authors over the finished matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from peerage.engine.record.probed import ProbeCost, probe_costs
from peerage.judging.marks.ballots import JudgeStatistics, ballots_in, judge_statistics
from peerage.reading.match import in_words
from peerage.reading.reading import Reading
from peerage.reading.replies import Replies
from peerage.reading.scope import EVERYTHING, Scope
from peerage.render.blocks import Rows
from peerage.standings.accounts import NOTHING
from peerage.values.figures import counted, dollars, listed
from peerage.values.texts import visible
from peerage.views.shown import Shown
from peerage.views.stats import costs, officials, outside, players, spending
from peerage.views.stats.costs import CostStats, KindStats
from peerage.views.stats.officials import AuthorStats
from peerage.views.stats.outside import SourceStats
from peerage.views.stats.players import PlayerStats
from peerage.views.stats.spending import HostedStats, ProbeStats, UnfinishedStats

if TYPE_CHECKING:
    import pandas

    from peerage.render.table import Table


class Stats(Shown, frozen=True):
    """All statistics of an arena; `voids` counts matches without a result by reason, `outside` the
    imported results by source, `unfinished` what matches cost that have not ended yet, `hosted` what players
    took of the uptimes of their hosts, `costs` and `kinds` the information and matches that players' and
    games' dollars and hours bought."""

    matches: int
    voids: dict[str, int]
    players: tuple[PlayerStats, ...]
    judges: tuple[JudgeStatistics, ...]
    authors: tuple[AuthorStats, ...]
    outside: tuple[SourceStats, ...]
    probes: tuple[ProbeStats, ...]
    unfinished: tuple[UnfinishedStats, ...]
    hosted: tuple[HostedStats, ...]
    costs: tuple[CostStats, ...]
    kinds: tuple[KindStats, ...]

    def to_pandas(self, of: Literal["players", "judges", "authors"] = "players") -> pandas.DataFrame:
        """A data frame of players, judges or authors, a column a field. Raises ImportError without pandas."""
        return self._table(of).to_pandas()

    def _repr_html_(self) -> str:
        """For notebooks: what players, judges and authors did."""
        from peerage.render.html.writer import notebook

        return notebook([part for part in parts(self)[:3] if part.rows])

    def _table(self, of: str) -> Table[Any]:
        from peerage.render.table import Table

        return Table(next(part for part in parts(self) if part.name == of))


def stats(reading: Reading, scope: Scope = EVERYTHING) -> Stats:
    """Statistics over the finished matches of a scope; reads every record and exchange once. Raises
    ScopeError for a game or topic without a match, LedgerError when the ledger cannot be read."""
    ledger, settings, played = reading.moment, reading.settings, reading.within(scope)
    read, accounts = reading.observed(scope), reading.accounts(played)
    stated = [player.name for player in settings.everyone]
    names = [*stated, *sorted((accounts.keys() | read.replies.keys()) - {*stated})]
    hosted, probes = spending.hosted_stats(ledger), probe_costs(ledger)
    unpriced = any(account.unknown_costs for account in accounts.values())
    rows = [
        players.player_stats(
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
    return Stats(
        matches=read.matches,
        voids=read.voids,
        players=tuple(rows),
        judges=tuple(judge_statistics(ballots_in(read.ballots)).values()),
        authors=tuple([officials.author_stats(name, read.authors[name]) for name in sorted(read.authors)]),
        outside=outside.listed(reading.imported),
        probes=spending.probe_stats(ledger),
        unfinished=spending.unfinished_stats(ledger),
        hosted=hosted,
        costs=costs.cost_stats(names, accounts, hosted),
        kinds=tuple(
            costs.kind_stats(played, unpriced, lambda game: reading.within(replace(scope, game=game)))
        ),
    )


def parts(found: Stats) -> list[Rows]:
    """Return the tables of what everybody did, each under the name of its field."""
    return [
        players.table(found.players),
        officials.judges(found.judges),
        officials.authors(found.authors),
        outside.table(found.outside),
        spending.probes(found.probes),
        spending.unfinished(found.unfinished),
        spending.hosted(found.hosted),
        costs.by_player(found.costs),
        costs.by_kind(found.kinds),
    ]


def summary(found: Stats) -> list[str]:
    """Return what it all came to, in at most five lines: matches, calls and their cost, what was unusable."""
    rows = found.players
    voids = found.voids
    counts = {reason: f" ({number:,})" if len(voids) > 1 else "" for reason, number in voids.items()}
    without = counted(sum(voids.values()), "match")
    reasons = "; ".join(f"{in_words(reason)}{count}" for reason, count in counts.items())
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    billed = f"{dollars(sum(costs))} billed" if any(costs) else "free" if costs else "at an unknown cost"
    tokens = [sum(row.input_tokens for row in rows), sum(row.output_tokens for row in rows)]
    lines = [
        f"{counted(found.matches, 'match')} of {counted(len(rows), 'player')}: "
        f"{counted(sum(row.calls for row in rows), 'call')}, {billed}.",
        f"{without} without a result: {reasons}." if reasons else "Every match has a result.",
        f"{tokens[0]:,} tokens were read and {tokens[1]:,} written.",
    ]
    if bad := {row.player: row.invalid + row.void for row in rows if row.invalid or row.void}:
        worst = max(bad, key=lambda name: bad[name])
        left = f"{counted(sum(bad.values()), 'request')} without a usable reply"
        lines.append(f"{left}, {bad[worst]:,} of them by {worst}.")
    lines = lines if rows and tokens[0] else lines[:2]
    if found.outside:
        files = [f"{file.counted} ({visible(file.source)})" for file in found.outside]
        lines = [*lines * bool(found.matches), f"Outside results: {listed(files)}."]
    return lines


def remarks(found: Stats) -> Iterator[str]:
    """Yield where players did not reply, in sentences."""
    for row in found.players:
        if row.failures:
            yield f"{row.player}: {row.failures}."
