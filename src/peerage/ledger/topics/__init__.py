"""Topics of the log outside matches, a module for each: waits, benches, settings, the secret. Each reads its
statements from a ledger and writes them. It imports `forms` and the ledger."""
