"""Golden matches: a match written down, played again from its replies, and told apart from what it was.

    before = transcript(GAME, made, house({"ann": "house:0.9", "bob": "house:0.2"}).of(GAME))
    assert difference(before, again(GAME, before)) is None

A file that holds `before` as JSON shows the next reader a whole match, and a test that plays it again fails
where an edit changes what the same version of the game asks, or makes of the replies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from peerage.engine.match.driver import Driver
from peerage.formats import stored
from peerage.game.match import Fixture
from peerage.game.protocol import Ask, Format, Job, Reply, Run
from peerage.game.spec import GameSpec
from peerage.ledger.forms.codec_requests import request_body
from peerage.testing.offline import Answering, call, ended


def transcript(
    spec: GameSpec[Any],
    fixed: Fixture,
    answering: Answering,
    performing: Callable[[Job], Reply] = ended,
    asked_for: Callable[[Format], object] = lambda format: None,
) -> dict[str, Any]:
    """Play a match and write it down as plain JSON: its fixture, every request and reply, the outcome."""
    driver = Driver(spec, fixed, spec.rules.model_validate(fixed.settings))
    players = {seat.label: seat.player for seat in fixed.all_seats()}
    waiting, steps = driver.start(), []
    while waiting:
        ask = waiting.pop(0)
        try:
            reply = answering(ask, players[ask.to]) if isinstance(ask, Ask) else performing(ask)
        except KeyError:
            steps.append({"key": ask.key, "not asked before": True})
            continue
        if isinstance(ask, Ask):
            asked_for(ask.expects)
        steps.append(
            {
                "key": ask.key,
                "to": ask.to,
                **(_question(ask, fixed.seed) if isinstance(ask, Ask) else _job(ask)),
                "stored": sha256(request_body(ask, fixed.secret)[0]).hexdigest()[:16],
                "reply": _stated(reply),
            }
        )
        waiting += driver.feed(ask.key, reply)
    outcome = None if driver.outcome is None else msgspec.to_builtins(driver.outcome)
    data = {
        "game": spec.name,
        "version": spec.version,
        "fixture": msgspec.to_builtins(fixed),
        "steps": steps,
        "outcome": outcome,
    }
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain


def _question(ask: Ask, seed: str) -> dict[str, Any]:
    return {
        "role": ask.role,
        "tokens": ask.max_tokens,
        "temperature": ask.temperature,
        "exact": ask.exact,
        **({"verbatim": True} if ask.verbatim else {}),
        "format": msgspec.to_builtins(ask.expects, enc_hook=stored),
        **_past(ask),
        "messages": [
            [speaker, *text.split("\n")]
            for speaker, text in call(msgspec.structs.replace(ask, past=()), seed).messages
        ],
    }


def _past(ask: Ask) -> dict[str, Any]:
    """The earlier turns that go with a request: they are in the file already, so a digest is enough."""
    shown = msgspec.json.encode([turn.shown for turn in ask.past])
    return {"past": [*[turn.key for turn in ask.past], sha256(shown).hexdigest()[:16]]} if ask.past else {}


def _job(run: Job) -> dict[str, Any]:
    if not isinstance(run, Run):
        folders = [folder and folder.digest for folder in (run.folder, run.overlay)]
        return {
            "command": run.command,
            "folders": folders,
            "patch": run.patch.split("\n"),
            "keeps": run.keeps,
        }
    return {
        "program": run.source.split("\n"),
        "stdin": run.stdin,
        "limits": [run.fuel, run.memory, run.output, run.seconds],
    }


def _stated(reply: Reply) -> dict[str, Any]:
    """A raw reply without what it leaves at its default."""
    plain = Reply("ok")
    named = {
        field: getattr(reply, field) for field in Reply.__struct_fields__ if field not in ("key", "value")
    }
    return {"status": reply.status} | {
        field: msgspec.to_builtins(value) for field, value in named.items() if value != getattr(plain, field)
    }


def again(
    spec: GameSpec[Any],
    before: Mapping[str, Any],
    asked_for: Callable[[Format], object] = lambda format: None,
) -> dict[str, Any]:
    """The same match played again, from the replies in its transcript."""
    replies = {step["key"]: msgspec.convert(step["reply"], Reply) for step in before["steps"]}
    fixed = msgspec.convert(before["fixture"], Fixture)
    return transcript(spec, fixed, lambda ask, _: replies[ask.key], lambda run: replies[run.key], asked_for)


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first thing in which a match that is played again differs from the one on file."""
    for old, new in zip(before["steps"], now["steps"], strict=False):
        for about in dict.fromkeys([*old, *new]):
            if old.get(about) != new.get(about):
                return f"request {old['key']}, {about}: {short(old.get(about), new.get(about))}"
    if len(before["steps"]) != len(now["steps"]):
        return f"{len(before['steps'])} requests, now {len(now['steps'])}"
    if before["outcome"] != now["outcome"]:
        return f"outcome: {short(before['outcome'], now['outcome'])}"
    return None


def short(before: Any, now: Any) -> str:
    """Both values, cut to where they begin to differ."""
    texts = [json.dumps(value, ensure_ascii=False, sort_keys=True) for value in (before, now)]
    same = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    was, became = [text[max(0, same - 40) : same + 60] for text in texts]
    return f"…{was}… became …{became}…"
