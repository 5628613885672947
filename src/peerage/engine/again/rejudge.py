"""From recorded matches to fixtures that have their answers judged again, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel

from peerage.engine.record.records import answered_first
from peerage.engine.record.registration import registered
from peerage.engine.record.shelf import HoldsMedia
from peerage.game.match import Fixture, Outcome, Seat
from peerage.game.media import digests_in
from peerage.game.protocol import Ask, Message, Prompt, Quote, Reply, first_key
from peerage.games import GAMES, installed, release_of
from peerage.games.rejudge import (
    FIRST,
    GAME,
    SECOND,
    RecordedAnswers,
    RecordedText,
    RejudgeRules,
    author_of,
    recorded_in,
)
from peerage.judging.marks.ballots import ballots_of
from peerage.ledger import Batch, Exchange, FixtureRow, Ledger, LedgerError
from peerage.ledger.forms.codec import (
    MissingText,
    by_hex,
    fixture_body,
    read_fixture,
    read_record,
    read_reply,
)
from peerage.ledger.forms.codec_requests import read_request
from peerage.ledger.matches import finished
from peerage.scheduling.roles import rotated
from peerage.settings import PlayerSettings
from peerage.values.sealing import match_key

_FILLED_BY_PANEL = ("answer_a", "answer_b", "ties", "format")
"""Places of a judge's prompt that `judging.panels.panel` fills by itself."""
BATCH = 200
"""Fixtures written down at a time."""

IsAuthor = Callable[[PlayerSettings, str], bool]
"""Test whether a judge is the author of that name, whose answers it then does not judge."""


def rules_like(game: str, rules: BaseModel) -> RejudgeRules:
    """Return the rules by which others judge again as a game with `rules` did, every vote equal."""
    again = GAMES[game].judging.again
    made = RejudgeRules() if again is None else again.rules(rules)
    assert isinstance(made, RejudgeRules)
    return made


class Issued(NamedTuple):
    """Counts of duels, or questions of tournaments, that hold answers that were judged; of them, those that
    are fixtures now, and those for which no judge is left who may judge: all are authors of the answers."""

    judged: int
    fixtures: int
    unjudgeable: int


class _Finished(NamedTuple):
    """A finished match: `record` is the SHA-256 (hex) of its record, `rows` are its exchanges by key, `text`
    returns the ledger's long texts."""

    fixture: Fixture
    outcome: Outcome
    record: str
    rows: Mapping[str, Exchange]
    text: Callable[[str], str]

    def replies(self) -> dict[str, Reply]:
        return {key: read_reply(row) for key, row in self.rows.items() if row.reply is not None}


def recorded_answers(source: Ledger, rules: RejudgeRules) -> Iterator[RecordedAnswers]:
    """Yield the judged answers of a ledger's finished matches, in order: by scores those of tournaments,
    question by question, by a panel those of duels."""
    for match in _finished(source):
        if rules.by == "scores":
            yield from _scored(match)
        elif match.fixture.game != GAME.name and ballots_of(match.outcome):
            compared = _compared(match)
            if compared is not None:
                yield compared


def _scored(match: _Finished) -> Iterator[RecordedAnswers]:
    spec = installed(match.fixture.game)
    again = spec.judging.again if spec else None
    if again is None or again.items is None:
        return
    replies = {first_key(key): reply for key, reply in match.replies().items()}
    for answers in again.items(match.fixture, match.outcome, match.record, replies):
        assert isinstance(answers, RecordedAnswers)
        yield answers


def _finished(source: Ledger) -> Iterator[_Finished]:
    texts, (_, last) = by_hex(source.texts()), source.heads()
    for row, issued, exchanges in finished(source, 1, last):
        if issued is None:
            raise LedgerError(f"{source.address} lacks the fixture of match {row.number}; restore a copy")
        fixture, outcome = read_fixture(issued.body, texts), read_record(row.body).outcome
        yield _Finished(fixture, outcome, sha256(row.body).hexdigest(), answered_first(exchanges), texts)


def _compared(match: _Finished) -> RecordedAnswers | None:
    """Read what a match's first panel saw; None when it compared something else than two answers."""
    fixture = match.fixture
    if [seat.label for seat in fixture.seats] != [FIRST, SECOND]:
        return None
    replies = match.replies()

    def text_of(key: str) -> str:
        if key not in replies:
            raise MissingText(key)
        return replies[key].text

    shown = {f"{FIRST}-{SECOND}": (FIRST, SECOND), f"{SECOND}-{FIRST}": (SECOND, FIRST)}
    for key, row in sorted(match.rows.items()):
        order = shown.get(key.rpartition("/")[2])
        if order is None:
            continue
        ask = read_request(key, row.request, match.text, text_of)
        if not isinstance(ask, Ask) or ask.role != "judge" or len(ask.messages) > 2:
            continue
        system, user = ask.messages if len(ask.messages) > 1 else (Message("system", ""), *ask.messages)
        fill = {**system.fill, **user.fill}
        if not {"answer_a", "answer_b"} <= fill.keys():
            continue
        try:
            Prompt(system.template, user.template).messages(fill)
        except (KeyError, ValueError) as error:
            raise LedgerError(
                f"match {fixture.number}, request {key!r}: the judges' prompt cannot be used ({error}); "
                "`peerage verify` shows whether the ledger was altered"
            ) from error
        answers = dict(zip(order, (fill["answer_a"], fill["answer_b"]), strict=True))
        score = match.outcome.scores.get(FIRST)
        return RecordedAnswers(
            source=fixture.number,
            record=match.record,
            topic=fixture.topic,
            asked=(system.template, user.template),
            given={place: _given(value) for place, value in fill.items() if place not in _FILLED_BY_PANEL},
            authors={seat.label: seat.player for seat in fixture.seats},
            answers={name: _given(answers[name]).text for name in (FIRST, SECOND)},
            hidden={name: _hidden(answers[name], replies) for name in (FIRST, SECOND)}
            | {name: answer.hidden for name, answer in fixture.given.items()},
            first={} if score is None else {FIRST: score, SECOND: 1 - score},
        )
    return None


