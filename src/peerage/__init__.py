"""Peerage ranks language models by letting them play.

import peerage

with peerage.open("my-arena") as arena:
    arena.run(max_matches=100)
    for row in arena.leaderboard():
        print(row.rank, row.player, row.rating)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "Arena", "ArenaError", "Chart", "Gate", "LedgerError", "MatchView", "Outlook", "PairRow", "Plan",
    "PlayerError", "PlayerRow", "ReplayReport", "Row", "RunReport", "ScopeError", "SettingsError",
    "Stats", "Table", "Verdict", "VerifyReport", "__version__", "open", "rate",
]  # fmt: skip

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.arena import open_arena as open
    from peerage.engine.again.replay import ReplayReport
    from peerage.engine.run.report import RunReport
    from peerage.ledger import LedgerError
    from peerage.ledger.check.verify import Report as VerifyReport
    from peerage.players.client import PlayerError
    from peerage.reading.scope import ScopeError
    from peerage.render.charts import Chart
    from peerage.render.table import Table
    from peerage.settings import ArenaError, SettingsError
    from peerage.version import __version__
    from peerage.views.catalogue import PlayerRow
    from peerage.views.decision.gate import Gate
    from peerage.views.leaderboard.row import Row
    from peerage.views.leaderboard.verdict import Verdict
    from peerage.views.match.match import MatchView
    from peerage.views.plan.estimate import Plan
    from peerage.views.plan.outlook import Outlook
    from peerage.views.players import PairRow
    from peerage.views.rated import rate
    from peerage.views.stats.report import Stats

_HOME = {
    "Arena": "arena",
    "ArenaError": "settings",
    "Chart": "render.charts",
    "Gate": "views.decision.gate",
    "LedgerError": "ledger.forms.rows",
    "MatchView": "views.match.match",
    "Outlook": "views.plan.outlook",
    "PairRow": "views.players",
    "Plan": "views.plan.estimate",
    "PlayerError": "players.client",
    "PlayerRow": "views.catalogue",
    "ReplayReport": "engine.again.replay",
    "Row": "views.leaderboard.row",
    "RunReport": "engine.run.report",
    "ScopeError": "reading.scope",
    "SettingsError": "settings",
    "Stats": "views.stats.report",
    "Table": "render.table",
    "Verdict": "views.leaderboard.verdict",
    "VerifyReport": "ledger.check.verify",
    "__version__": "version",
    "open": "arena",
    "rate": "views.rated",
}
_CALLED = {"open": "open_arena", "VerifyReport": "Report"}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for: `import peerage` alone stays instant."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    try:
        return getattr(import_module(f"peerage.{_HOME[name]}"), _CALLED.get(name, name))
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("peerage") or not _HOME[name].startswith("site."):
            raise
        raise ImportError(f"peerage.{name} needs the extra `site`: pip install 'peerage[site]'") from None


def __dir__() -> list[str]:
    return list(__all__)
