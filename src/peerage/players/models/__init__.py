"""Models at providers: what they are sent, what their servers reply, refuse and fail with, how they think.
`provider` is the client of all of them; `library` opens the model library over our transport.
It imports `players.client`, `keys`, `redaction` and `session`, nothing else of `players`.
"""
