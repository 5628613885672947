"""Short names: unique, only of names that have the form, in sentences and cells; never what was typed."""

import io
from time import process_time

import pytest

from peerage.game.blocks import Heading, Quoted, Sentence
from peerage.render.blocks import Column, Rows, Small
from peerage.render.html.writer import Html
from peerage.render.markdown import markdown
from peerage.render.names import Names, ShortName
from peerage.render.terminal import text

OPUS, MINI = "openrouter:anthropic/claude-opus-4.5", "openai:gpt-5.1-mini"
PLAYERS = [
    *(OPUS, f"{OPUS} v2", MINI, "openai:gpt-5.1", "openrouter:openai/gpt-5.1", "ollama:llama3:8b"),
    *(
        "house:0.95",
        "gguf:/models/x.gguf",
        "http://a/b",
        "team/b",
        "my own",
        "a/<b>",
        "../etc/passwd",
        "x/Own",
        "own",
    ),
]
NAMES = Names(PLAYERS, ["openrouter", "openai", "ollama"])


@pytest.mark.parametrize(
    ("name", "short", "maker"),
    [
        (OPUS, "claude-opus-4.5", "anthropic"),
        (f"{OPUS} v2", "claude-opus-4.5 v2", "anthropic"),
        (MINI, "gpt-5.1-mini", "openai"),
        ("openai:gpt-5.1", "openai:gpt-5.1", ""),
        ("openrouter:openai/gpt-5.1", "openai/gpt-5.1", ""),
        ("ollama:llama3:8b", "llama3:8b", "ollama"),
        *[(name, name, "") for name in PLAYERS[6:]],
        ("never:heard/of", "never:heard/of", ""),
    ],
)
def test_a_name_is_as_short_as_it_stays_unique(name: str, short: str, maker: str) -> None:
    assert NAMES.of(name) == ShortName(short, maker)


def test_short_names_differ_whatever_the_case() -> None:
    shorts = [NAMES.short(name).casefold() for name in PLAYERS]
    assert len({*shorts}) == len(PLAYERS)


def test_a_sentence_has_them_but_for_what_is_typed() -> None:
    said = f"{OPUS} beats {MINI}, and {OPUS} v2. See {MINI}/x, `compare {OPUS} {MINI}`: {OPUS}."
    wanted = f"claude-opus-4.5 beats gpt-5.1-mini, and claude-opus-4.5 v2. See {MINI}/x, "
    assert NAMES.in_text(said) == f"{wanted}`compare {OPUS} {MINI}`: claude-opus-4.5."
    assert NAMES.in_text(f"a ` alone: {MINI}") == "a ` alone: gpt-5.1-mini"


def test_words_of_others_stay_as_they_are() -> None:
    words = f"Say {MINI} ” or “ {MINI}"
    assert NAMES.in_text(f"“{words}”, says {MINI}") == f"“{words}”, says gpt-5.1-mini"
    assert NAMES.in_text(f"{MINI} says “{words}” to {MINI}") == f"gpt-5.1-mini says “{words}” to gpt-5.1-mini"
    columns = [
        Column("result", "Result", small=lambda row: [Small(row["prompt"], quoted=True)]),
        Column("prompt", "Prompt", quoted=True),
    ]
    blocks = [Rows([{"result": f"{MINI} won", "prompt": f"Is {MINI} `good`?"}], columns)]
    for medium in (Html(names=NAMES).blocks(blocks), text(blocks, io.StringIO(), names=NAMES)):
        assert ">gpt-5.1-mini won<" in medium.replace("<wbr>", "") or " gpt-5.1-mini won " in medium
        assert f"Is {MINI} `good`?" in medium
    page = Html(names=NAMES).blocks([Rows([{"prompt": MINI}], [Column("prompt", "Prompt", quoted=True)])])
    assert f">{MINI}<" in page.replace("<wbr>", "")


@pytest.mark.parametrize("sign", ["“", "”", "`", "” “", f"{MINI} “", "openrouter:"])
def test_a_long_sentence_takes_no_time(sign: str) -> None:
    began = process_time()
    NAMES.in_text(sign * 100_000)
    assert process_time() - began < 1


def test_either_form_is_meant() -> None:
    assert NAMES.meant("GPT-5.1-mini") == NAMES.meant("openai:gpt-5.1-mini") == [MINI]
    assert NAMES.meant("gpt-5.1") == ["openai:gpt-5.1", "openrouter:openai/gpt-5.1"]
    assert NAMES.meant("own") == ["own"]
    assert NAMES.whole("anthropic/claude-opus-4.5") == OPUS
    assert NAMES.whole("gpt-5.1") == "gpt-5.1"


def test_people_read_short_names_and_programs_whole_ones() -> None:
    rows = Rows([{"player": OPUS, "model": OPUS}], [Column("player", "Player"), Column("model", "Model")])
    blocks = [Heading(MINI, 1), Sentence(f"{OPUS} leads."), Quoted("A", f"I am {OPUS}."), rows]
    page = Html(names=NAMES).blocks(blocks)
    cell = f'<span title="{OPUS}">claude-<wbr>opus-<wbr>4.5</span> <small class="maker">anthropic</small>'
    assert cell in page
    assert "<p>claude-opus-4.5 leads.</p>" in page
    assert f"I am {OPUS}." in page
    assert f">{OPUS}</td>" in page  # the model
    shown = text(blocks, io.StringIO(), names=NAMES)
    assert "claude-opus-4.5 leads." in shown
    assert f"| I am {OPUS}." in shown
    assert "gpt-5.1-mini\n" in shown
    assert f"{OPUS} leads." in markdown(blocks).replace("\\", "")


def test_what_explains_a_table_stands_behind_a_mark_at_its_heading() -> None:
    rows = Rows([{"a": 1}], [Column("a", "A", hint="a number")], notes=["all of them"])
    heading = Heading("Numbers", notes=("Read me.",))
    page = Html().blocks([heading, rows])
    mark = '<summary aria-label="About Numbers"><span>i</span></summary>'
    told = "<p>Read me.</p><p>A: a number.</p><p>All of them.</p>"
    assert f'<h2>Numbers</h2><details class="about">{mark}<div>{told}</div></details>' in page
    assert page.count("All of them.") == 1
    assert '<details class="about">' in Html().blocks([rows])
    assert "details" not in Html(bare=True).blocks([rows])
    assert "All of them." in text([heading, rows], io.StringIO())
    assert "Read me." not in text([heading], io.StringIO())
