"""Play prices of house players, which nobody pays: the demo's, by skill."""

from __future__ import annotations

from bisect import bisect_left
from math import exp, log

from peerage.players.prices import PLAY_PRICE
from peerage.settings import ArenaSettings, PlayerSettings

OUTPUT = {0.2: 0.1, 0.35: 0.25, 0.45: 0.6, 0.55: 2.0, 0.65: 1.5, 0.75: 10.0, 0.85: 8.0, 0.95: 25.0}
"""Dollars for a million tokens put out, by skill: as wide as real ones, and not quite in its order."""
READ = 5
"""Tokens that are read for the price of one that is written."""


def play_price(skill: float) -> dict[str, float]:
    """Return what a house player of that skill charges for a million tokens: between two skills of the demo
    the geometric mean of theirs by how near it is to each, to two digits; beyond them the price of the
    last."""
    skills = sorted(OUTPUT)
    at = bisect_left(skills, skill)
    if at in (0, len(skills)) or skill in OUTPUT:
        output = OUTPUT[skills[min(at, len(skills) - 1)]]
    else:
        low, high = skills[at - 1], skills[at]
        share = (skill - low) / (high - low)
        output = float(f"{exp((1 - share) * log(OUTPUT[low]) + share * log(OUTPUT[high])):.2g}")
    return {"input": float(f"{output / READ:g}"), "output": output}


def at_play_price(model: str) -> PlayerSettings:
    """A house player at the play price of its skill. Raises ValidationError."""
    skill = float(model.partition(":")[2])
    stated = {"model": model, "price": play_price(skill), "pricing_source": PLAY_PRICE}
    return PlayerSettings.model_validate(stated)


def newcomer(model: str, settings: ArenaSettings) -> PlayerSettings:
    """A player as no settings state it: a house player at its play price where the arena's own have theirs.
    Raises ValidationError."""
    player = PlayerSettings(model=model)
    playing = any(one.provider == "house" and one.pricing_source == PLAY_PRICE for one in settings.players)
    return at_play_price(model) if playing and player.provider == "house" else player


def line(player: PlayerSettings) -> str:
    """A player that is no more than a model and its price, as `arena.yaml` has it."""
    if player.price is None:
        return player.model
    price = f"{{input: {player.price.input:g}, output: {player.price.output:g}}}"
    return f"{{model: {player.model}, price: {price}, pricing_source: {player.pricing_source}}}"
