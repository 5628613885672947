"""Drafting a challenge: authors write, a committee votes, objections go back, until enough approve.

Authors take turns. A turn is up to `max_drafts` drafts, each made in stages (a question; or a case by one
author and a question about it by another). After each draft
the committee votes on clarity and solvability; with enough approval among the valid votes it stands, else the
objections are quoted to the authors for the next draft. An author whose reply is unusable, refused or void
loses the turn, since it was already asked twice. When the last turn is over there is no challenge. No author
votes on its own draft.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from peerage.game.blocks import (
    Block,
    GivenVerdict,
    Heading,
    Replies,
    Sentence,
    TaskText,
    Tone,
    VoteLine,
    VoteStrip,
    quoted,
)
from peerage.game.match import Outcome, Seat
from peerage.game.protocol import Ask, Choice, Chosen, Prompt, Quote, Reply, Steps, Text, Works
from peerage.judging.panels.panel import quorum

_TOLERANCE = 1e-9
VOTES = ("approve", "object")
"""Votes of a committee."""
DRAFT_TOKENS, DRAFT_CHARS, DRAFT_TEMPERATURE = 1_200, 4_000, 1.0
VOTE_TOKENS, OBJECTION_CHARS = 600, 400


class Stage(Struct, frozen=True):
    """One text of a challenge: its name (also the place it fills), the first and the later prompts."""

    name: str
    first: Prompt
    again: Prompt


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
    """Outcome of drafting: the texts by stage when one draft stood, else None; and every draft."""

    texts: Mapping[str, Quote] | None
    drafts: tuple[Draft, ...]


def drafts_of(outcome: Outcome) -> tuple[Draft, ...]:
    """The drafts of a finished match, none where nothing was drafted."""
    return msgspec.convert(outcome.detail.get("drafts", ()), tuple[Draft, ...])


def drafting(
    turns: Sequence[Sequence[Seat]],
    committee: Sequence[Seat],
    stages: Sequence[Stage],
    vote: Prompt,
    topic: str,
    *,
    max_drafts: int,
    approval: float,
    early_stop: bool,
) -> Steps[Drafting]:
    """Draft until a challenge stands or the turns are over: `max_drafts` in each. A draft stands by the share
    `approval` of the committee's valid votes; see `reviewed`.

    Each turn names one author per stage. Request keys are `STAGE/TURN/DRAFT` and `vote/TURN/DRAFT/LABEL`,
    counting from 1.
    """
    drafts: list[Draft] = []
    share = f"{approval:.0%}"
    usual = {"topic": topic, "limit": str(DRAFT_CHARS), "approval": share, "drafts": str(max_drafts)}
    for turn, authors in enumerate(turns, 1):
        earlier: Mapping[str, Quote] = {}
        objections = ""
        for number in range(1, max_drafts + 1):
            at = f"{turn}/{number}"
            replies = yield from _write(authors, stages, at, usual, earlier, objections)
            last = replies[-1]
            labels = {stage.name: author.label for stage, author in zip(stages, authors, strict=True)}
            keys = {stage.name: reply.key for stage, reply in zip(stages, replies, strict=False) if reply.ok}
            if not last.ok:
                drafts.append(Draft(turn, number, labels, keys, last.status))
                break
            texts = {
                stage.name: Quote.of(stage.name, reply, DRAFT_CHARS)
                for stage, reply in zip(stages, replies, strict=True)
            }
            players = {author.player for author in authors}
            fill: dict[str, str | Quote] = {**texts, "topic": topic, "approval": share}
            works = Works(tuple([reply.hidden for reply in replies]))
            asks = [
                _ask_vote(vote, member.label, at, fill, works)
                for member in committee
                if member.player not in players
            ]
            review = yield from reviewed(asks, approval, early_stop=early_stop)
            drafts.append(
                Draft(
                    turn=turn,
                    draft=number,
                    authors=labels,
                    keys=keys,
                    status="ok",
                    votes=review.votes,
                    approval=review.share,
                    accepted=review.approved,
                )
            )
            if review.approved:
                return Drafting(texts, tuple(drafts))
            earlier, objections = texts, _objections(review.replies)
    return Drafting(None, tuple(drafts))


def _ask_vote(vote: Prompt, label: str, at: str, fill: Mapping[str, str | Quote], works: Works) -> Ask:
    return vote.ask(
        label,
        f"vote/{at}/{label}",
        Choice("vote", VOTES, OBJECTION_CHARS),
        fill,
        VOTE_TOKENS,
        role="committee",
        temperature=0.0,
        oracle=works,
    )


class Review(NamedTuple):
    """A committee's votes: the replies of those who were asked, by label what each vote is (or what the reply
    was instead), and the share of valid votes that approve, None without a quorum."""

    replies: Sequence[Reply]
    votes: Mapping[str, str]
    share: float | None
    approved: bool


def reviewed(asks: Sequence[Ask], approval: float, *, early_stop: bool = True) -> Steps[Review]:
    """Put `asks` to a committee, one to each member, which expect a vote of `VOTES`.

    Fewer than `QUORUM` of the votes being valid, or fewer than `approval` of these approving, is no approval.
    With `early_stop` members are asked in waves, each of as few as could decide, until the others cannot
    change the decision: of five members two objections decide against a draft that needs 80%.
    """
    replies: list[Reply] = []
    given: list[str] = []
    while left := len(asks) - len(given):
        wave = left
        if early_stop:
            if _decided(given, left, approval):
                break
            ends = ((more, [*given, *[vote] * more]) for more in range(1, left) for vote in VOTES)
            wave = next((more for more, votes in ends if _decided(votes, left - more, approval)), left)
        came: list[Reply] = yield asks[len(given) : len(given) + wave]
        replies += came
        given += [reply.value.choice if reply.ok else reply.status for reply in came]
    votes = dict(zip([ask.to for ask in asks], given, strict=False))
    valid = [vote for vote in given if vote in VOTES]
    share = valid.count("approve") / len(valid) if len(valid) >= quorum(len(given)) else None
    return Review(replies, votes, share, approved=share is not None and share >= approval - _TOLERANCE)


def _decided(votes: Sequence[str], left: int, approval: float) -> bool:
    """Return whether these votes decide, whatever those who are `left` vote."""
    valid, approve = sum(vote in VOTES for vote in votes), votes.count("approve")
    needed, least = quorum(len(votes) + left), approval - _TOLERANCE
    if valid + left < needed or (approve + left) / (valid + left) < least:
        return True
    return valid >= needed and approve / (valid + left) >= least


def needed_share(members: int, approval: float) -> float:
    """Return the share of a committee that is asked as a rule: those who are enough to approve."""
    return min(1.0, max(1, math.ceil(approval * members - _TOLERANCE)) / max(1, members))


def _write(
    authors: Sequence[Seat],
    stages: Sequence[Stage],
    at: str,
    usual: Mapping[str, str],
    earlier: Mapping[str, Quote],
    objections: str,
) -> Steps[list[Reply]]:
    """One draft, stage after stage; ends early with the first reply that cannot be used."""
    replies: list[Reply] = []
    fill: dict[str, str | Quote] = {**usual}
    if earlier:
        fill["objections"] = Quote("objections", objections)
    for author, stage in zip(authors, stages, strict=True):
        if earlier:
            last = earlier[stage.name]
            fill["draft"] = Quote(f"last {stage.name}", last.text, last.key)
        prompt = stage.again if earlier else stage.first
        reply: Reply = yield prompt.ask(
            author.label,
            f"{stage.name}/{at}",
            Text(DRAFT_CHARS),
            fill,
            DRAFT_TOKENS,
            role="author",
            temperature=DRAFT_TEMPERATURE,
            oracle={"topic": usual["topic"]},
        )
        replies.append(reply)
        if not reply.ok:
            break
        fill[stage.name] = Quote.of(stage.name, reply, DRAFT_CHARS)
    return replies


def _objections(votes: Iterable[Reply]) -> str:
    """The objectors' reasons as a list, one a line, each once; a remark when nobody gave one."""
    reasons = [
        " ".join(reply.value.reason.split())[:OBJECTION_CHARS]
        for reply in votes
        if reply.ok and reply.value.choice == "object" and reply.value.reason.strip()
    ]
    return "\n".join(f"- {reason}" for reason in dict.fromkeys(reasons)) or "(no reason was given)"


