"""An arena as a whole: its games and challenges, costs, how numbers are made, the ledger, the audience's
votes. Each module is one thing that people look at, as blocks, with what it computes from the reading.
It imports the reading and the other rooms of `views`.
"""
