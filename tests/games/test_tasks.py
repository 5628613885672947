"""One's own tasks: files with all their mistakes, templates, and what decides a match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.offline import Played, choose, fixture, house, play, scripted

from peerage.game.protocol import Ask, Reply
from peerage.games.tasks import GAME as TASKS
from peerage.games.tasks.files import read_tasks
from peerage.games.tasks.play import draw, officials, remarks
from peerage.games.tasks.rules import TasksRules
from peerage.settings import SettingsError, enough_players, load, loads, rules_of

PLAYERS = ["ann", "bob", "cid", "dan", "eve"]


def wrong(text: str | bytes, name: str = "tasks.csv", **stated: Any) -> list[str]:
    """What is said of a file, a line each."""
    with pytest.raises(ValueError, match=r"line|found|prompt") as told:
        read_tasks(text.encode() if isinstance(text, str) else text, name, stated)
    return str(told.value).split("\n  ")


# ----------------------------------------------------------------------------------------------- files

ROWS = [["What is 2 + 2?", "4"], ["Say “no”; or, not", "no"]]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_tables_of_every_office(mark: str, encoding: str, ends: str) -> None:
    lines = [mark.join(f'"{cell}"' for cell in row) for row in [["Prompt ", "EXPECTED"], *ROWS]]
    found = read_tasks(ends.join(lines).encode(encoding), "tasks.csv", {})
    assert [(task["messages"][0][1], task["expected"]) for task in found] == [tuple(row) for row in ROWS]


def test_the_same_tasks_in_every_form() -> None:
    tasks = [
        {"prompt": "A?", "expected": "1", "check": "number 0.5", "category": "c", "weight": 2, "id": "x"},
        {"messages": [{"role": "user", "content": "B?"}], "system": "S", "rubric": "Brief."},
    ]
    forms = {
        "t.jsonl": "\n".join(map(json.dumps, tasks)),
        "t.json": json.dumps(tasks, indent=1),
        "u.json": json.dumps({"tasks": tasks}),
        "t.yaml": json.dumps(tasks),
        "t.yml": "tasks:\n" + "".join(f"- {json.dumps(task)}\n" for task in tasks),
    }
    read = {name: read_tasks(text.encode(), name, {}) for name, text in forms.items()}
    assert all(one == read["t.jsonl"] for one in read.values())
    first, second = (TasksRules.model_validate({"tasks": tasks}).tasks for _ in range(2))
    assert [task.model_dump(exclude_defaults=True) for task in first] == [
        {"id": "x", "messages": (("user", "A?"),), "expected": "1", "category": "c", "weight": 2,
         "checks": ({"kind": "number", "expected": "1", "tolerance": 0.5},)},
        {"id": "2", "messages": (("system", "S"), ("user", "B?")), "rubric": "Brief."},
    ]  # fmt: skip
    assert first == second


MISTAKES = {
    "question,answer\na,b\n": [
        "line 1, column question: found 'question', which is not known; did you mean 'prompt'?",
        "line 1, column answer: found 'answer', which is not known; did you mean 'expected'?",
    ],
    "city\nRome\n": [
        "line 1, column city: found 'city', which is not known; known: prompt",
        "line 2: no `prompt`",
    ],
    "prompt,note\na,b\n": ["line 1, column note: found 'note', which is not known; known: prompt, messages"],
    "prompt,prompt\na,b\n": ["line 1: the header names prompt twice; delete or rename one"],
    "prompt,id\na,cafe\u0301\nb,caf\u200b\u00e9 \n": [
        "line 3, column id: 'café' is the id of line 2 too; rename one"
    ],
    'prompt,id\na,"a\nb"\nb,a  b\n': ["line 4, column id: 'a b' is the id of line 2 too; rename one"],
    "prompt,id\na,\u200b\n": ["line 2, column id: found '\\u200b'; expected something that can be seen"],
    "prompt,id\na,1\nb,1\n": ["line 3, column id: '1' is the id of line 2 too; rename one"],
    "prompt,id\na,2\nb,\n": ["line 3, column id: '2' (its place in the list) is the id of line 2 too"],
    "prompt\na\na\n": ["line 3: the same prompt as line 2; delete one, or raise the other's `weight`"],
    "prompt,expected\n,x\na,y\n": ["line 2, column prompt: found nothing; expected some text"],
    "prompt,expected\na;b\n": ["line 2, column expected: found 1 cells, expected 2"],
    "prompt,expected,check\na,(,regex\nb,x,nmber\n": [
        "line 2, column check: the pattern '(' cannot be used: unclosed group",
        "line 3, column check: found 'nmber'; no check is called so; did you mean 'number'?",
    ],
    "prompt,check,expcted\na,exact,b\nc,exact,d\n": [
        "line 1, column expcted: found 'expcted', which is not known; did you mean 'expected'?"
    ],
    "prompt,check\na,exact\n": ["line 2, column check: the check `exact` has nothing to compare with"],
    "prompt,weight\na,0\nb,many\nc,1.5\n": [f"line {at}, column weight: found" for at in (2, 3, 4)],
    "prompt,messages\na,[]\n": ["line 2, column messages: found both `prompt` and `messages`"],
    "prompt,video\na,b\n": ["line 1, column video: found 'video', which cannot be played here"],
    "prompt\n": ["no task found; expected a line of columns (prompt, messages, system, expected, check …)"],
}


@pytest.mark.parametrize("text", MISTAKES)
def test_all_mistakes_of_a_table_at_once(text: str) -> None:
    said = wrong(text)
    assert len(said) == len(MISTAKES[text]), said
    for line, begins in zip(said, MISTAKES[text], strict=True):
        assert line.startswith(begins)


TURNS: dict[str, Any] = {
    "turn 2 is another one of role 'user'": [("user", "a"), ("user", "b")],
    "turn 1 has the role 'bot'": [("bot", "a")],
    "turn 2 is the last and the model's": [("user", "a"), ("assistant", "b")],
    "turn 2 is a system text": [("user", "a"), ("system", "b")],
    "found a system text alone": [("system", "a")],
    "turn 1 says ' '": [("user", " ")],
}


@pytest.mark.parametrize("told", TURNS)
def test_conversations_that_no_model_takes(told: str) -> None:
    turns = [{"role": role, "content": text} for role, text in TURNS[told]]
    [said] = wrong(json.dumps({"messages": turns}), "t.jsonl")
    assert said.startswith(f"line 1, column messages: {told}")
    [said] = wrong('{"messages": [{"role": "user", "content": [{"type": "video"}]}]}', "t.jsonl")
    assert "expected some text, a picture or a sound" in said


# ------------------------------------------------------------------------------------------- templates


def test_templates_are_filled_once_and_hide_what_is_expected() -> None:
    text = "name,city,expected\n{{city}} {x},Rome,4\n"
    [task] = read_tasks(text.encode(), "t.csv", {"template": "Hi {{ name }} of {{city}}. {keep} {{ 1x }}"})
    assert task["messages"] == [("user", "Hi {{city}} {x} of Rome. {keep} {{ 1x }}")]
    said = wrong(text, template="{{nam}} {{expected}}")
    assert said[0].startswith("line 1, column name: found 'name', which is not known")
    assert any("nothing fills {{nam}} of the template; did you mean 'name'?" in line for line in said)
    assert any("would show contestants `expected`" in line for line in said)


def test_a_players_template_is_asked_in_place_of_the_prompt() -> None:
    rules = {
        "tasks": [{"prompt": "Sum {1}?", "system": "S", "expected": "1", "tone": "kindly"}],
        "templates": {"ann": "Reply {{tone}}: {{prompt}}", "bob": ""},
    }
    played = match(rules, {"ann": "1", "bob": "1"})
    asked = {step.ask.to: [value for message in step.ask.messages for value in message.fill.values()]
             for step in played.steps}  # fmt: skip
    ann, bob = (label(played, name) for name in ("ann", "bob"))
    assert asked[ann] == ["S", "Reply kindly: Sum {1}?"]
    assert asked[bob] == ["S", "Sum {1}?"]
    with pytest.raises(ValidationError, match=r"nothing fills \{\{x\}\} of the template of ann"):
        TasksRules.model_validate({"tasks": ["a"], "templates": {"ann": "{{x}}", "bob": ""}})


def test_texts_stand_in_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(
        "tasks: {file: t.csv, template: {file: t.md}, answer_schema: s.json, check: contains}\n"
        "players:\n- {model: house:0.5, system_prompt: {file: p.md}}\n"
        "- {model: house:0.6, template: 'x {{b}}'}\n"
    )
    (tmp_path / "t.csv").write_text("a,b,expected,check\n1,2,3,\n2,3,4,python: c.py:f\n")
    (tmp_path / "t.md").write_bytes("\ufeffSay {{a}}.\n\n".encode())
    (tmp_path / "p.md").write_bytes("Sei präzise {x}\n".encode("utf-16"))
    (tmp_path / "s.json").write_text('{"type": "object"}')
    (tmp_path / "c.py").write_text("def f(answer): return 1\n")
    settings = load(tmp_path)
    rules = rules_of(settings)
    assert [task.messages for task in rules.tasks] == [(("user", "Say 1.\n"),), (("user", "Say 2.\n"),)]
    assert [task.vars for task in rules.tasks] == [{"b": "2"}, {"b": "3"}]
    assert rules.templates == {"house:0.5": "", "house:0.6": "x {{b}}"}
    assert (rules.answer_schema, rules.programs) == (
        '{"type": "object"}',
        {"c.py": "def f(answer): return 1"},
    )
    assert settings.players[0].system_prompt == "Sei präzise {x}"
    assert TASKS.needs.sandbox(rules)
    for name, told in (
        ("c.py", "line 1, tasks.file: "),
        ("s.json", "line 1, tasks.answer_schema: "),
        ("t.md", "line 1, tasks.template: "),
        ("p.md", "line 3, players[1].system_prompt: "),
        ("t.csv", "line 1, tasks.file: "),
    ):
        (tmp_path / name).rename(tmp_path / "gone")
        with pytest.raises(SettingsError) as said:
            load(tmp_path)
        assert told in str(said.value)
        assert f"{name} does not exist; the path is relative to the arena's folder" in str(said.value)
        (tmp_path / "gone").rename(tmp_path / name)
    for name, text, told in (
        ("s.json", "{", "no JSON"),
        ("s.json", '{"type": "objekt"}', "did you mean 'object'"),
        ("p.md", b"\xff", "is no UTF-8"),
    ):
        before = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(SettingsError, match=told):
            load(tmp_path)
        (tmp_path / name).write_bytes(before)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("game: logic\ntasks: [a]\n", "line 2, tasks: found the game 'logic' next to your tasks"),
        ("games: [logic]\ntasks: [a]\n", "`games` does not name; add it"),
        ("rules: {seats: 2}\ntasks: [a]\n", "line 1, rules: the rules of your tasks stand under"),
        ("tasks: {fiel: t.csv}\n", "line 1, tasks: no task and no file of tasks is named"),
        (
            "tasks: {tasks: [a], temprature: 1}\n",
            "tasks.temprature: unknown key; did you mean 'temperature'?",
        ),
        ("tasks: [{prompt: a, wieght: 2}]\n", "did you mean 'weight'"),
        ("tasks: []\n", "line 1, tasks: no task"),
        ("tasks: 7\n", "tasks: found 7; expected a list"),
    ],
)
def test_mistakes_about_the_key_itself(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(text)
    with pytest.raises(SettingsError) as said:
        load(tmp_path)
    assert told in str(said.value)


def test_a_template_without_tasks_is_told() -> None:
    stated = "players: [{model: house:0.5, name: a, template: '{{x}}'}, house:0.6, house:0.7, house:0.8]\n"
    with pytest.raises(SettingsError, match="a has a `template`, which is filled from tasks of yours"):
        enough_players(loads(stated))
    two = "players: [{model: house:0.5, template: '{{x}}'}, {model: house:0.8, template: 'b{{x}}'}]\n"
    enough_players(loads(f"{two}tasks: [{{x: a, expected: b}}]\n"))


def test_tasks_beside_another_game(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text("games: [logic, tasks]\ntasks: {tasks: [a, b], max_tokens: 9}\n")
    settings = load(tmp_path)
    assert list(settings.lineup) == ["logic", "tasks"]
    assert rules_of(settings, "tasks").max_tokens == 9
    assert [task.messages[0][1] for task in rules_of(settings, "tasks").tasks] == ["a", "b"]


# ------------------------------------------------------------------------------------------- promptfoo

PROMPTFOO = """\
prompts: ["Translate {{text}} to {{language}}. {keep}"]
defaultTest: {assert: [{type: latency, threshold: 100}]}
tests:
  - vars: {text: hello, language: French, unused: 1}
    assert:
      - {type: equals, value: bonjour}
      - {type: not-icontains, value: "{{text}}"}
  - vars: {text: "no", language: German}
    assert:
      - {type: contains-any, value: "nein, nee", weight: 2}
      - {type: llm-rubric, value: "A good {{language}} word"}
      - {type: javascript, value: "output.length < 5"}
  - vars: {text: data, language: JSON}
    assert:
      - {type: is-json, value: {type: object, required: [a]}}
      - {type: starts-with, value: "{+"}
      - {type: regex, value: "a+"}
