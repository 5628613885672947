"""The golden sets of evalica (https://github.com/dustalov/evalica, Apache-2.0), its scores as it states them.

Its scores sum to 1 and are strengths, e to ours; its Elo starts at 1000 with K = 4.
"""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.sequential.elo import EloSettings, in_order

SIMPLE = "01= 02> 02= 04= 10< 12= 12= 13= 24= 30< 31< 32< 34= 34= 40< 43<"
FOOD = (
    "zs< bp> tz< st> bz< ps> tb< zp= sb> pt< bs> tz< sp= bt< zb> pt> bs> tp< zt> sb< pz> bs> tp< zs< sb> pt> "
    "tz< bp> st< zb>"
)
SETS = {
    "simple": (
        SIMPLE,
        "01234",
        [
            0.050799672530389396,
            0.1311506914535368,
            0.13168568070110523,
            0.33688868041573855,
            0.34947527489923,
        ],
        [992.1030823399375, 999.9771705955386, 999.9773072285024, 1003.8861974411536, 1004.0562423948679],
    ),
    "food": (
        FOOD,
        "zpbst",
        [
            0.09897982556928168,
            0.1281534106031957,
            0.14797665121689418,
            0.19060028489839073,
            0.43428982771223773,
        ],
        [992.325764574259, 994.1913058814378, 998.0260933346951, 1002.0980590208538, 1013.3587771887543],
    ),
}


def history(battles: str, players: str) -> Duels:
    """Battles as three characters: left, right, and `<` the left won, `>` the right, `=` a tie."""
    words = battles.split()
    return duels(
        len(players),
        [players.index(word[0]) for word in words],
        [players.index(word[1]) for word in words],
        [{"<": 1.0, ">": 0.0, "=": 0.5}[word[2]] for word in words],
    )


@pytest.mark.parametrize("name", SETS)
def test_bradley_terry(name: str) -> None:
    battles, players, scores, _ = SETS[name]
    expected = 400 * np.log10(scores)
    found = fit_duels(history(battles, players)).rating
    assert found == pytest.approx(expected - expected.mean() + 1500, abs=1e-6)


@pytest.mark.parametrize("name", SETS)
def test_elo(name: str) -> None:
    battles, players, _, scores = SETS[name]
    settings = EloSettings(k_factor=4.0, initial=1000.0, propagation_width=None)
    found = in_order(history(battles, players), settings)
    assert found == pytest.approx(scores, abs=1e-9)
