"""Probes of players before a run: one small question each; see `engine.record.probed`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from peerage.engine.calls.budget import dollars
from peerage.engine.calls.call_costs import OVERHEAD_BYTES
from peerage.engine.calls.player_runtime import PlayerRuntime, most_nano, priced
from peerage.engine.record.benches import Benches, benched
from peerage.engine.record.probed import ProbeEntry, ProbeResult, reachable
from peerage.engine.record.registration import as_registered
from peerage.game.media import Kind
from peerage.game.protocol import size_of
from peerage.ledger import Amendment, Ledger
from peerage.ledger.topics.places import Bench
from peerage.players.checks import PAID, PROBE_TOKENS, Probed, needs_probe, probe, probe_call, together
from peerage.players.client import Answer, Call, Later, PlayerError
from peerage.players.media import KINDS, held
from peerage.players.picture_probe import media_call, probe_media
from peerage.players.prices import Price
from peerage.settings import PlayerSettings
from peerage.standings.accounts import NOTHING, Account
from peerage.values.figures import known_sum
from peerage.values.texts import storable

TRIES = 3
"""Probes of a player that is down, in all."""
BETWEEN_S = 0.5
"""Seconds between the first two of these probes; twice as many before the third."""

_log = logging.getLogger("peerage")


def worst_probe(price: Price, media: Iterable[Kind] = ()) -> int | None:
    """Return what the probe of a player of this price, which is asked about kinds of `media` too, may cost at
    most, in 1e-9 dollars; None when its price is unknown. Of several requests for one reply `PAID` can be
    charged: others were refused. An agent behind a gateway gets one."""
    worst, paid = _worst(price, probe_call()), PAID if price.request_nano is None else 1
    return worst and paid * worst + sum([_worst(price, media_call(kind)[0]) or 0 for kind in media])


def _worst(price: Price, call: Call) -> int | None:
    size = size_of(call.messages) + price.media_tokens(held(call.messages))
    return price.worst_nano(size + OVERHEAD_BYTES, PROBE_TOKENS)


def to_probe(
    ledger: Ledger,
    players: Iterable[PlayerSettings],
    priced: Mapping[str, Price],
    media: Container[str] = (),
) -> list[str]:
    """Return whom a run probes: players behind a network not known to answer as set, and those that are to be
    asked about `media`. Raises LedgerError."""
    answering = reachable(ledger) - benched(ledger).keys()
    return [
        player.name
        for player in players
        if needs_probe(player)
        and not (
            player.name in answering
            and player.name not in media
            and as_registered(ledger, player, priced[player.name])
        )
    ]


Record: TypeAlias = Callable[[ProbeEntry], Awaitable[None]]
"""Puts an entry on record, durably."""


async def probe_players(
    runtimes: Mapping[str, PlayerRuntime],
    env: Mapping[str, str],
    *,
    affordable: Callable[[str, int], bool],
    record: Record,
    tries: int = TRIES,
    media: Mapping[str, Collection[Kind]] = {},
) -> dict[str, Probed]:
    """Ask every player behind a network one small question, and one about each kind of `media` that is listed
    for it, all players at once; return what was found, by name.
    Players that are down are asked again, `tries` times in all. `affordable(player, nano)` sets the worst
    cost of one probe aside, or says that the budget has no room for it: that player is then not probed. The
    caller holds the runner's lock."""
    probed: dict[str, Probed] = {}
    asked = {name: runtime for name, runtime in runtimes.items() if needs_probe(runtime.settings)}
    for again in range(tries):
        if again and asked:
            await asyncio.sleep(BETWEEN_S * again)
        probed |= await _probe_once(asked, env, affordable, record, media)
        asked = {name: asked[name] for name in asked if name in probed and probed[name].down}
    return probed


async def _probe_once(
    runtimes: Mapping[str, PlayerRuntime],
    env: Mapping[str, str],
    affordable: Callable[[str, int], bool],
    record: Record,
    media: Mapping[str, Collection[Kind]],
) -> dict[str, Probed]:
    worst: dict[str, int | None] = {}
    for name, runtime in runtimes.items():
        most = worst_probe(runtime.price, media.get(name, ()))
        if affordable(name, most or 0):
            worst[name] = most
    if not worst:
        return {}
    await record(ProbeEntry(sent=worst))
    probed = await asyncio.gather(*[_ask(runtimes[name], env, media.get(name, ())) for name in worst])
    results = {each.player: _result_of(runtimes[each.player], each) for each in probed}
    await record(ProbeEntry(found=results))
    for each in probed:
        _tell(each, results[each.player])
        _tell_overrun(each.player, results[each.player].cost_nano, worst[each.player])
    return {each.player: each for each in probed}


