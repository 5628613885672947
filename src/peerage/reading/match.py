"""One match as it was read: its fixture, its requests and replies, what it came to, and that in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from peerage.challenges.drafting import Draft, drafts_of
from peerage.game.blocks import Block, Replies, SeatReply, plain_blocks
from peerage.game.match import DONE, Fixture, MatchRecord, Outcome, Seat
from peerage.game.protocol import ROOM, SANDBOX, Ask, Message, Request, Role, first_key
from peerage.games import installed, plays
from peerage.judging.marks.ballots import ballots_of
from peerage.judging.panels.panel import Ballot
from peerage.ledger import Exchange, FixtureRow, LedgerError, RecordRow
from peerage.ledger.forms.codec import StoredReply
from peerage.ledger.forms.codec_requests import StoredPart, read_request
from peerage.values.figures import known_sum, listed

UNDER_WAY = "under way"
MISSING = "(not on record)"
"""Text in place of a reply that a later request quotes and a damaged ledger has lost."""

REASONS = {
    "no_answer": "a contestant's provider failed; see the failures below",
    "no_command": "the command of the hidden tests is not there in the jail; activate the environment that "
    "holds it, or correct `command`",
    "no_challenge": "no draft was agreed on; see the committee's objections, or allow more drafts in `rules`",
    "no_questions": "too few authors delivered questions; see their replies",
    "inconclusive": "too few judges gave a usable verdict; see why below, and take other judges or raise "
    "their `max_tokens`",
    "broken_encoding": "neither encoding could be decoded; the task is too hard for these players",
    "deadline": "they took longer than `engine.match_deadline_s`; raise it, or `requests_per_minute`",
    "arena_budget": "the budget ended before them; raise `budget`",
    "match_budget": "they may cost more than `budget.match`; raise it, or lower `max_tokens`",
    "player_budget": "the budget of that player is spent; raise `budget.player`",
    "benched": "nothing gets through to that player; fix it, then run again",
    "dropped": "ended by `peerage status --drop`; `peerage match` shows why",
    "withdrawn": "that player is no longer in arena.yaml",
    "not playable here": "issued for another version of the game",
    "sandbox_error": "the sandbox failed; `peerage sandbox check` says why",
    "development": "a trial, as the rules say; nothing failed",
}
"""The meaning of each reason for a missing result, and after a semicolon what to change."""


class Step(Struct, frozen=True, gc=False):
    """An attempt at a request, and what came of it.

    `label` names whose turn it was, `parts` filled the form `form` (hex; a run has none). `stored` is the
    reply as it was stored, None while there is none, `row` what is stored of both. `status` is ok, invalid,
    refused, void, waiting while no reply is on record, or how a program's run or a command ended (see
    `protocol.Ran` and `work.CommandResult`). `reply` is its text, of a choice the reason, of a run or a
    command what it printed; `reason` says what went wrong; `value` is what the format made of it.
    """

    key: str
    player: str
    label: str
    role: Role | Literal["sandbox"]
    row: Exchange
    form: str = ""
    parts: tuple[StoredPart, ...] = ()
    stored: StoredReply | None = None
    status: str = "waiting"
    reply: str = ""
    reason: str = ""
    choice: str = ""
    value: Any = None


class Recorded(NamedTuple):
    """The record of a finished match, as it was chained, and the chain value before it."""

    record: MatchRecord
    row: RecordRow
    before: bytes


@dataclass(frozen=True, eq=False)
class Match:
    """A match: its fixture, what is on record of it (None while it is under way), and all `steps` in the
    order asked. What follows from them is computed when it is asked for."""

    fixture: Fixture
    issued: FixtureRow
    recorded: Recorded | None
    steps: list[Step]
    texts: Callable[[str], str]

    @property
    def number(self) -> int:
        return self.fixture.number

    @property
    def finished(self) -> Recorded:
        """Return what is on record of a match that is finished. Raises LedgerError for one under way."""
        if self.recorded is None:
            raise LedgerError(f"match {self.number} is under way")
        return self.recorded

    @property
    def outcome(self) -> Outcome:
        """Return what it came to; nothing while it is under way."""
        return Outcome() if self.recorded is None else self.recorded.record.outcome

    @property
    def status(self) -> str:
        """`done`, why there is no result, or `under way`."""
        return UNDER_WAY if self.recorded is None else self.outcome.void or DONE

    @cached_property
    def players(self) -> dict[str, str]:
        """Return who sat at each label."""
        return {seat.label: seat.player for seat in self.fixture.all_seats()}

    @cached_property
    def drafts(self) -> tuple[Draft, ...]:
        return drafts_of(self.outcome)

    @cached_property
    def ballots(self) -> tuple[Ballot, ...]:
        return ballots_of(self.outcome)

    @cached_property
    def asked(self) -> dict[str, Step]:
        """Return what was asked, in that order, by key: of several attempts the answered one."""
        by_key: dict[str, Step] = {}
        for step in self.steps:
            known = by_key.get(step.key)
            if known is None or known.stored is None:
                by_key[step.key] = step
        return by_key

    @cached_property
    def attempts(self) -> Counter[str]:
        """Return how often each request was sent, by key."""
        return Counter([step.key for step in self.steps])

    @property
    def replies(self) -> Replies:
        """The reply that counts to each request: of two the second, unless the first alone can be used."""
        # Not kept: they refer to the match, which would then live on until garbage is collected.
        by_key: dict[str, Step] = {}
        took: defaultdict[str, list[Step]] = defaultdict(list)
        for key, step in self.asked.items():
            first = first_key(key)
            took[first].append(step)
            known = by_key.get(first)
            if known is None or step.status == "ok" or known.status != "ok":
                by_key[first] = step
        given = {
            f"answer/{label}": SeatReply(
                key=f"answer/{label}",
                label=label,
                role="contestant",
                status=answer.status,
                text=answer.text,
                value=answer.text if answer.status == "ok" else None,
                reason=answer.reason,
                asked=tuple,
            )
            for label, answer in self.fixture.given.items()
        }
        return given | {
            key: SeatReply(
                key=step.key,
                label=step.label,
                role=step.role,
                status=step.status,
                text=step.stored.words if step.stored and step.role != SANDBOX else step.reply,
                value=step.value,
                reason=step.reason,
                asked=lambda step=step: self.messages(step),  # type: ignore[misc]
                latency_ms=known_sum([each.row.latency_ms for each in took[key]]),
                cost_nano=known_sum(
                    [None if each.stored is None else each.stored.cost_nano for each in took[key]]
                ),
            )
            for key, step in by_key.items()
        }

    @property
    def judged_texts(self) -> Mapping[str, str]:
        """The answers, as votes or scores name them."""
        spec = installed(self.fixture.game)
        if spec is None:
            return {}
        texts = {f"answer/{label}": answer.text for label, answer in self.fixture.given.items()}
        texts |= {  # a second reply comes after the first
            first_key(step.key): step.stored.words
            for step in self.steps
            if step.stored and (step.status == "ok" or not step.key.endswith(ROOM))
        }
        return spec.judging.judged(self.fixture, texts)

    @cached_property
    def _words(self) -> dict[str, str]:
        return {key: step.stored.words for key, step in self.asked.items() if step.stored is not None}

    def request(self, step: Step) -> Request:
        """A request as it was asked, without its oracle."""
        return read_request(step.key, step.row.request, self.texts, lambda key: self._words.get(key, MISSING))

    def messages(self, step: Step) -> tuple[Message, ...]:
        """The messages of a request; none of a program that was run."""
        asked = self.request(step)
        return asked.messages if isinstance(asked, Ask) else ()

    @cached_property
    def note(self) -> str:
        """Return why this program cannot recompute the match; empty when it can."""
        game, version = self.fixture.game, self.fixture.version
        spec = installed(game)
        if spec is None:
            return f"not recomputable here: the game {game} is not installed"
        if spec.version != version:
            return f"not recomputable here: {game} version {version} was played, {spec.version} is installed"
        if not plays(spec, game, version, self.fixture.release):
            return f"not recomputable here: the file of {game} has changed"
        return ""

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The match as its game shows it; as any match is shown while it is under way, where its game is not
        installed, and where its game cannot make anything of what is on record."""
        with_plain = self.fixture, self.outcome, self.replies
        try:
            spec = None if self.recorded is None else installed(self.fixture.game)
            # Another version, a stranger's package, a damaged or a redacted ledger: whatever fails here, the
            # match can still be read.
            return tuple((spec.show if spec else plain_blocks)(*with_plain))
        except Exception:
            return tuple(plain_blocks(*with_plain))

    @cached_property
    def best(self) -> float:
        """The best score."""
        return max(self.outcome.scores.values(), default=0.0)

    @cached_property
    def contestants(self) -> tuple[Seat, ...]:
        """The contestants, the best score first, those without one last."""
        scores, worst = self.outcome.scores, float("-inf")
        return tuple(sorted(self.fixture.seats, key=lambda seat: -scores.get(seat.label, worst)))

    @cached_property
    def unranked(self) -> list[str]:
        """The contestants without whom a decided match went on."""
        scores = self.outcome.scores
        return [
            self.players[seat.label] for seat in self.fixture.seats if scores and seat.label not in scores
        ]

    @property
    def _side_that_won(self) -> str:
        """The side of all that have the best score; empty where they are on several, or there are none."""
        spec, scores = installed(self.fixture.game), self.outcome.scores
        if spec is None or not spec.seating.sides:
            return ""
        best = [label for label, score in scores.items() if score == self.best]
        sides = {spec.seating.side(self.fixture, label) for label in best}
        return sides.pop() if len(sides) == 1 else ""

    @cached_property
    def verdict(self) -> str:
        """Return what the match came to, in words."""
        if self.recorded is None:
            return "still under way" if self.steps else "issued, not begun yet"
        if self.outcome.void:
            return f"no result: {in_words(self.outcome.void)}"
        winners = [
            self.players[seat.label]
            for seat in self.contestants
            if self.outcome.scores.get(seat.label) == self.best
        ]
        if not winners:
            return "decided by the judges; nobody is rated"
        how = "tie" if len(winners) == len(self.contestants) else "share first place"
        what = f"{winners[0]} wins" if len(winners) == 1 else f"{listed(winners)} {how}"
        if side := self._side_that_won:
            what = f"won by the {side}: {what}"
        if lost := self.unranked:
            what += f" ({listed(lost)} {'is' if len(lost) == 1 else 'are'} unranked: the provider failed)"
        return what


def in_words(status: str) -> str:
    """The status of a match without a result as people read it; one that no game of ours gives, as it is."""
    reason = REASONS.get(status.partition(":")[0])
    return status.replace("_", " ") if reason is None else reason.partition(";")[0].replace("`", "")