def _given(value: str | Quote) -> RecordedText:
    return RecordedText(value) if isinstance(value, str) else RecordedText(value.text, value.label)


def _hidden(value: str | Quote, replies: Mapping[str, Reply]) -> Any:
    reply = replies.get(value.key) if isinstance(value, Quote) else None
    return reply.hidden if reply is not None else None


def authors_in(source: Ledger) -> IsAuthor:
    """Return who is an author of an arena's answers: the player itself, and another of the same model."""
    models = {name: str(card.get("model", "")) for name, card in registered(source).items()}
    return lambda judge, author: judge.name == author or judge.public_model == models.get(author, "-")


def issue(
    recorded: Iterable[RecordedAnswers],
    is_author: IsAuthor,
    target: Ledger,
    rules: RejudgeRules,
    judges: Sequence[PlayerSettings],
    *,
    secret: str,
    limit: int | None = None,
    shown: HoldsMedia | None = None,
) -> Issued:
    """Write a fixture into `target` for each of the `recorded` answers, until it holds `limit` (None: all).

    They come in an order that the arena's `secret` draws, so any number of them is a sample; those issued
    before stay. `shown` has the pictures and sounds that judges are shown. Nobody judges an answer of its
    own: a panel is without the authors, and a judge that gives scores gives none to its own answers. The
    caller holds the runner's lock of `target`. Raises LedgerError where the answers in `target` are judged
    otherwise than by `rules.by`.
    """
    texts = by_hex(target.texts())
    known = set()
    for row in target.fixtures():
        fixture = read_fixture(row.body, texts)
        if fixture.settings["by"] != rules.by:
            raise LedgerError(
                f"{target.address}: match {fixture.number} is judged by {fixture.settings['by']}, and "
                f"rules.by in arena.yaml is {rules.by}; set it back, or name another folder with --to"
            )
        known.add(_name(recorded_in(fixture)))
    number, _ = target.heads()
    by_name = {_name(answers): answers for answers in recorded}
    batch, unjudgeable, copied = Batch(), 0, set[str]()
    for name in sorted(by_name, key=lambda name: sha256(f"{secret}/rejudge/{name}".encode()).digest()):
        if name in known or (limit is not None and number >= limit):
            continue
        turn = rotated(judges, len(judges), number + 1, secret)
        seats, answers = _seated(by_name[name], is_author, rules, turn)
        if not seats:
            unjudgeable += 1
            continue
        number += 1
        fixture = fixture_of(answers, seats, rules, number, match_key(secret, number))
        body, long = fixture_body(fixture)
        batch.texts += long
        batch.fixtures.append(FixtureRow(number, fixture.round, body))
        if shown is not None and (new := [one for one in digests_in(body) if one not in copied]):
            batch.media += [(bytes.fromhex(one), held) for one, held in shown.media(new).items()]
            copied.update(new)
        if len(batch.fixtures) >= BATCH:
            target.write(batch)
            batch = Batch()
    if batch:
        target.write(batch)
    return Issued(len(by_name), number, unjudgeable)


def fixture_of(
    answers: RecordedAnswers, judges: tuple[Seat, ...], rules: RejudgeRules, number: int, seed: str
) -> Fixture:
    """Return the match in which judges are asked about recorded answers."""
    return Fixture(
        number=number,
        round=1,
        game=GAME.name,
        version=GAME.version,
        seed=seed,
        seats=(),
        officials={"judge": judges},
        settings=rules.model_dump(mode="json"),
        drawn=msgspec.to_builtins(answers),
        release=release_of(GAME.name),
    )


def _seated(
    answers: RecordedAnswers, is_author: IsAuthor, rules: RejudgeRules, judges: Sequence[PlayerSettings]
) -> tuple[tuple[Seat, ...], RecordedAnswers]:
    """The seats of those who may judge answers, and the answers with what each judge must not score."""
    own = {
        judge.name: tuple([label for label, author in answers.authors.items() if is_author(judge, author)])
        for judge in judges
    }
    by_scores = rules.by == "scores"
    labels = {author_of(answer) for answer in answers.answers}
    judging = [judge for judge, barred in own.items() if (labels - {*barred} if by_scores else not barred)]
    seats = tuple([Seat(f"judge/{at}", judge) for at, judge in enumerate(judging, 1)])
    if by_scores:
        answers = msgspec.structs.replace(answers, own={seat.label: own[seat.player] for seat in seats})
    return seats, answers


def _name(answers: RecordedAnswers) -> str:
    return f"{answers.record}/{answers.id}"
