"""Requirements of a run before anybody is asked: settings that fit the ledger, players that may play."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import msgspec

from peerage.engine.match.plans import costliest_calls
from peerage.engine.record.registration import changed
from peerage.engine.record.seeing import left_out_in_words, refuse_too_blind
from peerage.game.spec import GameSpec
from peerage.games import FILE, GAMES, candidates, plays, tracks_of
from peerage.ledger import Batch, Ledger, LedgerError
from peerage.ledger.forms.codec import read_issued
from peerage.ledger.topics.secret import NO_SECRET, read_secret
from peerage.ledger.topics.series import ANSWERS, SERIES
from peerage.players.checks import near_models
from peerage.players.prices import Price
from peerage.sandbox import image
from peerage.sandbox.native.confined import available
from peerage.sandbox.native.places import lacking
from peerage.scheduling.fixtures import tables
from peerage.settings import (
    EVERY,
    ArenaError,
    ArenaSettings,
    GameSettings,
    SettingsError,
    judged,
    lacks_extra,
    rules_of,
    suggest,
    too_few,
)
from peerage.settings.lineup import installing, series_of
from peerage.settings.pairing import InFlight, usual_window
from peerage.standings.fold import UNRATED, unrated
from peerage.values.figures import counted, exact_dollars, listed
from peerage.values.sealing import sealing_key


def with_meant(settings: ArenaSettings, unpriced: Iterable[str]) -> str:
    """Players without a known price, each with the model that was probably meant."""
    players = {player.name: player for player in settings.everyone}
    near = {name: near_models(players[name]) for name in unpriced}
    return ", ".join([f"{name} ({meant})" if meant else name for name, meant in near.items()])


def with_games(settings: ArenaSettings, stated: str) -> ArenaSettings:
    """The settings with other games than they name: names with commas between them, or `all`. A game that
    they name keeps its rules. Raises SettingsError."""
    if stated == EVERY:
        games = list(GAMES)
    else:
        games = [name.strip() for name in stated.split(",")]
    if unknown := [name for name in games if name not in GAMES]:
        near = suggest(unknown[0], [*candidates(unknown[0]), EVERY])
        raise SettingsError(f"--game: no game is called {unknown[0]!r}{near}")
    chosen = {name: settings.lineup.get(name, GameSettings()) for name in games}
    return settings.model_copy(update={"game": games[0], "games": chosen, "rules": {}})


def with_playable(settings: ArenaSettings) -> tuple[ArenaSettings, dict[str, str]]:
    """The settings with the games that can be played here in place of `all`, and why each other one is left
    out. Raises SettingsError when none can be played."""
    every = with_games(settings, EVERY)
    left_out = {name: why for name in every.lineup if (why := unplayable_here(every, name))}
    chosen = {name: line for name, line in every.lineup.items() if name not in left_out}
    if not chosen:
        raise SettingsError("\n".join([f"{game}: {why}" for game, why in left_out.items()]))
    return settings.model_copy(update={"games": chosen, "game": next(iter(chosen))}), left_out


def unplayable_here(settings: ArenaSettings, game: str) -> str:
    """Return why a game cannot be played here by these players, and what to change; empty: it can."""
    alone = settings.alone(game)
    try:
        if why := lacks_extra(alone) or too_few(alone):
            return why
        _refuse_readers(alone)
        _refuse_series(alone)
        needs, rules = GAMES[game].needs, rules_of(alone)
        sandboxed, commands = needs.sandbox(rules), needs.commands(rules)
    except (ArenaError, SettingsError) as error:
        return str(error)
    if commands and (why := lacks_jail(game)):
        return why
    return lacks_sandbox(game) if sandboxed and not image.installed() else ""


def lacks_jail(game: str) -> str:
    if available():
        return ""
    return f"{game} runs commands that players write, and this system has no jail; take Linux with Landlock"


def lacks_sandbox(game: str) -> str:
    return (
        f"{game} runs programs that players write, and the sandbox is not installed; {installing('sandbox')}"
    )


def refuse_unpriced(settings: ArenaSettings, unpriced: Sequence[str]) -> None:
    """Raise ArenaError when the settings bound what may be spent and these players' prices are unknown."""
    budget = settings.budget
    bounded = any(limit is not None for limit in (budget.arena, budget.match, budget.player))
    if not bounded:  # a daily budget bounds its own player alone
        daily = {player.name for player in settings.everyone if player.daily_budget is not None}
        unpriced = [name for name in unpriced if name in daily]
    if unpriced:
        named = with_meant(settings, unpriced)
        correct = "Correct the model's name, or state" if "did you mean" in named else "State"
        raise ArenaError(
            f"a budget is set, but no price is known for {named}, so it could not be kept. "
            f"{correct} `price: {{input: …, output: …}}` (dollars per million tokens) for each in "
            "arena.yaml, or take the budget away"
        )


