"""Requirements of an arena that workers on many machines play."""

from __future__ import annotations

from importlib.util import find_spec

from peerage.settings import ArenaError, ArenaSettings


def refuse(settings: ArenaSettings, ledger: str) -> None:
    """Raise ArenaError where the settings want workers, and these cannot play the arena."""
    if settings.engine.kind == "local":
        return
    if not ledger.startswith("postgresql"):
        raise ArenaError(
            f"engine: ray wants a ledger on PostgreSQL, where workers claim matches, and this one is "
            f"{ledger}. A file has one writer, and workers elsewhere do not see it. `peerage copy` moves an "
            "arena to a server; or remove `engine: ray`"
        )
    if find_spec("ray") is None:
        raise ArenaError("engine: ray needs the extra `ray`: pip install 'peerage[ray]'")
