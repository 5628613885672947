"""Commands that show an arena to others: serve, report, site.

They import `cli.judge`, `cli.shared` and what is below `cli`.
"""
