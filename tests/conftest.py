"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is slow to draw examples; that says nothing about the program.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
