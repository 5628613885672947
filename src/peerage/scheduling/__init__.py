"""Pairing of the next matches, and when to stop: standings and the arena's secret → fixtures of a round;
goals, series, topics, roles. Pure. It imports games, ratings and the game room.
"""
