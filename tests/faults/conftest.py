"""As the engine's tests: these ledgers need not wait for the disk."""

from tests.engine.conftest import unsynced_ledgers

__all__ = ["unsynced_ledgers"]