# -------------------------------------------------------------------------------------------------- shown


_TONES: Mapping[str, Tone] = {"approve": "good", "object": "bad"}


def question_shown(drafts: Sequence[Draft], replies: Replies) -> Iterator[Block]:
    """The question that was accepted."""
    for draft in drafts:
        if draft.accepted:
            yield Heading("The question")
            for stage, label in draft.authors.items():
                reply = replies[f"{stage}/{draft.turn}/{draft.draft}"]
                yield TaskText(reply.text, stage, (label,), reply.key, prose=True)


def drafts_shown(drafts: Sequence[Draft], replies: Replies, members: Iterable[str]) -> Iterator[Block]:
    """The committee's votes on the accepted question, and the drafts that were rejected; those of the labels
    `members` who did not vote were not needed."""
    for draft in drafts:
        if draft.accepted:
            yield Heading("The committee, on the question")
            yield from _votes(draft, replies, members)
    fallen = [draft for draft in drafts if not draft.accepted]
    if fallen:
        yield Heading("Rejected drafts")
    for draft in fallen:
        for stage in draft.authors:
            reply = replies.get(f"{stage}/{draft.turn}/{draft.draft}")
            if reply is not None:
                yield quoted(reply, f"{stage}, draft {draft.draft} of turn {draft.turn}", prose=True)
        yield from _votes(draft, replies, members)
        if draft.status != "ok":
            yield Sentence(f"The turn ended: the reply was {draft.status}.")


def _votes(draft: Draft, replies: Replies, members: Iterable[str]) -> Iterator[Block]:
    lines = []
    for label, vote in draft.votes.items():
        reply = replies.get(f"vote/{draft.turn}/{draft.draft}/{label}")
        if reply is not None:
            reason = reply.value.reason if isinstance(reply.value, Chosen) else reply.text
            given = GivenVerdict(vote, reason, reply.key, _TONES.get(vote, "bad"), reply.reason)
            lines.append(VoteLine(label, (given,), vote))
    if lines:
        spared = [label for label in members if label not in draft.votes]
        lines += [VoteLine(label, (GivenVerdict("not needed", "", ""),)) for label in spared]
        yield VoteStrip(("",), tuple(lines), "Committee")
