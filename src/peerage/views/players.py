"""Players and who beat whom, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from peerage.engine.record.model_watch import in_words
from peerage.reading.reading import Reading
from peerage.reading.results.tally import Record
from peerage.render.blocks import Column, Rows, Small, numbers, texts
from peerage.settings import ArenaSettings
from peerage.settings.players.hours import closed_until, read_hours
from peerage.values.figures import counted, exact_dollars, moment, percent, whole
from peerage.views.catalogue import PlayerRow
from peerage.views.leaderboard.notes import maker_of
from peerage.views.shown import Shown


class PairRow(Shown, frozen=True):
    """The decided matches of `player` against `other`; in a match of many, whose score was better counts.
    `share` is that of the points, a draw being half of one, from 0 to 1."""

    player: str
    other: str
    matches: int
    wins: int
    draws: int
    losses: int
    share: float


def players_table(rows: Sequence[PlayerRow], notes: Sequence[str] = (), title: str = "Players") -> Rows:
    """Return who plays, with today's prices; `notes` say more about some of them."""
    columns = [
        *texts(player="Player", model="Model", family="Family ~2"),
        *numbers(exact_dollars, input_usd_per_million="$ in", output_usd_per_million="$ out"),
        *texts(pricing_source="Prices from ~1"),
    ]
    unknown = ", ".join(row.player for row in rows if row.model and not row.price_known)
    unpriced = (
        f"No price is known for {unknown}: their matches stay off the cost track, and a budget refuses them. "
        "`price: {input: …, output: …}` states one."
    )
    notes = [*[unpriced] * bool(unknown), *notes, "$ in, $ out: dollars per million tokens"]
    return Rows(rows, columns, title=title, notes=notes, name="players")


def summary(rows: Sequence[PlayerRow]) -> str:
    """Return in a sentence who plays, and between which prices."""
    makers = {maker_of(row.family) for row in rows if row.family}
    outside = sum(not row.model for row in rows)
    prices = sorted([row.output_usd_per_million for row in rows if row.output_usd_per_million is not None])
    between = " to ".join(dict.fromkeys(map(exact_dollars, (prices[0], prices[-1])))) if prices else ""
    ends = ", free" if between == "$0" else f", {between} for a million tokens out" * bool(between)
    own = f"{counted(len(rows) - outside, 'player')} of {counted(len(makers), 'maker')}{ends}"
    others = f"{counted(outside, 'player')} of outside results"
    return "; ".join([own] * (outside < len(rows) or not rows) + [others] * bool(outside)) + "."


def hours(settings: ArenaSettings, now_ms: int) -> Iterator[str]:
    """Yield when players are available, and until when one is out of its hours now."""
    for player in settings.everyone:
        if player.available:
            until = closed_until(read_hours(player.available), now_ms)
            out = f"; out of hours until {moment(until)}" if until else ""
            yield f"{player.name} is available {player.available}{out}"


def troubles(reading: Reading) -> Iterator[str]:
    """Yield who of the arena's players is benched, and whose provider changed what answers."""
    names = [player.name for player in reading.settings.everyone]
    out, models = reading.benched, reading.models
    yield from (f"{name} is {out[name].in_words}" for name in names if name in out)
    yield from (f"{name}: {line}" for name in names for line in in_words(models, name))


def pairs_table(rows: Sequence[PairRow]) -> Rows:
    """Return who beat whom how often."""
    columns = [
        *texts(player="Player", other="against"),
        *numbers(whole, wins="Won", draws="Drawn", losses="Lost"),
        *numbers(percent, share="Share"),
    ]
    return Rows(rows, columns, title="Head to head", name="pairs")


def head_to_head(names: Sequence[str], met: Callable[[str, str], Record]) -> Rows:
    """Return who has which share of the points against whom, the first player's row and column first."""

    def against(place: int, other: str) -> Column:
        def share(name: str) -> float | None:
            return None if name == other else met(name, other).rate

        def matches(name: str) -> Iterator[Small]:
            if share(name) is not None:
                yield Small(whole(met(name, other).matches))

        return Column(
            str(place),
            other,
            lambda rate: f"{100 * rate:.0f}",
            number=True,
            value=share,
            shade=share,
            link=lambda name: None if share(name) is None else ("pair", f"{name}\n{other}"),
            small=matches,
        )

    first = Column("player", "row against column", value=str, link=lambda name: ("player", name))
    note = "percent of the points, a draw being half a point, above how often they met"
    columns = [first, *[against(place, name) for place, name in enumerate(names)]]
    return Rows(names, columns, notes=[note], name="head-to-head", sorts=False)
