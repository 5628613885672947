"""Goals as people write them: `best known`, `first 3 known`, `order known to 50`, `NAME placed`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from peerage.scheduling.standing import Goal
from peerage.values.figures import suggest

PLACED_WITHIN = 50.0
"""Elo by which the order next to a placed player may be wrong, where nothing is said: equals never part."""
FORMS = ("best known", "first 3 known", "order known to 50", "NAME placed")
_FORM = re.compile(
    r"(?:(?:best|(?:first|top) (?P<places>\d{1,6})|(?P<order>order))(?: known| proven)?|"
    r"(?P<player>.+?) placed)"
    r"(?: to (?P<within>\d{1,6}(?:\.\d+)?))?"
)


def goal_of(text: str, players: Sequence[str]) -> Goal:
    """Return the goal of a run of these players; `known` may be left out, or `proven`. Raises ValueError
    where the text has none of the forms, or names nobody."""
    form = _FORM.fullmatch(" ".join(text.split()))
    if form is None:
        raise ValueError(f"{text!r} is no goal{suggest(text, FORMS)}")
    within = float(form["within"] or 0.0)
    if form["player"] is not None:
        if form["player"] not in players:
            raise ValueError(
                f"{text!r}: no player is called {form['player']!r}{suggest(form['player'], players)}"
            )
        return Goal("placed", player=form["player"], within=within or PLACED_WITHIN)
    if form["order"]:
        return Goal("order", within=within)
    places = int(form["places"] or 1)
    if not 0 < places < max(len(players), 2):
        raise ValueError(
            f"{text!r}: there are {len(players)} players, so expected first 1 to {len(players) - 1}"
        )
    return Goal("top", places, within=within)
