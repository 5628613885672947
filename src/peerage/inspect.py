"""Pairwise tournaments in Inspect (UK AI Security Institute): a solver, a scorer, metrics and a task.

    Task(dataset, solver=contestants(["openai/gpt-5-mini", "google/gemini-2.5-flash"]),
         scorer=pairwise(judges=["anthropic/claude-haiku-4-5"]))

    inspect eval peerage/tournament -T logs=logs -T judges=anthropic/claude-haiku-4-5   # of recorded answers

Every model is asked through Inspect's `get_model`: keys, configuration, cache, limits and retries are
Inspect's, and so is the log. Judges get the prompts of `peerage rejudge`, and votes count as there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from logging import getLogger
from math import nan
from random import Random
from statistics import fmean
from typing import Any

import msgspec

from peerage.engine.again.rejudge import fixture_of
from peerage.engine.match.driver import Driver
from peerage.game.match import Seat
from peerage.game.protocol import Ask, Reply
from peerage.games.rejudge import FIRST, GAME, SECOND, RecordedAnswers, RecordedText, RejudgeRules
from peerage.games.rejudge.files import AnswerOfFile, answered, pair_of, same_model
from peerage.interchange.answers import answer_rows
from peerage.judging.marks.ballots import ballots_of
from peerage.judging.panels.prompts import COMPARE
from peerage.ratings.frames import named, rate
from peerage.ratings.read.inspect import ANSWERS
from peerage.ratings.read.report import ReadingReport, Row
from peerage.ratings.read.words import SCORES, WINNERS
from peerage.values.texts import storable

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        Model,
        get_model,
    )
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.util import collect
except ModuleNotFoundError as error:
    if error.name != "inspect_ai":
        raise
    raise ImportError(
        "peerage.inspect needs Inspect, which is not installed: pip install 'peerage[inspect]'"
    ) from None

_TURNS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@solver
def contestants(models: Sequence[str | Model] | Mapping[str, str | Model]) -> Solver:
    """Have several models answer a sample, in place of `generate()`; keys of a mapping name them.

    They get the messages of the solvers before it, and its tools. Raises ValueError for fewer than two, and
    for a name that comes twice.
    """
    playing = _opened(models)
    if len(playing) < 2:
        raise ValueError(f"found {len(playing)} contestants; a pair takes at least two models")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        async def answer(model: Model) -> str:
            _, output = await model.generate_loop(list(state.messages), tools=state.tools)
            return output.completion

        texts = await collect(*[answer(model) for model in playing.values()])
        given = {
            name: {"model": str(model), "text": text}
            for (name, model), text in zip(playing.items(), texts, strict=True)
        }
        return _answered(state, given)

    return solve


@solver
def recorded() -> Solver:
    """Take the answers of a sample from its metadata, as `tournament` makes it; asks nobody."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return _answered(state, state.metadata[ANSWERS])

    return solve


def _answered(state: TaskState, given: Mapping[str, Mapping[str, str]]) -> TaskState:
    state.store.set(ANSWERS, given)
    state.messages += [
        ChatMessageAssistant(content=answer["text"], model=answer["model"], metadata={"contestant": name})
        for name, answer in given.items()
    ]
    return state


def _opened(models: str | Model | Sequence[str | Model] | Mapping[str, str | Model]) -> dict[str, Model]:
    if isinstance(models, Mapping):
        return {name.strip(): get_model(model) for name, model in models.items()}
    split = models.split(",") if isinstance(models, str) else models  # as `-T judges=a,b` may come
    listed = [get_model(model) for model in ([split] if isinstance(split, Model) else split)]
    by_name = {str(model): model for model in listed}
    if len(by_name) < len(listed):
        raise ValueError(f"found a model twice in {', '.join(map(str, listed))}; name them: {{'v2': model}}")
    return by_name


