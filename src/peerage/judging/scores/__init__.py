"""Scores from 0 to 10 that everybody gives everybody's work, and the ranking that follows from them."""
