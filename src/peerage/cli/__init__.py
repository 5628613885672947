"""Thin commands, one file per group; each calls one function of the library."""
