"""The topic of each match of a round, such that everybody meets each about as often. Pure.

    >>> history = History()
    >>> history.remember(["Ada", "Bo"], "tides")
    >>> by_topic([("Ada", "Bo"), ("Cy", "Di")], [["tides"], ["bridges"]], history)
    [('Cy', 'Di'), ('Ada', 'Bo')]

The topics of a round are drawn beforehand, each as often as the others over all. The players of each table
remain to be matched with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from peerage.scheduling.standing import History


def by_topic(
    tables: Sequence[tuple[str, ...]], topics: Sequence[Sequence[str]], history: History
) -> list[tuple[str, ...]]:
    """The tables of a round, reordered to fit its `topics`: those of the matches of the first table, of the
    second, and so on. Two tables change places, where both have as many matches, as long as that lowers the
    sum of n² over all players and topics, n being the matches of a player on a topic with this round. No
    change of two would lower it further."""
    order = list(tables)
    slots = [tuple(sorted(ones)) for ones in topics]
    kinds = sorted(set(slots))
    if len(kinds) < 2:
        return order
    met = Counter(
        {
            (topic, player): history.met_on(topic, player)
            for topic in {topic for kind in kinds for topic in kind}
            for player in {player for table in tables for player in table}
        }
    )
    for table, slot in zip(order, slots, strict=True):
        met.update([(topic, player) for topic in slot for player in set(table)])
    gains = {(here, there): _exchanged(here, there) for here in kinds for there in kinds}
    changed = True
    while changed:
        changed = False
        for at, here in enumerate(slots):
            for other in range(at):
                gain = gains[here, slots[other]]
                if not gain:
                    continue
                go, come = set(order[at]), set(order[other])
                go, come = go - come, come - go
                difference = 0
                for topic, by in gain:
                    between = sum(met[topic, name] for name in go) - sum(met[topic, name] for name in come)
                    difference += by * (2 * between + by * (len(go) + len(come)))
                if difference < 0:
                    for topic, by in gain:
                        met.update({(topic, name): by for name in go} | {(topic, name): -by for name in come})
                    order[at], order[other] = order[other], order[at]
                    changed = True
    return order


def _exchanged(here: Sequence[str], there: Sequence[str]) -> list[tuple[str, int]]:
    """Return how many matches on each topic a player gains by moving from one place of a round to another;
    empty where it may not, since the places have different numbers of matches."""
    if len(here) != len(there):
        return []
    more = Counter(there)
    more.subtract(here)
    return [(topic, by) for topic, by in more.items() if by]
