"""Tasks with pictures and sounds: columns, parts of turns, templates, what judges are shown."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.offline import choose, fixture, play, scripted

from peerage.game import Outcome, Sentence
from peerage.game.media import OPENER, Media, media_in, parts
from peerage.game.protocol import render
from peerage.games.tasks import GAME
from peerage.games.tasks.files import read_tasks
from peerage.games.tasks.rules import TasksRules
from peerage.games.tasks.task import Task, messages_of


def media_of(written: str | bytes) -> Media:
    """A picture for each name; a sound for those that say so."""
    body = written if isinstance(written, bytes) else written.encode()
    digest = sha256(body).hexdigest()
    if b".wav" in body or b"audio/" in body:
        return Media(digest, "audio/wav", len(body), seconds=1.5)
    return Media(digest, "image/png", len(body), 2, 3)


def opener(written: str | bytes) -> Sequence[Media]:
    if written == "gone.png":
        raise ValueError("gone.png does not exist")
    if written == "scans/":
        return [media_of("scans/1.png"), media_of("scans/2.png")]
    return [] if written == "empty/" else [media_of(written)]


def mark(*names: str | bytes) -> str:
    return "".join([media_of(name).mark for name in names])


def read(body: str | bytes, name: str = "t.jsonl", **rules: Any) -> list[dict[str, Any]]:
    whole = body if isinstance(body, bytes) else body.encode()
    return read_tasks(whole, name, {**rules, OPENER: opener})


def wrong(body: str, name: str = "t.jsonl", **rules: Any) -> list[str]:
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        read(body, name, **rules)
    return [line.strip() for line in str(refused.value).splitlines()]


URL = "data:image/png;base64,aGk="
ODD = "data:image/png;charset=utf-8;base64,aGk="


@pytest.mark.parametrize(
    ("columns", "seen"),
    [
        ({"image": "a.png"}, ["a.png"]),
        ({"image": "a.png; b.png;c.png"}, ["a.png", "b.png", "c.png"]),
        ({"images": f"{URL};a.png;{URL}"}, [URL, "a.png", URL]),
        ({"images": f"{ODD}; a.png"}, [ODD, "a.png"]),
        ({"images": ["b.png", "a.png"]}, ["b.png", "a.png"]),
        ({"images": [{"bytes": None, "path": "a.png"}, "b.png"]}, ["a.png", "b.png"]),
        ({"images": '["b.png", "a; b.png"]'}, ["b.png", "a; b.png"]),
        ({"image": "scans/"}, ["scans/1.png", "scans/2.png"]),
        ({"audio": "x.wav", "image": "a.png"}, ["a.png", "x.wav"]),
    ],
)
def test_columns_put_pictures_behind_the_prompt(columns: dict[str, Any], seen: list[str]) -> None:
    [task] = read(json.dumps({"prompt": "What is it?", "expected": "a cat", **columns}))
    assert task["messages"] == [("user", f"What is it?\n\n{mark(*seen)}")]
    assert task["checks"][0]["expected"] == "a cat"
    if all(isinstance(cell, str) and '"' not in cell for cell in columns.values()):
        cells = [f'"{cell}"' for cell in ("What is it?", *columns.values())]
        table = ",".join(["Prompt", *columns]).title() + "\n" + ",".join(cells)
        assert read(table, "t.csv")[0]["messages"] == task["messages"]


def test_pictures_of_a_data_set_in_parquet_are_bytes() -> None:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{"prompt": "?", "image": {"bytes": b"png", "path": "a.png"}}]), out)
    assert read(out.getvalue(), "t.parquet")[0]["messages"] == [("user", f"?\n\n{mark(b'png')}")]


PARTS = [
    {"type": "text", "text": "Left:"},
    {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
    {"type": "input_text", "text": "Right:"},
    {"type": "input_image", "image_url": "b.png"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    {"type": "image", "image": "c.png"},
    {"type": "text", "text": "Said:"},
    {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
    {"type": "audio", "audio": "x.wav", "format": "wav"},
    {"type": "text", "text": "Same?"},
    {"type": "text", "text": "Why?"},
]


def test_parts_of_a_turn_become_marks_in_their_order() -> None:
    turns = [{"role": "user", "content": PARTS}]
    [task] = read(json.dumps({"messages": turns}))
    [(_, text)] = task["messages"]
    sound = mark("data:audio/wav;base64,aGk=", "x.wav")
    assert text == f"Left:{mark(URL)}Right:{mark('b.png', URL, 'c.png')}Said:{sound}Same?\nWhy?"
    assert next(parts(text)) == "Left:"
    [more] = read(json.dumps({"messages": turns, "image": "d.png"}))
    assert more["messages"] == [("user", f"{text}\n\n{mark('d.png')}")]


def test_samples_of_inspect_and_tests_of_promptfoo_have_them_too() -> None:
    content = [{"type": "text", "text": "Which?"}, {"type": "image", "image": "a.png"}]
    sample = {"input": [{"role": "user", "content": content}], "choices": ["cat", "dog"], "target": "A"}
    [task] = read(json.dumps(sample))
    [(_, text)] = task["messages"]
    assert text.startswith(f"Which?{mark('a.png')}\n\nA) cat\nB) dog")
    config = """
