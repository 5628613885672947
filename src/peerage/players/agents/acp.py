"""Agents over the Agent Client Protocol: a process for each seat of a match, in a jail, with its own folder.

A contestant's process lives until its match is over, it has to make room, or something goes wrong; then the
next request starts another one. Judges and authors, whose replies must not depend on one another, requests to
work in a folder and those of `session: none` have a process each. A model behind an agent is reached through
a gateway alone, which knows what was asked and paid.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from peerage.game.work import AgentStep, Trace
from peerage.players.agents.acp_process import AgentProcess
from peerage.players.agents.acp_protocol import AgentTurn, Ending, asked, ending, server_entry
from peerage.players.agents.gateway import Gateway, GatewaySession
from peerage.players.agents.gateway_account import Metered
from peerage.players.agents.processes import (
    TIME_UP,
    BadEnds,
    cannot_run,
    child_environment,
    located,
    patch_left,
    place_with,
)
from peerage.players.agents.recipes import OTHER, filled, recipe_of
from peerage.players.client import Answer, Call, PlayerError, bounded, duration
from peerage.players.models.thoughts import part
from peerage.players.prices import Price, nano
from peerage.players.redaction import hidden, named, secrets_of
from peerage.sandbox.native.confined import listener
from peerage.sandbox.native.places import WorkPlace, lacking
from peerage.settings import PlayerSettings
from peerage.settings.players.agents import McpServer

GRACE_S = 3.0
"""Seconds that an agent has to stop when its time is up, and a last call of its model to come back; an eighth
of the time for a request, where that is less."""
_SPENT = "what this request may cost or take was spent; what was there then counts"
_SECRET = re.compile(r"key|token|secret|password|auth", re.IGNORECASE)


class _SeatedAgent:
    """A seat of a match: its process, with the place where it lives and its way to its model."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.agent: AgentProcess | None = None
        self.place: WorkPlace | None = None
        self.session: GatewaySession | None = None

    async def empty(self) -> None:
        """End the process, and remove all that it had; safe to call twice."""
        agent, place, session = self.agent, self.place, self.session
        self.agent = self.place = self.session = None
        if agent is not None:
            await agent.end()
        if session is not None:
            await session.close()
        if place is not None:
            await asyncio.to_thread(place.remove)


