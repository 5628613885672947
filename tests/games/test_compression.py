"""Compression: what counts as recovered, who is first, and that no reader can sink a rival."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.offline import call, fixture, house, play, scripted

from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.compression import GAME as COMPRESSION
from peerage.games.compression.reports import MOST_FACTS, Reports, reports, right, words
from peerage.games.compression.rules import ReportAnswers

PLAYERS = [f"p{at}" for at in range(10)]
LABELS = "ABCDEF"
Reading = Callable[[Ask, list[str]], list[str]]


def made() -> tuple[Fixture, Reports]:
    found = fixture(COMPRESSION, PLAYERS, {"difficulty": 5})
    return found, msgspec.convert(found.drawn, Reports)


def read_by(monkeypatch: pytest.MonkeyPatch, readers: int) -> None:
    """Let so many others read each summary."""
    for module in ("rules", "play"):
        monkeypatch.setattr(f"peerage.games.compression.{module}.READERS", readers)


def honest(ask: Ask, right_answers: list[str]) -> list[str]:
    """A reader who finds what the summary holds."""
    held = f" {' '.join(words(call(ask).messages[-1][1].partition('>>>')[2].partition('<<<')[0]))} "
    return [one if f" {' '.join(words(one))} " in held else "" for one in right_answers]


def match(found: Fixture, said: Mapping[str, str | Reply], reading: Reading = honest) -> Outcome:
    """A match in which contestants write `said` and everybody reads as `reading` does."""
    drawn = msgspec.convert(found.drawn, Reports)

    def answer(ask: Ask, player: str) -> str | Reply:
        kind, _, of = ask.key.partition("/")
        if kind == "write":
            return said[ask.to]
        author = of.partition("/")[0]
        answers = drawn.spare.answers if kind == "control" else drawn.reports[LABELS.index(author)].answers
        return json.dumps({"answers": reading(ask, list(answers))})

    return play(COMPRESSION, found, scripted(answer)).outcome


def summaries(drawn: Reports, **more: str | Reply) -> dict[str, str | Reply]:
    """Everybody's answers one after another, but for what is given."""
    plain = {label: " ".join(report.answers) for label, report in zip(LABELS, drawn.reports, strict=False)}
    return {**plain, **more}


# ----------------------------------------------------------------------------------------- the reports


@given(seed=st.integers(0, 10**6), facts=st.integers(3, MOST_FACTS))
def test_reports_of_a_match_differ_in_nothing_that_makes_one_harder(seed: int, facts: int) -> None:
    drawn = reports(Random(seed), 10, facts)
    every = [*drawn.reports, drawn.spare]
    assert len(drawn.questions) == facts == len(set(drawn.questions))
    assert len({report.text for report in every}) == 11
    assert len({len(report.text) for report in every}) == 1
    assert len({len(report.text.split()) for report in every}) == 1
    assert len({tuple(map(len, report.answers)) for report in every}) == 1
    for report in every:
        assert all(
            f" {' '.join(words(one))} " in f" {' '.join(words(report.text))} " for one in report.answers
        )
        assert not any(place in report.text for place in "{}")


def test_what_follows_does_follow() -> None:

    seen = set()
    for seed in range(40):
        drawn = reports(Random(seed), 5, MOST_FACTS)
        for question, of in drawn.follows.items():
            seen.add(drawn.questions[int(question)])
            for report in drawn.reports:
                whole, *parts = (int(report.answers[at].split()[0]) for at in (int(question), *of))
                assert whole in (parts[0] + parts[1], parts[0] - parts[1], parts[0] * parts[1])
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("said", "is_right"),
    [
        ("14 March", True),
        ("March 14", True),
        ("on March 14th", False),
        ("14th march.", True),
        ("14 mar", False),
        ("", False),
    ],
)
def test_answers_are_compared_by_their_words(said: str, is_right: bool) -> None:
    assert right("14 March", said) is is_right


# ------------------------------------------------------------------------------------------ who is first


def test_the_shortest_valid_summary_is_first_and_invalid_ones_rank_by_facts() -> None:
    found, drawn = made()
    long, short = drawn.reports[1].text, " ".join(drawn.reports[2].answers)
    said = summaries(
        drawn,
        A=" ".join(drawn.reports[0].answers[:-1]),
        B=long,
        C=f"  {short}\n",
        D=" ".join(drawn.reports[3].answers[:2]),
        E=Reply("refused"),
        F="",
    )
    outcome = match(found, said)
    assert outcome.scores == {"C": 1, "B": 0.8, "A": 0.6, "D": 0.4, "E": 0.1, "F": 0.1}
    results = outcome.detail["summaries"]
    assert results["C"]["length"] == len(short)
    assert [results[label]["recovered"] for label in "ABCD"] == [7, 8, 8, 2]
    assert results["E"] == {"result": "refused"}
    assert results["F"] == {"result": "invalid"}


