"""What the log says beside matches, a module for each topic: waits, benches, settings, the secret. Each
reads its statements from a ledger and writes them. It imports `forms` and the ledger.
"""
