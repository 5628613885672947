"""The ledger to take along: verifiable, the same bytes for the same ledger, nothing sealed in it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.ledger import Batch, open_ledger
from peerage.ledger.out.export import COLUMNS, contestants, documents
from peerage.ledger.topics.secret import TOPIC
from peerage.site.export.build import build
from peerage.site.pages import downloads
from peerage.site.pages.router import page
from peerage.site.reading import Site
from peerage.site.server.server import ArenaServer
from peerage.values.sealing import SALT

cli = CliRunner()


@pytest.fixture(scope="module")
def site(sealed: Path) -> Iterator[Site]:
    with closing(Site.open(sealed)) as made:
        yield made


@pytest.fixture(scope="module")
def out(site: Site, sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("built")
    build(site, sealed, made)
    return made


def test_the_copy_verifies_with_the_head_that_the_page_shows(site: Site, out: Path, tmp_path: Path) -> None:
    copy = tmp_path / "arena.db"
    copy.write_bytes((out / downloads.SQLITE).read_bytes())
    said = cli.invoke(app, ["verify", "--dir", str(tmp_path)])
    assert said.exit_code == 0, said.output
    assert f"whole: {site.number} matches" in said.output
    assert f"head: {site.chain}" in said.output
    shown = page(site, "ledger.html")
    assert shown is not None
    assert site.chain in shown.body.decode()


def test_what_is_sealed_stays_sealed(site: Site, out: Path) -> None:
    with closing(open_ledger("sqlite:///arena.db", out / "data", create=False)) as copy:
        salts = {
            salt
            for rows in (site.ledger.records(), site.ledger.amendments(TOPIC))
            for row in rows
            for salt in re.findall(rb'"~salt":"([0-9a-f]{32})"', row.body)
        }
        assert len(salts) > 10
        assert not any(SALT.encode() in row.body for row in copy.records())
    for path in downloads.paths(site):
        body = (out / path).read_bytes()
        assert not [salt for salt in salts if salt in body], path


def test_no_text_of_a_match_under_way_is_in_the_copy(sealed: Path, tmp_path: Path) -> None:
    secret = "What one player alone may know. " * 20
    digest = sha256(secret.encode()).digest()
    with closing(Site.open(Path(shutil.copytree(sealed, tmp_path / "arena")))) as site:
        with site.ledger.runner():
            site.ledger.write(Batch(texts=[(digest, secret)]))
        assert digest in site.moment.texts()
        downloads.update(site, downloads.SQLITE, tmp_path / "arena.db")
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=False)) as copy:
        assert digest not in copy.texts()
        assert copy.texts(), "what finished matches refer to is there"


def test_every_form_holds_every_match(site: Site, out: Path) -> None:
    read = [json.loads(line) for line in (out / downloads.JSONL).read_text("utf-8").splitlines()]
    assert [one["match"] for one in read] == [one["match"] for one in documents(site.moment)]
    rows = list(csv.reader(io.StringIO((out / downloads.CSV).read_text("utf-8"))))
    assert rows[0] == list(COLUMNS)
    assert len(rows) - 1 == sum(len(row.players) for row in site.summaries)


def test_parquet_is_the_narrow_table_with_types(site: Site, out: Path) -> None:
    from pyarrow import parquet

    found = parquet.read_table(out / downloads.PARQUET)
    assert found.column_names == list(COLUMNS)
    assert list(zip(*found.to_pydict().values(), strict=True)) == list(contestants(site.ledger))
    assert str(found.schema.field("number").type) == "int64"


def test_without_pyarrow_the_page_says_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "find_spec", lambda _: None)
    shown = page(site, "ledger.html")
    assert shown is not None
    assert b"pip install pyarrow" in shown.body
    assert downloads.PARQUET.encode() not in shown.body


def test_nothing_is_written_again_while_the_ledger_stays(site: Site, sealed: Path, out: Path) -> None:
    stamps = {path: (out / path).stat().st_mtime_ns for path in downloads.paths(site)}
    bodies = {path: (out / path).read_bytes() for path in stamps}
    assert build(site, sealed, out).written == 0
    assert {path: (out / path).stat().st_mtime_ns for path in stamps} == stamps
    for path in stamps:
        (out / path).unlink()
    (out / "data" / ".peerage-0123456789ab.part").mkdir()  # of a build that was killed
    assert build(site, sealed, out).written == len(stamps)
    assert {path: (out / path).read_bytes() for path in stamps} == bodies
    assert not [*out.rglob("*.part")]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """Rows of a group of Parquet: few, so that files have groups that are full, and matches stand in two."""
    monkeypatch.setattr(downloads, "_GROUP", 7)
    return 7


@pytest.mark.skipif(sys.platform != "linux", reason="there names are Unicode")
@pytest.mark.parametrize("path", downloads.possible())
def test_a_folder_may_have_any_name(site: Site, tmp_path: Path, path: str) -> None:
    file = tmp_path / os.fsdecode(b"d\xff") / "file"
    downloads.update(site, path, file)
    downloads.update(site, path, tmp_path / "file")
    if path != downloads.SQLITE:
        assert file.read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("path", downloads.possible())
def test_a_file_is_written_where_it_differs(site: Site, tmp_path: Path, small: int, path: str) -> None:
    fresh, file = tmp_path / "fresh", tmp_path / "file"
    assert downloads.update(site, path, fresh)
    whole = fresh.read_bytes()
    assert not downloads.update(site, path, fresh)
    assert downloads.update(site.at(site.number - 1), path, file)
    for there in (file.read_bytes(), b"", whole[:-1], whole + b"\n"):
        file.write_bytes(there)
        assert downloads.update(site, path, file)
        assert file.read_bytes() == whole
    assert {*tmp_path.iterdir()} == {file, fresh}


def test_a_long_ledger_is_offered_by_the_server_alone(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "LONGEST", 5)
    assert downloads.SQLITE not in downloads.paths(site)
    shown = page(site, "ledger.html")
    assert shown is not None
    assert b"peerage challenges redact" in shown.body
    assert b"arena.db</code> in a folder" not in shown.body


def test_the_server_hands_out_the_same_files(site: Site, sealed: Path, out: Path) -> None:
    with TestClient(ArenaServer(sealed, voting=False, token=None).app, "http://localhost") as client:
        for path in (downloads.SQLITE, downloads.PARQUET):
            answer = client.get(f"/{path}")
            assert answer.status_code == 200
            assert answer.headers["content-type"] == downloads.TYPES[path]
            assert Path(path).name in answer.headers["content-disposition"]
            assert answer.content == (out / path).read_bytes()
        part = client.get(f"/{downloads.SQLITE}", headers={"range": "bytes=0-14"})
        assert (part.status_code, part.content) == (206, b"SQLite format 3")
        assert client.get("/data/other.db").status_code == 404
