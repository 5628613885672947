"""The games of an arena: their rules, and the extras and players that their matches need."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, ValidationError

from peerage.games import GAMES
from peerage.scheduling.fixtures import Series
from peerage.scheduling.roles import first_shortage, peers_required
from peerage.scheduling.standing import Standing
from peerage.settings.mistakes import explain, models_in
from peerage.settings.own_tasks import TEMPLATES, templates_of
from peerage.settings.pairing import Pairing, Rating
from peerage.settings.shape import ArenaSettings
from peerage.settings.source import SettingsError, SettingsSource

ARENAS = {"cost_unit": "under `rating:`", "judging": "under `judging:`"}
"""Rules of games that are set for the whole arena, and where."""


def rules_of(settings: ArenaSettings, game: str = "") -> Any:
    """The settings of a game of the arena, by default the first, as its pydantic model, with the arena's unit
    of cost. Raises SettingsError."""
    name = game or settings.game
    model = GAMES[name].rules
    shared: dict[str, Any] = {
        "cost_unit": settings.rating.cost_unit,
        TEMPLATES: templates_of(settings.players),
    }
    if (heeded := _heeded(name)) is not None:
        shared["judging"] = settings.judging.model_dump(include={*heeded.model_fields})
    if settings.judges:
        shared["weights"] = "equal"  # who only judges has no rating that a vote could weigh by
    shared = {key: value for key, value in shared.items() if key in model.model_fields}
    stated = settings.lineup[name].rules
    remembers = "preset" not in stated and any(player.remembers for player in settings.players)
    usual = GAMES[name].secrecy.remembered if remembers else {}
    try:
        return model.model_validate({**usual, **stated, **shared})
    except ValidationError as error:
        path = ("games", name, "rules") if settings.games else ("rules",)
        raise SettingsError("\n".join(explain(error, model, path, SettingsSource("settings")))) from None


def series_of(settings: ArenaSettings, game: str = "") -> Series | None:
    """Return in which series players of a game of the arena meet: as it says, or else as the game prefers
    where nobody may remember a task that comes back in another seat."""
    name, stated = game or settings.game, settings.pairing.series
    if stated:
        return None if stated == "none" else stated
    remembers = any(player.remembers for player in settings.players)
    return "seats" if GAMES[name].seating.series(rules_of(settings, name)) and not remembers else None


def own_keys(settings: ArenaSettings, game: str) -> list[str]:
    """The keys that differ from what the preset of a game sets, such as `rules.judges`; empty without one.
    Those of the whole arena count for its first game. Raises SettingsError."""
    rules = rules_of(settings, game)
    preset = GAMES[game].presets.get(getattr(rules, "preset", ""))
    if preset is None or rules.preset == type(rules).model_fields["preset"].default:
        return []
    usual = type(rules).model_validate({"preset": rules.preset})
    stated: dict[str, tuple[BaseModel, BaseModel, Collection[str]]] = {"rules": (rules, usual, preset.rules)}
    if game == settings.game:
        stated["pairing"] = (settings.pairing, Pairing.model_validate(preset.pairing), preset.pairing)
        stated["rating"] = (settings.rating, Rating.model_validate(preset.rating), preset.rating)
    return [
        f"{section}.{key}"
        for section, (now, original, keys) in stated.items()
        for key in keys
        if getattr(now, key) != getattr(original, key)
    ]


def extra_installed(settings: ArenaSettings) -> None:
    """Raises SettingsError when a game under these rules needs an extra that is not installed."""
    lacking = [problem for game in settings.lineup if (problem := lacks_extra(settings.alone(game)))]
    if lacking:
        raise SettingsError("\n".join(lacking))


def lacks_extra(settings: ArenaSettings) -> str:
    """Return which extra the arena's one game needs that is not installed, and how to; empty: none."""
    extra = GAMES[settings.game].needs.extra(rules_of(settings))
    return extra and (
        f"{settings.game} under these rules needs the extra `{extra}`, which is not installed; "
        f"{installing(extra)}"
    )


