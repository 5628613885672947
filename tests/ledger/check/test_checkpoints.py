"""Whoever kept a checkpoint finds what was done to a ledger since, though it is whole by itself."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.engine.arenas import SMALL, house, ledger_of, play, write_arena
from tests.ledger.forger import again, changed
from typer.testing import CliRunner, Result

from peerage.cli.main import app
from peerage.ledger.check.checkpoints import kept_in, leaves_of, new_key, origin, read_private_key
from peerage.ledger.check.kept_checkpoints import KeptCheckpoint, _entries
from peerage.ledger.check.notes import Checkpoint, Proof, key_of, sign
from peerage.ledger.forms.log import entry_text
from peerage.ledger.forms.merkle import digest, levels, proof
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.topics.votes import PeopleVotes, Vote
from peerage.standings.verify import verify
from peerage.values.outputs import secret_files

pytestmark = pytest.mark.usefixtures("plain_bodies")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("settings") / "checkpoint.key"
    new_key(path)
    return path


def vote(folder: Path, matches: range, verdict: str = "A") -> None:
    with closing(ledger_of(folder)) as ledger:
        records = {row.number: digest(row.body) for row in ledger.records()}
        votes = PeopleVotes(ledger.address, folder)
        for match in matches:
            votes.cast(Vote(match, records[match], ("A", "B"), verdict, f"v{match}"), 100 + match)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, key: Path) -> Path:
    """Four matches and two votes, signed; then three more of each, signed again."""
    folder = write_arena(tmp_path_factory.mktemp("signed") / "arena", house(4), rules=SMALL)
    for matches, voted in ((4, range(1, 3)), (7, range(3, 6))):
        play(folder, matches)
        vote(folder, voted)
        assert peerage(folder, "checkpoint", "--key", str(key)).exit_code == 0
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """The arena as it is at the publisher's, who keeps no checkpoints in it."""
    copy = Path(shutil.copytree(whole, tmp_path / "copy"))
    shutil.rmtree(copy / "checkpoints")
    return copy


