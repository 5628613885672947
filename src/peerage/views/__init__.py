"""The things that people look at, each as blocks that every medium writes: leaderboard, verdict, match …

A view is a pure function of what was read; the columns of a table, its notes and its figures are declared
here and nowhere else. It imports everything below; `render`, which writes views, knows only their blocks.
"""
