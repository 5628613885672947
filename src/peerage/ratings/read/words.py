"""The words of files in ours: verdicts of battles, and names of columns that no form has."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

from peerage.ratings.read.report import (
    ColumnMissing,
    DataError,
    ReadingReport,
    Row,
    RowError,
    number_of,
    plain,
    short,
)  # fmt: skip

TIE, BOTH_BAD, NO_RESULT = "tie", "tie (bothbad)", ""
SCORES = {"model_a": 1.0, "model_b": 0.0, TIE: 0.5, BOTH_BAD: 0.5}
"""The verdicts, and what each is worth to `model_a`."""
WINNERS = {1.0: "model_a", 0.0: "model_b", 0.5: TIE}
BATTLE = ("model_a", "model_b", "winner")
"""The columns that a battle cannot do without."""
NO_WINNER = "row without a winner is left out", "rows without a winner are left out"
"""The note on rows without a verdict, for one and for several."""
_PLAIN = {**{word: word for word in SCORES}, **dict.fromkeys(("bothbad", "both_bad", "both bad"), BOTH_BAD)}
_SQUEEZED = re.compile(r"[\s_\-()\[\].,:'\"*]+")
_NUMPY = re.compile(r"(?:np|numpy)\.\w+\((.*)\)")
_SIDE = re.compile(
    r"(?:the)?(?:model|assistant|response|answer|player|option|output|candidate|system|generator|team|side)?"
    r"(?:(a|1|left|first)|(?:b|2|right|second))(?:is)?(?:the)?(?:wins?|won|winner|better|preferred|vote)?"
)


@cache
def data() -> dict[str, Any]:
    """Return what `forms.toml` has, which says what forms and words mean."""
    return tomllib.loads(resources.files(__package__).joinpath("forms.toml").read_text("utf-8"))


@cache
def _standard() -> dict[str, str]:
    return {"": NO_RESULT} | {
        word: verdict for verdict, words in data()["verdicts"].items() for word in words.split()
    }


class WinnerCode(str):
    """A number for a winner, which means what the numbers of all rows together leave possible."""


def standard(word: str) -> str | None:
    """Return the verdict that a word states however it is written (`Model A`, `[[A]]`, `A>B`, `both bad`);
    None for another word."""
    if word.strip() == "[[C]]":  # as MT-bench's judges write a tie
        return TIE
    squeezed = _SQUEEZED.sub("", word).casefold()
    side = _SIDE.fullmatch(squeezed)
    if side and not squeezed.isdecimal():
        return "model_a" if side[1] else "model_b"
    return _standard().get(squeezed)


def verdict_of(row: Row, a: str, b: str, words: Mapping[str, str], end: str = "") -> str | float:
    """Return the verdict of a row: a key of `SCORES`, the part of a win that is `model_a`'s, a `WinnerCode`
    or `NO_RESULT`. `words` are those of its form, `end` follows the name of a winner.

    A model called `a` is meant by its name, but one called `tie`, or like another word that only verdicts
    use, is not: no name turns ties into wins. A number between those that `words` have for the two sides is a
    part of a win. Raises RowError.
    """
    value: Any = row.get("winner")
    if (share := row.get("share", "")) not in ("", None) and value in ("", None):
        part = number_of(share, "share")
        if not 0 <= part <= 1:
            raise RowError(f"found {short(share)}, expected a part from 0 to 1", "share")
        return part
    if "winner" not in row:
        raise ColumnMissing("winner")
    word = value if isinstance(value, str) and value in _PLAIN else _word_of(value)
    names = {b + end: "model_b", a + end: "model_a"}
    verdict = words.get(word, _PLAIN.get(word, names.get(word)))
    if verdict is None and (number := _number(word)) is not None:
        return _by_number(word, number, words)
    verdict = standard(word) if verdict is None else verdict
    if verdict is None and a.casefold() != b.casefold():
        verdict = {name.casefold(): side for name, side in names.items()}.get(word.casefold())
    if verdict is None:
        listed = ", ".join(words or ("model_a", "model_b", TIE, BOTH_BAD))
        expected = f"tie or a name followed by {end}" if end else f"{listed} or a name"
        raise RowError(f"found {short(word)}, expected {expected}", "winner")
    return verdict


def _word_of(value: Any) -> str:
    """Return a value as text, of a list its only element, without what NumPy prints around a value."""
    word = plain(value[0] if isinstance(value, list) and len(value) == 1 else value)
    wrapped = _NUMPY.fullmatch(word)
    return wrapped[1].strip("'\"") if wrapped else word


def _number(word: str) -> float | None:
    if word.lower() in ("true", "false"):
        return float(word.lower() == "true")
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _by_number(word: str, number: float, words: Mapping[str, str]) -> str | float:
    known = {value: verdict for each, verdict in words.items() if (value := _number(each)) is not None}
    if number in known:
        return known[number]
    sides = {verdict: value for value, verdict in known.items()}
    if not {"model_a", "model_b"} <= sides.keys():
        return WinnerCode(word.lower() if word.isalpha() else f"{number:g}")
    won, lost = sides["model_a"], sides["model_b"]
    if not min(won, lost) < number < max(won, lost):
        expected = f"expected {min(won, lost):g} to {max(won, lost):g}"
        raise RowError(f"found {short(word)}, {expected}", "winner")
    return (number - lost) / (won - lost)


def meanings(counts: Mapping[str, int], decided: int, report: ReadingReport) -> dict[str, str]:
    """Return the verdict of each number for a winner, whose rows `counts` has: that meaning in use which has
    them all, with both sides among them. Raises DataError where none or several do, unless fewer rows than
    the `decided` ones have such numbers, which are left out."""
    ways: list[dict[str, str]] = []
    for meaning in data()["codes"]:
        way = {word: meaning.get(word, "") for word in sorted(counts)}
        if {"a", "b"} <= {*way.values()} <= {"a", "b", "tie"} and way not in ways:
            ways.append(way)
    written = [",".join([f"{word}={ours}" for word, ours in way.items()]) for way in ways]
    if len(ways) == 1:
        report.guess(f"winners are read as {written[0]}")
        return {word: str(standard(ours)) for word, ours in ways[0].items()}
    if sum(counts.values()) >= max(decided, 1) or (counts and report.strict):
        listed = f"{report.file}: winners are {', '.join(sorted(counts)[:20])}; say what they mean"
        options = written or ["1=a,0=b  (a number between is a part of a win)"]
        raise DataError("\n  --winner ".join([listed, *options]))
    for word, rows in counts.items():
        report.leave(NO_WINNER, word, count=rows)
    return {}


def readable(value: Any) -> bool:
    """Return whether a value of a column of winners or scores says anything at all."""
    return standard(_word_of(value)) != NO_RESULT


def squeezed(name: str) -> str:
    """Return the name of a column without what writers vary: case, blanks, marks."""
    return re.sub(r"[\W_]+", "", str(name)).casefold()


def guessed(columns: Iterable[str], known: Mapping[str, str], file: str) -> dict[str, str]:
    """Return the columns of a file that are `BATTLE`, those `known` left as they are; empty where they are
    not all there. A pair such as winner and loser has no third. Raises DataError where two readings are
    there, which says how to write each."""
    by_name, words = {squeezed(column): column for column in columns}, data()["guess"]
    sides = [side.split() for side in words["sides"]]
    sided = [[(name + a, name + b), (a + name, b + name)] for name, (a, b) in product(words["names"], sides)]
    pairs = [(by_name[a], by_name[b]) for each in sided for a, b in each if a in by_name and b in by_name]
    if {"model_a", "model_b"} <= known.keys():
        pairs = [(known["model_a"], known["model_b"])]
    verdicts = [by_name[word] for word in words["winner"] if word in by_name]
    verdicts = verdicts[:1] if "winner" in by_name else verdicts
    chosen = dict.fromkeys((*pair, verdict) for pair, verdict in product(pairs, verdicts))
    ways = [dict(zip(BATTLE, columns, strict=True)) for columns in chosen if len({*columns}) == 3]
    if not pairs:
        won = [pair.split() for pair in words["pairs"]]
        ways = [{"model_a": by_name[a], "model_b": by_name[b]} for a, b in won if {a, b} <= by_name.keys()]
    if len(ways) > 1:
        written = [",".join([f"{ours.removeprefix('model_')}={way[ours]}" for ours in way]) for way in ways]
        options = "".join([f'\n  --columns "{each}"' for each in written[:5]])
        raise DataError(f"{file}: the columns can be read in {len(ways)} ways; say which:{options}")
    return ways[0] if ways else {}
