"""The decision about the owner's tasks: records, what would change the pick, and telling matches."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from tests.engine.arenas import play, write_arena
from tests.engine.clients import Cast, says
from tests.site import browsers
from tests.views.decision.test_verdict import chances, table
from tests.views.tasks_arena import CATEGORIES, arena_of_tasks, players, tasks
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.players.client import Client
from peerage.reading.verdicts.credits import Credits, TaskMatch
from peerage.render.terminal import MARGIN, fitting
from peerage.settings import PlayerSettings
from peerage.site.export.report import report
from peerage.site.pages.router import body
from peerage.site.reading import Site
from peerage.values.figures import begun
from peerage.views.decision.contenders import NOTE_CHARS, by_category
from peerage.views.decision.contenders import table as contenders_table
from peerage.views.decision.decision import (
    _category,
    _less_accurate,
    _price,
    _unchecked,
)
from peerage.views.decision.examples import ANSWER_CHARS, LINES, RULE, telling
from peerage.views.leaderboard.verdict import Verdict, verdict

cli = CliRunner()


@pytest.fixture
def found(tasks_arena: Arena) -> Verdict:
    return tasks_arena.verdict()


def met(
    number: int, winner: str, loser: str, category: str, task: str = "", decided: str = "by check"
) -> TaskMatch:
    return TaskMatch(
        number=number,
        task=task or f"t{number}",
        category=category,
        weight=1.0,
        players={"A": winner, "B": loser},
        scores=(1.0, 0.0) if decided != "tie" else (0.5, 0.5),
        credits={"A": 1.0, "B": 0.0},
        notes={"B": "said '3', expected '4'"},
        decided=decided,
    )


def test_everybody_is_there_with_price_accuracy_and_wins(tasks_arena: Arena, found: Verdict) -> None:
    rows = {row.player: row for row in tasks_arena.leaderboard()}
    assert found.contenders[0].player == found.pick
    assert {one.player for one in found.contenders} == rows.keys()
    for one in found.contenders:
        row = rows[one.player]
        assert (one.bin, one.wins, one.draws, one.matches) == (row.bin, row.wins, row.draws, row.matches)
        assert (one.accuracy, one.accuracy_lower) == (row.accuracy, row.accuracy_lower)
        assert row.cost_per_match is not None
        assert one.cost_per_match == row.cost_per_match


def test_of_players_that_are_level_the_table_picks_nobody(found: Verdict) -> None:
    rows = found.contenders

    def choices(level: list[str]) -> list[str]:
        columns = {column.key: column for column in contenders_table(rows, level).columns}
        return [columns["bin"].text(row) for row in rows]

    assert choices([])[0] == "pick"
    assert choices([rows[0].player, rows[1].player]) == ["level", "level", *choices([])[2:]]


def test_the_weakest_category_comes_with_a_task_that_failed_there(tasks_arena: Arena, found: Verdict) -> None:
    by_category = {
        category: {row.player: row.accuracy for row in tasks_arena.leaderboard(topic=category)}
        for category in CATEGORIES
    }
    assert any(one.worst for one in found.contenders)
    for one in found.contenders:
        least = min(by_category[category][one.player] or 0.0 for category in CATEGORIES)
        if one.worst is None:
            assert least == 1.0
            continue
        assert one.worst.share == by_category[one.worst.category][one.player] == least
        assert one.worst.match is not None
        shown = tasks_arena.match(one.worst.match)
        label = next(seat.label for seat in shown.seats if seat.player == one.player)
        assert shown.detail["checks"][label] < 1
        assert shown.detail["task"] == one.worst.task
        assert shown.detail["category"] == one.worst.category
        assert one.worst.note


def test_examples_are_decided_matches_of_the_pick_with_both_answers(
    tasks_arena: Arena, found: Verdict
) -> None:
    assert len(found.examples) == 3
    assert len({one.category for one in found.examples}) == 3
    for one in found.examples:
        shown = tasks_arena.match(one.match)
        assert one.answers[0].player == found.pick
        assert {answer.player for answer in one.answers} == {
            seat.player for seat in shown.seats if seat.role == "contestant"
        }
        said = {step.player: step.reply for step in shown.exchanges if step.key.startswith("answer/")}
        assert {answer.player: answer.text for answer in one.answers} == said
        assert one.prompt == f"What is {one.task[1:]} times 7? Reply with the number alone."
        assert one.winner in said
        assert one.decided == "by check"


def test_examples_are_chosen_by_the_stated_rule() -> None:
    order = "pick", "near", "far"
    matches = [
        met(1, "pick", "far", "a"),
        met(2, "pick", "near", "a"),
        met(3, "pick", "near", "b", decided="by judges"),
        met(4, "pick", "far", "b"),
        met(5, "near", "far", "c"),
        met(6, "pick", "near", "c", decided="tie"),
        met(7, "pick", "near", "a"),
    ]
    assert [one.number for one in telling(matches, order)] == [7, 2, 4]
    lost = met(8, "far", "pick", "a", decided="by judges")
    assert {one.number for one in telling([*matches, lost], order)} == {8, 4, 7}
    judged = met(9, "pick", "near", "c", decided="by judges")
    assert {one.number for one in telling([judged, *matches], order)} == {7, 4, 9}
    assert telling([matches[4], matches[5]], order) == []
    same = [met(at, "pick", "near", "a", task="t") for at in (1, 2)]
    assert [one.number for one in telling(same, order)] == [2]


def test_a_price_says_when_a_cheaper_player_is_the_better_buy() -> None:
    pick, cheap, good = (
        replace(row, accuracy=accuracy, cost_per_match=cost)
        for row, accuracy, cost in zip(
            table([1600, 1550, 1500]), (0.95, 0.90, 0.95), (0.010, 0.004, 0.009), strict=True
        )
    )
    assert _price(pick, [cheap]) == (
        "If a wrong answer costs you less than $0.12, take bob: it saves $6.00 per 1,000 tasks and gets 50 "
        "more of them wrong."
    )
    assert _price(pick, [cheap, good]) == (
        "If the checks are all that matters, take cid: it saves $1.00 per 1,000 tasks, and is no less "
        "accurate."
    )
    assert _price(cheap, [pick, good]) == ""
    assert _price(pick, [replace(cheap, cost_per_match=None)]) == ""
    assert _price(pick, [replace(cheap, accuracy=None)]) == ""


def test_where_accuracy_leads_elsewhere_one_sentence_says_what_counts() -> None:
    rows = [
        replace(row, accuracy=accuracy)
        for row, accuracy in zip(table([1600, 1550, 1500]), (0.9, 0.95, 0.8), strict=True)
    ]
    made = verdict(rows, 60, chances([1600, 1550, 1500]))
    assert made.pick == "ada"
    said = "bob has the highest accuracy; ada has the highest chance to be the best, which counts."
    assert said in made.lines
    assert sum("which counts" in line for line in made.lines) == 1
    agreed = verdict([replace(rows[0], accuracy=0.96), *rows[1:]], 60, chances([1600, 1550, 1500]))
    assert not any("which counts" in line for line in agreed.lines)
    swapped = [replace(rows[1], rank=1, rating=1700.0), replace(rows[0], rank=2), rows[2]]
    both = verdict(swapped, 60, chances([1600, 1550, 1500]))
    assert (
        "bob has the highest accuracy and the highest rating; ada has the highest chance to be the best, "
        "which counts."
    ) in both.lines


def test_who_is_less_accurate_by_the_checks_alone_is_named_unless_it_is_out() -> None:
    matches = [
        replace(met(at, "ada", "bob", "a"), credits={"A": 1.0, "B": float(at % 4 == 0)}) for at in range(40)
    ] + [replace(met(40 + at, "ada", "cid", "a", f"t{at}"), credits={"A": 1.0, "B": 1.0}) for at in range(40)]
    ada, bob, cid = table([1600, 1550, 1500])
    said = ["By the checks alone, bob is less accurate than ada (95%)."]
    assert list(_less_accurate([ada, bob, cid], Credits(matches))) == said
    assert list(_less_accurate([ada, replace(bob, bin="out"), cid], Credits(matches))) == []
    assert list(_less_accurate([ada, cid], Credits(matches))) == []


def test_a_category_in_which_a_rival_leads_is_named_with_its_doubt() -> None:
    def lead(wins: int, losses: int) -> str:
        matches = [met(at, "bob", "ada", "dates") for at in range(wins)]
        matches += [met(wins + at, "ada", "bob", "dates") for at in range(losses)]
        return _category("ada", ["bob"], by_category(Credits(matches)))

    assert lead(20, 2) == "On dates bob is ahead of ada: 91% right against 9%."
    assert lead(4, 3) == "On dates bob is ahead of ada: 57% right against 43%, which may be chance."
    assert lead(21, 20) == lead(3, 1) == lead(2, 9) == ""


def test_more_matches_are_what_could_change_an_open_pick(found: Verdict) -> None:
    assert found.would_change
    first = found.would_change[0]
    assert ("may change the pick" in first) == bool(found.may_be_as_good)
    assert len(found.would_change) <= 3


def test_terminal_json_page_and_report_say_the_same(tasks_folder: Path, found: Verdict) -> None:
    words = ["verdict", "--dir", str(tasks_folder)]
    assert json.loads(cli.invoke(app, [*words, "--format", "json"]).stdout) == found.as_dict()
    shown = cli.invoke(app, words).stdout
    site = Site.open(tasks_folder)
    pages = [(body(site, "index.html") or b"").decode(), report(site).decode()]
    site.close()
    for text in (shown, *(re.sub("<wbr>|&#39;", "", page) for page in pages)):
        for line in (*found.lines, *found.would_change):
            assert line.replace("'", "") in text.replace("'", "")
        assert RULE.replace("'", "") in text.replace("'", "")
        for one in found.contenders:
            assert one.player in text
            assert str(one.accuracy_in_words) in text
            if one.worst:
                assert one.worst.task in text
        for example in found.examples:
            assert example.prompt in text
            assert all(answer.text in text for answer in example.answers)
    assert all("by check" in page for page in pages)


def test_the_end_of_a_run_is_the_decision(tmp_path: Path) -> None:
    made = arena_of_tasks(tmp_path, 30)
    ended = cli.invoke(app, ["run", "--dir", str(made), "--matches", "34", "--yes"])
    assert ended.exit_code == 0, ended.output
    assert "Pick " in ended.stdout
    assert RULE in ended.stdout
    assert "Strength: mean 1500" not in ended.stdout


EVIL = (
    "</pre><script>alert(1)</script>\x1b[2J\x1b]0;owned\x07\r\nPick evil: proven to be the best of 9.\n"
    "\u202edrawkcab\n" + "\n".join(["line"] * 40) + "x" * 2_000
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena in which one player is right, and another one writes what steers terminals and pages."""
    made = write_arena(
        tmp_path_factory.mktemp("hostile"),
        [{"name": "good", "model": "house:1.0"}, {"name": "evil", "model": "house:0.5"}],
        game="tasks",
        rules={"tasks": tasks(12)},
    )

    def opened(settings: PlayerSettings) -> Client:
        return Cast(lambda call, attempt: says(EVIL) if settings.name == "evil" else None)(settings)

    play(made, 12, clients=opened)
    return made


