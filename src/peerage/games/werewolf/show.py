"""A match of Werewolf as blocks: night by night and day by day, with who could see what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from peerage.game import (
    Block,
    Chosen,
    Fixture,
    Grid,
    Heading,
    Outcome,
    Private,
    Quoted,
    Replies,
    Sentence,
    ending,
    player_names,
    quoted,
)
from peerage.games.werewolf.rules import ONE

_NO_RESULT = {"no_answer": "On one side nobody was left whose provider answered, so there is no result."}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield who was what, the nights, the days, the result."""
    players = {label: f"{name} ({label})" for label, name in player_names(fixture).items()}
    roles: Mapping[str, str] = outcome.detail.get("roles", {})
    if roles:
        yield Heading("Who was what")
        pack = tuple([label for label, part in roles.items() if part == "werewolf"])
        yield Private(pack)
        yield Sentence(
            f"{_listed(players, pack)} {'is a werewolf' if len(pack) == 1 else 'are the werewolves'}."
        )
        for label, part in roles.items():
            if label not in pack:
                yield Private((label,))
                yield Sentence(f"{players[label]} is {ONE[part]}.")
    for event in outcome.detail.get("events", ()):
        if event["event"] == "night":
            yield from _night(event, players, roles, replies)
        else:
            yield from _day(event, players, roles, replies)
    left = outcome.detail.get("left", {})
    why = {label: f"{part}, {_until(left.get(label))}" for label, part in roles.items()}
    village = outcome.detail.get("won") == "village"
    wins = "The last werewolf is out: the village wins." if village else "The werewolves win."
    yield from ending(fixture, outcome, wins, why, _NO_RESULT)


def _night(
    event: Mapping[str, Any], players: Mapping[str, str], roles: Mapping[str, str], replies: Replies
) -> Iterator[Block]:
    day = event["day"]
    yield Heading(f"Night {day}")
    hunts = {key: reply for key, reply in replies.items() if key.startswith(f"night/{day}/kill/")}
    pack = tuple(dict.fromkeys([reply.label for reply in hunts.values()]))
    if hunts:
        yield Private(pack)
        for key, reply in hunts.items():
            yield _choice(
                reply, "would kill" if key.split("/")[3] == "1" else "asked again, would kill", players
            )
        victim = event["victim"]
        yield Sentence(f"The werewolves choose {players.get(victim, 'nobody')}.")
    for reply in (replies[key] for key in replies if key.startswith(f"night/{day}/look/")):
        yield Private((reply.label,))
        yield _choice(reply, "looks at", players)
        if looked := event["looked"]:
            is_one = "a werewolf" if looked["wolf"] else "no werewolf"
            yield Sentence(f"{players[looked['player']]} is {is_one}.")
    for reply in (replies[key] for key in replies if key.startswith(f"night/{day}/protect/")):
        yield Private((reply.label,))
        yield _choice(reply, "protects", players)
    yield Private(())
    dead = event["dead"]
    yield Sentence(
        f"In the morning {players[dead]} is dead, and was {ONE[roles[dead]]}." if dead else "Nobody died.",
        "bad" if dead else "",
    )


def _day(
    event: Mapping[str, Any], players: Mapping[str, str], roles: Mapping[str, str], replies: Replies
) -> Iterator[Block]:
    day = event["day"]
    yield Heading(f"Day {day}")
    turn = "1"
    for key, reply in replies.items():
        if key.startswith(f"day/{day}/talk/"):
            if (now := key.split("/")[3]) != turn:
                turn = now
                yield Sentence("Everybody speaks once more.", "quiet")
            yield quoted(reply)
    rows = [(players[voter], players.get(named, "nobody")) for voter, named in event["votes"].items()]
    yield Grid(("Who votes", "For"), tuple(rows))
    for key, reply in replies.items():
        if key.startswith(f"day/{day}/vote/"):
            yield Private((reply.label,), marked=False)
            reason = reply.value.reason if isinstance(reply.value, Chosen) else ""
            if reason.strip():
                yield Quoted(reply.label, reason, reply.key, note="why; nobody else sees it")
            elif reply.status != "ok":
                yield quoted(reply)
    yield Private(())
    out = event["out"]
    yield Sentence(f"{players[out]} is out, and was {ONE[roles[out]]}." if out else "Nobody is out.")


def _choice(reply: Any, does: str, players: Mapping[str, str]) -> Quoted:
    """A choice with its reason, which not everybody sees."""
    if not isinstance(reply.value, Chosen):
        return quoted(reply)
    chosen = players.get(reply.value.choice, reply.value.choice)
    return Quoted(reply.label, reply.value.reason, reply.key, f"{does} {chosen}")


def _until(time: int | None) -> str:
    if time is None:
        return "alive to the end"
    return f"out on day {time // 2}" if time % 2 == 0 else f"dead in night {(time + 1) // 2}"


def _listed(players: Mapping[str, str], labels: tuple[str, ...]) -> str:
    named = [players[label] for label in labels]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
