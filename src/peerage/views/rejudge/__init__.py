"""Recorded answers judged again: what other judges change, and how far the ranking moves."""
