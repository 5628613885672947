"""The arenas that tests of tables read."""

from tests.views.conftest import arena, folder, tasks_arena, tasks_folder

__all__ = ["arena", "folder", "tasks_arena", "tasks_folder"]
