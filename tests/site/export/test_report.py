"""The report: one file that needs nothing, its verdict first."""

from __future__ import annotations

import re
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.site import browsers
from tests.site.arenas import EVIL, NAMES
from tests.site.pages.test_pages import Read
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.render.blocks import Figure, Rows, Section
from peerage.site.export import report as report_module
from peerage.site.export.report import _first_page, report
from peerage.site.reading import Site
from peerage.values.texts import visible

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


def test_the_verdict_heads_it(pages: Site) -> None:
    body = Read(report(pages)).text
    said = [visible(line) for line in pages.board().verdict.lines]
    assert said
    assert [body.index(line) for line in said] == sorted(body.index(line) for line in said)
    assert body.index(said[-1]) < body.index("95% interval")


@browsers.needed
def test_the_first_printed_page_holds_the_answer_the_table_and_cost_against_quality(
    pages: Site, tmp_path: Path
) -> None:
    whole = report(pages).decode()
    first, evidence, _ = whole.partition('<div class="evidence">')
    assert 'class="board"' in first
    assert "sure" in first
    assert ("Cost against quality" in first) == ("Cost against quality" in whole)
    assert evidence
    of_first, of_whole = [_printed(text, tmp_path) for text in (f"{first}</main></body></html>", whole)]
    assert of_first == 1
    assert of_whole > 1


def test_a_table_that_needs_pages_of_its_own_stands_below_cost_against_quality(
    pages: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = Figure("frontier", "Cost", "", (), ())

    def first() -> list[object]:
        found = pages.board()
        *_, section = _first_page(pages, found, [replace(frontier, kind="course"), frontier])
        assert isinstance(section, Section)
        return [*section.blocks]

    table, chart = first()
    assert isinstance(table, Rows)
    assert chart == frontier
    monkeypatch.setattr(report_module, "ON_A_PAGE", len(table.rows) - 1)
    assert first()[0] == frontier


def _printed(text: str, folder: Path) -> int:
    """The pages that a browser prints of a report."""
    page, printed = folder / "report.html", folder / "report.pdf"
    page.write_text(text, "utf-8")
    words = ["--headless", "--no-sandbox", "--disable-gpu", f"--print-to-pdf={printed}", page.as_uri()]
    subprocess.run([str(browsers.CHROMIUM), *words], check=True, capture_output=True, timeout=60)
    return len(re.findall(rb"/Type\s*/Page[^s]", printed.read_bytes()))


def test_the_command_writes_it(arena: Path, tmp_path: Path) -> None:
    said = cli.invoke(app, ["report", str(tmp_path / "r.html"), "--dir", str(arena)])
    assert said.exit_code == 0, said.output
    assert (tmp_path / "r.html").read_bytes().startswith(b"<!doctype html>")


def test_an_arena_without_a_match_has_nothing_to_say(pages: Site) -> None:
    assert "No match has been decided yet, so there is nothing to say." in Read(report(pages.at(0))).text