"""


def test_tests_of_promptfoo_are_tasks() -> None:
    rules = TasksRules.model_validate({"tasks": read_tasks(PROMPTFOO.encode(), "c.yaml", {})})
    first, second, third = rules.tasks
    assert first.messages == (("user", "Translate hello to French. {keep}"),)
    assert second.messages == (("user", "Translate no to German. {keep}"),)
    assert first.checks == (
        {"kind": "exact", "expected": "bonjour", "strict": True},
        {"kind": "contains", "expected": "hello", "negated": True},
    )
    assert second.rubric == "A good German word"
    assert [one["kind"] for one in third.checks] == ["json", "regex", "regex"]
    assert [one["kind"] for one in second.checks] == ["contains"]
    [told] = remarks(rules)
    assert "left out: latency (3 tasks), javascript (1 tasks)" in told
    played = match({"tasks": [third.model_dump(mode="json")]}, {"ann": '{+ {"a": 1}', "bob": '{"b": 1}'})
    assert played.outcome.detail["checks"][label(played, "ann")] == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prompts: [a, b]\ntests: [{vars: {x: 1}}]\n", "found 2 `prompts`; leave them out"),
        (
            "prompts: file://p.txt\ntests: [{vars: {x: 1}}]\n",
            "name it as `tasks: {file: …, template: {file: PATH}}`",
        ),
        ("prompts: '{{a}}'\ntests: [{vars: {a: [1, 2]}}]\n", "write a test case for each"),
        ("prompts: '{{a | upper}}'\ntests: [{vars: {a: x}}]\n", "holds more than {{name}}"),
        ("prompts: '{{a}}'\ntests: [{vars: {b: x}}]\n", "nothing fills {{a}}"),
        ("tests: [{vars: {b: x}}]\n", "line 1: no `prompt`"),
        ("a: 1\n", "no list found; expected a list of tasks, or `tests:`"),
        ("a: b: c\n", "line 1, column 5: found a second `: `"),
    ],
)
def test_what_promptfoo_does_otherwise_is_told(text: str, told: str) -> None:
    assert told in "\n".join(wrong(text, "c.yaml"))


# ---------------------------------------------------------------------------------------- what decides


def match(rules: dict[str, Any], answers: dict[str, str | Reply], verdict: str = "A") -> Played:
    """A match of ann and bob with these answers; every judge prefers whoever holds `verdict`."""

    def script(ask: Ask, player: str) -> str | Reply:
        return answers[player] if ask.role == "contestant" else choose(ask, verdict)

    return play(TASKS, fixture(TASKS, PLAYERS, rules), scripted(script))


def label(played: Played, player: str) -> str:
    return next(seat.label for seat in played.fixture.seats if seat.player == player)


def scores(played: Played) -> dict[str, float]:
    return {seat.player: played.outcome.scores[seat.label] for seat in played.fixture.seats}


CHECKED = {"tasks": [{"prompt": "2 + 2?", "expected": "4", "category": "sums", "weight": 3}]}


def test_a_check_that_tells_answers_apart_decides_without_judges() -> None:
    played = match(CHECKED, {"ann": "4.", "bob": "5"})
    assert scores(played) == {"ann": 1.0, "bob": 0.0}
    detail = played.outcome.detail
    assert {step.ask.role for step in played.steps} == {"contestant"}
    assert (detail["decided"], detail["task"], detail["category"], detail["weight"]) == (
        "by check",
        "1",
        "sums",
        3,
    )
    assert detail["check_notes"] == {label(played, "bob"): "said '5', expected '4'"}


def test_the_same_credit_is_a_tie_or_for_judges() -> None:
    same = {"ann": "5", "bob": "6"}
    assert match(CHECKED, same).outcome.detail["decided"] == "tie"
    judged = match({**CHECKED, "then": "judges"}, same)
    assert judged.outcome.detail["decided"] in ("by judges", "tie")
    assert any(step.ask.role == "judge" for step in judged.steps)
    rubric = {"tasks": [{**CHECKED["tasks"][0], "rubric": "Brief."}]}
    assert any(step.ask.role == "judge" for step in match(rubric, same).steps)
    assert not any(step.ask.role == "judge" for step in match({**rubric, "then": "tie"}, same).steps)


def test_no_judge_is_paid_for_two_answers_that_are_the_same() -> None:
    judged = {**CHECKED, "then": "judges"}
    for text, different in (("4", "4."), ("5", "6")):
        played = match(judged, {"ann": text, "bob": text})
        assert (scores(played)["ann"], played.outcome.detail["decided"]) == (0.5, "tie")
        assert not any(step.ask.role == "judge" for step in played.steps)
        apart = match(judged, {"ann": text, "bob": different})
        assert any(step.ask.role == "judge" for step in apart.steps)


@pytest.mark.parametrize("bad", [Reply("refused", "no"), " \n"])
def test_no_answer_has_no_credit(bad: str | Reply) -> None:
    assert scores(match(CHECKED, {"ann": bad, "bob": "4"})) == {"ann": 0.0, "bob": 1.0}
    both = match(CHECKED, {"ann": bad, "bob": "5"})
    assert (scores(both)["ann"], both.outcome.detail["decided"]) == (0.5, "tie")
    alone = match({"tasks": ["Why?"]}, {"ann": bad, "bob": "So."})
    assert (scores(alone)["bob"], alone.outcome.detail["decided"]) == (1.0, "without judges")


def test_a_provider_that_failed_voids_the_match() -> None:
    assert match(CHECKED, {"ann": Reply("void"), "bob": "4"}).outcome.void == "no_answer"


SHAPE = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}


def test_an_answer_that_does_not_fit_the_schema_has_no_credit() -> None:
    rules = {
        "tasks": [{"prompt": "Total?", "expected": {"total": 4}, "check": "json"}],
        "answer_schema": SHAPE,
    }
    played = match(rules, {"ann": '{"total": 4}', "bob": '{"total": "4"}'})
    assert played.outcome.detail["valid"] == {label(played, "ann"): True, label(played, "bob"): False}
    assert scores(played) == {"ann": 1.0, "bob": 0.0}
    assert "total is text, expected integer" in played.outcome.detail["check_notes"][label(played, "bob")]
    assert all(step.ask.expects.schema() == SHAPE for step in played.steps)
    unchecked = match({"tasks": ["Total?"], "answer_schema": SHAPE}, {"ann": "{}", "bob": '{"total": 1}'})
    assert (scores(unchecked)["bob"], unchecked.outcome.detail["decided"]) == (1.0, "without judges")


def test_a_program_of_the_owners_checks_answers() -> None:
    rules = {
        "tasks": [{"prompt": "Say 4.", "expected": "4", "check": "python: c.py:same"}],
        "programs": {
            "c.py": "def same(answer, expected, task):\n    return (answer == expected) == bool(task)\n"
        },
    }
    assert scores(match(rules, {"ann": "4", "bob": "5"})) == {"ann": 1.0, "bob": 0.0}
    assert scores(match(rules, {"ann": "4", "bob": Reply("refused", "no")})) == {"ann": 1.0, "bob": 0.0}
    broken = match({**rules, "programs": {"c.py": "def same(:\n"}}, {"ann": "4", "bob": "5"})
    assert broken.outcome.void == "check_failed"


def test_each_block_holds_every_task_as_often_as_it_weighs() -> None:
    rules = TasksRules.model_validate({"tasks": ["a", {"prompt": "b", "weight": 3}, "c"]})
    for block in range(4):
        drawn = sorted(draw(rules, "s", 5 * block + at)["task"] for at in range(1, 6))
        assert drawn == ["1", "2", "2", "2", "3"]


def test_judges_are_needed_where_nothing_else_decides() -> None:
    def needed(*tasks: Any, **rules: Any) -> list[tuple[int, ...]]:
        found = officials(TasksRules.model_validate({"tasks": tasks, **rules}))
        return [(role.minimum,) for role in found]

    checked = CHECKED["tasks"][0]
    assert needed(checked) == []
    assert needed(checked, then="judges") == [(0,)]
    assert needed(checked, "open") == [(2,)]


def test_house_players_are_right_as_often_as_they_are_skilled() -> None:
    right = 0
    for number in range(1, 201):
        made = fixture(TASKS, PLAYERS, CHECKED, number=number, seed=f"s{number}")
        played = play(TASKS, made, house({"ann": "house:0.9", "bob": "house:0.3"}, f"s{number}"))
        right += round(played.outcome.detail["checks"][label(played, "ann")])
    assert 165 <= right <= 193
