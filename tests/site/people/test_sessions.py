"""The key of the voters' sessions: drawn once, kept for its owner alone, and not taken when it is no key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from peerage.ledger import LedgerError
from peerage.site.people.voting import Sessions


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return tmp_path / "arena.votes.db"


def test_the_key_is_drawn_once_and_for_its_owner_alone(votes: Path) -> None:
    first, again = Sessions.beside(votes), Sessions.beside(votes)
    key = votes.with_name("arena.votes.key")
    assert len(key.read_bytes()) == 32
    if os.name == "posix":
        assert key.stat().st_mode & 0o777 == 0o600
    assert first.cookie == again.cookie
    assert again.genuine(first.new())
    assert first.new() != first.new()


def test_another_arena_has_another_cookie(votes: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, other = Sessions.beside(votes), Sessions.beside(tmp_path / "other" / "arena.votes.db")
    assert one.cookie != other.cookie
    assert not other.genuine(one.new())


@pytest.mark.parametrize("body", [b"", b"short", b"x" * 33])
def test_what_is_no_key_is_not_taken(votes: Path, body: bytes) -> None:
    key = votes.with_name("arena.votes.key")
    key.write_bytes(body)
    key.chmod(0o600)
    with pytest.raises(LedgerError, match="delete it"):
        Sessions.beside(votes)


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_that_others_may_read_is_not_taken(votes: Path, mode: int) -> None:
    Sessions.beside(votes)
    votes.with_name("arena.votes.key").chmod(mode)
    with pytest.raises(LedgerError, match="others may read"):
        Sessions.beside(votes)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot keep the key"):
        Sessions.beside(tmp_path / "nowhere" / "arena.votes.db")
