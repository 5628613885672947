"""The arenas that tests of tables read."""

from tests.tables.conftest import arena, folder, tasks_folder

__all__ = ["arena", "folder", "tasks_folder"]
