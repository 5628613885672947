"""The Agent Client Protocol as Peerage speaks it: what an agent is sent, and its updates as steps. Pure.

JSON-RPC 2.0, one object a line, version 1 of the protocol. An agent reads and writes files and runs commands
by itself (`fs` and `terminal` are declared false); it may ask before it does, and the player's settings
answer. What an agent writes is hostile: it is read as far as it makes sense, all else is noted, and all that
is kept is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from peerage.game.protocol import Speaker
from peerage.game.work import MOST_DETAIL, MOST_STEPS, AgentStep, StepKind
from peerage.players.client import MAX_TEXT
from peerage.players.media import KINDS, Sent, divided
from peerage.settings.players.agents import McpServer
from peerage.values.texts import storable
from peerage.version import __version__

INITIALIZE = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    "clientInfo": {"name": "peerage", "title": "Peerage", "version": __version__},
}
_USES = {
    **dict.fromkeys(("read", "search", "think"), "read"),
    **dict.fromkeys(("edit", "delete", "move"), "edit"),
    "execute": "run",
    "fetch": "fetch",
}
"""The use of tools (`allow`) that each kind of tool call is."""
_FIRST = MOST_STEPS // 2
"""Steps that are kept from the first on, where not all are."""
_DETAILS = ("rawInput", "content", "rawOutput")
_BLANK = dict.fromkeys(("title", "kind", "status", *_DETAILS), "")


class Ending(NamedTuple):
    """The meaning of a stop reason; `note` says what is odd about it."""

    truncated: bool = False
    refused: bool = False
    note: str = ""


def ending(reason: object) -> Ending:
    """Return what a stop reason means; one that is not known is noted."""
    match reason:
        case "end_turn":
            return Ending()
        case "max_tokens" | "max_turn_requests":
            return Ending(truncated=True)
        case "refusal":
            return Ending(refused=True)
        case "cancelled":
            return Ending(note="the agent cancelled its work")
    return Ending(note=f"the agent ended for a reason that is not known: {str(reason)[:40]!r}")


class AgentTurn:
    """An agent's way to one reply: its steps, and what it wrote after its last tool call. `thought` holds
    once it showed that its model thinks.

    `allow` are the uses of tools that are granted; once it is `over`, nothing is.
    """

    def __init__(self, allow: Collection[str]) -> None:
        self.over = self.thought = False
        self._allow = allow
        self._steps: list[AgentStep | dict[str, str]] = []
        self._left_out = 0
        self._tools: dict[str, dict[str, str]] = {}
        self._noted: set[str] = set()
        self._text: list[str] = []
        self._thinking: list[str] = []

    @property
    def text(self) -> str:
        """Return the text that the agent wrote after its last tool call."""
        return storable("".join(self._text)[: MAX_TEXT + 1])

    def note(self, what: str) -> None:
        """Put down something odd, once."""
        if what not in self._noted and len(self._noted) < MOST_STEPS:
            self._noted.add(what)
            self._add("note", what)

    def update(self, update: object) -> None:
        """Take an update of the session."""
        stated = _object(update)
        match name := stated.get("sessionUpdate"):
            case "agent_message_chunk":
                self._end_thought()
                self._text.append(self._text_of(stated.get("content")))
            case "agent_thought_chunk":
                self.thought = True
                self._thinking.append(self._text_of(stated.get("content")))
            case "tool_call" | "tool_call_update":
                self._tool(stated)
            case "plan":
                entries = [_object(entry) for entry in _list(stated.get("entries"))]
                self._end_thought()
                lines = [f"[{entry.get('status', '')}] {entry.get('content', '')}" for entry in entries]
                self._add("plan", detail="\n".join(lines))
            case _:
                self.note(f"update: {name}"[:80])

    def permission(self, stated: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request for permission: once, or not; never for good."""
        tool = self._tool(_object(stated.get("toolCall")))
        use = _USES.get(tool["kind"], "")
        options = [_object(option) for option in _list(stated.get("options"))]
        by_kind = {str(option.get("kind")): option.get("optionId") for option in options}
        chosen = by_kind.get("allow_once") if use in self._allow and not self.over else None
        self._add("permission", tool["title"], use or tool["kind"], "allowed" if chosen else "refused")
        if not chosen and not self.over:
            chosen = by_kind.get("reject_once", by_kind.get("reject_always"))
        return {
            "outcome": {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}
        }

    def steps(self) -> tuple[AgentStep, ...]:
        """Return the steps in order; of very many the first and the last."""
        self._end_thought()
        steps = [step if isinstance(step, AgentStep) else _tool_step(step) for step in self._steps]
        if self._left_out:
            steps.insert(_FIRST, AgentStep("note", f"{self._left_out:,} steps are left out here"))
        return tuple(steps)

    def close_text(self) -> None:
        """Make a step of what was written last: more than text follows."""
        self._end_thought()
        if text := self.text.strip():
            self._add("text", detail=text)
        self._text.clear()

    def _text_of(self, block: object) -> str:
        stated = _object(block)
        if stated.get("type") == "text" and isinstance(text := stated.get("text"), str):
            return text
        self.note(f"content that is no text: {stated.get('type')}"[:80])
        return ""

    def _end_thought(self) -> None:
        if thought := "".join(self._thinking).strip():
            self._add("thought", detail=thought)
        self._thinking.clear()

    def _tool(self, stated: dict[str, Any]) -> dict[str, str]:
        """Merge what is stated of a tool call, by its id, into its step."""
        name = str(stated.get("toolCallId"))[:200]
        tool = self._tools.get(name)
        if tool is None:
            self.close_text()
            tool = self._tools[name] = {"id": name, **_BLANK}
            self._keep(tool)
        for key in ("title", "kind", "status", "rawInput", "rawOutput"):
            if (value := stated.get(key)) is not None:
                tool[key] = _short(value if isinstance(value, str) else json.dumps(value))
        if parts := [self._content(_object(part)) for part in _list(stated.get("content"))]:
            tool["content"] = _short("\n".join(filter(None, parts)))
        return tool

    def _content(self, part: dict[str, Any]) -> str:
        match part.get("type"):
            case "diff":
                return f"{part.get('path')}:\n{part.get('newText')}"
            case "content":
                return self._text_of(part.get("content"))
        return ""

    def _add(self, kind: StepKind, title: str = "", detail: str = "", status: str = "") -> None:
        self._keep(AgentStep(kind, _short(title), _short(detail), _short(status)))

    def _keep(self, step: AgentStep | dict[str, str]) -> None:
        self._steps.append(step)
        if len(self._steps) >= MOST_STEPS:
            gone = self._steps.pop(_FIRST)
            self._left_out += 1
            if isinstance(gone, dict):
                del self._tools[gone["id"]]


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value[:200] if isinstance(value, list) else []


