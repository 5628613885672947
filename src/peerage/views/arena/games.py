"""Games: what each is, how many matches it had, how they are rated, and which rules are the arena's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from peerage.game.blocks import Heading, Sentence
from peerage.game.match import DONE
from peerage.games import installed, tracks_of
from peerage.reading.match import in_words
from peerage.render.blocks import (
    Facts,
    Link,
    Links,
    LoneFigure,
    ViewBlock,
)
from peerage.settings import EVERY, ArenaSettings
from peerage.values.figures import whole
from peerage.views.arena.tables import ArenaTables
from peerage.views.leaderboard.tracks import METHODS, Track
from peerage.views.player import settings

EVERY_GAME: tuple[Track, ...] = ("bt", "trueskill", "glicko2")
"""The tracks that matches of any game feed."""


def games(arena: ArenaTables) -> Iterator[ViewBlock]:
    """Yield each game with its matches, and what rates them."""
    played = arena.board().games
    tables = played if len(played) > 1 else ()
    set_to = () if EVERY in arena.settings.games else arena.settings.lineup
    unplayed: dict[str, dict[str, int]] = {name: {} for name in set_to}
    yield Heading("Games", 1)
    for name, counts in (unplayed | arena.tally.games).items():
        spec, matches, decided = installed(name), sum(counts.values()), counts.get(DONE, 0)
        voids = [f"{n:,}: {in_words(status)}" for status, n in sorted(counts.items()) if status != DONE]
        yield Heading(name)
        yield Sentence(spec.about if spec else "This game is not installed here.")
        facts = [LoneFigure("Matches", whole(matches)), LoneFigure("Decided", whole(decided))]
        facts.append(LoneFigure("No result", whole(matches - decided), "; ".join(voids)))
        rated = ", ".join([METHODS[track].name for track in rated_by(arena, name)])
        yield Facts([*facts, LoneFigure("Rated by", "", rated)])
        links = [Link("The table of this game", ("game", name))] if name in tables else []
        if spec and (original := spec.original) and decided:
            title = f"All matches as {original.file}"
            links.append(Link(title, ("file", original.file), note=f"as {original.about} reads them"))
        yield from [Links(links)] if links else ()
        if rules := stated_rules(arena.settings, name):
            yield settings(rules, "Rules stated in this arena; all others are the game's defaults")
    asked = Link("What was asked", ("view", "challenges.html"))
    yield Links([asked, Link("How it is rated", ("view", "method.html"))])


def rated_by(arena: ArenaTables, game: str) -> tuple[Track, ...]:
    """The tracks with a page here that matches of a game feed, its own first."""
    own = [track for track in METHODS if track in tracks_of(game)]
    return tuple(dict.fromkeys([track for track in (*own, *arena.tracks) if track in (*own, *EVERY_GAME)]))


def stated_rules(settings: ArenaSettings, game: str) -> dict[str, Any]:
    """A game's rules as stated; of a list to draw from, such as the owner's tasks, how long it is."""
    spec = installed(game)
    if spec is None or game not in settings.lineup:  # which of its rules are the owner's alone it says itself
        return {}
    lists = spec.files

    def shown(name: str, value: Any) -> Any:
        return f"{len(value):,} of the owner's own" if name in lists and isinstance(value, list) else value

    return {name: shown(name, value) for name, value in settings.lineup[game].rules.items()}
