"""The leader of an arena while a run goes on, by a quick fit of the strengths."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import permutations

from peerage.game.match import DONE
from peerage.ledger import Summary
from peerage.values.figures import likely
from peerage.values.texts import visible

AT_MOST = 1 / 40
"""The share of the process's own processor time that fits may take."""
FIRST_S = 0.01
PAIR_S = 3e-6
"""About what the first fit takes in seconds of a processor: in any case, and for each pair of players."""
DRAWS = 1000
SPREADS = 4
"""The number of fits, each with the spread of the strengths that the last one came to."""


class Leader:
    """A fold of matches: who leads, and how sure that is. Tables draw from the posterior of strengths;
    this is a normal approximation to it (`scheduling.strengths`), in which all games count alike and the
    spread of the strengths is the likeliest, by the EM algorithm."""

    def __init__(self) -> None:
        self._players: dict[str, int] = {}
        self._won: dict[tuple[int, int], float] = defaultdict(float)
        self._tied: dict[tuple[int, int], float] = defaultdict(float)
        self._changed, self._due, self._in_words = False, 0.0, ""

    def note(self, match: Summary) -> None:
        """Take in one more match."""
        if match.status != DONE or not len({*match.players}) == len(match.scores) > 1:
            return
        from peerage.scheduling.strengths import table_share

        seats = [self._players.setdefault(player, len(self._players)) for player in match.players]
        for (a, own), (b, other) in permutations(zip(seats, match.scores, strict=True), 2):
            if own >= other:
                (self._won if own > other else self._tied)[a, b] += table_share(len(seats))
        self._changed = True

    def in_words(self) -> str:
        """Return the pick and its chance to be the best, as of the last fit; empty before the first. The next
        fit is due when the process has worked 40 times as long as the last one took."""
        now = time.process_time()
        due = self._due or (FIRST_S + PAIR_S * len(self._players) ** 2) / AT_MOST
        if self._changed and now >= due:
            self._in_words, self._changed = self._fitted(), False
            self._due = (then := time.process_time()) + (then - now) / AT_MOST
        return self._in_words

    def _fitted(self) -> str:
        import numpy as np

        from peerage.scheduling.strengths import fit

        players = len(self._players)
        won, tied = np.zeros((2, players, players))
        for into, counts in ((won, self._won), (tied, self._tied)):
            for pair, matches in counts.items():
                into[pair] = matches
        precision = 1.0
        for _ in range(SPREADS):
            estimate = fit(won, tied, np.zeros_like(won), precision)
            squares = np.square(estimate.mean).sum() + np.trace(estimate.covariance)
            precision = (players + 1) / (float(squares) + 1)  # as if one more player, of spread 1, were known
        root = np.linalg.cholesky(estimate.covariance)
        draws = estimate.mean + np.random.default_rng(1).standard_normal((DRAWS, players)) @ root.T
        best = np.bincount(draws.argmax(axis=1), minlength=players)
        pick = int(best.argmax())
        return visible(f"pick {[*self._players][pick]} ({likely(float(best[pick]) / DRAWS)})")
