"""Settings that say what answers, those of agents over the Agent Client Protocol (`acp`) among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from peerage.game.section import SettingsSection
from peerage.sandbox.folder import checked_path
from peerage.settings.players.limits import Words
from peerage.settings.players.model_names import PROVIDERS, without_credentials, words_of

USUAL: Mapping[str, float] = {"timeout_s": 600.0, "concurrency": 8}
"""Seconds that an agent over ACP has for a request, and agents of a player that live at a time, if not
stated."""

_OWN = ("acp", "allow", "mcp", "network", "env", "files", "request_budget", "request_tokens")
_OF_THE_GATEWAY = (
    *("base_url", "request_budget", "request_tokens", "temperature", "top_p", "max_tokens"),
    *("reasoning_effort", "service_tier", "upstreams", "extra_body"),
)
"""Settings of the model behind an agent, which its gateway puts into each of its requests."""
_AGENTS_OWN = ("thinking_tokens", "structured", "host", "gpu_hour_price")
"""Settings of a model's requests, which an agent writes itself."""


def _checked_variables(variables: dict[str, str]) -> dict[str, str]:
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"{name!r} cannot be a variable; write `NAME: value`")
    return variables


def _checked_files(files: dict[str, str]) -> dict[str, str]:
    for path in files:
        checked_path(path)
    return files


Variables: TypeAlias = Annotated[dict[str, str], AfterValidator(_checked_variables)]
Files: TypeAlias = Annotated[dict[str, str], AfterValidator(_checked_files)]


class McpServer(SettingsSection):
    """An MCP server that an agent is given: a program that the agent starts, or an address."""

    name: str = Field(min_length=1, max_length=80, description="Name under which the agent knows it.")
    command: str = Field("", description="Program that the agent starts, in its own jail.")
    args: Words = Field((), description="Arguments of the program; never shown.")
    env: Variables = Field({}, description="Environment variables of the program; never shown.")
    url: str = Field("", description="Address of a server, which needs `network: true`.")
    headers: dict[str, str] = Field({}, description="Headers for the address; never shown.")

    @model_validator(mode="after")
    def _one_kind(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise ValueError(f"{self.name!r} needs a `command` or a `url`, and only one of them")
        if (stray := self.headers if self.command else self.args or self.env) and stray:
            key = "headers" if self.command else "args" if self.args else "env"
            raise ValueError(
                f"{self.name!r} has `{key}`, which a {'command' if self.command else 'url'} does not take"
            )
        return self


class AgentSettings(SettingsSection):
    """The part of a player's settings that says what answers: a model, a program, or an agent over ACP with
    the model behind it."""

    model: str = Field(
        description="What answers: `provider:model` (openai, anthropic, google, groq, xai, huggingface, "
        "openrouter, mistral, ollama), `house:SKILL`, `human:NAME` (a person), `gguf:PATH`, "
        "`command:PROGRAM ARGS`, `http:URL` (or `https:`), `python:module:function`; with `base_url`, any "
        "OpenAI-compatible server. `command` or `acp` can take its place."
    )
    command: Words = Field(
        (),
        description="In place of `model`: a program and its arguments as a list of words, which need no "
        "quoting inside. Only the program is recorded and shown, never its arguments.",
    )
    acp: Words = Field(
        (),
        description="An agent that speaks the Agent Client Protocol: its program and arguments as a list of "
        "words. `model` is then the model behind it, which it reaches through a gateway that counts and "
        "bounds what it costs; without `model` the agent brings its own. Only the program is shown.",
    )
    allow: tuple[Literal["read", "edit", "run", "fetch"], ...] = Field(
        ("read", "edit", "run"),
        description="With `acp`: the uses of tools that are granted when the agent asks.",
    )
    mcp: tuple[McpServer, ...] = Field((), description="With `acp`: MCP servers that the agent is given.")
    network: bool = Field(
        False, description="With `acp`: whether the agent reaches the network, not only its model."
    )
    env: Variables = Field(
        {},
        description="With `acp`: environment variables, for an agent that Peerage does not know; the places "
        "`{url}`, `{key}`, `{model}` and `{home}` are filled in. Only names are recorded.",
    )
    files: Files = Field(
        {},
        description="With `acp`: files below the agent's home by path, with the same places as `env`. Only "
        "paths are recorded.",
    )
    request_budget: float = Field(
        0.50, gt=0, le=10_000, description="With `acp`: dollars that one request to it may cost at most."
    )
    request_tokens: int = Field(
        500_000,
        ge=1,
        le=1_000_000_000,
        description="With `acp`: tokens, in and out, that one request may take at most.",
    )

    def _check_agent(self) -> None:
        """Raise ValueError where `acp` and another setting contradict."""
        stated = self.model_fields_set
        if not self.acp:
            if stray := [name for name in _OWN if name in stated]:
                raise ValueError(
                    f"`{stray[0]}` is for agents over ACP; state the agent's program, such as "
                    f"`acp: [opencode, acp]`, or take `{stray[0]}` away"
                )
            if self.provider == "acp":
                raise ValueError(f"{self.model!r} does not say how it is run; write `acp: [opencode, acp]`")
            return
        if self.command:
            raise ValueError("found both `acp` and `command`; state one of them")
        own_model = self.provider == "acp"
        if own_model and self.model != f"acp:{self.acp[0]}":
            raise ValueError(f"{self.model!r} names another program than `acp`; take `model` away")
        if not own_model and self.provider not in PROVIDERS:
            raise ValueError(
                f"{self.public_model!r} is no model of a provider ({', '.join(PROVIDERS)}), which an agent "
                "needs; for a server of your own write `openai:MODEL` and its `base_url`"
            )
        senseless = (*_AGENTS_OWN, *(_OF_THE_GATEWAY if own_model else ()))
        if stray := [name for name in senseless if name in stated]:
            key = "provider" if stray[0] == "upstreams" else stray[0]
            why = "needs a `model`" if stray[0] not in _AGENTS_OWN else "is the agent's own matter"
            raise ValueError(f"with `acp`, `{key}` {why}; take `{key}` away")
        if (urls := [server.name for server in self.mcp if server.url]) and not self.network:
            raise ValueError(
                f"mcp: {urls[0]!r} is an address, and the agent has no network; add `network: true`"
            )
        if len({server.name for server in self.mcp}) < len(self.mcp):
            raise ValueError("mcp: two servers have the same name; give each its own")

    @property
    def words(self) -> tuple[str, ...]:
        """The program and the arguments of a `command:` player, as it is run."""
        return self.command or words_of(self.model.partition(":")[2])

    @property
    def provider(self) -> str:
        """The prefix of `model`."""
        return self.model.partition(":")[0]

    @property
    def public_model(self) -> str:
        """`model` as it may be shown and recorded: a command without its arguments, an address without
        credentials and query."""
        if self.provider in ("http", "https"):
            return without_credentials(self.model)
        if self.provider == "command":
            return f"command:{self.words[0]}"
        return self.model

    @property
    def shown_agent(self) -> Mapping[str, list[str]]:
        """Return of an agent over ACP what may be shown and recorded: no arguments, and of variables, headers
        and files only the names."""
        if not self.acp:
            return {}
        named = {
            "acp": [self.acp[0]],
            "mcp": [f"{each.name}: {each.command or without_credentials(each.url)}" for each in self.mcp],
            "env": sorted(self.env),
            "files": sorted(self.files),
        }
        return {key: value for key, value in named.items() if value}