def peerage(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--dir", str(folder)])


def sizes(whole: Path) -> tuple[int, int]:
    first, second = [one.checkpoint.size for one in kept_in(whole)]
    return first, second


def test_a_checkpoint_is_kept_and_printed(whole: Path, key: Path) -> None:
    first, second = kept_in(whole)
    with closing(ledger_of(whole)) as ledger:
        name, report = origin(ledger), verify(ledger)
        log = list(ledger.log())
    assert first.checkpoint.origin == second.checkpoint.origin == name
    assert report.log_root == f"{second.checkpoint.size}:{second.checkpoint.root.hex()}"
    assert [one.key for one in second.signed] == [key_of(read_private_key(key), name)]
    # The votes are in it: their head stands in the log, among the entries that are signed.
    assert [one.about for one in log if one.about.startswith("votes")][-1] == "votes 5"
    printed = peerage(whole, "checkpoint", "--print")
    assert (printed.exit_code, printed.stdout) == (0, str(second.checkpoint))
    assert printed.stdout == (whole / "checkpoints" / f"{second.checkpoint.size}.txt").read_text("utf-8")


def test_a_ledger_extends_its_checkpoints(whole: Path, folder: Path) -> None:
    first, second = sizes(whole)
    done = CliRunner().invoke(app, ["verify", str(folder), "--checkpoint", str(whole)])
    assert done.exit_code == 0, done.output
    said = done.output.splitlines()[-2:]
    assert f"{first}.txt by 3 matches and {second - first} entries; signed by peerage/" in said[0]
    assert f"{second}.txt by 0 matches and 0 entries; signed by peerage/" in said[1]
    found = json.loads(peerage(whole, "verify", "--format", "json").stdout)["checkpoints"]
    assert [(one["size"], one["extends"], one["matches"]) for one in found] == [
        (first, True, 3),
        (second, True, 0),
    ]


def rechained(folder: Path) -> None:
    """An early reply, and all that holds it."""
    new = """replace(body, '"text":"', '"text":"So: ')"""
    changed(folder, f"UPDATE replies SET body = CAST({new} AS BLOB) WHERE id = 1")


def redated(folder: Path) -> None:
    """A match, a day earlier than it was."""
    earlier = "SET at_ms = at_ms - 86400000 WHERE"
    changed(
        folder,
        f"UPDATE records {earlier} number = 6",
        f"UPDATE summaries {earlier} number = 6",
        f"UPDATE replies {earlier} intent IN (SELECT id FROM intents WHERE match = 6)",
    )


def voted_otherwise(folder: Path) -> None:
    new = """replace(body, '"verdict":"A"', '"verdict":"B"')"""
    changed(folder, f"UPDATE votes SET body = CAST({new} AS BLOB)", file="arena.votes.db")


def newest_vote(folder: Path) -> None:
    """The newest vote, which no run had taken in when the checkpoint was signed."""
    new = """replace(body, '"verdict":"A"', '"verdict":"B"')"""
    changed(folder, f"UPDATE votes SET body = CAST({new} AS BLOB) WHERE sequence = 5", file="arena.votes.db")


def cut(folder: Path) -> None:
    """The last two matches, with all that was written after the one before them, votes on them included."""
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        [(last,)] = db.execute("SELECT position FROM log WHERE about = 'record 6'").fetchall()
        for table in ("fixtures", "records", "summaries", "snapshots"):
            db.execute(f"DELETE FROM {table} WHERE number >= 6")
        for table in ("replies", "failures"):
            db.execute(f"DELETE FROM {table} WHERE intent IN (SELECT id FROM intents WHERE match >= 6)")
        db.execute("DELETE FROM intents WHERE match >= 6")
        db.execute("DELETE FROM entries WHERE position >= ?", [last])
        db.execute("DELETE FROM log WHERE position >= ?", [last])
    again(folder)


def another(folder: Path) -> None:
    shutil.rmtree(folder)
    play(write_arena(folder, house(4), seed=2, rules=SMALL), 9)


ATTACKS: list[tuple[Callable[[Path], None], list[str]]] = [
    (rechained, ["entries 1 to {first} (matches 1 to 4;", "Its past was rewritten", "nor does it extend "]),
    (redated, ["entries {after} to {second} (matches 5 to 7", "it agrees with "]),
    (voted_otherwise, ["entries 1 to {first} (matches 1 to 4; the first 2 votes of the audience"]),
    (newest_vote, ["entries {after} to {second} (matches 5 to 7; the first 5 votes of the audience"]),
    (
        cut,
        [
            "its log has ",
            "and 5 matches, that one had {second} entries. Its end was cut off",
            "it agrees with ",
        ],
    ),
    (another, ["is of another arena, or this ledger was written again from its first entry"]),
]


@pytest.mark.parametrize(("attack", "told"), ATTACKS, ids=[attack.__name__ for attack, _ in ATTACKS])
def test_an_attack_is_found(
    whole: Path, folder: Path, attack: Callable[[Path], None], told: list[str]
) -> None:
    attack(folder)
    alone = peerage(folder, "verify")
    assert (alone.exit_code, "NOT" in alone.output) == (0, False), alone.output
    done = peerage(folder, "verify", "--checkpoint", str(whole / "checkpoints"))
    assert done.exit_code == 1
    first, second = sizes(whole)
    for one in told:
        assert one.format(first=first, second=second, after=first + 1) in done.output
    assert "Traceback" not in done.output


def test_who_signed_is_checked(whole: Path, folder: Path, key: Path, tmp_path: Path) -> None:
    note = kept_in(whole)[-1].checkpoint
    with closing(ledger_of(folder)) as ledger:
        public = str(key_of(read_private_key(key), origin(ledger)))
    other = new_key(tmp_path / "other.key")
    kept = tmp_path / "kept.txt"

    def asked(text: str, *words: str) -> tuple[int, str]:
        kept.write_text(text, "utf-8")
        done = peerage(folder, "verify", "--checkpoint", str(kept), *words)
        return done.exit_code, done.output

    assert "its signature was not checked" in asked(str(note))[1]
    code, said = asked(str(note), "--key", public)
    assert (code, f"signed by {note.origin}" in said) == (0, True), said
    # A key that somebody else has, under the same name.
    code, said = asked(str(note), "--key", str(key_of(other, note.origin)))
    assert (code, "and by none of the keys given" in said) == (1, True), said
    # The root of another ledger under the signature of this one: nobody signed that.
    forged = Checkpoint(note.origin, note.size, bytes(32), note.signatures)
    code, said = asked(str(forged), "--key", public)
    assert (code, "it was not signed as it stands" in said) == (1, True), said
    # Signed by the publisher too: whoever has both has the proof that two histories were shown.
    shown = sign(Checkpoint(note.origin, note.size, bytes(32)), read_private_key(key))
    code, said = asked(str(shown), "--key", public, "--checkpoint", str(whole))
    assert (code, "contradict each other" in said) == (1, True), said


def test_what_a_ledger_begins_with_is_facts_of_the_arena(whole: Path, tmp_path: Path) -> None:
    with closing(ledger_of(whole)) as ledger:
        before = next(entry.position for entry in ledger.log() if not entry.about.startswith("fact ")) - 1
    note, other = kept_in(whole)[0].checkpoint, tmp_path / "other.txt"
    other.write_text(str(Checkpoint(note.origin, before, bytes(32), note.signatures)), "utf-8")
    said = peerage(whole, "verify", "--checkpoint", str(other)).output
    assert f"entries 1 to {before} (facts of the arena) are not all as they were" in " ".join(said.split())


def test_what_is_proven_of_a_match_names_it(whole: Path, folder: Path, key: Path, tmp_path: Path) -> None:
    note = kept_in(whole)[-1].checkpoint
    with closing(ledger_of(whole)) as ledger:
        log, leaves = list(ledger.log()), leaves_of(ledger)
    lines = []
    for entry in log[: note.size]:
        if entry.about.startswith("record"):
            index = entry.position - 1
            text = entry_text(entry.position, entry.about, entry.digest)
            lines.append(str(Proof(text, index, proof(levels(leaves[: note.size]), index), note)))
    kept = tmp_path / "proofs.jsonl"
    kept.write_text(
        "".join([json.dumps({"match": n, "proof": one}) + "\n" for n, one in enumerate(lines, 1)])
    )
    assert peerage(folder, "verify", "--checkpoint", str(kept)).exit_code == 0
    redated(folder)
    done = peerage(folder, "verify", "--checkpoint", str(kept))
    assert (done.exit_code, done.output.count(" match ")) == (1, 1), done.output
    assert f"match 6: its replies, record, costs or times were rewritten: {kept} proves" in done.output
    one = tmp_path / "one.tlog-proof"
    one.write_text(lines[5], "utf-8")
    done = peerage(folder, "verify", "--checkpoint", str(one))
    assert (done.exit_code, "match 6: its replies" in done.output) == (1, True)
    # A way that leads elsewhere proves nothing, and is told.
    one.write_text(lines[5].replace("index ", "index 1"), "utf-8")
    done = peerage(folder, "verify", "--checkpoint", str(one))
    assert (done.exit_code, "does not lead to its checkpoint" in done.output) == (1, True)


def test_what_was_cut_off_is_told_as_one_entry_or_as_what_a_match_has(whole: Path) -> None:
    with closing(ledger_of(whole)) as ledger:
        texts = [entry_text(one.position, one.about, one.digest) for one in ledger.log()]
        match = next(one.position for one in ledger.log() if one.about == "record 1")
    entries = ((1, texts[0]), (match, texts[match - 1]))
    assert [*_entries(KeptCheckpoint("kept.txt", kept_in(whole)[-1].checkpoint, entries), [])] == [
        (None, "entry 1 of the log was cut off: kept.txt proves it"),
        (1, "its replies, record, costs or times were cut off: kept.txt proves them"),
    ]


def test_a_ledger_that_was_rewritten_is_not_signed(whole: Path, tmp_path: Path, key: Path) -> None:
    copy = Path(shutil.copytree(whole, tmp_path / "copy"))
    redated(copy)
    done = peerage(copy, "checkpoint", "--key", str(key))
    assert done.exit_code == 1
    assert "Its past was rewritten" in done.output
    assert "the ledger is not signed" in done.output
    assert sorted(os.listdir(copy / "checkpoints")) == sorted(os.listdir(whole / "checkpoints"))


def test_a_copy_for_others_is_not_signed_and_can_be_checked(whole: Path, tmp_path: Path, key: Path) -> None:
    (tmp_path / "shown").mkdir()
    with closing(ledger_of(whole)) as ledger:
        write_redacted(ledger, tmp_path / "shown" / "arena.db")
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "shown"), "--checkpoint", str(whole)])
    assert (done.exit_code, done.output.count("extends ")) == (0, 2), done.output
    done = peerage(tmp_path / "shown", "checkpoint", "--key", str(key))
    assert (done.exit_code, "this is a copy for others" in done.output) == (1, True)