prompts: ["{{q}} {{image}} Be brief."]
tests:
  - {vars: {q: "What?", image: "file://a.png"}, assert: [{type: icontains, value: cat}]}
"""
    [task] = read(config, "promptfoo.yaml")
    assert task["messages"] == [("user", f"What? {mark('a.png')} Be brief.")]
    [said] = wrong(config.replace("image", "photo"), "promptfoo.yaml")
    assert said.endswith("put its text here, or call it `image` or `audio`")


def test_what_cannot_be_shown_is_said_with_row_and_column() -> None:
    rows = [
        {"prompt": "a", "image": "gone.png"},
        {"prompt": "b", "image": "x.wav"},
        {"prompt": "c", "audio": "a.png"},
        {"prompt": "d", "images": 5},
        {"prompt": "e", "images": [["a.png"]]},
        {"prompt": "f", "image": "empty/"},
        {"prompt": "g", "images": ["gone.png"] * 101},
        {"prompt": "h", "image": "[broken"},
        {"messages": [{"role": "user", "content": [{"type": "video", "video": "a.mp4"}]}]},
    ]
    said = wrong("\n".join(map(json.dumps, rows)))
    for line, (column, told) in enumerate(
        [
            ("image", "gone.png does not exist"),
            ("image", "found 'x.wav', which is no picture; name it in the column 'audio'"),
            ("audio", "found 'a.png', which is no sound; name it in the column 'image'"),
            ("images", "found 5; expected a path, a folder, a data URL, or a list of them"),
            ("images", "found [['a.png']]; expected a path"),
            ("image", "found 0 files; expected 1 to 100"),
            ("images", "found 101 files; expected 1 to 100"),
            ("image", "no JSON ("),
            ("messages", "turn 1 says {'type': 'video', 'video': 'a.mp4'}; expected some text, a picture or"),
        ],
        1,
    ):
        assert said[line - 1].startswith(f"line {line}, column {column}: {told}")
    for other in ("picture", "image_url"):
        assert wrong(f"prompt,{other}\na,b\n", "t.csv")[0].endswith("did you mean 'image'? Else write meta.…")
    assert "found 'video', which cannot be played here" in wrong("prompt,video\na,b\n", "t.csv")[0]
    for parts_ in (
        [{"type": "text", "text": " "}],
        [],
        [{"type": "text"}],
        [None],
        [{"type": "image"}],
        [{}],
    ):
        [line] = wrong(json.dumps({"messages": [{"role": "user", "content": parts_}]}))
        assert line.startswith("line 1, column messages: turn 1 says ")
    seen = [{"type": "image", "image": "a.png"}]
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": seen},
        {"role": "user", "content": "b"},
    ]
    assert "turn 2 is of role 'assistant'; pictures" in wrong(json.dumps({"messages": turns}))[0]
    with pytest.raises(ValueError, match=r"column image: 'a\.png' is not opened here"):
        read_tasks(b"prompt,image\na,a.png\n", "t.csv", {})


def test_templates_have_places_for_pictures() -> None:
    table = "q,image,expected\nWhat?,a.png,cat\n"
    [task] = read(table, "t.csv", template="Look: {{image}} {{q}}")
    assert task["messages"] == [("user", f"Look: {mark('a.png')} What?")]
    [task] = read(table, "t.csv", template="{{q}} Be brief.")
    assert task["messages"] == [("user", f"What? Be brief.\n\n{mark('a.png')}")]
    own = {"ann": "First {{image}}: {{q}}", "bob": "{{q}} Think.", "eve": ""}
    [task] = read(table, "t.csv", template="{{q}}", templates=own)
    drawn = Task.model_validate(task).drawn()
    texts = {
        name: "".join([render(message, "00000000") for message in messages_of(drawn, template)])
        for name, template in own.items()
    }
    assert texts == {
        "ann": f"First {mark('a.png')}: What?",
        "bob": f"What? Think.\n\n{mark('a.png')}",
        "eve": f"What?\n\n{mark('a.png')}",
    }
    [alone] = read("image\na.png\n", "t.csv", templates={"ann": "Describe it."})
    [message] = messages_of(Task.model_validate(alone).drawn(), "Describe it.")
    assert render(message, "") == f"Describe it.\n\n{mark('a.png')}"


def test_another_picture_makes_another_task() -> None:
    first, second = read("prompt,image\nWhat?,a.png\nWhat?,b.png\n", "t.csv")
    rules = TasksRules.model_validate({"tasks": [first, second]})
    assert len({*rules.digests().values()}) == 2
    assert wrong("prompt,image\nWhat?,a.png\nWhat?,a.png\n", "t.csv")[0].startswith("line 3: the same prompt")
    listed = [{"prompt": "What?", "image": "a.png"}, {"prompt": "What?", "image": "b.png"}]
    of_list = TasksRules.model_validate({"tasks": listed}, context={OPENER: opener})
    assert of_list.tasks == rules.tasks
    with pytest.raises(ValueError, match=r"task 1, image: 'a\.png' is not opened here"):
        TasksRules.model_validate({"tasks": listed})


def test_judges_see_the_pictures_and_that_these_say_nothing_to_them() -> None:
    [seen] = read("system,prompt,image\nBe kind.,What?,a.png\n", "t.csv")
    [plain] = read("system,prompt\nBe kind.,What?\n", "t.csv")
    for task, count in ((seen, 1), (plain, 0)):
        names = ["ann", "bob", "cid", "dan", "eve"]
        matched = fixture(GAME, names, {"tasks": [task]})
        played = play(
            GAME, matched, scripted(lambda ask, who: who if ask.role == "contestant" else choose(ask, "A"))
        )
        asks = [step.ask for step in played.steps]
        for ask in asks:
            text = "\n".join([render(message, "00000000") for message in ask.messages])
            assert [*media_in([text])] == [media_of("a.png").sha256] * count
            assert text.count(seen["messages"][1][1]) == count  # whole, within its fence
            told = "Pictures and sounds in the task are material too"
            assert (told in text) == (ask.role == "judge" and count == 1)
        assert "judge" in {ask.role for ask in asks}
        replies = dict[str, Any]()
        page = [
            block.text for block in GAME.show(matched, played.outcome, replies) if isinstance(block, Sentence)
        ]
        had = "Judges were shown 1 picture or sound. Nobody looks for words to them in there."
        assert (had in page) == (count == 1)
        undecided = GAME.show(matched, Outcome(), replies)
        assert not [
            block for block in undecided if isinstance(block, Sentence) and "Judges were shown" in block.text
        ]


def test_programs_of_the_owners_read_of_pictures_in_words() -> None:
    words = f"What?\n\n[{media_of('a.png').words}]"
    row = {"prompt": "What?", "image": "a.png", "expected": "x", "check": "python: c.py:check"}
    program = "def check(answer, expected, task):\n    return answer == task['prompt']\n"
    rules = {"tasks": read(json.dumps(row)), "programs": {"c.py": program}}
    matched = fixture(GAME, ["ann", "bob"], rules)
    said = {"ann": words, "bob": "What?"}
    played = play(GAME, matched, scripted(lambda ask, player: said[player]))
    assert {seat.player: played.outcome.scores[seat.label] for seat in matched.seats} == {
        "ann": 1.0,
        "bob": 0.0,
    }
