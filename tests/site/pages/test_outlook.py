"""What it takes to be sure, on the page of a board."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.engine.arenas import house, play, write_arena

from peerage.arena import open_arena
from peerage.game.blocks import Bar
from peerage.ledger.topics.votes import PeopleVotes
from peerage.scheduling.further import Further, MatchForecast, forecast
from peerage.site.pages.router import page
from peerage.site.reading import Site
from peerage.views.arena.leaderboard import concluded
from peerage.views.leaderboard.verdict import Verdict
from peerage.views.plan import outlook
from peerage.views.plan.outlook import Outlook

NO_VERDICT = Verdict(("Pick ada.",), "ada", (), (), (), 4, 60)


@pytest.mark.parametrize(
    ("clear", "proven_best", "words"),
    [
        (Further(26, 7, 89, 0.24), False, "sure; about 26 more matches ($0.24) make the pick clear"),
        (Further(1, 1, 1, None), False, "sure; about 1 more match makes the pick clear"),
        (Further(None, 17, None, None), False, "sure; at least 17 more matches make the pick clear"),
        (Further(0, 0, 0, None), False, "sure: the pick is clear"),
        (Further(0, 0, 0, None), True, "sure: this is proven"),
    ],
)
def test_the_bar_says_how_sure_the_pick_is_and_what_makes_it_clear(
    clear: Further, proven_best: bool, words: str
) -> None:
    verdict = replace(NO_VERDICT, chance=0.53, proven_best=proven_best)
    ahead = Outlook(("More.",), 60, "best known", Further(390, 150, 1800, 7.94), clear)
    bars = [block for block in concluded(verdict, verdict, ahead) if isinstance(block, Bar)]
    assert bars == [Bar(words, 0.53)]
    assert not [block for block in concluded(verdict, verdict, None) if isinstance(block, Bar)]


def test_the_bar_does_not_speak_of_matches_that_cannot_be_played() -> None:
    verdict = replace(NO_VERDICT, chance=0.53, proven_best=False)
    more = Further(26, 7, 89, 0.24)
    for left, words in (
        (0, "sure; all answers are compared: more tasks say more"),
        (30, "sure; about 26 more"),
    ):
        ahead = Outlook(("More.",), 60, "best known", more, more, left=left)
        (bar,) = [block for block in concluded(verdict, verdict, ahead) if isinstance(block, Bar)]
        assert bar.caption.startswith(words)
        assert ahead.shortage == (
            "" if left else "Answers are compared once, so no match is left: add tasks, or raise `samples`."
        )


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