@metric(scores="unreduced")
def ratings() -> Metric:
    """Rate contestants over all pairs: the Bradley-Terry rating, its 95% interval, clustered by sample, the
    chance to be the best, and the share of the points, from 0 to 1."""

    def compute(scores: list[SampleScore]) -> Value:
        pairs = [
            {**pair, "question": str(score.sample_id)}
            for score in scores
            for pair in (score.score.metadata or {}).get("pairs", ())
            if pair["winner"]
        ]
        points = _points(pairs)
        rated = (
            [{**row, "points": points.get(row["player"])} for row in rate(pairs, method="bt").rows]
            if pairs
            else []
        )
        names = ("rating", "lower", "upper", "best", "points")
        return {
            f"{row['player']}.{name}": row[name]
            for row in rated
            for name in names
            if row.get(name) is not None
        }

    return compute


@scorer(metrics=[ratings()])
def pairwise(
    judges: str | Model | Sequence[str | Model] | Mapping[str, str | Model] = (),
    rubric: str = "",
    ties: bool = True,
    both_orders: bool = True,
    show_target: bool = False,
    pairs: int | None = None,
) -> Scorer:
    """Have judges compare every two answers to a sample, blind; each contestant's score is its share of the
    points.

    `judges` are by default Inspect's model role `grader`. No judge compares an answer of its own. `rubric`
    is what makes an answer better, `show_target` shows judges the sample's target as the expected answer,
    `pairs` is how many pairs of a sample are compared at most. Raises ValueError where every judge is a
    contestant.
    """
    rules = RejudgeRules(binary=not ties, order="both" if both_orders else "one")

    async def score(state: TaskState, target: Target) -> Score:
        given: Mapping[str, Mapping[str, str]] = state.store.get(ANSWERS, {})
        if len(given) < 2:
            raise ValueError("pairwise compares several answers; put `contestants([...])` before it")
        bench = _opened(judges or get_model(role="grader"))
        if "none/none" in bench:
            raise ValueError("nobody judges; name `judges`, or give Inspect `--model-role grader=MODEL`")
        expected = {"expected": RecordedText(storable(target.text))} if show_target and target.text else {}
        prompt = COMPARE.prompt(expected, rubric=rubric)
        listed = list(combinations(sorted(given), 2))
        if pairs is not None and pairs < len(listed):
            listed = Random(f"{state.sample_id}/{state.epoch}").sample(listed, pairs)
        asked = []
        for names in listed:
            own = {given[name]["model"] for name in names}
            sitting = {
                name: judge
                for name, judge in bench.items()
                if not any(same_model(str(judge).replace("/", ":", 1), model) for model in own)
            }
            if sitting:
                first, second = [AnswerOfFile(name, storable(given[name]["text"])) for name in names]
                pair = pair_of(str(state.sample_id), _question(state), first, second, state.epoch)
                pair = msgspec.structs.replace(
                    pair, asked=(prompt.system, prompt.user), given={**pair.given, **expected}
                )
                asked.append(_judged(pair, sitting, rules))
        if not asked:
            raise ValueError(f"every judge is a contestant ({', '.join(bench)}); name another model")
        return _score(sorted(given), await collect(*asked))

    return score


def _question(state: TaskState) -> str:
    """The sample's input as judges read it: its messages by role where they are several, and its choices."""
    turns = state.input if isinstance(state.input, list) else []
    asked = [f"{turn.role}: {turn.text}" for turn in turns] if len(turns) > 1 else [state.input_text]
    choices = [f"{chr(65 + at)}) {choice.value}" for at, choice in enumerate(state.choices)]
    return storable("\n".join([*asked, *choices]))


async def _judged(pair: RecordedAnswers, judges: Mapping[str, Model], rules: RejudgeRules) -> dict[str, Any]:
    """Ask judges about two answers; who won, and the votes. The key of the match, from which markers and
    orders come, is a digest of both answers: no answer can hold it, and Inspect's cache knows the requests
    again."""
    seats = {f"judge/{at}": name for at, name in enumerate(judges, 1)}
    sitting = tuple([Seat(label, name) for label, name in seats.items()])
    fixture = fixture_of(pair, sitting, rules, 1, f"{pair.record}{pair.id}")
    driver = Driver(GAME, fixture, rules)
    waiting = driver.start()
    while waiting:
        asks = [ask for ask in waiting if isinstance(ask, Ask)]
        given = await collect(*[_reply(judges[seats[ask.to]], ask, fixture.seed) for ask in asks])
        waiting = [
            more for ask, reply in zip(asks, given, strict=True) for more in driver.feed(ask.key, reply)
        ]
    assert driver.outcome is not None
    scores = [fact["score"] for fact in driver.outcome.facts]
    return {
        "model_a": pair.authors[FIRST],
        "model_b": pair.authors[SECOND],
        "winner": next((WINNERS[score] for score in scores if score in WINNERS), ""),
        "share": driver.outcome.detail["share"],
        "votes": {
            seats[ballot.judge]: {
                order: pair.authors.get(verdict, verdict) for order, verdict in ballot.verdicts.items()
            }
            for ballot in ballots_of(driver.outcome)
        },
    }


