"""From its replies and its disclosed secret an arena with benches, versions and a changed model is had again,
bit by bit: by replay, and by playing it in another place."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import head, house, ledger_of, play, play_stopping_at, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.again import replay as replaying
from peerage.engine.again.replay import replay
from peerage.engine.record.benches import BENCHED
from peerage.engine.record.records import Settled
from peerage.ledger import Exchange, Ledger
from peerage.ledger.forms.codec import by_hex, read_fixture, read_said
from peerage.ledger.topics.secret import read_secret
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient
from peerage.settings import PlayerSettings
from peerage.standings.verify import verify

DEAD, RENEWED = "p3", "p5"
WHY = "access denied (401); check the key"
FAULTS = {"refusing": 0.03, "malformed": 0.05}


class First:
    """House players, of which one is dead and one is served by another model in some matches."""

    def __init__(self, settings: PlayerSettings) -> None:
        self._house = HouseClient(settings)
        self._name = settings.name

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        if self._name == DEAD:
            raise PlayerError(f"{DEAD}: {WHY}", kind="permanent")
        said = self._house.answer_now(call)
        model = f"model-{int(call.seed[:8], 16) % 2}" if self._name == "p1" else ""
        return msgspec.structs.replace(said, snapshot=model)


class Again:
    """A player that says what is on record of it."""

    def __init__(self, replies: dict[tuple[str, str, str], Exchange], name: str) -> None:
        self._replies = replies
        self._name = name

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        if call.key == "probe":
            raise PlayerError(f"{self._name}: {WHY}", kind="permanent")
        row = self._replies[call.seed, call.key, self._name]
        said = read_said(row.reply or b"")
        if said.status == "void":
            raise PlayerError(said.reason.removeprefix(BENCHED), kind="permanent")
        return Answer(
            said.words,
            (row.latency_ms or 0) / 1000,
            said.input_tokens,
            said.output_tokens,
            snapshot=said.model,
            refused=said.status == "refused",
            hidden=said.hidden,
        )


def written(folder: Path, version: int) -> Path:
    players = house(7, price={"input": 1.0, "output": 4.0}, faults=FAULTS)
    if version > 1:
        players[5] |= {"version": version, "model": "house:0.95"}
    return write_arena(folder, players, seed=None, engine={"concurrency": 1}, pairing={"window": 6})


def to_the_end(folder: Path, clients: Callable[[PlayerSettings], Client]) -> None:
    """Play until no match is under way."""
    for matches in (24, *range(25, 40)):
        play(folder, matches, clients=clients)
        with closing(ledger_of(folder)) as ledger:
            issued, recorded = ledger.heads()
        if issued == recorded:
            return
    raise AssertionError("matches are always under way")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Played under two versions of a player, with another benched, and its secret disclosed."""
    folder = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("peerage.ledger.topics.secret.secrets.token_hex", lambda size: "5e" * size)
        play(written(folder, 1), 12, clients=First)
    written(folder, 2)
    to_the_end(folder, First)
    done = CliRunner().invoke(app, ["disclose", "--yes", "--dir", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


def bodies(ledger: Ledger) -> dict[str, Any]:
    """Everything that was played, without times: the bytes as stored."""
    streams = {
        stream: [row.body for row in ledger.amendments(stream)] for stream in ("benches", "players", "models")
    }
    return {
        "fixtures": [row.body for row in ledger.fixtures()],
        "exchanges": sorted(
            (row.match, row.key, row.player, row.request, row.reply)
            for row in ledger.exchanges(1)
            if row.reply is not None
        ),
        "records": [(row.number, row.body, row.chain) for row in ledger.records()],
        **streams,
    }


def test_the_arena_holds_what_it_is_about(arena: Path) -> None:
    with closing(ledger_of(arena)) as ledger:
        assert {json.loads(row.body)["event"] for row in ledger.amendments("benches")} == {"benched"}
        assert f"{RENEWED} v2" in {json.loads(row.body)["name"] for row in ledger.amendments("players")}
        assert len(list(ledger.amendments("models"))) == 2
        assert (secret := read_secret(ledger)) is not None
        assert secret.disclosed
        assert verify(ledger).ok


def test_replay_gives_every_record_bit_by_bit(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled = []

    def settle(*given: Any) -> Settled:
        settled.append(real(*given))
        return settled[-1]

    real = replaying.settle
    monkeypatch.setattr(replaying, "settle", settle)
    with closing(ledger_of(arena)) as ledger:
        report = replay(ledger)
        assert report.ok, report.differences
        assert report.complete
        assert report.recomputed > 10
        assert [one.body for one in settled] == [row.body for row in ledger.records()]
        assert [one.summary for one in settled] == list(ledger.summaries())


def test_the_disclosed_secret_and_the_replies_give_it_again(
    arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(ledger_of(arena)) as ledger:
        first = bodies(ledger)
        secret = read_secret(ledger)
        texts = by_hex(ledger.texts())
        keys = {row.number: read_fixture(row.body, texts).seed for row in ledger.fixtures()}
        replies = {(keys[row.match], row.key, row.player): row for row in ledger.exchanges(1) if row.reply}
        runs = [json.loads(row.body) for row in ledger.amendments("players")]
        renewed = next(one["after_match"] for one in runs if one["name"] == f"{RENEWED} v2")
    assert secret is not None
    monkeypatch.setattr("peerage.ledger.topics.secret.secrets.token_hex", lambda size: secret.value)

    def again(settings: PlayerSettings) -> Client:
        return Again(replies, settings.name)

    written(tmp_path, 1)
    for at in (3, 6, 9, 12):
        play_stopping_at(tmp_path, at, 0.0, again, times=1)
        play(tmp_path, at, clients=again)
    assert head(tmp_path)[0] == renewed
    to_the_end(written(tmp_path, 2), again)
    with closing(ledger_of(tmp_path)) as ledger:
        second = bodies(ledger)
        assert verify(ledger).ok
    for what, rows in first.items():
        assert second[what] == rows, what
