"""The check that a game asks by the texts of an arena's owner where its rules have some."""

from __future__ import annotations

from typing import Any

import msgspec

from peerage.game.match import Fixture
from peerage.game.protocol import template_parts
from peerage.game.spec import GameSpec
from peerage.game.texts import included, leaves_of
from peerage.testing.offline import Answering, HousePlayers, Unfair, call, play


def asked_by(spec: GameSpec[Any], made: Fixture, answering: Answering | HousePlayers) -> frozenset[str]:
    """Return the names of the texts that a match asks by.

    Each is replaced by itself and a mark, which must then be asked too. Raises Unfair with those that stay.
    """
    own = leaves_of(spec.texts)
    marks = {name: f" ({name})" for name in own}
    texts = {name: f"{text}{marks[name]}" for name, text in own.items()}
    other = msgspec.structs.replace(made, settings={**made.settings, "texts": texts})
    asked, then = (
        "\n".join([text for step in play(spec, each, answering).steps for _, text in call(step.ask).messages])
        for each in (made, other)
    )
    changed = {name for name in own if marks[name] in then}
    known = {included(own, own[name]) for name in changed}
    stay = [
        name
        for name, text in own.items()
        if (whole := included(own, text)).strip() and whole not in known and _occurs(whole, asked)
    ]
    if stay:
        raise Unfair(
            f"{', '.join(stay)} of its texts stay as they are where `rules.texts` has others; ask by "
            "`texts(…, rules.texts)`"
        )
    return frozenset(changed)


def _occurs(text: str, asked: str) -> bool:
    """Return whether all that stands between a text's places was asked."""
    return all(part in asked for is_place, part in template_parts(text) if not is_place)
