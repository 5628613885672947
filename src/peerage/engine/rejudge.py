"""From recorded matches to fixtures that have their answers judged again, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel

from peerage.engine.records import answered_first
from peerage.engine.registration import registered
from peerage.games import release_of
from peerage.games.duel.rules import DuelRules
from peerage.games.rejudgement import FIRST, SECOND, Given, Item, RejudgementRules
from peerage.games.rejudgement import GAME as REJUDGEMENT
from peerage.ledger.codec import (
    MissingText,
    by_hex,
    fixture_body,
    read_fixture,
    read_record,
    read_reply,
    read_request,
)
from peerage.ledger.store import Batch, Exchange, FixtureRow, Ledger, LedgerError
from peerage.match import Fixture, Outcome, Seat
from peerage.protocol import Ask, Prompt, Quote, Reply
from peerage.sealing import match_key
from peerage.settings import PlayerSettings

_TOLD = ("answer_a", "answer_b", "ties", "format")
"""Places of a judge's prompt that `judging.panel` fills by itself."""
BATCH = 200
"""Fixtures written down at a time."""


def rules_like(rules: BaseModel) -> RejudgementRules:
    """The rules by which another panel judges as that of an arena with `rules` did, every vote equal."""
    if not isinstance(rules, DuelRules):
        return RejudgementRules()
    return RejudgementRules(
        order=rules.order,
        binary=rules.binary,
        epsilon=rules.epsilon,
        quorum=rules.quorum,
        max_tokens=rules.judge_limit.max_tokens,
        reason_chars=rules.judge_limit.max_chars,
        temperature=rules.judge_limit.temperature,
    )


class Issued(NamedTuple):
    """How many matches hold answers that a panel judged; of them, those that stand as fixtures now, and those
    for which no judge is left who did not write one of the answers."""

    judged: int
    fixtures: int
    unjudgeable: int


def items(source: Ledger) -> Iterator[Item]:
    """The judged answers of a ledger's finished matches, in order."""
    texts, (_, last) = by_hex(source.texts()), source.heads()
    grouped = groupby(source.exchanges(1, last), attrgetter("match"))
    number, rows = next(grouped, (0, iter(())))
    for issued, row in zip(source.fixtures(1, last), source.records(1, last), strict=True):
        mine: Mapping[str, Exchange] = {}
        if number == row.number:
            mine = answered_first(rows)
            number, rows = next(grouped, (0, iter(())))
        outcome = read_record(row.body).outcome
        fixture = read_fixture(issued.body, texts)
        if fixture.game != REJUDGEMENT.name and outcome.detail.get("ballots"):
            item = _item(fixture, outcome, sha256(row.body).hexdigest(), mine, texts)
            if item is not None:
                yield item


def _item(
    fixture: Fixture, outcome: Outcome, record: str, rows: Mapping[str, Exchange], texts: Any
) -> Item | None:
    """What the first panel of a match saw, read from a request to one of its judges; None when it compared
    something else than the answers of two contestants."""
    if [seat.label for seat in fixture.seats] != [FIRST, SECOND]:
        return None
    replies = {key: read_reply(key, row.reply) for key, row in rows.items() if row.reply is not None}

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
        return Item(
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
    rules: RejudgementRules,
    judges: Sequence[PlayerSettings],
    *,
    secret: str,
    limit: int | None = None,
) -> Issued:
    """Write fixtures into `target` for the judged matches of `source`, until it holds `limit` (None: all).

    Matches come in an order that the arena's `secret` draws, so any number of them is a sample; those
    issued before stay. Nobody judges an answer of its own, by name or by model. The caller holds the runner's
    lock of `target`.
    """
    models = {name: str(card.get("model", "")) for name, card in registered(source).items()}
    texts = by_hex(target.texts())
    known = {read_fixture(row.body, texts).drawn["record"] for row in target.fixtures()}
    number, _ = target.heads()
    settings = rules.model_dump(mode="json")
    found = sorted(
        items(source), key=lambda item: sha256(f"{secret}/rejudge/{item.record}".encode()).digest()
    )
    batch, unjudgeable = Batch(), 0
    for item in found:
        if item.record in known or (limit is not None and number >= limit):
            continue
        authors = set(item.authors.values())
        wrote = {models[author] for author in authors if models.get(author)}
        panel = [one.name for one in judges if one.name not in authors and one.public_model not in wrote]
        if not panel:
            unjudgeable += 1
            continue
        number += 1
        fixture = Fixture(
            number=number,
            round=1,
            game=REJUDGEMENT.name,
            version=REJUDGEMENT.version,
            seed=match_key(secret, number),
            seats=(),
            officials={"judge": tuple([Seat(f"judge/{at}", name) for at, name in enumerate(panel, 1)])},
            settings=settings,
            drawn=msgspec.to_builtins(item),
            release=release_of(REJUDGEMENT.name),
        )
        body, long = fixture_body(fixture)
        batch.texts += long
        batch.fixtures.append(FixtureRow(number, fixture.round, body))
        if len(batch.fixtures) >= BATCH:
            target.write(batch)
            batch = Batch()
    if batch:
        target.write(batch)
    return Issued(len(found), number, unjudgeable)
