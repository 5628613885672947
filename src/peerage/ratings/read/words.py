"""The words of files in ours: verdicts of battles, and names of columns that no form has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from typing import Any, Protocol

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
_WRITTEN = {
    TIE: "tie tied draw drawn both equal same even tievote tieinconsistent a=b b=a",
    BOTH_BAD: "bothbad tiebothbad bothbadvote botharebad neitherisgood",
    "model_a": "a>b a>>b b<a b<<a",
    "model_b": "b>a b>>a a<b a<<b",
    NO_RESULT: "nan none null na n/a nat <na> inconclusive noresult noverdict error errored failed skip "
    "skipped invalid unknown undecided timeout refused ?",
}
_STANDARD = {"": NO_RESULT} | {word: verdict for verdict, words in _WRITTEN.items() for word in words.split()}


class Wording(Protocol):
    """What a form says about winners: `words` in ours, and what is at the `ending` of a name."""

    @property
    def words(self) -> Mapping[str, str]: ...

    @property
    def ending(self) -> str: ...


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
    return _STANDARD.get(squeezed)


def verdict_of(row: Row, a: str, b: str, form: Wording) -> str | float:
    """Return the verdict of a row: a key of `SCORES`, the part of a win that is `model_a`'s, a `WinnerCode`
    or `NO_RESULT`.

    A model called `a` is meant by its name, but one called `tie`, or like another word that only verdicts
    use, is not: no name turns ties into wins. A number between those that `form.words` has for the two sides
    is a part of a win. Raises RowError.
    """
    if (share := row.get("share")) is not None and share != "":
        part = number_of(share, "share")
        if not 0 <= part <= 1:
            raise RowError(f"found {short(share)}, expected a part from 0 to 1", "share")
        return part
    if "winner" not in row:
        raise ColumnMissing("winner")
    value, end, words = row["winner"], form.ending, form.words
    word = value if isinstance(value, str) else plain(value[0] if _alone(value) else value)
    for written in (word, _unwrapped(word)):
        verdict = words.get(written, _PLAIN.get(written))
        if verdict is None:
            verdict = {b + end: "model_b", a + end: "model_a"}.get(written)
        if verdict is not None:
            return verdict
    word = _unwrapped(word)
    if (number := _number(word)) is not None:
        return _by_number(word, number, words)
    verdict = standard(word)
    if verdict is None and a.casefold() != b.casefold():
        verdict = {(b + end).casefold(): "model_b", (a + end).casefold(): "model_a"}.get(word.casefold())
    if verdict is None:
        listed = ", ".join(form.words or ("model_a", "model_b", TIE, BOTH_BAD))
        expected = f"tie or a name followed by {end}" if end else f"{listed} or a name"
        raise RowError(f"found {short(word)}, expected {expected}", "winner")
    return verdict


def _alone(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1


def _unwrapped(word: str) -> str:
    """Return the text without what NumPy prints around its values."""
    word = plain(word)
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


def meanings(
    counts: Mapping[str, int], codes: Iterable[Mapping[str, str]], decided: int, report: ReadingReport
) -> dict[str, str]:
    """Return the verdict of each number for a winner, whose rows `counts` has: that of `codes` which has them
    all, with both sides among them. Raises DataError where none or several do, unless fewer rows than the
    `decided` ones have such numbers, which are left out."""
    ways: list[dict[str, str]] = []
    for meaning in codes:
        if {*counts} <= {*meaning} and {"a", "b"} <= {meaning[word] for word in counts}:
            way = {word: meaning[word] for word in sorted(counts)}
            ways += [way] * (way not in ways)
    if not counts or (len(ways) != 1 and sum(counts.values()) < decided and not report.strict):
        for word, rows in counts.items():
            report.leave(NO_WINNER, word, count=rows)
        return {}
    written = [",".join([f"{word}={ours}" for word, ours in way.items()]) for way in ways]
    if len(ways) == 1:
        report.guess(f"winners are read as {written[0]}")
        return {word: str(standard(ours)) for word, ours in ways[0].items()}
    listed = f"{report.file}: winners are {', '.join(sorted(counts)[:20])}"
    if ways:
        options = "\n  ".join([f"--winner {each}" for each in written])
        raise DataError(f"{listed}, which can be read in {len(ways)} ways; say which:\n  {options}")
    low, high = min(counts, key=_number), max(counts, key=_number)
    raise DataError(
        f"{listed}: say what they mean, such as `--winner {low}=a,{high}=b`; numbers between are parts of a win"
    )


def readable(value: Any) -> bool:
    """Return whether a value of a column of winners or scores says anything at all."""
    return standard(_unwrapped(plain(value))) != NO_RESULT


def squeezed(name: str) -> str:
    """Return the name of a column without what writers vary: case, blanks, marks."""
    return re.sub(r"[\W_]+", "", str(name)).casefold()


def guessed(
    columns: Iterable[str], known: Mapping[str, str], words: Mapping[str, list[str]], file: str
) -> dict[str, str]:
    """Return the columns of a file that are `BATTLE`, those `known` left as they are; empty where they are
    not all there. A pair such as winner and loser has no third. `words` are those of forms.toml. Raises
    DataError where two readings are there, which says how to write each."""
    by_name = {squeezed(column): column for column in columns}
    if {"model_a", "model_b"} <= known.keys():
        pairs = [(known["model_a"], known["model_b"])]
    else:
        sides = _pairs(tuple(words["names"]), tuple(words["sides"]))
        pairs = [(by_name[a], by_name[b]) for a, b in sides if a in by_name and b in by_name]
        pairs = list(dict.fromkeys(pairs))
    taken = {column for pair in pairs for column in pair}
    verdicts = [by_name[word] for word in words["winner"] if by_name.get(word, "") not in {"", *taken}]
    if "winner" in known or "winner" in by_name:
        verdicts = [known.get("winner", by_name.get("winner", ""))]
    ways = [dict(zip(BATTLE, (*pair, verdict), strict=True)) for pair, verdict in product(pairs, verdicts)]
    if not pairs:
        won = [pair.split() for pair in words["pairs"]]
        ways = [
            {"model_a": by_name[a], "model_b": by_name[b]} for a, b in won if a in by_name and b in by_name
        ]
    if len(ways) > 1:
        written = [
            ",".join([f"{ours.removeprefix('model_')}={way[ours]}" for ours in way]) for way in ways[:5]
        ]
        options = "\n  ".join([f'--columns "{each}"' for each in written])
        raise DataError(f"{file}: the columns can be read in {len(ways)} ways; say which:\n  {options}")
    return ways[0] if ways else {}


@cache
def _pairs(names: tuple[str, ...], sides: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the names that two columns may have: a name with a side behind or before it."""
    every = []
    for name, (a, b) in product(names, [side.split() for side in sides]):
        every += [(name + a, name + b), (a + name, b + name)]
    return tuple(every)