class AcpClient:
    """The client of a player with `acp`. `price` is that of its model's tokens."""

    def __init__(
        self,
        settings: PlayerSettings,
        env: Mapping[str, str],
        folder: Path,
        hidden: Sequence[Path] = (),
        price: Price | None = None,
    ) -> None:
        self.warnings: list[str] = []
        self._settings = settings
        self._folder = folder.absolute()
        self._hidden = [self._folder, *hidden]
        own_model = settings.provider == "acp"
        self._known = recipe_of(settings.acp)
        self._recipe = OTHER if own_model else self._known or OTHER
        self._words: list[str] = []
        self._servers: list[tuple[McpServer, list[str]]] = []
        self._jailed = False
        self._bad_ends = BadEnds()
        own = settings.key_env if own_model else ""
        self._env = child_environment(env, own)
        self._key = env.get(own, "")
        self._gateway = None if own_model else Gateway(settings, env, price or Price())
        stated = [settings.env, *[pairs for each in settings.mcp for pairs in (each.env, each.headers)]]
        values = [value for pairs in stated for name, value in pairs.items() if _SECRET.search(name)]
        self._secrets = (
            self._key,
            *values,
            *[part for each in settings.mcp for part in secrets_of(each.url)],
        )
        self._seats: dict[tuple[str, str], _SeatedAgent] = {}
        self._live: dict[_SeatedAgent, None] = {}
        self._ends: set[asyncio.Future[None]] = set()

    @named
    async def start(self) -> None:
        settings = self._settings
        install = self._known.install if self._known is not None else ""
        self._words = located(settings.acp, self._folder, self._env, install)
        self._servers = [
            (each, located((each.command, *each.args), self._folder, self._env) if each.command else [])
            for each in settings.mcp
        ]
        if self._gateway is None and self._known is not None and not settings.network:
            raise PlayerError(
                "no `model` is stated, such as `model: openai:gpt-5-mini`, and a model of its own the agent "
                "reaches only with `network: true`",
                kind="permanent",
            )
        stated = "".join([*settings.env.values(), *settings.files.values()])
        if self._gateway is not None and self._known is None and "{url}" not in stated:
            raise PlayerError(
                f"nothing says how {settings.acp[0]!r} is pointed at its model; state the variables (`env`) "
                "or files that do, with the places {url}, {key} and {model}",
                kind="permanent",
            )
        lacks = await asyncio.to_thread(lacking)
        self._jailed = not lacks
        if lacks:
            self.warnings.append(
                f"{settings.name}: nothing keeps the agent from the files and the network of this "
                f"machine: {lacks}"
            )
        if self._gateway is not None:
            await self._gateway.start()

    @named
    async def answer(self, call: Call) -> Answer:
        key = (call.seed, call.seat)
        alone = not call.seat or call.role != "contestant" or call.folder is not None
        alone = alone or self._settings.session == "none"
        seat = _SeatedAgent() if alone else self._seats.setdefault(key, _SeatedAgent())
        started = asyncio.get_running_loop().time()
        async with seat.lock:
            try:
                answer = await self._asked(seat, call, started)
            except BaseException as error:
                await self._leave(seat)
                if isinstance(error, OSError) and not isinstance(error, TimeoutError):
                    raise cannot_run(error) from None
                raise
            if alone or self._seats.get(key) is not seat:
                await self._leave(seat)
            return answer

    async def ended(self, seed: str, seat: str) -> None:
        """End the process of a seat whose match is over."""
        if (over := self._seats.pop((seed, seat), None)) is not None:
            await self._leave(over)

    async def close(self) -> None:
        await asyncio.gather(*[self._leave(seat) for seat in [*self._live]], *self._ends)
        if self._gateway is not None:
            await self._gateway.close()

    async def _leave(self, seat: _SeatedAgent) -> None:
        self._live.pop(seat, None)
        ending = asyncio.ensure_future(seat.empty())
        self._ends.add(ending)
        ending.add_done_callback(self._ends.discard)
        await asyncio.shield(ending)  # not to be broken off: a process would be left behind

    async def _asked(self, seat: _SeatedAgent, call: Call, started: float) -> Answer:
        """Ask the seat's agent, which is started if there is none. Raises PlayerError."""
        clock, most = asyncio.get_running_loop().time, self._settings.timeout_s
        grace = min(GRACE_S, most / 8)
        try:
            async with asyncio.timeout(most):
                agent = await self._ready(seat, call)
        except TimeoutError:
            raise PlayerError(f"it was not ready within {duration(most)} (`timeout_s`)", busy=True) from None
        except asyncio.CancelledError:
            raise PlayerError(f"it was not ready within {duration(clock() - started)}", busy=True) from None
        text, system = asked(call.messages, agent.system)
        turn, session = AgentTurn(self._settings.allow), seat.session
        end, error = Ending(), None
        metered = Metered()
        if session is not None:
            session.begin(nano(self._settings.request_budget), self._settings.request_tokens)
        try:
            left = max(started + most - clock(), 0.001)
            end = ending(await agent.prompt(turn, text, call.media, left, grace))
            if session is not None:
                await session.settled(grace)
        except TimeoutError:
            error = PlayerError(f"no reply within {duration(most)}", busy=True)
        except PlayerError as failed:
            error = failed
        except asyncio.CancelledError:
            # Anyone who waits no longer, as after a second Ctrl+C, still learns what was spent until then.
            if (counted := session.end().most_nano if session is not None else None) is None:
                raise
            late_s = duration(clock() - started)
            raise PlayerError(
                f"no reply within {late_s}", busy=True, maybe_paid=counted != 0, most_nano=counted
            ) from None
        finally:
            metered = session.end() if session is not None else metered
        late = error is not None and error.busy
        if late and call.folder is not None:
            end, error = Ending(True, note=TIME_UP), None
        elif metered.spent and not late:
            end, error = Ending(True, note=_SPENT), None
        if error is not None:
            error.maybe_paid, error.most_nano = metered.most_nano != 0, metered.most_nano
            if not agent.alive and not metered.failed and not late:
                error.kind = self._bad_ends.count()
            raise error
        self._bad_ends.worked()
        agent.system = system
        parted = part(turn.text)
        answer = Answer(
            parted.answer,
            clock() - started,
            metered.input_tokens,
            metered.output_tokens,
            None if metered.cost_nano is None else metered.cost_nano / 1e9,
            snapshot=", ".join(metered.models),
            refused=end.refused,
            truncated=end.truncated,
            thought=turn.thought or parted.thought > 0,
            note=end.note,
            cached_tokens=metered.cached_tokens,
            possibly_nano=metered.possibly_nano,
        )
        if call.folder is not None:
            turn.close_text()
            await agent.end()  # nothing may change while the folder is read
            assert seat.place is not None
            left_there, note = await patch_left(seat.place, call.folder, self._folder)
            answer = replace(answer, text=left_there, note=note or answer.note)
        elif not turn.text.strip() and not end.note:
            answer = replace(answer, note="the agent wrote nothing after its last tool call")
        trace = Trace(tuple([self._keyless(step) for step in turn.steps()]), metered.calls)
        return replace(bounded(answer), trace=trace)

    def _keyless(self, step: AgentStep) -> AgentStep:
        return replace(
            step, title=hidden(step.title, self._secrets), detail=hidden(step.detail, self._secrets)
        )

    async def _ready(self, seat: _SeatedAgent, call: Call) -> AgentProcess:
        """Return the seat's agent, ready to be asked. Raises PlayerError."""
        self._live.pop(seat, None)
        if seat.agent is not None and seat.agent.alive:
            self._live[seat] = None
            return seat.agent
        await seat.empty()
        self._live[seat] = None
        idle = (other for other in [*self._live] if not other.lock.locked())
        while len(self._live) > (self._settings.concurrency or 1) and (other := next(idle, None)) is not None:
            async with other.lock:  # or it could be asked while it ends
                await self._leave(other)
        try:
            return await self._started(seat, call)
        except PlayerError as error:
            if error.kind == "transient" and (seat.agent is None or not seat.agent.alive):
                error.kind = self._bad_ends.count()
            raise

    async def _started(self, seat: _SeatedAgent, call: Call) -> AgentProcess:
        settings, recipe = self._settings, self._recipe
        place = seat.place = await place_with(call.folder, self._folder)
        places = {"home": str(place.home), "key": self._key}
        if self._gateway is not None:
            form = recipe.form(settings)
            session = seat.session = await self._gateway.open()
            places |= {"url": session.url(form), "root": session.url("messages"), "form": recipe.forms[form]}
            places |= {"key": session.key, "model": session.model}
        env = {**filled(recipe.env, places), **filled(settings.env, places)}
        for path, text in {**filled(recipe.files, places), **filled(settings.files, places)}.items():
            target = place.home / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        # In a network of its own an agent reaches the gateway only where its launcher listens for us.
        port = self._gateway.port if self._gateway and self._jailed and not settings.network else 0
        launcher: list[str] = []
        near, far = socket.socketpair()
        with near, far:
            report = far.fileno() if port else 0
            if self._jailed:
                launcher = place.launcher(
                    self._hidden,
                    words=[*self._words, *[word for _, words in self._servers for word in words]],
                    network=settings.network,
                    port=port,
                    report=report,
                )
            words, env = [*launcher, *self._words], place.environment(self._env) | env
            passed = [report] if report else []
            agent = seat.agent = await AgentProcess.start(words, place.work, env, passed)
            far.close()
            if self._gateway and port and (listening := await asyncio.to_thread(listener, near)):
                await self._gateway.listen(session, listening)
        await agent.open(place.work, [server_entry(server, words) for server, words in self._servers])
        return agent
