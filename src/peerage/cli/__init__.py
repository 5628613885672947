"""Thin commands, one file per group; each calls one function of the library."""

COMPLETING = "_PEERAGE_COMPLETE"
"""The variable by which a shell asks what a word could become, in place of running the command."""
