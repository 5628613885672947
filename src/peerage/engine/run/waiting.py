"""The matches of a run that wait, and which of them may go on: the lowest of those whose time has
come.

Of the matches that wait for a player from whom nothing has come since, one goes on at a time: when it gets
its reply the others follow. A match whose time is not known is asked for again after a while; one that waits
for a person goes on when the person has replied.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from math import inf
from typing import NamedTuple

from peerage.game.match import Fixture
from peerage.players.client import Awaited

ASK_AGAIN_S = 600.0
"""After how many seconds a player that did not say when is asked again."""
SOONEST_S = 60.0
"""After how many seconds a match goes on at the soonest, whatever a player said: each time is on record."""
STAY_S = 3600.0
"""Seconds that an otherwise idle run stays for a match that may go on, or for a person not seen yet."""
LOOK_AGAIN_S = 30.0
"""Seconds between two looks whether people are still there."""
EARLY_S = 1e-6
"""Seconds by which a timer may come too soon: one that finds nothing due then would be the last."""


class WaitingUntil(NamedTuple):
    """A match that waits: when it may go on (the event loop's clock), and whether that time was stated."""

    fixture: Fixture
    digest: str
    player: str
    due: float
    stated: bool


class WaitingMatches:
    """For the event loop's thread alone. `players` are those of the arena, `people` those of them that say
    themselves when they have replied, `benched` who is asked no more; `look()` is called when a match may go
    on."""

    def __init__(
        self,
        players: Collection[str],
        benched: Collection[str],
        look: Callable[[], None],
        people: Mapping[str, Awaited] = {},
    ) -> None:
        self._players = players
        self._people = people
        self._asked: set[str] = set()
        self._woken: set[str] = set()
        self._benched = benched
        self._away: dict[int, WaitingUntil] = {}
        self._tried: dict[int, str] = {}
        self._heard: set[str] = set()
        self._look = look
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._stay: asyncio.TimerHandle | None = None
        self._none_before = 0.0
        self._unsaved: set[int] = set()

    def __len__(self) -> int:
        return len(self._away)

    def add(self, away: WaitingUntil, *, saved: bool) -> None:
        """A match waits; it goes on no sooner than what it asked before is saved, and where it waits for a
        person that has been asked, no sooner than that replies."""
        number = away.fixture.number
        if away.player in self._people:
            asked = not saved or away.fixture.seed in self._asked
            away = away._replace(due=inf if asked else self._loop.time(), stated=False)
        self._away[number] = away
        self._tried.pop(number, None)
        self._heard.discard(away.player)
        if away.fixture.seed in self._woken:
            self._none_before = 0.0
        if not saved:
            self._unsaved.add(number)

    def listen(self, seeds: Collection[str]) -> None:
        """People may reply from now on; `seeds` are those of the unfinished matches."""
        for person in self._people.values():
            self._asked.update(person.listen(seeds, self.wake))

    def wake(self, seed: str) -> None:
        """A person has replied in the match with this seed: if it waits, it goes on; if it does not wait yet,
        as one of an earlier run that has not been taken up, it goes on as soon as it would."""
        if seed not in self._woken:
            self._woken.add(seed)
            self._none_before = 0.0
            self._look()

    def saved(self, number: int) -> None:
        """Note that what a match asked before can be read now."""
        self._unsaved.discard(number)
        self._none_before = 0.0
        self._look()

    def back(self, players: Collection[str]) -> None:
        """These players' host is up and they are warm: all their matches go on."""
        now = self._loop.time()
        for number, away in self._away.items():
            if away.player in players:
                self._away[number] = away._replace(due=now)
        self._heard.update(players)
        self._none_before = 0.0

    def by_player(self, beyond: Callable[[int], bool]) -> Counter[str]:
        """Return how many matches wait for each player not benched, up to the run's limit (`beyond` says)."""
        counts = Counter([away.player for number, away in self._away.items() if not beyond(number)])
        return Counter({player: count for player, count in counts.items() if player not in self._benched})

    def any_within(self, beyond: Callable[[int], bool]) -> bool:
        """Return whether a match waits whose number is not `beyond` the run's limit."""
        return any(not beyond(number) for number in self._away)

    def heard(self, player: str) -> None:
        """A player has replied."""
        if self._away and player not in self._heard:
            self._heard.add(player)
            self._none_before = 0.0
            self._look()

    def ended(self, number: int) -> None:
        """A match that had waited has ended."""
        if self._tried.pop(number, None):
            self._none_before = 0.0

    def over(self, seed: str) -> None:
        """A match is over, and what was said in it is saved."""
        self._woken.discard(seed)
        for person in self._people.values():
            person.over(seed)

    def next(self, *, room: bool = True) -> WaitingUntil | None:
        """The first match that may go on now, in number order; without one `look` is called when there may
        be. Without `room` for another only one whose reply is there: a person does not wait for a place."""
        now, tried = self._loop.time() + EARLY_S, set(self._tried.values())
        if now < self._none_before or not (room or self._woken):
            return None
        saved = [away for number, away in self._away.items() if number not in self._unsaved]
        known = [away for away in saved if away.player in self._players]
        ready = [away for away in saved if away.player not in self._players or self._ends_without(away)]
        ready += [
            away
            for away in known
            if room
            and away.due <= now
            and away.player not in self._benched
            and (away.player in self._heard or away.player not in tried)
        ]
        # What a benched person replies waits for the next run, which asks it again.
        woken = [away for away in saved if away.fixture.seed in self._woken]
        ready += [away for away in woken if away.player not in self._benched]
        if ready:
            return min(ready, key=lambda away: away.fixture.number)
        if not room:
            return None
        self._none_before = min([away.due for away in known if away.due > now], default=inf)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._none_before < inf:
            self._timer = self._loop.call_at(self._none_before, self._look)
        return None

    def _ends_without(self, away: WaitingUntil) -> bool:
        """Return whether a match has nothing to wait for: its player is benched, and no person."""
        return away.player in self._benched and away.player not in self._people

    def take(self, away: WaitingUntil) -> None:
        """A match goes on."""
        del self._away[away.fixture.number]
        self._woken.discard(away.fixture.seed)
        self._tried[away.fixture.number] = away.player

    def worth_staying(self, beyond: Callable[[int], bool]) -> bool:
        """Return whether a run that has nothing else to do stays: a player said when, and that is soon, or a
        person was there not long ago. Matches whose numbers are `beyond` the run's limit do not go on in
        it."""
        soon = self._loop.time() + STAY_S
        within = [away for number, away in self._away.items() if not beyond(number)]
        waited_for = {away.player for away in within} - set(self._benched)
        if any(self._people[name].away_s() < STAY_S for name in waited_for & self._people.keys()):
            if self._stay is not None:
                self._stay.cancel()
            self._stay = self._loop.call_later(LOOK_AGAIN_S, self._look)
            return True
        return any(
            (away.fixture.seed in self._woken or (away.stated and away.due <= soon))
            and away.player not in self._benched
            for away in within
        )

    def stop(self) -> None:
        """Look no more."""
        for timer in filter(None, (self._timer, self._stay)):
            timer.cancel()
