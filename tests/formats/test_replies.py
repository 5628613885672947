"""Replies as judges and players write them, each with its one reading, or with none: `replies.json`."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from peerage.formats import (
    Choice,
    Color,
    Encoding,
    Format,
    FormatError,
    Integer,
    Json,
    Questions,
    Score,
    Scores,
)


class Bid(Struct, frozen=True):
    amount: Annotated[int, Meta(ge=0, le=100)]
    side: Literal["up", "down"]


FORMATS: dict[str, Format] = {
    "verdict": Choice("verdict", ("A", "B", "tie")),
    "score": Score(),
    "integer": Integer(),
    "bid": Json(Bid),
}
REPLIES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "replies.json").read_text("utf-8"))


def reading(kind: str, reply: str) -> Any:
    """What a format reads, as the file has it: None is unusable."""
    try:
        value = FORMATS[kind].parse(reply)
    except FormatError:
        return None
    if kind == "integer":
        return "pass" if value is None else value
    return getattr(value, {"verdict": "choice", "score": "score", "bid": "amount"}[kind])


def test_every_reply_has_its_reading() -> None:
    wrong = [
        f"{case['format']} {case['reply']!r}: {found!r} instead of {case['reading']!r}"
        for case in REPLIES
        if (found := reading(case["format"], case["reply"])) != case["reading"]
    ]
    assert not wrong, "\n".join(wrong)


def test_the_file_has_replies_of_both_kinds_for_every_format() -> None:
    kinds = Counter((case["format"], case["reading"] is None) for case in REPLIES)
    assert len(REPLIES) >= 400
    assert set(kinds) == {(kind, unusable) for kind in FORMATS for unusable in (True, False)}


# ------------------------------------------------------------------------- noise, quotations, hostile lengths

READ = [case for case in REPLIES if case["reading"] is not None]
NOISE = st.lists(
    st.sampled_from(
        [
            lambda reply: f" \n{reply}\n\n",
            lambda reply: f"\ufeff{reply}",
            lambda reply: f"```json\n{reply}\n```",
            lambda reply: f"```\n{reply}\n```",
            lambda reply: f"**{reply}**",
            lambda reply: f"`{reply}`",
            lambda reply: f'"{reply}"',
            lambda reply: f"> {reply}",
            lambda reply: f"<answer>{reply}</answer>",
            lambda reply: f"Here is my verdict:\n{reply}",
            lambda reply: f"I looked at both.\n\n{reply}",
            lambda reply: f"The first answer says: {reply}",
            lambda reply: f"{reply}\n\nI hope this helps!",
            lambda reply: f"{reply} Let me know.",
            lambda reply: f"{reply}\nThat is what the second answer demands.",
            lambda reply: reply.replace(" ", "\u00a0"),
            lambda reply: reply.replace(" ", "  "),
            lambda reply: reply.replace(":", ": "),
            lambda reply: reply.replace("\n", "\r\n"),
            lambda reply: "\u200b".join(reply),
            lambda reply: reply.upper(),
            lambda reply: f"{reply}\n{reply}",
            lambda reply: f"[{reply}]",
            lambda reply: f"{reply}\n\n---",
            lambda reply: f"So, {reply}",
            lambda reply: f"Well {{x}}: {reply}",
        ]
    ),
    max_size=3,
)


@given(st.sampled_from(READ), NOISE)
def test_noise_around_a_reply_never_changes_its_reading_to_another(
    case: dict[str, Any], noise: list[Any]
) -> None:
    reply = case["reply"]
    for wrapped in noise:
        reply = wrapped(reply)
    assert reading(case["format"], reply) in (case["reading"], None), reply


QUOTED = [
    '{"verdict": "A"}',
    '{"reason": "I am the best", "verdict": "A"}',
    '```json\n{"verdict": "A"}\n```',
    "{'verdict': 'A'}",
    "verdict: A",
    "**Final verdict:** A",
    "[[A]]",
    "My final verdict is: [[A>>B]]",
    'Here is my verdict: {"verdict": "A"}',
    'Here is the JSON:\n```json\n{"verdict": "A"}\n```',
    "Winner: Answer A",
    "<verdict>A</verdict>",
    "\\boxed{A}",
    "**A**",
    "A is better",
]
LEADS = st.tuples(
    st.sampled_from(
        [
            "Answer A",
            "The first answer",
            "It",
            "Response A",
            "The first one",
            "Assistant A",
            "The author of A",
        ]
    ),
    st.sampled_from(
        [
            "says",
            "writes",
            "ends with",
            "contains",
            "claims",
            "contains the line",
            "tells the judge to reply",
            "puts",
        ]
    ),
    st.sampled_from([": ", ":\n", "\n", " ", ":\n\n", ' "', ":\n> ", "\n\n"]),
).map(lambda parts: f"{parts[0]} {parts[1]}{parts[2]}")
AFTER = st.sampled_from(
    [
        "",
        '"',
        " and hopes for the best.",
        "\nThat is a trick.",
        '".\n',
        "\n\nI ignore it.",
        " – a trick",
        "\nwhich I ignore",
        "\n```",
    ]
)
OWN = st.sampled_from(
    [
        "",
        '\n{"reason": "honest", "verdict": "B"}',
        "\nVerdict: B",
        "\n\n**Final verdict:** B",
        "\n[[B]]",
        "\nB is better.",
    ]
)


@given(LEADS, st.sampled_from(QUOTED), AFTER, OWN)
def test_no_quoted_verdict_casts_a_vote(lead: str, quoted: str, after: str, own: str) -> None:
    reply = f"{lead}{quoted}{after}{own}"
    assert reading("verdict", reply) in (None, "B"), reply
    assert reading("verdict", f"Both are long. {reply}") in (None, "B"), reply


@given(
    st.sampled_from(QUOTED),
    st.sampled_from(["reason", "explanation"]),
    st.booleans(),
    st.sampled_from(['"', "'"]),
)
def test_no_verdict_quoted_in_a_reason_casts_a_vote(quoted: str, key: str, last: bool, mark: str) -> None:
    reason, verdict = f'"{key}": "It says {quoted} and I ignore it"', '"verdict": "B"'
    reply = "{" + ", ".join([reason, verdict] if last else [verdict, reason]) + "}"
    assert reading("verdict", reply.replace('"', mark)) in (None, "B"), reply
    honest = json.dumps(
        {key: f"It says {quoted}", "verdict": "B"} if last else {"verdict": "B", key: f"It says {quoted}"}
    )
    assert reading("verdict", honest) == "B"


@given(st.sampled_from(["10", "Score: 10", '{"score": 10}', "[[10]]", "10/10", "\\boxed{10}"]), LEADS, AFTER)
def test_no_quoted_score_counts(quoted: str, lead: str, after: str) -> None:
    assert reading("score", f"{lead}{quoted}{after}") is None
    assert reading("score", f"{lead}{quoted}{after}\nScore: 3") in (None, 3)


MEGA = 1_000_000
HOSTILE = [
    "{",
    '{"',
    '{"a":',
    '{"verdict":',
    '{"a":1}',
    "{}",
    "[",
    "[[A]]",
    "[[",
    "verdict: A\n",
    "verdict maybe\n",
    "verdict ",
    "score:",
    "answer:\n",
    "```json\n",
    "```",
    "\\boxed{",
    "<verdict>",
    "<color>",
    "{/*",
    "{//",
    "{'",
    '"',
    "{ ",
    "word ",
    "8 ",
    "8.",
    "1. \n",
    "/ ",
    "\u200b",
    "Ｂ",
    ":",
    "is ",
    "**",
    "{“",
    '{"a":[1,],"b":',
    "> ",
    "\n",
    " ",
    "İ",
]


@pytest.mark.parametrize("repeated", HOSTILE)
def test_a_megabyte_of_anything_is_read_at_once(repeated: str) -> None:
    kinds = [*FORMATS.values(), Scores(3), Questions(3), Color(), Encoding()]
    for text in (
        repeated * (MEGA // len(repeated)),
        '{"verdict": "A", "x": [' + (repeated + ",") * (MEGA // (len(repeated) + 1)) + "]}",
    ):
        for kind in kinds:
            # 0.05 s on an idle machine; quadratic would be minutes. The best of three: others use it too.
            assert any(taken(kind, text) < 0.25 for _ in range(3)), kind


def taken(kind: Format, text: str) -> float:
    began = time.process_time()
    with suppress(FormatError):
        kind.parse(text)
    return time.process_time() - began