def too_expensive(settings: ArenaSettings, prices: Mapping[str, Price]) -> list[str]:
    """Return what to change for each player whose daily budget cannot pay for one call, one sentence each."""
    limits = {each.name: each.daily_budget for each in settings.everyone if each.daily_budget is not None}
    most = costliest_calls(settings, prices) if limits else {}
    return [
        f"{name}: one call may cost up to {exact_dollars(most[name] / 1e9)}, and its `daily_budget` is "
        f"{exact_dollars(budget)}; raise it, or set `max_tokens`"
        for name, budget in limits.items()
        if most.get(name, 0) > budget * 1e9
    ]


def refuse_too_expensive(settings: ArenaSettings, prices: Mapping[str, Price]) -> None:
    """Raise ArenaError where a player's day can pay for no call."""
    if problems := too_expensive(settings, prices):
        raise ArenaError("\n".join(problems))


def pin(settings: ArenaSettings, ledger: Ledger) -> None:
    """Write down in the first run what must not change between runs."""
    _, unpinned = _pinned_facts(settings, ledger)
    if unpinned:
        ledger.write(Batch(meta=unpinned))


def _pinned_facts(settings: ArenaSettings, ledger: Ledger) -> tuple[InFlight, dict[str, str]]:
    """Return how late pairing is, and the facts that are still to be written down. Raises SettingsError when
    the settings contradict those that are."""
    meta, pairing = ledger.meta(), settings.pairing
    parts = {name: line.weight for name, line in settings.lineup.items()}
    series = {name: series_of(settings, name) for name in parts}
    players, judges = len(settings.players), len(settings.judges)
    sizes = {
        name: part * tables(GAMES[name], rules_of(settings, name), players, series[name], judges)
        for name, part in parts.items()
    }
    per_round = sum(sizes.values()) / sum(parts.values())
    # What later matches draw on must be known when they are paired: by then each game has had its turn.
    remembering = [
        memory
        for name in parts
        if (memory := GAMES[name].memory) is not None and memory.applies(rules_of(settings, name))
    ]
    remembers = any(not (memory.meets or memory.late) for memory in remembering)
    turn = math.ceil(per_round * len(parts))
    usual = usual_window(settings.engine.concurrency, per_round)
    window = pairing.window or (min(usual, turn) if remembers else usual)
    pinned = {
        "rating": settings.rating.model_dump_json(),
        "lag": str(max(1, math.ceil(window / per_round))),
        "window": meta.get("window", str(window)) if pairing.window is None else str(window),
    }
    rotated = next(filter(None, series.values()), "")
    if rotated or SERIES in meta:
        pinned[SERIES] = rotated
    games = unrated(meta) | {name for name in parts if "raw" not in tracks_of(name)}
    still = {UNRATED: "\n".join(sorted(games - {""}))} if games != unrated(meta) else {}
    if any(memory.meets for memory in remembering) and ANSWERS not in meta:
        still[ANSWERS] = "once"
    if "lag" not in meta:
        return InFlight(int(pinned["lag"]), window), pinned | still
    if rotated:  # an arena made without has no such fact
        meta = {SERIES: "", **meta}
    places = {"rating": "rating", "window": "pairing.window", SERIES: "pairing.series"}
    for key, place in places.items():
        if key not in pinned:
            continue
        if key not in meta:
            raise LedgerError(f"{ledger.address} lacks the fact {key!r}; restore it from a copy")
        if meta[key] != pinned[key]:
            differs = _difference(meta[key] or "none", pinned[key] or "none")
            raise SettingsError(
                f"{place} in arena.yaml is not what this arena was made with, and its recorded matches "
                f"depend on it:{differs}. Set it back, or start a new arena "
                "in another folder"
            )
    return InFlight(*[_number(ledger, meta, key, least=1) for key in InFlight._fields]), still


def check(settings: ArenaSettings, ledger: Ledger) -> tuple[InFlight, dict[str, str]]:
    """Raise where the settings do not fit the ledger, or a player may not play there; else how late pairing
    is, and the facts that are still to be written down."""
    _check_secret(settings, ledger)
    pinned = _pinned_facts(settings, ledger)
    refuse_too_blind(settings, ledger)
    for game in settings.lineup:
        _refuse_readers(settings.alone(game))
        _refuse_series(settings.alone(game))
    _refuse_changed(settings, ledger)
    return pinned


