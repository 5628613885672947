"""What drives matches: generators stepped by replies, calls with their retries, limits and budget, rounds
issued and folded, recovery after a crash, replay. It imports games, scheduling, settings, ledger and
players.
"""
