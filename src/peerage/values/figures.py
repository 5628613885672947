"""Values as people read them, alike in the terminal and on pages. An unknown value is a dash, never 0."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from math import ceil, floor, log10

DASH = "–"
PADS = ("\u2008", "\u2007")
"""Spaces as wide as a point and as a figure."""


def dollars(value: float | None, times: float = 1) -> str:
    """Money, `times` over: two significant figures, and to the cent from a dollar to ten; `free` for zero."""
    if not value:
        return DASH if value is None else "free"
    short = float(f"{times * value:.2g}")
    if 1 <= abs(short) < 10:
        return f"${times * value:.2f}"
    return f"${short:,.{max(0, 1 - floor(log10(abs(short))))}f}"


def known_sum(amounts: Iterable[int | None]) -> int | None:
    """Return the sum; None where an amount is unknown."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def exact_dollars(value: float) -> str:
    """Money that is a limit or a price, as it is stated: `$5`, `$0.0125`."""
    dollar, _, cents = f"${round(value, 4) or value:,.6f}".rstrip("0").partition(".")
    return f"{dollar}.{cents:0<2}" if cents else dollar


def axis_dollars(value: float) -> str:
    """A round sum of money on an axis."""
    whole_part, _, part = f"{value:,.10f}".rstrip("0").partition(".")
    return f"${whole_part}.{part:0<2}" if part or 0 < value < 10 else f"${whole_part}"


def aligned(texts: Collection[str]) -> dict[str, str]:
    """Return sums of money padded with spaces as wide as figures, so that a column's points are aligned."""
    split = {text: text.partition(".") for text in texts if text.startswith("$")}
    most = max([len(cents) for _, _, cents in split.values()], default=0)
    behind = {text: PADS[1] * (most - len(cents)) for text, (_, _, cents) in split.items()}
    point = {text: PADS[0] * (most > 0 and not dot) for text, (_, dot, _) in split.items()}
    return {text: text + point.get(text, "") + behind.get(text, "") for text in texts}


def counted(number: int, noun: str, many: str = "") -> str:
    """A number of things: `1 match`, `2 matches`; `many` where no s, es or ies makes it the plural."""
    if not many:
        es = noun.endswith(("s", "x", "ch", "sh"))
        many = f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}{'es' * es or 's'}"
    return f"{number:,} {noun if number == 1 else many}"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: `a, b and c`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def rounded(value: float | None) -> str:
    """Three digits, of a number that is not known more closely."""
    if value is None:
        return DASH
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 99.95 else f"{value:#.3g}"


def whole(value: float | None) -> str:
    return DASH if value is None else f"{value:,.0f}"


