"""Commands of a ledger: verify, replay, checkpoint, disclose, sandbox; export and copy.

They import `cli.shared` and what is below `cli`.
"""
