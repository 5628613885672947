"""Charts drawn in a process of their own."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from peerage.site.chart_process import Draughtsman, DrawingError
from peerage.site.charts import drawn, frontier

OFFERS = [{"player": "ann", "cost": 1.0, "rating": 1500.0, "low": 1400.0, "high": 1600.0, "best": True}]


def test_another_process_draws_the_same_until_it_is_killed() -> None:
    spec = partial(frontier, OFFERS)
    with Draughtsman() as draw:
        assert draw(spec, "Cost") == drawn(spec, "Cost")
        assert draw(spec, "Price") == drawn(spec, "Price")
        draw._process.kill()
        with pytest.raises(DrawingError, match="try again"):
            draw(spec, "Cost")


def test_no_module_is_taken_from_the_folder_it_is_called_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("altair", "json", "peerage", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tmp_path)
    with Draughtsman() as draw:
        assert draw(partial(frontier, OFFERS), "Cost").svg
