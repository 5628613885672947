"""An exchange of challenges as blocks: each challenge, its proof, who tried it, who was right, the points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from peerage.formats import Fields
from peerage.game import (
    Block,
    Cell,
    CellMark,
    Chosen,
    Fixture,
    Grid,
    Heading,
    Outcome,
    Quoted,
    Replies,
    SeatName,
    Sentence,
    TaskText,
    Tone,
    credit_mark,
    quoted,
    result_grid,
)
from peerage.game.texts import toml

_PROOFS: Mapping[str, str] = toml(__package__, "shown")["proofs"]
_STATUSES: Mapping[str, str] = toml(__package__, "shown")["statuses"]
_NO_RESULT: Mapping[str, str] = toml(__package__, "shown")["no_result"]
WINS = "✓ solved, ✗ answered wrong, – passed. The most points win."


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of who solved whose challenge, then each challenge with every attempt, accepted or not."""
    made = outcome.detail.get("challenges", [])
    attempts = outcome.detail.get("attempts", [])
    known = {challenge["challenge_id"]: challenge for challenge in fixture.drawn.get("challenges", ())}
    known |= {fact["challenge_id"]: fact for fact in outcome.facts if fact.get("fact") == "challenge"}
    written = {creation["challenge_id"]: creation for creation in made if creation["challenge_id"]}
    names = [
        f"{at} by {written[name]['author']}" if name in written else str(at)
        for at, name in enumerate(known, 1)
    ]
    marks = {(_label(attempt), attempt["challenge_id"]): _mark(attempt, [*known]) for attempt in attempts}
    points: Mapping[str, float] = outcome.detail.get("points", {})
    rows: dict[str, tuple[Cell, ...]] = {
        label: (f"{total:g}", *[marks.get((label, name), "") for name in known])
        for label, total in points.items()
    }
    why = {label: f"{total:g} point{'s' * (total != 1)}" for label, total in points.items()}
    yield from result_grid(outcome, WINS, (">Points", *names), rows, why, _NO_RESULT)
    for number, (name, challenge) in enumerate(known.items(), 1):
        creation = written.get(name)
        tried = [attempt for attempt in attempts if attempt["challenge_id"] == name]
        solved = sum(attempt["result"] == "correct" for attempt in tried)
        yield Heading(f"Challenge {number}: {solved} of {len(tried)} right", anchor=f"c{number}", closed=True)
        if not creation:
            yield TaskText(challenge["description"], f"{name} by {challenge['author_llm']}, from the pool")
        else:
            key = replies[f"{creation['key']}/draft"].key
            yield TaskText(challenge["description"], name, (creation["author"],), key)
            proven = f"accepted: {_PROOFS[creation['proof']]}"
            yield Sentence(f"{_STATUSES.get(creation['status'], proven).capitalize()}.")
            draft = replies[f"{creation['key']}/draft"].value
            if isinstance(draft, Fields):
                yield Sentence(f"Its author's answer: {draft.reference_answer}", "good")
        yield from _attempts(tried, replies)
        if creation:
            yield from _votes(creation, replies)
    fallen = [creation for creation in made if not creation["challenge_id"]]
    if fallen:
        yield Heading("Challenges that were not accepted", closed=True)
    for rejected in fallen:
        reply = replies.get(f"{rejected['key']}/draft")
        if reply is not None and isinstance(reply.value, Fields):
            yield Quoted(
                rejected["author"],
                reply.value.description,
                reply.key,
                _STATUSES.get(rejected["status"], rejected["status"]),
                "bad",
            )
        elif reply is not None:
            yield quoted(reply)
        yield from _votes(rejected, replies)


def _mark(attempt: Mapping[str, Any], names: Sequence[str]) -> CellMark:
    """Return what came of an attempt; one at a challenge of its own is said to be."""
    own, result = attempt["own_challenge"], attempt["result"]
    credit = {"correct": 1.0, "incorrect": 0.0}.get(result)
    mark = credit_mark(credit, f"{result}, {attempt['points']:g} points{', its own' * own}")
    opens = f"c{names.index(attempt['challenge_id']) + 1}" if attempt["challenge_id"] in names else ""
    return replace(mark, text=f"{mark.text}{' own' * own}", opens=opens)


def _label(attempt: Mapping[str, Any]) -> str:
    """Return who tried: keys of attempts are `solve/LABEL/PLACE`."""
    return str(attempt["key"]).split("/")[1]


def _attempts(tried: list[Any], replies: Replies) -> Iterator[Block]:
    if not tried:
        yield Sentence("Nobody was dealt it.", "quiet")
        return
    rows = []
    for attempt in tried:
        label = _label(attempt)
        final = [reply for key, reply in replies.items() if key.startswith(f"{attempt['key']}/")][-1]
        answer = "" if final.value is None else str(getattr(final.value, "answer", final.value))
        if final.value is None and attempt["result"] in ("correct", "incorrect"):
            answer = "sealed"
        own = ", its own" if attempt["own_challenge"] else ""
        rows.append((SeatName(label), answer, f"{attempt['result']}{own}", attempt["points"]))
    yield Grid(("Tried by", ">Answer", "Result", ">Points"), tuple(rows))


def _votes(creation: Mapping[str, Any], replies: Replies) -> Iterator[Block]:
    for label, vote in creation["votes"].items():
        reply = replies.get(f"{creation['key']}/vote/{label}")
        if reply is not None:
            reason = reply.value.reason if isinstance(reply.value, Chosen) else reply.text
            tone: Tone = "good" if vote == "approve" else "bad"
            yield Quoted(label, reason, reply.key, vote, tone, reply.reason)
