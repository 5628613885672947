"""The page of costs against the replies on record: dollars, matches per dollar, days."""

from __future__ import annotations

import csv
import io
from contextlib import closing

import pytest
from tests.site.pages.test_pages import Read

from peerage.ledger import open_ledger
from peerage.reading.reading import Reading
from peerage.site.pages.router import page
from peerage.site.reading import Site
from peerage.values.figures import rounded
from peerage.views.arena.costs import by_day
from peerage.views.stats.report import stats


def text(site: Site, path: str) -> str:
    made = page(site, path)
    assert made is not None
    return Read(made.body).text


def paid(site: Site) -> float:
    return sum(row.cost_nano or 0 for row in site.ledger.exchanges(1)) / 1e9


def test_dollars_are_those_of_the_replies(pages: Site) -> None:
    dollars = paid(pages)
    assert dollars > 0
    assert sum(row["dollars"] for row in by_day(pages)) == pytest.approx(dollars)
    said = text(pages, "costs.html")
    assert rounded(len(pages.decided) / dollars) in said
    made = page(pages, "data/spending.csv")
    assert made is not None
    lines = list(csv.DictReader(io.StringIO(made.body.decode())))
    assert sum(float(line["dollars"]) for line in lines) == pytest.approx(dollars)


def test_matches_are_those_of_the_statistics(pages: Site) -> None:
    with closing(open_ledger(pages.settings.ledger, pages.folder, create=False)) as ledger:
        found = stats(Reading(pages.settings, ledger))
    assert sum(one.cost_usd for one in found.kinds) == pytest.approx(paid(pages))
    said = text(pages, "costs.html")
    for one in found.costs:
        if one.cost_usd and one.matches_per_usd is not None:
            assert one.matches_per_usd == pytest.approx(one.matches / one.cost_usd)
            assert rounded(one.matches_per_usd) in said
    assert "Hours held" not in said
