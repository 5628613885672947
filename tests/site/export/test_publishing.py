"""Results as a Git repository: everything to make the ledger again, and nothing that is a secret."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from tests.engine.arenas import ledger_of, play, write_arena
from tests.engine.run.test_media import arena as drawing
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.ledger import Batch, LedgerError
from peerage.site.export.publishing import PublishError, publish, restore
from peerage.site.reading import Site
from peerage.standings.verify import verify
from peerage.values.outputs import OutputRefused

cli = CliRunner()
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A. Person")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "person@example.org")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("published"))
    play(made, 12)
    return made


@pytest.fixture
def site(folder: Path) -> Iterator[Site]:
    opened = Site.open(folder)
    yield opened
    opened.close()


def git(repository: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(repository), *words], capture_output=True, text=True, check=True
    ).stdout


def test_the_ledger_comes_back_whole_and_its_pages_with_it(site: Site, tmp_path: Path) -> None:
    results, copy = tmp_path / "results", tmp_path / "copy"
    done = publish(site, results, push=False)
    assert done.matches == 12
    assert git(results, "log", "--format=%s").splitlines() == [f"12 matches, head {site.chain[:12]}"]
    assert git(results, "status", "--porcelain") == ""
    restore(results, copy)
    again = Site.open(copy)
    report = verify(again.ledger)
    assert report.ok, report.problems
    assert report.head == site.chain
    assert [row.as_dict() for row in again.table()] == json.loads(
        (results / "leaderboard.json").read_text("utf-8")
    )[site.track]
    again.close()


def test_what_a_run_writes_after_the_moment_is_not_published(folder: Path, tmp_path: Path) -> None:
    live = Path(shutil.copytree(folder, tmp_path / "live"))
    opened = Site.open(live)
    play(live, 13)
    with closing(ledger_of(live)) as ledger, ledger.runner():
        ledger.write(Batch(meta={"budget": "[1.0,null]"}))
    publish(opened, tmp_path / "results", push=False)
    opened.close()
    restore(tmp_path / "results", tmp_path / "copy")
    with closing(ledger_of(tmp_path / "copy")) as copy:
        report = verify(copy)
    assert report.problems == ()
    assert report.matches == 12


def test_no_text_of_a_match_under_way_is_published(folder: Path, tmp_path: Path) -> None:
    secret = "What one player alone may know. " * 20
    digest = sha256(secret.encode()).digest()
    with closing(Site.open(Path(shutil.copytree(folder, tmp_path / "arena")))) as site:
        with site.ledger.runner():
            site.ledger.write(Batch(texts=[(digest, secret)]))
        publish(site, tmp_path / "results", push=False)
    published = {file.name for file in (tmp_path / "results" / "texts").iterdir()}
    assert published
    assert digest.hex() not in published


def test_what_is_sealed_stays_sealed(tmp_path: Path) -> None:
    """Of questions that may come again neither words, replies nor salts are public."""
    arena = write_arena(tmp_path / "arena", game="challenge-exchange", rules={"seats": 3, "proof": "blind"})
    play(arena, 6)
    with closing(Site.open(arena)) as site:
        whole = site.ledger
        bodies = [row.body for row in (*whole.fixtures(), *whole.records())]
        for row in whole.exchanges(1, 6):
            bodies += [row.request, row.reply or b""]
        publish(site, tmp_path / "results", push=False)
    sealed = {found for body in bodies for found in re.findall(rb'"~salt":"(\w{32})","value":"(.*?)"}', body)}
    keys = {found for body in bodies for found in re.findall(rb'"seed":{"~salt":"(\w{32})"', body)}
    assert len(sealed) > 20
    files = [
        file for file in (tmp_path / "results").rglob("*") if file.is_file() and ".git" not in file.parts
    ]
    held = b"\n".join([file.read_bytes() for file in files])
    assert b'"sealed":' in held.replace(b"\\", b"")
    assert [salt for salt, _ in sealed if salt not in keys and salt in held] == []
    assert [value for salt, value in sealed if salt not in keys and len(value) > 24 and value in held] == []


def test_pictures_are_published_and_come_back(tmp_path: Path) -> None:
    pictures = drawing(tmp_path)
    play(tmp_path, 6)
    results = tmp_path / "results"
    with closing(Site.open(tmp_path)) as site:
        publish(site, results, push=False)
    assert {file.name: file.read_bytes() for file in (results / "media").iterdir()} == pictures
    restore(results, tmp_path / "copy")
    with closing(Site.open(tmp_path / "copy")) as again:
        report = verify(again.ledger)
        assert (report.problems, report.media.number, report.media.missing) == ((), len(pictures), 0)
    shutil.rmtree(results / "media")
    restore(results, tmp_path / "bare")
    with closing(Site.open(tmp_path / "bare")) as bare:
        report = verify(bare.ledger)
        assert (report.problems, report.media.missing) == ((), len(pictures))


def test_each_time_what_is_new_becomes_one_commit(folder: Path, tmp_path: Path) -> None:
    results, arena = tmp_path / "results", tmp_path / "arena"
    shutil.copytree(folder, arena)
    for matches, new in ((12, 12), (12, 0), (15, 3)):
        play(arena, matches)
        opened = Site.open(arena)
        assert publish(opened, results, push=False).matches == new
        opened.close()
    assert len(git(results, "log", "--format=%h").split()) == 2
    assert len(git(results, "show", "--name-only", "--format=", "HEAD", "--", "matches").split()) == 3


def test_another_ledger_and_another_folder_are_refused(site: Site, tmp_path: Path) -> None:
    other = write_arena(tmp_path / "other", seed=9)
    play(other, 3)
    opened = Site.open(other)
    publish(opened, tmp_path / "results", push=False)
    opened.close()
    with pytest.raises(PublishError, match="3 matches of another ledger"):
        publish(site, tmp_path / "results", push=False)
    with pytest.raises(OutputRefused, match="no Git repository"):
        publish(site, tmp_path / "other", push=False)
    with pytest.raises(PublishError, match="git push in"):
        publish(site, tmp_path / "fresh", push=True)


def test_an_altered_file_is_named(site: Site, tmp_path: Path) -> None:
    results = tmp_path / "results"
    publish(site, results, push=False)
    text = next((results / "texts").iterdir())
    kept = text.read_bytes()
    text.write_bytes(kept + b" ")
    with pytest.raises(LedgerError, match="was changed"):
        restore(results, tmp_path / "one")
    text.write_bytes(kept)
    (results / "matches" / "000" / "3.json").unlink()
    with pytest.raises(LedgerError, match=r"3\.json is missing"):
        restore(results, tmp_path / "two")


def test_what_could_not_be_committed_is_counted_when_it_is(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    monkeypatch.setenv("GIT_AUTHOR_NAME", "")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "")
    with pytest.raises(PublishError, match=r"git does not know who publishes: .* `git config user\.name"):
        publish(site, results, push=False)
    monkeypatch.setenv("GIT_AUTHOR_NAME", "A. Person")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "A. Person")
    assert publish(site, results, push=False).matches == 12


def test_no_setting_that_is_nobodys_business_is_published(tmp_path: Path) -> None:
    players = [{"model": f"house:0.{skill}", "key_env": "MY_KEY"} for skill in range(1, 8)]
    arena = write_arena(tmp_path / "arena", players, budget={"arena": 3.5}, ledger="sqlite:///arena.db")
    play(arena, 2)
    opened = Site.open(arena)
    publish(opened, tmp_path / "results", push=False)
    opened.close()
    published = (tmp_path / "results" / "arena.yaml").read_text("utf-8")
    assert "house:0.3" in published
    assert not any(word in published for word in ("MY_KEY", "ledger", "budget", "3.5"))


def test_the_commands(folder: Path, tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "out"
    said = cli.invoke(app, ["site", "publish", str(results), "--dir", str(folder)])
    assert said.exit_code == 0, said.output
    assert "12 matches new or changed, commit" in said.output
    said = cli.invoke(app, ["site", "publish", str(results), "--dir", str(folder)])
    assert "nothing has changed" in said.output
    said = cli.invoke(app, ["site", "init", str(results)])
    assert said.exit_code == 0, said.output
    workflow = (results / ".github" / "workflows" / "pages.yml").read_text("utf-8")
    assert "peerage site build _site --results ." in workflow
    assert "{{ version }}" not in workflow
    said = cli.invoke(app, ["site", "build", str(out), "--results", str(results)])
    assert said.exit_code == 0, said.output
    assert (out / "match" / "1.html").exists()
