"""Settings of players and of the hosts that serve them: names of models, makers, hours, open weights,
programs. It imports `values` and `game`; the rest of `settings` imports it.
"""
