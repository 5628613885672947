"""The pool on its page: who wrote and who solved what; answers and digests before and after retirement."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.site.pages.test_pages import Read

from peerage.engine.record.challenges import pool, retire
from peerage.site.pages.router import page
from peerage.site.reading import Site
from peerage.standings.verify import verify
from peerage.views.challenges import rows
from peerage.views.match.match import match_view


@pytest.fixture(scope="module")
def site(sealed: Path) -> Iterator[Site]:
    with closing(Site.open(sealed)) as made:
        yield made


@pytest.fixture(scope="module")
def retired(sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    """The same arena after its most attempted challenge was retired, and that one's id."""
    folder = Path(shutil.copytree(sealed, tmp_path_factory.mktemp("retired") / "arena"))
    with closing(Site.open(folder)) as made:
        name = max(rows(pool(made.ledger)), key=lambda row: row.attempts).challenge_id
        retire(made.ledger, name, "published", 1)
    with closing(Site.open(folder)) as made:
        yield made, name


def text(site: Site, path: str) -> str:
    made = page(site, path)
    assert made is not None
    return Read(made.body).text


def test_the_pool_is_that_of_the_tables(site: Site) -> None:
    shown = site.pool
    assert shown == rows(pool(site.ledger))
    said = text(site, "challenges.html")
    for one in shown:
        assert one.description in said
        assert one.challenge_id[:8] in said
        assert sum(tried.attempts for tried in one.tried) == one.attempts
        if one.attempts:
            solved = sum(tried.solved for tried in one.tried)
            assert solved / one.attempts == one.solved
    assert any(tried.solved for one in shown for tried in one.tried)
    assert any(not tried.solved for one in shown for tried in one.tried)


def test_answers_are_hidden_until_retired(site: Site, retired: tuple[Site, str]) -> None:
    assert {row.reference_answer for row in site.pool} == {None}
    after, name = retired
    shown = {row.challenge_id: row for row in after.pool}
    assert [key for key, row in shown.items() if row.reference_answer is not None] == [name]
    assert (shown[name].state, shown[name].reason) == ("retired", "published")
    assert "published" in text(after, "challenges.html")


def test_the_pool_is_a_file_too(retired: tuple[Site, str]) -> None:
    after, name = retired
    made = page(after, "data/challenges.csv")
    assert made is not None
    listed = {line["challenge_id"]: line for line in csv.DictReader(io.StringIO(made.body.decode()))}
    for row in after.pool:
        line = listed[row.challenge_id]
        assert (line["reference_answer"] != "") == (row.challenge_id == name)
        assert json.loads(line["tried"]) == list(row.as_dict()["tried"])


def test_an_earlier_moment_has_an_earlier_pool(site: Site) -> None:
    first = site.at(1).pool
    assert 0 < len(first) < len(site.pool)
    assert {row.match for row in first} == {1}


def test_an_arena_of_duels_has_no_pool(pages: Site) -> None:
    assert pages.pool == []
    assert page(pages, "data/challenges.csv") is None
    assert "The pool" not in text(pages, "challenges.html")


def test_an_exchange_is_shown_with_its_results_and_sealed_answers(site: Site) -> None:
    said = text(site, "match/1.html")
    for part in (
        "Challenge 1",
        "Accepted: its author found the answer again from the wording alone.",
        "Tried by",
        "correct",
    ):
        assert part in said
    assert re.search(r"sealed\s*(in)?correct", said)
    assert "Its author's answer" not in said


@pytest.mark.parametrize("opened", [False, True])
def test_the_digest_of_a_record_is_the_chains(site: Site, retired: tuple[Site, str], opened: bool) -> None:
    """Also where a record holds values that a retirement disclosed: digests are over commitments."""
    shown = retired[0] if opened else site
    for number in range(1, shown.number + 1):
        said = text(shown, f"match/{number}.html")
        digests = match_view(shown.ledger, number).digests
        assert digests.record in said
        assert digests.chain in said
    assert verify(shown.ledger).ok
