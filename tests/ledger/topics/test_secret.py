"""The arena's secret: committed before the first match, told to nobody, opened once."""

import json
import sqlite3
from pathlib import Path

import msgspec
import pytest
from tests.engine.arenas import house, play, write_arena

from peerage.arena import ArenaError, open_arena
from peerage.ledger import Ledger, LedgerError, open_ledger
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.forms.merkle import digest
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.topics.secret import TOPIC, arena_secret, disclose, read_secret
from peerage.settings import SettingsError
from peerage.standings.verify import verify
from peerage.values.sealing import match_key

pytestmark = pytest.mark.usefixtures("plain_bodies")

COLORS = {"game": "color-obfuscation", "rules": {}}


def keys(ledger: Ledger) -> list[str]:
    texts = by_hex(ledger.texts())
    return [read_fixture(row.body, texts).seed for row in ledger.fixtures()]


def played(folder: Path, matches: int = 4, **sections: object) -> Ledger:
    write_arena(folder, **sections)  # type: ignore[arg-type]
    play(folder, matches)
    return open_ledger("sqlite:///arena.db", folder, create=False)


def test_it_is_random_without_a_seed_and_follows_from_one_that_house_players_state(tmp_path: Path) -> None:
    first, second, stated = (
        played(tmp_path / name, **COLORS, seed=seed) for name, seed in (("a", None), ("b", None), ("c", 7))
    )
    secrets = [read_secret(ledger) for ledger in (first, second, stated)]
    assert all(secret is not None for secret in secrets)
    values = [secret.value for secret in secrets if secret]
    assert len(set(values)) == 3
    assert [len(value) for value in values[:2]] == [64, 64]
    assert values[2] == "7"
    assert not set(keys(first)) & set(keys(second))
    for ledger, value in zip((first, second, stated), values, strict=True):
        assert keys(ledger) == [match_key(value, number) for number in range(1, ledger.heads()[0] + 1)]
        assert next(ledger.amendments()).topic == TOPIC
        ledger.close()


def test_no_player_but_a_house_player_meets_draws_that_follow_from_a_stated_seed(tmp_path: Path) -> None:
    agent = [*house(3), {"name": "agent", "model": "python:json:dumps"}]
    write_arena(tmp_path, agent, seed=0, **COLORS)
    with open_arena(tmp_path) as arena:
        assert arena.settings.secret_seed is None
        with arena.ledger.runner():
            assert len(arena_secret(arena.ledger, arena.settings.secret_seed)) == 64


def test_an_arena_of_a_stated_seed_admits_no_other_player_later(tmp_path: Path) -> None:
    played(tmp_path, **COLORS).close()
    write_arena(tmp_path, [*house(7), {"name": "agent", "model": "python:json:dumps"}], **COLORS)
    with pytest.raises(SettingsError, match="follows from seed 1, which agent could know"):
        play(tmp_path, 6)


def test_a_redacted_copy_holds_the_commitment_and_the_keys_of_finished_matches(tmp_path: Path) -> None:
    ledger = played(tmp_path, 5, seed=None, **COLORS)
    issued, done = ledger.heads()
    assert issued > done, "some matches are issued and not finished"
    secret = read_secret(ledger)
    assert secret is not None
    write_redacted(ledger, tmp_path / "copy.db")
    bytes_of_copy = (tmp_path / "copy.db").read_bytes()
    assert secret.value.encode() not in bytes_of_copy
    open_keys = keys(ledger)
    assert all(key.encode() in bytes_of_copy for key in open_keys[:done])
    assert not any(key.encode() in bytes_of_copy for key in open_keys[done:])
    copy = open_ledger("sqlite:///copy.db", tmp_path, create=False)
    report = verify(copy)
    assert report.ok, report.problems
    original = verify(ledger)
    assert (report.head, report.log_root, report.copy) == (original.head, original.log_root, True)
    hidden = read_secret(copy)
    assert hidden is not None
    assert (hidden.value, hidden.disclosed) == ("", False)
    with copy.runner(), pytest.raises(LedgerError, match="without the arena's secret"):
        arena_secret(copy)
    copy.close()
    ledger.close()


def test_disclosing_opens_the_secret_proves_every_key_and_ends_the_arena(tmp_path: Path) -> None:
    ledger = played(tmp_path, 5, seed=None, **COLORS)
    with ledger.runner(), pytest.raises(LedgerError, match="under way"):
        disclose(ledger, 0)
    issued = ledger.heads()[0]
    ledger.close()
    play(tmp_path, issued)
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=False)
    with ledger.runner():
        opened = disclose(ledger, 0)
        assert disclose(ledger, 0) == opened
    write_redacted(ledger, tmp_path / "copy.db")
    copy = open_ledger("sqlite:///copy.db", tmp_path, create=False)
    assert read_secret(copy) == opened
    assert verify(copy).ok
    with pytest.raises(ArenaError, match="disclosed"):
        play(tmp_path, issued + 1)
    copy.close()
    ledger.close()


def test_a_match_whose_draws_somebody_chose_is_named(tmp_path: Path) -> None:
    ledger = played(tmp_path, seed=None, **COLORS)
    row = next(ledger.fixtures(3, 3))
    ledger.close()
    chosen = json.loads(row.body)
    chosen["seed"]["value"] = json.dumps("0" * 64)
    body = msgspec.json.encode(chosen)
    with sqlite3.connect(tmp_path / "arena.db") as file:
        file.execute("UPDATE fixtures SET body = ? WHERE number = 3", (body,))
        (record,) = file.execute("SELECT body FROM records WHERE number = 3").fetchone()
        forged = record.replace(digest(row.body).encode(), digest(body).encode())
        file.execute("UPDATE records SET body = ? WHERE number = 3", (forged,))
    file.close()
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=False)
    assert any(
        problem.match == 3 and "does not follow from the arena's secret" in problem.what
        for problem in verify(ledger).problems
    )
    ledger.close()
