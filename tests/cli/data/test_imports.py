import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.engine.arenas import play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app

FILE = Path(__file__).parents[2] / "data/cob/data.json"
VALYRIAN = FILE.parents[1] / "valyrian"
cli = CliRunner()


def run(*words: str, code: int = 0) -> str:
    done = cli.invoke(app, [*words])
    assert done.exit_code == code, done.output
    return done.stderr if code else done.stdout


def test_import_and_export(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path / "arena")]
    first = cli.invoke(app, ["import", str(FILE), *where])
    assert first.exit_code == 0, first.output
    assert "10 battles entered, 0 were there already" in first.output
    assert "10 of 10 come out as recorded when broken encodings are ignored" in first.output
    assert "ally_failure: attacker, 2 come out otherwise" in first.output
    assert "0 battles entered, 10 were there" in cli.invoke(app, ["import", str(FILE), *where]).output
    assert cli.invoke(app, ["verify", *where]).exit_code == 0
    assert cli.invoke(app, ["replay", *where]).exit_code == 0
    written = cli.invoke(app, ["export", "--format", "cob", *where])
    assert len(json.loads(written.stdout)) == 10


def test_ignoring_moves_the_last_to_the_first(tmp_path: Path) -> None:
    def best(reading: str) -> list[str]:
        where = ["--dir", str(tmp_path / reading)]
        assert cli.invoke(app, ["import", str(FILE), *where, "--ally-failure", reading]).exit_code == 0
        table = cli.invoke(app, ["leaderboard", "--track", "raw", "--format", "json", *where])
        return [row["player"] for row in json.loads(table.stdout)]

    assert best("ignore")[0] == best("attacker")[-1] == "anthropic/claude-3.7-sonnet"


def test_an_arena_of_another_game_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text("players: [house:0.1, house:0.2]\n", "utf-8")
    shown = cli.invoke(app, ["import", str(FILE), "--dir", str(tmp_path)])
    assert shown.exit_code == 2
    assert "this arena plays 'duel'" in shown.stderr


def test_what_is_no_file_of_battles_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    shown = cli.invoke(app, ["import", str(tmp_path / "x.json"), "--format", "cob", "--dir", str(tmp_path)])
    assert shown.exit_code == 1
    assert "no data.json of the Color Obfuscation Benchmark" in shown.stderr
    shown = cli.invoke(app, ["import", str(tmp_path / "x.json"), "--dir", str(tmp_path)])
    assert (shown.exit_code, "row 1: found 1, expected an object" in shown.stderr) == (1, True)
    assert not (tmp_path / "arena.yaml").exists()


def renamed(folder: Path, name: str) -> Path:
    """A file of battles in which one model has another name."""
    text = FILE.read_text("utf-8").replace("openai/o3-mini-high", json.dumps(name)[1:-1])
    (folder / "x.json").write_text(text, "utf-8")
    return folder / "x.json"