def test_what_players_wrote_steers_neither_terminal_nor_page(hostile: Path) -> None:
    shown = cli.invoke(app, ["verdict", "--dir", str(hostile)]).stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    forged = [line for line in shown.splitlines() if "Pick evil" in line]
    assert forged
    assert all(line.startswith(MARGIN) or "  wrong  " in line for line in forged)
    assert not any(line.startswith("Pick evil") for line in shown.splitlines())
    site = Site.open(hostile)
    for page in ((body(site, "index.html") or b"").decode(), report(site).decode()):
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page
        assert "\x1b" not in page
    site.close()


def test_no_part_of_a_line_begins_where_a_terminal_would_begin_it() -> None:
    for text in ("x\u00a0" * 100, "宽" * 100, "words of a sentence " * 20, ""):
        parts = fitting(text, 40)
        assert all(cell_len(part) <= 40 - len(MARGIN) for part in parts)
        assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_note_stays_on_its_line() -> None:
    assert begun("said\nPick evil:\r\n proven", NOTE_CHARS) == "said Pick evil: proven"
    assert len(begun("x" * 999, NOTE_CHARS)) <= NOTE_CHARS


def test_long_answers_are_cut_and_the_rest_is_a_command_away(hostile: Path) -> None:
    with open_arena(hostile, create=False) as arena:
        found = arena.verdict()
    evil = [answer for one in found.examples for answer in one.answers if answer.player == "evil"]
    assert evil
    for answer in evil:
        assert len(answer.text) <= ANSWER_CHARS
        assert answer.text.count("\n") < LINES
        assert answer.more > len(EVIL) - ANSWER_CHARS - 100
        assert len(answer.note) < 200
        assert "\n" not in answer.note
    shown = cli.invoke(app, ["verdict", "--dir", str(hostile)]).stdout
    assert "more characters" in shown
    assert f"match {found.examples[0].match}: " in shown
    assert "`peerage match NUMBER` shows all of one." in shown


