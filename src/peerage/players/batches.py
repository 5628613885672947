"""A model at a provider, asked in batches at half price (`batch: true`), through pydantic-ai's batch API.

Calls that come within a moment of each other make one batch. When the log holds its id, each of its calls is
put off (`Later`), and its match waits; when the provider has worked through the batch, the matches are woken,
ask again, and get what came. A run that was killed finds its batches on the log and goes on waiting for them.
What a batch left undone, as one that expired or was cancelled, goes into the next.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import msgspec
from pydantic import TypeAdapter
from pydantic_ai.exceptions import ModelNotFoundError
from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult, EncodedBatchRequest

from peerage.players.client import Answer, Call, Later, PlayerError, SentBatch, request_id
from peerage.players.provider import ProviderClient, read
from peerage.players.redaction import named, named_failure
from peerage.settings import PlayerSettings

QUIET_S = 2.0
"""A batch is sent when for so long no further call has come."""
MOST = 1_000
"""Calls in one batch at most."""
LOOK_S = 5.0
"""Seconds until a provider is first asked how far a batch is; each time half as long again passes."""
LOOK_MOST_S = 300.0
LOOK_FIRST_S = 10.0
"""How long a run waits at its beginning to hear of batches that hold what no match asks for any more."""
LATE_S = 26 * 3600.0
"""Age from which a run that has nothing else to do no longer stays for a batch: providers promise a day."""

_handles = TypeAdapter(Batch)
_log = logging.getLogger("peerage")


@dataclass(eq=False)
class _Gathered:
    """A call that is to go into the next batch."""

    request: BatchRequest
    most_nano: int | None
    sent: asyncio.Future[None]


@dataclass(eq=False)
class _UnderWay:
    """A batch at the provider, the calls in it by id, and the seeds of the matches that wait for it."""

    handle: Batch
    requests: Collection[str]
    seeds: set[str] = field(default_factory=set)
    task: asyncio.Task[None] | None = None
    failed: PlayerError | None = None
    looked: asyncio.Event = field(default_factory=asyncio.Event)


class BatchClient:
    """The client of one model player that is asked in batches; implements `Client`, `Awaited`, `Batching`."""

    def __init__(self, settings: PlayerSettings, provider: ProviderClient) -> None:
        self._settings = settings
        self._provider = provider
        self._secrets = provider.secrets
        self._record: Callable[[SentBatch], Awaitable[None]] | None = None
        self._wake: Callable[[str], None] = lambda seed: None
        self._gathered: dict[str, _Gathered] = {}
        self._next: list[_Gathered] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: dict[str, _UnderWay] = {}
        self._results: dict[str, tuple[BatchResult | Exception, float]] = {}
        self._read_by: dict[str, list[str]] = {}
        self._unread: dict[str, Callable[[Answer | None], None]] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._provider.warnings

    @property
    def left_out(self) -> list[str]:
        return self._provider.left_out

    def leave_out(self, names: Iterable[str]) -> None:
        self._provider.leave_out(names)

    @named
    async def start(self) -> None:
        await self._provider.start()
        if self._provider.model.batch_max_requests is None:
            raise PlayerError(
                f"{self._settings.model} cannot be asked in batches; take `batch` away", kind="permanent"
            )

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._provider.close()

    def go_on(
        self,
        batches: Iterable[SentBatch],
        record: Callable[[SentBatch], Awaitable[None]],
        unread: Mapping[str, Callable[[Answer | None], None]],
    ) -> None:
        """A run begins: these batches are at the provider; `record` puts one on the log, durably; `unread`
        are told what came of requests that no match asks for any more."""
        self._record = record
        self._unread = {**unread}
        for sent in batches:
            batch = _UnderWay(_handles.validate_json(sent.handle), sent.requests)
            self._under_way |= dict.fromkeys(sent.requests, batch)
        for name in unread:
            self._watched(self._under_way[name])

    async def look(self) -> None:
        """Return when the batches of unread requests have been looked at once, or cannot be."""
        looks = {self._under_way[name].looked for name in self._unread if name in self._under_way}
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_FIRST_S):
                await asyncio.gather(*[one.wait() for one in looks])

    def _watched(self, batch: _UnderWay) -> None:
        if batch.task is None:
            batch.task = self._spawn(self._watch(batch))

    def listen(self, seeds: Iterable[str], wake: Callable[[str], None]) -> Collection[str]:
        self._wake = wake
        return ()

    def over(self, seed: str) -> None:
        for name in self._read_by.pop(seed, ()):
            self._results.pop(name, None)

    def away_s(self) -> float:
        """0 while a batch is being made or is no older than providers promise."""
        young = any(
            _age_s(one.handle) < LATE_S and not one.failed for one in self._under_way.values() if one.seeds
        )
        return 0.0 if young or self._gathered else LATE_S

    @named
    async def answer(self, call: Call) -> Answer:
        if self._record is None:  # no run, nothing to wait for: a call like any other, at its whole price
            answer = await self._provider.answer(call)
            return msgspec.structs.replace(answer, times=1 if self._settings.price else 2)
        name = request_id(call.seed, call.key)
        request = self._provider.request(call, name)
        if (result := self._results.pop(name, None)) is not None:
            answer = self._read(*result, call, request)
            self._results[name] = result  # whoever asked may be lost before the reply is on record
            self._read_by.setdefault(call.seed, []).append(name)
            return answer
        if (batch := self._under_way.get(name)) is None:
            self._gather(name, request, call.most_nano)
            await asyncio.shield(self._gathered[name].sent)
            batch = self._under_way[name]
        if batch.failed is not None:
            raise batch.failed
        batch.seeds.add(call.seed)
        self._watched(batch)
        raise Later("in a batch at the provider", sent=True)

    def _read(
        self, result: BatchResult | Exception, age_s: float, call: Call, request: BatchRequest
    ) -> Answer:
        try:
            if isinstance(result, Exception):
                raise result
            response = self._provider.model.batch_decode(result, request)
        except Exception as error:
            try:
                return self._provider.failed(error, call, request, age_s)
            except PlayerError as failure:
                failure.maybe_paid = False  # providers bill what a batch answered, and nothing else
                raise
        return self._provider.answered(response, request, age_s)

    # ------------------------------------------------------------------------------ sending a batch

    def _gather(self, name: str, request: BatchRequest, most_nano: int | None) -> None:
        """Put a call into the next batch."""
        loop = asyncio.get_running_loop()
        if name in self._gathered:  # its batch is being made
            return
        self._gathered[name] = one = _Gathered(request, most_nano, loop.create_future())
        self._next.append(one)
        if self._timer is not None:
            self._timer.cancel()
        quiet = QUIET_S if len(self._next) < MOST else 0.0
        self._timer = loop.call_later(quiet, lambda: self._spawn(self._send()))

    async def _send(self) -> None:
        gathered, self._next = self._next, []
        model = self._provider.model
        groups: dict[str, list[EncodedBatchRequest]] = {}
        for one in gathered:
            try:
                encoded = await model.batch_encode(one.request)
            except Exception as error:
                self._unsent([one], error)
            else:
                groups.setdefault(encoded.group, []).append(encoded)
        bytes_most, most = model.batch_max_bytes or 2**62, min(MOST, model.batch_max_requests or MOST)
        for group in groups.values():
            while group:
                size = count = 0
                for request in group[:most]:
                    size += model.batch_request_size(request) if model.batch_max_bytes else 0
                    if count and size > bytes_most:
                        break
                    count += 1
                await self._create(group[:count])
                del group[:count]

    async def _create(self, requests: list[EncodedBatchRequest]) -> None:
        calls = {request.custom_id: self._gathered[request.custom_id] for request in requests}
        try:
            handle = await self._provider.model.batch_create(requests)
        except Exception as error:
            self._unsent(calls.values(), error)
            return
        assert self._record is not None
        mosts = {name: one.most_nano for name, one in calls.items()}
        stored = _handles.dump_json(replace(handle, group=_without_credential(handle.group))).decode()
        await self._record(SentBatch(self._settings.name, stored, mosts))
        self._under_way |= dict.fromkeys(calls, _UnderWay(handle, calls))
        for name, one in calls.items():
            del self._gathered[name]
            one.sent.set_result(None)

    def _unsent(self, calls: Iterable[_Gathered], error: Exception) -> None:
        """These calls are in no batch; each failure counts for its own call."""
        failure = self._provider.failure(error)
        for one in calls:
            del self._gathered[one.request.custom_id]
            if not one.sent.done():
                one.sent.set_exception(named_failure(failure, self._settings.name, self._secrets))
                one.sent.exception()  # nobody may wait for it any more

    # ---------------------------------------------------------------------------- waiting for a batch

    async def _watch(self, batch: _UnderWay) -> None:
        """Ask how far a batch is until it has ended, keep what came of it, and wake those who wait."""
        wait_s, handle = LOOK_S, batch.handle
        model = self._provider.model
        results: dict[str, BatchResult | Exception] = {}
        while True:
            try:
                if handle.status == "ended":
                    results = {one.custom_id: one for one in await model.batch_results(handle)}
                    break
                handle = await model.batch_status(handle)
                if handle.status == "ended":
                    continue
            except ModelNotFoundError:
                break  # long over: its provider keeps it no more
            except Exception as error:
                failure = self._provider.failure(error)
                if handle.status == "ended" and type(error).__name__ == "BatchJobError":
                    results = dict.fromkeys(batch.requests, error)
                    break
                if failure.kind != "transient":
                    batch.failed = failure
                    break
                _log.debug("%s: a batch could not be looked at: %s", self._settings.name, failure)
            batch.looked.set()
            await asyncio.sleep(wait_s)
            wait_s = min(1.5 * wait_s, LOOK_MOST_S)
        age_s = _age_s(handle)
        for name in batch.requests if batch.failed is None else ():
            if self._under_way.get(name) is not batch:
                continue
            del self._under_way[name]
            came = results.get(name)
            if (told := self._unread.pop(name, None)) is not None:
                told(self._unread_answer(came, age_s))
            elif isinstance(came, Exception) or (came and came.status in ("succeeded", "errored")):
                self._results[name] = came, age_s
        batch.looked.set()
        for seed in batch.seeds:
            self._wake(seed)

    def _unread_answer(self, came: BatchResult | Exception | None, age_s: float) -> Answer | None:
        """What a reply said that no match reads; None where nothing came, and so nothing was billed."""
        if not isinstance(came, BatchResult) or came.status != "succeeded":
            return None
        try:
            request = BatchRequest(custom_id=came.custom_id, messages=[])
            return read(self._provider.model.batch_decode(came, request), age_s)
        except Exception:  # a reply that cannot be read was billed all the same: how much is not known
            return Answer("", age_s)

    def _spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _age_s(handle: Batch) -> float:
    return max(0.0, (datetime.now(UTC) - handle.created_at).total_seconds())


def _without_credential(group: str) -> str:
    """A batch's group without the digest of the key: collecting needs none."""
    try:
        found = json.loads(group)
    except ValueError:
        return group
    return json.dumps({**found, "credential": ""}, sort_keys=True)
