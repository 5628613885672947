"""Favour for an author, or against it, found in votes and in scores beyond what chance and other judges
explain (`search`). Imports `marks` and ratings."""
