"""Matches under way: `driver` steps one game, `under_way` drives those of this process, `driving` is the seam
to a cluster's workers, `plans` estimates a match's cost, `admission` checks that there is money for it.
It imports `engine.calls` and `engine.record`.
"""
