"""An arena's own texts in place of those that a game's prompts are made of: `rules: {texts: …}`."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import house, write_arena

import peerage
from peerage.cli.play.games import texts as print_texts
from peerage.game import Prompt, texts
from peerage.game.protocol import MATERIAL
from peerage.game.texts import leaves_of, text_faults, texts_page
from peerage.games import GAMES
from peerage.ledger.topics.settings_log import settings_changes
from peerage.settings import SettingsError, loads
from peerage.settings.lineup import rules_of

PAGE = (
    (Path(__file__).parents[2] / "docs" / "uner.md")
    .read_text("utf-8")
    .partition("templates of your own\n")[2]
)
PLAYERS = "players: [house:0.2, house:0.4, house:0.6, house:0.7, house:0.8, house:0.9, house:1]\n"
OWN = {"bid": Prompt("You bid.", 'Say "{what}" \\ and\n{format}'), "more": "{ME} first", "me": "You"}


def block(kind: str) -> str:
    """The first block of a kind on the page about templates."""
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def told(stated: str, folder: Path) -> Any:
    """The texts that the duel has in an arena that says so."""
    return rules_of(loads(f"{PLAYERS}rules: {{texts: {stated}}}", folder=folder), "duel").model_dump()[
        "texts"
    ]


def mistakes(stated: str, folder: Path, game: str = "duel") -> list[str]:
    with pytest.raises(SettingsError) as refused:
        loads(f"{PLAYERS}game: {game}\nrules:\n  texts: {stated}", folder=folder)
    return str(refused.value).splitlines()


def test_the_page_is_played_and_what_was_played_replays_after_a_change(tmp_path: Path) -> None:
    (tmp_path / "prompts.toml").write_text(block("toml"), "utf-8")
    (tmp_path / "arena.yaml").write_text(PLAYERS + block("yaml"), "utf-8")
    with peerage.open(tmp_path) as arena:
        arena.run(max_matches=2)
        asked = "\n".join(arena.ledger.texts().values())
    assert "Describe a photograph on this topic: {topic}." in asked
    assert "Say what the photograph leaves open" in asked
    assert "Write one challenge on this topic" not in asked
    changed = block("toml").replace("photograph", "drawing")
    (tmp_path / "prompts.toml").write_text(changed, "utf-8")
    with peerage.open(tmp_path) as arena:
        arena.run(max_matches=4)
        assert arena.replay().ok
        assert arena.verify().ok
        played = [len(set(re.findall("photograph|drawing", text))) for text in arena.ledger.texts().values()]
        changes = {change.what: (change.was, change.now) for change in settings_changes(arena.ledger)}
    assert max(played) == 1
    was, now = changes["games.duel.rules.texts.answer.user"]
    assert re.fullmatch("[0-9a-f]{16}", was)
    assert was != now


def test_texts_are_a_file_or_stand_one_by_one_and_those_of_the_game_itself_are_left_out(
    tmp_path: Path,
) -> None:
    answer = "{question}? {limit}. {judging}"
    (tmp_path / "answer.md").write_text(f"{answer}\n", "utf-8")
    whole = texts_page("peerage.games.duel").replace("You are a contestant. Answer", "Answer")
    (tmp_path / "all.toml").write_text(f"\ufeff{whole}", "utf-8")
    assert list(told("all.toml", tmp_path)) == ["answer.system"]
    for stated in (
        "{answer: {user: {file: answer.md}}}",
        "{answer.user: {file: answer.md}}",
        f"{{answer: {{user: '{answer}'}}}}",
    ):
        assert told(stated, tmp_path) == {"answer.user": answer}
    assert told("{}", tmp_path) == {}


def test_what_is_no_file_of_texts_is_said(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text("a=" + "[" * 50_000)
    (tmp_path / "bytes.toml").write_bytes(b"again='\x8c'")
    for name, why in (
        ("deep.toml", "stand too deep in each other"),
        ("bytes.toml", "byte 8 is no UTF-8; save the file as UTF-8"),
        ("x" * 5_000, "does not exist; the path is relative to the arena's folder"),
    ):
        (fault,) = mistakes(name, tmp_path)
        assert fault.endswith(why)


def test_a_text_that_others_include_may_include_none(tmp_path: Path) -> None:
    for text in ("{AGAIN}", "{ALONE}"):
        (fault,) = mistakes(f"{{again: '{text}'}}", tmp_path)
        assert fault.endswith(f"again: others include it, so it may include none: {text}")


def test_all_mistakes_are_told_at_once_each_with_its_file_its_text_and_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text(
        'vote_rules = "{MATERAL}"\nagain = 7\nclinical = "a\\u0000"\n[answer]\nuser = "{question} }"\n'
        '[anwser]\nuser = ""\n[vote]\nsystem = "Hi {tpic}"\n[case_answer]\nuser = "{case}"\n',
        "utf-8",
    )
    expected = [
        r"vote_rules: \{MATERAL\} includes no text; there are \{MATERIAL\}, .*\{VOTE_RULES\}",
        "again: found 7; expected a text",
        "clinical: holds a character that no store can hold",
        r"answer\.user: a stray brace in the template, near '\}'; write \{\{ or \}\}",
        r"anwser\.user: the game has no such text; its texts are again, .*answer\.user",
        r"vote: nothing fills \{tpic\}; its places are \{topic\}, \{question\}, \{approval\}",
        r"vote: \{MATERIAL\} is missing; players must read all of \{topic\}",
        r"case_answer: \{question\}, \{limit\}, \{judging\} are missing",
    ]
    found = mistakes("my.toml\n  epsilon: 7", tmp_path)
    assert len(found) == len(expected) + 1
    for line in expected:
        assert any(re.match(rf"{re.escape(str(tmp_path / 'my.toml'))}, {line}", one) for one in found), line
    assert "epsilon" in found[-1]


@pytest.mark.parametrize(
    ("stated", "game", "said"),
    [
        ("no.toml", "duel", r"line \d+, rules\.texts: .*no\.toml does not exist"),
        ("bad.toml", "duel", r"bad\.toml: .*`peerage games texts GAME` prints such a file"),
        ("latin.toml", "duel", r"latin\.toml: byte 10 is no UTF-8"),
        ("{again: {file: no.md}}", "duel", r"rules\.texts: .*no\.md does not exist"),
        ("{again: {text: no.md}}", "duel", r"rules\.texts, again\.text: the game has no such text"),
        ("{answer: x}", "duel", r"rules\.texts, answer: the game has no such text"),
        ("{answer: {}}", "duel", r"rules\.texts, answer: the game has no such text"),
        ("[1]", "duel", "texts"),
        (
            "{x: y}",
            "logic",
            r"rules\.texts, x: the game has no such text; its texts are reading, solve\.system",
        ),
    ],
)
def test_a_mistake_alone_says_where_it_is(stated: str, game: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("answer", "utf-8")
    (tmp_path / "latin.toml").write_bytes(b'again = "\xe4"')
    (found,) = mistakes(stated, tmp_path, game)
    assert re.search(said, found)


def test_a_game_whose_texts_are_the_owner_s_has_none_to_replace(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"tasks\.texts: tasks has no texts that others could replace"):
        loads(f"{PLAYERS}tasks: {{tasks: [Name a river.], texts: {{a: b}}}}", folder=tmp_path)


def test_texts_of_an_author_s_own_table_are_printed_and_replaced_too(tmp_path: Path) -> None:
    assert leaves_of(tomllib.loads(texts_page(OWN))) == leaves_of(OWN)
    assert texts(OWN)["bid"] == OWN["bid"]
    assert texts(OWN, {"me": "I", "bid.system": "{MORE}."})["more"] == "I first"
    assert list(text_faults(OWN, {"bid.user": "Go."})) == [
        "bid: {what}, {format} are missing; players must read all of {what}, {format}"
    ]
    assert list(text_faults(OWN, {"bid.user": "Go.", "bid.system": "{format} {what}"})) == []
    assert list(text_faults(OWN, {"me": "We"})) == []


@pytest.mark.parametrize("game", [name for name, spec in GAMES.items() if spec.texts])
def test_what_is_printed_are_the_texts(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_texts(game)
    printed = tomllib.loads(capsys.readouterr().out)
    assert leaves_of(printed) == leaves_of(GAMES[game].texts)


def test_a_plan_counts_the_texts_of_the_owner(tmp_path: Path) -> None:
    def planned(**rules: Any) -> int:
        with peerage.open(write_arena(tmp_path, house(7), rules=rules)) as arena:
            return sum(part.input_tokens for part in arena.plan(10).players)

    long = {"answer.user": "{question} {limit} {judging}" + " and so on" * 1_000}
    assert planned(texts=long) > planned() + 10 * 2 * 2_000


def test_what_players_wrote_stays_material(tmp_path: Path) -> None:
    """A prompt that says so says it in other words of the owner too, or by its place."""
    vote = texts("peerage.games.duel")["vote"]
    assert MATERIAL in vote.system
    assert list(text_faults("peerage.games.duel", {"vote.system": f"Judge. {MATERIAL}"})) == []
    assert list(text_faults("peerage.games.duel", {"vote.system": "Judge. {MATERIAL}"})) == []
