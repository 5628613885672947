"""Looks on record: claims stay once made, and replay looks again."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from tests.engine.arenas import play, write_arena

from peerage.arena import open_arena
from peerage.engine.again.replay import replay
from peerage.ledger import amend, open_ledger
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import Scope
from peerage.standings.looks import TOPIC, Look, claimed, claims_of, clusters_of, look, looks
from peerage.standings.verify import verify

pytestmark = pytest.mark.usefixtures("plain_bodies")

SKILLS = (0.95, 0.9, 0.5, 0.1, 0.05)
PLAYERS = [{"name": f"p{at}", "model": f"house:{skill}"} for at, skill in enumerate(SKILLS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of an arena whose players are far apart, so that claims are made."""
    folder = write_arena(tmp_path_factory.mktemp("looks"), PLAYERS)
    play(folder, 40)
    play(folder, 120)
    return folder


def test_the_end_of_a_run_is_a_look_and_only_new_claims_are_written(folder: Path) -> None:
    with open_arena(folder) as arena:
        made = list(looks(arena.ledger))
        matches = list(arena.ledger.summaries())
        assert made
        assert [one.matches for one in made] == sorted({one.matches for one in made})
        assert ("p0", "p4") in claimed(arena.ledger)
        every = [claim for one in made for claim in one.claims]
        assert len(every) == len(set(every)), "a claim is written once"
        for one in made:
            assert set(one.claims) <= claims_of(matches[: one.matches], clusters_of(arena.ledger))
        with arena.ledger.runner():
            assert look(arena.ledger, 0) is None, "nothing new"
        assert replay(arena.ledger).ok


def test_a_claim_that_matches_do_not_prove_is_a_difference(folder: Path, tmp_path: Path) -> None:
    with open_arena(folder) as arena:
        made = next(looks(arena.ledger))
    copy = shutil.copytree(folder, tmp_path / "copy")
    forged = msgspec.json.encode(Look(made.matches, (*made.claims, ("p4", "p0"))))
    with closing(sqlite3.connect(copy / "arena.db", isolation_level=None)) as ledger:
        ledger.execute("UPDATE entries SET body = ? WHERE body = ?", [forged, msgspec.json.encode(made)])
    with closing(open_ledger("sqlite:///arena.db", copy, create=False)) as changed:
        differences = replay(changed).differences
        told = [str(problem) for problem in verify(changed).problems]
    assert [(one.about, one.recorded) for one in differences] == [
        (f"claims after {made.matches} matches", "p4 above p0")
    ]
    assert f"match {made.matches}: the claim made after it, p4 above p0, is not proven" in told


def test_a_look_at_matches_that_are_not_there_is_false(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    with closing(open_ledger("sqlite:///arena.db", copy, create=False)) as ledger:
        assert verify(ledger).ok
        with ledger.runner():
            amend(ledger, TOPIC, [Look(10_000, (("p0", "p4"),))], 0)
        assert [problem.match for problem in verify(ledger).problems] == [10_000]
        assert [one.about for one in replay(ledger).differences] == ["claims after 10,000 matches"]


def test_tables_of_all_matches_keep_a_claim_and_those_of_earlier_matches_do_not_know_it(
    folder: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    with open_arena(copy) as arena:
        matches = len(list(arena.ledger.summaries()))
        before = PlayedMatches(arena.ledger, Scope())
        place = before.players
        assert not before.claims.these[place["p0"], place["p1"]], "p0 and p1 are close"
        with arena.ledger.runner():
            amend(arena.ledger, TOPIC, [Look(matches, (("p0", "p1"),))], 0)
        after = PlayedMatches(arena.ledger, Scope())
        assert after.claims.these[place["p0"], place["p1"]]
        assert not after.until(matches - 1).claims.these[place["p0"], place["p1"]]
        topic = next(iter(after.topics))
        part = PlayedMatches(arena.ledger, Scope(topic=topic))
        assert not part.claims.these[part.players["p0"], part.players["p1"]]
