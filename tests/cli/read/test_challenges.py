"""`peerage challenges` on a played arena: the pool, what is said about it later, and who may see what."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.engine.arenas import house, play
from typer.testing import CliRunner, Result

from peerage.cli.main import app
from peerage.games.challenge_exchange.creation import Proposed
from peerage.ledger import Amendment, amend, open_ledger
from peerage.reading.verdicts.withdrawn import amended, match_points
from peerage.standings.verify import verify

cli = CliRunner()
MATCHES = 16
RULES = {"seats": 3, "proof": "blind", "attempts": 1}
ARENA = {"game": "challenge-exchange", "seed": 3, "rules": RULES}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena of blind proofs: it needs no sandbox to have run anything."""
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "arena.yaml").write_text(yaml.safe_dump({**ARENA, "players": house(6)}), "utf-8")
    play(folder, MATCHES)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "arena"))


@pytest.fixture
def say(folder: Path) -> Callable[..., Result]:
    def invoke(*words: str) -> Result:
        found = cli.invoke(app, [*words, "--dir", str(folder)])
        assert found.exit_code == 0, found.output
        return found

    return invoke


def listed(say: Callable[..., Result], *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(say("challenges", "list", "--format", "json", *more).stdout)
    return found


def most_tried(say: Callable[..., Result]) -> dict[str, Any]:
    return max(listed(say), key=lambda row: row["attempts"])


def test_the_pool_is_listed_and_answers_stay_sealed(say: Callable[..., Result]) -> None:
    rows = listed(say)
    assert len(rows) > MATCHES
    assert {row["reference_answer"] for row in rows} == {None}
    assert all(isinstance(row["reference_answer"], int) for row in listed(say, "--answers"))
    tried = [row for row in rows if row["attempts"]]
    assert all(row["difficulty"] is not None and row["discrimination"] > 0 for row in tried)
    assert max(row["attempts"] for row in rows) > RULES["seats"], "none came back in a later match"
    assert "Description" in say("challenges", "list").stdout


def test_an_empty_pool_says_what_fills_it(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump({"seed": 1, "players": house(4)}), "utf-8")
    play(tmp_path, 1)
    told = cli.invoke(app, ["challenges", "list", "--dir", str(tmp_path)])
    assert (told.exit_code, told.stdout.startswith("the pool is empty: ")) == (0, True)
    told = cli.invoke(app, ["challenges", "list", "--dir", str(tmp_path), "--format", "json"])
    assert json.loads(told.stdout) == []


def test_one_is_shown_by_the_beginning_of_its_id(say: Callable[..., Result]) -> None:
    row = most_tried(say)
    name = row["challenge_id"]
    found = json.loads(say("challenges", "show", name[:10], "--format", "json").stdout)
    assert len([one for one in found["history"] if not one["own_challenge"]]) == row["attempts"]
    assert {one["submitted_answer"] for one in found["history"]} == {None}
    answer = next(one for one in listed(say, "--answers") if one["challenge_id"] == name)["reference_answer"]
    assert f"answer: {answer};" in say("challenges", "show", name, "--answers").stdout
    assert "answer: sealed" in say("challenges", "show", name).stdout


def test_a_flag_takes_a_challenge_out_of_play(say: Callable[..., Result], folder: Path) -> None:
    in_use = [row["challenge_id"] for row in listed(say) if row["state"] == "in use"]
    say("challenges", "flag", in_use[0], "ambiguous", "--reason", "two readings")
    others = [{"action": "flag", "flag": "leaked", "challenge_id": name, "reason": ""} for name in in_use[1:]]
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    with ledger.runner():
        amend(ledger, "challenges", others, 0)
    last = ledger.heads()[0]
    ledger.close()
    flagged = {row["challenge_id"]: row for row in listed(say)}[in_use[0]]
    assert (flagged["state"], flagged["flags"], flagged["reason"]) == (
        "flagged",
        ["ambiguous"],
        "two readings",
    )
    play(folder, last + 2)
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    drawn = [json.loads(row.body)["drawn"]["challenges"] for row in ledger.fixtures(last + 1, last + 1)]
    ledger.close()
    assert drawn == [[]]


@pytest.mark.parametrize(("verdict", "state"), [("object", "objected"), ("approve", "in use")])
def test_a_review_is_on_record_and_folded_in_the_pool(
    say: Callable[..., Result], folder: Path, verdict: str, state: str
) -> None:
    name = next(row["challenge_id"] for row in listed(say) if row["state"] == "flagged")
    said = say("challenges", "review", name[:10], verdict, "--reason", "two readings").stdout
    assert said == f"challenge {name}: {verdict}, on record\n"
    row = next(row for row in listed(say) if row["challenge_id"] == name)
    review = {"by": "people", "verdict": verdict, "reason": "two readings"}
    assert (row["state"], row["reviews"]) == (state, [review])
    assert f"review, people: {verdict}: two readings" in say("challenges", "show", name).stdout
    assert "whole:" in say("verify").stdout
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    log = [json.loads(row.body) for row in ledger.amendments("challenges")]
    ledger.close()
    assert [(one["action"], one["verdict"], "record" in one) for one in log] == [("review", verdict, True)]


def test_one_is_asked_for_each_that_waits_for_a_review(
    say: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = cli.invoke(app, ["challenges", "review", "--dir", str(folder)])
    assert (refused.exit_code, "No terminal" in refused.stderr) == (2, True)
    monkeypatch.setattr("peerage.cli.read.challenges.terminal", lambda: True)
    typed = "a\nfine\n\nobject\nvague\nq\n"
    found = cli.invoke(app, ["challenges", "review", "--dir", str(folder)], input=typed)
    assert found.exit_code == 0, found.output
    assert "1 of" in found.stdout
    rows = listed(say)
    said = [one["reviews"][0] for one in rows if one["reviews"]]
    assert sorted((one["verdict"], one["reason"]) for one in said) == [
        ("approve", "fine"),
        ("object", "vague"),
    ]
    first = next(row for row in rows if row["reviews"] and row["reviews"][0]["verdict"] == "approve")
    assert first["flags"], "those with flags come first"


def test_a_withdrawn_challenge_counts_for_nobody(say: Callable[..., Result], folder: Path) -> None:
    before = json.loads(say("leaderboard", "--track", "points", "--format", "json").stdout)
    name = most_tried(say)["challenge_id"]
    history = json.loads(say("challenges", "show", name, "--format", "json").stdout)["history"]
    said = say("challenges", "withdraw", name, "--reason", "wrong").stdout
    assert f"{len(history)} attempts in {len({one['match'] for one in history})} matches" in said
    after = json.loads(say("leaderboard", "--track", "points", "--format", "json").stdout)
    lost = {row["player"]: 0.0 for row in before}
    for one in history:
        lost[one["llm_id"]] += one["points"]
    was = {row["player"]: row["rating"] for row in before}
    assert {row["player"]: row["rating"] for row in after} == pytest.approx(
        {player: was[player] - lost[player] for player in was}
    )
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    points = match_points(ledger)
    for row in amended(ledger):
        if row.scores:
            best = max(points[row.number])
            assert [score == max(row.scores) for score in row.scores] == [
                one == best for one in points[row.number]
            ]
    ledger.close()
    assert "whole:" in say("verify").stdout
    assert "all follows" in say("replay").stdout


@pytest.mark.parametrize(("action", "state"), [("withdraw", "withdrawn"), ("retire", "retired")])
def test_no_reason_is_needed(say: Callable[..., Result], action: str, state: str) -> None:
    name = most_tried(say)["challenge_id"]
    say("challenges", action, name)
    row = next(row for row in listed(say) if row["challenge_id"] == name)
    assert (row["state"], row["reason"]) == (state, "")
    assert (row["reference_answer"] is not None) == (state == "retired"), "retiring discloses the answer"


def test_a_match_of_withdrawn_challenges_alone_is_void(say: Callable[..., Result], folder: Path) -> None:
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    record = json.loads(next(ledger.records(1, 1)).body)
    ledger.close()
    for name in {one["challenge_id"] for one in record["outcome"]["detail"]["attempts"]}:
        say("challenges", "withdraw", name)
    again = open_ledger("sqlite:///arena.db", folder, create=False)
    first = next(iter(amended(again)))
    again.close()
    assert (first.status, first.scores) == ("withdrawn", ())
    rows = json.loads(say("leaderboard", "--format", "json").stdout)
    assert sum(row["void"] for row in rows) >= RULES["seats"]


def test_a_redacted_copy_gives_the_same_head_and_no_answer(
    say: Callable[..., Result], folder: Path, tmp_path: Path
) -> None:
    name = most_tried(say)["challenge_id"]
    say("challenges", "retire", name, "--reason", "published")
    shown = tmp_path / "shown"
    shown.mkdir()
    say("challenges", "redact", str(shown / "arena.db"))
    again = cli.invoke(app, ["challenges", "redact", str(shown / "arena.db"), "--dir", str(folder)])
    assert again.exit_code == 2
    assert "is a database, perhaps a ledger, and is never replaced" in again.stderr
    whole = open_ledger("sqlite:///arena.db", folder, create=False)
    redacted = open_ledger("sqlite:///arena.db", shown, create=False)
    report = verify(redacted)
    assert report.ok, report.problems
    assert (report.head, report.log_root) == (verify(whole).head, verify(whole).log_root)
    assert (report.copy, verify(whole).copy) == (True, False)
    assert "secret" not in redacted.meta()
    whole.close()
    redacted.close()
    shutil.copy(folder / "arena.yaml", shown)
    rows = json.loads(
        cli.invoke(app, ["challenges", "list", "--answers", "--format", "json", "--dir", str(shown)]).stdout
    )
    opened = [row["challenge_id"] for row in rows if row["reference_answer"] is not None]
    assert opened == [name], "only the retired one is disclosed"
    replayed = cli.invoke(app, ["replay", "--dir", str(shown)])
    assert (replayed.exit_code, "sealed in this copy" in replayed.stdout) == (3, True)
    match = cli.invoke(app, ["match", "1", "--full", "--dir", str(shown)])
    assert match.exit_code == 0
    assert "(sealed)" in match.stdout


def test_exports_are_redacted_until_a_challenge_retires(say: Callable[..., Result]) -> None:
    def keys() -> list[str]:
        found = [json.loads(line) for line in say("export").stdout.splitlines()]
        return [
            exchange["key"]
            for document in found
            for exchange in document["exchanges"]
            if "sealed" not in json.dumps(exchange["reply"]["text"])
        ]

    assert keys() == []
    assert '"~salt"' not in say("export").stdout
    name = most_tried(say)["challenge_id"]
    tried = len(json.loads(say("challenges", "show", name, "--format", "json").stdout)["history"])
    say("challenges", "retire", name)
    assert len([key for key in keys() if key.startswith("solve/")]) >= tried


def test_a_pool_moves_to_another_arena(say: Callable[..., Result], folder: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.jsonl"
    sealed.write_text(say("challenges", "export").stdout, "utf-8")
    opened = tmp_path / "opened.jsonl"
    opened.write_text(say("challenges", "export", "--answers").stdout, "utf-8")
    other = ["--dir", str(tmp_path / "other")]
    (tmp_path / "other").mkdir()
    shutil.copy(folder / "arena.yaml", tmp_path / "other")
    refused = cli.invoke(app, ["challenges", "import", str(sealed), *other])
    assert refused.exit_code == 1
    assert "sealed.jsonl, line 1, sealed.jsonl, line 2," in refused.stderr
    assert f" and {len(listed(say)) - 10} more: reference_answer" in refused.stderr
    count = len(listed(say))
    entered = cli.invoke(app, ["challenges", "import", str(opened), *other])
    assert entered.stdout == f"{count} challenges entered, 0 were there already\n"
    again = cli.invoke(app, ["challenges", "import", str(opened), *other])
    assert again.stdout == f"0 challenges entered, {count} were there already\n"
    play(tmp_path / "other", 1)
    ledger = open_ledger("sqlite:///arena.db", tmp_path / "other", create=False)
    drawn = json.loads(next(ledger.fixtures(1, 1)).body)["drawn"]["challenges"]
    assert len(drawn) == 4
    assert verify(ledger).ok
    copy = tmp_path / "copy"
    copy.mkdir()
    assert cli.invoke(app, ["challenges", "retire", drawn[0]["challenge_id"], *other]).exit_code == 0
    done = cli.invoke(app, ["challenges", "redact", str(copy / "arena.db"), *other])
    assert done.exit_code == 0, done.output
    shown = open_ledger("sqlite:///arena.db", copy, create=False)
    imported = [said for said in map(_said, shown.amendments("challenges")) if said["action"] == "import"]
    assert len(imported) == count
    disclosed = [said["challenge_id"] for said in imported if "value" in said["reference_answer"]]
    assert disclosed == [drawn[0]["challenge_id"]]
    assert (verify(shown).ok, verify(shown).log_root) == (True, verify(ledger).log_root)
    ledger.close()
    shown.close()


def _said(row: Amendment) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row.body)
    return found


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ({"author_llm": "a", "description": "d", "reference_answer": "42."}, "reference_answer"),
        ({"author_llm": "a", "description": "d", "reference_answer": 1.5}, "reference_answer"),
        ({"author_llm": "a", "description": " ", "reference_answer": 1}, "description"),
        ({"author_llm": "a", "description": "d\u202ee", "reference_answer": 1}, "description"),
        ({"description": "d", "reference_answer": 1}, "author_llm"),
        ({"author_llm": "a", "description": "d" * 20_001, "reference_answer": 1}, "has 20,001 characters"),
        ({"author_llm": "a" * 201, "description": "d", "reference_answer": 1}, "has 201 characters"),
    ],
)
def test_good_records_are_entered_and_those_refused_are_listed(
    record: dict[str, Any], complaint: str, folder: Path, tmp_path: Path, say: Callable[..., Result]
) -> None:
    file = tmp_path / "pool.jsonl"
    good = {"author_llm": "a", "description": "a good one", "reference_answer": 1}
    file.write_text(json.dumps(good) + "\n" + json.dumps(record) + "\n", "utf-8")
    count = len(listed(say))
    found = cli.invoke(app, ["challenges", "import", str(file), "--dir", str(folder)])
    assert (found.exit_code, found.stdout) == (0, "1 challenge entered, 0 were there already\n")
    assert "1 refused:\n  pool.jsonl, line 2: " in found.stderr
    assert complaint in found.stderr
    assert len(listed(say)) == count + 1
    file.write_text(json.dumps([record]), "utf-8")
    none = cli.invoke(app, ["challenges", "import", str(file), "--dir", str(folder)])
    assert (none.exit_code, "pool.jsonl, row 1" in none.stderr) == (1, True)


