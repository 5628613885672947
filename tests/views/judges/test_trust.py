"""Whether a ranking by judges can be trusted: the decisive reason first, on the page and in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.arenas import play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.judging.marks.ballots import BALLOTS, Ballots, ballots_in
from peerage.judging.marks.marks import MarkRows
from peerage.judging.measures.favours.search import Favour
from peerage.site.pages.router import body
from peerage.site.reading import Site
from peerage.views.judges.measures import Measure
from peerage.views.judges.trust import QUESTION, answer

EMPTY = ballots_in(MarkRows(BALLOTS).columns())


def alpha(value: float, units: int = 100) -> Measure:
    return Measure("alpha", value, None, None, units, "")


def flipping(share: float) -> Ballots:
    rows = MarkRows(BALLOTS)
    for at in range(100):
        rows.add((str(at), "judge", "tie"), (int(at < 100 * share), 2, 0, 1, 1, 0), (1.0,))
    return ballots_in(rows.columns())


def told(figures: list[Measure] | None = None, **more: Any) -> str:
    stated = {"changing": (), "ballots": EMPTY, "favours": (), "mute": {}, "compared": True} | more
    return answer(figures=[alpha(0.7)] if figures is None else figures, **stated)


def test_what_decides_first_place_is_said_before_what_is_odd_about_a_judge() -> None:
    odd: dict[str, Any] = {"mute": {"odd": "coin", "new": "tied"}}
    assert told() == "Yes: no single judge decides first place, and none shows favouritism."
    assert told(**odd) == "Partly: 1 judge cannot tell answers apart."
    assert told(mute={"new": "tied"}).startswith("Yes"), "who voted once or twice is not accused"
    assert (
        told(changing=[("odd", "second")], **odd) == "Partly: without the judge odd, second would be first."
    )
    assert told(changing=[("odd", "b"), ("c", "b")]).startswith("Partly: 2 judges could each change")
    assert told(ballots=flipping(0.5), **odd) == "Partly: 50% of verdicts flip with the order of the answers."
    assert told(ballots=flipping(0.2)).startswith("Yes")
    assert told(otherwise="b") == "Partly: by the judges alone b would be first."
    assert told([alpha(0.1)], changing=[("odd", "b")]).startswith("No: the judges hardly agree")
    assert told([alpha(0.3)]).startswith("Yes")
    assert told(contradicting=True) == "No: two blocks of judges contradict each other."
    assert told([alpha(0.1, 5)], contradicting=True) == "Not yet: too few matches were judged (5 of 20)."
    assert told([]) == "Not yet: too few matches were judged (0 of 20)."
    assert told(compared=False).startswith("Not yet")
    assert all(len(told(**more).split()) <= 14 for more in (odd, {}, {"contradicting": True}))


def test_favouritism_names_the_first_pair() -> None:
    pair = Favour("ada", "bob", 50, 0.2, 0.001, 0.01, True, False)
    assert told(favours=[pair]) == "Partly: ada favours bob beyond what quality explains."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("judged"))
    play(made, 25)
    return made


def test_page_and_terminal_begin_with_the_same_answer(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["stats", "--of", "judges", "--dir", str(folder)]).stdout
    site = Site.open(folder)
    page = (body(site, "judges.html") or b"").decode()
    report = site.judges
    site.close()
    before = [line for line in shown.split("\n") if line][: 1 + len(report.cards)]
    assert len(before) <= 5
    assert before[0] == report.answer
    assert f"<h1>{QUESTION}</h1>" in page
    assert report.answer in page
    for line, card in zip(before[1:], report.cards, strict=True):
        assert line == f"{card.title}: {card.value} ({card.about})"
        assert f"<dd>{card.value}<small" in page
    assert np.isfinite(float(report.cards[0].value))
    outside = page[page.index("<main") : page.index("</main>")]
    assert outside.count("<details") >= 3