def notices(settings: ArenaSettings, ledger: Ledger) -> list[str]:
    """Return what the user must know before a run: effects on what is on record, what people could see."""
    notes = []
    specs = {name: GAMES[name] for name in settings.lineup}
    for left in unplayable(ledger, specs.values()):
        if left.game in specs:
            why = f"this release plays version {specs[left.game].version}"
            if FILE in left.release:
                why = "its file has changed"
            instead = f"To finish them first, run {left.release.replace(' ', ' with ')} once more"
        elif settings.games:
            why = f"{left.game} is not among the arena's games now"
            instead = f"To finish them first, list {left.game} under games again"
        else:
            why = f"arena.yaml now says game: {settings.game}"
            instead = f"To finish them first, write game: {left.game} again"
        notes.append(
            f"unfinished matches of {left.game} version {left.version}: {len(left.numbers)} "
            f"({left.numbers[0]:,} to {left.numbers[-1]:,}), and {why}. They end without a result: what was "
            f"asked and spent stays on record, and nobody is rated by them. {instead}"
        )
    window = ledger.meta().get("window", "")
    stated = "concurrency" in settings.engine.model_fields_set
    if stated and window.isdecimal() and int(window) < settings.engine.concurrency:
        notes.append(
            f"engine.concurrency is {settings.engine.concurrency}; this arena was made for "
            f"{counted(int(window), 'match')} under way at once, so there are no more. A new arena takes "
            "more with `pairing: {window: …}`"
        )
    placed = sorted([name for name, host in settings.hosts.items() if host.resources])
    if placed and settings.engine.kind == "local":
        notes.append(
            f"the resources of {', '.join(placed)} say nothing without `engine: ray`: it is started here"
        )
    notes += _of_one_family(settings)
    notes += left_out_in_words(settings, ledger)
    notes += [remark for name, spec in specs.items() for remark in spec.remarks(rules_of(settings, name))]
    if settings.judges and not any(judged(settings, game) for game in settings.lineup):
        notes.append(
            "nobody is asked to judge: a check decides every task, and where it gives both answers the same "
            "credit it is a tie. `tasks: {then: judges}`, `judging: {checks: measure}` and "
            "`judging: {controls: 40}` ask judges"
        )
    people = [player.name for player in settings.everyone if player.is_person]
    hiding = sorted([name for name, spec in specs.items() if spec.secrecy.hides])
    if people and hiding:
        notes.append(
            f"{', '.join(hiding)} hides things from players. People ({', '.join(people)}) see none of it at "
            "their seats, but anyone who can read this arena's folder can"
        )
    return notes


def _of_one_family(settings: ArenaSettings) -> Iterator[str]:
    """Yield a sentence for each judge that is of the family of some players."""
    for judge in settings.judges:
        related = [player.name for player in settings.players if player.family == judge.family]
        if related and judge.provider != "house" and not judge.is_person:
            yield (
                f"{judge.name} judges {listed(related)} of its own family ({judge.family}), which judges "
                "tend to favour; `peerage stats --of judges` tests that"
            )


def _refuse_changed(settings: ArenaSettings, ledger: Ledger) -> None:
    """Raise where something else would answer under the name of a player that has a rating."""
    secret = read_secret(ledger)
    if secret is None:
        return
    differ = changed(ledger, settings.everyone, sealing_key(secret.value))
    if not differ:
        return
    message = "\n".join(
        f"{name}: {', '.join(keys)} changed since its last match, and its rating is of what answered then. "
        f"State `version: {player.version + 1}` for a newcomer, or another `name`; or set it back"
        for player in settings.everyone
        if (keys := differ.get(name := player.name))
    )
    raise SettingsError(message)


def _refuse_readers(settings: ArenaSettings) -> None:
    """Raise where a player could read from the ledger what the arena's one game hides from it, or remember
    what it must not know."""
    spec, rules = GAMES[settings.game], rules_of(settings)
    why, hides = spec.secrecy.forgets(rules), spec.secrecy.hides
    for player in settings.players:
        if why and player.remembers:
            raise SettingsError(
                f"{player.name} is {'a person' if player.is_person else 'an agent'} and may remember what "
                f"{settings.game} asked it before: {why}"
            )
        if player.provider == "python" and hides:
            raise ArenaError(
                f"{settings.game} hides things from its players, and {player.name} runs inside this process, "
                "where it could read them. Make it a program (`command:`) or a server (`http:`)"
            )
        lacks = lacking() if player.acp and hides else ""
        if player.provider == "command" and hides and not available():
            lacks = "Landlock does, on Linux 5.13 or newer"
        if lacks:
            raise ArenaError(
                f"{settings.game} hides things from its players, and on this system nothing keeps "
                f"{player.name} from reading them in the ledger ({lacks}). Let it answer at an address "
                "(`http:`), run by another user"
            )


