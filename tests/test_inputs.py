"""A file that somebody names is a file: a pipe or a device is refused, and no command waits for one."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.inputs import InputRefused, opened
from peerage.ledger import open_ledger
from tests.engine.arenas import write_arena

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
    said = cli.invoke(app, ["estimate", "--dir", str(tmp_path)])
    assert (said.exit_code, "is a pipe" in said.stderr) == (2, True)
    (tmp_path / "arena.yaml").unlink()
    os.mkfifo(tmp_path / "mine.jsonl")
    os.mkfifo(tmp_path / "model.gguf")
    os.mkfifo(tmp_path / ".env")
    write_arena(tmp_path, rules={"prompts": "mine.jsonl"})
    said = cli.invoke(app, ["estimate", "--dir", str(tmp_path)])
    assert (said.exit_code, "is a pipe" in said.stderr) == (2, True)
    write_arena(tmp_path, ["gguf:model.gguf", *[f"house:0.{at}" for at in range(1, 8)]])
    said = cli.invoke(app, ["doctor", "--dir", str(tmp_path)])
    assert "is a pipe" in said.output


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
