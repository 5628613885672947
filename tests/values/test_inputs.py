"""A file that somebody names is a file: a pipe or a device is refused, and no command waits for one."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.ledger import open_ledger
from peerage.values import inputs
from peerage.values.inputs import InputRefused, opened

cli = CliRunner()
pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="there are no such files"),
    pytest.mark.timeout(60),  # what waits for a pipe fails
]


COMMANDS = (
    ("import", "{file}"),
    ("import", "{file}", "--format", "battles"),
    ("import", "{file}", "--format", "cob"),
    ("rate", "{file}"),
    ("challenges", "import", "{file}"),
    ("tournament", "votes", "{file}"),
    ("sandbox", "run", "{file}"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_no_file_is_refused_by_every_command_that_reads_one(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    folder = write_arena(tmp_path / "arena")
    open_ledger("sqlite:///arena.db", folder, create=True).close()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "pipe.csv")
    where = [] if command[0] in ("rate", "sandbox") else ["--dir", str(folder)]
    for file, what in (("pipe.csv", "a pipe"), ("link.csv", "a pipe"), ("/dev/zero", "a device")):
        said = cli.invoke(app, [*[word.format(file=tmp_path / file) for word in command], *where])
        assert said.exit_code == 2, said.output
        assert f"is {what}, and a regular file was expected" in " ".join(said.output.split()), said.output


def test_pipes_among_settings_are_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "arena.yaml")
    said = cli.invoke(app, ["plan", "--dir", str(tmp_path)])
    assert (said.exit_code, "is a pipe" in said.stderr) == (2, True)
    (tmp_path / "arena.yaml").unlink()
    os.mkfifo(tmp_path / "mine.jsonl")
    os.mkfifo(tmp_path / "model.gguf")
    os.mkfifo(tmp_path / ".env")
    write_arena(tmp_path, game="tasks", rules={"tasks": "mine.jsonl"})
    said = cli.invoke(app, ["plan", "--dir", str(tmp_path)])
    assert (said.exit_code, "is a pipe" in said.stderr) == (2, True)
    write_arena(tmp_path, ["gguf:model.gguf", *[f"house:0.{at}" for at in range(1, 8)]])
    said = cli.invoke(app, ["doctor", "--dir", str(tmp_path)])
    assert "is a pipe" in said.output


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "endless device": lambda at: at.symlink_to("/dev/zero"),
    "full device": lambda at: at.symlink_to("/dev/full"),
    "loop": lambda at: at.symlink_to(at.name),
    "socket": lambda at: os.mknod(at, stat.S_IFSOCK | 0o600),
}
READERS = (
    *(
        "verdict",
        "leaderboard",
        "stats",
        "stats --of judges",
        "players",
        "challenges list",
        "compare p0 p1",
        "match 1",
    ),
    *("verify", "replay", "export", "status", "plan", "plan --matches 5", "doctor", "report", "simulate"),
    *("annotate --as me", "disclose --yes", "challenges redact {to}/a.db"),
    *("serve --port 0", "site build {to}/site", "run --yes --max-matches 4", "tournament show"),
)
LEDGER = {*READERS} - {"players", "plan --matches 5", "doctor"}
NEEDED = {
    "arena.db": LEDGER,
    "arena.db-wal": LEDGER,
    "arena.yaml": {
        "verdict",
        "leaderboard",
        "stats --of judges",
        "serve --port 0",
        "plan",
        "plan --matches 5",
    },
    "arena.votes.db": {"stats --of judges", "verify", "serve --port 0", "annotate --as me"},
    ".env": set[str](),
}
"""Which commands must refuse a file that is none; the others must not wait for it."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("inputs") / "arena")
    play(folder, 3)
    return folder


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NEEDED)
def test_no_command_waits_for_a_file_of_the_arena_or_breaks_on_it(
    arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)  # where some write
    for place, command in enumerate(READERS):
        needed = command in NEEDED[name]
        if not needed and (kind != "pipe" or command.startswith("serve")):
            continue
        folder = tmp_path / str(place) / "arena"
        shutil.copytree(arena, folder)
        (folder / name).unlink(missing_ok=True)
        KINDS[kind](folder / name)
        words = command.format(to=folder.parent).split()
        ended = cli.invoke(app, [*words, "--dir", str(folder)])
        output = " ".join(ended.output.split())
        assert ended.exit_code in (0, 1, 2), (command, output)
        assert "Internal error" not in output, (command, output)
        if needed:
            assert ended.exit_code, (command, output)
            told = "a regular file was expected" in output or "lead in a circle" in output
            assert told, (command, output)


LONG = (
    ("arena.yaml", 1 << 20, "plan", "at most 1,048,576 are read; make it smaller"),
    (".env", 1 << 20, "run --yes --max-matches 4", "at most 1,048,576 are read; make it smaller"),
)


@pytest.mark.parametrize(("name", "most", "command", "told"), LONG)
def test_a_file_beyond_its_limit_is_refused_and_one_at_it_is_read(
    arena: Path, tmp_path: Path, name: str, most: int, command: str, told: str
) -> None:
    folder = Path(shutil.copytree(arena, tmp_path / "arena"))
    file = folder / name
    text = file.read_bytes() if file.exists() else b""
    for more, status in ((0, 0), (1, 2)):
        file.write_bytes(text + b"#" * (most + more - len(text)))
        ended = cli.invoke(app, [*command.split(), "--dir", str(folder)])
        assert ended.exit_code == status, ended.output
        assert (told in " ".join(ended.output.split())) == bool(more)


def test_a_line_beyond_the_limit_is_refused_in_every_kind_of_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LONGEST_LINE", 1000)
    row = '{"model_a": "a", "model_b": "b", "winner": "a"%s}\n'
    for name, text in (
        ("a.csv", "model_a,model_b,winner\na,b,model_a\n" + "x" * 1001),
        ("a.jsonl", row % "" + row % f', "x": "{"y" * 1000}"'),
        ("a.json", f"[{(row % '').strip()}, " + (row % f', "x": "{"y" * 5000}"').strip()[:-3]),
        ("a.csv", "model_a,model_b,winner\n" + '"' + "x\n" * 1000),
    ):
        (tmp_path / name).write_text(text)
        ended = cli.invoke(app, ["rate", str(tmp_path / name)])
        assert ended.exit_code in (1, 2), (name, ended.output)
        told = " ".join(ended.output.split())
        assert "no longer one is read" in told or "limit (1000)" in told, name


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10)
    assert inputs.read_bytes(tmp_path / "file", 10) == b"x" * 10
    with pytest.raises(InputRefused, match="file has 10 bytes, and at most 9 are read; make it smaller"):
        inputs.read_bytes(tmp_path / "file", 9)


def test_a_file_is_opened_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    with opened(tmp_path / "file") as stream:
        assert stream.read() == b"text"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        for path, what in ((tmp_path, "a folder"), (tmp_path / "s", "a socket")):
            with pytest.raises(InputRefused, match=f"is {what}"):
                opened(path)
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none")
