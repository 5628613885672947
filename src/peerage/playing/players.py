"""The players of a run: opened, probed, benched or brought back, and written down."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from peerage.engine.again.recovery import Recovered
from peerage.engine.calls.availability import Availability
from peerage.engine.calls.budget import whole_nano
from peerage.engine.calls.call_limit import FIRST, FIRST_LOCAL, CallLimit
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.record.benches import OVERBILLED
from peerage.engine.record.probed import TOPIC as PROBES
from peerage.engine.record.probed import ProbeEntry, entries, probe_costs
from peerage.engine.record.registration import as_registered, prices, registered, registrations
from peerage.engine.record.seeing import left_out_in_words, media_to_ask, refuse_too_blind
from peerage.engine.run.probes import bench_by_probes, probe_players, to_probe
from peerage.ledger import Batch, Ledger, amend
from peerage.players import open_client
from peerage.players.checks import Probed, together
from peerage.players.client import Awaited, Client, InstantClient, PlayerError
from peerage.players.hosted.on_host import HostedClient
from peerage.players.keys import capacity, local_address
from peerage.playing.requirements import refuse_too_expensive, refuse_unpriced
from peerage.settings import ArenaError, ArenaSettings, PlayerSettings, SettingsError, enough_players
from peerage.values.environment import environment
from peerage.values.outputs import hidden_files

_log = logging.getLogger("peerage")


class RunPlayers:
    """The players of one run. `clients` opens them otherwise than by their settings, `clock` gives Unix
    milliseconds; `runtimes` are by name, each with the price that is on record."""

    def __init__(
        self,
        folder: Path,
        settings: ArenaSettings,
        ledger: Ledger,
        clients: Callable[[Any], Client] | None,
        clock: Callable[[], int],
    ) -> None:
        self.env = environment(folder, os.environ)
        self.runtimes: Mapping[str, PlayerRuntime] = {}
        self._folder = folder
        self._settings = settings
        self._ledger = ledger
        self._clients = clients
        self._clock = clock
        self._printed = Counter[str]()
        self._probed: Mapping[str, Probed] = {}

    @property
    def hosted(self) -> dict[str, HostedClient]:
        """Return the clients of the players that are on hosts, by player."""
        clients = {name: runtime.client for name, runtime in self.runtimes.items()}
        return {name: client for name, client in clients.items() if isinstance(client, HostedClient)}

    async def open(self, stack: AsyncExitStack) -> None:
        """Open every player; `stack` closes them, and prints what they learn until then. Raises ArenaError,
        PlayerError and SettingsError."""
        settings, priced = self._settings, self._prices()
        hidden = hidden_files(self._folder, settings.ledger)

        def opened(player: PlayerSettings) -> Client:
            return open_client(player, self.env, self._folder, hidden, priced[player.name])

        make = self._clients or opened
        runtimes: dict[str, PlayerRuntime] = {}
        for player in settings.everyone:
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
        self.runtimes = (
            runtimes
            if self._clients is not None
            else await _with_call_limits(runtimes, self.env, settings.engine.calls)
        )
        self._warn()
        self._leave_out()
        stack.callback(self._warn)
        unpriced = [name for name, runtime in runtimes.items() if runtime.price.worst_nano(1, 1) is None]
        refuse_unpriced(settings, unpriced)
        refuse_too_expensive(settings, {name: runtime.price for name, runtime in runtimes.items()})

    def _warn(self) -> None:
        """Print what clients have learnt about their settings since this was last called."""
        for name, runtime in self.runtimes.items():
            warnings = _warnings(runtime.client)
            for warning in warnings[self._printed[name] :]:
                _log.warning(warning)
            self._printed[name] = len(warnings)

    def _leave_out(self) -> None:
        """Let clients leave out from the start what is on record that their servers do not take, so that a
        player is asked in every run as it was in the last."""
        cards = registered(self._ledger)
        for name, runtime in self.runtimes.items():
            leave_out = getattr(runtime.client, "leave_out", None)
            if leave_out is not None:
                leave_out(cards.get(name, {}).get("left_out", ()))
            self._printed[name] = len(_warnings(runtime.client))

    def _prices(self) -> Mapping[str, Any]:
        return prices(self._ledger, self._settings.everyone, datetime.now(UTC).date())

    def _reprice(self) -> bool:
        """Take the prices with the room to think that is on record by now; return whether any changed."""
        priced = self._prices()
        changed = any(runtime.price != priced[name] for name, runtime in self.runtimes.items())
        self.runtimes = {
            name: replace(runtime, price=priced[name]) for name, runtime in self.runtimes.items()
        }
        return changed

    def _overbilled(self, recovered: Recovered) -> set[str]:
        """The players that were billed more than their calls could cost, and would be again: there is a
        budget, and nothing of theirs has changed since."""
        budget, priced = self._settings.budget, self._prices()
        if budget.arena is budget.match is budget.player is None:
            return set()
        return {
            name
            for name, bench in recovered.benches.out.items()
            if bench.why.startswith(OVERBILLED)
            and (runtime := self.runtimes.get(name)) is not None
            and as_registered(self._ledger, runtime.settings, priced[name])
        }

    async def probe(
        self, recovered: Recovered, availability: Availability, replan: Callable[[], None] | None
    ) -> None:
        """Probe the players that are not known to answer, without those that are away now; nobody where
        `clients` were given. `replan` is called when prices change by it. Nothing but the probes themselves
        is on record when too few are left: ArenaError then."""
        if self._clients is not None:
            return
        overbilled = self._overbilled(recovered)
        limits, held = self._settings.budget, Counter[str]()
        media = media_to_ask(self._settings, self._ledger)
        asked = {
            name: self.runtimes[name]
            for name in to_probe(self._ledger, self._settings.everyone, self._prices(), media)
            if name not in overbilled and availability.away(name) is None
        }

        def affordable(player: str, nano: int) -> bool:
            most = whole_nano(limits.arena), whole_nano(limits.player)
            spent = recovered.spent_nano + held.total(), recovered.spent_by.get(player, 0) + held[player]
            if any(cap is not None and paid + nano > cap for cap, paid in zip(most, spent, strict=True)):
                return False
            if not availability.may_probe(player, held[player] + nano):
                return False
            held[player] += nano
            return True

        async def record(entry: ProbeEntry) -> None:
            amend(self._ledger, PROBES, [entry], self._clock())

        before = len(list(entries(self._ledger)))
        noticed = left_out_in_words(self._settings, self._ledger)
        self._probed = await probe_players(asked, self.env, affordable=affordable, record=record, media=media)
        refuse_too_blind(self._settings, self._ledger)
        for line in left_out_in_words(self._settings, self._ledger):
            if line not in noticed:
                _log.warning(line)
        costs = probe_costs(self._ledger, after=before)
        recovered.charge(costs)
        availability.charge({player: cost.most_nano for player, cost in costs.items()})
        self._enough_left([probe for probe in self._probed.values() if probe.unusable or probe.down])
        self._warn()
        if self._reprice() and replan is not None:
            replan()

    def _enough_left(self, failed: Sequence[Probed]) -> None:
        """Raise ArenaError when the players without those that failed their probes are too few."""
        settings = self._settings
        left = settings.without({probe.player for probe in failed})
        try:
            if settings.judges and not left.judges:
                raise SettingsError("no judge is left")
            enough_players(left)
        except SettingsError:
            whys = together({probe.player: probe.problem for probe in failed})
            raise ArenaError(
                f"{len(failed)} of {len(settings.everyone)} players cannot play, and too few are left for "
                f"{' and '.join(map(repr, settings.lineup))}:\n"
                + "".join([f"  {why}\n" for why in whys])
                + "nothing was played; `--no-probe` plays without asking first"
            ) from None

    async def bench(self, recovered: Recovered) -> None:
        """Bench and bring back players by their probes; see `bench_by_probes`."""
        rows = await bench_by_probes(
            benches=recovered.benches,
            when=(recovered.next_round, recovered.standings.number),
            runtimes=self.runtimes,
            probed=self._probed,
            env=self.env,
            free=None if self._clients is None else list(self.runtimes),
            clock=self._clock,
            overbilled=self._overbilled(recovered),
            pausing=self._settings.engine.kind == "local",
            accounts=recovered.accounts,
        )
        if rows:
            self._ledger.write(Batch(amendments=rows))

    def register(self, key: str) -> None:
        """Write down who plays, and what servers were found not to take, where that is new. `key` seals."""
        ledger, runtimes = self._ledger, self.runtimes
        players = [(runtime.settings, runtime.price) for runtime in runtimes.values()]
        judges = {judge.name for judge in self._settings.judges}
        refused = {name: getattr(runtime.client, "left_out", ()) for name, runtime in runtimes.items()}
        place, now = ledger.heads()[1], self._clock()
        new = registrations(ledger, players, key, place, now, left_out=refused, judges=judges)
        if new:
            ledger.write(Batch(amendments=new))


async def _with_call_limits(
    runtimes: Mapping[str, PlayerRuntime], env: Mapping[str, str], most_calls: int
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
    addresses = [*filter(None, local)]
    slots = dict(zip(addresses, await asyncio.gather(*map(stated_slots, addresses)), strict=True))
    limited = {**runtimes}
    for names, address in zip(shared.values(), local, strict=True):
        known = slots.get(address)
        most = min(most_calls, known or most_calls)
        limit = CallLimit(min(most, known or (FIRST_LOCAL if address else FIRST)), most)
        limited |= {name: replace(runtimes[name], call_limit=limit) for name in names}
    return limited


def _warnings(client: Client) -> Sequence[str]:
    """Return what a client has to say about the settings it was given, in the order it learnt it."""
    warnings: Sequence[str] = getattr(client, "warnings", ())
    return warnings