def test_the_key_is_for_its_owner_alone(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "settings" / "mine.key"
    monkeypatch.setenv("PEERAGE_CHECKPOINT_KEY", str(place))
    done = peerage(whole, "checkpoint")
    assert (done.exit_code, "`peerage checkpoint --new-key` draws one" in done.output) == (1, True)
    done = peerage(whole, "checkpoint", "--new-key")
    assert done.exit_code == 0
    assert place.read_text("ascii").splitlines()[1] not in done.output
    if os.name == "posix":
        assert place.stat().st_mode & 0o777 == 0o600
    assert "a key is never replaced" in peerage(whole, "checkpoint", "--new-key").output
    assert place in [path for path, _ in secret_files(whole, "sqlite:///arena.db")]
    place.chmod(0o640)
    done = peerage(whole, "checkpoint")
    assert (done.exit_code, "others may read the key" in done.output) == (1, os.name == "posix")
    place.chmod(0o600)
    place.write_text("a key\n", "ascii")
    done = peerage(whole, "checkpoint")
    assert (done.exit_code, "holds no Ed25519 key" in done.output) == (1, True)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda text: text.replace("\n\n", "\n"), "it is no checkpoint"),
        (lambda text: "", "it is no checkpoint"),
        (lambda text: text.replace("\n\n", "\nmore\n\n"), "it has extension lines"),
        (lambda text: text.replace("— ", "- "), "is no signature"),
        (lambda text: text[:-1], "each with a line feed"),
        (lambda text: text + "\x07", "control characters"),
        (lambda text: '{"proof": 5}', "Expected `str`"),
        (lambda text: "c2sp.org/tlog-proof@v1\nindex x\n\n" + text, "it is no proof"),
    ],
)
def test_what_is_no_checkpoint_is_said_to_be_none(
    whole: Path, folder: Path, tmp_path: Path, harm: Callable[[str], str], told: str
) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_bytes(harm(str(kept_in(whole)[0].checkpoint)).encode())
    done = peerage(folder, "verify", "--checkpoint", str(kept))
    assert (done.exit_code, told in done.output, str(kept) in done.output) == (1, True, True), done.output
    assert "Internal error" not in done.output
    assert peerage(folder, "verify", "--checkpoint", str(tmp_path / "gone")).exit_code == 1
    assert peerage(folder, "verify", "--key", "no key").exit_code == 2


def test_a_ledger_is_signed_while_a_run_holds_it(whole: Path, tmp_path: Path, key: Path) -> None:
    copy = Path(shutil.copytree(whole, tmp_path / "copy"))
    vote(copy, range(6, 8))
    with closing(ledger_of(copy)) as ledger, ledger.runner():
        done = peerage(copy, "checkpoint", "--key", str(key))
        assert (done.exit_code, "2 newer votes are not in it" in done.output) == (0, True), done.output
    assert kept_in(copy) == [
        replace(one, name=one.name.replace(str(whole), str(copy))) for one in kept_in(whole)
    ]
    assert peerage(copy, "checkpoint", "--key", str(key)).exit_code == 0
    with closing(ledger_of(copy)) as ledger:
        assert "votes 7" in [one.about for one in ledger.log()]
    assert len(kept_in(copy)) == 3
