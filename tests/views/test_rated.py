"""Anybody's results, rated into a table that notebooks show."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from tests.ratings.test_categories import votes

import peerage

ROWS = votes(300, 1, language="English") + votes(200, 2, "bob", language="Greek & <Latin>_1")


def test_a_rating_is_a_table_of_rows() -> None:
    table = peerage.rate(ROWS, method="bradley-terry", cluster="language")
    assert [row["rank"] for row in table] == [1, 2, 3, 4]
    assert table[0]["player"] in str(table)
    assert "<table" in table._repr_html_()
    assert table.to_markdown().count("\n| ") == 5
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["player"]) == [row["player"] for row in table]
    assert {"rating", "lower", "upper", "rank", "games"} <= set(frame)


def test_chances_and_proven_pairs_are_columns() -> None:
    table = peerage.rate(ROWS)
    assert table[0]["best"] > 0.5
    assert isinstance(table[0]["above"], list)
    assert "Proven above" in str(table)


def test_categories_are_tables_and_one_wide_table() -> None:
    table = peerage.rate(ROWS, by="language")
    latex = table.to_latex()
    assert latex.count(r"\begin{tabular}{rlrrrrrr}") == 3
    assert r"\toprule" in latex
    assert "% Strengths by language, 95% intervals: Greek & <Latin>_1" in latex
    wide = table.wide()
    assert len(wide) == 4
    assert {"(all)", "English", "English ±", "Greek & <Latin>_1"} < set(wide[0])
    assert r"Greek \& \textless{}Latin\textgreater{}\_1" in wide.to_latex()
    assert r"$\pm$" in wide.to_latex()
    assert table.to_markdown().count("**Strengths by language") == 3
    assert table.plot("English").svg.count("<circle") == 4
    with pytest.raises(ValueError, match=r"no category is called 'French'; there are \(all\), English"):
        table.plot("French")
    with pytest.raises(ValueError, match="wide needs categories"):
        peerage.rate(ROWS).wide()


@pytest.mark.parametrize("options", [{}, {"method": "elo"}, {"method": "trueskill"}])
def test_a_chart_has_a_point_and_an_interval_for_each_player(options: Any) -> None:
    chart = peerage.rate(ROWS, **options).plot()
    assert chart.svg.count("<circle") == 4
    assert "ann" in chart._repr_html_()


def test_answers_compared_sample_by_sample_are_two_tables() -> None:
    rows = [
        {"player": name, "challenge": at, "solved": at % often == 0}
        for at in range(30)
        for name, often in (("ann", 1), ("bob", 3))
    ]
    table = peerage.rate(rows, method="paired")
    assert "Differences, paired by sample" in str(table)
    assert table.to_latex().count(r"\begin{tabular}") == 2
    assert table.plot().svg.count("<circle") == 2
    assert table.report.pairs[0]["apart"]


def test_without_what_draws_a_chart_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("peerage.render.charts")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "markupsafe", None)
    with pytest.raises(ImportError, match=r"charts need markupsafe.*: pip install 'peerage\[site\]'"):
        peerage.rate(ROWS).plot()
