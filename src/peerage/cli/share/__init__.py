"""Commands that show an arena to others: serve, report, site, export, copy.

They import `cli.judge`, `cli.check`, `cli.shared` and what is below `cli`.
"""
