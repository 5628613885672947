"""An owner's own prompts: a match discloses its own and no other, wherever it is shown."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from peerage.arena import open_arena
from peerage.engine.replay import replay
from peerage.games.duel.rules import read_prompts
from peerage.ledger import Ledger, open_ledger
from peerage.ledger.disclosure import write_redacted
from peerage.ledger.export import export
from peerage.scheduling.fixtures import Scheduler
from peerage.site.build import build_folder
from peerage.site.publishing import publish, restore
from peerage.site.reading import Site
from peerage.standings.verify import verify
from tests.engine.arenas import play, write_arena

PROMPTS, MATCHES = 30, 6
SECRET = re.compile(r"secret-\d\d")


def arena(folder: Path) -> Path:
    folder.mkdir(parents=True)
    lines = [json.dumps({"prompt": f"secret-{at:02} " + "word " * 60}) for at in range(PROMPTS)]
    (folder / "mine.jsonl").write_text("\n".join(lines))
    return write_arena(folder, rules={"judges": 3, "prompts": "mine.jsonl"})


def ledger_of(folder: Path) -> Ledger:
    return open_ledger("sqlite:///arena.db", folder, create=False)


def check_each_match_holds_its_own(folder: Path) -> set[str]:
    """The prompts that were drawn."""
    with closing(ledger_of(folder)) as ledger:
        documents = "".join(export(ledger, "jsonl")).splitlines()
        shown = [set(SECRET.findall(document)) for document in documents]
        drawn = [set(SECRET.findall(json.loads(one)["fixture"]["drawn"]["prompt"])) for one in documents]
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
    assert f"<td>{PROMPTS} of the owner&#39;s own</td>" in (tmp_path / "site" / "method.html").read_text()


def test_a_ledger_that_lists_all_prompts_shows_of_them_what_a_match_drew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listing(scheduler: Scheduler) -> Mapping[str, Any]:
        return scheduler.rules.model_dump(mode="json")

    folder = arena(tmp_path / "arena")
    with monkeypatch.context() as patch:
        patch.setattr(Scheduler, "settings", property(listing))
        play(folder, MATCHES - 2)
    with closing(ledger_of(folder)) as ledger:
        assert len(set(SECRET.findall("".join(ledger.texts().values())))) == PROMPTS
    play(folder, MATCHES)  # and the present one goes on with it
    check_each_match_holds_its_own(folder)
    with closing(ledger_of(folder)) as ledger:
        write_redacted(ledger, tmp_path / "copy.db")
        head = verify(ledger).head
    with closing(open_ledger("sqlite:///copy.db", tmp_path, create=False)) as copy:
        assert verify(copy).ok
        assert verify(copy).head == head
        assert replay(copy).ok


@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "marked as Excel does"])
def test_tasks_in_a_table(start: str) -> None:
    text = start + 'Meta.id,category,prompt\r\n1,billing,"Two lines,\nof one task"\r\n2,,Another\r\n'
    assert read_prompts(text.encode(), "tasks.CSV") == [
        {"prompt": "Two lines,\nof one task", "category": "billing"},
        {"prompt": "Another"},
    ]


@pytest.mark.parametrize(("text", "says"), [
    ("", "line 1: found nothing; expected a line of columns: prompt, category"),
    ("question,topic\nWhy?,sky\n", "line 1, column 1: found 'question', which is not known; known: prompt, "
     "category. Name what nobody is to read meta.question\n  line 1, column 2: found 'topic'"),
    ("question,topic\nWhy?,sky\n", "line 1: no column 'prompt'; the columns are prompt, category"),
    ("prompt\n", "no prompt found"),
    ("prompt,category\nWhy?,sky\n,sea\n", "line 3, column prompt: found ''; expected some text"),
    ("category,prompt\nsky\n", "line 2, column prompt: found 1 cells, expected 2"),
    ("prompt\nExplain a, b and c\n", "line 2, column 2: found 2 cells, expected 1; put cells"),
    ("prompt,Prompt\nWhy?,How?\n", "line 1, column 2: found 'prompt' again"),
    ('prompt\n"Why\n', "line 2: no CSV (unexpected end of data); put"),
])  # fmt: skip
def test_a_table_that_cannot_be_used_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        read_prompts(text.encode(), "tasks.csv")
