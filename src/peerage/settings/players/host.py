"""Settings of one host: a machine that is paid by the hour while it serves models."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from peerage.game.section import SettingsSection
from peerage.settings.players.limits import Dollars, Positive, Words

HOUR_S = 3600.0


class HostSettings(SettingsSection):
    """A machine that is held only while it serves its players: it is started when as many of their matches
    wait as are worth it, and stopped after the last call. Without `start` its players are `gguf:` models,
    served here."""

    start: Words = Field(
        (),
        description="Program and arguments that start it, as a list of words: the server itself (`vllm serve "
        "…`), or what starts one elsewhere (ssh, a cloud's CLI) and ends. Only the program is shown.",
    )
    stop: Words = Field(
        (),
        description="Program and arguments that stop it; needed where `start` ends before the server does. "
        "What `start` left running here is ended anyway. It must do no harm when nothing runs.",
    )
    resources: dict[str, Positive] = Field(
        default_factory=dict,
        description="What a machine must have for it, as Ray names it (`GPU: 1`, `CPU: 8`, or a name of your "
        "own): under `engine: ray` it is started on a node of the cluster that has them free, and holds them "
        "until it is stopped. A `base_url` at localhost is then that of the node. Without Ray it is started "
        "where the run is.",
    )
    ready: str = Field(
        "",
        description="Address that answers when the models can be asked. Default: the list of models of its "
        "first player's server.",
    )
    ready_s: float = Field(
        900.0, gt=0, le=24 * HOUR_S, description="Seconds until a host that is not ready is given up."
    )
    usd_per_hour: Dollars | None = Field(None, description="Dollars an hour, from start to stop.")
    longest: float = Field(
        8.0,
        gt=0,
        le=168,
        description="Hours that it is up at a time at most; a host that reached them is not started again "
        "in the same run.",
    )
    matches: int = Field(
        32,
        ge=1,
        le=100_000,
        description="Matches that wait for its players before it is started while others can play; it is "
        "started with fewer when nothing else is left to do.",
    )

    @field_validator("ready")
    @classmethod
    def _address(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError(f"{value!r} is no address; write `http://…` or `https://…`")
        return value

    @model_validator(mode="after")
    def _together(self) -> HostSettings:
        if self.stop and not self.start:
            raise ValueError("found `stop` without `start`; state what starts it, or take `stop` away")
        if self.resources and not self.start:
            raise ValueError(
                "found `resources` without `start`: a `gguf:` model is loaded where the run is. State the "
                "command that serves it on a machine with these, or take `resources` away"
            )
        return self
