"""Settings of one player: what answers, how it is asked, what it costs."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from peerage.game.section import SettingsSection, Share
from peerage.settings.players.agents import USUAL, AgentSettings
from peerage.settings.players.extra_body import check_keys
from peerage.settings.players.families import family_of
from peerage.settings.players.hours import read_hours
from peerage.settings.players.limits import Dollars, NotNegative, Positive, Tokens
from peerage.settings.players.model_names import (
    FLEX,
    OTHERS,
    PROVIDERS,
    installed,
    is_person,
    known_scheme,
    words_of,
)
from peerage.settings.players.sessions import AGENTS, MEANING, Session
from peerage.values.figures import suggest
from peerage.values.texts import visible

DAY_S = 86_400.0
FLEX_S = 900.0
_OF_A_PERSON = {"model", "name", "version", "family", "timeout_s", "concurrency"}

_HOW = "write `provider:model`, such as `openai:gpt-5-mini`"


class PriceSettings(SettingsSection):
    """Price of a player's tokens, in dollars per million tokens."""

    input: Dollars = Field(description="Dollars per million input tokens.")
    output: Dollars = Field(description="Dollars per million output tokens.")
    cached: Dollars | None = Field(
        None,
        description="Dollars per million input tokens that the provider read from its cache. Default: as "
        "`input`.",
    )

    @model_validator(mode="after")
    def _cheaper(self) -> PriceSettings:
        if self.cached is not None and self.cached > self.input:
            raise ValueError(
                f"`cached` is {self.cached:g}, more than `input` with {self.input:g}, so no budget could be "
                "kept; a cache costs at most as much as other input"
            )
        return self


class Upstreams(SettingsSection):
    """Upstreams by which OpenRouter may serve a player (its own `provider` of a request)."""

    only: tuple[str, ...] = Field((), description="Upstreams that may serve it, such as `deepinfra`.")
    order: tuple[str, ...] = Field((), description="Upstreams in the order in which they are tried.")
    quantizations: tuple[str, ...] = Field(
        (), description="Precisions at which it may be served, such as `fp8`, `bf16`."
    )
    allow_fallbacks: bool | None = Field(
        None, description="`false`: no other upstream than those of `order`. Default: OpenRouter's, true."
    )


class Faults(SettingsSection):
    """Faults of a house player, each a probability per reply (demo, tests and simulation)."""

    slow: Share = Field(0.0, description="Answers twenty times slower.")
    refusing: Share = Field(0.0, description="Declines to answer.")
    malformed: Share = Field(0.0, description="Ignores the asked format, also after the repair.")
    failing: Share = Field(0.0, description="Fails like a provider that is down.")
    position_bias: Share = Field(0.0, description="As a judge, prefers whatever stands first.")
    self_preference: Share = Field(0.0, description="As a judge, prefers answers in its own family's style.")


def _tidied(value: object) -> object:
    """Without spaces around it; and two names that look the same, composed or not, are the same."""
    return unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else value


