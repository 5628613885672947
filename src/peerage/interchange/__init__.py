"""What leaves an arena in the forms of others, and what comes in from them: records of evaluations, battles,
challenges. Commands name what is here; it imports views and everything below them.
"""
