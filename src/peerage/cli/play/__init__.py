"""Commands that play an arena, plan or watch it: run, play, plan, status, games, worker, simulate.

They import `cli.read`, `cli.shared` and what is below `cli`.
"""
