"""Bounds on an agent's way to its reply, however long it was."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec
import pytest

from peerage.engine.calls.player_runtime import PlayerRuntime, priced
from peerage.game.work import MOST_CALLS, MOST_DETAIL, MOST_STEPS, MOST_TRACE, AgentStep, ModelCall, Trace
from peerage.players.client import Answer
from peerage.players.house import HouseClient
from peerage.players.prices import price_of
from peerage.settings import PlayerSettings


def size(trace: Trace) -> int:
    return sum(len(step.title) + len(step.detail) + len(step.status) for step in trace.steps)


def test_a_trace_that_is_short_is_kept_as_it_is() -> None:
    step = AgentStep("tool", "t" * 200, "d" * MOST_DETAIL, "completed")
    trace = Trace((step,) * 20, (ModelCall("chat", input_tokens=3),) * MOST_CALLS)
    assert trace.bounded() == trace


def test_of_many_steps_the_first_and_the_last_are_kept_and_a_note_says_so() -> None:
    trace = Trace(tuple([AgentStep("text", detail=f"{number}") for number in range(1_000)])).bounded()
    kept = [step.detail for step in trace.steps]
    assert len(kept) == MOST_STEPS
    assert kept[:200] == [f"{number}" for number in range(200)]
    assert kept[201:] == [f"{number}" for number in range(801, 1_000)]
    assert trace.steps[200] == AgentStep("note", "601 steps are left out here")
    exact = Trace((AgentStep("text", detail="x"),) * MOST_STEPS)
    assert exact.bounded() == exact


def test_long_texts_are_cut_alone_and_together() -> None:
    trace = Trace(
        (AgentStep("tool", "t" * 300, "d" * 9_000, "s" * 99),) * 100, (ModelCall("chat"),) * 1_900
    ).bounded()
    first = trace.steps[0]
    assert (len(first.title), len(first.detail), len(first.status)) == (200, MOST_DETAIL, 40)
    assert first.detail.endswith("d…")
    assert size(trace) == MOST_TRACE
    assert trace.steps[-1] == AgentStep("tool")
    assert len(trace.calls) == MOST_CALLS


def test_no_character_that_a_store_cannot_hold_is_kept() -> None:
    bad = "a\0\ud800"
    trace = Trace((AgentStep("note", bad, bad, bad),), (ModelCall(bad, bad, refused=bad),)).bounded()
    good = "a\ufffd\ufffd"
    assert trace == Trace((AgentStep("note", good, good, good),), (ModelCall(good, good, refused=good),))


@pytest.mark.parametrize(
    "wrong",
    [AgentStep("lie"), AgentStep("note", 3), ModelCall("chat", cost_nano=0.5), "text"],  # type: ignore[arg-type]
)
def test_what_is_no_trace_is_refused(wrong: Any) -> None:
    trace = Trace((), (wrong,)) if isinstance(wrong, ModelCall) else Trace((wrong,))
    with pytest.raises(msgspec.ValidationError):
        trace.bounded()


def test_a_reply_carries_the_bounded_way_to_it() -> None:
    settings = PlayerSettings(model="house:0.5")
    runtime = PlayerRuntime(settings, HouseClient(settings), price_of(settings, date(2026, 1, 1)))
    way = Trace((AgentStep("thought", detail="x" * 5_000),))
    assert priced(runtime, Answer("said", 1.0, trace=way)).trace == way.bounded()
    assert priced(runtime, Answer("said", 1.0)).trace is None
