"""Judges measured: agreement, preference, favours, votes held against what is known; and corrections of
ratings for them. Imports `marks`, `panels` and ratings."""
