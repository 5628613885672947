"""How every number is made: ratings, the verdict, costs, settings, and what players are asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from peerage.game.blocks import Heading, Sentence, SourceCode
from peerage.game.protocol import Role
from peerage.ledger.forms.codec_requests import read_form, read_templates
from peerage.render.blocks import Fold, Notes, ViewBlock
from peerage.settings import EVERY
from peerage.views.arena.games import stated_rules
from peerage.views.arena.tables import ArenaTables
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.player import settings

FORM = '{"role":'
"""How a stored form begins."""

METHOD = (
    "A match is a pure function of its fixture and the replies it received. Every number on these pages "
    "follows from the ledger alone, and anybody who has it can compute them again."
)

VERDICT = (
    "The pick has the highest chance to be the best. A player may be as good that is better than the pick "
    "with at least 5%; it is out with less than 1%, if its chance to be the best of n is below 2%/(n - 1), "
    "or where it is proven to be worse; unlikely is what lies between. Chances follow from one posterior of "
    "strengths, whatever pairing chose. What is proven holds without it, however often anybody looks: in "
    "fewer than 5% of arenas is any such claim ever false."
)

COSTS = (
    "A call's cost is its tokens at the price on record when it was made. An unknown price is shown as a "
    "dash and never counts as zero."
)

OUTSIDE = (
    "Each outside result counts once, as a match does, in strength, Bradley-Terry, TrueSkill and Glicko-2, "
    "so in chances and proven claims too, which hold as far as the imported files are complete. Outside "
    "results come before the matches played here. They enter no other track, no table of a game, topic or "
    "side, and nothing that was billed; runs pair and stop by matches played here alone."
)

FORMS = (
    "Every request on record is one of these forms, its places in braces filled. What another player wrote "
    "is quoted between marks that its writer could not have known."
)


def method(arena: ArenaTables) -> Iterator[ViewBlock]:
    """Yield how every number of this arena is made, and every form of request."""
    own = arena.settings
    values = [
        ("Ratings", own.rating.model_dump(mode="json")),
        ("Pairing", own.pairing.model_dump(mode="json")),
        ("Budget, in dollars", own.budget.model_dump(mode="json")),
        *[
            (f"Rules of {name}, where stated", stated_rules(own, name))
            for name in (() if EVERY in own.games else own.lineup)
        ],
    ]
    boards = [arena.board(track) for track in arena.tracks]
    every = [note for note in boards[0].notes if all(note in one.notes for one in boards[1:])]
    names = list(arena.tally.players)
    yield Heading("Every number follows from the ledger, and anyone can recompute it", 1, notes=(METHOD,))
    yield Heading("Ratings")
    yield Notes(every, names)
    for board in boards:
        yield Heading(METHODS[board.track].name, 3)
        yield Notes([note for note in board.notes if note not in every], names)
    yield Heading("The verdict", 3)
    yield Sentence(VERDICT)
    if arena.imported:
        yield Heading("Outside results", 3)
        yield Sentence(OUTSIDE)
    yield Heading("Costs")
    yield Sentence(COSTS)
    yield Heading("Settings of this arena")
    yield from (settings(stated, title) for title, stated in values if stated)
    yield Heading("What players are asked", notes=(FORMS,))
    for role, digest, messages in forms(arena):
        parts = [SourceCode(template, note=speaker) for speaker, template in messages]
        yield Fold(f"{role} `{digest}`", parts, f"f{digest}")


def forms(arena: ArenaTables) -> list[tuple[Role, str, tuple[tuple[str, str], ...]]]:
    """Every form of request on record by role: the first digits of its digest, and its messages."""
    found = []
    for digest, text in arena.moment.texts().items():
        if text.startswith(FORM):
            with suppress(msgspec.MsgspecError):  # something else that begins like one
                found.append((read_form(text)[0], digest.hex()[:12], read_templates(text)))
    return sorted(found)
