"""Does a ledger still say what was written? `verify` does all of it; checkpoints are what others kept. It
imports `forms`, `topics` and the ledger; it writes nothing but the folder of checkpoints."""
