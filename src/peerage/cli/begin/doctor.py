"""What `peerage doctor` looks at: the installation, players, keys, servers, the arena and its ledger."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import typer

from peerage.cli.shared.options import at, program
from peerage.engine.record.probed import probe_costs
from peerage.engine.record.seeing import left_out_in_words, refuse_too_blind
from peerage.games import GAMES
from peerage.ledger import Ledger, LedgerError, LedgerMissing, open_ledger
from peerage.ledger.topics.uptimes import unused
from peerage.players import checks
from peerage.players.keys import PROVIDERS, found_keys
from peerage.players.prices import price_of
from peerage.playing.requirements import lacks_jail, refuse_workers
from peerage.playing.trials import trials_of, wrong_commands
from peerage.sandbox import image
from peerage.settings import (
    EVERY,
    FILE_NAME,
    ArenaError,
    ArenaSettings,
    PlayerSettings,
    SettingsError,
    enough_players,
    load,
    own_keys,
    rules_of,
)
from peerage.settings.lineup import installing
from peerage.standings.accounts import spent_by, unpriced
from peerage.values import grouped
from peerage.values.environment import databases, environment
from peerage.values.figures import counted, dollars
from peerage.version import __version__

MARKS = {"ok": "✓", "unused": "·", "warning": "!", "broken": "✗"}
ROOM_BYTES = 1_000_000_000
"""Free space below which a disk is reported: some 16,000 duels of 60 KB."""

OURS = ("dev", "bench", "docs", "mutants")  # extras for those who work on Peerage itself


State: TypeAlias = Literal["ok", "unused", "warning", "broken"]


class Finding(NamedTuple):
    """One thing looked at. `unused` is absent and not needed; `broken` is needed and does not work."""

    area: str
    what: str
    state: State
    about: str
    fix: str = ""


def examine(folder: Path) -> list[Finding]:
    """Everything worth knowing before a run. Asks servers for their models, never for a reply."""
    settings, arena = _arena(folder)
    env = environment(folder, os.environ)
    players = settings.everyone if settings is not None else ()
    needs = list(_needs(settings)) if settings is not None else []
    by_games = {finding.what for finding in needs}
    return [
        *arena,
        *(_engine(settings, env) if settings is not None else ()),
        *asyncio.run(look_at_players(players, env, folder)),
        *_spare_keys(players, env),
        *(_ledger(settings, env, folder) if settings is not None else ()),
        *needs,
        *(_tasks(settings, folder) if settings is not None else ()),
        _clock(),
        _disk(folder),
        *[extra for extra in _installation(_needed(settings, env)) if extra.what not in by_games],
    ]


def report(findings: Sequence[Finding]) -> Iterator[str]:
    """The findings as lines, grouped by area, of those that are alike one line; at the end one sentence."""
    alike = grouped((finding._replace(what=""), finding.what) for finding in findings)
    area = ""
    wide = max(len(names[0]) for names in alike.values() if len(names) == 1)
    for finding, names in alike.items():
        if finding.area != area:
            area = finding.area
            yield area
        listed, mark = ", ".join(names), MARKS[finding.state]
        several = len(names) > 1 and not finding.fix
        yield (
            f"  {mark} {finding.about}: {listed}"
            if several
            else f"  {mark} {listed:<{wide}}  {finding.about}"
        )
        if finding.fix:
            yield f"    {'':<{wide}}  → {finding.fix}"
    states = [finding.state for finding in alike]
    if broken := states.count("broken"):
        yield f"{counted(broken, 'thing')} marked {MARKS['broken']} must be fixed before this arena can run."
    elif states[0] == "unused":
        yield "There is no arena here yet."
    else:
        yield "This arena has all that it needs."


_SERVERS = {"postgres": "postgres", "mongo": "mongodb"}
"""Extras for ledgers on a server, by how their addresses begin."""


def install_missing(folder: Path) -> None:
    """Install the extras that the arena lacks (without an arena: models), with this Python's pip."""
    settings, _ = _arena(folder)
    extras = {"models"}
    if settings is not None:
        extras = _needed(settings, environment(folder, os.environ))
        extras |= {finding.what for finding in _needs(settings) if finding.state == "broken"}
    lacking = sorted(extra for extra in extras if _lacking("peerage", extra))
    if not lacking:
        typer.echo("nothing to install")
        return
    wanted = f"peerage[{','.join(lacking)}]"
    if find_spec("pip") is None:  # as where uv made the environment
        raise SettingsError(
            f"{sys.prefix} has no pip; run `uv pip install --python {sys.executable} '{wanted}'`, or start "
            f"Peerage with them: `uvx --from '{wanted}' peerage …`"
        )
    typer.echo(f"installing {wanted} into {sys.prefix}")
    if subprocess.run(
        [sys.executable, "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted],
        check=False,
    ).returncode:
        raise SettingsError(f"pip could not install {wanted}; its own message stands above")


def needed_extras(players: Sequence[PlayerSettings]) -> set[str]:
    """The extras of this package that these players lack."""
    return {extra for player in players if (extra := checks.missing_extra(player))}


def _needed(settings: ArenaSettings | None, env: Mapping[str, str]) -> set[str]:
    """The extras that players, ledger and engine of an arena lack."""
    if settings is None:
        return set()
    there = _address(settings, env)
    extras = {extra for extra, begins in _SERVERS.items() if there.startswith(begins)}
    if settings.engine.kind == "ray":
        extras.add("ray")
    return needed_extras(settings.everyone) | {extra for extra in extras if _lacking("peerage", extra)}


def _address(settings: ArenaSettings, env: Mapping[str, str]) -> str:
    """Return where the ledger is; empty where that is in a variable that is not set."""
    stated = settings.ledger
    return env.get(stated[1:], "") if stated.startswith("$") else stated


def _arena(folder: Path) -> tuple[ArenaSettings | None, list[Finding]]:
    area, path = "arena", folder / FILE_NAME
    if not path.exists():
        fix = f"`{program()} init{at(folder)}` writes one"
        return None, [Finding(area, FILE_NAME, "unused", f"none in {folder}", fix)]
    try:
        settings = load(folder)
        enough_players(settings)
    except SettingsError as error:
        first, *more = str(error).splitlines()
        return None, [Finding(area, FILE_NAME, "broken", first, "; ".join(more))]
    named = EVERY if EVERY in settings.games else ", ".join(settings.lineup)
    findings = [Finding(area, FILE_NAME, "ok", f"{counted(len(settings.players), 'player')} of {named}")]
    for game in settings.lineup:
        own = own_keys(settings, game)
        if own:
            preset = f"preset {rules_of(settings, game).preset}"
            findings.append(Finding(area, preset, "ok", f"with your own {', '.join(own)}"))
    today = datetime.now(UTC).date()
    unpriced = [
        player.name
        for player in settings.everyone
        if not checks.missing_extra(player) and not price_of(player, today).known
    ]
    if unpriced:
        budget = settings.budget
        bounded = any(limit is not None for limit in (budget.arena, budget.match, budget.player))
        about = f"none known for {', '.join(unpriced)}{', so the budget cannot be kept' * bounded}"
        players = {player.name: player for player in settings.everyone}
        near = [f"{name}: {hint}" for name in unpriced if (hint := checks.near_models(players[name]))]
        state_one = "`price: {input: …, output: …}` states one, in dollars per million tokens"
        fix = "; ".join([*near, state_one])
        findings.append(Finding(area, "prices", "broken" if bounded else "warning", about, fix))
    return settings, findings


def _installation(needed: Collection[str]) -> Iterator[Finding]:
    area = "installation"
    about = f"{__version__}, Python {platform.python_version()} on {sys.platform}"
    yield Finding(area, "peerage", "ok", about)
    for extra in metadata.metadata("peerage").get_all("Provides-Extra") or ():
        lacking = ", ".join(_lacking("peerage", extra))
        if extra in needed:
            about = f"needed, and lacks {lacking or 'something it needs'}"
            yield Finding(area, extra, "broken", about, f"`{program()} doctor --install`")
        elif extra not in OURS:
            there = "not needed, not installed" if lacking else "installed"
            yield Finding(area, extra, "unused" if lacking else "ok", there)


_NEEDS = re.compile(r"""^([\w.-]+)(?:\[([^]]*)\])?[^;]*;\s*extra == ['"]([\w.-]+)['"]$""")


def _lacking(package: str, extra: str) -> list[str]:
    """Packages of an extra that are not installed; a requirement with further conditions is not looked at."""
    lacking: set[str] = set()
    for requirement in filter(None, map(_NEEDS.match, metadata.requires(package) or ())):
        name, its_extras, whose = requirement.groups(default="")
        if whose != extra:
            continue
        try:
            metadata.distribution(name)
        except metadata.PackageNotFoundError:
            lacking.add(name)
        else:
            lacking.update(*[_lacking(name, inner.strip()) for inner in its_extras.split(",") if inner])
    return sorted(lacking)


def _spare_keys(players: Sequence[PlayerSettings], env: dict[str, str]) -> Iterator[Finding]:
    """Keys that no player of the arena needs; the others are looked at with their players."""
    used = {player.provider for player in players}
    keys = found_keys(env)
    for provider, about in PROVIDERS.items():
        if about.key_env and provider not in used:
            if provider in keys:
                yield Finding("keys", provider, "ok", f"found in {keys[provider]}")
            else:
                yield Finding("keys", " or ".join(about.key_env), "unused", "not set, not needed")


async def look_at_players(
    players: Sequence[PlayerSettings], env: dict[str, str], folder: Path
) -> list[Finding]:
    """Ask servers for their models, never for a reply: the library, key and model of each player."""
    looked = await asyncio.gather(*[checks.check(player, env, folder) for player in players])
    lines: list[Finding] = []
    for player, checked in zip(players, looked, strict=True):
        about = "; ".join(result.found for result in checked if result.subject != "library") or "ready"
        lines += [
            Finding("players", player.name, "warning" if result.ok else "broken", result.found, result.fix)
            for result in checked
            if not result.ok or result.fix
        ] or [Finding("players", player.name, "ok", about)]
    return lines


def _seeing(settings: ArenaSettings, ledger: Ledger | None) -> Iterator[Finding]:
    """Yield who does not take the pictures and sounds of tasks; broken where too few are left. Raises
    LedgerError."""
    try:
        refuse_too_blind(settings, ledger)
    except ArenaError as error:
        yield Finding("media", "pictures and sound", "broken", str(error))
        return
    for line in left_out_in_words(settings, ledger):
        yield Finding("media", "pictures and sound", "warning", line)


def _ledger(settings: ArenaSettings, env: dict[str, str], folder: Path) -> Iterator[Finding]:
    for variable, kind in databases(env).items() if settings.ledger[0] != "$" else ():
        about = f"holds an address of {kind}; `ledger: ${variable}` in {FILE_NAME} keeps records there"
        yield Finding("ledger", variable, "unused", about)
    try:
        ledger = open_ledger(settings.ledger, folder, create=False)
    except LedgerMissing:
        yield Finding("ledger", settings.ledger, "unused", "none yet; `peerage run` makes it")
        yield from _seeing(settings, None)
        return
    except LedgerError as error:
        yield Finding("ledger", settings.ledger, "broken", str(error))
        return
    try:
        issued, recorded = ledger.heads()
        waiting = [call for call in ledger.exchanges(recorded + 1, unanswered=True) if call.failure is None]
        held = sum(call.worst_nano or 0 for call in waiting)
        spent = sum(spent_by(ledger).values()) - held
        spent += sum(cost.most_nano for cost in probe_costs(ledger).values())
        spent += sum(unused(ledger).values())
        yield from _seeing(settings, ledger)
        unknown = unpriced(ledger) + sum(cost.unknown for cost in probe_costs(ledger).values())
    except LedgerError as error:
        yield Finding("ledger", settings.ledger, "broken", str(error))
        return
    finally:
        ledger.close()
    about = f"{counted(recorded, 'match')} finished, {issued - recorded} more issued"
    bills = [f"at most {dollars(spent / 1e9)} billed"] if spent else [] if unknown else ["nothing billed"]
    bills += [f"{counted(unknown, 'call')} of unknown cost"] * bool(unknown)
    yield Finding("ledger", settings.ledger, "ok", f"{about}; {', and '.join(bills)}")
    if waiting:
        most = dollars(held / 1e9)
        about = f"{counted(len(waiting), 'call')} without a reply, worth at most {most}: "
        about += "in flight, or left by a crash"
        yield Finding("ledger", "open calls", "warning", about, "`peerage run` goes on with them")


def _engine(settings: ArenaSettings, env: Mapping[str, str]) -> Iterator[Finding]:
    """Yield whether workers on many machines, where the settings want them, can play the arena."""
    there = _address(settings, env)
    if settings.engine.kind == "local" or not there:  # which is told with the ledger
        return
    try:
        refuse_workers(settings, "postgresql" if there.startswith("postgres") else settings.ledger)
    except ArenaError as error:
        yield Finding("arena", "engine", "broken", str(error))
    else:
        yield Finding("arena", "engine", "ok", f"ray, {settings.engine.address or 'on this machine'}")


def _needs(settings: ArenaSettings) -> Iterator[Finding]:
    """Yield whether games find the extras that they need; `peerage sandbox check` tries the sandbox for
    real."""
    extras: dict[str, list[str]] = {}
    sandboxed: list[str] = []
    # What cannot be played here is left out of all games.
    state: State = "warning" if EVERY in settings.games else "broken"
    for name in settings.lineup:
        try:
            spec, rules = GAMES[name], rules_of(settings, name)
        except (ImportError, SettingsError):  # told with the arena
            continue
        if extra := spec.needs.extra(rules):
            extras.setdefault(extra, []).append(name)
        if spec.needs.sandbox(rules):
            sandboxed.append(name)
        if spec.needs.commands(rules) and (why := lacks_jail(name)):
            yield Finding("machine", "jail", state, why)
    for extra, games in extras.items():
        fix = installing(extra)
        about = f"not installed, and {', '.join(games)} need{'s' * (len(games) == 1)} it under these rules"
        yield Finding("machine", extra, state, about, fix)
    if not sandboxed:
        return
    names = ", ".join(sandboxed)
    if image.installed():
        about, fix, state = f"installed, for {names}; `peerage sandbox check` tries it", "", "ok"
    else:
        about = f"not installed, and {names} need{'s' * (len(sandboxed) == 1)} it"
        fix = installing("sandbox")
    yield Finding("machine", "sandbox", state, about, fix)


def _tasks(settings: ArenaSettings, folder: Path) -> Iterator[Finding]:
    """Yield whether the commands of the owner's tasks do what they should; it tries them."""
    if trials := trials_of(settings):
        for problem in (wrong := asyncio.run(wrong_commands(folder, trials))):
            yield Finding("arena", "tasks", "broken", problem)
        if not wrong:
            about = f"the tests of {counted(len({trial.task for trial in trials}), 'task')} were tried"
            yield Finding("arena", "tasks", "ok", about)


def _clock() -> Finding:
    now = datetime.now(UTC)
    state: State = "ok" if now.year >= 2025 else "warning"
    fix = "" if state == "ok" else "set it: prices are looked up by date, and encrypted connections fail"
    return Finding("machine", "clock", state, f"{now:%Y-%m-%d %H:%M} UTC", fix)


def _disk(folder: Path) -> Finding:
    place = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(place).free
    about = f"{free / 1e9:.1f} GB free"
    if not os.access(place, os.W_OK):
        return Finding("machine", "folder", "broken", f"{place} cannot be written to", "choose another --dir")
    return Finding("machine", "folder", "ok" if free >= ROOM_BYTES else "warning", about)
