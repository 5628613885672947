"""A ledger taken up again: `recovery` for a run to go on, `replay` to recompute it, `rejudge` to have its
answers judged again, `import_recordings` to enter matches played elsewhere, `dropping` to end one that waits.
It imports `engine.match`, `engine.calls` and `engine.record`."""
