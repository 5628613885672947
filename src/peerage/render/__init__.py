"""The only code that knows a medium: terminal, HTML, Markdown, and data for programs.

Each writes the blocks of a view, and nothing else: a renderer knows no ledger and no game. It imports
`blocks`, `figures` and `protocol.visible`; what players wrote is made visible and escaped here.
"""
