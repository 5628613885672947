"""A panel as blocks: how each judge voted, in which order it preferred which answer, and its reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from peerage.blocks import Bar, Block, Heading, Quoted, Replies, Table, Tone
from peerage.judging.panel import ABSTAIN, TIE, Ballot
from peerage.protocol import Chosen

_FAILED = ("invalid", "refused", "void")


def panel_shown(
    ballots: Sequence[Ballot], replies: Replies, players: Mapping[str, str], share: float | None
) -> Iterator[Block]:
    """The panel's ballots; `players` are by label, of answers and judges; `share` is that of the first answer
    in the valid weight."""
    if not ballots:
        return
    yield Heading("The judges")
    orders = list(dict.fromkeys(order for ballot in ballots for order in ballot.verdicts))
    yield Table(
        ("Judge", *[f"{order[0]} shown first" for order in orders], "Counts as", ">Weight"),
        tuple(
            [
                (
                    f"{players[ballot.judge]} ({ballot.judge})",
                    *[_preferred(ballot.verdicts.get(order, ""), players) for order in orders],
                    _vote(ballot, players),
                    ballot.weight,
                )
                for ballot in ballots
            ]
        ),
    )
    for ballot in ballots:
        for order, verdict in ballot.verdicts.items():
            reply = replies.get(f"{ballot.judge}/{order}")
            if reply is None:
                continue
            reason = reply.value.reason if isinstance(reply.value, Chosen) else reply.text
            note = f"{order[0]} shown first"
            if verdict in _FAILED and reply.reason:
                note += f"; {reply.reason}"
            tone: Tone = "bad" if verdict in _FAILED else ""
            yield Quoted(ballot.judge, reason, reply.key, _preferred(verdict, players), tone, note)
    if share is None:
        return
    first, second = orders[0].split("-")
    yield Bar(f"of the judges' weight is for {players[first]} ({first})", share)
    yield Bar(f"of the judges' weight is for {players[second]} ({second})", 1 - share)


def _preferred(verdict: str, players: Mapping[str, str]) -> str:
    if verdict in ("", TIE, *_FAILED):
        return verdict
    return f"for {players[verdict]} ({verdict})"


def _vote(ballot: Ballot, players: Mapping[str, str]) -> str:
    if ballot.flipped:
        return f"{'no vote' if ballot.vote == ABSTAIN else 'a tie'}: flipped with the order"
    if ballot.vote == ABSTAIN:
        return "no vote: a reply could not be used"
    return _preferred(ballot.vote, players)