@pytest.mark.parametrize("name", ['x", family: "y', "x: {y}'\"# ", "*x &y !!z"])
def test_names_in_a_file_of_battles_stay_names(tmp_path: Path, name: str) -> None:
    shown = cli.invoke(app, ["import", str(renamed(tmp_path, name)), "--dir", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    players = yaml.safe_load((tmp_path / "arena.yaml").read_text("utf-8"))["players"]
    assert {"model": f"openrouter:{name}", "name": name} in players
    assert len(players) == 4


@pytest.mark.parametrize("name", ["x" * 81, 'x"}\n  - {model: "command:touch owned", name: "y"}\n# '])
def test_a_name_that_no_player_may_have_leaves_no_settings_behind(tmp_path: Path, name: str) -> None:
    shown = cli.invoke(app, ["import", str(renamed(tmp_path, name)), "--dir", str(tmp_path)])
    assert shown.exit_code == 2
    assert "players[3].name" in shown.stderr
    assert not (tmp_path / "arena.yaml").exists()


BATTLES = """model_a,model_b,winner,weight,judge,question,timestamp
x,y,model_a,1,ann,q1,30
y,x,tie,2,bob,q1,20
z,y,model_b,1,ann,q2,10
"""


def test_battles_become_outside_results(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(BATTLES, "utf-8")
    (tmp_path / "g.json").write_text('[{"players": ["x", ["y", "z"]], "scores": [1, 2]}]', "utf-8")
    where = ["--dir", str(tmp_path / "arena")]
    first = cli.invoke(app, ["import", str(tmp_path / "b.csv"), str(tmp_path / "g.json"), *where])
    assert first.exit_code == 0, first.output
    assert "b.csv: 3 votes of 3 players, sha256 " in first.output
    assert "g.json: 1 game of 3 players" in first.output
    again = cli.invoke(app, ["import", str(tmp_path / "b.csv"), *where])
    assert "b.csv: was entered before (the same bytes), nothing changed" in again.output
    checked = cli.invoke(app, ["verify", "--format", "json", *where])
    assert checked.exit_code == 0, checked.output
    listed = cli.invoke(app, ["leaderboard", "--source", "outside", "--format", "json", *where])
    assert {row["player"] for row in json.loads(listed.stdout)} >= {"x", "y", "z"}, listed.output


def test_results_that_are_in_the_arena_already_are_refused(tmp_path: Path) -> None:
    """From another file, in another form or as its own matches: they would count twice."""
    played, other = write_arena(tmp_path / "played", 4), ["--dir", str(tmp_path / "other")]
    play(played, 20)
    for form in ("csv", "jsonl", "votes"):
        said = run("export", "--format", form, "--dir", str(played))
        (tmp_path / f"{form}.{form if form == 'csv' else 'jsonl'}").write_text(said, "utf-8")
    csv, documents, votes = [str(tmp_path / name) for name in ("csv.csv", "jsonl.jsonl", "votes.jsonl")]
    refused = run("import", csv, documents, *other, code=1)
    assert "jsonl.jsonl: its results are those of csv.csv (the same players and outcomes)" in refused
    assert not (tmp_path / "other").exists(), "nothing was made"
    assert "csv.csv: 20 games of 4 players" in run("import", csv, *other)
    assert "jsonl.jsonl: its results are those of csv.csv" in run("import", documents, *other, code=1)
    assert "results are those of csv.csv" in run("import", votes, *other, code=1)
    assert "results are those of matches of this arena" in run("import", csv, "--dir", str(played), code=1)
    assert "`--again` enters them all the same" in run("import", documents, *other, code=1)
    assert "20 games of 4 players" in run("import", documents, "--again", *other)
    assert len(json.loads(run("stats", "--of", "outside", "--format", "json", *other))) == 2


def test_one_bad_file_and_none_is_entered(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(BATTLES, "utf-8")
    (tmp_path / "b.csv").write_text(BATTLES.replace("tie", "perhaps"), "utf-8")
    shown = cli.invoke(app, ["import", str(tmp_path), "--strict", "--dir", str(tmp_path / "arena")])
    assert shown.exit_code == 1
    assert "b.csv, line 3, column winner: found 'perhaps'" in shown.stderr
    assert not (tmp_path / "arena").exists()
    shown = cli.invoke(app, ["import", str(tmp_path), "--again", "--dir", str(tmp_path / "arena")])
    assert shown.exit_code == 0
    assert "b.csv, line 3, column winner: found 'perhaps'" in shown.output


def test_what_is_no_result_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("player,challenge,solved\nx,c,1\n", "utf-8")
    (tmp_path / "b.csv").write_text("model_a,model_b,winner\n", "utf-8")
    shown = cli.invoke(app, ["import", str(tmp_path / "a.csv"), "--dir", str(tmp_path)])
    assert (shown.exit_code, "no challenge was answered by two players" in shown.stderr) == (1, True)
    shown = cli.invoke(app, ["import", str(tmp_path / "b.csv"), "--dir", str(tmp_path)])
    assert (shown.exit_code, "there are no rows" in shown.stderr) == (1, True)
    shown = cli.invoke(app, ["import", str(FILE), str(tmp_path / "a.csv"), "--dir", str(tmp_path)])
    assert (shown.exit_code, "entered by themselves" in shown.stderr) == (1, True)


def test_half_a_surrogate_pair_in_a_name_becomes_a_replacement(tmp_path: Path) -> None:
    rows = [{"model_a": "cut \ud83d", "model_b": "b", "winner": "model_a"}]
    for name, text in {
        "lines.jsonl": "\n".join(map(json.dumps, rows)),
        "list.json": json.dumps(rows),
        os.fsdecode(b"b\xff.csv"): "model_a,model_b,winner\nx,y,model_b\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
        arena = tmp_path / f"arena-{len(name)}"
        done = cli.invoke(app, ["import", str(tmp_path / name), "--dir", str(arena)])
        assert done.exit_code == 0, done.output
        assert cli.invoke(app, ["verify", "--dir", str(arena)]).exit_code == 0
        shown = cli.invoke(app, ["export", "--format", "outside", "--dir", str(arena)])
        assert "\ufffd" in shown.output
        if not name.endswith(".csv"):
            rated = cli.invoke(app, ["rate", str(tmp_path / name), "--output", "json"])
            assert "cut \ufffd" in [row["player"] for row in json.loads(rated.output)]


def test_outside_games_keep_costs_and_speed(tmp_path: Path) -> None:
    """Of a published tournament, and of what was exported and entered again."""
    games = sorted(VALYRIAN.glob("*.json"))
    metrics: dict[str, list[dict[str, Any]]] = {}
    for file in games:
        found = json.loads(file.read_text("utf-8"))["additional_info"]["performance_metrics"]
        for name, one in found.items():
            metrics.setdefault(name, []).append(one)
    first, again = tmp_path / "first", tmp_path / "again"
    run("import", *map(str, games), "--dir", str(first))
    exported = tmp_path / "games.jsonl"
    exported.write_text(run("export", "--format", "outside", "--dir", str(first)), "utf-8")
    run("import", str(exported), "--dir", str(again))
    for folder in (first, again):
        said = run("leaderboard", "--source", "outside", "--format", "json", "--dir", str(folder))
        rows = {row["player"]: row for row in json.loads(said)}
        for name, played in metrics.items():
            keys = ("total_cost", "total_tokens", "total_time")
            total = {key: sum(one[key] for one in played) for key in keys}
            assert rows[name]["cost_usd"] == pytest.approx(total["total_cost"])
            assert rows[name]["cost_per_match"] == pytest.approx(total["total_cost"] / len(played))
            assert rows[name]["output_tokens"] == total["total_tokens"]
            speed = f"{total['total_tokens'] / total['total_time']:.1f} tokens a second in outside games"
            assert speed in rows[name]["notes"]
        assert "whole" in run("verify", "--dir", str(folder))


INSPECT = sorted((FILE.parents[1] / "inspect").glob("*.eval"))


def test_the_score_of_logs_that_counts_is_named(tmp_path: Path) -> None:
    logs = []
    for model, tidy in (("a", 1), ("b", 0)):
        scores = {"judge": {"value": {"exact": 0.5, "tidy": tidy}}}
        log = {"eval": {"model": model, "task": "t"}, "status": "success"}
        path = tmp_path / f"{model}.json"
        path.write_text(json.dumps({**log, "samples": [{"id": 1, "scores": scores}]}), "utf-8")
        logs.append(str(path))
    where = ["--dir", str(tmp_path / "arena")]
    assert "--score names another column" in run("import", *logs, *where, code=1)
    assert "score judge/tidy of each sample" in run("import", *logs, *where, "--score", "judge/tidy")
    table = json.loads(run("leaderboard", "--source", "outside", "--format", "json", *where))
    assert [(row["player"], row["wins"]) for row in table] == [("a", 1), ("b", 0)]
    rated = json.loads(run("rate", *logs, "--score", "judge/tidy", "--of", "players", "--output", "json"))
    assert [row["player"] for row in rated] == ["a", "b"]
    assert "there is no column judge/tidy" in run("rate", str(FILE), "--score", "judge/tidy", code=1)
    again = run("import", *logs, *where, "--score", "judge/exact")
    assert "was entered before (the same bytes; score judge/tidy of each sample), nothing changed" in again


def test_logs_of_inspect_become_games_of_all_models_and_come_back(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path / "arena")]
    logs = [str(log) for log in INSPECT]
    assert "quiz-one.eval and 2 more: 18 answers of 3 players" in run("import", *logs, *where)
    assert "was entered before" in run("import", *reversed(logs), *where), "whatever the order of the files"
    table = json.loads(run("leaderboard", "--source", "outside", "--format", "json", *where))
    assert [row["player"] for row in table] == ["mockllm/one", "mockllm/two", "mockllm/three"]
    run("verify", *where)
    (tmp_path / "out.jsonl").write_text(run("export", "--format", "outside", *where), "utf-8")
    again = ["--dir", str(tmp_path / "again")]
    assert "18 answers of 3 players" in run("import", str(tmp_path / "out.jsonl"), *again)
    assert "1 line is no vote" in run("import", str(FILE.parents[1] / "fastchat/conv.json"), *again)
    assert "3 votes of 6 players" in run("import", str(FILE.parents[1] / "lmarena/140k.csv"), *again)


def test_parts_of_a_win_are_kept_and_come_out_again(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("p,q,r\nx,y,0.9\nx,y,0\ny,x,0.25\n", "utf-8")
    arena = ["--dir", str(tmp_path / "arena")]
    stated = ["--columns", "a=p,b=q", "--columns", "winner=r", "--winner", "1=a,0=b"]
    assert cli.invoke(app, ["import", str(tmp_path / "a.csv"), *stated, *arena]).exit_code == 0
    lines = cli.invoke(app, ["export", "--format", "outside", *arena]).stdout.splitlines()
    assert [json.loads(line).get("share") for line in lines] == [0.9, None, 0.25]
    (tmp_path / "b.jsonl").write_text("\n".join(lines), "utf-8")
    tables = [
        cli.invoke(app, ["rate", str(tmp_path / name), "--output", "csv", *options]).stdout
        for name, options in (("a.csv", stated), ("b.jsonl", []))
    ]
    assert tables[0] == tables[1] != ""
    assert cli.invoke(app, ["verify", *arena]).exit_code == 0


def test_categories_of_votes_are_kept(tmp_path: Path) -> None:
    tags = [
        {"math_v0.1": {"math": at % 3 == 0}, "if_v0.1": {"if": at % 2 == 0, "score": 4}} for at in range(60)
    ]
    votes = [
        {"model_a": "x", "model_b": "y", "winner": "model_a" if at % 4 else "tie", "category_tag": tag}
        | {"language": "pl" if at % 2 else "en", "is_code": at % 5 == 0}
        for at, tag in enumerate(tags)
    ]
    file, where = tmp_path / "votes.jsonl", ["--dir", str(tmp_path / "arena")]
    file.write_text("\n".join(map(json.dumps, votes)), "utf-8")
    run("import", str(file), *where)
    (tmp_path / "out.jsonl").write_text(run("export", "--format", "outside", *where), "utf-8")
    for column in ("category", "language", "is_code"):
        whole, back = [
            run("rate", str(path), "--by", column, "--output", "json")
            for path in (file, tmp_path / "out.jsonl")
        ]
        assert whole == back
    assert {
        row["category"]
        for row in json.loads(
            run("rate", str(tmp_path / "out.jsonl"), "--by", "category", "--output", "json")
        )
    } == {"(all)", "math", "if"}


def test_a_pipe_is_not_imported(tmp_path: Path) -> None:
    shown = cli.invoke(
        app, ["import", "-", "--dir", str(tmp_path / "arena")], input="model_a,model_b,winner\n"
    )
    assert (shown.exit_code, "save it as a file first" in shown.stderr) == (1, True)
    assert not (tmp_path / "arena").exists()
