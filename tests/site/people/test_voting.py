"""The audience's table from votes on a real arena, the pairs that voters are shown, and how often."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.arenas import ledger_of, play, write_arena

from peerage.ledger import Ledger
from peerage.ledger.topics.votes import PeopleVotes, Vote, VotedAlready
from peerage.reading.verdicts import people as people_votes
from peerage.reading.verdicts.people import cited, finished, verdicts_of
from peerage.site.people import voting
from peerage.site.people.ballots import ballot
from peerage.site.people.voting import RateLimit, TicketUnknown, VotingService, voter_of
from peerage.standings.verify import verify
from peerage.views.arena.audience import audience
from peerage.views.match.match import match_view, tasks

MATCHES = 16


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("audience"))
    play(folder, MATCHES)
    return folder


@pytest.fixture
def ledger(folder: Path):  # type: ignore[no-untyped-def]
    opened = ledger_of(folder)
    yield opened
    opened.close()


def vote(ledger: Ledger, match: int, verdict: str, voter: str = "v") -> Vote:
    found = finished(ledger, match)
    assert found is not None
    return Vote(match, found.record, ("A", "B"), verdict, voter)


def test_the_table_counts_what_was_voted(ledger: Ledger) -> None:
    votes = [vote(ledger, 1, "A"), vote(ledger, 1, "A", "w"), vote(ledger, 2, "tie"), vote(ledger, 3, "B")]
    found = audience(ledger, votes)
    assert (found.votes, found.voters, found.matches, found.uncounted) == (4, 2, 3, 0)
    for row in found.rows:
        assert row.votes == row.wins + row.draws + row.losses
        assert (row.lower, row.upper) == (None, None)  # three matches tell nothing of the error
    players = [finished(ledger, match).players for match in (1, 1, 2, 3)]  # type: ignore[union-attr]
    for row in found.rows:
        mine = [
            0.5 if one.verdict == "tie" else float(seats[one.verdict] == row.player)
            for one, seats in zip(votes, players, strict=True)
            if row.player in seats.values()
        ]
        assert (row.wins, row.draws, row.losses) == tuple(mine.count(score) for score in (1.0, 0.5, 0.0))


def test_five_of_six_votes_are_280_points(ledger: Ledger) -> None:
    votes = [vote(ledger, 1, "A" if n else "B", f"v{n}") for n in range(6)]
    found = audience(ledger, votes)
    match = finished(ledger, 1)
    assert match is not None
    assert found.comparable
    assert [row.player for row in found.rows] == [match.players["A"], match.players["B"]]
    best, worst = (row.rating for row in found.rows)
    assert (best + worst) / 2 == pytest.approx(1500)
    assert best - worst == pytest.approx(400 * math.log10(5))


def test_nobody_voted(ledger: Ledger) -> None:
    assert audience(ledger, []).rows == ()


def test_a_vote_on_another_record_does_not_count(ledger: Ledger) -> None:
    good = vote(ledger, 1, "A")
    for bad in (
        Vote(1, "00", ("A", "B"), "A", "v"),
        Vote(9_999, good.record, ("A", "B"), "A", "v"),
        Vote(1, good.record, ("A", "A"), "A", "v"),
        Vote(1, good.record, ("A", "X"), "A", "v"),
        Vote(1, good.record, ("A", "B"), "judge/1", "v"),
        Vote(-1, good.record, ("A", "B"), "A", "v"),
    ):
        found = audience(ledger, [good, bad])
        assert (found.votes, found.uncounted) == (1, 1)


def test_agreement_is_with_the_peers_where_neither_tied(ledger: Ledger) -> None:
    with_them, against, tied = [], [], []
    for match in range(1, MATCHES + 1):
        found = finished(ledger, match)
        if found is None or not found.scores or found.scores["A"] == 0.5:
            continue
        better, worse = ("A", "B") if found.scores["A"] > 0.5 else ("B", "A")
        with_them.append(vote(ledger, match, better))
        against.append(vote(ledger, match, worse, "w"))
        tied += [vote(ledger, match, "tie", "x"), vote(ledger, match, "both bad", "y")]
    assert len(with_them) > 3
    assert audience(ledger, with_them + tied).agreement == 1.0
    assert audience(ledger, against).agreement == 0.0
    assert audience(ledger, with_them[:3] + against[:1]).agreement == 0.75
    assert audience(ledger, tied).agreement is None


def test_a_verdict_is_a_score_of_the_first_answer_and_both_bad_is_a_tie(ledger: Ledger) -> None:
    match = next(n for n in range(1, MATCHES + 1) if (found := finished(ledger, n)) and found.scores)
    given = [vote(ledger, match, verdict, verdict) for verdict in ("A", "B", "tie", "both bad", "skipped")]
    assert [(one.person, one.score) for one in verdicts_of(ledger, given)] == [
        ("A", 1.0),
        ("B", 0.0),
        ("tie", 0.5),
        ("both bad", 0.5),
    ]


def test_a_ballot_shows_what_the_judges_saw_and_no_name(ledger: Ledger) -> None:
    match = match_view(ledger, 1)
    found = ballot(ledger, 1)
    assert found is not None
    assert found.challenge == tasks(match.blocks)
    assert found.record == match.digests.record
    said = {one.key: one.reply for one in match.exchanges}
    assert found.answers == {label: said[f"answer/{label}"] for label in ("A", "B")}


def test_a_match_in_play_or_void_has_no_ballot(ledger: Ledger, tmp_path: Path) -> None:
    void = [row.number for row in ledger.summaries() if row.status != "done"]
    assert all(ballot(ledger, number) is None for number in void)


def test_a_voter_keeps_the_pair_until_it_is_judged(folder: Path, ledger: Ledger) -> None:
    votes = PeopleVotes(ledger.address, folder)
    service = VotingService(ledger, votes, Random(1))
    first = service.draw("v")
    assert first is not None
    assert service.draw("v") == first
    other = service.draw("w")
    assert other is not None
    assert other.ticket != first.ticket
    service.cast("v", first.ticket, "first", at_ms=1)
    [given] = votes.votes()
    assert given == Vote(first.match, first.record, first.shown, first.shown[0], "v", at_ms=1)
    second = service.draw("v")
    assert second is not None
    assert second.match != first.match


@pytest.mark.parametrize(("verdict", "place"), [("first", 0), ("second", 1)])
def test_the_verdict_is_about_the_place_where_the_answer_stood(
    folder: Path, ledger: Ledger, verdict: str, place: int
) -> None:
    votes = PeopleVotes(ledger.address, folder)
    orders = set()
    for seed in range(8):
        service = VotingService(ledger, votes, Random(seed))
        pending = service.draw(f"v{seed}")
        assert pending is not None
        service.cast(f"v{seed}", pending.ticket, verdict, at_ms=1)  # type: ignore[arg-type]
        assert list(votes.votes())[-1].verdict == pending.shown[place]
        orders.add(pending.shown)
    assert orders == {("A", "B"), ("B", "A")}


def test_a_ticket_is_good_once_and_for_its_voter_alone(folder: Path, ledger: Ledger) -> None:
    service = VotingService(ledger, PeopleVotes(ledger.address, folder), Random(1))
    pending = service.draw("v")
    assert pending is not None
    for voter, ticket in (("w", pending.ticket), ("v", "made up"), ("", "")):
        with pytest.raises(TicketUnknown):
            service.cast(voter, ticket, "tie", at_ms=1)
    service.cast("v", pending.ticket, "tie", at_ms=1)
    with pytest.raises(TicketUnknown):
        service.cast("v", pending.ticket, "tie", at_ms=1)


def test_two_servers_take_one_vote_of_a_voter(folder: Path, ledger: Ledger) -> None:
    votes = PeopleVotes(ledger.address, folder)
    services = [VotingService(ledger, votes, Random(7)) for _ in range(2)]
    shown = [service.draw("v") for service in services]
    assert shown[0] is not None
    assert shown[1] is not None
    assert shown[0].match == shown[1].match
    services[0].cast("v", shown[0].ticket, "first", at_ms=1)
    with pytest.raises(VotedAlready):
        services[1].cast("v", shown[1].ticket, "second", at_ms=2)
    assert votes.count() == 1


def test_every_pair_is_judged_or_skipped_and_then_there_is_none(folder: Path, ledger: Ledger) -> None:
    votes = PeopleVotes(ledger.address, folder)
    service = VotingService(ledger, votes, Random(3))
    there = {number for number in range(1, MATCHES + 1) if ballot(ledger, number)}
    judged, skipped = set(), set()
    while pending := service.draw("v"):
        if len(judged) > len(skipped):
            service.skip("v", pending.ticket)
            skipped.add(pending.match)
        else:
            service.cast("v", pending.ticket, "tie", at_ms=1)
            judged.add(pending.match)
    assert judged | skipped == there
    assert not judged & skipped
    report = verify(ledger, votes=votes)
    assert report.ok
    assert audience(ledger, votes.votes()).votes == len(judged)


def test_many_matches_voted_on_are_read_in_one_pass(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = PeopleVotes(ledger.address, folder)
    service = VotingService(ledger, votes, Random(3))
    while pending := service.draw("v"):
        service.cast("v", pending.ticket, "first", at_ms=1)
    there = list(votes.votes())
    there.append(msgspec.structs.replace(there[0], match=MATCHES + 99))
    each = cited(ledger, there), verdicts_of(ledger, there), audience(ledger, there)
    assert len(each[0]) == len(there) - 1 > 3
    monkeypatch.setattr(people_votes, "_FEW", 3)
    monkeypatch.setattr(type(ledger), "match", lambda *_, **__: pytest.fail("asked match by match"))
    assert (cited(ledger, there), verdicts_of(ledger, there), audience(ledger, there)) == each


def test_a_voters_name_leads_nowhere() -> None:
    assert voter_of("a") != voter_of("b")
    assert "a" * 10 not in voter_of("a" * 10)


@given(st.integers(1, 10), st.lists(st.floats(0, 40), max_size=60))
def test_a_limit_lets_through_no_more_than_it_says_in_any_minute(
    per_minute: int, pauses: list[float]
) -> None:
    limit, now, passed = RateLimit(per_minute), 0.0, list[float]()
    for pause in pauses:
        now += pause
        wait = limit.wait("one", now)
        if wait:
            now += wait + 1e-6
            assert limit.wait("one", now) == 0
        passed.append(now)
    assert all(sum(at - 60 < other <= at for other in passed) <= per_minute for at in passed)
    assert limit.wait("another", now) == 0


def test_a_limit_lets_through_all_that_it_says_and_no_more() -> None:
    """Six in the first minute, however they are spread; a long rest earns six and no more; each its own."""
    limit = RateLimit(6)
    assert [limit.wait("one", 100.0) for _ in range(6)] == [0.0] * 6
    assert limit.wait("one", 110.0) == 50.0
    assert limit.wait("two", 110.0) == 0.0
    assert limit.wait("one", 159.0) == 1.0
    assert limit.wait("one", 160.0) == 0.0
    assert [limit.wait("one", 10_000.0) > 0 for _ in range(8)] == [False] * 6 + [True] * 2
    spread = RateLimit(30)
    assert sum(spread.wait("one", second) == 0 for second in range(60)) == 30


def test_callers_beyond_number_are_forgotten_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RateLimit, "KEPT", 2)
    limit = RateLimit(1)
    assert [limit.wait(caller, 1.0) for caller in ("a", "b", "c")] == [0.0] * 3
    assert limit.wait("c", 1.0) > 0
    assert limit.wait("b", 1.0) > 0
    assert limit.wait("a", 1.0) == 0.0, "it was forgotten, not remembered for ever"


def test_pairs_shown_beyond_number_are_forgotten_the_oldest_first(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voting, "TICKETS", 2)
    service = VotingService(ledger, PeopleVotes(ledger.address, folder), Random(1))
    shown = [service.draw(voter) for voter in ("u", "v", "w")]
    with pytest.raises(TicketUnknown):
        service.cast("u", shown[0].ticket, "tie", at_ms=1)  # type: ignore[union-attr]
    for voter, pending in (("v", shown[1]), ("w", shown[2])):
        assert service.cast(voter, pending.ticket, "tie", at_ms=1) == pending  # type: ignore[union-attr]


def test_what_was_skipped_is_forgotten_beyond_number(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voting, "TICKETS", 2)
    service = VotingService(ledger, PeopleVotes(ledger.address, folder), Random(1))
    for voter in ("u", "v", "w"):
        while pending := service.draw(voter):
            service.skip(voter, pending.ticket)
    assert service.draw("w") is None
    assert service.draw("v") is None
    assert service.draw("u") is not None, "the first to skip everything is shown pairs again"


@pytest.mark.parametrize("recent", [3, 5])
def test_pairs_come_from_the_newest_matches(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    monkeypatch.setattr(voting, "RECENT", recent)
    service = VotingService(ledger, PeopleVotes(ledger.address, folder), Random(1))
    seen = set()
    while pending := service.draw("v"):
        seen.add(pending.match)
        service.skip("v", pending.ticket)
    newest = range(MATCHES - recent + 1, MATCHES + 1)
    assert seen == {number for number in newest if ballot(ledger, number)}
    assert seen


def test_a_tie_is_half_a_win_for_each(ledger: Ledger) -> None:
    [row, other] = audience(ledger, [vote(ledger, 1, "tie")]).rows
    assert (row.wins, row.draws, row.losses) == (other.wins, other.draws, other.losses) == (0, 1, 0)
    assert row.rating == pytest.approx(other.rating)
