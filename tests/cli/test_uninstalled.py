"""A game of a package that is uninstalled after its matches: everything on record stays readable."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import peerage.games
from peerage.cli.main import app

AUCTION = '''
from random import Random
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from peerage.formats import FormatError
from peerage.game.bounds import Asks
from peerage.game.spec import GameRating, GameSpec
from peerage.game.match import Outcome
from peerage.game.protocol import Ask, Json, Prompt

BIDDING = Prompt("", "You bid in a sealed auction for something that is worth {worth} coins to you. {format}")
CALLING = Prompt("", "How do you feel? {format}")


class Bid(msgspec.Struct, frozen=True):
    amount: Annotated[int, Meta(ge=0, le=100, description="What you offer, in coins.")]
    mood: Literal["bold", "shy"]


class Shout(msgspec.Struct, frozen=True):
    """A format of its own: one word in capitals."""

    def instruction(self):
        return "Reply with one word in capitals."

    def schema(self):
        return None

    def parse(self, text):
        if not text.strip().isupper():
            raise FormatError("this is no shout; one word in capitals was expected")
        return text.strip()

    def write(self, value):
        return value

    def sample(self, rng: Random):
        return rng.choice(["HEY", "HO"])


BID = Json(Bid)


def play(table):
    rng = table.rng("worth")
    replies = yield [
        Ask(seat.label, f"bid/{seat.label}", "contestant",
            BIDDING.messages({"worth": str(rng.randint(1, 100)), "format": BID.instruction()}), BID, 100)
        for seat in table.seats
    ]
    shouts = yield [
        Ask(seat.label, f"shout/{seat.label}", "contestant",
            CALLING.messages({"format": Shout().instruction()}), Shout(), 100)
        for seat in table.seats
    ]
    bids = [reply.value.amount if reply.ok else -1 for reply in replies]
    score = 0.5 if bids[0] == bids[1] else float(bids[0] > bids[1])
    return Outcome(scores={"A": score, "B": 1 - score}, detail={"price": max(bids)})


def asks(rules, fixture):
    yield Asks("contestant", BIDDING, BID, calls=1, max_tokens=100)
    yield Asks("contestant", CALLING, Shout(), calls=1, max_tokens=100)


GAME = GameSpec(
    name="sealed-auction", version=3, about="The highest sealed bid wins.", play=play, asks=asks,
)
'''  # fmt: skip

ARENA = """
game: sealed-auction
seed: 5
players:
  - {name: Anna, model: "house:0.9", faults: {malformed: 0.4}}
  - {name: Bert, model: "house:0.5", faults: {malformed: 0.4}}
  - {name: Carl, model: "house:0.3", faults: {malformed: 0.4}}
"""
MATCHES = 12

cli = CliRunner()


def said(folder: Path, *words: str, code: int = 0) -> str:
    done = cli.invoke(app, [*words, "--dir", str(folder)])
    assert done.exit_code == code, (words, done.output, done.exception)
    return done.output


@contextmanager
def installed(site: Path, module: str, source: str) -> Iterator[None]:
    """The game as a package's, for as long as this goes on."""
    about = site / "auctions-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: auctions\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[peerage.games]\nsealed-auction = {module}:GAME\n")
    (site / f"{module}.py").write_text(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        peerage.games._offered.cache_clear()
        yield
    peerage.games._offered.cache_clear()
    sys.modules.pop(module)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena whose game is no longer there. What was said while it was is in `installed.json`."""
    arena = tmp_path_factory.mktemp("auctions")
    (arena / "arena.yaml").write_text(ARENA)
    with installed(tmp_path_factory.mktemp("site-packages"), "auctions_under_test", AUCTION):
        said(arena, "run", "--max-matches", str(MATCHES), "--yes")
        assert f"{MATCHES} of {MATCHES} matches recomputed" in said(arena, "replay")
        before = {" ".join(words): said(arena, *words) for words in ALIKE}
    (arena / "installed.json").write_text(json.dumps(before))
    return arena


def test_ratings_follow_also_from_a_game_of_two_that_is_no_duel(tmp_path: Path) -> None:
    skilled = AUCTION.replace("asks=asks,", 'asks=asks, rating=GameRating(tracks=("trueskill",)),')
    arena, site = tmp_path / "arena", tmp_path / "site"
    arena.mkdir()
    site.mkdir()
    (arena / "arena.yaml").write_text(ARENA)
    with installed(site, "skilled_auctions_under_test", skilled):
        said(arena, "run", "--max-matches", "4", "--yes")
        before = said(arena, "leaderboard", "--track", "trueskill")
    assert "whole: 4 matches" in said(arena, "verify")
    assert "nothing differs: 0 of 4" in said(arena, "replay", code=3)
    assert said(arena, "leaderboard", "--track", "trueskill") == before


ALIKE = [
    ["verify"], ["leaderboard"], ["leaderboard", "--game", "sealed-auction"], ["players"],
    ["stats", "--format", "json"], ["export", "--format", "jsonl"], ["export", "--format", "csv"],
]  # fmt: skip


@pytest.mark.parametrize("words", ALIKE, ids=" ".join)
def test_what_is_on_record_is_read_as_before(folder: Path, words: list[str]) -> None:
    before = json.loads((folder / "installed.json").read_text())[" ".join(words)]
    now = said(folder, *words)
    if words[0] == "stats":
        # Whether a last reply was usable only its format could tell; of replies in the form of a struct its
        # schema tells, and of the others that they were to be repaired.
        ours, theirs = ([row | {"invalid": 0} for row in json.loads(one)["players"]] for one in (now, before))
        assert ours == theirs
        assert sum(row["repaired"] for row in ours) > 5
        assert sum(row["invalid"] for row in json.loads(now)["players"]) > 0
    else:
        assert now == before


def test_what_cannot_be_recomputed_is_said(folder: Path) -> None:
    replayed = said(folder, "replay", code=3)
    assert "0 of 12 matches recomputed" in replayed
    assert "auctions==1.0" in replayed
    assert "not recomputable here: the game sealed-auction is not installed" in said(folder, "match", "1")


def test_a_match_shows_its_replies_and_which_were_not_usable(folder: Path) -> None:
    repaired = set()
    for number in range(1, MATCHES + 1):
        shown = json.loads(said(folder, "match", str(number), "--format", "json"))["exchanges"]
        keys = {one["key"] for one in shown}
        for one in shown:
            again = f"{one['key']}~repair" in keys
            repaired |= {one["key"]} if again else set()
            if one["key"].startswith("bid/"):
                assert (one["status"] == "ok") == one["reply"].lstrip("`json\n").startswith("{")
            else:
                assert (one["status"] == "ok") == (not again)
            assert (one["status"] == "ok") == (not one["reason"])
    assert {key.partition("/")[0] for key in repaired} == {"bid", "shout"}


def test_its_pages_are_built_and_say_so(folder: Path, tmp_path: Path) -> None:
    said(folder, "site", "build", str(tmp_path / "pages"))
    pages = [path.read_text("utf-8") for path in (tmp_path / "pages" / "match").iterdir()]
    assert sum("the game sealed-auction is not installed" in page for page in pages) == MATCHES
    said(folder, "report", str(tmp_path / "report.html"))


@pytest.mark.parametrize("words", [["run", "--max-matches", "99", "--yes"], ["plan", "--matches", "9"]])
def test_it_is_not_gone_on_with(folder: Path, words: list[str]) -> None:
    done = cli.invoke(app, [*words, "--dir", str(folder)])
    assert done.exit_code == 2
    assert "line 2, game: no game is called 'sealed-auction'" in done.output