def _short(text: str) -> str:
    return storable(text if len(text) <= MOST_DETAIL else f"{text[: MOST_DETAIL - 1]}…")


def _tool_step(tool: dict[str, str]) -> AgentStep:
    # What a tool put out is often stated twice, as content for people and as it came.
    detail = "\n".join(dict.fromkeys(filter(None, [tool[part] for part in _DETAILS])))
    return AgentStep("tool", tool["title"] or tool["kind"], _short(detail), tool["status"])


def asked(messages: Sequence[tuple[Speaker, str]], known: str | None) -> tuple[str, str]:
    """Return the text of a request, and the system text that goes with it.

    `known` is the system text that a running agent was sent; None is for a new one, which gets the turns of
    earlier requests too.
    """
    system = "\n\n".join([text for speaker, text in messages if speaker == "system"])
    turns = [turn for turn in messages if turn[0] != "system"]
    replies = [at for at, (speaker, _) in enumerate(turns) if speaker == "assistant"]
    new = replies[-1] + 1 if replies else 0
    parts = [] if system == known else [system]
    if known is None and new:
        heads = {"assistant": "You replied:", "user": "You were asked:"}
        parts += [f"{heads[speaker]}\n{text}" for speaker, text in turns[:new]]
        parts.append("You are asked now:")
    parts += [text for _, text in turns[new:]]
    return "\n\n".join(filter(None, parts)), system


def prompt_blocks(
    text: str, media: Mapping[str, bytes], capabilities: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a request as blocks of text, pictures and sounds. Raises PlayerError for one that the agent, by
    its `capabilities` of prompts, does not take."""
    takes = [kind for kind in KINDS if capabilities.get(kind) is True]
    return [
        {"type": part.media.kind, "mimeType": part.media.type, "data": part.base64}
        if isinstance(part, Sent)
        else {"type": "text", "text": part}
        for part in divided(text, media, takes)
    ]


def server_entry(server: McpServer, words: Sequence[str]) -> dict[str, Any]:
    """Return an MCP server as `session/new` has it; `words` are its program and arguments."""
    if server.url:
        return {"type": "http", "name": server.name, "url": server.url, "headers": _pairs(server.headers)}
    env = _pairs(server.env)
    return {"name": server.name, "command": words[0], "args": words[1:], "env": env}


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
