"""Exports of an arena in the forms of others, and imports from them: records of evaluations, battles,
challenges. Commands name what is here; it imports views and everything below them."""
