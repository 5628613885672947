"""Replies that end at their token limit: asked for again with more room, on record, replayed, and told."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.engine.arenas import head, house, ledger_of, play, total_spent, write_arena
from tests.engine.games import drive
from tests.servers.openai_server import OpenAIServer, completion, sensible
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.engine.again.replay import replay
from peerage.engine.match.driver import Driver
from peerage.game.match import GameTable, Outcome
from peerage.game.protocol import REPAIR, ROOM, Ask, Choice, Message, Reply, Text, first_key
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import read_said
from peerage.render.html.writer import Html
from peerage.site.reading import Site
from peerage.views.match.match import match_view, transcript, view_of

VERDICT = Choice("verdict", ("A", "B"))
GOOD = '{"reason": "r", "verdict": "B"}'
HALF = '{"reason": "because the first'
NANO = 10**9


def cut(text: str, at: int = 100, **more: Any) -> Reply:
    return Reply("ok", text, cut=at, input_tokens=10, output_tokens=at, cost_nano=at, **more)


def asking(expects: Any = VERDICT, exact: bool = False) -> tuple[Driver, list[Reply], Ask]:
    """A game that asks one thing; what it gets goes into the list."""
    got: list[Reply] = []

    def play(_: GameTable) -> Generator[Any, Any, Outcome]:
        message = Message("user", "Which?")
        got.append((yield Ask("A", "k", "contestant", (message,), expects, 100, 0.5, exact=exact)))
        return Outcome(scores={"A": 1.0, "B": 0.0})

    driver = drive(play)
    (ask,) = driver.start()
    assert isinstance(ask, Ask)
    return driver, got, ask


@pytest.mark.parametrize(("expects", "text"), [(VERDICT, HALF), (VERDICT, ""), (Text(), "Half of an")])
def test_a_cut_reply_is_asked_for_again_with_twice_the_tokens_and_not_repaired(
    expects: Any, text: str
) -> None:
    driver, got, ask = asking(expects)
    (again,) = driver.feed("k", cut(text))
    assert isinstance(again, Ask)
    assert (again.key, again.max_tokens) == ("k" + ROOM, 200)
    assert (again.messages, again.expects, again.temperature, again.role, again.to) == (
        ask.messages, ask.expects, ask.temperature, ask.role, ask.to,
    )  # fmt: skip
    assert driver.feed(again.key, Reply("ok", GOOD, input_tokens=10, output_tokens=30, cost_nano=30)) == []
    (reply,) = got
    assert (reply.status, reply.text, reply.key) == ("ok", GOOD, "k" + ROOM)
    assert (reply.input_tokens, reply.output_tokens, reply.cost_nano) == (20, 130, 130)
    assert driver.outcome is not None


@pytest.mark.parametrize(
    ("expects", "reply", "exact"),
    [
        (VERDICT, cut(GOOD), False),
        (Text(8), cut("x" * 8), False),
        (Text(), cut("Half of an"), True),
        (Text(), cut("Half of an", final=True), False),
        (Text(), Reply("refused", "no", cut=100), False),
    ],
    ids=["whole object", "whole text", "exact", "no more room", "refused"],
)
def test_it_is_not_where_nothing_is_missing_or_to_be_gained(expects: Any, reply: Reply, exact: bool) -> None:
    driver, got, _ = asking(expects, exact)
    assert driver.feed("k", reply) == []
    assert got[0].status == reply.status
    assert got[0].cut == 100


@pytest.mark.parametrize("more", [{"exact": True}, {"final": True}])
def test_what_cannot_be_used_and_has_no_more_room_blames_the_limit(more: dict[str, bool]) -> None:
    driver, got, _ = asking(exact=more.get("exact", False))
    assert driver.feed("k", cut(HALF, final=more.get("final", False))) == []
    assert (got[0].status, got[0].reason) == ("invalid", "cut at its limit of 100 tokens")


def test_cut_twice_it_is_invalid_for_its_limit_and_not_for_its_format() -> None:
    driver, got, _ = asking()
    (again,) = driver.feed("k", cut(HALF))
    assert driver.feed(again.key, cut(HALF, 200)) == []
    assert (got[0].status, got[0].reason) == ("invalid", "cut at its limit of 200 tokens")
    assert got[0].cost_nano == 300


@pytest.mark.parametrize("second", [cut("", 200), Reply("void", reason="down", cost_nano=0)])
def test_text_that_was_cut_counts_as_it_is_when_more_room_gives_nothing_better(second: Reply) -> None:
    driver, got, _ = asking(Text())
    (again,) = driver.feed("k", cut("Half of an"))
    assert driver.feed(again.key, second) == []
    assert (got[0].status, got[0].text, got[0].key, got[0].cut) == ("ok", "Half of an", "k", 100)


def test_text_that_is_cut_again_counts_as_it_is() -> None:
    driver, got, _ = asking(Text())
    (again,) = driver.feed("k", cut("Half of an"))
    assert driver.feed(again.key, cut("Half of an answer that", 200)) == []
    assert (got[0].status, got[0].text) == ("ok", "Half of an answer that")


def test_a_repair_that_is_cut_ends_as_cut_and_a_second_reply_is_never_followed_by_a_third() -> None:
    driver, got, _ = asking()
    (repair,) = driver.feed("k", Reply("ok", "I think so."))
    assert repair.key == "k" + REPAIR
    assert driver.feed(repair.key, cut(HALF)) == []
    assert got[0].reason == "cut at its limit of 100 tokens"
    driver, got, _ = asking()
    (again,) = driver.feed("k", cut(HALF))
    assert driver.feed(again.key, Reply("ok", "I think so.")) == []
    assert got[0].status == "invalid"
    assert "verdict" in got[0].reason


def test_first_keys() -> None:
    assert [first_key(f"a/b{end}") for end in ("", REPAIR, ROOM)] == ["a/b"] * 3


# ------------------------------------------------------------------------------------------- whole arenas


class Thinker:
    """Judges think for `needs` tokens before they say anything; authors and contestants do not think."""

    def __init__(self, needs: int) -> None:
        self.needs = needs
        self.limits: list[int] = []

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        if "verdict" not in schema.get("properties", {}):
            return await sensible(request, body)
        limit = body.get("max_tokens") or body["max_completion_tokens"]
        self.limits.append(limit)
        spent = min(limit, self.needs + 20)
        whole = spent > self.needs
        usage = {
            "prompt_tokens": 11, "completion_tokens": spent, "total_tokens": 11 + spent,
            "completion_tokens_details": {"reasoning_tokens": min(spent, self.needs)},
        }  # fmt: skip
        text = json.dumps({"reason": "r", "verdict": "A"}) if whole else ""
        return web.json_response(completion(text, finish="stop" if whole else "length", usage=usage))


def arena(folder: Path, server: OpenAIServer, model: str = "tiny", **sections: Any) -> Path:
    players = [
        {
            "name": f"p{place}",
            "model": f"openai:{model}",
            "base_url": server.url,
            "price": {"input": 0, "output": 10},
            **sections.pop("player", {}),
        }
        for place in range(6)
    ]
    return write_arena(folder, players, **sections)


def replies(folder: Path) -> dict[tuple[int, str], Any]:
    ledger = ledger_of(folder)
    try:
        return {(row.match, row.key): read_said(row.reply) for row in ledger.exchanges(1) if row.reply}
    finally:
        ledger.close()


async def test_judges_that_think_too_long_get_more_room_and_their_matches_are_decided(tmp_path: Path) -> None:
    thinker = Thinker(needs=900)
    async with OpenAIServer() as server:
        server.always(thinker)
        with open_arena(arena(tmp_path, server)) as opened:
            report = await opened.play(4)
    assert report.settled == 4
    assert {600, 1200} == set(thinker.limits)
    found = replies(tmp_path)
    first = {key: said for key, said in found.items() if said.cut}
    # For two judges in opposite orders "A" is another answer, so the third is asked, in both orders.
    assert len(first) == 4 * (2 + 2)
    for (match, key), said in first.items():
        assert (said.cut, said.truncated, said.reasoning_tokens) == (600, True, 600)
        assert found[match, key + ROOM].text == '{"reason": "r", "verdict": "A"}'
    assert not any(key.endswith(REPAIR) for _, key in found)
    ledger = ledger_of(tmp_path)
    assert replay(ledger).ok
    ledger.close()
    with open_arena(tmp_path) as opened:
        told = opened.stats().players
        match = match_view(opened.ledger, 1)
    assert sum(player.cut for player in told) == len(first)
    assert sum(player.invalid + player.repaired for player in told) == 0
    assert sum(player.reasoning_tokens for player in told) == len(first) * (600 + 900)
    assert {one.cut for one in match.exchanges if one.role == "judge"} == {0, 600}
    shown = CliRunner().invoke(app, ["stats", "--dir", str(tmp_path)]).output
    assert "Cut" in shown


async def test_known_thinkers_have_room_from_the_start_and_the_plan_counts_it(tmp_path: Path) -> None:
    thinker = Thinker(needs=900)
    async with OpenAIServer() as server:
        server.always(thinker)
        with open_arena(arena(tmp_path / "a", server, "qwen3-8b")) as opened:
            plan = opened.plan(4)
            await opened.play(4)
            cards = opened.ledger.amendments("players")
            card = json.loads(next(iter(cards)).body)
        with open_arena(arena(tmp_path / "b", server)) as opened:
            without = opened.plan(4)
    assert set(thinker.limits) == {600 + 8192}
    assert not any(said.cut for said in replies(tmp_path / "a").values())
    assert (card["thinking_tokens"], card["thinking_because"]) == (8192, "a model that usually thinks")
    # Each usual call, and its second one with twice the room.
    assert plan.worst_usd - without.worst_usd > plan.calls * 3 * 8192 * 1e-5
    thought = sum(player.output_tokens for player in plan.players) - sum(
        player.output_tokens for player in without.players
    )
    # A sixteenth of the room, by default; each player's calls are shown rounded.
    assert thought == pytest.approx(plan.calls * 512, abs=len(plan.players) * 512 / 2)
    assert total_spent(tmp_path / "a") <= plan.worst_usd * NANO


async def test_a_model_that_its_probe_saw_think_has_room_in_this_run_and_in_later_ones(
    tmp_path: Path,
) -> None:
    thinker = Thinker(needs=900)

    async def probed(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        if "answer" not in schema.get("properties", {}):
            return await thinker(request, body)
        usage = {
            "prompt_tokens": 9, "completion_tokens": 32, "total_tokens": 41,
            "completion_tokens_details": {"reasoning_tokens": 32},
        }  # fmt: skip
        return web.json_response(completion("", finish="length", usage=usage))

    async with OpenAIServer() as server:
        server.always(probed)
        with open_arena(arena(tmp_path, server, engine={"probe": True})) as opened:
            before = opened.plan(4)
            await opened.play(1)
            after = opened.plan(4)
        assert set(thinker.limits) == {600 + 8192}
        with open_arena(arena(tmp_path, server)) as opened:
            await opened.play(2)
            newest = {card["name"]: card for card in map(json.loads, _cards(opened.ledger))}
    assert set(thinker.limits) == {600 + 8192}
    assert {card["thinking_because"] for card in newest.values()} == {"it was seen to think"}
    assert {player.thinking_tokens for player in before.players} == {0}
    assert {player.thinking_tokens for player in after.players} == {8192}


def _cards(ledger: Ledger) -> list[bytes]:
    return [one.body for one in ledger.amendments("players")]


async def test_cut_beyond_all_room_ends_as_cut_and_is_told_so(tmp_path: Path) -> None:
    async with OpenAIServer() as server:
        server.always(Thinker(needs=10_000))
        with open_arena(arena(tmp_path, server)) as opened:
            await opened.play(1)
            match = match_view(opened.ledger, 1)
    judged = [one for one in match.exchanges if one.role == "judge"]
    assert {(one.status, one.reason) for one in judged} == {
        ("invalid", "cut at its limit of 600 tokens"),
        ("invalid", "cut at its limit of 1200 tokens"),
    }
    shown = CliRunner().invoke(app, ["match", "1", "--full", "--dir", str(tmp_path)]).output
    assert match.status == "inconclusive"
    assert "cut at its limit of 1200 tokens" in shown
    assert "no verdict" not in shown


async def test_a_players_own_limit_is_kept_and_asks_nothing_twice(tmp_path: Path) -> None:
    thinker = Thinker(needs=900)
    async with OpenAIServer() as server:
        server.always(thinker)
        with open_arena(arena(tmp_path, server, player={"max_tokens": 300})) as opened:
            await opened.play(1)
    p0 = [said for (_, key), said in replies(tmp_path).items() if said.cut == 300]
    assert all(said.final for said in p0)
    assert not any(key.endswith(ROOM) and said.cut == 300 for (_, key), said in replies(tmp_path).items())


@pytest.mark.parametrize("stop_after", [7, 20])
async def test_an_interrupted_run_goes_on_with_what_it_has(tmp_path: Path, stop_after: int) -> None:
    async with OpenAIServer() as server:
        server.always(Thinker(needs=900))
        with open_arena(arena(tmp_path / "whole", server)) as opened:
            await opened.play(2)
        once = len(server.requests)
        server.requests.clear()
        left = stop_after

        async def stopping(runner: Any) -> None:
            while len(server.requests) < left:
                await asyncio.sleep(0.001)
            runner.stop()

        with open_arena(arena(tmp_path / "parts", server)) as opened:
            await opened.play(2, beside=stopping)
        with open_arena(tmp_path / "parts") as opened:
            await opened.play(2)
        assert len(server.requests) == once
    roots = []
    for name in ("whole", "parts"):
        ledger = ledger_of(tmp_path / name)
        assert replay(ledger).ok
        # Which answer a judge sees first is drawn anew in each arena.
        roots.append(
            Counter([(match, re.sub("A-B|B-A", "-", key)) for match, key in replies(tmp_path / name)])
        )
        ledger.close()
        assert head(tmp_path / name)[0] == 2
    assert roots[0] == roots[1]


@pytest.mark.parametrize("budget", [0.5, 1.0, 3.0])
async def test_no_budget_is_exceeded_by_more_room(tmp_path: Path, budget: float) -> None:
    async with OpenAIServer() as server:
        server.always(Thinker(needs=900))
        with open_arena(arena(tmp_path, server, budget=budget)) as opened:
            await opened.play(6)
    assert total_spent(tmp_path) <= budget * NANO


def test_house_players_have_no_room_and_their_cards_do_not_change(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path, house(5))) as opened:
        assert all(player.thinking_tokens == 0 for player in opened.plan(3).players)


def test_cut_answers_are_told_in_matches_pages_and_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.games.duel.rules.CHARS_PER_TOKEN", 800)
    rules = {"committee": 2, "judges": 3, "topics": ["tides"], "max_tokens": 5}
    play(write_arena(tmp_path, house(6), rules=rules), 1)
    found = replies(tmp_path)
    assert {said.cut for (_, key), said in found.items() if key in ("answer/A", "answer/B")} == {5}
    assert {said.cut for (_, key), said in found.items() if key.endswith(ROOM)} == {10}
    text = CliRunner().invoke(app, ["match", "1", "--full", "--dir", str(tmp_path)]).output
    assert "asked again with more room" in text
    assert "cut at its limit of 5 tokens" in text
    assert "cut at its limit of 10 tokens" in text
    with open_arena(tmp_path) as opened:
        told = opened.stats().players
        assert (sum(one.cut for one in told), sum(one.invalid for one in told)) == (4, 0)
        (shown,) = Site.open(tmp_path).matches(1, 1)
    page = Html().blocks([transcript(view_of(shown, shown.verdict, shown.blocks))])
    assert page.count("cut at its limit of 5 tokens") == 2
    assert page.count("asked again with more room") == 2
