"""The arena of a new panel: its rules, and the settings that are written down for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import yaml

from peerage.engine.again.rejudge import rules_like
from peerage.games import GAMES
from peerage.games.rejudge import GAME, RejudgeRules
from peerage.settings import FILE_NAME, ArenaSettings, PlayerSettings, SettingsError, load, loads, rules_of


def settings_of_panel(
    source: ArenaSettings, target: Path, judges: Sequence[str], report: bool, files: bool
) -> tuple[ArenaSettings, str]:
    """Return the settings of the arena in `target` in which `judges` judge again what `source` or `files`
    hold, and the text to write them down with; empty where they are there. With `report` nobody judges.
    Raises SettingsError."""
    path = target / FILE_NAME
    if path.exists():
        return _there(path, judges, files), ""
    rules = RejudgeRules() if files else _rules(source)
    if rules.by == "scores" and not judges:
        judges = [player.name for player in source.players]
    if report or not judges:
        missing = "nothing was judged again here" if report else "name the new panel with --judges"
        raise SettingsError(f"{path} does not exist yet: {missing}; `peerage rejudge --help` says how")
    known = {player.name: player for player in source.players}
    players = [_stated(known[judge]) if judge in known else {"model": judge} for judge in judges]
    hosts = {
        name: host.model_dump(mode="json", exclude_defaults=True)
        for name, host in source.hosts.items()
        if any(player.get("host") == name for player in players)
    }
    text = "# Recorded answers, judged again. `peerage rejudge` made it.\n" + yaml.safe_dump(
        {
            "name": f"{source.name}, judged{'' if files else ' again'}",
            **({} if source.seed is None else {"seed": source.seed}),
            "game": GAME.name,
            "players": players,
            **({"hosts": hosts} if hosts else {}),
            "rules": rules.model_dump(mode="json"),
        },
        sort_keys=False,
        allow_unicode=True,
    )
    return loads(text, "--judges"), text


def _there(path: Path, judges: Sequence[str], files: bool) -> ArenaSettings:
    """Return the settings that are written down already. Raises SettingsError where others are asked for."""
    settings, elsewhere = load(path.parent), "`--to FOLDER` names another folder"
    if settings.game != GAME.name:
        raise SettingsError(f"{path} is an arena of {settings.game!r}; {elsewhere}")
    if files and rules_of(settings).by == "scores":
        raise SettingsError(f"{path}: a panel judges answers of files, and rules.by is scores; {elsewhere}")
    names = [player.name for player in settings.players]
    models = [player.model for player in settings.players]
    if judges and any(judge not in both for judge, *both in zip_longest(judges, names, models, fillvalue="")):
        raise SettingsError(
            f"{path}: its judges are {', '.join(names)}, and --judges says {', '.join(judges)}. Leave "
            "--judges out to go on with them, or name another folder with --to"
        )
    return settings


def _stated(player: PlayerSettings) -> dict[str, Any]:
    """Return a player as settings state it; the price of a hosted one is that of its host."""
    priced = {"gpu_hour_price"} if player.host else set()
    return player.model_dump(mode="json", exclude_defaults=True, exclude=priced)


def _rules(source: ArenaSettings) -> RejudgeRules:
    """Return the new judges' rules: those of the first of the games that judges decide, or of the first."""
    for game in source.lineup:
        spec, rules = GAMES[game], rules_of(source, game)
        if spec.judging.again is not None or any(bench.role == "judge" for bench in spec.officials(rules)):
            return rules_like(game, rules)
    return rules_like(source.game, rules_of(source, source.game))
