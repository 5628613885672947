"""Drafting as blocks: the challenge that stood, who voted how on it, and the drafts that did not stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from peerage.blocks import Block, Heading, Quoted, Replies, Sentence, Task, Tone, said
from peerage.challenges.drafting import REFERENCE, Draft
from peerage.protocol import Chosen

_TONES: Mapping[str, Tone] = {"approve": "good", "object": "bad"}


def drafts_shown(drafts: Sequence[Draft], replies: Replies) -> Iterator[Block]:
    """The drafts that were rejected, and the question that was accepted."""
    fallen = [draft for draft in drafts if not draft.accepted]
    if fallen:
        yield Heading("Rejected drafts")
    for draft in fallen:
        for stage in draft.authors:
            reply = replies.get(f"{stage}/{draft.turn}/{draft.draft}")
            if reply is not None:
                yield said(reply, f"{stage}, draft {draft.draft} of turn {draft.turn}")
        yield from _votes(draft, replies)
        if draft.status != "ok":
            yield Sentence(f"The turn ended: the reply was {draft.status}.")
    for draft in drafts:
        if draft.accepted:
            yield Heading("The question")
            for stage, label in draft.authors.items():
                reply = replies[f"{stage}/{draft.turn}/{draft.draft}"]
                if stage == REFERENCE:  # nobody who answers was given it
                    yield said(reply, "reference answer", "quiet", "shown to committee and judges alone")
                else:
                    yield Task(reply.text, stage, (label,), reply.key)
            yield from _votes(draft, replies)


def _votes(draft: Draft, replies: Replies) -> Iterator[Block]:
    if draft.approval is not None:
        yield Sentence(f"{draft.approval:.0%} of the valid votes approve.")
    for label, vote in draft.votes.items():
        reply = replies.get(f"vote/{draft.turn}/{draft.draft}/{label}")
        if reply is not None:
            reason = reply.value.reason if isinstance(reply.value, Chosen) else reply.text
            yield Quoted(label, reason, reply.key, vote, _TONES.get(vote, "bad"), reply.reason)
