"""A ledger at a position, as everything above reads it: matches, exchanges, players, votes, all parsed here.

`Reading` (`reading.reading`) is what views, pages and commands ask; the other modules are its parts.
It imports what is below it (ledger, standings, engine, games); it shows nothing and writes nothing.
"""
