"""A ledger at a position, as everything above reads it: matches, exchanges, players, votes, all parsed here.

`Reading` (`reading.reading`) is what views, pages and commands ask. `results/` are matches that tables count,
`verdicts/` what judges, people and checks said of answers; a match is `match`, read by `matches`.
It imports the ledger, `engine.record`, `standings` and what computes.
"""
