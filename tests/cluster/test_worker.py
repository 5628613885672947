"""What a worker needs on its machine before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.test_hosts import HANDS

from peerage.games import release_of
from peerage.settings import ArenaError
from peerage.settings.game_file import files_of, load_file

pytest.importorskip("psycopg", reason="needs the extra `ray`")


def test_games_in_files_are_loaded_where_they_are_those_of_the_leader(tmp_path: Path) -> None:
    from peerage.cluster.worker import _load_games

    path = tmp_path / "hands.py"
    path.write_text(HANDS, "utf-8")
    name = load_file(path).name
    files = files_of([name, "duel"])
    assert files == {str(path.resolve()): release_of(name)}
    _load_games(files)
    path.write_text(f"{HANDS}\n# more\n", "utf-8")
    with pytest.raises(ArenaError, match=r"hands\.py differs between the machines"):
        _load_games(files)
    path.unlink()
    with pytest.raises(ArenaError, match=r"on the machine of a worker, the game's file .* cannot be read"):
        _load_games(files)
