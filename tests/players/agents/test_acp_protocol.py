"""Messages of an agent over ACP as they are read (steps, permissions, ends), and those it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.game.work import MOST_DETAIL, MOST_STEPS, AgentStep, Trace
from peerage.players.agents.acp_protocol import AgentTurn, asked, ending, server_entry
from peerage.players.client import MAX_TEXT
from peerage.settings.players.agents import McpServer


def text(words: str, kind: str = "agent_message_chunk") -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": words}}


def tool(name: str = "1", update: str = "tool_call", **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": update, "toolCallId": name, **more}


def read(*updates: Any) -> AgentTurn:
    turn = AgentTurn(["read", "edit", "run"])
    for update in updates:
        turn.update(update)
    return turn


def test_the_reply_is_what_was_written_after_the_last_tool_call() -> None:
    turn = read(
        text("Let me "),
        text("look."),
        tool(title="look", kind="read", rawInput={"path": "a.py"}),
        text("hm", "agent_thought_chunk"),
        text(" hm", "agent_thought_chunk"),
        tool(update="tool_call_update", status="completed", rawOutput="x = 1"),
        text("It is "),
        text("1."),
    )
    assert turn.text == "It is 1."
    assert turn.thought
    assert turn.steps() == (
        AgentStep("text", detail="Let me look."),
        AgentStep("tool", "look", '{"path": "a.py"}\nx = 1', "completed"),
        AgentStep("thought", detail="hm hm"),
    )


def test_updates_of_a_tool_call_are_one_step_whatever_comes_between() -> None:
    turn = read(
        tool("a", title="edit a", status="pending"),
        tool("b", title="run b", status="pending"),
        tool("a", "tool_call_update", status="in_progress"),
        tool("a", "tool_call_update", status="completed", title="edited a", content=[
            {"type": "diff", "path": "/w/a", "oldText": None, "newText": "new"},
            {"type": "content", "content": {"type": "text", "text": "fine"}},
        ]),
        tool("b", "tool_call_update", status="failed"),
    )  # fmt: skip
    assert turn.steps() == (
        AgentStep("tool", "edited a", "/w/a:\nnew\nfine", "completed"),
        AgentStep("tool", "run b", "", "failed"),
    )


def test_plans_other_updates_and_other_content_are_on_record_by_name() -> None:
    turn = read(
        {"sessionUpdate": "plan", "entries": [{"content": "fix it", "status": "pending"}, 5]},
        {"sessionUpdate": "usage_update", "used": 5},
        {"sessionUpdate": "usage_update", "used": 6},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "…"}},
        {"sessionUpdate": "agent_message_chunk"},
        {},
        "nonsense",
    )
    assert turn.steps() == (
        AgentStep("plan", detail="[pending] fix it\n[] "),
        AgentStep("note", "update: usage_update"),
        AgentStep("note", "content that is no text: image"),
        AgentStep("note", "content that is no text: None"),
        AgentStep("note", "update: None"),
    )
    assert turn.text == ""


def test_whatever_an_agent_writes_little_is_kept() -> None:
    turn = read(*[text("x" * 100_000)] * 30, *[tool(str(at), title="t" * 9_000) for at in range(5_000)])
    assert len(turn.steps()) <= MOST_STEPS
    assert all(len(step.title) <= MOST_DETAIL for step in turn.steps())
    turn = read(*[text("x" * 100_000)] * 30)
    assert len(turn.text) == MAX_TEXT + 1
    turn = read(*[text("x" * 3_000, "agent_thought_chunk")] * 30, text("\ud800\0"))
    assert [len(step.detail) for step in turn.steps()] == [MOST_DETAIL]
    assert turn.text == "\ufffd\ufffd"


def test_of_very_many_steps_the_first_and_the_last_are_kept_and_the_others_counted() -> None:
    many = [tool(str(at), title=f"step {at}", status="pending") for at in range(1_000)]
    turn = read(*many, tool("999", "tool_call_update", status="completed"), tool("500", status="late"))
    kept = turn.steps()
    half = MOST_STEPS // 2
    assert [step.title for step in kept[:half]] == [f"step {at}" for at in range(half)]
    assert kept[half] == AgentStep("note", f"{1_001 - MOST_STEPS + 1:,} steps are left out here")
    assert kept[-2] == AgentStep("tool", "step 999", "", "completed")
    assert kept[-1].status == "late", "one that is forgotten begins anew"
    assert Trace(kept).bounded().steps == kept


ALL = {"allow_once": "1", "allow_always": "2", "reject_once": "3", "reject_always": "4"}


@pytest.mark.parametrize(
    ("kind", "allow", "options", "chosen"),
    [
        *[(kind, ["read"], ALL, "1") for kind in ("read", "search", "think")],
        *[(kind, ["edit"], ALL, "1") for kind in ("edit", "delete", "move")],
        ("execute", ["run"], ALL, "1"),
        ("fetch", ["fetch"], ALL, "1"),
        ("execute", ["read", "edit", "fetch"], ALL, "3"),
        ("fetch", ["read", "edit", "run"], ALL, "3"),
        *[
            (kind, ["read", "edit", "run", "fetch"], ALL, "3")
            for kind in ("other", "switch_mode", "new", None)
        ],
        ("read", ["read"], {"allow_always": "2", "reject_once": "3"}, "3"),
        ("read", [], {"allow_once": "1", "reject_always": "4"}, "4"),
        ("read", [], {"allow_once": "1"}, None),
        ("read", ["read"], {"allow_always": "2"}, None),
    ],
)
def test_a_permission_is_given_once_or_not_at_all(
    kind: str | None, allow: list[str], options: dict[str, str], chosen: str | None
) -> None:
    turn = AgentTurn(allow)
    offered = [{"optionId": each, "name": name, "kind": name} for name, each in options.items()]
    outcome = turn.permission(
        {"toolCall": {"toolCallId": "1", "title": "it", "kind": kind}, "options": offered}
    )
    due = {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}
    assert outcome == {"outcome": due}
    (step,) = [step for step in turn.steps() if step.kind == "permission"]
    assert (step.title, step.status) == ("it", "allowed" if chosen == "1" else "refused")


def test_a_permission_takes_the_kind_that_its_tool_call_had_and_nothing_once_it_is_over() -> None:
    turn = read(tool("1", title="rm", kind="execute"))
    request = {"toolCall": {"toolCallId": "1"}, "options": [{"optionId": "y", "kind": "allow_once"}, None]}
    assert turn.permission(request)["outcome"]["optionId"] == "y"
    turn.over = True
    assert turn.permission(request) == {"outcome": {"outcome": "cancelled"}}
    for broken in ({}, {"toolCall": 5, "options": 7}):
        assert turn.permission(broken) == {"outcome": {"outcome": "cancelled"}}


WORDS = st.sampled_from(
    [
        *("sessionUpdate", "agent_message_chunk", "tool_call", "toolCallId", "plan", "entries", "content"),
        *("type", "text", "diff", "title", "rawInput", "toolCall", "kind", "edit", "options", "optionId"),
        *("allow_once",),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=20,
)


@settings(max_examples=50)
@given(st.lists(st.dictionaries(WORDS, JSON, max_size=6) | JSON, max_size=8))
def test_nothing_that_an_agent_writes_breaks_the_reader(values: list[Any]) -> None:
    turn = AgentTurn(["edit"])
    for value in values:
        turn.update(value)
        if isinstance(value, dict):
            assert turn.permission(value)["outcome"]["outcome"] in ("selected", "cancelled")
    assert Trace(turn.steps()).bounded().steps is not None
    assert isinstance(turn.text, str)


def test_reasons_to_end_are_never_a_success_unless_they_are_one() -> None:
    assert ending("end_turn") == (False, False, "")
    assert ending("max_tokens") == ending("max_turn_requests") == (True, False, "")
    assert ending("refusal") == (False, True, "")
    assert ending("cancelled") == (False, False, "the agent cancelled its work")
    for odd in (None, "done", 5):
        assert ending(odd).note == f"the agent ended for a reason that is not known: {str(odd)!r}"


def test_a_new_agent_is_sent_what_was_asked_and_replied_and_a_running_one_only_what_is_new() -> None:
    messages = [("system", "Be brief."), ("user", "One?"), ("assistant", "1"), ("user", "Two?")]
    whole = "Be brief.\n\nYou were asked:\nOne?\n\nYou replied:\n1\n\nYou are asked now:\n\nTwo?"
    assert asked(messages, None) == (whole, "Be brief.")  # type: ignore[arg-type]
    assert asked(messages, "Be brief.") == ("Two?", "Be brief.")  # type: ignore[arg-type]
    assert asked(messages, "Be long.") == ("Be brief.\n\nTwo?", "Be brief.")  # type: ignore[arg-type]
    assert asked([("user", "One?")], None) == ("One?", "")


def test_servers_are_stated_as_the_protocol_has_them() -> None:
    local = McpServer(name="a", command="tool", args=("-x",), env={"K": "v"})
    assert server_entry(local, ["/bin/tool", "-x"]) == {
        "name": "a", "command": "/bin/tool", "args": ["-x"], "env": [{"name": "K", "value": "v"}]
    }  # fmt: skip
    assert server_entry(McpServer(name="b", url="https://h", headers={"H": "v"}), []) == {
        "type": "http", "name": "b", "url": "https://h", "headers": [{"name": "H", "value": "v"}]
    }  # fmt: skip
