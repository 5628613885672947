"""People as players: what they are asked waits in a file of its own until they reply.
`requests` is that file, `person` the client of a seat.
It imports `players.client`.
"""