def _refuse_series(settings: ArenaSettings) -> None:
    """Raise where a series would let somebody meet a task twice and gain by it."""
    spec, rules, series = GAMES[settings.game], rules_of(settings), series_of(settings)
    remembers = [player.name for player in settings.players if player.remembers]
    if series and spec.seating.rotates(rules) and remembers:
        raise SettingsError(
            f"pairing.series: {series} has {settings.game} played on one task in every seat, and "
            f"{', '.join(remembers)} may remember it from one match to the next. Leave `series` out"
        )
    if series and getattr(rules, "samples", "fresh") != "fresh":
        raise SettingsError(
            f"pairing.series: {series} asks in every seat, and players of {settings.game} answer once. Leave "
            "`series` out, or say `samples: fresh` next to the tasks"
        )


def _check_secret(settings: ArenaSettings, ledger: Ledger) -> None:
    """Raise where the settings do not fit the arena's secret."""
    secret = read_secret(ledger)
    if secret is None:
        return
    if secret.disclosed:
        raise ArenaError(
            f"{ledger.address}: its secret was disclosed, which ended the arena. Start a new one in "
            "another folder"
        )
    if not secret.value:
        raise ArenaError(NO_SECRET.format(ledger.address.removeprefix("sqlite:///")))
    others = [player.name for player in settings.everyone if player.provider != "house"]
    if secret.seed is not None and others:
        raise SettingsError(
            f"all that is drawn in this arena follows from seed {secret.seed}, which {', '.join(others)} "
            "could know: only house players may play here. Start a new arena, without `seed`"
        )
    if settings.secret_seed is not None and settings.seed != secret.seed:
        was = "has a random secret" if secret.seed is None else f"was made with seed {secret.seed}"
        raise SettingsError(
            f"seed in arena.yaml is {settings.seed}, and this arena {was}; its recorded matches depend on "
            "it. Set it back, or start a new arena in another folder"
        )


def budget_since(settings: ArenaSettings, ledger: Ledger) -> int:
    """Return how many matches were on record when the budgets of match and player were last changed."""
    budget = settings.budget
    if budget.match is None and budget.player is None:
        return ledger.heads()[1]
    stated = msgspec.json.encode([budget.match, budget.player]).decode()
    meta = ledger.meta()
    if meta.get("budget") != stated:
        meta = {"budget": stated, "budget_since": str(ledger.heads()[1])}
        ledger.write(Batch(meta=meta))
    return _number(ledger, meta, "budget_since", least=0)


def _number(ledger: Ledger, meta: Mapping[str, str], key: str, least: int) -> int:
    text = meta.get(key, "")
    if not (text.isdecimal() and len(text) < 16 and int(text) >= least):
        raise LedgerError(
            f"{ledger.address}: the fact {key!r} is {text[:60]!r}, expected a number from {least}; restore "
            "it from a copy"
        )
    return int(text)


def _difference(was: str, now: str) -> str:
    """Return what differs between two pinned values, for a person."""
    try:
        before, after = msgspec.json.decode(was), msgspec.json.decode(now)
    except msgspec.DecodeError:
        before, after = was, now
    if isinstance(before, dict) and isinstance(after, dict):
        changed = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
        return ";".join(f" {key} was {before.get(key)!r} and is {after.get(key)!r}" for key in changed)
    return f" it was {before} and is {after}"


def refuse_workers(settings: ArenaSettings, ledger: str) -> None:
    """Raise ArenaError where the settings want workers, and these cannot play the arena."""
    if settings.engine.kind == "local":
        return
    if not ledger.startswith("postgresql"):
        raise ArenaError(
            f"engine: ray wants a ledger on PostgreSQL, where workers claim matches, and this one is "
            f"{ledger}. A file has one writer, and workers elsewhere do not see it. `peerage copy` moves an "
            "arena to a server; or remove `engine: ray`"
        )
    if find_spec("ray") is None:
        raise ArenaError("engine: ray needs the extra `ray`: pip install 'peerage[ray]'")


class Unplayable(NamedTuple):
    """Unfinished matches of a game that is not played here, or not in that version; `release` played it."""

    game: str
    version: int
    release: str
    numbers: tuple[int, ...]


def unplayable(ledger: Ledger, specs: Collection[GameSpec[Any]]) -> list[Unplayable]:
    """Return the unfinished matches that a run of these games ends without a result: what was asked stays on
    record, what it cost counts, nobody is rated by them. Raises LedgerError."""
    numbers_of: dict[tuple[str, int, str], list[int]] = {}
    for row in ledger.fixtures(ledger.heads()[1] + 1):
        try:
            issued = read_issued(row.body)
        except msgspec.MsgspecError as error:
            raise LedgerError(
                f"{ledger.address}: the fixture of match {row.number} cannot be read ({error}); "
                "`peerage verify` says more"
            ) from error
        if not any(plays(spec, issued.game, issued.version, issued.release) for spec in specs):
            numbers_of.setdefault((issued.game, issued.version, issued.release), []).append(issued.number)
    return [Unplayable(*which, tuple(numbers)) for which, numbers in numbers_of.items()]
