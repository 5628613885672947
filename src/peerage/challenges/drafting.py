"""Drafting a challenge: authors write, a committee votes, objections go back, until enough approve.

Authors take turns. A turn is up to `max_drafts` drafts, each made in stages (a question; or a case by one
author and a question about it by another; and an answer for reference, where one is wanted). After each draft
the committee votes on clarity and solvability; with enough approval among the valid votes it stands, else the
objections are quoted to the authors for the next draft. An author whose reply is unusable, refused or void
loses the turn, since it was already asked twice. When the last turn is over there is no challenge. No author
votes on its own draft.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from peerage.match import Outcome, Seat
from peerage.protocol import Ask, Choice, Prompt, Quote, Reply, Steps, Text, Works

_TOLERANCE = 1e-9
REFERENCE = "reference"
"""The stage in which the author answers its own challenge, for committee and judges, not for contestants."""


class Stage(Struct, frozen=True):
    """One text of a challenge: its name (also the place it fills), the first and the later prompts."""

    name: str
    first: Prompt
    again: Prompt


class DraftingRules(Struct, frozen=True):
    """When a draft stands, and the limits of drafts and votes.

    `approval` is the share of valid votes that must approve; `quorum` the share of the seated committee
    whose votes must be valid (always at least one).
    """

    max_drafts: int
    approval: float
    quorum: float
    draft_chars: int
    draft_tokens: int
    draft_temperature: float | None
    vote_tokens: int
    vote_temperature: float | None
    objection_chars: int = 400


class Draft(Struct, frozen=True):
    """One draft on record.

    `authors` maps each stage to the label of its author, `keys` to the request key of its text when it was
    finished; `status` is ok, or what the reply was
    that ended the turn (invalid, refused, void). `votes` maps committee labels to approve, object, or what
    the reply was instead; `approval` is the share of valid votes that approve, None without a quorum.
    """

    turn: int
    draft: int
    authors: Mapping[str, str]
    keys: Mapping[str, str]
    status: str
    votes: Mapping[str, str] = {}
    approval: float | None = None
    accepted: bool = False


class Drafting(Struct, frozen=True):
    """What drafting came to: the texts by stage when one draft stood, else None; and every draft. `hidden` is
    what a house player's texts of that draft are really worth, by stage."""

    texts: Mapping[str, Quote] | None
    drafts: tuple[Draft, ...]
    hidden: Mapping[str, Any] = {}


def drafts_of(outcome: Outcome) -> tuple[Draft, ...]:
    """The drafts of a finished match, none where nothing was drafted."""
    return msgspec.convert(outcome.detail.get("drafts", ()), tuple[Draft, ...])


def drafting(
    turns: Sequence[Sequence[Seat]],
    committee: Sequence[Seat],
    stages: Sequence[Stage],
    vote: Prompt,
    topic: str,
    rules: DraftingRules,
) -> Steps[Drafting]:
    """Draft until a challenge stands or the turns are over.

    Each turn names one author per stage. Request keys are `STAGE/TURN/DRAFT` and `vote/TURN/DRAFT/LABEL`,
    counting from 1.
    """
    drafts: list[Draft] = []
    for turn, authors in enumerate(turns, 1):
        earlier: Mapping[str, Quote] = {}
        objections = ""
        for number in range(1, rules.max_drafts + 1):
            at = f"{turn}/{number}"
            replies = yield from _write(authors, stages, at, topic, earlier, objections, rules)
            last = replies[-1]
            labels = {stage.name: author.label for stage, author in zip(stages, authors, strict=True)}
            keys = {stage.name: reply.key for stage, reply in zip(stages, replies, strict=False) if reply.ok}
            if not last.ok:
                drafts.append(Draft(turn, number, labels, keys, last.status))
                break
            texts = {
                stage.name: Quote.of(stage.name, reply, rules.draft_chars)
                for stage, reply in zip(stages, replies, strict=True)
            }
            players = {author.player for author in authors}
            members = [member for member in committee if member.player not in players]
            hidden = {stage.name: reply.hidden for stage, reply in zip(stages, replies, strict=True)}
            told: dict[str, str | Quote] = {**texts, "topic": topic, "approval": f"{rules.approval:.0%}"}
            votes = yield from _vote(members, vote, at, told, hidden, rules)
            approval = approved_share(list(votes.values()), rules.quorum)
            accepted = approval is not None and approval >= rules.approval - _TOLERANCE
            said = {label: reply.value.choice if reply.ok else reply.status for label, reply in votes.items()}
            drafts.append(
                Draft(
                    turn=turn,
                    draft=number,
                    authors=labels,
                    keys=keys,
                    status="ok",
                    votes=said,
                    approval=approval,
                    accepted=accepted,
                )
            )
            if accepted:
                return Drafting(texts, tuple(drafts), hidden)
            earlier, objections = texts, _objections(votes.values(), rules.objection_chars)
    return Drafting(None, tuple(drafts))


