"""What there is to play with: an arena's players and their prices, the games and whom a match needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from peerage.game.spec import GameSpec
from peerage.games import GAMES, adapted, license_of
from peerage.players.prices import price_of
from peerage.render.blocks import Rows, numbers, texts
from peerage.settings import ArenaSettings
from peerage.values.figures import span
from peerage.views.shown import Shown


class PlayerRow(Shown, frozen=True):
    """A player of the arena. Prices in dollars, None when unknown; `pricing_source` says who states them.
    Of a player of outside results alone the name is all that is known."""

    player: str
    model: str = ""
    family: str = ""
    architecture: str = ""
    base_url: str | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    gpu_hour_usd: float | None = None
    pricing_source: str = "outside results"
    price_known: bool = False


class GameRow(Shown, frozen=True):
    """A game. `contestants` are the fewest and the most of a match, `officials` the same by role. `license`
    is that of the package or library that it comes from; `needs` the extra that is missing here."""

    game: str
    version: int
    contestants: tuple[int, int]
    officials: Mapping[str, tuple[int, int]]
    about: str
    license: str
    needs: str = ""


def players(settings: ArenaSettings, today: date, outsiders: Iterable[str] = ()) -> Iterator[PlayerRow]:
    """Yield the players in order of the settings, at prices of `today`; then those of outside results."""
    for player in settings.everyone:
        price = price_of(player, today)
        yield PlayerRow(
            player=player.name,
            model=player.public_model,
            family=player.family,
            architecture=player.architecture,
            base_url=player.base_url,
            input_usd_per_million=price.input[0].femto / 1e9 if price.input else None,
            output_usd_per_million=price.output[0].femto / 1e9 if price.output else None,
            gpu_hour_usd=player.gpu_hour_price,
            pricing_source=price.source,
            price_known=price.known,
        )
    known = {player.name for player in settings.everyone}
    for name in [name for name in outsiders if name not in known]:
        yield PlayerRow(name)


def games(*, all: bool = False) -> Iterator[GameRow | ImportError]:
    """Every game at default rules; of one that cannot load, why. With `all` other libraries' games too."""
    for name in GAMES:
        try:
            game = GAMES[name]
        except ImportError as error:
            yield error
            continue
        yield _game_row(game, license_of(name))
    if all:
        yield from (_game_row(game, license) for game, license in adapted())


def _game_row(game: GameSpec[Any], license: str) -> GameRow:
    rules = game.rules()
    officials: dict[str, tuple[int, int]] = {
        bench.role: (bench.minimum, bench.wanted) for bench in game.officials(rules)
    }
    needs = game.needs.extra(rules)
    return GameRow(game.name, game.version, game.contestants, officials, game.about, license, needs)


def games_table(rows: Sequence[GameRow], notes: Sequence[str], *, all: bool) -> Rows:
    """Return games as a table: who is needed for a match, or of `all` whose they are and what is missing."""
    columns = [
        *texts(game="Game"),
        *numbers(str, version="Version ~1"),
        *numbers(span, contestants="Contestants"),
        *(texts(license="License ~2") if all else texts(_roles, officials="Roles ~2")),
        *(texts(_status, needs="Status") if all else ()),
        *texts(about="About"),
    ]
    return Rows(rows, columns, notes=notes, name="games")


def _status(needs: str) -> str:
    return f"needs peerage[{needs}]" if needs else "installed"


def _roles(officials: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join([f"{span(count)} {role}" for role, count in officials.items()])