async def _reply(model: Model, ask: Ask, seed: str) -> Reply:
    messages: list[ChatMessage] = [_TURNS[speaker](content=text) for speaker, text in ask.shown(seed)]
    output = await model.generate(messages)
    if output.stop_reason == "content_filter":
        return Reply("refused", storable(output.completion))
    cut = output.usage.output_tokens if output.usage and output.stop_reason == "max_tokens" else 0
    return Reply("ok", storable(output.completion), cut=cut, final=True)


def _points(pairs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Everybody's share of the points in pairs with a result."""
    points = defaultdict[str, list[float]](list)
    for pair in pairs:
        if pair["winner"]:
            won = SCORES[pair["winner"]]
            points[pair["model_a"]].append(won)
            points[pair["model_b"]].append(1 - won)
    return {name: fmean(won) for name, won in points.items()}


def _score(names: Sequence[str], pairs: Sequence[Mapping[str, Any]]) -> Score:
    """The score of a sample: everybody's share of the points, and the pairs with their votes."""
    lines = []
    for pair in pairs:
        result = f"{pair[pair['winner']]} wins" if pair["winner"] in pair else pair["winner"] or "no result"
        lines += [f"- {pair['model_a']} (A) against {pair['model_b']} (B): {result}"]
        lines += [f"    - {judge}: {', '.join(votes.values())}" for judge, votes in pair["votes"].items()]
    kept: dict[str, Any] = {"explanation": "\n".join(lines), "metadata": {"pairs": list(pairs)}}
    points = _points(pairs)
    if not points:
        return Score.unscored(reason="grader_failed", **kept)
    best = [name for name, share in points.items() if share == max(points.values())]
    return Score(value={name: points.get(name, nan) for name in names}, answer=", ".join(best), **kept)


@task
def tournament(
    logs: str | Sequence[str] | Mapping[str, str], judges: str | Sequence[str] = (), **options: Any
) -> Task:
    """Compare answers that are recorded in logs of Inspect, or other files that `peerage rejudge` reads.

    `logs` are files and folders; keys of a mapping name contestants, for two logs of one model. Nobody
    answers again; `options` are those of `pairwise`. Raises ValueError where no two models answered the same
    sample.
    """
    names = {file: name for name, file in logs.items()} if isinstance(logs, Mapping) else {}
    files = named([*names] or (logs.split(",") if isinstance(logs, str) else [*logs]))
    report, models, targets = ReadingReport(), dict[str, str](), dict[str, Any]()

    def lines() -> Iterator[Row]:
        for file, row in answer_rows(files, report):
            if ANSWERS not in (row.get("metadata") or ()):  # of an earlier tournament, from other logs
                player = names.get(file) or str(row["player"])
                models[player], targets[str(row["challenge"])] = str(row["player"]), row.get("target")
                yield {**row, "player": player}

    answers, notes = answered(lines(), report)
    for note in notes:
        getLogger(__name__).warning(note)
    samples = [
        Sample(
            input=question,
            target=targets[sample] or "",
            id=", ".join([sample, *[f"try {again}"] * (again > 1), *[f"wording {place}"] * (place > 1)]),
            metadata={
                ANSWERS: {one.player: {"model": models[one.player], "text": one.text} for one in given}
            },
        )
        for (sample, again), asked in answers.items()
        for place, (question, by_player) in enumerate(asked.items(), 1)
        if len(given := [*by_player.values()]) > 1
    ]
    if not samples:
        raise ValueError(f"no two models answered the same sample in {', '.join(files)}")
    scored = pairwise(judges, **options)
    dataset = MemoryDataset(samples, name="recorded answers")
    return Task(dataset, solver=recorded(), scorer=scored, model="none")