def test_a_summary_counts_in_characters() -> None:
    found, drawn = made()
    short = " ".join(drawn.reports[0].answers)
    results = match(found, summaries(drawn, A=f"{short} é漢")).detail["summaries"]
    assert results["A"]["length"] == len(short) + 3


def test_equal_lengths_tie_and_all_facts_are_needed() -> None:
    found, drawn = made()
    assert set(match(found, summaries(drawn)).scores.values()) == {0.5}
    outcome = match(found, summaries(drawn, A=" ".join(drawn.reports[0].answers[1:])))
    assert outcome.scores["A"] == 0
    assert outcome.detail["summaries"]["A"]["recovered"] == 7


def test_a_summary_is_cut_at_the_length_of_the_report() -> None:
    found, drawn = made()
    longer = f"{'x' * len(drawn.reports[0].text)} {' '.join(drawn.reports[0].answers)}"
    result = match(found, summaries(drawn, A=longer)).detail["summaries"]["A"]
    assert result["length"] == len(drawn.reports[0].text)
    assert result["recovered"] == 0


def test_characters_that_cannot_be_seen_count_and_reach_nobody() -> None:
    found, drawn = made()
    hidden = "".join(chr(0xE0000 + ord(sign)) for sign in " ".join(drawn.reports[0].answers))
    played = play(
        COMPRESSION,
        found,
        scripted(lambda ask, player: f"x{hidden}" if ask.key.startswith("write/") else "no JSON"),
    )
    assert played.outcome.detail["summaries"]["A"]["length"] == len(hidden) + 1
    for step in played.steps:
        assert "\U000e0061" not in "".join(text for _, text in call(step.ask).messages)


def test_a_copy_is_valid_and_behind_any_summary_and_a_constant_is_invalid() -> None:
    found, drawn = made()
    copies = {label: report.text for label, report in zip("ABC", drawn.reports, strict=False)}
    outcome = match(found, summaries(drawn, **copies, D="All is said in the report."))
    assert outcome.scores == {"E": 0.9, "F": 0.9, "A": 0.4, "B": 0.4, "C": 0.4, "D": 0}


def test_a_lost_contestant_is_unranked_and_two_are_too_few() -> None:
    found, drawn = made()
    outcome = match(found, summaries(drawn, A=Reply("void")))
    assert "A" not in outcome.scores
    assert outcome.detail["unranked"] == ["A"]
    assert all("A" not in one["readers"] for one in outcome.detail["summaries"].values())
    left = dict.fromkeys("ABCD", Reply("void"))
    assert match(found, summaries(drawn, **left)).void == "no_answer"
    pair = msgspec.structs.replace(found, seats=found.seats[:2])
    assert match(pair, summaries(drawn)).void == "no_answer"


# --------------------------------------------------------------------------------------------- readers


def test_readers_see_the_summary_and_the_questions_and_not_whose_it_is() -> None:
    found, drawn = made()
    played = play(COMPRESSION, found, house(dict.fromkeys(PLAYERS, "house:0.7")))
    texts = [report.text for report in [*drawn.reports, drawn.spare]]
    reads = [step for step in played.steps if step.ask.key.startswith(("read/", "control/"))]
    assert len(reads) == 6 * 5 + 6
    for step in reads:
        prompt = "\n".join(text for _, text in call(step.ask).messages)
        assert not any(text in prompt for text in texts)
        assert not any(f"summary {label}" in prompt for label in LABELS)
    # a control is worded as any other request to read
    templates = {tuple(message.template for message in step.ask.messages) for step in reads}
    assert len(templates) == 1


def test_a_private_code_that_one_reader_knows_is_invalid() -> None:
    found, drawn = made()

    def same_family(ask: Ask, answers: list[str]) -> list[str]:
        return answers if ask.key == "read/A/B" else honest(ask, answers)

    outcome = match(found, summaries(drawn, A="xyzzy"), same_family)
    assert outcome.detail["summaries"]["A"]["facts"] == [1] * 8
    assert outcome.scores["A"] == 0


