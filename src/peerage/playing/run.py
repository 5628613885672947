"""A run put together: facts held against the ledger, players opened, programs and budget checked.

The door is `Arena.play`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerage.engine.again.import_recordings import admit
from peerage.engine.again.recovery import decided, read_budget_voids, recover
from peerage.engine.calls.availability import Availability, spent_today
from peerage.engine.calls.budget import Budget
from peerage.engine.calls.calls import Reach
from peerage.engine.calls.reservations import Money, Reservations
from peerage.engine.match.driving import Drive, Driving, MatchRun
from peerage.engine.match.plans import Plans
from peerage.engine.match.under_way import MatchesUnderWay
from peerage.engine.record.journal import Journal
from peerage.engine.record.registration import prices, registered, registrations
from peerage.engine.record.settings_log import log_settings
from peerage.engine.run.course import RunSetup, Watched
from peerage.engine.run.hosts import Hosts, here
from peerage.engine.run.left_up import stop_left_up
from peerage.engine.run.process import stopped_by_signals
from peerage.engine.run.report import RunReport
from peerage.engine.run.runner import Runner
from peerage.game.match import Fixture, MatchRecord, Outcome, Recording
from peerage.games import GAMES, plays
from peerage.ledger import Batch, Ledger, LedgerError, Summary
from peerage.ledger.topics.secret import arena_secret
from peerage.ledger.topics.settings_log import statements
from peerage.ledger.topics.votes import PeopleVotes
from peerage.players.client import Client
from peerage.players.keys import key_names
from peerage.playing.players import RunPlayers
from peerage.playing.requirements import budget_since, check, notices, pin, refuse_workers
from peerage.playing.trials import refuse_wrong_commands
from peerage.settings import ArenaError, ArenaSettings, enough_players, extra_installed, rules_of
from peerage.settings.game_file import files_of
from peerage.standings.fold import pinned_elo
from peerage.standings.looks import look
from peerage.standings.verify import check_records
from peerage.values.clock import now_ms
from peerage.values.outputs import hidden_files
from peerage.values.sealing import sealing_key
from peerage.version import __version__

if TYPE_CHECKING:
    from peerage.cluster.crew import Crew
    from peerage.engine.calls.programs import Programs

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
    with ledger.runner():
        check_records(ledger)
        in_flight, unpinned = check(settings, ledger)
        for notice in [notice for notice in notices(settings, ledger) if notice not in known]:
            _log.warning(notice)
        stop_left_up(folder, ledger, now_ms)
        recovered = recover(ledger, in_flight.lag, pinned_elo(ledger.meta(), settings.rating))
        reached = max_matches is not None and decided(ledger) >= max_matches
        if not reached:
            await refuse_wrong_commands(folder, settings, ledger)
        async with AsyncExitStack() as stack:
            players = RunPlayers(folder, settings, ledger, clients, now_ms)
            await players.open(stack)
            hosts, availability = _hosts(folder, settings, ledger, players, guarded=not inline)
            if settings.engine.probe and not reached:
                await players.probe(recovered, availability, replan)
            secret = _commit(settings, ledger, unpinned)
            if not reached:
                await players.bench(recovered)
            read_budget_voids(recovered, ledger, budget_since(settings, ledger))
            players.register(key := sealing_key(secret))
            log_settings(ledger, settings, key, now_ms())
            setup = RunSetup(
                settings=settings,
                recovered=recovered,
                runtimes=players.runtimes,
                availability=availability,
                hosts=hosts,
                env=players.env,
                in_flight=in_flight,
                secret=secret,
                limit=max_matches,
                media=settings.shelf,
            )
            drive = await _drive(folder, setup, ledger, clients, stack, reached=reached)
            watched = Watched(observe, _votes_of(ledger, folder))
            runner = Runner(setup, ledger, drive, now_ms, watched, inline=inline)
            if signals:
                stack.enter_context(stopped_by_signals(runner))
            if beside is not None:
                stack.push_async_callback(_cancel, asyncio.ensure_future(beside(runner)))
            report = await runner.run()
            players.register(key)
            look(ledger, now_ms())
            return report


def _commit(settings: ArenaSettings, ledger: Ledger, facts: dict[str, str]) -> str:
    """Write down the facts that a first match needs, and the commitment to the secret; return the secret."""
    if facts:
        ledger.write(Batch(meta=facts))
    return arena_secret(ledger, settings.secret_seed, at_ms=now_ms())


async def _cancel(task: asyncio.Future[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _hosts(
    folder: Path, settings: ArenaSettings, ledger: Ledger, players: RunPlayers, *, guarded: bool
) -> tuple[Hosts, Availability]:
    """Return the hosts of a run, and when its players are available."""
    everyone, switches = settings.everyone, here
    if settings.engine.kind != "local":  # the cluster starts hosts for which it has to find a node
        from peerage.cluster.host_power import switch as switches
    hosts = Hosts(
        settings.hosts, everyone, players.hosted, folder, now_ms, guarded=guarded, switches=switches
    )
    return hosts, Availability(everyone, now_ms, spent_today(ledger, everyone, now_ms()), hosts.away)


async def _drive(
    folder: Path,
    setup: RunSetup,
    ledger: Ledger,
    clients: Callable[[Any], Client] | None,
    stack: AsyncExitStack,
    *,
    reached: bool,
) -> Drive:
    """Return what drives a run's matches: this process, or workers unless the limit is `reached` already."""
    settings, runtimes = setup.settings, setup.runtimes
    programs = await _programs(folder, settings, [fixture for fixture, _ in setup.recovered.pending], stack)
    crew = None if reached else _crew(folder, setup, ledger, programs, clients, stack)

    def drive(run: MatchRun, journal: Journal, budget: Budget, plans: Plans) -> Driving:
        reach = Reach(runtimes, settings.engine, setup.availability, programs)
        if crew is not None:
            return crew(run, ledger, journal, budget, reach)
        return MatchesUnderWay(run, reach, journal, now_ms, Money(budget, Reservations(budget)), plans)

    return drive


