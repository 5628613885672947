"""Arenas under the presets of the four originals follow the originals' own words.

Every number is computed here again by the formulas of their documents, from what the arena recorded:
requests, replies, votes, costs. Nothing of Peerage that computes is used.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.games import GAMES
from peerage.ledger.forms.codec import read_record
from peerage.ledger.out.export import documents
from peerage.settings import SettingsError, load
from peerage.settings.pairing import Pairing, Rating
from peerage.settings.reading import loads
from tests.engine.arenas import house, play, write_arena

ORIGINALS = {
    "color-obfuscation": "original",
    "duel": "uner",
    "last-arena": "original",
    "challenge-exchange": "original",
}
ARENAS_OWN = {
    "preset",
    "cost_unit",
    "texts",
    "judging",
    "topics",
    "temperature",
    "fuel",
    "memory",
    "seconds",
    "tool",
}
"""Rules that are no matter of the original: what the arena is about, and the machine's bounds."""

Match = dict[str, Any]


def played(folder: Path, game: str, matches: int, players: list[Any], **rules: Any) -> list[Match]:
    """The matches of a fresh arena under the preset of the original, as `peerage export` writes them."""
    write_arena(folder, players, game=game, rules={"preset": ORIGINALS[game], **rules}, pairing={})
    play(folder, matches)
    with open_arena(folder) as arena:
        assert arena.verify().ok
        return [json.loads(msgspec.json.encode(each)) for each in documents(arena.ledger)]


def text_of(match: Match, key: str) -> str:
    text: str = next(each["reply"]["text"] for each in match["exchanges"] if each["key"] == key)
    return text


def stated(text: str, name: str) -> str:
    """What a reply of a house player states under a name: in JSON, or on a line such as `**Verdict:** A`."""
    return re.findall(rf"{name}\W+([\w.-]+)", text, re.IGNORECASE)[-1]


def read_json(text: str) -> Any:
    return json.loads(text.removeprefix("```json\n").removesuffix("\n```"))


def expected(mine: float, other: float) -> float:
    return 1 / (1 + 10 ** ((other - mine) / 400))


# ------------------------------------------------------------------------------------------------- presets


@pytest.mark.parametrize("game", ORIGINALS)
def test_a_preset_of_an_original_states_every_rule_so_that_defaults_may_move(game: str) -> None:
    spec = GAMES[game]
    preset = spec.presets[ORIGINALS[game]]
    assert spec.rules.model_fields.keys() - ARENAS_OWN <= preset.rules.keys()
    rules = spec.rules.model_validate({"preset": ORIGINALS[game]}).model_dump(mode="json")
    for key, value in preset.rules.items():
        assert rules[key] == pytest.approx(value), key
    assert preset.pairing.keys() <= Pairing.model_fields.keys()
    assert preset.rating.keys() <= Rating.model_fields.keys()


def test_one_word_sets_rules_pairing_and_rating_and_a_key_next_to_it_wins() -> None:
    arena = loads("rules: {preset: uner, judges: 3}\npairing: {width: 80}\nrating: {k_factor: 24}")
    assert (arena.pairing.policy, arena.pairing.width) == ("swiss", 80)
    assert (arena.rating.k_factor, arena.rating.cost_sensitivity) == (24, 0.2)
    color = loads("game: color-obfuscation\nrules: {preset: original}")
    assert (color.pairing.policy, color.rating.k_factor, color.rating.propagation_width) == (
        "random",
        32,
        None,
    )
    several = loads("games: {color-obfuscation: {rules: {preset: original}}, duel: {rules: {preset: uner}}}")
    assert (several.pairing.policy, several.rating.k_factor) == ("random", 32)


def test_the_doctor_lists_keys_that_win_over_a_preset(tmp_path: Path) -> None:
    own = {"preset": "uner", "judges": 3, "epsilon": 0.0}
    write_arena(tmp_path, 7, rules=own, pairing={"policy": "adaptive"})
    told = CliRunner().invoke(app, ["doctor", "--dir", str(tmp_path)]).stdout
    assert re.search(r"preset uner +with your own rules\.judges, pairing\.policy\n", told)
    write_arena(tmp_path, 7, rules={"preset": "uner"}, pairing={})
    assert "preset" not in CliRunner().invoke(app, ["doctor", "--dir", str(tmp_path)]).stdout