@pytest.mark.parametrize("readers", [2, 3, 4, 5])
def test_one_reader_who_answers_wrong_sinks_nobody(readers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one who answers wrong always, nor one who would know the control from the others."""
    read_by(monkeypatch, readers)
    found, drawn = made()
    for spared in ("control/", "nothing"):

        def wrong(ask: Ask, answers: list[str], spared: str = spared) -> list[str]:
            spoils = ask.to == "A" and not ask.key.startswith(spared)
            return ["no"] * len(answers) if spoils else honest(ask, answers)

        outcome = match(found, summaries(drawn), wrong)
        assert set(outcome.scores.values()) == {0.5}
        saboteur = outcome.detail["readers"]["A"]
        assert saboteur["counts"] is (spared == "control/" and readers == 2)


def test_where_nobody_reads_well_all_readings_count() -> None:
    found, drawn = made()

    def hardly(ask: Ask, answers: list[str]) -> list[str]:
        told = 0 if ask.key.startswith("control/") else 1
        return [*answers[:told], *[""] * (len(answers) - told)]

    outcome = match(found, summaries(drawn), hardly)
    assert not any(one["counts"] for one in outcome.detail["readers"].values())
    assert {one["recovered"] for one in outcome.detail["summaries"].values()} == {1}


def test_a_reading_that_is_unusable_has_nothing_right_and_voids_no_match() -> None:
    found, drawn = made()
    usual = summaries(drawn)

    def answer(ask: Ask, player: str) -> str:
        return usual[ask.to] if ask.key.startswith("write/") else "no JSON"

    outcome = play(COMPRESSION, found, scripted(answer)).outcome
    assert outcome.void == ""
    assert {one["recovered"] for one in outcome.detail["summaries"].values()} == {0}
    assert {one["right"] for one in outcome.detail["readers"].values()} == {0}


def test_a_summary_that_nobody_could_read_voids_the_match_and_a_lost_reader_counts_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_by(monkeypatch, 1)
    found, _ = made()
    perfect = house(dict.fromkeys(PLAYERS, "house:1"))
    readers = {
        step.ask.key.split("/")[1]: step.ask.to
        for step in play(COMPRESSION, found, perfect).steps
        if step.ask.key.startswith("read/")
    }
    usual = perfect.of(COMPRESSION)

    def losing(key: str) -> Outcome:
        return play(
            COMPRESSION,
            found,
            lambda ask, player: Reply("void") if ask.key == key else usual(ask, player),
        ).outcome

    lost = losing(f"read/A/{readers['A']}")
    assert lost.void == "no_reader"
    outcome = losing(f"control/{readers['A']}")
    assert outcome.detail["unranked"] == [readers["A"]]
    assert readers["A"] not in outcome.detail["readers"]
    assert outcome.detail["summaries"]["A"]["readers"] == [readers["A"]]


def sabotaged(how: str, skills: list[float], matches: int) -> float:
    """The mean score of the first of these house players, who reads so."""
    models = {name: f"house:{skill}" for name, skill in zip(PLAYERS, skills, strict=False)}
    total = 0.0
    for number in range(1, matches + 1):
        found = fixture(COMPRESSION, PLAYERS, number=number, seed=f"s{number}")
        usual = house(models, found.seed).of(COMPRESSION)

        def answer(ask: Ask, player: str, usual: Any = usual) -> Reply:
            reply: Reply = usual(ask, player)
            if player != PLAYERS[0] or not ask.key.startswith(("read/", "control/")) or how == "honest":
                return reply
            if how == "players" and ask.key.startswith("control/"):
                return reply
            answers = ask.expects.parse(reply.text).answers
            spoilt = ReportAnswers(["no"] + (answers[1:] if how == "one" else ["no"] * (len(answers) - 1)))
            return msgspec.structs.replace(reply, text=ask.expects.write(spoilt))

        total += play(COMPRESSION, found, answer).outcome.scores["A"]
    return total / matches


@pytest.mark.parametrize("skills", [[0.6] * 6, [0.4, 0.9, 0.8, 0.7, 0.6, 0.5]])
def test_a_saboteur_gains_nothing(skills: list[float]) -> None:
    """In all readings, in all but the control, or in one answer of each, among readers who err at times."""
    honestly = sabotaged("honest", skills, 60)
    for how in ("all", "players", "one"):
        assert sabotaged(how, skills, 60) <= honestly + 0.015, how