def test_other_arenas_have_prices_and_wins_and_read_nothing_more(folder: Path, arena: Arena) -> None:
    with (
        patch("peerage.views.plan.outlook.outlook") as forecast,
        patch("peerage.reading.matches.Matches") as reading,
    ):
        found = arena.verdict()
    assert not forecast.called
    assert not reading.called
    assert (found.would_change, found.examples, found.by_task) == ((), (), False)
    assert {one.player for one in found.contenders} == {f"p{at}" for at in range(7)}
    assert all(one.accuracy is None and one.worst is None for one in found.contenders)
    shown = cli.invoke(app, ["verdict", "--dir", str(folder)]).stdout
    assert shown == "\n".join(found.lines) + "\n"
    site = Site.open(folder)
    assert b'class="decision"' not in (body(site, "index.html") or b"")
    site.close()


def test_tasks_that_only_judges_decide_have_a_weakest_category_by_points(tmp_path: Path) -> None:
    asked = [{key: one[key] for key in ("id", "prompt", "category")} for one in tasks(9)]
    made = arena_of_tasks(
        tmp_path, 60, tasks=asked, players=[*players(), {"name": "fifth", "model": "house:0.6"}]
    )
    with open_arena(made, create=False) as arena:
        found = arena.verdict()
    assert found.by_task
    assert all(one.accuracy is None for one in found.contenders)
    worst = [one.worst for one in found.contenders if one.worst]
    assert worst
    assert all(one.of == "points" and one.category in CATEGORIES for one in worst)
    assert {one.decided for one in found.examples} == {"by judges"}


