"""An owner's own tasks: a match discloses its own and no other, wherever it is shown."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from peerage.arena import open_arena
from peerage.engine.again.replay import replay
from peerage.ledger import Ledger, open_ledger
from peerage.ledger.out.export import export
from peerage.site.export.build import build_folder
from peerage.site.export.publishing import publish, restore
from peerage.site.reading import Site
from peerage.standings.verify import verify
from tests.engine.arenas import play, write_arena

PROMPTS, MATCHES = 30, 6
SECRET = re.compile(r"secret-\d\d")


def arena(folder: Path) -> Path:
    folder.mkdir(parents=True)
    lines = [json.dumps({"prompt": f"secret-{at:02} " + "word " * 60}) for at in range(PROMPTS)]
    (folder / "mine.jsonl").write_text("\n".join(lines))
    return write_arena(folder, game="tasks", rules={"tasks": "mine.jsonl"}, judging={"judges": 3})


def ledger_of(folder: Path) -> Ledger:
    return open_ledger("sqlite:///arena.db", folder, create=False)


def check_each_match_holds_its_own(folder: Path) -> set[str]:
    """The prompts that were drawn."""
    with closing(ledger_of(folder)) as ledger:
        documents = "".join(export(ledger, "jsonl")).splitlines()
        shown = [set(SECRET.findall(document)) for document in documents]
        drawn = [set(SECRET.findall(json.dumps(json.loads(one)["fixture"]["drawn"]))) for one in documents]
        assert verify(ledger).ok
        assert replay(ledger).ok
    assert [len(one) for one in drawn] == [1] * MATCHES
    assert shown == drawn
    with open_arena(folder) as opened:
        for number, own in enumerate(drawn, 1):
            assert set(SECRET.findall(json.dumps(opened.match(number).as_dict()))) == own
    return set().union(*drawn)


def test_what_was_not_drawn_is_nowhere_but_in_the_owners_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = arena(tmp_path / "arena")
    play(folder, MATCHES)
    drawn = check_each_match_holds_its_own(folder)
    with closing(ledger_of(folder)) as ledger:
        issued = SECRET.findall(b"".join(row.body for row in ledger.fixtures()).decode())
        assert set(SECRET.findall("".join(ledger.texts().values()))) <= set(issued)
        assert drawn <= set(issued)
        assert len(set(issued)) < PROMPTS
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A. Person")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "person@example.org")
    build_folder(folder, tmp_path / "site")
    if shutil.which("git"):
        with closing(Site.open(folder)) as site:
            publish(site, tmp_path / "results", push=False)
        restore(tmp_path / "results", tmp_path / "restored")
        with closing(ledger_of(tmp_path / "restored")) as again:
            assert verify(again).ok
        assert "secret" not in (tmp_path / "results" / "arena.yaml").read_text()
    for place in ("site", "results"):
        for file in (tmp_path / place).rglob("*"):
            if file.is_file() and ".git" not in file.parts:
                found = set(SECRET.findall(file.read_bytes().decode("utf-8", "replace")))
                assert found <= set(issued), file
    assert (
        f'<td class="value">{PROMPTS} of the owner&#x27;s own</td>'
        in (tmp_path / "site" / "method.html").read_text()
    )
