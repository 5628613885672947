"""What it takes to be sure, on the page of a board."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena

from peerage.arena import open_arena
from peerage.ledger.topics.votes import PeopleVotes
from peerage.scheduling.further import MatchForecast, forecast
from peerage.site.pages.router import page
from peerage.site.reading import Site
from peerage.views.plan import outlook


def test_every_board_says_it_and_it_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hands = Path(__file__).parents[2] / "engine" / "hands.py"
    (tmp_path / "hands.py").write_text(hands.read_text("utf-8"), "utf-8")
    write_arena(tmp_path, house(4), game="./hands.py", rules={"seats": 3}, until="best known")
    play(tmp_path, 16)
    looked = 0

    def counted(*given: object, **more: object) -> MatchForecast:
        nonlocal looked
        looked += 1
        return forecast(*given, **more)  # type: ignore[arg-type]

    with open_arena(tmp_path) as arena:
        assert arena.leaderboard()[0].track == "trueskill"
        site = Site(arena.settings, arena.ledger, PeopleVotes(arena.ledger.address, tmp_path))
        found = arena.outlook()
        monkeypatch.setattr(outlook, "forecast", counted)
        shown = [page(site, path) for path in ("index.html", "leaderboard/bt.html")]
    assert looked == 1
    for one in shown:
        assert one is not None
        assert "% sure; " in one.body.decode()
        assert all(f"<p>{line}</p>" in unescape(one.body.decode()) for line in found.lines)