class PlayerSettings(AgentSettings):
    """One player: what answers, and how it is asked and priced."""

    model_config = ConfigDict(serialize_by_alias=True)

    name: Annotated[str, BeforeValidator(_tidied)] = Field(
        "", max_length=80, description="Unique name in tables. Default: the model's text."
    )
    version: int = Field(
        1,
        ge=1,
        le=9_999,
        description="Raise it when another model, address, prompt or sampling setting answers under the same "
        "name: the new version starts as a newcomer (`NAME v2`) and its page links to the old one.",
    )
    base_url: str = Field("", description="Address of an OpenAI-compatible server (vLLM, llama.cpp).")
    key_env: str = Field(
        "", description="Environment variable that holds the key. Default: the provider's own."
    )
    family: str = Field(
        "",
        description="Players of one family count as related. Default: by the model's own name, "
        "never by the server that it is asked at.",
    )
    architecture: str = Field("", description="Free text kept as metadata.")
    open_weights: bool | None = Field(
        None,
        description="Whether anybody can download its weights; tables on pages filter by it. Default: as "
        "provider and model imply, where they do.",
    )
    system_prompt: str = Field(
        "",
        description="System text of its answers as a contestant: it is put before the game's own, and never "
        "before judging, drafting or the probe. Or `{file: prompt.md}`.",
    )
    template: str = Field(
        "",
        description="In arenas of your own tasks: the text that this player is asked in place of a task's "
        "`prompt`, its places `{{name}}` filled from the task's columns; or `{file: template.md}`.",
    )
    temperature: float | None = Field(
        None, ge=0, le=100, description="Sampling temperature. Default: the provider's."
    )
    top_p: Share | None = Field(None, description="Nucleus sampling. Default: the provider's.")
    max_tokens: Tokens | None = Field(
        None, description="Caps every answer, in addition to the game's own limit. Thinking is not counted."
    )
    thinking_tokens: int | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description="Tokens it may think for each reply, on top of the answer's limit; 0 asks it not to. "
        "Default: by `reasoning_effort`, 8192 for models known to think, else none.",
    )
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = Field(
        None, description="How much a model thinks before it answers. Default: as the provider has it."
    )
    service_tier: Literal["flex"] | None = Field(
        None,
        description="`flex`: slower and at half price where the provider sells that (OpenAI, Google). While "
        "it has no capacity, matches wait. Default: the provider's usual tier.",
    )
    upstreams: Upstreams | None = Field(
        None,
        alias="provider",
        description="Of an `openrouter:` player: which upstreams may serve it. The one that did is on record "
        "with each reply.",
    )
    extra_body: dict[str, Any] = Field(
        {},
        description="More keys for the body of each of its requests, as its provider takes them; none that "
        "Peerage sets itself. They are on record for all to read: never an API key.",
    )
    takes: tuple[Literal["image", "audio"], ...] | None = Field(
        None,
        description="What it takes beside text: `[image]`, `[audio]`, both or `[]`. Default: found out by a "
        "probe where tasks hold any; agents are taken to take both.",
    )
    session: Session = Field(None, description=MEANING)
    structured: bool = Field(True, description="Use the provider's native structured output where it has it.")
    price: PriceSettings | None = Field(None, description="Overrides the price table.")
    pricing_source: str = Field("", description="Where the stated price comes from; kept on record.")
    gpu_hour_price: Dollars | None = Field(
        None, description="Dollars per GPU hour; costs are then seconds × price, not tokens."
    )
    watts: NotNegative | None = Field(None, description="Power drawn while answering, for cost in kWh.")
    requests_per_minute: Positive | None = Field(None, description="Rate limit, requests.")
    tokens_per_minute: Positive | None = Field(None, description="Rate limit, tokens in and out.")
    concurrency: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Calls in flight to this player at most; below that a run finds out how many its "
        "provider bears. Of a person: matches that may wait for it, 8 if not stated.",
    )
    timeout_s: float = Field(
        120.0,
        gt=0,
        le=30 * DAY_S,
        description="Seconds until a call counts as failed. A person has a day if not stated, counted from "
        "when it is its turn; with `service_tier: flex` it is a quarter of an hour then.",
    )
    host: str = Field("", description="Name of one of `hosts`, which serves it and is paid by the hour.")
    available: str = Field(
        "",
        description="Hours at which it may be asked, such as `22:00-06:00 Europe/Berlin, weekends`: days, "
        "hours or both, commas between stretches, one time zone (UTC where none is named). Outside of them "
        "its matches wait. Default: always.",
    )
    daily_budget: NotNegative | None = Field(
        None,
        description="Dollars that it may cost in a day (UTC) at most; then its matches wait until the next.",
    )
    faults: Faults = Field(default_factory=Faults, description="House players only.")

    @model_validator(mode="before")
    @classmethod
    def _one_line(cls, value: object) -> object:
        """One line is its model; where only a program is stated, that is the model."""
        if isinstance(value, str):
            return {"model": value}
        if isinstance(value, dict) and "model" not in value:
            for kind in ("acp", "command"):
                if words := value.get(kind):
                    program = words[0] if isinstance(words, list | tuple) else words
                    return {"model": f"{kind}:{program}", **value}
        return value

    @field_validator("name", "model")
    @classmethod
    def _printable(cls, value: str) -> str:
        if visible(value) != value or "\n" in value or "\t" in value:
            raise ValueError(f"{visible(value)!r} holds characters that cannot be seen; retype it")
        return value

    @field_validator("available")
    @classmethod
    def _hours(cls, value: str) -> str:
        if value:
            read_hours(value)
        return value

    @field_validator("base_url", "model")
    @classmethod
    def _address(cls, value: str, info: ValidationInfo) -> str:
        if info.field_name == "model" and not value.startswith(("http:", "https:")):
            return value
        try:
            _ = urlsplit(value).port
        except ValueError:  # what it says may hold a password
            raise ValueError(
                "its host or port is none; write an address such as `http://127.0.0.1:8000/v1`"
            ) from None
        return value

    @model_validator(mode="after")
    def _complete(self) -> PlayerSettings:
        scheme, _, rest = self.model.partition(":")
        if not known_scheme(scheme):
            raise ValueError(
                f"no provider is called {scheme!r}{suggest(scheme, (*PROVIDERS, *OTHERS, *installed()))} "
                f"({_HOW}; for a server of your own, `openai:MODEL` with its `base_url`)"
            )
        if not rest.strip():
            raise ValueError(f"{self.model!r} names no model; {_HOW} or `house:0.5`")
        self._check_agent()
        for key, usual in USUAL.items() if self.acp else ():
            if key not in self.model_fields_set:
                object.__setattr__(self, key, usual)
        if self.command and self.model != f"command:{self.command[0]}":
            raise ValueError("found both `model` and `command`; state one of them")
        if self.provider == "command" and not self.command:
            try:
                words = words_of(rest)
            except ValueError:
                raise ValueError(
                    "a quote in `model` is never closed; close it, or give the words as a list: "
                    "`command: [./agent, --option]`"
                ) from None
            if not words[0]:
                raise ValueError(f"{self.model!r} names no program; write `command: [./agent, --option]`")
        if self.provider == "house":
            try:
                skill = float(rest)
            except ValueError:
                skill = -1.0
            if not 0 <= skill <= 1:
                raise ValueError(f"{self.model!r}: a house player's skill is a number from 0 to 1")
        elif self.faults != Faults():
            raise ValueError(f"{self.model!r}: only house players (`house:0.5`) take `faults`")
        if self.session == "own" and not self.remembers:
            raise ValueError(
                f"`session: own` is for agents ({', '.join(AGENTS)}), and {self.public_model!r} remembers "
                "nothing by itself; write `match`, `none` or a number of tokens"
            )
        self._check_thinking()
        self._check_body()
        if self.is_person:
            self._check_person(rest.strip())
        if self.service_tier:
            self._check_tier()
        if self.host:
            self._check_host()
        if self.price is not None and self.gpu_hour_price is not None:
            raise ValueError("state `price` (by token) or `gpu_hour_price` (by time), not both")
        if not self.name:
            agent = f"{self.acp[0]} with " if self.acp and self.provider != "acp" else ""
            object.__setattr__(self, "name", agent + self.public_model)
        if self.version > 1 and not self.name.endswith(f" v{self.version}"):
            object.__setattr__(self, "name", f"{self.name} v{self.version}")
        if not self.family:
            object.__setattr__(self, "family", family_of(self.public_model, self.base_url))
        return self

    def _check_person(self, called: str) -> None:
        if senseless := sorted(self.model_fields_set - _OF_A_PERSON):
            raise ValueError(
                f"{self.model!r} is a person, to whom `{senseless[0]}` says nothing; take it away. A person "
                f"takes {', '.join(sorted(_OF_A_PERSON - {'model'}))}"
            )
        if not self.name:
            object.__setattr__(self, "name", unicodedata.normalize("NFC", called))
        if "timeout_s" not in self.model_fields_set:
            object.__setattr__(self, "timeout_s", DAY_S)

    def _check_body(self) -> None:
        if self.upstreams is not None and self.provider != "openrouter":
            raise ValueError(
                f"`provider` says by which upstreams OpenRouter serves an `openrouter:` player, and this is "
                f"{self.public_model!r}; take it away"
            )
        if not self.extra_body:
            return
        if self.provider not in PROVIDERS and self.provider != "gguf":
            raise ValueError(
                f"`extra_body` is for players that are asked at a provider, not for {self.public_model!r}; "
                "take it away"
            )
        check_keys(self.extra_body)

    @property
    def added(self) -> dict[str, Any]:
        """Return what is added to the body of its requests."""
        if self.upstreams is None:
            return {**self.extra_body}
        return self.extra_body | {"provider": self.upstreams.model_dump(mode="json", exclude_defaults=True)}

    def _check_tier(self) -> None:
        if self.provider not in FLEX and not self.base_url:
            raise ValueError(
                f"`service_tier: flex` is sold by {', '.join(FLEX)}, not by {self.provider!r}; take it away"
            )
        if "timeout_s" not in self.model_fields_set:
            object.__setattr__(self, "timeout_s", FLEX_S)

    def _check_host(self) -> None:
        for key in ("price", "gpu_hour_price"):
            if getattr(self, key) is not None and key in self.model_fields_set:
                raise ValueError(
                    f"found both `host` and `{key}`; a hosted player costs its host's `usd_per_hour`, so "
                    f"take `{key}` away"
                )
        if self.provider != "gguf" and self.provider != "house" and not self.base_url:
            raise ValueError(
                f"{self.model!r} has a `host` and no address; state the `base_url` of the server there, or "
                "let a `gguf:` file be served here"
            )

    def _check_thinking(self) -> None:
        tokens = self.thinking_tokens
        if tokens and self.provider == "house":
            raise ValueError("house players do not think; take `thinking_tokens` away")
        if tokens and self.reasoning_effort == "none":
            raise ValueError(
                f"`reasoning_effort: none` and `thinking_tokens: {tokens}` contradict each other; remove one"
            )
        if tokens is not None and 0 < tokens < 1024 and self.provider == "anthropic":
            raise ValueError(
                f"`thinking_tokens: {tokens}`: Anthropic's models think at least 1024 tokens or not at all; "
                "write 1024 or more, or 0"
            )

    @property
    def remembers(self) -> bool:
        """Return whether it may remember one request when it gets the next."""
        return self.is_person or bool(self.acp) or self.provider in AGENTS

    @property
    def takes_stated(self) -> tuple[str, ...]:
        """Return the media that it takes by its settings; all where they do not say."""
        return ("image", "audio") if self.takes is None else self.takes

    @property
    def is_person(self) -> bool:
        """Return whether a person answers."""
        return is_person(self.model)

    @property
    def is_limited(self) -> bool:
        """Return whether more than the arena's own limits decide on when it may be asked."""
        limits = self.concurrency, self.requests_per_minute, self.tokens_per_minute, self.daily_budget
        return any(limit is not None for limit in limits)

    @property
    def unversioned(self) -> str:
        """The name that all versions of this player share."""
        return self.name.removesuffix(f" v{self.version}") if self.version > 1 else self.name
