"""An exchange of challenges as blocks: each challenge, its proof, who tried it, who was right, the points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from peerage.formats import Fields
from peerage.game import (
    Block,
    Chosen,
    Fixture,
    Grid,
    Heading,
    Outcome,
    Quoted,
    Replies,
    Sentence,
    TaskText,
    Tone,
    ending,
    player_names,
    quoted,
    texts,
)

_PROOFS: Mapping[str, str] = texts(__package__)["proofs"]
_STATUSES: Mapping[str, str] = texts(__package__)["statuses"]
_NO_RESULT: Mapping[str, str] = texts(__package__)["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The challenges that were accepted, each with every attempt, those that were not, the points."""
    players = player_names(fixture)
    made = outcome.detail.get("challenges", [])
    attempts = outcome.detail.get("attempts", [])
    known = {challenge["challenge_id"]: challenge for challenge in fixture.drawn.get("challenges", ())}
    known |= {fact["challenge_id"]: fact for fact in outcome.facts if fact.get("fact") == "challenge"}
    written = {challenge["challenge_id"]: challenge for challenge in made if challenge["challenge_id"]}
    for number, (name, challenge) in enumerate(known.items(), 1):
        creation = written.get(name)
        by = f"by {challenge['author_llm']}" + ("" if creation else ", from the pool")
        yield Heading(f"Challenge {number}")
        key = replies[f"{creation['key']}/draft"].key if creation else ""
        yield TaskText(challenge["description"], f"{name} {by}", (), key)
        if creation:
            proven = f"accepted: {_PROOFS[creation['proof']]}"
            yield Sentence(f"{_STATUSES.get(creation['status'], proven).capitalize()}.")
            draft = replies[f"{creation['key']}/draft"].value
            if isinstance(draft, Fields):
                yield Sentence(f"Its author's answer: {draft.reference_answer}")
            yield from _votes(creation, replies)
        tried = [attempt for attempt in attempts if attempt["challenge_id"] == name]
        yield from _attempts(tried, players, replies)
    fallen = [challenge for challenge in made if not challenge["challenge_id"]]
    if fallen:
        yield Heading("Challenges that were not accepted")
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
    results = {
        label: Counter(each["result"] for each in attempts if _label(each) == label) for label in players
    }
    points: Mapping[str, float] = outcome.detail.get("points", {})
    why = {
        label: f"{total:g} point{'s' * (total != 1)}; "
        + ", ".join(f"{count} {result}" for result, count in results[label].items())
        for label, total in points.items()
    }
    yield from ending(fixture, outcome, "", why, _NO_RESULT)


def _label(attempt: Mapping[str, Any]) -> str:
    """Return who tried: keys of attempts are `solve/LABEL/PLACE`."""
    return str(attempt["key"]).split("/")[1]


def _attempts(tried: list[Any], players: Mapping[str, str], replies: Replies) -> Iterator[Block]:
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
        rows.append((f"{players[label]} ({label}){own}", answer, attempt["result"], attempt["points"]))
    yield Grid(("Tried by", ">Answer", "Result", ">Points"), tuple(rows))


def _votes(creation: Mapping[str, Any], replies: Replies) -> Iterator[Block]:
    for label, vote in creation["votes"].items():
        reply = replies.get(f"{creation['key']}/vote/{label}")
        if reply is not None:
            reason = reply.value.reason if isinstance(reply.value, Chosen) else reply.text
            tone: Tone = "good" if vote == "approve" else "bad"
            yield Quoted(label, reason, reply.key, vote, tone, reply.reason)
