"""Panels of judges that compare two answers: their prompts and their votes. Imports the game room and
formats."""
