"""`peerage serve` at the command line: what it refuses, in words, and what it says when it serves."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.arenas import write_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.site.server.server import ArenaServer

cli = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_arena(tmp_path / "arena")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command goes as far as opening its door, and is stopped there by Ctrl+C."""

    def interrupted(_: ArenaServer, door: socket.socket, started: Callable[[], None]) -> None:
        started()
        door.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(ArenaServer, "run", interrupted)


def test_without_an_arena_it_says_what_is_missing(tmp_path: Path) -> None:
    shown = cli.invoke(app, ["serve", "--dir", str(tmp_path)])
    assert shown.exit_code == 2
    assert "arena.yaml" in shown.stderr


def test_a_port_that_is_taken(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = cli.invoke(app, ["serve", "--dir", str(folder), "--port", str(port)])
    assert shown.exit_code == 1
    assert f"port {port} is in use" in shown.stderr
    assert "--port" in shown.stderr


@pytest.mark.parametrize("token", ["short", "with spaces in between", "x" * 300, "semi;colon;and;more;of;it"])
def test_a_token_that_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("PEERAGE_TOKEN", token)
    shown = cli.invoke(app, ["serve", "--dir", str(folder), "--port", "0", "--network"])
    assert shown.exit_code == 1
    assert "PEERAGE_TOKEN" in shown.stderr
    assert token not in shown.output


def test_without_the_extra_it_says_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "peerage.site.server.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    shown = cli.invoke(app, ["serve", "--dir", str(folder)])
    assert shown.exit_code == 1
    assert "uvicorn" in shown.stderr
    assert "pip install 'peerage[site]'" in shown.stderr


def test_it_says_where_it_is_and_makes_the_ledger_where_there_is_none(folder: Path, served: None) -> None:
    shown = cli.invoke(app, ["serve", "--dir", str(folder), "--port", "0", "--vote"])
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert "0 matches on record, at http://127.0.0.1:" in lines[0]
    assert lines[1].endswith("/vote.html")
    assert lines[2:] == ["Ctrl+C stops it", "stopped"]
    assert (folder / "arena.db").exists()


def test_open_to_a_network_it_gives_a_link_with_a_token_of_its_own(
    folder: Path, served: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PEERAGE_TOKEN", raising=False)
    command = ["serve", "--dir", str(folder), "--port", "0", "--network"]
    links = [cli.invoke(app, command).stdout.split("?token=")[1].split()[0] for _ in range(2)]
    assert links[0] != links[1]
    assert all(len(token) >= 32 for token in links)
    monkeypatch.setenv("PEERAGE_TOKEN", "my-own-token-of-some-length")
    assert "?token=my-own-token-of-some-length" in cli.invoke(app, command).stdout


def test_links_begin_with_the_address_that_people_reach_it_at(folder: Path, served: None) -> None:
    command = ["serve", "--dir", str(folder), "--port", "0"]
    shown = cli.invoke(app, [*command, "--vote", "--url", "https://example.org/arena"])
    lines = shown.stdout.splitlines()
    assert lines[0].endswith("at https://example.org/arena/")
    assert lines[1].startswith("it listens at http://127.0.0.1:")
    assert lines[2] == "voting is on: https://example.org/arena/vote.html"
    open_to_all = cli.invoke(app, [*command, "--network", "--url", "https://example.org/"]).stdout
    assert "  https://example.org/?token=" in open_to_all
    assert "nothing is encrypted" not in open_to_all
    refused = cli.invoke(app, [*command, "--url", "example.org"])
    assert refused.exit_code == 2
    assert "found 'example.org'; expected an address" in refused.stderr
    sealed = cli.invoke(app, [*command, "--review", "--url", "https://example.org/"])
    assert "--review shows sealed answers: it is for this machine alone, without --url" in sealed.stderr


def test_nothing_is_said_before_connections_are_accepted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never_started(_: ArenaServer, door: socket.socket, started: Callable[[], None]) -> None:
        door.close()

    monkeypatch.setattr(ArenaServer, "run", never_started)
    assert cli.invoke(app, ["serve", "--dir", str(folder), "--port", "0"]).stdout == "stopped\n"