def two_digits(number: float, *, up: bool = True) -> int:
    """Return the number to two digits, up or down, 1 at least."""
    whole = max(1, math.ceil(number))
    digits: int = 10 ** max(0, len(str(whole)) - 2)
    return (-(-whole // digits) if up else whole // digits) * digits


def tenths(value: float | None) -> str:
    return DASH if value is None else f"{value:,.1f}"


def measured(value: float | None) -> str:
    """A count as it is, anything else to two decimals."""
    if value is None:
        return DASH
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def percent(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.0f}%"


def share_between(share: float, lower: float, upper: float) -> str:
    """Return a share with its bounds, `97% (91–99%)`; a narrow one to tenths. 100% and 0% are exact."""

    def written(value: float) -> str:
        places = 0 if upper - lower >= 0.03 else 1
        text = f"{100 * value:.{places}f}"
        if 0 < value < 1 and float(text) in (0.0, 100.0):
            return f"{min(max(100 * value, 0.1), 99.9):.1f}"
        return text

    return f"{written(share)}% ({written(lower)}–{written(upper)}%)"


def share_or_none(share: float | None, lower: float | None, upper: float | None) -> str | None:
    """Return the same where it is known."""
    return None if share is None or lower is None or upper is None else share_between(share, lower, upper)


def likely(chance: float | None) -> str:
    """A chance in percent that is never said to be sure: `over 99%`, `under 1%`."""
    if chance is None:
        return DASH
    if 0.01 <= chance <= 0.99:
        return percent(chance)
    return "over 99%" if chance > 0.5 else "under 1%"


def chance(value: float | None) -> str:
    """The same in a table: `>99%`, `<1%`."""
    return likely(value).replace("over ", ">").replace("under ", "<")


def seconds(value: float | None) -> str:
    if value is None:
        return DASH
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def elapsed(span_ms: int) -> str:
    """The time that something has lasted, in its largest unit: `45 s`, `3 min`, `2 h`, `5 days`."""
    s = max(0, span_ms) // 1000
    steps = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))
    size, unit = next((step for step in steps if s >= step[0]), steps[-1])
    return counted(s // size, unit) if unit == "day" else f"{s // size} {unit}"


def moment(at_ms: int) -> str:
    """A time to the minute, UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def when(at_ms: int, now_ms: int | None = None) -> str:
    """A time in short, UTC: `29 Nov 02:22`, of the day that `now_ms` is in `today 02:22`."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    if now_ms is not None and at.date() == datetime.fromtimestamp(now_ms / 1000, UTC).date():
        return f"today {at:%H:%M}"
    return f"{at.day} {at:%b %H:%M}"


hundredths = "{:.2f}".format
signed = "{:+.2f}".format


def score(value: float) -> str:
    """A score, a half as ½."""
    if value % 1 == 0.5 and value >= 0:
        return f"{int(value) or ''}½"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def points(value: float) -> str:
    """A difference in whole points, with its sign; never `-0`."""
    return f"{round(value):+d}"


def interval(lower: float | None, upper: float | None, write: Callable[[float], str]) -> str | None:
    """An interval with nothing about its dash, so that it fits, but where a sign might be read as one."""
    if lower is None or upper is None:
        return None
    return f"{write(lower)} – {write(upper)}" if lower < 0 else f"{write(lower)}–{write(upper)}"


def span(bounds: Sequence[int] | None) -> str:
    """Two whole numbers, or one where they are the same."""
    if bounds is None:
        return DASH
    first, last = bounds
    return f"{first}" if first == last else f"{first}–{last}"


def spans(numbers: Collection[int]) -> str:
    """Whole numbers as spans: 2, 3, 4, 7 is `2–4, 7`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join([span(ends) for ends in runs])


def round_step(low: float, high: float, count: int) -> float:
    """The round number that goes some `count` times from one value to another."""
    rough = (high - low) / count
    power = 10.0 ** floor(log10(rough))
    return power * next(
        (size for size, from_ in ((10, 50), (5, 10), (2, 2)) if (rough / power) ** 2 >= from_), 1
    )


def round_steps(low: float, high: float, count: int) -> list[float]:
    """Round numbers from one value to another, some `count`."""
    step = round_step(low, high, count)
    return [round(at * step, 12) for at in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def shortened(names: Collection[str], most: int) -> dict[str, str]:
    """Names in `most` characters each, so that all stay different: without what stands before their last
    slash, where that is enough to tell them apart, else cut in the middle."""
    if all(len(name) <= most for name in names):
        return {name: name for name in names}
    last = {name: name.rpartition("/")[2] or name for name in names}
    shown = last if len({*last.values()}) == len({*names}) else {name: name for name in names}
    taken = {name for name in shown.values() if len(name) <= most}
    for name, text in shown.items():
        if len(text) > most:
            tails = sorted(range(1, most - 1), key=lambda tail: abs(tail - (most - 1) // 2))
            cut = (f"{text[: most - 1 - tail]}…{text[-tail:]}" for tail in tails)
            shown[name] = next((candidate for candidate in cut if candidate not in taken), text)
            taken.add(shown[name])
    return shown


def sentence(text: str, names: Collection[str] = ()) -> str:
    """A note as a sentence: a capital, unless it begins with such a name or a symbol as μ; a full stop."""
    if text[:1].isascii() and not any(text.startswith(name) for name in names):
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def begun(text: str, most: int) -> str:
    """Return a text's beginning in one line of at most so many characters; `…` ends it, at a word."""
    line = " ".join(text[: 2 * most].split())
    if len(line) <= most:
        return line
    end = line.rfind(" ", most // 2, most)
    return f"{line[: end if end > 0 else most - 1].rstrip()}…"


def suggest(written: str, known: Iterable[str]) -> str:
    """`; did you mean …?` where a known name is close to what was found, else all that are known."""
    from difflib import get_close_matches

    names = list(known)
    close = get_close_matches(written.lower(), names, n=1, cutoff=0.6)
    close = close or [name for name in names if written and name.lower().startswith(written.lower())][:1]
    close = close or [name for name in names if len(written) > 2 and written.lower() in name.lower()][:1]
    if close:
        return f"; did you mean {close[0]!r}?"
    apart = "; " if any("," in name for name in names) else ", "
    return f"; known: {apart.join(names)}" if names else "; none is known yet"