def approved_share(votes: Sequence[Reply], quorum: float) -> float | None:
    """The share of valid votes that approve; None when fewer than `quorum` of the votes are valid."""
    valid = [reply.value.choice for reply in votes if reply.ok]
    if len(valid) < max(1, math.ceil(quorum * len(votes) - _TOLERANCE)):
        return None
    return valid.count("approve") / len(valid)


def _write(
    authors: Sequence[Seat],
    stages: Sequence[Stage],
    at: str,
    topic: str,
    earlier: Mapping[str, Quote],
    objections: str,
    rules: DraftingRules,
) -> Steps[list[Reply]]:
    """One draft, stage after stage; ends early with the first reply that cannot be used."""
    replies: list[Reply] = []
    fill: dict[str, str | Quote] = {
        "topic": topic,
        "limit": str(rules.draft_chars),
        "approval": f"{rules.approval:.0%}",
        "drafts": str(rules.max_drafts),
    }
    if earlier:
        fill["objections"] = Quote("objections", objections)
    for author, stage in zip(authors, stages, strict=True):
        if earlier:
            last = earlier[stage.name]
            fill["draft"] = Quote(f"last {stage.name}", last.text, last.key)
        prompt = stage.again if earlier else stage.first
        reply: Reply = yield Ask(
            to=author.label,
            key=f"{stage.name}/{at}",
            role="author",
            messages=prompt.messages(fill),
            expects=Text(rules.draft_chars),
            max_tokens=rules.draft_tokens,
            temperature=rules.draft_temperature,
            oracle={"topic": topic},
        )
        replies.append(reply)
        if not reply.ok:
            break
        fill[stage.name] = Quote.of(stage.name, reply, rules.draft_chars)
    return replies


def _vote(
    members: Sequence[Seat],
    prompt: Prompt,
    at: str,
    fill: Mapping[str, str | Quote],
    hidden: Mapping[str, Any],
    rules: DraftingRules,
) -> Steps[dict[str, Reply]]:
    expects = Choice("vote", ("approve", "object"), rules.objection_chars)
    messages = prompt.messages({**fill, "format": expects.instruction()})
    works = [worth for stage, worth in hidden.items() if stage != REFERENCE]
    oracle = Works(tuple(works), hidden.get(REFERENCE))
    replies: list[Reply] = yield [
        Ask(
            to=member.label,
            key=f"vote/{at}/{member.label}",
            role="committee",
            messages=messages,
            expects=expects,
            max_tokens=rules.vote_tokens,
            temperature=rules.vote_temperature,
            oracle=oracle,
        )
        for member in members
    ]
    return dict(zip([member.label for member in members], replies, strict=True))


def _objections(votes: Iterable[Reply], chars: int) -> str:
    """The objectors' reasons as a list, one a line, each once; a remark when nobody gave one."""
    reasons = [
        " ".join(reply.value.reason.split())[:chars]
        for reply in votes
        if reply.ok and reply.value.choice == "object" and reply.value.reason.strip()
    ]
    return "\n".join(f"- {reason}" for reason in dict.fromkeys(reasons)) or "(no reason was given)"
