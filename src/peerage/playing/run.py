"""A run put together: facts held against the ledger, players opened, programs and budget checked.

The door is `Arena.play`.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerage.engine.again.import_recordings import admit
from peerage.engine.again.recovery import Recovered, decided, read_budget_voids, recover
from peerage.engine.calls.availability import Availability, spent_today
from peerage.engine.calls.budget import Budget, whole_nano
from peerage.engine.calls.call_limit import FIRST, FIRST_LOCAL, CallLimit
from peerage.engine.calls.calls import Reach
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.calls.reservations import Money, Reservations
from peerage.engine.match.driving import Driving, MatchRun
from peerage.engine.match.plans import Plans
from peerage.engine.match.under_way import MatchesUnderWay
from peerage.engine.record.benches import OVERBILLED
from peerage.engine.record.journal import Journal
from peerage.engine.record.probed import TOPIC as PROBES
from peerage.engine.record.probed import ProbeEntry, entries, probe_costs
from peerage.engine.record.registration import as_registered, prices, registered, registrations
from peerage.engine.record.settings_log import log_settings
from peerage.engine.run.course import RunSetup, Watched
from peerage.engine.run.hosts import Hosts, Switches, here
from peerage.engine.run.left_up import stop_left_up
from peerage.engine.run.probes import bench_by_probes, probe_players, to_probe
from peerage.engine.run.process import stopped_by_signals
from peerage.engine.run.report import RunReport
from peerage.engine.run.runner import Runner
from peerage.game.match import Fixture, MatchRecord, Outcome, Recording
from peerage.games import GAMES, plays
from peerage.ledger import Batch, Ledger, LedgerError, Summary, amend
from peerage.ledger.topics.secret import arena_secret
from peerage.ledger.topics.settings_log import statements
from peerage.ledger.topics.votes import PeopleVotes
from peerage.players import open_client
from peerage.players.checks import together
from peerage.players.client import Awaited, Client, InstantClient, PlayerError
from peerage.players.hosted.on_host import HostedClient
from peerage.players.keys import capacity, key_names, local_address
from peerage.playing.requirements import (
    budget_since,
    check,
    notices,
    pin,
    refuse_too_dear,
    refuse_unpriced,
    refuse_workers,
)
from peerage.settings import (
    ArenaError,
    ArenaSettings,
    SettingsError,
    enough_players,
    extra_installed,
    rules_of,
)
from peerage.settings.game_file import files_of
from peerage.standings import pinned_elo
from peerage.standings.looks import look
from peerage.standings.verify import check_records
from peerage.values.clock import now_ms
from peerage.values.environment import environment
from peerage.values.outputs import copies, secret_files
from peerage.values.sealing import sealing_key
from peerage.version import __version__

if TYPE_CHECKING:
    from peerage.cluster.crew import Crew
    from peerage.engine.calls.programs import Programs
    from peerage.players.checks import Probed

_log = logging.getLogger("peerage")


async def play(
    folder: Path,
    settings: ArenaSettings,
    ledger: Ledger,
    max_matches: int | None,
    *,
    observe: Callable[[MatchRecord, Summary], None] | None,
    beside: Callable[[Runner], Awaitable[None]] | None,
    clients: Callable[[Any], Client] | None,
    replan: Callable[[], None] | None,
    inline: bool,
    signals: bool,
    known: Container[str] = (),
) -> RunReport:
    """Play an arena; see `Arena.play`. Its notices are logged, but for those that its user knows."""
    extra_installed(settings)
    enough_players(settings)
    refuse_workers(settings, ledger.address)
    env = environment(folder, os.environ)
    with ledger.runner():
        check_records(ledger)
        in_flight, unpinned = check(settings, ledger)
        for notice in notices(settings, ledger):
            if notice not in known:
                _log.warning(notice)
        stop_left_up(folder, ledger, now_ms)
        recovered = recover(ledger, in_flight.lag, pinned_elo(ledger.meta(), settings.rating))
        async with AsyncExitStack() as stack:
            runtimes = await _open_runtimes(folder, settings, ledger, stack, clients)
            told = Counter[str]()
            _warn(runtimes, told)
            _leave_out(ledger, runtimes)
            told.update({name: len(_warnings(one.client)) - told[name] for name, one in runtimes.items()})
            _check_budget(settings, runtimes)
            over = _overbilled(settings, ledger, runtimes, recovered)
            spent = spent_today(ledger, settings.everyone, now_ms())
            hosted = {
                name: one.client for name, one in runtimes.items() if isinstance(one.client, HostedClient)
            }
            hosts = Hosts(
                settings.hosts,
                settings.everyone,
                hosted,
                folder,
                now_ms,
                guarded=not inline,
                switches=_switches(settings),
            )
            availability = Availability(settings.everyone, now_ms, spent, hosts.away)
            reached = max_matches is not None and decided(ledger) >= max_matches
            probed: Mapping[str, Probed] = {}
            if settings.engine.probe and clients is None and not reached:
                roomy = _with_room(ledger, runtimes)
                away = [name for name in runtimes if availability.away(name) is not None]
                priced = {name: one.price for name, one in roomy.items()}
                asked = {
                    name: runtimes[name]
                    for name in to_probe(ledger, settings.everyone, priced)
                    if name not in {*over, *away}
                }
                probed = await _probe(folder, settings, ledger, asked, recovered, availability)
                _warn(runtimes, told)
                if replan is not None and roomy != _with_room(ledger, runtimes):
                    replan()
            runtimes = _with_room(ledger, runtimes)
            if unpinned:
                ledger.write(Batch(meta=unpinned))
            secret = arena_secret(ledger, settings.secret_seed, at_ms=now_ms())
            if not reached:
                when = recovered.next_round, recovered.standings.number
                free = None if clients is None else list(runtimes)
                benches = recovered.benches
                rows = await bench_by_probes(
                    benches=benches,
                    when=when,
                    runtimes=runtimes,
                    probed=probed,
                    env=env,
                    free=free,
                    clock=now_ms,
                    overbilled=over,
                    pausing=settings.engine.kind == "local",
                    accounts=recovered.accounts,
                )
                if rows:
                    ledger.write(Batch(amendments=rows))
            read_budget_voids(recovered, ledger, budget_since(settings, ledger))
            _register(settings, ledger, runtimes, sealing_key(secret))
            log_settings(ledger, settings, sealing_key(secret), now_ms())
            programs = await _programs(settings, [fixture for fixture, _ in recovered.pending], stack)

            crew = (
                _crew(folder, settings, ledger, runtimes, programs, clients, stack) if not reached else None
            )

            def drive(run: MatchRun, journal: Journal, budget: Budget, plans: Plans) -> Driving:
                reach = Reach(runtimes, settings.engine, availability, programs)
                if crew is not None:
                    return crew(run, ledger, journal, budget, reach)
                return MatchesUnderWay(
                    run, reach, journal, now_ms, Money(budget, Reservations(budget)), plans
                )

            setup = RunSetup(
                settings=settings,
                recovered=recovered,
                runtimes=runtimes,
                availability=availability,
                hosts=hosts,
                env=env,
                in_flight=in_flight,
                secret=secret,
                limit=max_matches,
            )
            watched = Watched(observe, _votes_of(ledger, folder))
            runner = Runner(setup, ledger, drive, now_ms, watched, inline=inline)
            if signals:
                stack.enter_context(stopped_by_signals(runner))
            spectator = asyncio.ensure_future(beside(runner)) if beside is not None else None
            try:
                report = await runner.run()
                _register(settings, ledger, runtimes, sealing_key(secret))
                look(ledger, now_ms())
                return report
            finally:
                if spectator is not None:
                    spectator.cancel()
                    await asyncio.gather(spectator, return_exceptions=True)
                _warn(runtimes, told)


def _crew(
    folder: Path,
    settings: ArenaSettings,
    ledger: Ledger,
    runtimes: Mapping[str, PlayerRuntime],
    programs: Programs | None,
    clients: Callable[[Any], Client] | None,
    stack: AsyncExitStack,
) -> Callable[..., Crew] | None:
    """Return what makes the driving by workers of a cluster; None where this process drives its matches."""
    engine, budget = settings.engine, settings.budget
    if engine.kind == "local":
        return None
    from peerage.cluster.crew import Crew
    from peerage.cluster.messages import Posting
    from peerage.cluster.on_ray import RayPlaces
    from peerage.ledger.stores import access

    cards, env = registered(ledger), environment(folder, os.environ)
    posting = Posting(
        release=__version__,
        settings=settings,
        folder=str(folder.resolve()),
        address=ledger.address,
        run=0,
        env={name: env[name] for player in settings.everyone for name in key_names(player) if env.get(name)}
        | access(ledger.address),
        prices={name: runtime.price for name, runtime in runtimes.items()},
        left_out={name: tuple(cards[name].get("left_out", ())) for name in runtimes},
        bounded=not (budget.arena is budget.match is budget.player is None)
        or any(player.daily_budget is not None for player in settings.everyone),
        free=not any(
            runtime.settings.is_limited or runtime.call_limit is not None for runtime in runtimes.values()
        ),
        programs=programs is not None,
        games=files_of(settings.lineup),
        clients=clients,
    )
    places = RayPlaces(engine.address, engine.workers)
    stack.push_async_callback(places.close)
    return partial(Crew, clock=now_ms, places=places, posting=posting)


def _switches(settings: ArenaSettings) -> Switches:
    """Return what starts hosts: this machine, or the cluster those for which it has to find a node."""
    if settings.engine.kind == "local":
        return here
    from peerage.cluster.host_power import switch

    return switch


def begin(settings: ArenaSettings, ledger: Ledger) -> None:
    """Open the ledger of an arena before its first match: the secret's commitment, players and settings.

    Once it is open, and after the first match, nothing is written. Raises as a run does.
    """
    with ledger.runner():
        if ledger.heads()[0] or statements(ledger):
            return
        extra_installed(settings)
        enough_players(settings)
        check(settings, ledger)
        pin(settings, ledger)
        key = sealing_key(arena_secret(ledger, settings.secret_seed, at_ms=now_ms()))
        priced = prices(ledger, settings.everyone, datetime.now(UTC).date())
        players = [(player, priced[player.name]) for player in settings.everyone]
        judges = {judge.name for judge in settings.judges}
        ledger.write(Batch(amendments=registrations(ledger, players, key, 0, now_ms(), judges=judges)))
        log_settings(ledger, settings, key, now_ms())


def enter(settings: ArenaSettings, ledger: Ledger, recordings: Iterable[Recording]) -> list[Outcome]:
    """Enter matches that were recorded elsewhere; see `Arena.admit`."""
    with ledger.runner():
        check_records(ledger)
        pin(settings, ledger)
        return admit(ledger, recordings, pinned_elo(ledger.meta(), settings.rating))


async def _open_runtimes(
    folder: Path,
    settings: ArenaSettings,
    ledger: Ledger,
    stack: AsyncExitStack,
    clients: Callable[[Any], Client] | None,
) -> Mapping[str, PlayerRuntime]:
    env = environment(folder, os.environ)
    priced = prices(ledger, settings.everyone, datetime.now(UTC).date())
    hidden = [path for path, _ in secret_files(folder, settings.ledger)] + copies(folder)
    runtimes: dict[str, PlayerRuntime] = {}
    for player in settings.everyone:
        make = clients or partial(open_client, env=env, folder=folder, hidden=hidden)
        client = HostedClient(player, make) if player.host else make(player)
        stack.push_async_callback(client.close)
        runtimes[player.name] = PlayerRuntime(player, client, priced[player.name])
    started = await asyncio.gather(
        *[runtime.client.start() for runtime in runtimes.values()], return_exceptions=True
    )
    failures = [result for result in started if isinstance(result, BaseException)]
    if len(failures) > 1 and all(isinstance(failure, PlayerError) for failure in failures):
        raise ArenaError("\n".join(map(str, failures)))
    if failures:
        raise failures[0]
    return runtimes if clients is not None else await _with_call_limits(settings, runtimes, env)


async def _with_call_limits(
    settings: ArenaSettings, runtimes: Mapping[str, PlayerRuntime], env: Mapping[str, str]
) -> Mapping[str, PlayerRuntime]:
    """The players, each with the limit of calls in flight that it shares with those of its capacity."""
    shared: dict[tuple[str, ...], list[str]] = {}
    for name, runtime in runtimes.items():
        client = runtime.client
        queues = isinstance(client, InstantClient | Awaited) or getattr(client, "queues", False)
        if (by := capacity(runtime.settings, env)) and not queues:
            shared.setdefault(by, []).append(name)
    if not shared:
        return runtimes
    from peerage.players.session import stated_slots

    local = [local_address(runtimes[names[0]].settings, env) for names in shared.values()]
    addresses, cap = [*filter(None, local)], settings.engine.calls
    slots = dict(zip(addresses, await asyncio.gather(*map(stated_slots, addresses)), strict=True))
    limited = {**runtimes}
    for names, address in zip(shared.values(), local, strict=True):
        known = slots.get(address)
        most = min(cap, known or cap)
        limit = CallLimit(min(most, known or (FIRST_LOCAL if address else FIRST)), most)
        limited |= {name: replace(runtimes[name], call_limit=limit) for name in names}
    return limited


def _with_room(ledger: Ledger, runtimes: Mapping[str, PlayerRuntime]) -> dict[str, PlayerRuntime]:
    """The players, with the room to think that is on record, or that a probe showed to be needed."""
    found = prices(ledger, [runtime.settings for runtime in runtimes.values()], datetime.now(UTC).date())
    return {name: replace(runtime, price=found[name]) for name, runtime in runtimes.items()}


def _overbilled(
    settings: ArenaSettings, ledger: Ledger, runtimes: Mapping[str, PlayerRuntime], recovered: Recovered
) -> set[str]:
    """The players that were billed more than their calls could cost, and would be again: there is a budget,
    and nothing of theirs has changed since."""
    budget, roomy = settings.budget, _with_room(ledger, runtimes)
    if budget.arena is budget.match is budget.player is None:
        return set()
    return {
        name
        for name, bench in recovered.benches.out.items()
        if bench.why.startswith(OVERBILLED)
        and (runtime := roomy.get(name)) is not None
        and as_registered(ledger, runtime.settings, runtime.price)
    }


async def _probe(
    folder: Path,
    settings: ArenaSettings,
    ledger: Ledger,
    runtimes: Mapping[str, PlayerRuntime],
    recovered: Recovered,
    availability: Availability,
) -> Mapping[str, Probed]:
    """Probe the players; return what was found, by name.

    Nothing but the probes themselves is on record when too few are left: ArenaError then.
    """
    limits, held = settings.budget, Counter[str]()

    def affordable(player: str, nano: int) -> bool:
        most = whole_nano(limits.arena), whole_nano(limits.player)
        spent = recovered.spent_nano + held.total(), recovered.spent_by.get(player, 0) + held[player]
        if any(limit is not None and one + nano > limit for limit, one in zip(most, spent, strict=True)):
            return False
        if not availability.may_probe(player, held[player] + nano):
            return False
        held[player] += nano
        return True

    env = environment(folder, os.environ)
    before = len(list(entries(ledger)))

    async def record(entry: ProbeEntry) -> None:
        amend(ledger, PROBES, [entry], now_ms())

    probed = await probe_players(runtimes, env, affordable=affordable, record=record)
    costs = probe_costs(ledger, after=before)
    recovered.charge(costs)
    availability.charge({player: cost.most_nano for player, cost in costs.items()})
    failed = [one for one in probed.values() if one.unusable or one.down]
    left = settings.without({one.player for one in failed})
    try:
        if settings.judges and not left.judges:
            raise SettingsError("no judge is left")
        enough_players(left)
    except SettingsError:
        raise ArenaError(
            "\n".join(
                [
                    f"{len(failed)} of {len(settings.everyone)} players cannot play, and too few are left "
                    f"for {' and '.join(map(repr, settings.lineup))}:",
                    *[f"  {told}" for told in together({one.player: one.problem for one in failed})],
                    "nothing was played; `--no-probe` plays without asking first",
                ]
            )
        ) from None
    return probed


async def _programs(
    settings: ArenaSettings, pending: Sequence[Fixture], stack: AsyncExitStack
) -> Programs | None:
    """The sandbox, where a game needs one, by today's rules or by those of a match that waits."""
    specs = {game: GAMES[game] for game in settings.lineup}
    rules = [(game, rules_of(settings, game)) for game in specs]
    for one in pending:
        spec = specs.get(one.game)
        if spec is not None and plays(spec, one.game, one.version, one.release):
            rules.append((one.game, spec.rules.model_validate(one.settings)))
    needing = next((game for game, stated in rules if specs[game].needs.sandbox(stated)), "")
    if not needing:
        return None
    from peerage.engine.calls.programs import opened
    from peerage.sandbox import image
    from peerage.sandbox.program import SandboxUnavailable

    try:
        if not image.path().exists():
            _log.warning("the sandbox is compiled, once on this machine: half a minute or so")
        return await stack.enter_async_context(opened())
    except SandboxUnavailable as reason:
        raise ArenaError(
            f"{needing} runs programs that players write, and there is no sandbox: {reason}. "
            "`peerage sandbox check` says more"
        ) from reason


