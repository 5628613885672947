"""Near the end of a budget little money goes into matches that it ends, however long replies are."""

from __future__ import annotations

import pytest
from bench.budget import play


@pytest.mark.parametrize("times", [1, 6])
def test_at_most_five_per_cent_go_into_matches_that_the_budget_ends(times: int) -> None:
    """Replies of the expected length, and six times as long: real rules, several budgets and seeds."""
    each = play("duel", 20, None, 8, times=times).report.spent_nano / 20
    for concurrency, matches, seeds in ((8, 10, (0, 1, 2)), (64, 25, (0, 1))):
        runs = [play("duel", None, matches * each / 1e9, concurrency, seed, times) for seed in seeds]
        assert {run.report.reason for run in runs} == {"budget"}
        spent = [run.report.spent_nano for run in runs]
        assert max(spent) <= matches * each
        said = f"{concurrency} at once, {matches} matches' worth: {[run.lost_nano / each for run in runs]}"
        assert sum(run.lost_nano for run in runs) <= 0.05 * sum(spent), said
        unspent = matches - sum(spent) / each / len(seeds)
        assert unspent <= 2.5, f"{said}; {unspent:.1f} matches' worth unspent"
