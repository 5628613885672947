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
from peerage.engine.looks import Look, claimed, claims_of, look, looks, series_of
from peerage.engine.replay import replay
from peerage.ledger import open_ledger

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
            assert set(one.claims) <= claims_of(matches[: one.matches], series_of(arena.ledger))
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
    assert [(one.about, one.recorded) for one in differences] == [
        (f"claims after {made.matches} matches", "p4 above p0")
    ]