def test_files_without_a_challenge_are_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "none.json").write_text("[]", "utf-8")
    for file in (tmp_path / "empty", tmp_path / "none.json"):
        found = cli.invoke(app, ["challenges", "import", str(file), "--dir", str(folder)])
        assert (found.exit_code, found.stdout) == (1, "")
        assert found.stderr == "there is no challenge in these files\n"


def published(prompt: str, answer: int, code: str = "", **more: Any) -> dict[str, Any]:
    """A file as ValyrianTech/ValyrianGamesCodingChallenge has them."""
    return {
        "conversation_id": "20250825185230553940",
        "parameters": {"validation_attempts": 5, "success_threshold": 0.5, "agent": "Contender"},
        "validation_results": {"total_attempts": 5, "correct_answers": 3, "success_rate": 0.6},
        "status": "ACCEPTED",
        "challenge": {"challenge_prompt": prompt, "example_code": code, "expected_answer": answer},
        "solution_attempts": [
            {"filename": "a.json", "answer": answer, "python_code": code, "is_correct": True}
        ],
        "performance_metrics": {"model_name": "Anthropic:claude-3-5-haiku-20241022", "total_cost": 0.1197272},
        **more,
    }


def test_published_sets_with_code_are_read_as_they_are(
    say: Callable[..., Result], folder: Path, tmp_path: Path
) -> None:
    prompt = "**The Sequence**\n\n1. Start with 1\n2. Double it 10 times\n\nReturn the 10th number."
    sets = tmp_path / "sets" / "Anthropic:claude-3-5-haiku-20241022"
    for name, kind, more in (("1", "accepted", {}), ("2", "rejected", {"status": "REJECTED"})):
        (sets / kind).mkdir(parents=True)
        file = published(prompt if kind == "accepted" else "Guess 1.", 1024, "print(2 ** 10)", **more)
        (sets / kind / f"{name}.json").write_text(json.dumps(file, indent=2), "utf-8")
    found = cli.invoke(app, ["challenges", "import", str(tmp_path / "sets"), "--dir", str(folder)])
    assert found.stdout == "1 challenge entered, 0 were there already\n"
    assert (
        "2.json, line 1: it was rejected where it was made, with 3 of 5 blind attempts right" in found.stderr
    )
    row = next(row for row in listed(say, "--answers") if row["match"] == 0)
    assert (row["description"], row["reference_answer"], row["author_llm"]) == (prompt, 1024, sets.name)
    assert (row["proof"], row["state"]) == ("imported, 3 of 5 blind attempts", "in use")
    records = [json.loads(line) for line in say("challenges", "export", "--answers").stdout.splitlines()]
    assert next(one for one in records if one["author_llm"] == sets.name)["solution"] == "print(2 ** 10)"
    sealed = [json.loads(line) for line in say("challenges", "export").stdout.splitlines()]
    assert not any("solution" in one for one in sealed)


