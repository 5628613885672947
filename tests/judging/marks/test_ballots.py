"""Ballots as columns against the panels they were made from."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from tests.judging.gathered import listed

from peerage.judging.marks.ballots import BALLOTS, PanelRecord, add_panel, ballots_in
from peerage.judging.marks.marks import MarkRows
from peerage.judging.panels.panel import Ballot

PLAYERS = {"judge/1": "kit", "judge/2": "lou", "A": "ann", "B": "bob", "C": "tie"}


def panel(rng: Random, labels: tuple[str, ...]) -> PanelRecord:
    ballots = []
    for at in range(1, rng.randint(1, 2) + 1):
        said = {order: rng.choice(["A", "C", "tie", "void"]) for order in ("A-C", "C-A")}
        vote = rng.choice(["A", "C", "tie", "abstain"])
        late = rng.random() < 0.2 or UNSET
        ballots.append(Ballot(f"judge/{at}", vote, said, rng.random() < 0.5, rng.random(), late=late))
    return PanelRecord(PLAYERS, labels, tuple(ballots))


@given(st.integers(0, 10_000), st.integers(0, 12))
def test_columns_hold_what_panels_do(seed: int, size: int) -> None:
    rng = Random(seed)
    panels = [panel(rng, ("A", "C") if rng.random() < 0.5 else ("C", "B", "A")) for _ in range(size)]
    found = listed(panels)
    assert len(found.panels) == size
    rows = [(at, ballot) for at, one in enumerate(panels) for ballot in one.ballots]
    assert found.panel.tolist() == [at for at, _ in rows]
    assert [found.players[at] for at in found.judge] == [PLAYERS[ballot.judge] for _, ballot in rows]
    assert [found.votes[at] for at in found.vote] == [ballot.vote for _, ballot in rows]
    assert found.valid.tolist() == [ballot.vote != "abstain" for _, ballot in rows]
    assert found.weight.tolist() == [ballot.weight for _, ballot in rows]
    assert found.flipped.tolist() == [ballot.flipped for _, ballot in rows]
    said = [ballot.verdicts for _, ballot in rows]
    assert found.unusable.tolist() == [list(one.values()).count("void") for one in said]
    assert (found.usable + found.unusable).tolist() == [2] * len(rows)
    assert found.decided.tolist() == [sum(vote in ("A", "C") for vote in one.values()) for one in said]
    assert found.first.tolist() == [(one["A-C"] == "A") + (one["C-A"] == "C") for one in said]
    for at, one in enumerate(panels):
        votes = [ballot.vote for ballot in one.ballots if ballot.vote != "abstain" and not ballot.late]
        assert found.given[at].tolist() == [votes.count(vote) for vote in found.votes]
    assert found.late.tolist() == [bool(ballot.late) for _, ballot in rows]


def test_a_vote_gives_an_answer_one_half_or_nothing() -> None:
    votes = [Ballot("judge/1", vote, {}, False) for vote in ("A", "tie", "B")]
    found = listed([PanelRecord(PLAYERS, ("A", "B"), (vote,)) for vote in votes])
    assert found.points("A").tolist() == [1, 0.5, 0]


def test_panels_are_told_apart_by_name_in_whatever_order_they_come() -> None:
    one, two = (PanelRecord(PLAYERS, ("A", "B"), (Ballot("judge/1", vote, {}, False),)) for vote in "AB")
    orders = []
    for order in ((("1", one), ("2", two)), (("2", two), ("1", one))):
        ballots = MarkRows(BALLOTS)
        for name, record in order:
            add_panel(ballots, name, record)
        found = ballots_in(ballots.columns())
        orders.append([found.votes[vote] for vote in found.vote])
    assert orders == [["A", "B"], ["A", "B"]]
