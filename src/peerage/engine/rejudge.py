"""From recorded matches to fixtures that have their answers judged, or scored, again, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel

from peerage.engine.driver import first_key
from peerage.engine.records import answered_first
from peerage.engine.registration import registered
from peerage.games import GAMES, installed, release_of
from peerage.games.rejudgement import FIRST, SECOND, Given, RejudgedPair, RejudgementRules
from peerage.games.rejudgement import GAME as REJUDGEMENT
from peerage.games.rescoring import GAME as RESCORING
from peerage.games.rescoring import RescoredQuestion as ScoredItem
from peerage.games.rescoring import RescoringRules, author_of
from peerage.judging.ballots import ballots_of
from peerage.ledger.codec import MissingText, by_hex, fixture_body, read_fixture, read_record, read_reply
from peerage.ledger.codec_requests import read_request
from peerage.ledger.store import Batch, Exchange, FixtureRow, Ledger, LedgerError
from peerage.match import Fixture, Outcome, Seat
from peerage.protocol import Ask, Prompt, Quote, Reply
from peerage.sealing import match_key
from peerage.settings import PlayerSettings

_TOLD = ("answer_a", "answer_b", "ties", "format")
"""Places of a judge's prompt that `judging.panel` fills by itself."""
BATCH = 200
"""Fixtures written down at a time."""


def rules_like(game: str, rules: BaseModel) -> RejudgementRules | RescoringRules:
    """The rules by which others judge again as an arena of this game with `rules` did, every vote equal."""
    again = GAMES[game].again
    made = RejudgementRules() if again is None else again.rules(rules)
    assert isinstance(made, RejudgementRules | RescoringRules)
    return made


class Issued(NamedTuple):
    """How many duels, or questions of tournaments, hold answers that were judged; of them, those that are
    fixtures now, and those for which no judge is left who may judge: all wrote what is to be judged."""

    judged: int
    fixtures: int
    unjudgeable: int


def items(source: Ledger) -> Iterator[RejudgedPair]:
    """The judged answers of a ledger's finished duels, in order."""
    for fixture, outcome, record, rows, texts in _finished(source):
        if fixture.game != REJUDGEMENT.name and ballots_of(outcome):
            item = _item(fixture, outcome, record, rows, texts)
            if item is not None:
                yield item


def scored_items(source: Ledger) -> Iterator[ScoredItem]:
    """The scored answers of a ledger's finished tournaments, question by question, in order."""
    for fixture, outcome, record, rows, _ in _finished(source):
        spec = installed(fixture.game)
        if spec is None or spec.again is None or spec.again.items is None:
            continue
        said = {first_key(key): read_reply(row) for key, row in rows.items() if row.reply is not None}
        for item in spec.again.items(fixture, outcome, record, said):
            assert isinstance(item, ScoredItem)
            yield item


def _finished(
    source: Ledger,
) -> Iterator[tuple[Fixture, Outcome, str, Mapping[str, Exchange], Callable[[str], str]]]:
    """A ledger's finished matches, in order: fixture, outcome, the SHA-256 of the record, its exchanges by
    key, and the ledger's long texts."""
    texts, (_, last) = by_hex(source.texts()), source.heads()
    grouped = groupby(source.exchanges(1, last), attrgetter("match"))
    number, rows = next(grouped, (0, iter(())))
    for issued, row in zip(source.fixtures(1, last), source.records(1, last), strict=True):
        mine: Mapping[str, Exchange] = {}
        if number == row.number:
            mine = answered_first(rows)
            number, rows = next(grouped, (0, iter(())))
        fixture, outcome = read_fixture(issued.body, texts), read_record(row.body).outcome
        yield fixture, outcome, sha256(row.body).hexdigest(), mine, texts


def _item(
    fixture: Fixture, outcome: Outcome, record: str, rows: Mapping[str, Exchange], texts: Any
) -> RejudgedPair | None:
    """What the first panel of a match saw, read from a request to one of its judges; None when it compared
    something else than the answers of two contestants."""
    if [seat.label for seat in fixture.seats] != [FIRST, SECOND]:
        return None
    replies = {key: read_reply(row) for key, row in rows.items() if row.reply is not None}

    def said(key: str) -> str:
        if key not in replies:
            raise MissingText(key)
        return replies[key].text

    shown = {f"{FIRST}-{SECOND}": (FIRST, SECOND), f"{SECOND}-{FIRST}": (SECOND, FIRST)}
    for key, row in sorted(rows.items()):
        order = shown.get(key.rpartition("/")[2])
        if order is None:
            continue
        ask = read_request(key, row.request, texts, said)
        if not isinstance(ask, Ask) or ask.role != "judge" or len(ask.messages) != 2:
            continue
        system, user = ask.messages
        fill = {**system.fill, **user.fill}
        if not {"answer_a", "answer_b"} <= fill.keys():
            continue
        try:
            Prompt(system.template, user.template).messages(fill)
        except (KeyError, ValueError) as error:
            raise LedgerError(
                f"match {fixture.number}, request {key!r}: the judges' prompt cannot be used ({error}); "
                "`peerage verify` tells whether the ledger was altered"
            ) from error
        answers = dict(zip(order, (fill["answer_a"], fill["answer_b"]), strict=True))
        return RejudgedPair(
            fixture.number,
            record,
            (system.template, user.template),
            {place: _given(value) for place, value in fill.items() if place not in _TOLD},
            {seat.label: seat.player for seat in fixture.seats},
            {name: _text(answers[name]) for name in (FIRST, SECOND)},
            {name: _hidden(answers[name], replies) for name in (FIRST, SECOND)},
            outcome.scores.get(FIRST),
            fixture.topic,
        )
    return None


