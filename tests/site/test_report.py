"""The report: one file that needs nothing, its verdict first."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from tests.site.arenas import EVIL, NAMES
from tests.site.test_pages import Read
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.site.reading import Site
from peerage.site.report import report, verdict

cli = CliRunner()


def test_it_stands_alone_and_nothing_in_it_runs_but_its_own_script(pages: Site) -> None:
    body = report(pages)
    found = Read(body)
    assert found.addresses == []
    policy = next(a["content"] for _, a in found.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "unsafe" not in policy
    assert [tag for tag, _ in found.elements if tag in ("script", "style")] == ["style", "script"]
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>".encode(), body, re.DOTALL)
        assert inside is not None
        assert b64encode(sha256(inside[1]).digest()).decode() in policy
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    assert all(name in found.text for name in NAMES)
    assert EVIL not in body.decode()


def test_the_verdict_says_what_the_ranks_leave_open(pages: Site) -> None:
    said = " ".join(verdict(pages))
    first = [row.player for row in pages.table() if row.rank_range is not None and row.rank_range[0] == 1]
    assert all(name in said for name in first)
    said_first = said.partition(".")[0]
    assert ("beyond doubt" in said_first) == (len(first) == 1)


def test_the_command_writes_it(arena: Path, tmp_path: Path) -> None:
    said = cli.invoke(app, ["report", str(tmp_path / "r.html"), "--dir", str(arena)])
    assert said.exit_code == 0, said.output
    assert (tmp_path / "r.html").read_bytes().startswith(b"<!doctype html>")


def test_an_arena_without_a_match_has_nothing_to_say(pages: Site) -> None:
    assert list(verdict(pages.at(0))) == ["No match has been decided yet, so there is nothing to say."]