@browsers.needed
def test_the_report_prints_on_one_page_however_long_the_answers(hostile: Path, tmp_path: Path) -> None:
    page, printed = tmp_path / "report.html", tmp_path / "report.pdf"
    assert cli.invoke(app, ["report", str(page), "--dir", str(hostile)]).exit_code == 0
    words = ["--headless", "--no-sandbox", "--disable-gpu", f"--print-to-pdf={printed}", page.as_uri()]
    subprocess.run([str(browsers.CHROMIUM), *words], check=True, capture_output=True, timeout=60)
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed.read_bytes())) == 1


def test_a_program_that_fails_on_answers_is_named() -> None:
    fine = [met(n, "ada", "bob", "x") for n in range(1, 10)]
    assert list(_unchecked(Credits(fine))) == []
    broken = [replace(one, notes={"B": "the check raised KeyError: 'total'"}) for one in fine[:2]]
    assert list(_unchecked(Credits([*fine[2:], *broken]))) == [
        "Your program failed on 2 of 18 answers with a check, which have credit 0 for that: "
        "`peerage match 2` says why."
    ]
    assert list(_unchecked(Credits([*fine, *fine, *broken[:1]]))) == []


def test_publishing_says_that_it_discloses_the_tasks(tmp_path: Path) -> None:
    sums, duels = tmp_path / "sums", tmp_path / "duels"
    arena_of_tasks(sums, 4)
    write_arena(duels, players(), game="logic", rules={}, name="logic")
    play(duels, 2)
    for folder, discloses in ((sums, True), (duels, False)):
        shown = cli.invoke(app, ["site", "build", str(folder / "site"), "--dir", str(folder)])
        assert shown.exit_code == 0, shown.output
        assert ("publish only tasks that you will not use again" in shown.output) == discloses
