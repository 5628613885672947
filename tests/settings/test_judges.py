"""Judges that an arena names, and how they judge, as `arena.yaml` states them."""

from contextlib import closing
from pathlib import Path

import pytest

from peerage.ledger import open_ledger
from peerage.playing.requirements import notices
from peerage.settings import ArenaSettings, SettingsError, enough_players, load, loads, rules_of

PLAYERS = "players: [house:0.9, house:0.5, house:0.4, house:0.3]\n"


def names(text: str) -> list[str]:
    return [judge.name for judge in loads(PLAYERS + text).judges]


def test_judges_are_named_like_players() -> None:
    assert names("judges: [house:0.7, {model: house:0.2, name: second}]") == ["house:0.7", "second"]
    assert names("judges: house:0.7") == ["house:0.7"]
    assert names("judges: human:ada") == ["ada"]
    assert names("judges: peers") == names("judges:") == names("") == []


def test_a_model_that_plays_too_judges_under_a_name_of_its_own() -> None:
    settings = loads(PLAYERS + "judges: [house:0.9]")
    assert [judge.name for judge in settings.judges] == ["house:0.9 (judge)"]
    assert [one.name for one in settings.everyone][-2:] == ["house:0.3", "house:0.9 (judge)"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("judges: 3", r"line 2, judges: found 3; expected `peers`, or a list .* `judging: \{judges: …\}`"),
        ("judges: true", "found true; expected `peers`"),
        ("judges: [{model: house:0.7, name: 'house:0.9'}]", "'house:0.9' is taken by a player; give the"),
        ("judges: [house:0.7, house:0.7]", "'house:0.7' is taken; give the judge another `name`"),
        ("judges: [gpt]", r"no provider is called 'gpt'"),
        ("judging: {rubrik: x}", r"judging.rubrik: unknown key; did you mean 'rubric'"),
        ("judging: {judges: 0}", r"judging.judges: found 0; expected at least 1"),
        (
            "judging: {order: neither}",
            r"order: found 'neither'; expected 'both', 'opposite' or 'one'",
        ),
        ("judging: {criteria: [tone, Tone]}", "the criterion 'tone' is listed twice"),
        ("judging: {criteria: [reason]}", "a criterion is named 'reason'"),
        ("judging: {criteria: [{name: tone, weight: 0}]}", r"weight: found 0; expected more than 0"),
        ("judging: {rubric: {file: none.md}}", r"judging.rubric: .*none.md does not exist; the path is rel"),
        ("judging: {rubric: {url: x}}", r"judging.rubric: expected a text, or `\{file: PATH\}`"),
        ("judging: {prompt: Which is better}", r"lacks \{\{prompt\}\} and \{\{answer_a\}\} and \{\{answer_b"),
        (
            "judging: {prompt: '{{prompt}} {{answer_a}} {{answer_b}} {{format}} {{anser}}'}",
            r"the place \{\{anser\}\} is unknown",
        ),
        (
            "judging: {rubric: x, prompt: '{{prompt}} {{answer_a}} {{answer_b}} {{format}}'}",
            r"the prompt lacks \{\{rubric\}\}; write it where judges are to read it",
        ),
        (
            "tasks: {tasks: ['Why?'], order: one}",
            r"tasks.order: it says how judges decide; write it under `judging:`, `judging: \{order: 'one'\}`",
        ),
        ("rules: {judging: {ties: false}}", "rules.judging: set it for the whole arena, under `judging:`"),
    ],
)
def test_a_mistake_says_where_and_how_to_fix_it(text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        loads(PLAYERS + text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("game: logic\njudges: [house:0.7]", "judges: nobody judges in logic; remove them, or play a game"),
        ("game: logic\njudging: {rubric: x}", "judging.rubric: no judge compares two answers in logic; rem"),
        ("game: logic\njudging: {judges: 2}", "judging.judges: no judge compares two answers in logic"),
        ("judging: {controls: 5}", "judging.controls: no task has a check in duel; remove it"),
    ],
)
def test_what_no_game_heeds_is_refused(text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        enough_players(loads(PLAYERS + text))


def test_named_judges_take_the_place_of_peers() -> None:
    three = "players: [house:0.9, house:0.5, house:0.4]\nrules: {committee: 1}\n"
    enough_players(loads(three + "judging: {judges: 1}"))
    more = three + "judging: {judges: 2}\n"
    with pytest.raises(SettingsError, match="at least 2 as judge"):
        enough_players(loads(more))
    enough_players(loads(more + "judges: [house:0.7]"))
    two_only = "players: [house:0.9, house:0.5]\nrules: {committee: 1}\njudges: [house:0.7]"
    with pytest.raises(SettingsError, match="as committee"):  # which stays with peers
        enough_players(loads(two_only))


def test_too_few_peers_are_told_of_judges() -> None:
    text = "players: [house:0.9, house:0.5, house:0.4]\nrules: {committee: 1, judges: 2}"
    with pytest.raises(SettingsError, match=r"as judge, .*, or name models that only judge, under `judges:`"):
        enough_players(loads(text))


def test_rubric_and_prompt_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "rubric.md").write_text("Short is {good}.\n")
    (tmp_path / "judge.md").write_text("{{prompt}} {{answer_a}} {{answer_b}} {{rubric}} {{format}}")
    (tmp_path / "arena.yaml").write_text(
        PLAYERS + "judging: {rubric: {file: rubric.md}, prompt: {file: judge.md}, ties: false, order: one}"
    )
    panel = rules_of(load(tmp_path)).panel()
    assert (panel.rubric, panel.binary, panel.order) == ("Short is {good}.", True, "one")
    assert panel.prompt.startswith("{{prompt}}")


def test_votes_of_named_judges_weigh_the_same() -> None:
    uner = PLAYERS + "rules: {preset: uner}\n"
    assert rules_of(loads(uner)).panel().weights == "softmax"
    assert rules_of(loads(uner + "judges: [house:0.7]")).panel().weights == "equal"


def test_a_judge_of_a_players_family_is_allowed_and_said(tmp_path: Path) -> None:
    text = "players: [openai:gpt-5-mini, xai:grok-4, house:0.4, house:0.2]\njudges: [openai:gpt-5.1]"
    settings = loads(text)
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger:
        (told,) = notices(settings, ledger)
    assert told.startswith("openai:gpt-5.1 judges openai:gpt-5-mini of its own family (openai/gpt)")


def test_a_seed_needs_house_judges_too() -> None:
    assert loads(PLAYERS + "seed: 3\njudges: [house:0.7]").secret_seed == 3
    assert loads(PLAYERS + "seed: 3\njudges: [openai:gpt-5-mini]").secret_seed is None


def test_without_leaves_out_players_and_judges() -> None:
    settings: ArenaSettings = loads(PLAYERS + "judges: [house:0.7, house:0.6]").without(
        {"house:0.7", "house:0.3"}
    )
    assert [one.name for one in settings.everyone] == ["house:0.9", "house:0.5", "house:0.4", "house:0.6"]
