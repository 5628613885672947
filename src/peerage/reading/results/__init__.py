"""Results of finished matches: those that a table counts, and outside results next to them; as evidence of
strengths, and as sums."""