def test_an_import_that_contradicts_the_pool_adds_nothing(
    say: Callable[..., Result], folder: Path, tmp_path: Path
) -> None:
    row = next(row for row in listed(say, "--answers") if row["state"] == "in use")
    file = tmp_path / "other.json"
    record = {"author_llm": "else", "description": f"Please: {row['description']}"}
    file.write_text(json.dumps({**record, "reference_answer": row["reference_answer"] + 1}), "utf-8")
    assert "0 challenges entered, 1 were there already" in say("challenges", "import", str(file)).stdout
    assert next(one for one in listed(say) if one["challenge_id"] == row["challenge_id"])["state"] == "in use"


def test_unknown_ids_are_told(folder: Path) -> None:
    for words in (["show", "zz"], ["flag", "zz", "leaked"], ["withdraw", "zz"], ["retire", "zz"]):
        found = cli.invoke(app, ["challenges", *words, "--dir", str(folder)])
        assert found.exit_code == 1
        assert "no challenge of the" in found.stderr
    assert (
        "have an id that begins with"
        in cli.invoke(app, ["challenges", "show", "", "--dir", str(folder)]).stderr
    )


def test_the_valyrian_layout_reads_back_to_the_same_table(say: Callable[..., Result], tmp_path: Path) -> None:
    say("challenges", "withdraw", most_tried(say)["challenge_id"])
    to = tmp_path / "valyrian"
    say("export", "--format", "valyrian", "--to", str(to))
    board = json.loads((to / "leaderboard.json").read_text("utf-8"))
    table = board["models"]
    assert "exact limit" in board["method"]
    history = json.loads((to / "game_history.json").read_text("utf-8"))
    assert len(list((to / "games").iterdir())) == len(history)
    for source in (to, to / "games", to / "game_history.json"):
        rated = cli.invoke(app, ["rate", str(source), "--format", "valyrian", "--output", "json"])
        assert rated.exit_code == 0, rated.output
        rows = {row["player"]: row for row in json.loads(rated.stdout)}
        assert {name: (row["mu"], row["sigma"]) for name, row in rows.items()} == {
            one["name"]: (one["mu"], one["sigma"]) for one in table
        }
    first = json.loads(next(iter(sorted((to / "games").iterdir()))).read_text("utf-8"))
    assert set(first["additional_info"]["attempts"][0]) == {
        *("llm_id", "challenge_id", "submitted_answer", "result", "own_challenge", "points")
    }
    for one in table:
        met = [
            (game, game["ranks"][game["participants"].index(one["name"])])
            for game in history
            if one["name"] in game["participants"]
        ]
        assert one["wins"] == sum(rank > mine for game, mine in met for rank in game["ranks"])
        assert one["losses"] == sum(rank < mine for game, mine in met for rank in game["ranks"])
    for name, one in first["additional_info"]["performance_metrics"].items():
        solved = [
            it
            for it in first["additional_info"]["attempts"]
            if it["llm_id"] == name and it["result"] == "correct"
        ]
        own = sum(it["own_challenge"] for it in solved)
        assert (one["own_challenges_solved"], one["others_challenges_solved"]) == (own, len(solved) - own)
    challenges = first["additional_info"]["challenges"]
    assert set(challenges[0]) == {"challenge_id", "author_llm", "description", "reference_answer"}
    assert {one["reference_answer"] for one in challenges} == {None}
    assert cli.invoke(app, ["export", "--format", "valyrian"]).exit_code == 2