async def bench_by_probes(
    benches: Benches,
    when: tuple[int, int],
    runtimes: Mapping[str, PlayerRuntime],
    probed: Mapping[str, Probed],
    env: Mapping[str, str],
    free: Container[str] | None,
    clock: Callable[[], int],
    overbilled: Container[str] = (),
    *,
    pausing: bool = True,
    accounts: Mapping[str, Account] = {},
) -> list[Amendment]:
    """Bench who failed its probe, also where it was paused; bring back who answers again. Return the rows to
    be written. Where a run can be `pausing` players, one that is down is paused. `accounts` are everybody's
    sums by now.

    A benched player that costs nothing to ask is asked here, be it one of `free` or, without that, one that
    is behind no network; a person, and one that may cost something and was not probed, comes back untried;
    one of `overbilled` stays. `when` is the next round to be paired, and the last match on record.
    """
    rows: list[Amendment] = []
    failed: dict[str, str] = {}
    for name, runtime in runtimes.items():
        was, probe = benches.out.get(name), probed.get(name)
        if was is not None and name in overbilled:
            failed[name] = f"{was.why} Still benched: state the `price` that it bills, or set no budget"
            continue
        costs_nothing = not needs_probe(runtime.settings) if free is None else name in free
        costs_nothing = costs_nothing and not runtime.settings.is_person
        if was is not None and probe is None and costs_nothing:
            probe = await _ask(runtime, env)
        if was is None and probe is not None and probe.down and pausing:
            _log.warning("%s; paused until it answers, which it is asked from time to time", probe.problem)
            why = f"no probe got through; the last: {probe.problem.removeprefix(f'{name}: ')}"
            entry = Bench(name, "paused", *when, storable(why)[:500])
        elif (was is None or was.event == "paused") and probe is not None and probe.unusable:
            failed[name] = f"{probe.problem}; benched"
            entry = Bench(name, "benched", *when, storable(probe.problem)[:500])
        elif was is not None and probe is not None and not _plays_again(was, probe):
            failed[name] = f"{probe.problem}; still {was.event}"
            continue
        elif was is not None:
            _log.info("%s is back", name)
            sums = accounts.get(name, NOTHING)
            why = "not tried" if probe is None else "it answers again"
            entry = Bench(name, "returned", *when, why, seated=sums.seated, failed=sums.failed)
        else:
            continue
        rows.append(benches.enter(entry, clock()))
    for line in together(failed):
        _log.warning("%s", line)
    return rows


def _plays_again(was: Bench, probed: Probed) -> bool:
    """Return whether a probe ends a bench or a pause; a server that is only busy ends a pause."""
    return isinstance(probed.failure, Later | None) or (was.event == "paused" and not probed.down)


async def _ask(runtime: PlayerRuntime, env: Mapping[str, str], media: Collection[Kind] = ()) -> Probed:
    settings, client, thinking = runtime.settings, runtime.client, runtime.price.thinking.tokens
    probed = await probe(settings, client, env, thinking)
    if probed.answer is None or not media:
        return probed
    return replace(probed, media=await probe_media(settings, client, media, thinking))


def _result_of(runtime: PlayerRuntime, probed: Probed) -> ProbeResult:
    """Return a probe as it goes on record, with what came of questions about media."""
    answer = probed.answer
    came = probed.failure or answer
    assert came is not None
    each = _worst(runtime.price, probe_call())
    costs = [(None, each)] * probed.maybe_paid + [_cost_of(runtime, probe_call(), came)]
    costs += [_cost_of(runtime, media_call(kind)[0], came) for kind, (_, came) in probed.media.items()]
    known = [billed for billed, _ in costs if billed is not None]
    result = ProbeResult(
        status="failed" if probed.unusable else "void",
        reason=storable(probed.problem)[:1000],
        requests=probed.requests + len(probed.media),
        cost_nano=sum(known) if known else None,
        worst_nano=known_sum([most for _, most in costs]),
        media={kind: takes for kind, (takes, _) in probed.media.items() if takes is not None},
    )
    if answer is None:
        return result
    reply = priced(runtime, answer)
    return replace(
        result,
        status="refused" if answer.refused else "cut" if answer.truncated else "ok",
        reason="",
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        reasoning_tokens=reply.reasoning_tokens,
        latency_ms=reply.latency_ms,
        snapshot=storable(answer.snapshot)[:200],
        thinks=probed.thinks,
    )


def _cost_of(runtime: PlayerRuntime, call: Call, came: Answer | PlayerError) -> tuple[int | None, int | None]:
    """Return what a request was billed, None where nobody knows, and what may have been billed in addition,
    None where that has no bound; in 1e-9 dollars."""
    worst = _worst(runtime.price, call)
    if isinstance(came, PlayerError):
        return None if came.maybe_paid else 0, came.cost(worst)
    if (billed := priced(runtime, came, prompt=call.messages).cost_nano) is not None:
        return billed, 0
    most = most_nano(came)
    return None, worst if most is None else most


def _tell(probed: Probed, result: ProbeResult) -> None:
    if result.status == "void" and not probed.down:
        _log.warning("%s; it plays all the same", probed.problem)
    elif not probed.unusable:
        thinks = ", thinks before it answers" if result.thinks else ""
        takes = [
            f", {'takes' if taken else 'does not take'} {KINDS[kind]}" for kind, taken in result.media.items()
        ]
        said = thinks + "".join(takes)
        _log.info("%s answered its probe in %.1f s%s", probed.player, result.latency_ms / 1000, said)


def _tell_overrun(player: str, cost: int | None, worst: int | None) -> None:
    if cost is not None and worst is not None and cost > worst:
        _log.warning(
            "%s was billed %s for its probe, which could cost %s at most, as by a provider that ignores "
            "max_tokens",
            player,
            dollars(cost),
            dollars(worst),
        )
