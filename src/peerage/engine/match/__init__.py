"""Matches under way: `driver` steps one game, `under_way` drives those of this process, `driving` is the seam
to a cluster's workers, `plans` tells what a match will cost, `admission` whether there is money for it.
It imports `engine.calls` and `engine.record`.
"""
