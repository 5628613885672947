"""A page for each player: where it stands, whom it met, and what is on record of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from peerage.game.blocks import Heading, Sentence
from peerage.reading.results.tally import Field, PlayerSums
from peerage.render.blocks import Beside, Conclusion, Figure, Fold, Link, Links, Section, ViewBlock
from peerage.values.figures import counted, likely, listed, sentence, share_between
from peerage.values.texts import visible
from peerage.views.arena.charts import ALONE, course, followed
from peerage.views.arena.tables import ArenaTables
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.notes import OF_MANY
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.strengths import listed as listed_strengths
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.leaderboard.verdict import in_words, named
from peerage.views.match.finder import line_of_row, notable, table
from peerage.views.player import OpponentPart, ratings, records, roles, settings, standing


def player(arena: ArenaTables, name: str) -> Iterator[ViewBlock]:
    """Yield all that is known of one player."""
    board, mine = arena.board(), arena.tally.players.get(name, PlayerSums())
    order = {other.player: place for place, other in enumerate(board.rows)}
    row = board.rows[order[name]]
    yield Heading(name, 1)
    about = [*_about(arena, name, {"model": row.model, "family": row.family})]
    if about:
        yield Sentence(" · ".join(about), "quiet")
    yield Conclusion([in_a_sentence(board, row)])
    if versions := _versions(arena, name):
        yield Sentence("Other versions of this player, each rated by its own matches:", "quiet")
        yield Links([Link(one, ("player", one)) for one in versions])
    models = arena.models.get(name, [])
    marks = [(one.match, one.in_words) for one in models if one.before]
    if marks:
        named = [visible(sentence(one.in_words)) for one in models[1:]]
        yield Sentence(" ".join([*named, "The rating counts all its matches."]))
    elif models and models[0].model not in row.model:  # its settings do not say it already
        yield Sentence(visible(sentence(models[0].in_words)), "quiet")
    yield standing(board, row, arena.speeds.get(name))
    against = sorted(arena.records(name).items(), key=lambda pair: order.get(pair[0], len(order)))
    met = [OpponentPart(other, one) for other, one in against]
    results = "Results" if arena.imported else "Matches"
    groups: list[list[ViewBlock]] = [[], [*_charts(arena, name, marks)]]
    if met:
        groups[0] = [Heading("Against each opponent"), records("opponent", met, of=name, results=results)]
    yield Section("ranking", [Beside([group for group in groups if group])])
    if row.above:
        yield Sentence(f"Proven to be better than {listed(row.above)}.", "quiet")
    if strengths := [row for row in arena.profiles if row.player == name and row.rank]:
        yield Heading("Strength in each game")
        yield listed_strengths("game", strengths)
    of_many = next((note for note in board.notes if note == OF_MANY), "")
    kinds: tuple[tuple[Literal["game", "topic"], Mapping[str, Field]], ...]
    kinds = ("game", mine.games), ("topic", mine.topics)
    for kind, fields in kinds:
        if len(fields) > 1 or (kind == "topic" and any(fields)):
            accuracies = _accuracies(arena, name) if kind == "topic" else {}
            most = sorted(fields.items(), key=lambda pair: (-pair[1].record.matches, pair[0]))
            parts = [OpponentPart(of, one.record, one.cost_per_match, accuracies.get(of)) for of, one in most]
            yield Heading(f"By {kind}")
            yield records(kind, parts, of_many=of_many, in_dollars=board.in_dollars)
    if mine.recent:
        lines = [line_of_row(row, notable(row, board.chances)) for row in mine.recent[::-1]]
        yield from (Heading("Recent matches"), table(lines))
    rated = [one for track in arena.tracks for one in arena.table(track) if one.player == name]
    yield Fold("Its ratings by other methods", [ratings(rated)])
    if asked := [*roles(name, arena.stats, plays=True)]:
        yield Fold("What it was asked, as a player, judge and author", asked)
    if card := _card(arena, name):
        yield Fold("Settings on record", [settings(card)])


def in_a_sentence(board: Leaderboard, row: Row) -> str:
    """Return how good a player is."""
    verdict, name = board.verdict, row.player
    if row.rank is None or verdict.pick is None:
        return f"{name} has no result yet."
    of = f"Rank {row.rank} of {counted(verdict.players, 'player')}"
    if name in verdict.level:
        return f"{of}: nobody is ahead yet of {named(verdict.level)}."
    if name == verdict.pick:
        best = "proven to be the best" if verdict.proven_best else f"{likely(verdict.chance or 0.0)} the best"
        return f"{of}, and the pick: {best}."
    wins = next((beat.chance for beat in verdict.beats if beat.against == name), 0.5)
    return f"{of}: it wins {in_words(1 - wins)} against {verdict.pick}, the pick."


def judge(arena: ArenaTables, name: str) -> Iterator[ViewBlock]:
    """Yield what is known of one who only judges."""
    yield Heading(name, 1)
    yield Sentence(" · ".join(["Only judges", *_about(arena, name, arena.cards.get(name, {}))]), "quiet")
    yield from roles(name, arena.stats, arena.judges, plays=False)
    yield Sentence("It has no rating, since it never plays.", "quiet")
    yield Links([Link("All judges", ("view", "judges.html"))])


def _about(arena: ArenaTables, name: str, card: Mapping[str, Any]) -> Iterator[str]:
    """Yield a player's whole name and maker, where the title is short; model and family, if not in it."""
    short = arena.names.of(name)
    if short.short != name:
        yield from filter(None, (short.maker, f"`{name}`"))
    model, family = card.get("model") or name, card.get("family")
    if model != name:
        yield model
    if family and family not in (name, model, short.maker):
        yield f"family {family}"


def _charts(arena: ArenaTables, name: str, marks: Sequence[tuple[int, str]]) -> Iterator[Figure]:
    points = course(arena, arena.track, (name,))
    if len(points) > 1:
        yield Figure(
            kind="course",
            title="Rating over the matches",
            about=f"{METHODS[arena.track].curve} after so many matches, with its 95% band"
            + f"{ALONE * bool(arena.imported)}."
            + " Dashed: its provider names another model." * bool(marks),
            rows=points,
            columns=followed(arena.track),
            name=f"course-{arena.track}",
            options={"names": [name], "what": METHODS[arena.track].curve, "marks": marks},
        )


def _accuracies(arena: ArenaTables, name: str) -> dict[str, str]:
    """A player's accuracy by category, in words."""
    found = {
        category: part.accuracies.get(name) for category, part in arena.board().credits.by_category.items()
    }
    return {
        category: share_between(one.accuracy, one.lower, one.upper)
        for category, one in found.items()
        if one is not None
    }


def _card(arena: ArenaTables, name: str) -> Mapping[str, Any]:
    """Return what is on record about a player: its model and settings, without defaults."""
    card = arena.cards.get(name, {})
    hidden = {"name", "identity", "price_known"}
    if card.get("price_source") == card.get("pricing_source"):
        hidden.add("price_source")
    return {
        key: value for key, value in card.items() if value not in (None, "", {}, []) and key not in hidden
    }


def _versions(arena: ArenaTables, name: str) -> list[str]:
    """The other versions of a player, the first one first."""
    cards = arena.cards
    line = cards.get(name, {}).get("versions_of", name)
    rated = {row.player for row in arena.table()}
    same = [one for one, card in cards.items() if card.get("versions_of", one) == line]
    return [one for one in same if one != name and one in rated]
