"""Made-up duels in the stored form: what the tests of every ledger and the benchmarks are fed with."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from random import Random
from typing import Any, NamedTuple

from peerage.challenges.drafting import Draft
from peerage.game.match import Fixture, MatchRecord, Outcome, Seat, Totals
from peerage.game.protocol import Ask, Choice, Message, Quote
from peerage.game.protocol import Text as FreeText
from peerage.judging.panels.panel import Ballot
from peerage.ledger import Batch, FixtureRow, IntentRow, RecordRow, ReplyRow, Summary
from peerage.ledger.forms.codec import Text, fixture_body, record_body
from peerage.ledger.forms.codec_requests import request_body
from peerage.ledger.forms.merkle import GENESIS, digest, leaf, link, match_root

_SETTINGS = {"topics": ["algebra", "history"], "prompt": "Answer as well as you can. " * 20}
_WORDS = "The sum of the first n odd numbers is n squared, which a picture of growing squares shows. "
_AT_MS = 1_767_225_600_000


def sample(
    matches: int,
    *,
    players: int = 12,
    reply_chars: int = 600,
    together: int = 50,
    at_ms: int = _AT_MS,
    panel: int = 5,
) -> Iterator[Batch]:
    """Batches that fill an empty ledger with `matches` finished duels.

    `panel` is the size of committee and of judges, so a duel has 3 + 3 * panel exchanges.

    `players` take part (8 at least). Replies, ballots among them, are `reply_chars` to twice as many
    characters long. `together` duels go into a batch. The same arguments give the same bytes.
    """
    requests, texts = _requests(reply_chars, panel)
    pool = [f"player-{number:02}" for number in range(1, players + 1)]
    prose = _WORDS * (2 + 2 * reply_chars // len(_WORDS))
    chain = GENESIS
    batch = Batch(texts=texts)
    for number in range(1, matches + 1):
        random = Random(number)
        names = random.sample(pool, 8)
        issued, settings = fixture_body(_fixture(number, names, panel))
        batch.texts += settings
        batch.fixtures.append(FixtureRow(number, number, issued))
        leaves: dict[str, bytes] = {}
        sums: dict[str, list[int]] = {}
        for key, seat, request, choice in requests:
            player, cost = names[seat], random.randrange(50_000, 900_000)
            at = random.randrange(len(_WORDS))
            said = prose[at : at + reply_chars + random.randrange(reply_chars)]
            if choice is not None:
                ballot = {"reason": said[: -len(choice.field) - 40], choice.field: _chosen(key, number)}
                said = dumps(dumps(ballot))[1:-1]
            reply = b'{"status":"ok","text":"%b","input_tokens":300,"output_tokens":%d,"cost_nano":%d}' % (
                said.encode(),
                reply_chars // 4,
                cost,
            )
            batch.intents.append(IntentRow(number, key, 1, player, request, 2 * cost))
            batch.replies.append(ReplyRow(number, key, 1, reply, cost, at_ms + number))
            leaves[key] = leaf(key, player, request, reply)
            spent = sums.setdefault(player, [0, 0, 0, 0, 0])
            for place, value in enumerate((1, 300, reply_chars // 4, cost)):
                spent[place] += value
        record, summary = _settled(number, names, issued, leaves, sums, at_ms + number, panel)
        body = record_body(record)
        chain = link(chain, body)
        batch.records.append(RecordRow(number, body, chain, at_ms + number))
        batch.summaries.append(summary)
        if number % together == 0 or number == matches:
            yield batch
            batch = Batch()


def _fixture(number: int, names: list[str], panel: int) -> Fixture:
    return Fixture(
        number=number,
        round=number,
        game="duel",
        version=1,
        seed=f"sample/{number}",
        seats=(Seat("A", names[0]), Seat("B", names[1])),
        officials={
            "author": (Seat("author/1", names[0]),),
            "committee": tuple([Seat(f"committee/{n}", names[1 + n]) for n in range(1, 1 + panel)]),
            "judge": tuple([Seat(f"judge/{n}", names[1 + n]) for n in range(1, 1 + panel)]),
        },
        settings=_SETTINGS,
        drawn={"topic": "algebra"},
    )


def _settled(
    number: int,
    names: list[str],
    issued: bytes,
    leaves: dict[str, bytes],
    sums: dict[str, list[int]],
    at_ms: int,
    panel: int,
) -> tuple[MatchRecord, Summary]:
    first = (0.0, 0.5, 1.0)[number % 3]
    costs = (sums[names[0]][3] / 1e9, sums[names[1]][3] / 1e9)
    moved = {names[0]: (1500.0, 1492.0 + 16 * first), names[1]: (1500.0, 1508.0 - 16 * first)}
    record = MatchRecord(
        number,
        digest(issued),
        match_root(leaves),
        Outcome(
            scores={"A": first, "B": 1.0 - first},
            costs={"A": costs[0], "B": costs[1]},
            detail=_detail(number, first, panel),
        ),
        {"raw": moved, "cost": moved},
        {player: Totals(*spent) for player, spent in sorted(sums.items())},
    )
    after = (moved[names[0]][1], moved[names[1]][1])
    spent_nano = sum([spent[3] for spent in sums.values()])
    summary = Summary(
        number,
        number,
        "duel",
        "algebra",
        (names[0], names[1]),
        "done",
        (first, 1.0 - first),
        costs,
        spent_nano,
        after,
        after,
        at_ms,
    )
    return record, summary


def _chosen(key: str, number: int) -> str:
    """What a member of the committee or a judge says: in a tie, judges prefer what stands first."""
    if key.startswith("vote/"):
        return "approve"
    won = "B-A"[number % 3]
    return {"A": "AB", "B": "BA", "-": "AA"}[won][key.endswith("B-A")]


def _detail(number: int, first: float, panel: int) -> dict[str, Any]:
    """What a record says of the draft and of the ballots."""
    vote = "A" if first == 1 else "B" if first == 0 else "tie"
    orders = {"A-B": "A", "B-A": "B"} if vote == "tie" else {"A-B": vote, "B-A": vote}
    votes = {f"committee/{n}": "approve" for n in range(1, 1 + panel)}
    draft = Draft(1, 1, {"question": "author/1"}, {"question": "question/1/1"}, "ok", votes, 1.0, True)
    ballots = [Ballot(f"judge/{n}", vote, orders, vote == "tie", 0.2) for n in range(1, 1 + panel)]
    return {
        "topic": "algebra",
        "drafts": [draft],
        "answers": {"A": "ok", "B": "ok"},
        "decided": "by judges",
        "ballots": ballots,
        "share": first,
    }


class _Request(NamedTuple):
    """A request of every duel: `place` of the player in the match, the stored request, and what to choose."""

    key: str
    place: int
    body: bytes
    choice: Choice | None


def _requests(quoted: int, panel: int) -> tuple[list[_Request], list[Text]]:
    """A duel's exchanges, and their texts. Requests quote the first `quoted` characters of earlier
    replies."""
    said = "x" * quoted
    question = Quote("question", said, "question/1/1")
    answers = {"a": Quote("answer A", said, "answer/A"), "b": Quote("answer B", said, "answer/B")}
    draft = Message("user", "Write a question about {topic}.", {"topic": "algebra"})
    vote = Message("user", "Is it clear and solvable?\n{question}", {"question": question})
    answer = Message("user", "Answer it.\n{question}", {"question": question})
    judge = Message("user", "Which is better?\n{question}\n{a}\n{b}", {"question": question} | answers)
    approval, verdict = Choice("vote", ("approve", "object")), Choice("verdict", ("A", "B", "tie"))
    asks = [(0, Ask("author/1", "question/1/1", "author", (draft,), FreeText(), 800))]
    asks += [
        (1 + n, Ask(f"committee/{n}", f"vote/1/1/committee/{n}", "committee", (vote,), approval, 200))
        for n in range(1, 1 + panel)
    ]
    asks += [
        (seat, Ask(label, f"answer/{label}", "contestant", (answer,), FreeText(), 1200))
        for seat, label in enumerate("AB")
    ]
    asks += [
        (1 + n, Ask(f"judge/{n}", f"judge/{n}/{order}", "judge", (judge,), verdict, 300))
        for n in range(1, 1 + panel)
        for order in ("A-B", "B-A")
    ]
    requests: list[_Request] = []
    texts: list[Text] = []
    for place, ask in asks:
        body, long = request_body(ask)
        choice = ask.expects if isinstance(ask.expects, Choice) else None
        requests.append(_Request(ask.key, place, body, choice))
        texts += long
    return requests, texts