def installing(extra: str) -> str:
    """Return how an extra is installed."""
    return f'run `pip install "peerage[{extra}]"` or `peerage doctor --install`'


def enough_players(settings: ArenaSettings) -> None:
    """Raises SettingsError when a match of these players, of any game, could lack contestants or roles."""
    templated = next((player for player in settings.players if player.template), None)
    if templated and not any(TEMPLATES in GAMES[game].rules.model_fields for game in settings.lineup):
        raise SettingsError(
            f"players: {templated.name} has a `template`, which is filled from tasks of yours, and "
            f"{' or '.join(settings.lineup)} has none. Name them: `tasks: tasks.csv`, or take `template` away"
        )
    lacking = [problem for game in settings.lineup if (problem := too_few(settings.alone(game)))]
    lacking += unheeded(settings)
    if lacking:
        raise SettingsError("\n".join(lacking))


def judged(settings: ArenaSettings, game: str) -> bool:
    """Return whether a game of the arena has judges, by its rules."""
    return any(needs.role == "judge" for needs in GAMES[game].officials(rules_of(settings, game)))


def unheeded(settings: ArenaSettings) -> list[str]:
    """Return the remarks about judges that no game of the arena heeds, one sentence each."""
    games = " or ".join(settings.lineup)
    problems = []
    heeding = [heeded for game in settings.lineup if (heeded := _heeded(game)) is not None]
    if settings.judges and not (heeding or any(judged(settings, game) for game in settings.lineup)):
        problems.append(
            f"judges: nobody judges in {games}; remove them, or play a game with judges, such as duel"
        )
    for key in settings.judging.model_fields_set:
        if key == "judges" and (heeding or any(judged(settings, game) for game in settings.lineup)):
            continue
        if not any(key in heeded.model_fields for heeded in heeding):
            what = "no task has a check" if heeding else "no judge compares two answers"
            problems.append(f"judging.{key}: {what} in {games}; remove it")
    return problems


def _heeded(game: str) -> type[BaseModel] | None:
    """The part of the arena's `judging` that a game heeds; None for none."""
    field = GAMES[game].rules.model_fields.get("judging")
    return next(models_in(field.annotation), None) if field is not None else None


def too_few(settings: ArenaSettings) -> str:
    """Return what a match of the arena's one game could lack, and what to change; empty: nothing."""
    spec = GAMES[settings.game]
    fewest = spec.contestants[0]
    listed = len(settings.players)
    if listed < fewest:
        return (
            f"players: found {listed}, and a match of {settings.game!r} has {fewest} contestants. "
            f"Add lines under `players:`; `house:0.5` is a player that needs no key"
        )
    if (
        not spec.seating.same_family(rules_of(settings))
        and len({player.family for player in settings.players}) < 2
    ):
        return (
            f"players: all {listed} are of the family {settings.players[0].family!r}, and by the rules of "
            f"{settings.game!r} here players of one family never meet. Add one of another family, or allow "
            "it under `rules:`"
        )
    initial = settings.rating.initial
    standings = [Standing(player.name, player.family, initial, initial) for player in settings.players]
    rules = rules_of(settings)
    named, wanted = len(settings.judges), settings.judging.judges
    required = peers_required(spec.officials(rules), named, wanted)
    shortage = first_shortage(required, standings)
    if shortage is not None:
        smallest = {name: 1 for name in ("committee", "judges") if getattr(rules, name, 0) > 1}
        least = spec.officials(rules.model_copy(update=smallest))
        enough = not first_shortage(peers_required(least, named, wanted), standings)
        panels = ", ".join([f"{name}: 1" for name in smallest])
        families = ", or give players of their own family another `family`" if shortage.kin_barred else ""
        return (
            f"players: found {listed}, too few for {settings.game!r}: {shortage}. Add players"
            + (", or name models that only judge, under `judges:`" if shortage.role == "judge" else "")
            + (f", or take smaller panels: `rules: {{{panels}}}`" if enough else "")
            + families
        )
    return ""