def _given(value: str | Quote) -> Given:
    return Given(value) if isinstance(value, str) else Given(value.text, value.label)


def _text(value: str | Quote) -> str:
    return value if isinstance(value, str) else value.text


def _hidden(value: str | Quote, replies: Mapping[str, Reply]) -> Any:
    said = replies.get(value.key) if isinstance(value, Quote) else None
    return said.hidden if said is not None else None


def issue(
    source: Ledger,
    target: Ledger,
    rules: RejudgementRules | RescoringRules,
    judges: Sequence[PlayerSettings],
    *,
    secret: str,
    limit: int | None = None,
) -> Issued:
    """Write fixtures into `target` for what was judged in `source`, as `issue_items` does: a match for each
    duel, or for each question of a tournament, by the kind of `rules`. Nobody judges an answer of its own, by
    name or by model.
    """
    models = {name: str(card.get("model", "")) for name, card in registered(source).items()}
    all_items: Iterable[RejudgedPair | ScoredItem] = (
        items(source) if isinstance(rules, RejudgementRules) else scored_items(source)
    )

    def wrote(judge: PlayerSettings, author: str) -> bool:
        return judge.name == author or judge.public_model == models.get(author, "-")

    return issue_items(all_items, wrote, target, rules, judges, secret=secret, limit=limit)


def issue_items(
    all_items: Iterable[RejudgedPair | ScoredItem],
    wrote_it: Callable[[PlayerSettings, str], bool],
    target: Ledger,
    rules: RejudgementRules | RescoringRules,
    judges: Sequence[PlayerSettings],
    *,
    secret: str,
    limit: int | None = None,
) -> Issued:
    """Write a fixture into `target` for each item, until it holds `limit` (None: all).

    They come in an order that the arena's `secret` draws, so any number of them is a sample; those issued
    before stay. `wrote_it` says whether a judge is an author, who does not judge its own. The caller holds
    the runner's lock of `target`.
    """
    texts = by_hex(target.texts())
    known = {_name(read_fixture(row.body, texts).drawn) for row in target.fixtures()}
    number, _ = target.heads()
    settings = rules.model_dump(mode="json")
    game = REJUDGEMENT if isinstance(rules, RejudgementRules) else RESCORING
    drawn = {_name(one): one for one in map(msgspec.to_builtins, all_items)}
    batch, unjudgeable = Batch(), 0
    for name in sorted(drawn, key=lambda name: sha256(f"{secret}/rejudge/{name}".encode()).digest()):
        if name in known or (limit is not None and number >= limit):
            continue
        one = drawn[name]
        own = {
            judge.name: tuple([label for label, author in one["authors"].items() if wrote_it(judge, author)])
            for judge in judges
        }
        if game is RESCORING:
            wrote = {author_of(answer) for answer in one["answers"]}
            panel = [judge for judge, labels in own.items() if wrote - set(labels)]
        else:
            panel = [judge for judge, labels in own.items() if not labels]
        if not panel:
            unjudgeable += 1
            continue
        seats = tuple([Seat(f"judge/{at}", judge) for at, judge in enumerate(panel, 1)])
        if game is RESCORING:
            one["own"] = {seat.label: own[seat.player] for seat in seats}
        number += 1
        fixture = Fixture(
            number=number,
            round=1,
            game=game.name,
            version=game.version,
            seed=match_key(secret, number),
            seats=(),
            officials={"judge": seats},
            settings=settings,
            drawn=one,
            release=release_of(game.name),
        )
        body, long = fixture_body(fixture)
        batch.texts += long
        batch.fixtures.append(FixtureRow(number, fixture.round, body))
        if len(batch.fixtures) >= BATCH:
            target.write(batch)
            batch = Batch()
    if batch:
        target.write(batch)
    return Issued(len(drawn), number, unjudgeable)


def _name(drawn: Mapping[str, Any]) -> str:
    """What is judged again: a record, or a question of one."""
    return f"{drawn['record']}/{drawn['id']}" if "id" in drawn else str(drawn["record"])
