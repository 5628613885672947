"""The door through which the engine asks a player, whatever the player is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from peerage.game.house import House, usual
from peerage.game.protocol import Format, Role, Speaker
from peerage.game.work import Trace
from peerage.sandbox.folder import WorkFolder
from peerage.values.texts import storable


class Call(Struct, frozen=True, gc=False):
    """One rendered request, ready to send.

    `messages` are (speaker, text) pairs. `max_tokens` bounds the answer, `thinking_tokens` what may be
    thought before it, on top; `more_room` says that both are larger than usual, because a first reply was
    cut at its limit. `temperature` None means the player's own setting. `seed` and `key` identify the request
    and are equal in every attempt and every resume: a house player's reply is a function of them. `seat` is
    the label of the seat that is asked, empty outside of matches; `folder` is what an agent works in a copy
    of (see `Ask`). `media` are the bytes of the pictures and sounds for which marks in its messages stand, by
    digest (`game.media`). `oracle`, and the game's `house`, are for house players alone.
    """

    key: str
    role: Role
    messages: Sequence[tuple[Speaker, str]]
    expects: Format
    max_tokens: int
    temperature: float | None
    seed: str
    oracle: Any = None
    thinking_tokens: int = 0
    more_room: bool = False
    house: House = usual
    seat: str = ""
    folder: WorkFolder | None = None
    media: Mapping[str, bytes] = {}


class Answer(Struct, frozen=True, gc=False):
    """A player's answer, before the engine judges its format.

    Token counts are None when the provider reports none. `latency_s` is in seconds, measured (or
    virtual, for house players). `cost_usd` is set only by a player that reports its own cost; else the
    engine prices the tokens. `snapshot` is the model version that the provider named. `refused` holds
    when the provider or the model declined. `hidden` is a house answer's true quality. `reasoning_tokens`
    are those of the output tokens that went into thinking, None when the provider does not say; `thought`
    holds when the reply shows in any way that the model thinks before it answers. `cached_tokens` are those
    of the input that the provider read from its cache. `times` the player's price is what its tokens cost,
    where the provider served it otherwise than it was asked to. `note` says what is odd about the reply, as
    that no text came but reasoning alone; it is on record with it. `used` is what it took beside tokens,
    as far as that is stated (`game.protocol.USED`). `trace` is an agent's way to it, and `possibly_nano`
    (1e-9 dollars) what calls to its model may have cost beyond `cost_usd`, which its gateway counted.
    """

    text: str
    latency_s: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    snapshot: str = ""
    refused: bool = False
    truncated: bool = False
    hidden: Any = None
    reasoning_tokens: int | None = None
    thought: bool = False
    times: int = 1
    note: str = ""
    cached_tokens: int | None = None
    used: Mapping[str, float] = {}
    trace: Trace | None = None
    possibly_nano: int = 0


MAX_TEXT = 200_000
"""Characters kept of one reply. Far above any game's limit; what a runaway sends beyond it is cut."""

MAX_BODY = 8 * 2**20
"""Bytes read of one response. A longer one is a failure: it cannot be a reply to a bounded request."""


def bounded(answer: Answer) -> Answer:
    """An answer whose text is at most `MAX_TEXT` characters long, and storable."""
    return replace(
        answer,
        text=storable(answer.text[:MAX_TEXT]),
        snapshot=answer.snapshot[:200],
        truncated=answer.truncated or len(answer.text) > MAX_TEXT,
    )


def duration(seconds: float) -> str:
    """A time in the words people use for one so long: "8 s", "45 min", "24 hours", "3 days"."""
    if seconds < 1:
        return f"{seconds:.1g} s"
    for size, most, unit in ((1, 120, "s"), (60, 120, "min"), (3_600, 48, "hours")):
        if seconds / size < most - 0.5:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.0f} days"


FailureKind: TypeAlias = Literal["transient", "request", "permanent"]


class PlayerError(Exception):
    """A player could not answer.

    `kind` transient: worth another try (429, 5xx, timeout, dropped connection); request: this request is not
    worth another one, others may be (prompt too long, malformed reply); permanent: no request of this player
    will get through (bad key, no credit, unknown model), which benches it. `retry_after_s` is the provider's
    wish, when it stated one. `maybe_paid` holds when the provider may have done, and charged for, the work;
    `busy` when it is there, but slow or at a rate limit. `most_nano` is the most that it may have cost (1e-9
    dollars), None where nobody counted.
    The message names player, cause, fix, and never a key.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = "transient",
        retry_after_s: float | None = None,
        maybe_paid: bool = False,
        busy: bool = False,
        most_nano: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s
        self.maybe_paid = maybe_paid
        self.busy = busy
        self.most_nano = most_nano

    def cost(self, worst: int | None) -> int | None:
        """Return what the call may have cost at most, where nobody counted its `worst`; 1e-9 dollars."""
        return 0 if not self.maybe_paid else worst if self.most_nano is None else self.most_nano


class Later(PlayerError):
    """Not now: a person who is asleep, a server that runs at night.

    The match leaves its round, and the player is asked again after `until_ms` (Unix milliseconds; None: not
    known), perhaps in another run. That is no failure: nothing counts against the player, nothing was billed.
    `why` is for people, such as "out of hours until 8:00".
    """

    def __init__(self, why: str, until_ms: int | None = None) -> None:
        super().__init__(why)
        self.until_ms = until_ms


class NotTaken(PlayerError):
    """A request that holds a picture or a sound, and a player that does not take it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="request")


class Client(Protocol):
    """The one who answers for a player. One client serves any number of calls at once."""

    async def start(self) -> None:
        """Get ready (start a server, open a session). Raises PlayerError."""

    async def answer(self, call: Call) -> Answer:
        """Answer one call; raises PlayerError, or Later to be asked at another time. Retries are the
        engine's, never the client's."""

    async def close(self) -> None:
        """Release everything; safe to call twice, and after a failed start."""


@runtime_checkable
class Awaited(Protocol):
    """A client whose `Later` ends when a reply is there, which it reports to the run (people)."""

    def listen(self, seeds: Iterable[str], wake: Callable[[str], None]) -> Collection[str]:
        """A run begins, whose unfinished matches have these `seeds`: from now on call `wake(seed)` for each
        in which a reply is there. Return the seeds of those that need not be asked before that."""

    def over(self, seed: str) -> None:
        """A match is over, or ends without what this player may still say."""

    def away_s(self) -> float:
        """Return for how many seconds there has been no sign of the one who replies."""


@runtime_checkable
class Remembering(Protocol):
    """A client whose agent may remember matches by itself, and wants to know when one is over."""

    async def ended(self, seed: str, seat: str) -> None:
        """Send that the match of a `seed` is over for a seat, and nothing else of it. Raises PlayerError."""


@runtime_checkable
class InstantClient(Protocol):
    """A client that computes its reply in this process and never waits (house players)."""

    def answer_now(self, call: Call) -> Answer: ...