TEXTS = (
    'two\nlines, "quoted", it\'s',
    "=SUM(A1)",
    "'=x",
    "ünïcödé 😀 ١ \u0301\u0302",
    '{"json": [1]}',
    "007",
    "tab\there",
    "back\\slash \\n",
)
ANSWERS = (0, -1, "+7", "007", "-0", 2**63, 2**64 + 1, 1 - 10**60, "9" * 60)


def test_what_is_exported_is_imported_to_the_letter(tmp_path: Path) -> None:
    """Of every kind of text and number, also programs with signs that cannot be seen; imported again it is
    exported as the same."""
    records = [
        {"author_llm": text.replace("\n", " "), "description": f"{text}: {at}?", "reference_answer": at}
        for at, text in enumerate(TEXTS)
    ]
    program = "print('x')\n# \u200b \u202e \x85 \x1b, \"q\"\r\n\tä"
    records += [
        {
            "author_llm": "m",
            "description": f"{'abcdefghi'[at] * 9}?",
            "reference_answer": one,
            "solution": program,
        }
        for at, one in enumerate(ANSWERS)
    ]
    (tmp_path / "0.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    for place in range(2):
        where = ["--dir", str(tmp_path / f"arena {place}")]
        Path(where[1]).mkdir()
        (Path(where[1]) / "arena.yaml").write_text(yaml.safe_dump({**ARENA, "players": house(6)}), "utf-8")
        entered = cli.invoke(app, ["challenges", "import", str(tmp_path / f"{place}.jsonl"), *where])
        assert entered.output == f"{len(records)} challenges entered, 0 were there already\n"
        out = cli.invoke(app, ["challenges", "export", "--answers", *where]).stdout
        assert not set("\x1b\x7f\x85") & set(out)
        (tmp_path / f"{place + 1}.jsonl").write_text(out, "utf-8")
    first, second = ((tmp_path / f"{at}.jsonl").read_text("utf-8").split("\n")[:-1] for at in (1, 2))
    assert sorted(first) == sorted(second)
    found = {one["description"]: one for one in map(json.loads, first)}
    for record in records:
        known = found[record["description"]]
        assert known["reference_answer"] == int(record["reference_answer"])
        assert [known[key] for key in record if key != "reference_answer"] == [
            record[key] for key in record if key != "reference_answer"
        ]


def test_no_author_may_state_an_answer_that_no_player_can() -> None:
    for answer in (10**59, str(10**59)):
        assert Proposed("Why?", answer).answer == 10**59
    with pytest.raises(ValueError, match="more than 60 digits"):
        Proposed("Why?", 10**60)
