"""Which match of a round is about what: everybody meets each topic about as often. Pure.

    >>> history = History()
    >>> history.remember(["Ada", "Bo"], "tides")
    >>> by_topic([("Ada", "Bo"), ("Cy", "Di")], ["tides", "bridges"], history)
    [('Cy', 'Di'), ('Ada', 'Bo')]

The topics of a round are drawn beforehand, each as often as the others over all. What is left to choose is
who meets on which of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from peerage.scheduling.standing import History


def by_topic(
    tables: Sequence[tuple[str, ...]], topics: Sequence[str], history: History
) -> list[tuple[str, ...]]:
    """The tables of a round in the order of its `topics`, so that each goes rather to those who met it less
    often: matches change places until no two of them gain by that."""
    ordered = list(tables)
    if len(set(topics)) < 2:
        return ordered
    met = {
        (table, topic): sum([history.met_on(topic, player) for player in dict.fromkeys(table)])
        for table in set(tables)
        for topic in set(topics)
    }
    changed = True
    while changed:  # each change lowers the sum of what was met
        changed = False
        for at, topic in enumerate(topics):
            for other in range(at):
                one, two, there = ordered[at], ordered[other], topics[other]
                if met[one, topic] + met[two, there] > met[one, there] + met[two, topic]:
                    ordered[at], ordered[other] = two, one
                    changed = True
    return ordered