@pytest.mark.parametrize("game", [name for name in GAMES if GAMES[name].presets])
def test_presets_are_those_that_the_rules_name_and_a_page_shows_what_they_expand_to(game: str) -> None:
    spec = GAMES[game]
    page = CliRunner().invoke(app, ["games", "about", game]).stdout
    for name, preset in spec.presets.items():
        assert spec.rules.model_validate({"preset": name}).model_dump()["preset"] == name
        shown = page.partition(f"### `preset: {name}`")[2].partition("### `preset:")[0]
        for key in (*preset.rules, *preset.pairing, *preset.rating):
            assert f"  {key}:" in shown, (name, key)


def test_a_preset_outside_rules_and_one_that_nobody_knows_are_refused_with_what_to_write() -> None:
    with pytest.raises(SettingsError, match=r"preset: a setting of the game; write it under `rules:`"):
        loads("preset: uner\nplayers: [house:0.5]")
    with pytest.raises(SettingsError, match="did you mean 'uner'"):
        loads("rules: {preset: unner}")


def test_uner_may_ask_about_clinical_cases_too() -> None:
    rules = GAMES["duel"].rules.model_validate({"preset": "uner", "challenge": "case"})
    assert (rules.model_dump()["author"], rules.model_dump()["binary"]) == ("top", True)
    assert rules == GAMES["duel"].rules.model_validate(rules.model_dump(mode="json"))


# ---------------------------------------------------------------------------------------------------- UNER


R0, K, TAU, TAU_C, DELTA, WIDTH, SHARE = 1500.0, 16.0, 300.0, 0.2, 50.0, 50.0, 0.5


@pytest.fixture(scope="module")
def uner(tmp_path_factory: pytest.TempPathFactory) -> list[Match]:
    prices = [{"input": 0.5 + place, "output": 2.0 + 3 * place} for place in range(8)]
    players = [{**player, "price": price} for player, price in zip(house(8), prices, strict=True)]
    return played(tmp_path_factory.mktemp("uner"), "duel", 60, players)


def after_each(matches: Sequence[Match]) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
    """Both ratings before the first match and after each, by stages 6 and 7, from scores and costs alone."""
    raw: dict[str, float] = {}
    cost: dict[str, float] = {}
    yield {}, {}
    for match in matches:
        scores = match["record"]["outcome"]["scores"]
        if scores:
            a, b = (seat["player"] for seat in match["fixture"]["seats"])
            for player in (a, b):
                raw.setdefault(player, R0)
                cost.setdefault(player, R0)
            paid = {
                label: sum(
                    each["reply"]["cost_nano"]
                    for each in match["exchanges"]
                    if each["key"].startswith(f"answer/{label}") and each["reply"]
                )
                for label in "AB"
            }
            total = sum(paid.values())
            moved: dict[str, dict[str, float]] = {"raw": {}, "cost": {}}
            for mine, other, label in ((a, b, "A"), (b, a, "B")):
                won = scores[label]
                adjusted = won - TAU_C * (paid[label] / total if total else 0.5)
                moved["raw"][mine] = K * (won - expected(raw[mine], raw[other]))
                moved["cost"][mine] = K * (adjusted - expected(cost[mine], cost[other]))
            near = {
                m: {n: math.exp(-((cost[m] - cost[n]) ** 2) / (2 * WIDTH**2)) for n in cost} for m in cost
            }
            for track, ratings in (("raw", raw), ("cost", cost)):
                for m in ratings:
                    spread = sum(near[m][n] * moved[track][n] for n in (a, b)) / sum(near[m].values())
                    ratings[m] += (1 - SHARE) * moved[track].get(m, 0.0) + SHARE * spread
        yield dict(raw), dict(cost)