def _crew(
    folder: Path,
    setup: RunSetup,
    ledger: Ledger,
    programs: Programs | None,
    clients: Callable[[Any], Client] | None,
    stack: AsyncExitStack,
) -> Callable[..., Crew] | None:
    """Return what makes the driving by workers of a cluster; None where this process drives its matches."""
    settings, runtimes, env = setup.settings, setup.runtimes, setup.env
    engine, budget = settings.engine, settings.budget
    if engine.kind == "local":
        return None
    from peerage.cluster.crew import Crew
    from peerage.cluster.messages import Posting
    from peerage.cluster.on_ray import RayPlaces
    from peerage.ledger.stores import access

    cards = registered(ledger)
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
        programs=None if programs is None else programs.runs,
        games=files_of(settings.lineup),
        clients=clients,
    )
    places = RayPlaces(engine.address, engine.workers)
    stack.push_async_callback(places.close)
    return partial(Crew, clock=now_ms, places=places, posting=posting)


def begin(settings: ArenaSettings, ledger: Ledger) -> None:
    """Open the ledger of an arena before its first match: the secret's commitment, players and settings. Once
    it is open, and after the first match, nothing is written. Raises as a run does."""
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


async def _programs(
    folder: Path, settings: ArenaSettings, pending: Sequence[Fixture], stack: AsyncExitStack
) -> Programs | None:
    """The sandbox, where a game needs one, by today's rules or by those of a match that waits."""
    specs = {game: GAMES[game] for game in settings.lineup}
    rules = [(game, rules_of(settings, game)) for game in specs]
    for fixture in pending:
        spec = specs.get(fixture.game)
        if spec is not None and plays(spec, fixture.game, fixture.version, fixture.release):
            rules.append((fixture.game, spec.rules.model_validate(fixture.settings)))
    running = next((game for game, stated in rules if specs[game].needs.sandbox(stated)), "")
    commanding = next((game for game, stated in rules if specs[game].needs.commands(stated)), "")
    if not (needing := running or commanding):
        return None
    from peerage.engine.calls.programs import opened
    from peerage.sandbox import image
    from peerage.sandbox.program import SandboxUnavailable

    try:
        if running and not image.path().exists():
            _log.warning("the sandbox is compiled, once on this machine: half a minute or so")
        hidden = hidden_files(folder, settings.ledger)
        opening = opened(folder, hidden, programs=bool(running), commands=bool(commanding))
        return await stack.enter_async_context(opening)
    except SandboxUnavailable as reason:
        raise ArenaError(
            f"{needing} runs {'programs' if running else 'commands'} that players write, and there is no "
            f"sandbox: {reason}. `peerage sandbox check` says more"
        ) from reason


def _votes_of(ledger: Ledger, folder: Path) -> Callable[[], tuple[int, bytes] | None]:
    """Return what gives the head of the audience's votes; their file's faults, for `verify`, end no run."""
    votes = PeopleVotes(ledger.address, folder)

    def head() -> tuple[int, bytes] | None:
        try:
            return votes.head()
        except LedgerError as error:
            _log.warning("the votes of the audience are not taken into the log: %s", error)
            return None

    return head
