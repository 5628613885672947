"""Players that see and hear: what tasks of the arena's games show, and who takes that.

A player that does not take what a game shows is left out of it, as contestant and as judge; that rests on its
settings, else on what is on record of its probe. Of one that was never asked nobody knows, so it plays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from peerage.engine.record.probed import probed_media
from peerage.game.media import Kind
from peerage.games import GAMES
from peerage.ledger import Ledger
from peerage.players.checks import needs_probe
from peerage.players.keys import PROVIDERS
from peerage.players.media import KINDS
from peerage.settings import ArenaError, ArenaSettings, rules_of, too_few
from peerage.values.figures import listed


def left_out(settings: ArenaSettings, ledger: Ledger | None) -> dict[str, dict[str, list[Kind]]]:
    """Return who is left out of which game, and for want of what. Raises LedgerError and SettingsError."""
    may_lack = [each for each in settings.everyone if each.takes is not None or needs_probe(each)]
    if not may_lack:
        return {}
    known = {} if ledger is None else probed_media(ledger)
    for each in may_lack:
        if each.takes is not None:
            known[each.name] = {kind: kind in each.takes for kind in KINDS}
    out: dict[str, dict[str, list[Kind]]] = {}
    for game in settings.lineup:
        kinds = GAMES[game].needs.media(rules_of(settings, game))
        for player in may_lack:
            taken = known.get(player.name, {})
            if lacking := [kind for kind in KINDS if kind in kinds and taken.get(kind) is False]:
                out.setdefault(game, {})[player.name] = lacking
    return out


def seated(settings: ArenaSettings, ledger: Ledger | None) -> list[str]:
    """Return the players that some game of the arena is not played without. Raises as `left_out`."""
    out = left_out(settings, ledger)
    names = [player.name for player in settings.players]
    return [name for name in names if any(name not in out.get(game, ()) for game in settings.lineup)]


def left_out_in_words(settings: ArenaSettings, ledger: Ledger | None) -> list[str]:
    """Return a sentence for each game that is played without somebody."""
    return [
        f"{game} is played without {listed(list(lacking))}: its tasks hold {_named(lacking)}, which their "
        "settings or probes say they do not take. If one does, state `takes: [image]` for it (or "
        "`[image, audio]`)"
        for game, lacking in left_out(settings, ledger).items()
    ]


def refuse_too_blind(settings: ArenaSettings, ledger: Ledger | None) -> None:
    """Raise ArenaError where those who take what a game shows are too few to play or to judge it."""
    for game, lacking in left_out(settings, ledger).items():
        left = settings.alone(game).without(lacking)
        lacks = "no judge is" if settings.judges and not left.judges else "too few players are"
        if lacks.startswith("no") or too_few(left):
            raise ArenaError(
                f"{game}: its tasks hold {_named(lacking)}, which {listed(list(lacking))} do not take, by "
                f"their settings or probes, and {lacks} left. Add some that do, or state `takes: [image]` "
                "(or `[image, audio]`) for one that is misjudged"
            )


def _named(lacking: Mapping[str, Collection[Kind]]) -> str:
    return listed([KINDS[kind] for kind in KINDS if any(kind in kinds for kinds in lacking.values())])


def media_to_ask(settings: ArenaSettings, ledger: Ledger) -> dict[str, list[Kind]]:
    """Return about which kinds each player is to be asked: those that a game shows, of models that neither
    settings nor an earlier probe say it of. Raises LedgerError and SettingsError."""
    asked = [each for each in settings.everyone if each.takes is None and each.provider in PROVIDERS]
    if not asked:
        return {}
    shown = {kind for game in settings.lineup for kind in GAMES[game].needs.media(rules_of(settings, game))}
    known = probed_media(ledger) if shown else {}
    open_kinds = {
        each.name: [kind for kind in KINDS if kind in shown and kind not in known.get(each.name, {})]
        for each in asked
    }
    return {name: kinds for name, kinds in open_kinds.items() if kinds}
