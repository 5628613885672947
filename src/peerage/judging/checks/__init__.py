"""Checks that decide before judges do: credit for an answer, checks as people write them, users' programs.
Imports formats, and the game room's protocol."""
