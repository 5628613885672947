"""Ledgers of every form there was, kept as they were written: they open, verify, show and export for ever."""

from __future__ import annotations

import lzma
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import house, ledger_of, play, write_arena
from tests.ledger import golden
from typer.testing import CliRunner

from peerage.arena import ArenaError, open_arena
from peerage.cli.main import app
from peerage.ledger.disclosure import write_redacted
from peerage.ledger.since import read_head
from peerage.ledger.verify import verify
from peerage.site.build import build
from peerage.site.reading import Site

DATA = Path(__file__).parents[1] / "data"
HEADS = {
    "0.1.0": (9, "177ab6f8423e241617c10f6b2815ed4639f00b0c66f9caff5a1d3a4d9cfc44fa", ""),
    "streams": (
        8,
        "242761625dd0186673b6f861f04d4b94a1fab90b632a7adc7e3e1eafc81f109c",
        "37:82975381f8e4b0762102c4cb185656a316000ed632403b8920876002cf5f66a8",
    ),
    "log": (
        8,
        "9c6cbe9243ff19f4ec35e62ae6ef460b2270895d6d8b5b9da39b5c2157ea0093",
        "44:6e41b8f203e107246d530f67e820ebb9ee99cec45ee21cc3074bcadea60771fd",
    ),
}
"""Matches, play head and log root of `tests/data/ledger-NAME.db.xz`, as the program of then gave them."""


def kept(name: str, folder: Path) -> Path:
    """The arena of a golden ledger."""
    if name == "0.1.0":
        write_arena(folder, house(6, price={"input": 1.0, "output": 4.0}), pairing={"window": 6})
    else:
        golden.arena(folder)
    (folder / "arena.db").write_bytes(lzma.decompress((DATA / f"ledger-{name}.db.xz").read_bytes()))
    return folder


@pytest.mark.parametrize("name", HEADS)
def test_it_opens_verifies_replays_shows_and_exports(name: str, tmp_path: Path) -> None:
    folder = kept(name, tmp_path / "arena")
    before = (folder / "arena.db").read_bytes()
    matches, head, root = HEADS[name]
    with closing(ledger_of(folder)) as ledger:
        report = verify(ledger)
        assert report.problems == ()
        assert (report.matches, report.head, report.log_root) == (matches, head, root)
        write_redacted(ledger, tmp_path / "arena.db")
    with closing(ledger_of(tmp_path)) as copy:
        report = verify(copy)
        assert (report.problems, report.head) == ((), head)
        assert name != "log" or report.log_root == root
    shown = [["match", str(number), "--full"] for number in range(1, matches + 1)]
    tables = [[*words, "--format", "json"] for words in (["leaderboard"], ["stats"], ["players"])]
    for words in (*shown, *tables, ["replay"], ["export"], ["export", "--format", "csv"]):
        done = CliRunner().invoke(app, [*words, "--dir", str(folder)])
        # A game goes on to other versions: then replay names the release that plays this one.
        assert done.exit_code in ((0, 3) if words == ["replay"] else (0,)), (words, done.output)
    with closing(Site.open(folder)) as site:
        build(site, folder, tmp_path / "site")
        assert head in (tmp_path / "site" / "ledger.html").read_text("utf-8")
    assert (folder / "arena.db").read_bytes() == before


def test_one_whose_secret_is_disclosed_has_ended(tmp_path: Path) -> None:
    folder = kept("log", tmp_path)
    with open_arena(folder) as arena:
        assert arena.ledger.topics() == {
            "arena": 2,
            "benches": 2,
            "challenges": 3,
            "models": 6,
            "outside": 2,
            "players": 6,
            "public": 1,
        }
    with pytest.raises(ArenaError, match="disclosed"):
        play(folder, 10)


def test_one_of_chained_streams_goes_on_as_one_log(tmp_path: Path) -> None:
    matches, head, root = HEADS["streams"]
    folder = kept("streams", tmp_path)
    play(folder, 12)
    with closing(ledger_of(folder)) as ledger:
        report = verify(ledger, since=read_head(root))
        abouts = [entry.about for entry in ledger.log()]
        chains = {row.number: row.chain.hex() for row in ledger.records()}
    assert report.problems == ()
    assert report.since is not None
    assert (report.since.extends, chains[matches]) == (True, head)
    after = abouts[37:]
    assert after[0] == "upgrade 8"
    assert "stream players" in after
    assert [one for one in after if one.startswith("record ")] == [f"record {n}" for n in chains if n > 8]
