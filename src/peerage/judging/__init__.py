"""Judgement of answers: checks first, panels of judges, grades; and what is measured of judges: agreement,
favours, corrections. Pure, but for a user's own checks, which run in the sandbox. It imports the game room
and ratings."""
