"""Challenges that players write: their drafting with a committee, the pool of those accepted, and their
flags. Pure. It imports the game room and judging; a game asks `drafting`, and folds keep `pool`.
"""
