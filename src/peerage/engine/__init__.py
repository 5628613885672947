"""The engine of matches: calls of players with their retries, limits and budget (`calls`), games stepped by
replies (`match`), a run of rounds (`run`), and what is done with a ledger afterwards (`again`); `record`
holds what a run writes down besides matches. It imports games, scheduling, settings, ledger and players."""
