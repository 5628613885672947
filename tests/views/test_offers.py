"""The frontier is exactly who is not beaten on both counts."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from peerage.views.leaderboard.board import Row
from peerage.views.offers import frontier

ROW = Row(1, None, "", "", "", "bt", 1500.0, None, None, 1, 1, 0, 0, 0, 0.0, 0.0, 0, 0, ())


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(0, 4)), st.integers(1000, 1010), st.one_of(st.none(), st.just(1))
        ),
        max_size=12,
    )
)
def test_the_frontier_is_who_nobody_beats_on_both_counts(
    players: list[tuple[float | None, int, int | None]],
) -> None:
    rows = [
        msgspec.structs.replace(ROW, player=f"p{place}", cost_per_match=cost, rating=float(rating), rank=rank)
        for place, (cost, rating, rank) in enumerate(players)
    ]
    offers = frontier(rows)
    assert {offer.player for offer in offers} == {
        row.player for row in rows if row.cost_per_match is not None and row.rank is not None
    }
    assert [offer.cost_per_match for offer in offers] == sorted(offer.cost_per_match for offer in offers)
    for one in offers:
        beaten = any(
            (other.cost_per_match < one.cost_per_match and other.rating >= one.rating)
            or (other.cost_per_match <= one.cost_per_match and other.rating > one.rating)
            for other in offers
        )
        assert one.best is not beaten
    best = [offer.rating for offer in offers if offer.best]
    assert best == sorted(best)
