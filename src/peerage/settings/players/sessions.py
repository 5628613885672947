"""The part of its match that a player is sent: the setting `session`, and the tokens that it stands for."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

SESSION_TOKENS, SHORT_SESSION, MOST_SESSION = 4_000, 2_000, 1_000_000
"""Tokens of its earlier turns that go with a request: as a rule, to models on a machine of one's own, whose
servers have little context, and at most."""
SHORT = ("gguf", "ollama")
AGENTS = ("command", "acp", "http", "https", "python")
WORDS = ("match", "none", "own")


def _checked(value: Any) -> Any:
    if value is None or value in WORDS or (type(value) is int and 1 <= value <= MOST_SESSION):
        return value
    raise ValueError(
        f"found {value!r}; expected `match`, `none`, `own`, or a number of tokens from 1 to {MOST_SESSION:,}"
    )


Session: TypeAlias = Annotated[
    Literal["match", "none", "own"] | Annotated[int, Field(ge=1, le=MOST_SESSION)] | None,
    BeforeValidator(_checked),
]
MEANING = (
    "How much of what it was asked and replied earlier in a match goes with each request to it as a "
    "contestant, as turns of a conversation: `match`, the newest 4000 tokens (2000 for `gguf:` and `ollama:` "
    "models); a number of tokens; `none`; `own`, of an agent that remembers by itself: none, and it hears "
    "when a match ends. An agent over ACP remembers its match unless `none` is stated, and gets "
    "earlier turns only when it is started in mid-match. Default: `match` in repeated games, poker, "
    "negotiation and werewolf, else `none`."
)


def session_tokens(session: str | int | None, provider: str, *, usual: bool) -> int:
    """Return the most tokens of earlier turns that go with a request to a player of a `provider`, in a game
    where players remember their match as a rule (`usual`) or not. A person remembers without them."""
    stated = ("match" if usual else "none") if session is None else session
    if provider == "human" or stated in ("none", "own"):
        return 0
    if stated != "match":
        return int(stated)
    return SHORT_SESSION if provider in SHORT else SESSION_TOKENS
