"""Text-metrics: what a text is worth, what a broken constraint costs, and that a copy wins nothing."""

import importlib.util
import sys
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.offline import fixture, house, play, scripted

from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.text_metrics import GAME as TEXT_METRICS
from peerage.games.text_metrics.metrics import METRICS, _sacre, common, missing, score, signature
from peerage.games.text_metrics.play import COPY_AT_MOST, bare
from peerage.games.text_metrics.tasks import KINDS, TextLimits, TextTask, drawn_task

PLAYERS = [f"p{at}" for at in range(10)]
OURS = [name for name, metric in METRICS.items() if metric.near is not None]
Writing = Callable[[TextTask], str | Reply]


@pytest.fixture(autouse=True)
def every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a match have a text of each kind."""
    monkeypatch.setattr("peerage.games.text_metrics.play.TEXTS", len(KINDS))


def made(number: int = 1, **rules: Any) -> tuple[Fixture, list[TextTask]]:
    found = fixture(TEXT_METRICS, PLAYERS, {"seats": 4, **rules}, number=number)
    return found, msgspec.convert(found.drawn["tasks"], list[TextTask])


def match(found: Fixture, how: Mapping[str, Writing]) -> Outcome:
    tasks = msgspec.convert(found.drawn["tasks"], list[TextTask])

    def answer(ask: Ask, player: str) -> str | Reply:
        return how[ask.to](tasks[int(ask.key.split("/")[1]) - 1])

    return play(TEXT_METRICS, found, scripted(answer)).outcome


def reference(task: TextTask) -> str:
    return task.references[0]


def copy(task: TextTask) -> str:
    return task.source


# --------------------------------------------------------------------------------------------- metrics


@pytest.mark.parametrize(
    ("metric", "text", "references", "value"),
    [
        # as rouge-score 0.1.2 gives them, without its stemmer
        ("rouge-1", "On 3 March Mara sold salt to Odo; he paid 12 coins.", 2, 0.8696),
        ("rouge-2", "On 3 March Mara sold salt to Odo; he paid 12 coins.", 2, 0.6667),
        ("rouge-l", "On 3 March Mara sold salt to Odo; he paid 12 coins.", 2, 0.6087),
        ("rouge-l", "03-14 Dalmo salt 340", 1, 0.8),
        ("rouge-2", "03-14 Dalmo salt 340", 1, 0.5),
        ("f1", "the Dalmo's salt, 340!", 1, 0.5714),
        ("f1", "143 dalmo salt 340", 1, 1.0),
    ],
)
def test_our_metrics_give_the_published_values(metric: str, text: str, references: int, value: float) -> None:
    given = {
        2: ("Mara sold salt to Odo on 3 March for 12 coins.", "To Odo Mara sold the salt."),
        1: ("14/3 Dalmo: salt = 340",),
    }
    assert score(metric, text, given[references]) == value


@pytest.mark.parametrize("metric", ["chrf", "bleu"])
def test_theirs_are_sacrebleus_own_with_its_signature(metric: str) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    text = "Mara paid 340 for rent on March 14. Odo paid 20 for bread."
    references = ("On 14 March Mara paid 340 coins for the rent.", "Mara paid 340 coins for the rent.")
    of = sacrebleu.sentence_chrf if metric == "chrf" else sacrebleu.sentence_bleu
    for one in (text, "Mara paid"):
        assert score(metric, one, references) == round(of(one, references).score / 100, 4) > 0
    assert signature(metric, references).startswith(f"{METRICS[metric].title}|nrefs:2|")
    assert signature(metric, references).endswith(f"version:{sacrebleu.__version__}")
    assert score(metric, references[1], references) == 1
    assert score(metric, "", references) == 0


def longest(mine: list[str], theirs: list[str]) -> int:
    """The longest common subsequence, the plain way."""
    best = [[0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for i, one in enumerate(mine, 1):
        for j, other in enumerate(theirs, 1):
            best[i][j] = best[i - 1][j - 1] + 1 if one == other else max(best[i - 1][j], best[i][j - 1])
    return best[-1][-1]


WORDS = st.lists(st.sampled_from("abcd"), max_size=20)


@given(mine=WORDS, theirs=WORDS)
def test_the_quick_subsequence_is_the_plain_one(mine: list[str], theirs: list[str]) -> None:
    assert common(mine, theirs) == longest(mine, theirs)


@pytest.mark.parametrize("metric", OURS)
@given(text=st.text(max_size=60), other=st.text(max_size=60))
def test_a_metric_lies_between_0_and_1_and_a_text_is_nearest_to_itself(
    metric: str, text: str, other: str
) -> None:
    near = METRICS[metric].near
    assert near is not None
    assert 0 <= near(text, other) <= 1
    assert near(text, other) == near(other, text)
    assert near(text, text) in (0, 1)
    assert near(text, other) <= max(near(text, text), near(other, other))


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = TEXT_METRICS.rules
    monkeypatch.setattr("peerage.games.text_metrics.metrics.find_spec", lambda name: None)
    assert TEXT_METRICS.needs.extra(rules.model_validate({"metric": "chrf"})) == "metrics"
    assert TEXT_METRICS.needs.extra(rules.model_validate({})) == ""
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    _sacre.cache_clear()
    with pytest.raises(ImportError, match=r'pip install "peerage\[metrics\]"'):
        score("bleu", "a", ("a text never compared before",))
    monkeypatch.undo()
    assert bool(missing("chrf")) is (importlib.util.find_spec("sacrebleu") is None)


# ----------------------------------------------------------------------------------------------- tasks


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6), records=st.integers(1, 8))
def test_references_keep_to_the_constraints_and_no_copy_is_one(kind: str, seed: int, records: int) -> None:
    task = drawn_task(Random(seed), kind, records)
    assert task.source not in task.references
    assert 1 <= len(task.references) == len({*task.references})
    for one in task.references:
        assert task.limits.breaches(one) == []
        assert all(score(metric, one, task.references) == 1 for metric in OURS)
    assert bool(task.shown) is (kind != "paraphrase")
    assert not any(place in text for text in (task.source, *task.references, *task.shown) for place in "{}")


def test_no_two_matches_have_a_text_in_common_and_a_match_no_kind_twice() -> None:
    seen: set[str] = set()
    for number in range(1, 60):
        _, tasks = made(number)
        assert {task.kind for task in tasks} == {*KINDS}
        assert seen.isdisjoint(task.source for task in tasks)
        seen |= {task.source for task in tasks}


@pytest.mark.parametrize("metric", OURS)
def test_no_metric_takes_a_copy_for_a_reference(metric: str) -> None:
    for number in range(1, 40):
        _, tasks = made(number, metric=metric)
        assert all(score(metric, task.source, task.references) <= COPY_AT_MOST for task in tasks)


def test_constraints_are_words_and_lengths() -> None:
    limits = TextLimits(words=3, chars=14, required=("sold",), forbidden=("bought", "coins"))
    assert limits.breaches("Mara SOLD it") == []
    assert limits.breaches("unsold coins.") == ["without “sold”", "with “coins”"]
    assert limits.breaches("sold coinsman") == []
    assert limits.breaches("He sold it all now") == ["5 words, at most 3", "18 characters, at most 14"]


# --------------------------------------------------------------------------------------------- scoring


def test_a_reference_is_worth_1_a_copy_0_and_a_breach_its_share() -> None:
    found, _ = made()
    outcome = match(
        found,
        {
            "A": reference,
            "B": copy,
            "C": lambda task: reference(task) + " bought visited added sent recorded" * 20,
            "D": lambda task: Reply("refused"),
        },
    )
    texts, means = outcome.detail["texts"], outcome.detail["means"]
    assert [one["points"] for one in texts["A"]] == [1] * 5
    assert [one["points"] for one in texts["B"]] == [0] * 5
    assert (means["A"], means["B"], means["D"]) == (1, 0, 0)
    assert outcome.scores["A"] == 1
    assert outcome.scores["B"] == outcome.scores["D"]
    assert all(one["breaches"] for one in texts["C"])
    assert outcome.detail["metrics"][0].startswith("ROUGE-L|nrefs:")


def test_each_breach_costs_half_as_the_prompt_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerage.games.text_metrics.play.TEXTS", 1)
    for number in range(1, 30):
        found, (task,) = made(number)
        if task.kind == "rewrite":
            break
    word = task.limits.forbidden[0]
    outcome = match(found, dict.fromkeys("ABCD", lambda task: f"{reference(task)} {word}"))
    one = outcome.detail["texts"]["A"][0]
    assert one["breaches"] == [f"with “{word}”"]
    way = (one["near"] - outcome.detail["copies"][0]) / (1 - outcome.detail["copies"][0])
    assert one["points"] == pytest.approx(0.5 * way, abs=1e-4)
    asked = play(TEXT_METRICS, found, house(dict.fromkeys(PLAYERS, "house:1"))).steps[0].ask
    assert "costs 50% of" in str(asked.messages[0].fill["breach"])


@pytest.mark.parametrize(
    ("reply", "compared"),
    [
        (" a\nb \n", "a\nb"),
        ("```\na\nb\n```", "a\nb"),
        ("```text\na\n```\n", "a"),
        ("Here it is:\n```\na\n```", "Here it is:\n```\na\n```"),
        ("```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"),
    ],
)
def test_a_fence_around_the_whole_is_left_out(reply: str, compared: str) -> None:
    assert bare(reply) == compared


def test_a_lost_contestant_is_unranked_and_one_alone_is_no_match() -> None:
    found, tasks = made()

    def lost(task: TextTask) -> str | Reply:
        return Reply("void") if task == tasks[1] else reference(task)

    outcome = match(found, {"A": lost, "B": reference, "C": copy, "D": reference})
    assert outcome.scores == {"B": 0.75, "D": 0.75, "C": 0}
    assert outcome.detail["unranked"] == ["A"]
    assert match(found, {"A": lost, "B": lost, "C": lost, "D": copy}).void == "no_answer"


def test_baselines_rank_below_honest_players() -> None:
    """A copy and a constant are worth nothing; who writes out the example is behind a modest house player."""
    sums = dict.fromkeys("ABCD", 0.0)
    for number in range(1, 61):
        found, tasks = made(number)
        usual = house(dict.fromkeys(PLAYERS, "house:0.2"), f"s{number}").of(TEXT_METRICS)

        def answer(ask: Ask, player: str, tasks: list[TextTask] = tasks, usual: Any = usual) -> Reply:
            task = tasks[int(ask.key.split("/")[1]) - 1]
            said = {"A": task.source, "B": "The.", "C": task.shown[1] if task.shown else task.source}
            return Reply("ok", said[ask.to]) if ask.to in said else usual(ask, player)

        for label, mean in play(TEXT_METRICS, found, answer).outcome.detail["means"].items():
            sums[label] += mean / 60
    assert sums["A"] == 0
    assert sums["B"] < 0.01
    assert sums["C"] < sums["D"] - 0.1


def test_what_only_the_arena_knows_is_in_no_prompt() -> None:
    for number in range(1, 10):
        found, tasks = made(number)
        played = play(TEXT_METRICS, found, house(dict.fromkeys(PLAYERS, "house:0.7")))
        for step in played.steps:
            prompt = repr([dict(message.fill) for message in step.ask.messages])
            assert not any(repr(one)[1:-1] in prompt for task in tasks for one in task.references)
