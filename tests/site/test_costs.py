"""The page of costs against the replies on record: dollars, matches per dollar, bits per dollar, days."""

from __future__ import annotations

import csv
import io
import math

import pytest
from tests.site.test_pages import Read

from peerage.site.arena_pages import bits, by_day, by_game
from peerage.site.pages import page
from peerage.site.reading import Site
from peerage.tables.leaderboard import board


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
    assert sum(one.dollars for one in by_game(pages)) == pytest.approx(dollars)
    said = text(pages, "costs.html")
    assert f"{pages.number / dollars:,.1f}" in said
    made = page(pages, "data/spending.csv")
    assert made is not None
    lines = list(csv.DictReader(io.StringIO(made.body.decode())))
    assert sum(float(line["dollars"]) for line in lines) == pytest.approx(dollars)


def test_a_bit_is_an_interval_half_as_wide(pages: Site) -> None:
    rows = board(pages.ledger, pages.settings, "bt").rows
    before = 2 * 1.959963984540054 * 350
    known = 0.0
    for row in rows:
        if row.lower is not None and row.upper is not None and row.upper - row.lower < before:
            known -= math.log2((row.upper - row.lower) / before)
    assert known > 0
    assert bits(rows) == pytest.approx(known)
    said = text(pages, "costs.html")
    assert f"{known:,.1f} bits" in said
    assert f"{known / paid(pages):,.1f} bits" in said
