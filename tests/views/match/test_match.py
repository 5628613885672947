"""A match as it is shown: the whole of it, in the order asked, whatever became of it."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from tests.views.conftest import recorded
from tests.views.leaderboard.test_board import copied

from peerage.arena import Arena, open_arena
from peerage.game.blocks import Quoted, ScoreLine, TaskText, VoteStrip
from peerage.game.match import Totals
from peerage.game.protocol import SANDBOX
from peerage.games import GAMES
from peerage.ledger import LedgerError
from peerage.ledger.forms.merkle import GENESIS, digest, link
from peerage.views.match.match import MatchView, tasks
from peerage.views.match.numbers import numbers_of


def matches(arena: Arena) -> list[MatchView]:
    return [arena.match(number) for number in range(1, recorded(arena) + 1)]


def judged(arena: Arena) -> MatchView:
    return next(match for match in matches(arena) if match.status == "done" and "ballots" in match.detail)


def reply_to_b(number: int) -> str:
    return f"SELECT id FROM intents WHERE match = {number} AND key = 'answer/B'"


def test_everything_asked_and_said_is_there_once(arena: Arena) -> None:
    for match in matches(arena):
        rows = [row for row in arena.ledger.exchanges(match.number, match.number) if row.reply is not None]
        assert sorted(one.key for one in match.exchanges) == sorted(row.key for row in rows)
        said = {row.key: msgspec.json.decode(row.reply or b"") for row in rows}
        players = {seat.label: seat.player for seat in match.seats}
        for one in match.exchanges:
            assert one.reply == said[one.key].get("text", "")
            assert one.player == players[one.label]
            assert one.request[-1][0] == "user"


def test_exchanges_stand_in_the_order_asked(arena: Arena) -> None:
    for match in matches(arena):
        rows = arena.ledger.exchanges(match.number, match.number)
        assert [one.key for one in match.exchanges] == list(dict.fromkeys(row.key for row in rows))
        roles = [one.role for one in match.exchanges if one.role in ("contestant", "judge")]
        assert roles == sorted(roles, key=["contestant", "judge"].index)


def test_texts_reach_the_next_player_in_full(arena: Arena) -> None:
    match = judged(arena)
    said = {one.key: one.reply for one in match.exchanges}
    verdict = next(one for one in match.exchanges if one.role == "judge")
    prompt = verdict.request[-1][1]
    assert said["answer/A"] in prompt
    assert said["answer/B"] in prompt
    assert tasks(match.blocks)["question"] in prompt
    assert tasks(match.blocks)["question"] in said.values()


def test_what_is_quoted_is_what_was_said(arena: Arena) -> None:
    for match in matches(arena):
        said = {one.key: one for one in match.exchanges}
        for block in match.blocks:
            if isinstance(block, Quoted):
                one = said[block.key]
                assert block.label == one.label
                assert block.text in (one.reply, one.choice_reason)
            if isinstance(block, TaskText) and block.key:
                assert block.text == said[block.key].reply


def test_verdicts_and_votes_stand_by_their_reasons(arena: Arena) -> None:
    match = judged(arena)
    lines = {
        vote.label: vote for block in match.blocks if isinstance(block, VoteStrip) for vote in block.votes
    }
    for ballot in match.detail["ballots"]:
        for order, verdict in ballot["verdicts"].items():
            key = f"{ballot['judge']}/{order}"
            given = [one for one in lines[ballot["judge"]].given if one]
            shown = next(one for one in given if one.key.startswith(key))
            assert verdict == shown.choice
            chosen = next(one for one in match.exchanges if one.key == shown.key)
            if chosen.status == "ok" and verdict != "tie":
                assert verdict == order.split("-")["AB".index(chosen.choice)]
    [accepted] = [draft for draft in match.detail["drafts"] if draft["accepted"]]
    for label, vote in accepted["votes"].items():
        key = f"vote/{accepted['turn']}/{accepted['draft']}/{label}"
        assert [one.choice for one in lines[label].given if one and one.key.startswith(key)] == [vote]


def test_what_it_came_to_is_what_is_on_record(arena: Arena) -> None:
    for match in matches(arena):
        [summary] = arena.ledger.summaries(match.number, match.number)
        assert match.status == summary.status
        assert tuple(match.scores.values()) == summary.scores
        assert match.topic == summary.topic
        assert sum(total.cost_nano for total in match.totals.values()) == summary.spent_nano
        if summary.scores:
            assert tuple(match.ratings["raw"][player][1] for player in summary.players) == summary.raw
        else:
            assert match.ratings == {}


def test_digests_can_be_checked_from_the_transcript(arena: Arena) -> None:
    before = GENESIS.hex()
    for match in matches(arena):
        [row] = arena.ledger.records(match.number, match.number)
        [issued] = arena.ledger.fixtures(match.number, match.number)
        assert match.digests.fixture == digest(issued.body)
        assert match.digests.record == sha256(row.body).hexdigest()
        assert match.digests.previous == before
        assert match.digests.chain == link(bytes.fromhex(before), row.body).hex()
        leaves = [bytes.fromhex(one.digest) for one in sorted(match.exchanges, key=lambda one: one.key)]
        assert sha256(b"\x05" + b"".join(leaves)).hexdigest() == match.digests.root
        before = match.digests.chain


def test_every_status_tells_what_went_wrong(arena: Arena) -> None:
    found = {one.status: one for match in matches(arena) for one in match.exchanges}
    assert found.keys() == {"ok", "invalid", "refused", "void"}
    assert all(found[status].reason for status in ("invalid", "refused", "void"))


def test_hidden_qualities_stay_hidden(arena: Arena) -> None:
    for match in matches(arena)[:10]:
        assert "quality" not in json.dumps(match.as_dict())
        assert json.loads(json.dumps(match.as_dict())) == match.as_dict()


def test_a_match_under_way_shows_what_there_is(folder: Path, tmp_path: Path, arena: Arena) -> None:
    whole = judged(arena)
    number = whole.number
    copied(
        folder,
        tmp_path,
        f"DELETE FROM records WHERE number = {number}",
        f"DELETE FROM intents WHERE match = {number} AND key LIKE 'judge/%'",
        f"DELETE FROM replies WHERE intent IN ({reply_to_b(number)})",
    )
    with open_arena(tmp_path, create=False) as cut:
        match = cut.match(number)
    assert match.status == "under way"
    assert (match.detail, match.scores, match.ratings, match.totals) == ({}, {}, {}, {})
    assert (match.digests.root, match.digests.chain, match.at_ms) == ("", "", None)
    assert [(one.key, one.reply) for one in match.exchanges if one.status == "waiting"] == [("answer/B", "")]
    assert match.exchanges == (
        *[one for one in whole.exchanges if one.role in ("author", "committee") or one.key == "answer/A"],
        match.exchanges[-1],
    )


def test_a_match_that_lost_a_reply_is_refused(folder: Path, tmp_path: Path, arena: Arena) -> None:
    number = judged(arena).number
    copied(folder, tmp_path, f"DELETE FROM replies WHERE intent IN ({reply_to_b(number)})")
    with open_arena(tmp_path, create=False) as cut, pytest.raises(LedgerError, match=f"match {number}: "):
        cut.match(number)


@pytest.mark.parametrize("game", ["unknown", "broken", "newer"])
def test_a_match_whose_game_cannot_show_it_is_shown_all_the_same(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    known = judged(arena)
    spec = GAMES["duel"]
    games = {
        "unknown": {},
        "broken": {"duel": replace(spec, show=lambda fixture, outcome, replies: [outcome.detail["no"]])},
        "newer": {"duel": replace(spec, version=99)},
    }
    monkeypatch.setattr("peerage.reading.match.installed", games[game].get)
    shown = arena.match(known.number)
    assert shown.exchanges == known.exchanges
    assert ("not recomputable here" in shown.note) == (game != "broken")
    text = json.dumps(msgspec.to_builtins(shown.blocks))
    for one in known.exchanges:
        if one.key.startswith("answer/") and one.status == "ok":
            assert json.dumps(one.reply) in text
    scored = [block.score for block in shown.blocks if isinstance(block, ScoreLine)]
    assert scored == sorted(known.scores.values(), reverse=True) or (game == "newer" and known.why)


def test_a_number_that_there_is_not(arena: Arena, tmp_path: Path, folder: Path) -> None:
    issued, begun = arena.ledger.heads()
    assert issued > begun, "a round was issued of which some matches never began: they are not offered"
    for number in (0, -3, issued + 1):
        with pytest.raises(LedgerError, match=f"no match {number}: this arena has matches 1 to {begun}$"):
            arena.match(number)
    empty = copied(folder, tmp_path, *[f"DELETE FROM {table}" for table in ("fixtures", "records")])
    with open_arena(empty) as opened, pytest.raises(LedgerError, match="nothing was played yet"):
        opened.match(1)


def test_a_table_of_more_than_two_was_not_paired_by_elo() -> None:
    def titles(track: str) -> list[str]:
        return [of.title for of in numbers_of((), {}, {}, {track: {"ada": (1.0, 2.0)}}, "dollars").columns]

    assert "Paired at" in titles("elo")
    assert "Paired at" not in titles("trueskill")


def test_the_sandbox_has_no_page() -> None:
    totals = {"ada": Totals(), SANDBOX: Totals()}
    found = numbers_of((), {}, totals, {"elo": {"ada": (1.0, 2.0)}}, "dollars")
    link = found.columns[0].link
    assert link is not None
    assert {row.player: link(row) for row in found.rows} == {"ada": ("player", "ada"), SANDBOX: None}
