"""Commands that read an arena: leaderboard, verdict, compare, stats, match, players, challenges, tournament.

They import `cli.shared` and what is below `cli`.
"""
