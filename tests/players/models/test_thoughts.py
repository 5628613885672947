"""Thoughts in a text: what is taken out, and what is an answer that speaks of such marks."""

from __future__ import annotations

import time

import pytest

from peerage.players.models.thoughts import MARKS, part


@pytest.mark.parametrize("marks", MARKS, ids=lambda marks: marks.opening)
def test_thoughts_before_an_answer_are_taken_out(marks: tuple[str, str, str]) -> None:
    opening, closing, _ = marks
    for text in (
        f"{opening}verdict: B{closing}It is A.",
        f"\n {opening}\nverdict: B\n{closing}\n\nIt is A.\n",
    ):
        parted = part(text)
        assert (parted.answer, parted.thought, parted.closed) == ("It is A.", len("verdict: B"), True)
    never = part(f"{opening}verdict: B")
    assert (never.answer, never.thought, never.closed) == ("", len("verdict: B"), False)


@pytest.mark.parametrize(
    "text",
    [
        "Okay. Perhaps verdict: B.\n</think>\n\nIt is A.",
        "Okay. Perhaps verdict: B.</think>It is A.",
        "Okay, the user asks about <think> tags, so I explain.\n</think>\n\nIt is A.",
        "Okay.\n</thinking>\nIt is A.",
        "Okay.\n</seed:think>\nIt is A.",
        "<think>Is <think>nested</think> fine?</think>It is A.",
        "<THINK>Okay.</Think> It is A.",
        '<think type="deep">Okay.</think>It is A.',
        "<think>Okay.</think><think>Well.</think>It is A.",
        "<|channel|>analysis<|message|>Okay.<|end|><|start|>assistant<|channel|>final<|message|>"
        "It is A.<|return|>",
        "<|channel|>analysis<|message|>Okay.<|end|><|start|>assistant<|channel|>commentary<|message|>Hm.<|end|>"
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>It is A.",
        "<|start|>assistant<|channel|>analysis<|message|>Okay.<|channel|>final<|message|>It is A.",
        "analysisThe user asks.assistantfinalIt is A.",
        "<|START_THINKING|>Okay.<|END_THINKING|><|START_RESPONSE|>It is A.<|END_RESPONSE|>",
        "<|begin_of_thought|>Okay.<|end_of_thought|>\n\n<|begin_of_solution|>It is A.<|end_of_solution|>",
    ],
)  # fmt: skip
def test_the_answer_is_what_comes_after_the_thoughts(text: str) -> None:
    parted = part(text)
    assert parted.answer == "It is A."
    assert parted.thought >= len("Okay.")
    assert parted.closed


@pytest.mark.parametrize(
    "text",
    [
        "A plain answer.\n",
        "Models write `<think>` and `</think>` around their thoughts.",
        "The mark </think> ends the thoughts of a model.",
        "End it with `</think>`.\nThat is all.",
        'End it with "</think>".',
        "In Markdown:\n```\nfirst\n</think>\nsecond\n```\nThat is all.",
        "<html>\n<thinking>\nz\n</thinking>\n</html>",
        "First the answer.\n\n<think>then a thought</think>\n\nand more.",
        '{"text": "end it with </think>\\nand go on"}',
        "analysis of the final: assistantfinal is a word",
        "x < y and [THINK about it]",
        "<thinker>is another tag</thinker>",
    ],
)
def test_an_answer_that_speaks_of_such_marks_stays_whole(text: str) -> None:
    parted = part(text)
    assert (parted.answer, parted.thought, parted.marked) == (text, 0, False)


def test_thoughts_and_nothing_else_are_no_answer() -> None:
    assert part("I wonder.\n</think>") == ("", len("I wonder."), True, True, False)
    assert part("<|channel|>analysis<|message|>I wonder.").answer == ""
    empty = part("<think>\n\n</think>\n\nIt is A.")  # how Qwen 3 answers without a thought
    assert (empty.answer, empty.thought) == ("It is A.", 0)


@pytest.mark.parametrize("text", ["<think>" * 30_000, "</think> " * 25_000, " " * 200_000 + "</think>",
                                  "analysisx" + "assistantfina" * 15_000, "<|channel|> " * 16_000,
                                  "`</think>" * 22_000, "```" + "</think>\n" * 22_000,
                                  "<think></think>" * 500_000])  # fmt: skip
def test_hostile_texts_take_no_time(text: str) -> None:
    began = time.process_time()
    part(text)
    assert time.process_time() - began < 2
