"""A ledger as pages: leaderboard, players, matches, how every number is made; built, served, asked for data.

Ground: `reading.Site` is the arena at one moment, `rendering` fills templates; `addresses`: what is where.
On it, each importing those before it: `pages`, `api`, `http`, `people`, `server`; and `export` on `pages`.
"""
