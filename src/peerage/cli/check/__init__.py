"""Commands for those who would rather check: verify, replay, checkpoint, disclose, sandbox.

They import `cli.shared` and what is below `cli`.
"""
