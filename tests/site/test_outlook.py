"""What it takes to be sure, on the page of a board."""

from __future__ import annotations

from html import unescape
from pathlib import Path

from tests.engine.arenas import house, play, write_arena

from peerage.arena import open_arena
from peerage.ledger.votes import Votes
from peerage.site.pages import page
from peerage.site.reading import Site


def test_a_board_whose_errors_do_not_shrink_has_it_by_bradley_terry(tmp_path: Path) -> None:
    hands = Path(__file__).parents[1] / "engine" / "hands.py"
    (tmp_path / "hands.py").write_text(hands.read_text("utf-8"), "utf-8")
    write_arena(tmp_path, house(4), game="./hands.py", rules={"seats": 3}, until="best known")
    play(tmp_path, 16)
    with open_arena(tmp_path) as arena:
        assert arena.leaderboard()[0].track == "trueskill"
        site = Site(arena.settings, arena.ledger, Votes(arena.ledger.address, tmp_path))
        shown, found = page(site, "index.html"), arena.outlook()
    assert shown is not None
    text = unescape(shown.body.decode())
    assert found.lines[0].startswith("Until best known: ")
    assert all(f"<li>{line}</li>" in text for line in found.lines)
    assert found._repr_html_().count("<p>") == len(found.lines)
