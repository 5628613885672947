"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from peerage.values.texts import lazy


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    for flags in (0, re.IGNORECASE):
        late, early = lazy(r"(a+)b", flags), re.compile(r"(a+)b", flags)
        for text in ("aab", "xAAb ab", ""):
            assert [match[1] for match in late.finditer(text)] == [match[1] for match in early.finditer(text)]
            assert late.sub("-", text) == early.sub("-", text)
            assert bool(late.fullmatch(text)) == bool(early.fullmatch(text))
        assert late.pattern == early.pattern


def test_it_is_compiled_at_the_first_use() -> None:
    wrong = lazy("(")
    with pytest.raises(re.error):
        wrong.search("")
