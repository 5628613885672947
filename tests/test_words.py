"""One set of words for who is best: those of earlier verdicts are nowhere."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GONE = (
    *("out of the race", "at one look", "often you look", "if the ratings hold", "may be the best"),
    *("clearly above", "clearly below", "statistically tied", "judging apart", "best rated"),
    *("may_be_best", "claims_hold_at", "further_matches", "with 95% confidence"),
)
SHOWN = ("*.py", "*.html", "*.js", "*.md", "*.ipynb", "*.yaml", "*.toml")


@pytest.mark.parametrize("room", ["src", "docs", "examples", "README.md", "ARCHITECTURE.md", "bench"])
def test_words_of_earlier_verdicts_are_gone(room: str) -> None:
    place = ROOT / room
    files = [place] if place.is_file() else [path for kind in SHOWN for path in place.rglob(kind)]
    assert files
    told = {str(path.relative_to(ROOT)): re.sub(r"\s+", " ", path.read_text("utf-8")) for path in files}
    found = [(name, words) for name, text in told.items() for words in GONE if words in text.lower()]
    assert not found
    ranges = [name for name, text in told.items() if re.search(r"\brank (\w+ )?\(1–\d", text)]
    assert not ranges


def test_docstrings_say_what_a_thing_is_or_does() -> None:
    """A free relative ("What it gives") is no sentence; some are left where nothing else is as short."""
    docs = [
        docstring
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        if (docstring := ast.get_docstring(node))
    ]
    begun = Counter(docstring.split()[0].rstrip(",") for docstring in docs)
    asking = ("What", "How", "Whether", "Who", "Which", "Where", "When", "Why")
    assert sum(begun[word] for word in asking) < 0.05 * len(docs)
