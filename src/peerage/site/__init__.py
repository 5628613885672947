"""A ledger as pages: leaderboard, players, matches and how every number is made.

`pages.page` turns a path into bytes, for the live server and the static export alike; `reading.Site` is the
arena that it reads, at one moment. Only `build`, `publishing` and the server write anything.
"""
