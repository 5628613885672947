"""The blocks of views (`blocks`), and the only code that knows a medium: terminal, HTML, Markdown, data.

Each writes blocks and nothing else: a renderer knows no ledger and no game. What players wrote is made
visible and escaped here. It imports `game.blocks` and `values`.
"""
