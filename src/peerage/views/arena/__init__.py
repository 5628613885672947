"""An arena as a whole: leaderboards, players, games, challenges, costs, method, ledger, votes.

`tables` is the reading with its tables, each computed once; each other module is one thing that people look
at, as blocks. It imports the reading and the other rooms of `views`.
"""
