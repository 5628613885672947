"""Runs programs that models wrote; says what it does not cover."""