def _register(
    settings: ArenaSettings, ledger: Ledger, runtimes: Mapping[str, PlayerRuntime], key: str
) -> None:
    """Write down who plays, and what servers were found not to take, where that is new."""
    players = [(runtime.settings, runtime.price) for runtime in runtimes.values()]
    judges = {judge.name for judge in settings.judges}
    refused = {name: getattr(runtime.client, "left_out", ()) for name, runtime in runtimes.items()}
    new = registrations(ledger, players, key, ledger.heads()[1], now_ms(), left_out=refused, judges=judges)
    if new:
        ledger.write(Batch(amendments=new))


def _leave_out(ledger: Ledger, runtimes: Mapping[str, PlayerRuntime]) -> None:
    """Let clients leave out from the start what is on record that their servers do not take, so that a player
    is asked in every run as it was in the last."""
    cards = registered(ledger)
    for name, runtime in runtimes.items():
        leave_out = getattr(runtime.client, "leave_out", None)
        if leave_out is not None:
            leave_out(cards.get(name, {}).get("left_out", ()))


def _check_budget(settings: ArenaSettings, runtimes: Mapping[str, PlayerRuntime]) -> None:
    refuse_unpriced(
        settings, [name for name, runtime in runtimes.items() if runtime.price.worst_nano(1, 1) is None]
    )
    refuse_too_dear(settings, {name: runtime.price for name, runtime in runtimes.items()})


def _votes_of(ledger: Ledger, folder: Path) -> Callable[[], tuple[int, bytes] | None]:
    """Return what gives the head of the audience's votes; what is wrong with their file is for `verify` to
    tell, and ends no run."""
    votes = PeopleVotes(ledger.address, folder)

    def head() -> tuple[int, bytes] | None:
        try:
            return votes.head()
        except LedgerError as error:
            _log.warning("the votes of the audience are not taken into the log: %s", error)
            return None

    return head


def _warnings(client: Client) -> Sequence[str]:
    """Return what a client has to say about the settings it was given, in the order it learnt it."""
    found: Sequence[str] = getattr(client, "warnings", ())
    return found


def _warn(runtimes: Mapping[str, PlayerRuntime], told: Counter[str]) -> None:
    """Print what clients have learnt since so many of each player's warnings were `told`."""
    for name, runtime in runtimes.items():
        warnings = _warnings(runtime.client)
        for warning in warnings[told[name] :]:
            _log.warning(warning)
        told[name] = len(warnings)
