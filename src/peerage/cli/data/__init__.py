"""Commands for results that others recorded: rate, import.

They import `cli.shared` and what is below `cli`.
"""
