"""What a contestant's play cost, in the arena's unit."""

from __future__ import annotations

from pydantic import Field

from peerage.games.section import Section
from peerage.protocol import Reply


class CostUnit(Section):
    """What counts as cost: dollars, seconds of latency and kilowatt-hours, each with its weight."""

    dollars: float = Field(default=1.0, ge=0, le=1e9, description="Weight of a dollar.")
    seconds: float = Field(default=0.0, ge=0, le=1e9, description="Weight of a second of latency.")
    kwh: float = Field(default=0.0, ge=0, le=1e9, description="Weight of a kilowatt-hour.")

    @property
    def name(self) -> str:
        """What a cost of 1 is one of: `dollars`, `seconds`, `0.01 × seconds + dollars`."""
        weights = {"dollars": self.dollars, "seconds": self.seconds, "kWh": self.kwh}
        counted = sorted((weight, what) for what, weight in weights.items() if weight)
        return " + ".join([what if weight == 1 else f"{weight:g} × {what}" for weight, what in counted])


def cost(reply: Reply, unit: CostUnit) -> float | None:
    """The weighted sum for one reply (its repair included); None when a part that counts is unknown."""
    total = unit.seconds * reply.latency_ms / 1e3
    if unit.dollars:
        if reply.cost_nano is None:
            return None
        total += unit.dollars * reply.cost_nano / 1e9
    if unit.kwh:
        if reply.energy_mwh is None:
            return None
        total += unit.kwh * reply.energy_mwh / 1e6
    return total
