"""An arena as its pages read it: its ledger at one moment, and what was computed from that so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice
from pathlib import Path
from typing import TypeAlias

from peerage.ledger import Entry, Ledger, open_ledger
from peerage.ledger.check.checkpoints import kept_in, leaves_of
from peerage.ledger.check.kept_checkpoints import KeptCheckpoint
from peerage.ledger.forms.log import finished
from peerage.ledger.forms.merkle import levels
from peerage.ledger.topics.series import shown
from peerage.ledger.topics.votes import PeopleVotes
from peerage.settings import ArenaSettings, load
from peerage.site.addresses import pair_page
from peerage.values import grouped
from peerage.views.arena.tables import ArenaTables

Menu: TypeAlias = tuple[tuple[str, str], ...]
"""(path, name) of pages that the menu leads to."""

ALL_PAIRS, MOST_PAIRS = 12, 300
"""The first players, each pair of whom has a page on any site; and pages of pairs on a static one."""


class Site(ArenaTables):
    """The tables of an arena for its pages. `refreshed` gives those of the next moment. `menu` are entries
    for what only a server has. `url` says where people reach the pages, where that is known."""

    def __init__(
        self,
        settings: ArenaSettings,
        ledger: Ledger,
        votes: PeopleVotes,
        before: Site | None = None,
        menu: Menu = (),
        number: int | None = None,
        folder: Path | None = None,
        url: str = "",
    ) -> None:
        super().__init__(settings, ledger, votes, before, number)
        self.folder = folder or votes.path.parent
        self.menu = menu
        self.url = url and f"{url.rstrip('/')}/"
        self._tree: tuple[int, list[list[bytes]]] = (0, [])
        self.voted = votes.head()

    @classmethod
    def open(cls, folder: Path, menu: Menu = (), url: str = "") -> Site:
        """The arena in `folder` as it is now; `menu` are entries for what only a server has. Raises
        SettingsError and LedgerError."""
        settings = load(folder, reading=True)
        ledger = open_ledger(settings.ledger, folder, create=False)
        return cls(settings, ledger, PeopleVotes(ledger.address, folder), menu=menu, folder=folder, url=url)

    def refreshed(self) -> Site:
        """The arena as it is now: this site itself while nothing was added to its ledger or its votes."""
        same = shown(self.ledger) == self.number and self.ledger.topics() == self.amended
        if same and self.votes.head() == self.voted:
            return self
        return Site(self.settings, self.ledger, self.votes, self, self.menu, folder=self.folder, url=self.url)

    def at(self, number: int) -> Site:
        """The arena as it was after record `number`."""
        return Site(self.settings, self.ledger, self.votes, menu=self.menu, number=number, folder=self.folder)

    @cached_property
    def checkpoints(self) -> Sequence[KeptCheckpoint]:
        """The checkpoints that were signed, the shortest first. Raises LedgerError."""
        return kept_in(self.folder)

    @property
    def signed_to(self) -> int:
        """Return how many entries of the log the longest checkpoint covers."""
        return self.checkpoints[-1].checkpoint.size if self.checkpoints else 0

    @cached_property
    def media(self) -> frozenset[str]:
        """Return the digests of the pictures and sounds that the ledger holds."""
        return frozenset(self.ledger.media_digests())

    @cached_property
    def entries(self) -> Mapping[int, Sequence[Entry]]:
        """The log's entries about each match, shown or not, in order; none where no checkpoint was signed."""
        entries = self.ledger.log() if self.checkpoints else ()
        return grouped((match, entry) for entry in entries if (match := finished(entry.about)))

    def covered(self, size: int) -> int:
        """Return how many of the matches shown are in the first `size` entries of the log, as far as a
        checkpoint covers; they are the first folded."""
        first = [entries[0].position for entries in islice(self.entries.values(), self.number)]
        return sum(position <= min(size, self.signed_to) for position in first)

    @cached_property
    def leaves(self) -> list[bytes]:
        """The leaves of all entries of the log."""
        return leaves_of(self.ledger)

    def tree(self, size: int) -> list[list[bytes]]:
        """The tree over the first `size` entries of the log; the last one asked for is kept."""
        if self._tree[0] != size:
            self._tree = size, levels(self.leaves[:size])
        return self._tree[1]

    @cached_property
    def pairs(self) -> Mapping[str, tuple[str, str]]:
        """Two players by the page that compares them: all of the first `ALL_PAIRS`, and others who met, those
        who met most often first."""
        names = [row.player for row in self.table() if row.rank is not None]
        others = [pair for pair in combinations(names, 2) if pair[1] not in names[:ALL_PAIRS]]
        met = sorted(
            [(-self.met(*pair).matches, pair) for pair in others if self.met(*pair).matches],
            key=lambda found: found[0],
        )
        chosen = [*combinations(names[:ALL_PAIRS], 2), *[pair for _, pair in met]][:MOST_PAIRS]
        return {pair_page(*pair): pair for pair in chosen}

    def close(self) -> None:
        """Release the ledger, which refreshed sites share."""
        self.ledger.close()
