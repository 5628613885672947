"""Results of finished matches: those that a table counts, what people said of their challenges later, and
outside results beside them; as evidence of strengths, and as sums.
"""
