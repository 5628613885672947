"""Bounds on what settings of players and hosts hold: amounts, tokens, words of a command."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

# What nobody means would overflow where it is computed with, in the middle of a run.
Positive = Annotated[float, Field(gt=0, le=1e9)]
NotNegative = Annotated[float, Field(ge=0, le=1e9)]
Dollars = Annotated[float, Field(ge=0, le=100_000)]
Tokens = Annotated[int, Field(ge=1, le=10_000_000)]


def _runnable(words: tuple[str, ...]) -> tuple[str, ...]:
    if any("\0" in word for word in words):
        raise ValueError("a word holds the character U+0000, which no program can be given; remove it")
    return words


Words = Annotated[tuple[str, ...], AfterValidator(_runnable)]
"""A program and its arguments."""
