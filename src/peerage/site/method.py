"""How every number is made, from the arena's real settings, and how to check it: method and ledger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from peerage.games import installed
from peerage.ledger.log import entry_leaf
from peerage.ledger.since import log_root
from peerage.settings import ArenaSettings
from peerage.site import downloads
from peerage.site.leaderboards import NAMES
from peerage.site.reading import Site
from peerage.site.rendering import View


def paths(site: Site) -> Iterator[str]:
    yield from ("method.html", "ledger.html")


def view(site: Site, path: str) -> View | None:
    if path == "method.html":
        settings = site.settings
        return View(
            "method.html",
            "Method",
            "method.html",
            {
                "notes": [(NAMES[track], site.board(track).notes) for track in site.tracks],
                "settings": [
                    ("Ratings", settings.rating.model_dump(mode="json")),
                    ("Pairing", settings.pairing.model_dump(mode="json")),
                    ("Budget, in dollars", settings.budget.model_dump(mode="json")),
                    ("Rules of the game, where stated", stated_rules(settings)),
                ],
                "forms": site.reader.forms(),
            },
        )
    if path == "ledger.html":
        return View(
            "ledger.html",
            "Ledger",
            "ledger.html",
            {
                "topics": sorted(site.moment.topics().items()),
                "log_root": log_root(
                    [entry_leaf(one.position, one.about, one.digest) for one in site.moment.log()]
                ),
                "downloads": downloads.offered(site),
                "whole": downloads.SQLITE in downloads.paths(site),
                "parquet": downloads.PARQUET in downloads.paths(site),
            },
        )
    return None


def stated_rules(settings: ArenaSettings) -> dict[str, Any]:
    """The rules as stated; of a list to draw from, such as the owner's prompts, how long it is."""
    spec = installed(settings.game)
    if spec is None:  # which of its rules are the owner's alone it says itself
        return {}
    lists = spec.lists

    def shown(name: str, value: Any) -> Any:
        return f"{len(value):,} of the owner's own" if name in lists and isinstance(value, list) else value

    return {name: shown(name, value) for name, value in settings.rules.items()}
