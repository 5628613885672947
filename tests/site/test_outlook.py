"""What it takes to be sure, on the page of a board."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena

from peerage.arena import open_arena
from peerage.ledger.votes import PeopleVotes
from peerage.ratings.kernels import Floats
from peerage.scheduling import further
from peerage.scheduling.posterior import Posterior, posterior
from peerage.site.pages import page
from peerage.site.reading import Site


def test_a_board_whose_errors_do_not_shrink_has_it_by_bradley_terry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = Path(__file__).parents[1] / "engine" / "hands.py"
    (tmp_path / "hands.py").write_text(hands.read_text("utf-8"), "utf-8")
    write_arena(tmp_path, house(4), game="./hands.py", rules={"seats": 3}, until="best known")
    play(tmp_path, 16)
    with open_arena(tmp_path) as arena:
        assert arena.leaderboard()[0].track == "trueskill"
        site = Site(arena.settings, arena.ledger, PeopleVotes(arena.ledger.address, tmp_path))
        found, looked = arena.outlook(), 0

        def counted(strength: Floats, met: Floats) -> Posterior:
            nonlocal looked
            looked += 1
            return posterior(strength, met)

        monkeypatch.setattr(further, "posterior", counted)
        shown = [page(site, path) for path in ("index.html", "leaderboard/bt.html")]
        assert looked == 1, "the page by Bradley-Terry says the same"
    assert found.lines[0] == "What it takes to be sure, by Bradley-Terry:"
    assert found.lines[1].startswith("Until best known: ")
    for one, by in zip(shown, (", by Bradley-Terry", ""), strict=True):
        assert one is not None
        assert f"<summary>What it takes to be sure{by}</summary>" in one.body.decode()
        assert all(f"<li>{line}</li>" in unescape(one.body.decode()) for line in found.lines[1:])
    assert found._repr_html_().count("<p>") == len(found.lines)
