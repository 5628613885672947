"""A leaderboard read in another way, as a server answers it: `leaderboard/raw.html?k=16`, `?without=NAME`.

The record is counted again as `peerage leaderboard` does with the same options; nothing is played or written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from peerage.settings import suggest
from peerage.site import leaderboards
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.tables.corrected import asked
from peerage.tables.played import ScopeError
from peerage.tables.what_if import WhatIf

KEYS = ("correct", "k", "propagation", "tau_c", "ties", "weights", "without")
"""What a query may ask: corrections of what judges said, or as `WhatIf` names it."""
MOST_JUDGES = 8
"""Left out at once."""
LONGEST = 200
"""Characters of a value; players' names are shorter."""

Query = tuple[tuple[str, str], ...]


def query_of(path: str, stated: Iterable[tuple[str, str]]) -> Query:
    """What of a query asks for another reading of the leaderboard at `path`; the same for all ways to ask the
    same. Fields of a form that were left empty ask for nothing."""
    if path != "index.html" and not path.startswith("leaderboard/"):
        return ()
    found, words = set[tuple[str, str]](), set[str]()
    for key, value in stated:
        if key == "correct":
            words.update(filter(None, map(str.strip, value.split(","))))
        elif key in KEYS and value:
            found.add((key, value[:LONGEST]))
    if words:
        found.add(("correct", ",".join(sorted(words))[:LONGEST]))
    return tuple(sorted(found)[: MOST_JUDGES + len(KEYS)])


def what_if(query: Query, players: Sequence[str]) -> WhatIf:
    """What a query asks; raises ScopeError for what nobody can. Numbers have three digits that count."""
    stated = dict(query)
    without = tuple([value for key, value in query if key == "without"])
    for name in without:
        if name not in players:
            raise ScopeError(f"nobody is called {name!r}{suggest(name, players)}")
    if len(without) > MOST_JUDGES:
        raise ScopeError(f"a page leaves out {MOST_JUDGES} judges at most; `peerage leaderboard` any number")
    for key, only in (("weights", "equal"), ("propagation", "no"), ("ties", "no")):
        if stated.get(key, only) != only:
            raise ScopeError(f"{key}={stated[key]} means nothing; write {key}={only}, or leave it out")
    return WhatIf(
        without,
        "weights" in stated,
        _number("k", stated),
        _number("tau_c", stated),
        "propagation" not in stated,
        "ties" not in stated,
    )


def _number(key: str, stated: dict[str, str]) -> float | None:
    if key not in stated:
        return None
    try:
        value = float(f"{float(stated[key]):.3g}")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ScopeError(f"{key}={stated[key]} is no number")
    return value


def view(site: Site, path: str, query: Query) -> View | None:
    """The leaderboard at `path`, read as a query asks, or a page that says why it cannot be; None where no
    leaderboard is."""
    wanted = leaderboards.wanted(site, path)
    if wanted is None:
        return None
    try:
        if words := dict(query).get("correct"):
            return _corrected(site, wanted, words, alone=len(query) == 1)
        return leaderboards.leaderboard(site, wanted, what_if(query, [row.player for row in site.table()]))
    except ScopeError as error:
        return View("what-if.html", "Another reading", {"why": str(error), "back": path}, "index.html")


def _corrected(site: Site, wanted: leaderboards.Filter, words: str, *, alone: bool) -> View:
    """What corrections of the judges' votes or scores would change. Raises ScopeError."""
    corrections = asked(words)
    offered = leaderboards.offered(site, wanted)
    if not alone or (offered and offered["judges"] and not offered["correct"]):
        raise ScopeError(
            "what judges said is corrected by itself, over everything, a game or a topic, and rated by "
            "Bradley-Terry: leave everything but correct out, and ask for it on such a page"
        )
    values = {
        "part": wanted.part,
        "asked": corrections,
        "rows": site.corrected(corrections, wanted.game, wanted.topic),
        "at": leaderboards.address(site, wanted),
    }
    return View("corrected.html", f"Corrected for {', '.join(corrections)}", values, "index.html")
