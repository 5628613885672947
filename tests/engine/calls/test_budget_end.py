"""Near the end of a budget little money goes into matches that it ends, however long replies are."""

from __future__ import annotations

from typing import Any

import pytest
from bench.budget import play

ALL: dict[str, Any] = {"judges": 5, "order": "both", "early_stop": False}


@pytest.mark.parametrize("rules", [{}, ALL], ids=["usual", "all judges"])
@pytest.mark.parametrize("times", [1, 6])
def test_at_most_five_per_cent_go_into_matches_that_the_budget_ends(
    times: int, rules: dict[str, Any]
) -> None:
    """Replies of the expected length, and six times as long: real rules, several budgets and seeds.

    A match begins while there is money for it and for its costliest call at its worst, or for two such
    matches; what is left at the end is too little for that.
    """
    each = play("duel", 20, None, 8, times=times, rules=rules).report.spent_nano / 20
    for concurrency, matches, seeds in ((8, 10, (0, 1, 2)), (64, 25, (0, 1))):
        budget = matches * each / 1e9
        runs = [play("duel", None, budget, concurrency, seed, times, rules) for seed in seeds]
        assert {run.report.reason for run in runs} == {"budget"}
        spent = [run.report.spent_nano for run in runs]
        assert max(spent) <= matches * each
        said = f"{concurrency} at once, {matches} matches' worth: {[run.lost_nano / each for run in runs]}"
        assert sum(run.lost_nano for run in runs) <= 0.05 * sum(spent), said
        unspent = matches - sum(spent) / each / len(seeds)
        most = 1 + max(1, *[run.reach_nano / each for run in runs])
        assert unspent <= most, f"{said}; {unspent:.1f} matches' worth unspent"
