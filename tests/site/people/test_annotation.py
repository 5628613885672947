"""An expert's way through recorded duels: drawn by equal chances, once each, blind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from starlette.testclient import TestClient
from tests.engine.arenas import ledger_of
from tests.site.arenas import MATCHES_SERVED

from peerage.interchange.battles import battles
from peerage.ledger import Ledger
from peerage.ledger.topics.votes import PeopleVotes, Vote, expert_voter
from peerage.reading.verdicts.people import finished, verdicts_of
from peerage.site.pages.router import page as page_of
from peerage.site.people.annotation import Annotator
from peerage.site.people.seats import SeatLinks
from peerage.site.reading import Site
from peerage.site.server.server import ArenaServer
from peerage.standings.verify import verify
from peerage.views.arena.audience import audience

HERE = "http://localhost"


def judges_of(ledger: Ledger, number: int) -> set[str]:
    rows = map(json.loads, battles(ledger))
    return {row["judge"] for row in rows if row["question_id"] == str(number)}


@pytest.fixture
def ledger(folder: Path) -> Iterator[Ledger]:
    opened = ledger_of(folder)
    yield opened
    opened.close()


@pytest.fixture
def votes(ledger: Ledger, folder: Path) -> PeopleVotes:
    return PeopleVotes(ledger.address, folder)


def test_every_duel_is_shown_once_and_resumed(ledger: Ledger, votes: PeopleVotes) -> None:
    seen: list[int] = []
    for place in range(MATCHES_SERVED + 1):
        ada = Annotator(ledger, votes, "ada", Random(place))  # a new one each time: as if she came back
        if (shown := ada.draw()) is None:
            break
        seen.append(shown.ballot.match)
        ada.cast(shown, ("first", "second", "tie", "both bad", "skipped")[place % 5], at_ms=place)
    given, there = Annotator(ledger, votes, "ada", Random(0)).progress()
    assert len(seen) == len(set(seen)) == given == there
    kept = list(votes.votes())
    assert {vote.expert for vote in kept} == {"ada"}
    assert {vote.voter for vote in kept} == {expert_voter("ada")}
    assert verify(ledger, votes=votes).ok
    assert Annotator(ledger, votes, "bo", Random(0)).draw() is not None, "she has judged none"


def test_a_verdict_is_on_the_answer_that_was_meant(ledger: Ledger, votes: PeopleVotes) -> None:
    for seed in range(6):
        ada = Annotator(ledger, votes, f"ada {seed}", Random(seed))
        shown = ada.draw()
        assert shown is not None
        ada.cast(shown, "second", at_ms=1)
        match = finished(ledger, shown.ballot.match)
        assert match is not None
        *_, vote = votes.votes()
        assert shown.ballot.answers[vote.verdict] == shown.answers[1]
        [*_, counted] = verdicts_of(ledger, [vote])
        assert counted.score == float(vote.verdict == next(iter(match.players)))
    orders = {vote.shown for vote in votes.votes()}
    assert orders == {("A", "B"), ("B", "A")}


def test_duels_are_drawn_by_equal_chances(ledger: Ledger, votes: PeopleVotes) -> None:
    annotator = Annotator(ledger, votes, "ada", Random(3))
    there = annotator.progress()[1]
    drawn = Counter(shown.ballot.match for _ in range(40 * there) if (shown := annotator.draw()))
    assert len(drawn) == there
    assert all(15 < times < 80 for times in drawn.values())


def test_once_more_only_what_was_judged_and_in_no_table(ledger: Ledger, votes: PeopleVotes) -> None:
    first = Annotator(ledger, votes, "ada", Random(1))
    judged, skipped = first.draw(), None
    assert judged is not None
    first.cast(judged, "first", at_ms=1)
    skipped = first.draw()
    assert skipped is not None
    first.cast(skipped, "skipped", at_ms=2)
    for take in (2, 3):
        again = Annotator(ledger, votes, "ada", Random(take), again=True)
        shown = again.draw()
        assert shown is not None
        assert (shown.ballot.match, shown.take) == (judged.ballot.match, take)
        again.cast(shown, "tie", at_ms=take)
    assert [one.take for one in verdicts_of(ledger, votes.votes())] == [1, 2, 3]
    found = audience(ledger, votes.votes())
    assert (found.votes, found.voters, found.uncounted) == (1, 1, 0)


def test_nobody_judges_a_duel_of_its_own(ledger: Ledger, votes: PeopleVotes) -> None:
    there = Annotator(ledger, votes, "ada", Random(1)).progress()[1]
    match = finished(ledger, 1)
    assert match is not None
    player = next(iter(match.players.values()))
    one = Annotator(ledger, votes, player, Random(1))
    assert one.progress()[1] < there
    while (shown := one.draw()) is not None:
        drawn = finished(ledger, shown.ballot.match)
        assert drawn is not None
        assert player not in drawn.players.values()
        assert player not in judges_of(ledger, shown.ballot.match)
        one.cast(shown, "tie", at_ms=1)


def test_votes_of_the_first_release_are_read(ledger: Ledger) -> None:
    import msgspec

    old = b'{"match":1,"record":"00","shown":["A","B"],"verdict":"A","voter":"v","at_ms":7}'
    assert msgspec.json.decode(old, type=Vote) == Vote(1, "00", ("A", "B"), "A", "v", 7)


@pytest.fixture
def page(folder: Path) -> Iterator[TestClient]:
    server = ArenaServer(folder, voting=False, experts=("ada", "a/<b>"), token="the-token-of-the-arena")
    with TestClient(server.app, HERE, follow_redirects=False) as client:
        yield client


def test_a_private_link_shows_duels_blind_and_takes_votes(
    page: TestClient, folder: Path, votes: PeopleVotes, ledger: Ledger
) -> None:
    mine = f"/{SeatLinks.of(folder).path('ada', 'annotate')}"
    shown = page.get(mine)
    assert shown.status_code == 200
    assert "you vote as ada" in shown.text
    names = {player for number in (1, 2) for player in finished(ledger, number).players.values()}  # type: ignore[union-attr]
    assert not any(f">{name}<" in shown.text or f" {name} " in shown.text for name in names)
    assert page.get(mine).text == shown.text, "the same until it is judged"

    def ticket(text: str) -> str:
        return text.partition('name="ticket" value="')[2].partition('"')[0]

    sent = {"ticket": ticket(shown.text), "verdict": "both bad"}
    assert page.post(mine, data=sent, headers={"origin": "http://evil.example"}).status_code == 403
    assert votes.count() == 0
    taken = page.post(mine, data=sent)
    assert (taken.status_code, taken.headers["location"]) == (303, mine.rpartition("/")[2])
    assert page.post(mine, data={**sent, "verdict": "first"}).status_code == 303, "gone back to"
    [vote] = votes.votes()
    assert (vote.expert, vote.verdict) == ("ada", "both bad")
    following = page.get(mine)
    assert ticket(following.text) not in ("", sent["ticket"])
    assert "1 of " in following.text
    page.post(mine, data={**sent, "verdict": "first"})
    assert votes.count() == 1, "a duel that was gone back to"
    assert page.post(mine, data={"ticket": "", "verdict": "best"}).status_code == 400


def test_a_name_leads_nowhere_and_runs_nothing(page: TestClient, folder: Path) -> None:
    shown = page.get(f"/{SeatLinks.of(folder).path('a/<b>', 'annotate')}").text
    assert 'href="../assets/site.css"' in shown
    assert '<meta name="referrer" content="same-origin">' in shown, "else a form has no origin"
    assert "you vote as a/&lt;b&gt;" in shown


def test_a_link_opens_nothing_else_and_no_other_link_opens_it(page: TestClient, folder: Path) -> None:
    links = SeatLinks.of(folder)
    for path in (
        "/annotate/guess",
        f"/annotate/{links.token('ada')}",
        f"/annotate/{links.token('bo', 'annotate')}",
    ):
        assert page.get(path).status_code == 404
    assert page.get(f"/seat/{links.token('ada', 'annotate')}").status_code in (401, 404)
    assert page.get("/judges.html").status_code == 401
    assert page.get("/assets/live.css").status_code == 200


def test_when_all_is_judged_the_page_says_so(
    page: TestClient, folder: Path, ledger: Ledger, votes: PeopleVotes
) -> None:
    ada = Annotator(ledger, votes, "ada", Random(1))
    while (shown := ada.draw()) is not None:
        ada.cast(shown, "tie", at_ms=1)
    assert "Nothing left to judge" in page.get(f"/{SeatLinks.of(folder).path('ada', 'annotate')}").text


def test_pages_follow_the_votes(ledger: Ledger, votes: PeopleVotes, folder: Path) -> None:
    """Without another match the judges are held against people."""
    with closing(Site.open(folder)) as site:
        assert b"Judges and people" not in body(site, "judges.html")
        ada = Annotator(ledger, votes, "ada", Random(1))
        while (shown := ada.draw()) is not None:
            ada.cast(shown, "first", at_ms=1)
        voted = site.refreshed()
        assert voted is not site
        assert voted.refreshed() is voted
        assert b"Judges and people" in body(voted, "judges.html")


def body(site: Site, path: str) -> bytes:
    made = page_of(site, path)
    assert made is not None
    return made.body
