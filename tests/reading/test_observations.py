"""What stretches of matches tell, put together, is what all of them tell."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.views.conftest import recorded

from peerage.arena import Arena, open_arena
from peerage.judging.marks.ballots import ballots_in
from peerage.judging.marks.marks import marks_in
from peerage.reading.matches import Matches
from peerage.reading.observations import Observations, observe, together


@pytest.fixture(scope="module")
def whole(folder: Path) -> Observations:
    with open_arena(folder, create=False) as arena:
        return observe(Matches(arena.ledger).read(1, recorded(arena)))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_stretches_together_tell_what_the_whole_does(arena: Arena, whole: Observations, size: int) -> None:
    matches, last = Matches(arena.ledger), recorded(arena)
    parts = [observe(matches.read(first, min(first + size - 1, last))) for first in range(1, last + 1, size)]
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(parts), type=list[Observations])
    assert together(kept) == whole
    assert whole.matches == last
    assert len(ballots_in(whole.ballots)) > last
    assert len(marks_in(whole.marks)) > last


def test_putting_together_changes_no_part(arena: Arena) -> None:
    matches = Matches(arena.ledger)
    parts = [observe(matches.read(1, 20)), observe(matches.read(21, 40))]
    before = msgspec.msgpack.encode(parts)
    together(parts)
    assert msgspec.msgpack.encode(parts) == before


def test_nothing_tells_nothing() -> None:
    assert together([]) == Observations()
