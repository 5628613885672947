"""Ratings that take one result after another: Elo (raw and cost-adjusted), Glicko-2, TrueSkill, with their
kernels. Imports only `columns`, `table` and `arrays`."""
