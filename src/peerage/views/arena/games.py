"""Games: what each is, how many matches it had, how they are rated, and which rules are the arena's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from peerage.game.blocks import Heading, Sentence, Target
from peerage.game.match import DONE
from peerage.game.texts import digests
from peerage.games import installed, tracks_of
from peerage.reading.match import in_words
from peerage.reading.results.discrimination import RECENT, discrimination, matches_to_tell
from peerage.reading.scope import Scope
from peerage.render.blocks import Beside, Fold, Link, Links, Section, ViewBlock
from peerage.settings import EVERY, ArenaSettings
from peerage.settings.game_texts import TEXTS
from peerage.values.figures import counted, likely, two_digits
from peerage.views.arena.tables import ArenaTables
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.overall import FEW
from peerage.views.leaderboard.tracks import METHODS, Track
from peerage.views.match.finder import telling
from peerage.views.player import settings

EVERY_GAME: tuple[Track, ...] = ("bt", "trueskill", "glicko2")
"""The tracks that matches of any game feed."""


CLEAR = 0.5
"""The chance to be the best above which a player leads a game."""


def games(arena: ArenaTables) -> Iterator[ViewBlock]:
    """Yield each game with its best player, a match to watch, and what rates it."""
    played = arena.board().games
    set_to = () if EVERY in arena.settings.games else arena.settings.lineup
    unplayed: dict[str, dict[str, int]] = {name: {} for name in set_to}
    counts = unplayed | arena.tally.games
    boards = {
        name: arena.board(game=name if len(played) > 1 else "") for name in counts if counts[name].get(DONE)
    }
    yield Heading(_headline(counts, boards), 1)
    yield Section(
        "cards", [Beside([[*_card(arena, name, counts[name], boards.get(name))] for name in counts])]
    )
    asked = Link("What was asked", ("view", "challenges.html"))
    yield Links([asked, Link("How it is rated", ("view", "method.html"))])


def _headline(counts: Mapping[str, Mapping[str, int]], boards: Mapping[str, Leaderboard]) -> str:
    """Return which player leads how many games."""
    leads = Counter([best[0] for found in boards.values() if (best := _best(found))[1] > CLEAR])
    names = counted(len(counts), "game") if len(counts) > 1 else "".join(counts)
    if not leads:
        return f"{names or 'Games'}: nobody stands out yet"
    player, most = leads.most_common(1)[0]
    return f"{names}: {player} leads{f' {most} of them' if len(counts) > 1 else ''}"


def _best(found: Leaderboard) -> tuple[str, float]:
    """Return who is most likely the best, and how likely that is; empty and 0 where no one is rated."""
    chances = found.chances
    return (chances.pick, float(chances.best[chances.of(chances.pick)])) if chances.pick else ("", 0.0)


def _card(
    arena: ArenaTables, name: str, counts: Mapping[str, int], found: Leaderboard | None
) -> Iterator[ViewBlock]:
    """Yield what a game is, who is best at it and how sure that is, and the match that tells most."""
    spec, matches = installed(name), sum(counts.values())
    notes = [f"Rated by {', '.join([METHODS[track].name for track in rated_by(arena, name)])}"]
    notes += [f"{n:,} without a result: {in_words(status)}" for status, n in counts.items() if status != DONE]
    to: Target | None = ("game", name) if found and len(arena.board().games) > 1 else None
    yield Heading(name, 2, to, notes=tuple(notes))
    yield Sentence(spec.about if spec else "This game is not installed here.", "quiet")
    links = []
    player, chance = _best(found) if found else ("", 0.0)
    if found and player:
        about = f"{likely(chance)} likely the best after {counted(matches, 'match')}"
        yield Sentence(f"{player}: {about}." if chance > CLEAR else f"Nobody stands out ({player}: {about}).")
        yield from _tells_apart(arena, name, matches)
        number, why = telling([row for row in arena.summaries if row.game == name], found.chances)
        links = [Link(f"Watch match {number:,}", ("match", str(number)), note=why)] * bool(number)
    else:
        yield Sentence(f"No match has a result yet ({matches:,} played)." if matches else "Not played yet.")
    if spec and (original := spec.original) and counts.get(DONE):
        links.append(Link(original.file, ("file", original.file), note=f"for {original.about}"))
    yield from [Links(links)] * bool(links)
    if rules := stated_rules(arena.settings, name):
        yield Fold("Rules stated here", [settings(rules)])


def _tells_apart(arena: ArenaTables, name: str, matches: int) -> Iterator[Sentence]:
    """Yield how many matches a game takes to tell two players apart, and whether it still does."""
    played = arena.within(Scope(name if len(arena.board().games) > 1 else ""))
    newest = played.newest(RECENT).get(name, [])
    rules = arena.settings.lineup[name].rules if name in arena.settings.lineup else {}
    if remark := discrimination(arena.moment, newest).remark(name, rules):
        yield Sentence(f"{remark}.", "bad")
    count = matches_to_tell(played.alone, played.count)
    if matches >= FEW and count is not None:
        about = counted(two_digits(count), "match")
        yield Sentence(f"Two typical players are told apart after about {about}.", "quiet")


def rated_by(arena: ArenaTables, game: str) -> tuple[Track, ...]:
    """The tracks with a page here that matches of a game feed, its own first."""
    own = [track for track in METHODS if track in tracks_of(game)]
    return tuple(dict.fromkeys([track for track in (*own, *arena.tracks) if track in (*own, *EVERY_GAME)]))


def stated_rules(settings: ArenaSettings, game: str) -> dict[str, Any]:
    """A game's rules as stated; of a list to draw from, such as the owner's tasks, how long it is;
    of texts of prompts, their digests."""
    spec = installed(game)
    if spec is None or game not in settings.lineup:  # which of its rules are the owner's alone it says itself
        return {}
    lists = spec.files

    def shown(name: str, value: Any) -> Any:
        if name == TEXTS:
            return digests(value)
        return f"{len(value):,} of the owner's own" if name in lists and isinstance(value, list) else value

    return {name: shown(name, value) for name, value in settings.lineup[game].rules.items()}
