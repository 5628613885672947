"""Keys that a player may add to the bodies of its requests (`extra_body`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from peerage.values.texts import visible

OURS: Mapping[str, str] = {
    **dict.fromkeys(("model",), "`model`"),
    **dict.fromkeys(("models", "route"), "a player of its own for each model"),
    **dict.fromkeys(("messages", "system", "contents", "systeminstruction"), "`system_prompt`"),
    **dict.fromkeys(
        ("maxtokens", "maxcompletiontokens", "maxoutputtokens", "generationconfig"), "`max_tokens`"
    ),
    **dict.fromkeys(("temperature",), "`temperature`"),
    **dict.fromkeys(("topp",), "`top_p`"),
    **dict.fromkeys(("reasoningeffort", "reasoning", "thinking"), "`reasoning_effort` or `thinking_tokens`"),
    **dict.fromkeys(("servicetier",), "`service_tier`"),
    **dict.fromkeys(("provider",), "the player's `provider`"),
    **dict.fromkeys(("responseformat",), "`structured`"),
    **dict.fromkeys(("stream", "streamoptions", "usage", "n", "store"), ""),
    **dict.fromkeys(("tools", "toolchoice", "toolconfig", "functions", "plugins", "websearchoptions"), ""),
}
"""Keys of a request that `extra_body` may not hold, without `_` and in lower case, as a provider may read
them; each with what states the same, "" where nothing does."""
MOST_EXTRA = 20_000
"""Characters of JSON that `extra_body` may take."""


def check_keys(extra: Mapping[str, Any]) -> None:
    """Raise ValueError where more keys of a request's body are Peerage's own, no JSON, or too long."""
    for key in extra:
        instead = OURS.get(key.replace("_", "").lower())
        if instead is not None:
            state = f"state {instead} instead" if instead else "take it away"
            raise ValueError(f"`extra_body` holds `{visible(key)}`, which Peerage sets itself; {state}")
    try:
        size = len(json.dumps(extra, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise ValueError(
            "`extra_body` holds what JSON cannot say, such as a date or NaN; put it in quotes"
        ) from None
    if size > MOST_EXTRA:
        raise ValueError(f"`extra_body` takes {size:,} characters; {MOST_EXTRA:,} at most are sent")