def test_uner_rates_by_its_two_formulas_and_its_kernel(uner: list[Match]) -> None:
    states = list(after_each(uner))
    assert sum(bool(match["record"]["outcome"]["scores"]) for match in uner) > 30
    for match, (raw, cost) in zip(uner, states[1:], strict=True):
        recorded = match["record"]["ratings"]
        for player, (_, after) in recorded.get("raw", {}).items():
            assert after == pytest.approx(raw[player], abs=1e-6)
        for player, (_, after) in recorded.get("cost", {}).items():
            assert after == pytest.approx(cost[player], abs=1e-6)
        before = states[match["fixture"]["snapshot"]]
        for seat in match["fixture"]["seats"]:
            assert seat["raw"] == pytest.approx(before[0].get(seat["player"], R0), abs=1e-6)
            assert seat["cost"] == pytest.approx(before[1].get(seat["player"], R0), abs=1e-6)
    assert states[-1][0].keys() == {f"p{place}" for place in range(8)}


def matchings(players: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    if not players:
        yield []
    for place in range(1, len(players)):
        rest = [*players[1:place], *players[place + 1 :]]
        yield from ([(players[0], players[place]), *more] for more in matchings(rest))


def test_uner_pairs_within_strata_of_delta_at_the_smallest_differences(uner: list[Match]) -> None:
    states = list(after_each(uner))
    met: dict[frozenset[str], int] = {}
    rounds: dict[int, list[Match]] = {}
    for match in uner:
        rounds.setdefault(match["fixture"]["round"], []).append(match["fixture"])
    whole = [fixtures for fixtures in rounds.values() if len(fixtures) == 4]
    assert len(whole) > 10
    for fixtures in whole:
        cost = states[fixtures[0]["snapshot"]][1]
        order = sorted((f"p{place}" for place in range(8)), key=lambda player: -cost.get(player, R0))
        stratum, top = {}, math.inf
        for player in order:
            if top - cost.get(player, R0) > DELTA:
                top = cost.get(player, R0)
            stratum[player] = top

        pairs = [(each["seats"][0]["player"], each["seats"][1]["player"]) for each in fixtures]
        weights = {}
        for pair in itertools.permutations(order, 2):
            apart, times = abs(cost.get(pair[0], R0) - cost.get(pair[1], R0)), met.get(frozenset(pair), 0)
            fresh = not times and stratum[pair[0]] == stratum[pair[1]]
            weights[pair] = apart if fresh else (DELTA + apart) * (1 + times)
        least = min(sum(weights[pair] for pair in matching) for matching in matchings(order))
        assert sum(weights[pair] for pair in pairs) == pytest.approx(least, abs=0.02)
        for pair in pairs:
            met[frozenset(pair)] = met.get(frozenset(pair), 0) + 1


def test_uner_has_the_higher_seed_draft_and_the_best_outside_vote_and_judge(uner: list[Match]) -> None:
    states = list(after_each(uner))
    for match in uner:
        fixture = match["fixture"]
        raw, cost = states[fixture["snapshot"]]
        contestants = [seat["player"] for seat in fixture["seats"]]
        seeds = sorted(contestants, key=lambda player: (-cost.get(player, R0), player))
        assert [seat["player"] for seat in fixture["officials"]["author"]] == seeds
        outside = sorted(
            (raw.get(f"p{at}", R0) for at in range(8) if f"p{at}" not in contestants), reverse=True
        )
        for role in ("committee", "judge"):
            chosen = fixture["officials"][role]
            assert not {seat["player"] for seat in chosen} & {*contestants}
            assert [seat["raw"] for seat in chosen] == pytest.approx(outside[:5], abs=1e-6)
        drafts = match["record"]["outcome"]["detail"]["drafts"]
        assert drafts[0]["authors"] == {"question": "author/1"}
        for place, draft in enumerate(drafts):
            at = f"{draft['turn']}/{draft['draft']}"
            votes = {label: stated(text_of(match, f"vote/{at}/{label}"), "vote") for label in draft["votes"]}
            assert votes == draft["votes"]
            stands = list(votes.values()).count("approve") / len(votes) >= 0.8
            assert draft["accepted"] == stands
            assert (
                stands == (place == len(drafts) - 1) or match["record"]["outcome"]["void"] == "no_challenge"
            )
    assert any(
        not draft["accepted"] for match in uner for draft in match["record"]["outcome"]["detail"]["drafts"]
    )


def test_uner_judges_cast_binary_votes_in_both_orders_weighted_by_softmax(uner: list[Match]) -> None:
    decided = 0
    for match in uner:
        detail = match["record"]["outcome"]["detail"]
        if detail.get("decided") != "by judges":
            continue
        weight: dict[str, float] = {}
        for_a = 0.0
        for judge in match["fixture"]["officials"]["judge"]:
            label = judge["label"]
            first, second = (
                stated(text_of(match, f"{label}/{order}"), "verdict") for order in ("A-B", "B-A")
            )
            assert {first, second} <= {"A", "B"}
            if first != second:  # the same answer both times: another letter each time
                weight[label] = math.exp(judge["raw"] / TAU)
                for_a += weight[label] * (first == "A")
        if len(weight) < 2.5:
            assert match["record"]["outcome"]["void"] == "inconclusive"
            continue
        share = for_a / sum(weight.values())
        assert detail["share"] == pytest.approx(share)
        for ballot in detail["ballots"]:
            due = weight.get(ballot["judge"], 0.0) / sum(weight.values())
            assert ballot["weight"] == pytest.approx(due)
        assert match["record"]["outcome"]["scores"]["A"] == (0.5 if abs(share - 0.5) < 1e-9 else share > 0.5)
        decided += 1
    assert decided > 30


# --------------------------------------------------------------------------------------- Color Obfuscation


def test_color_obfuscation_gives_six_attempts_counts_recoveries_and_rates_by_elo(tmp_path: Path) -> None:
    matches = played(tmp_path, "color-obfuscation", 30, house(5))
    ratings = dict.fromkeys((f"p{place}" for place in range(5)), 1500.0)
    broken = ties = 0
    for match in matches:
        outcome, seats = match["record"]["outcome"], match["fixture"]["seats"]
        assert len(match["fixture"]["drawn"]["colors"]) == 1
        [color] = match["fixture"]["drawn"]["colors"]
        recovered = {}
        for number, (own, other) in enumerate((("A", "B"), ("B", "A")), 1):
            count = len(read_json(text_of(match, f"{number}/obfuscate"))["instructions"])
            keys = [each["key"] for each in match["exchanges"] if each["key"].startswith(f"{number}/attack/")]
            right = []
            for attempt in range(1, len(keys) + 1):
                key = f"{number}/attack/{attempt}"
                told = next(each["messages"][-1]["text"] for each in match["exchanges"] if each["key"] == key)
                shown = -(-(attempt - 1) * count // 5)  # 0, 20, …, 100%, rounded up
                assert f"attempt {attempt} of 6; you see {shown} of {count} instructions" in told
                assert len(re.findall(r"^\d+\. ", told, re.MULTILINE)) == shown
                right.append(stated(text_of(match, key), "color").upper() == color)
            assert right[:-1] == [False] * (len(right) - 1)
            assert right[-1] or len(right) == 6
            recovered[other] = right[-1]
            broken += stated(text_of(match, f"{number}/recover"), "color").upper() != color
            asked = {each["key"]: each["seat"] for each in match["exchanges"]}
            assert asked[f"{number}/recover"] == asked[f"{number}/obfuscate"] == own
            assert asked[f"{number}/attack/1"] == other
        score = 0.5 + (recovered["A"] - recovered["B"]) / 2
        assert outcome["scores"] == {"A": score, "B": 1 - score}
        ties += score == 0.5
        a, b = (seat["player"] for seat in seats)
        gain = 32 * (score - expected(ratings[a], ratings[b]))
        ratings[a], ratings[b] = ratings[a] + gain, ratings[b] - gain
        assert match["record"]["ratings"]["raw"][a][1] == pytest.approx(ratings[a])
        assert match["record"]["ratings"]["raw"][b][1] == pytest.approx(ratings[b])
    assert broken
    assert ties


# -------------------------------------------------------------------------------- Humanity's Last Arena


def centred(scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Each judge's scores moved so that they average 5 points."""
    return {
        judge: {item: 5 + given - sum(points.values()) / len(points) for item, given in points.items()}
        for judge, points in scores.items()
    }


def means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    items = {item for points in scores.values() for item in points}
    return {
        item: sum(given) / len(given)
        for item in items
        if (given := [points[item] for points in scores.values() if item in points])
    }


def test_the_last_arena_scores_by_its_seven_rules(tmp_path: Path) -> None:
    [match] = played(tmp_path, "last-arena", 1, house(5), questions=6)
    labels = [seat["label"] for seat in match["fixture"]["seats"]]
    given: dict[str, dict[str, dict[str, float]]] = {"rate": {}, "judge": {}}
    for each in match["exchanges"]:
        phase, judge, item = (*each["key"].split("/", 2), "")[:3]
        if phase in given:
            given[phase].setdefault(judge, {})[item] = float(stated(each["reply"]["text"], "score"))
            assert item.partition("-")[0] != judge if phase == "rate" else item.rpartition("/")[2] != judge
    questions = {f"{label}-{number}" for label in labels for number in range(1, 7)}
    quality = means(centred(given["rate"]))
    assert quality.keys() == questions
    remaining = {item.rpartition("/")[0] for points in given["judge"].values() for item in points}
    assert len(remaining) == len(questions) * 2 // 3
    assert (
        max(quality[item] for item in questions - remaining)
        <= min(quality[item] for item in remaining) + 1e-9
    )
    answers = means(centred(given["judge"]))
    assert answers.keys() == {f"{question}/{label}" for question in remaining for label in labels}
    standings = match["record"]["outcome"]["detail"]["standings"]
    for label in labels:
        own = [score for item, score in answers.items() if item.endswith(f"/{label}")]
        assert standings[label]["score"] == pytest.approx(sum(own) / len(own), abs=1e-5)


# ------------------------------------------------------------------------------------------ Valyrian Games


def test_the_challenge_exchange_pays_what_the_design_states(tmp_path: Path) -> None:
    # a key next to the preset wins: no program, so that no sandbox is needed
    played(tmp_path, "challenge-exchange", 6, house(4), proof="blind")
    reference: dict[str, int] = {}
    seen = set()
    with open_arena(tmp_path) as arena:
        records = [read_record(row.body) for row in arena.ledger.records()]
        matches = [arena.match(record.number) for record in records]
    for match, record in zip(matches, records, strict=True):
        replies = {each.key: read_json(each.reply) for each in match.exchanges}
        detail = record.outcome.detail
        for challenge in detail["challenges"]:
            if challenge["status"] == "accepted":
                reference[challenge["challenge_id"]] = replies[f"{challenge['key']}/draft"][
                    "reference_answer"
                ]
        total = dict.fromkeys((seat.label for seat in match.seats), 0.0)
        for attempt in detail["attempts"]:
            answer = str(replies[f"{attempt['key']}/answer"]["answer"])
            right, own = answer == str(reference[attempt["challenge_id"]]), attempt["own_challenge"]
            points = (0 if answer == "pass" else 1 if right else -1) - (own and not right)
            assert attempt["points"] == points
            total[attempt["key"].split("/")[1]] += points
            seen.add((attempt["result"], own))
        assert detail["points"] == total
    assert {("correct", True), ("correct", False), ("incorrect", False), ("pass", False)} <= seen


def test_examples_and_pages_use_the_presets() -> None:
    here = Path(__file__).parent.parent
    for game, preset in ORIGINALS.items():
        page = (here / "src/peerage/games" / game.replace("-", "_") / "README.md").read_text("utf-8")
        assert f"preset: {preset}" in page, game
    assert load(here / "examples" / "clinical").pairing.policy == "swiss"
