"""A match of Werewolf as blocks: night by night and day by day, with who could see what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from peerage.game import (
    NO_SEAT,
    Block,
    Cell,
    CellMark,
    Chosen,
    Fixture,
    Grid,
    Heading,
    Outcome,
    Private,
    Quoted,
    Replies,
    SeatName,
    Sentence,
    State,
    quoted,
    result_grid,
)
from peerage.games.werewolf.rules import ONE
from peerage.values import grouped

_ALIVE = CellMark("alive", "good")
_NO_RESULT = {"no_answer": "On one side nobody was left whose provider answered, so there is no result."}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield who was what, voted for whom and lived; the nights, the days."""
    village = outcome.detail.get("won") == "village"
    wins = "The last werewolf is out: the village wins." if village else "The werewolves win."
    roles: Mapping[str, str] = outcome.detail.get("roles", {})
    events: Sequence[Mapping[str, Any]] = outcome.detail.get("events", ())
    left: Mapping[str, int] = outcome.detail.get("left", {})
    days, rows = _lives(roles, events, left)
    lived = {label: _until(left[label]) if label in left else "alive to the end" for label in roles}
    why = {label: f"{part}, {lived[label]}" for label, part in roles.items()}
    for block in result_grid(outcome, wins, ("Role", "Lives", *days), rows, why, _NO_RESULT, left):
        if isinstance(block, Grid):
            yield Private(NO_SEAT, marked=False)
        yield block
    yield _state(roles, events[:0], left)
    for place, event in enumerate(events, 1):
        if event["event"] == "night":
            yield from _night(event, roles, replies)
        else:
            yield from _day(event, roles, replies)
        yield _state(roles, events[:place], left)
        if event["event"] == "vote":
            yield from _reasons(event["day"], replies)


def _lives(
    roles: Mapping[str, str], events: Sequence[Mapping[str, Any]], left: Mapping[str, int]
) -> tuple[list[str], dict[str, tuple[Cell, ...]]]:
    """Return the days with a vote among these events, and of each seat role, last day and its votes."""
    votes = [event for event in events if event["event"] == "vote"]
    now = 2 * len(votes) - (0 if not events or events[-1]["event"] == "vote" else -1)
    rows = {}
    for label, role in roles.items():
        until = left.get(label)
        cells = [_vote(event["votes"].get(label), label, roles) for event in votes]
        is_wolf = role == "werewolf"
        rows[label] = (
            CellMark(role, "bad" if is_wolf else ""),
            _ALIVE if until is None or until > now else CellMark(_until(until), "quiet"),
            *cells,
        )
    return [f"Day {event['day']}" for event in votes], rows


def _state(roles: Mapping[str, str], events: Sequence[Mapping[str, Any]], left: Mapping[str, int]) -> State:
    """Return who lives after these events."""
    days, rows = _lives(roles, events, left)
    cells = [(SeatName(label, _ALIVE not in row), *row) for label, row in rows.items()]
    return State(Grid(("Player", "Role", "Lives", *days), tuple(cells)))


def _vote(named: str | None, voter: str, roles: Mapping[str, str]) -> Cell:
    """Return whom a seat voted for, with a mark where the village found a werewolf."""
    if named is None:
        return ""
    found = roles.get(named) == "werewolf" != roles[voter]
    about = f"{voter} votes for {named or 'nobody'}{', a werewolf' * found}"
    return CellMark(f"{named or '–'}{' ✓' * found}", "good" if found else "", about)


def _night(event: Mapping[str, Any], roles: Mapping[str, str], replies: Replies) -> Iterator[Block]:
    day = event["day"]
    yield Heading(f"Night {day}")
    hunts = {key: reply for key, reply in replies.items() if key.startswith(f"night/{day}/kill/")}
    pack = tuple(dict.fromkeys([reply.label for reply in hunts.values()]))
    if hunts:
        yield Private(pack)
        for key, reply in hunts.items():
            yield _choice(reply, "would kill" if key.split("/")[3] == "1" else "asked again, would kill")
        victim = event["victim"]
        yield Sentence(f"The werewolves choose {victim or 'nobody'}.")
    for reply in (replies[key] for key in replies if key.startswith(f"night/{day}/look/")):
        yield Private((reply.label,))
        yield _choice(reply, "looks at")
        if looked := event["looked"]:
            is_one = "a werewolf" if looked["wolf"] else "no werewolf"
            yield Sentence(f"{looked['player']} is {is_one}.")
    for reply in (replies[key] for key in replies if key.startswith(f"night/{day}/protect/")):
        yield Private((reply.label,))
        yield _choice(reply, "protects")
    yield Private(())
    dead = event["dead"]
    yield Sentence(
        f"In the morning {dead} is dead, and was {ONE[roles[dead]]}." if dead else "Nobody died.",
        "bad" if dead else "",
    )


def _day(event: Mapping[str, Any], roles: Mapping[str, str], replies: Replies) -> Iterator[Block]:
    day = event["day"]
    yield Heading(f"Day {day}")
    turn = "1"
    for key, reply in replies.items():
        if key.startswith(f"day/{day}/talk/"):
            if (now := key.split("/")[3]) != turn:
                turn = now
                yield Sentence("Everybody speaks once more.", "quiet")
            yield quoted(reply)
    voters = grouped((named or "nobody", voter) for voter, named in event["votes"].items())
    cast = [f"{_listed(labels)} for {named}" for named, labels in voters.items()]
    if cast:
        yield Sentence(f"Votes: {'; '.join(cast)}.")
    out = event["out"]
    yield Sentence(
        f"{out} is out, and was {ONE[roles[out]]}." if out else "Nobody is out.", "bad" if out else ""
    )


def _reasons(day: int, replies: Replies) -> Iterator[Block]:
    """Yield why seats voted as they did on a day."""
    blocks: list[Block] = []
    for key, reply in replies.items():
        if key.startswith(f"day/{day}/vote/"):
            reason = reply.value.reason if isinstance(reply.value, Chosen) else ""
            if reason.strip():
                chosen = reply.value.choice
                said: Block = Quoted(reply.label, reason, reply.key, f"votes for {chosen}")
            elif reply.status != "ok":
                said = quoted(reply)
            else:
                continue
            blocks += [Private((reply.label,), marked=False), said]
    if blocks:
        yield Heading(f"Day {day}: why they voted so, which they told nobody", closed=True)
    yield from blocks


def _choice(reply: Any, does: str) -> Quoted:
    """A choice with its reason, which not everybody sees."""
    if not isinstance(reply.value, Chosen):
        return quoted(reply)
    return Quoted(reply.label, reply.value.reason, reply.key, f"{does} {reply.value.choice}")


def _until(time: int) -> str:
    return f"out on day {time // 2}" if time % 2 == 0 else f"dead in night {(time + 1) // 2}"


def _listed(labels: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
