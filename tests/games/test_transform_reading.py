"""A second reading of the tasks: it follows their words alone, in another way, and comes to the same.

It reads a task's text as a player would (shapes, steps, the shape of the result) into lists of dicts, and
writes the result by itself. Where a word were missing, or taken in another way, the two would come apart.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest

from peerage.games.transform.output import canonical
from peerage.games.transform.rows import dedupe, sort
from peerage.games.transform.tables import INPUTS, JSON, LINES, drawn
from peerage.games.transform.tasks import FAMILIES, task_of

Row = dict[str, Any]


def value(text: str) -> Any:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def as_rows(lines: list[list[str]]) -> list[Row]:
    return [dict(zip(lines[0], map(value, line), strict=True)) for line in lines[1:]]


def read(says: str, text: str) -> list[Row]:
    """A table in the shape that is told."""
    if "one object for each row" in says:
        return json.loads(text)  # type: ignore[no-any-return]
    if "array of arrays" in says:
        first, *rest = json.loads(text)
        return [dict(zip(first, one, strict=True)) for one in rest]
    if "a key for each column" in says:
        columns = json.loads(text)
        return [dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True)]
    if says.startswith("CSV"):
        return as_rows([*csv.reader(text.split("\n"), delimiter=";" if "semicolons" in says else ",")])
    if "Markdown" in says:
        lines = [line[2:-2].split(" | ") for line in text.split("\n")]
        return as_rows([lines[0], *lines[2:]])
    assert "a block of lines" in says
    return [dict(_pair(line) for line in block.split("\n")) for block in text.split("\n\n")]


def _pair(line: str) -> tuple[str, Any]:
    name, _, cell = line.partition(": ")
    return name, value(cell)


def write(says: str, rows: list[Row]) -> str:
    """A table in the shape that is told; what is JSON in any layout."""
    names = [*rows[0]]
    if "one object for each row" in says:
        return json.dumps(rows)
    if "array of arrays" in says:
        return json.dumps([names, *[[row[name] for name in names] for row in rows]])
    if "a key for each column" in says:
        return json.dumps({name: [row[name] for row in rows] for name in names})
    if by := re.search(r"a key for each different value of ([\w-]+)", says):
        groups: dict[str, Any] = {str(row[by[1]]): [] for row in rows}
        for row in rows:
            groups[str(row[by[1]])].append({name: row[name] for name in names if name != by[1]})
        return json.dumps(groups)
    if says.startswith("CSV"):
        sign = ";" if "semicolons" in says else ","
        lines = [names, *[[str(row[name]) for name in names] for row in rows]]
        return "\n".join(sign.join(f'"{one}"' if sign in one else one for one in line) for line in lines)
    if "Markdown" in says:
        lines = [names, ["---" for _ in names], *[[str(row[name]) for name in names] for row in rows]]
        return "".join("".join(f"| {one} " for one in line) + "|\n" for line in lines)
    if "a block of lines" in says:
        return "\n".join("".join(f"{name}: {row[name]}\n" for name in names) for row in rows)
    form = says.partition("in that column: ")[2]
    return "\n".join(re.sub(r"<([\w-]+)>", lambda found, row=row: str(row[found[1]]), form) for row in rows)


def at_end(rows: list[Row], name: str, cells: Iterator[Any]) -> list[Row]:
    return [{**row, name: next(cells)} for row in rows]


def changed(rows: list[Row], name: str, change: Callable[[Any], Any], new: str = "") -> list[Row]:
    """A column with other cells, under another name if need be, in its place."""
    return [
        {
            (new if key == name and new else key): (change(one) if key == name else one)
            for key, one in row.items()
        }
        for row in rows
    ]


def first_seen(rows: list[Row], name: str) -> list[Any]:
    found: list[Any] = []
    for row in rows:
        if row[name] not in found:
            found.append(row[name])
    return found


MONTHS = "Jan, Feb, Mar, Apr, May, Jun, Jul, Aug, Sep, Oct, Nov, Dec"


def written_date(day: str, like: str) -> str:
    year, month, number = day.split("-")
    name = MONTHS.split(", ")[int(month) - 1]
    for part, said in (
        ("YYYY", year),
        ("DD", number),
        ("MM", month),
        ("Mon", name),
        ("D,", f"{int(number)},"),
    ):
        like = like.replace(part, said)
    return like


def follow(says: str, rows: list[Row], tables: Mapping[str, list[Row]]) -> list[Row]:
    """The table after a step, by its words."""

    def said(pattern: str) -> tuple[str, ...] | None:
        found = re.fullmatch(pattern, says)
        return found.groups() if found else None

    if got := said(
        r"Keep only the rows whose ([\w-]+) is (at least|at most|greater than|less than) (-?\d+)\."
    ):
        name, how, bound = got[0], got[1], int(got[2])
        test = {"at least": range(bound, 10**12), "greater than": range(bound + 1, 10**12)}
        under = {"at most": range(-(10**12), bound + 1), "less than": range(-(10**12), bound)}
        return [row for row in rows if row[name] in (test | under)[how]]
    if got := said(r"Keep only the rows whose ([\w-]+) is (.+)\."):
        return [row for row in rows if row[got[0]] in got[1].split(" or ")]
    if got := said(r"Remove the rows whose ([\w-]+) is (.+)\."):
        return [row for row in rows if row[got[0]] != got[1]]
    if got := said(r"Sort the rows by ([\w-]+), (.+); rows that are equal in it keep their order\."):
        name, way = got
        cells = sorted({row[name] for row in rows})
        if way in (
            "from the greatest to the smallest",
            "in reverse alphabetical order",
            "from the latest to the earliest",
        ):
            cells.reverse()
        else:
            assert way in (
                "from the smallest to the greatest",
                "in alphabetical order",
                "from the earliest to the latest",
            )
        return [row for cell in cells for row in rows if row[name] == cell]
    if got := said(r"Of all rows with the same (.+) keep only the first\."):
        names, kept = got[0].split(" and the same "), list[Row]()
        for row in rows:
            if not any(all(row[name] == other[name] for name in names) for other in kept):
                kept.append(row)
        return kept
    if got := said(r"Rename the column ([\w-]+) to ([\w-]+)\."):
        return changed(rows, got[0], lambda one: one, got[1])
    if got := said(r"Keep only the columns (.+), in this order\."):
        return [{name: row[name] for name in got[0].split(", ")} for row in rows]
    if got := said(r"Add a column ([\w-]+) at the end: ([\w-]+) (plus|minus|times) ([\w-]+)\."):
        new, a, how, b = got
        sums = {"plus": lambda x, y: x + y, "minus": lambda x, y: x - y, "times": lambda x, y: x * y}
        return at_end(rows, new, (sums[how](row[a], row[b]) for row in rows))
    if got := said(
        r"Replace the column ([\w-]+) by ([\w-]+), in its place: the same .+ \(1 \w+ is (\d+) \w+\)\."
    ):
        return changed(rows, got[0], lambda one: one * int(got[2]), got[1])
    if got := said(
        r"Write the dates in ([\w-]+) as (.+) instead of YYYY-MM-DD: 2031-05-09 becomes (.+?)(?:; the months are (.+))?\."  # noqa: E501
    ):
        name, like, example, months = got
        assert written_date("2031-05-09", like) == example
        assert months in (None, MONTHS)
        return changed(rows, name, lambda day: written_date(day, like))
    if got := said(r"Make every date in ([\w-]+) (\d+) days (later|earlier)\."):
        days = timedelta(int(got[1]) * (1 if got[2] == "later" else -1))
        return changed(rows, got[0], lambda day: str(date.fromisoformat(day) + days))
    if got := said(r"Add a column weekday at the end: the weekday of ([\w-]+), from Monday to Sunday\."):
        return at_end(rows, "weekday", (f"{date.fromisoformat(row[got[0]]):%A}" for row in rows))
    if got := said(r"Add a column month at the end: ([\w-]+) without its day, as YYYY-MM\."):
        return at_end(rows, "month", (row[got[0]].rpartition("-")[0] for row in rows))
    spaces = r"remove spaces at both ends, make every run of spaces one space"
    if got := said(
        rf"In ([\w-]+), {spaces}, and write each word with a capital first letter and small letters after it\."  # noqa: E501
    ):
        return changed(rows, got[0], lambda one: re.sub(" +", " ", one.strip()).title())
    if got := said(rf"In ([\w-]+), {spaces}, and write everything in small letters\."):
        return changed(rows, got[0], lambda one: re.sub(" +", " ", one.strip()).lower())
    if got := said(r"Replace the column ([\w-]+), whose names are written (First Last|Last, First), by two columns in its place: first, the first name, and then last, the last name\."):  # fmt: skip  # noqa: E501
        made = []
        for row in rows:
            names = re.findall(r"\w+", row[got[0]])
            parts = names if got[1] == "First Last" else names[::-1]
            before = [*row].index(got[0])
            pairs = [*row.items()]
            made.append(
                dict([*pairs[:before], ("first", parts[0]), ("last", parts[1]), *pairs[before + 1 :]])
            )
        return made
    if got := said(r"([\w-]+) holds words with semicolons between them\. Replace each row by one row for each of these words, in their order, with that word alone in ([\w-]+) and everything else as it is\."):  # fmt: skip  # noqa: E501
        assert got[0] == got[1]
        return [{**row, got[0]: word} for row in rows for word in row[got[0]].split(";")]
    first = r"in the order in which they first appear"
    if got := said(rf"Replace the table by one with a row for each different ([\w -]+), {first}, and with the columns ([\w, -]+), count \(how many rows had it\) and ([\w-]+) \(the (sum|smallest|greatest) of their ([\w-]+)\)\."):  # fmt: skip  # noqa: E501
        name, also, new, how, of = got
        names = name.split(" and ")
        assert also.split(", ") == names
        keyed = [{**row, "\0key": tuple(row[name] for name in names)} for row in rows]
        made = []
        for key in first_seen(keyed, "\0key"):
            cells = sorted(row[of] for row in keyed if row["\0key"] == key)
            made.append(
                {
                    **dict(zip(names, key, strict=True)),
                    "count": len(cells),
                    new: {"sum": sum(cells), "smallest": cells[0], "greatest": cells[-1]}[how],
                }
            )
        return made
    if got := said(rf"Replace the table by one with a row for each different ([\w-]+), {first}\. Its columns are ([\w-]+) and then every different ([\w-]+), in alphabetical order; in each cell is the sum of ([\w-]+) over the rows with that ([\w-]+) and that ([\w-]+), and 0 where there are none\."):  # fmt: skip  # noqa: E501
        a, also, b, of, a_again, b_again = got
        assert (a, a, b) == (also, a_again, b_again)
        made = []
        for key in first_seen(rows, a):
            made.append({a: key})
            for top in sorted(first_seen(rows, b)):
                made[-1][top] = sum(row[of] for row in rows if (row[a], row[b]) == (key, top))
        return made
    if got := said(r"The (\w+) table gives the manager of a ([\w-]+)\. Add it as a column manager at the end, and (write Nobody where it has none|remove the rows whose ([\w-]+) is not there)\."):  # fmt: skip  # noqa: E501
        which, name, rest, again = got
        known = {row[name]: row["manager"] for row in tables[which]}
        if rest.startswith("remove"):
            assert again == name
            rows = [row for row in rows if row[name] in known]
        return at_end(rows, "manager", (known.get(row[name], "Nobody") for row in rows))
    if got := said(
        r"Add a column so_far at the end: the sum of ([\w-]+) in this row and in all rows above it\."
    ):
        return at_end(rows, "so_far", (sum(row[got[0]] for row in rows[: at + 1]) for at in range(len(rows))))
    if got := said(
        r"Add a column percent at the end: ([\w-]+) in percent of the sum of ([\w-]+) over all rows, rounded down to a whole number\."  # noqa: E501
    ):
        assert got[0] == got[1]
        every = sum(row[got[0]] for row in rows)
        return at_end(
            rows,
            "percent",
            (next(p for p in range(101) if (p + 1) * every > 100 * row[got[0]]) for row in rows),
        )
    if got := said(r"Where ([\w-]+) is empty, write ([\w-]+)\."):
        return changed(rows, got[0], lambda one: got[1] if one == "" else one)
    if (seen := look_around(said, rows, tables)) is not None:
        return seen
    got = said(r"In ([\w-]+), replace (.+)\.")
    assert got, f"no reading of: {says}"
    codes = dict(pair.split(" by ") for pair in got[1].split(" and "))
    return changed(rows, got[0], lambda one: codes.get(one, one))


def look_around(
    said: Callable[[str], tuple[str, ...] | None], rows: list[Row], tables: Mapping[str, list[Row]]
) -> list[Row] | None:
    """The table after a step that looks at other rows; None where it is another step."""

    def added(new: str, cell: Callable[[int, Row], Any]) -> list[Row]:
        return [{**row, new: cell(at, row)} for at, row in enumerate(rows)]

    if got := said(
        r"Add a column rank at the end: 1 more than the number of rows whose (\w+) is greater than this row's\."  # noqa: E501
    ):
        falling = sorted((row[got[0]] for row in rows), reverse=True)
        return added("rank", lambda at, row: falling.index(row[got[0]]) + 1)
    if got := said(
        r"Add a column subtotal at the end: the sum of (\w+) in this row and in all rows above it with the same (\w+)\."  # noqa: E501
    ):
        sums: dict[Any, int] = {}
        made = []
        for row in rows:
            sums[row[got[1]]] = sums.get(row[got[1]], 0) + row[got[0]]
            made.append({**row, "subtotal": sums[row[got[1]]]})
        return made
    if got := said(
        r"Add a column change at the end: (\w+) in this row minus (\w+) in the nearest row above it with the same (\w+), and 0 where there is none\."  # noqa: E501
    ):
        assert got[0] == got[1]

        def change(at: int, row: Row) -> int:
            above = [other for other in rows[:at] if other[got[2]] == row[got[2]]]
            return row[got[0]] - above[-1][got[0]] if above else 0  # type: ignore[no-any-return]

        return added("change", change)
    if got := said(
        r"Add a column behind at the end: the greatest (\w+) of all rows with the same (\w+) as this row, minus this row's\."  # noqa: E501
    ):
        best = {row[got[1]]: row[got[0]] for row in sorted(rows, key=lambda row: row[got[0]])}
        return added("behind", lambda at, row: best[row[got[1]]] - row[got[0]])
    if got := said(
        r"Add a column earlier at the end: the number of rows above this one whose (\w+) is smaller than this row's\."  # noqa: E501
    ):
        return added("earlier", lambda at, row: len([o for o in rows[:at] if row[got[0]] - o[got[0]] > 0]))
    if got := said(
        r"Add a column recent at the end: the (sum|smallest|greatest) of (\w+) in this row and in the (\d+) rows above it, or as many as there are\."  # noqa: E501
    ):
        how, name, above = got

        def recent(at: int, row: Row) -> int:
            cells = sorted(o[name] for place, o in enumerate(rows) if 0 <= at - place <= int(above))
            return {"sum": sum(cells), "smallest": cells[0], "greatest": cells[-1]}[how]

        return added("recent", recent)
    if got := said(
        r"Add a column served at the end\. A stock holds (\d+); go through the rows from the first to the last: where (\w+) is at most what the stock holds, write yes and take it from the stock, else write no and take nothing\."  # noqa: E501
    ):
        left, made = int(got[0]), []
        for row in rows:
            fits = row[got[1]] <= left
            if fits:
                left -= row[got[1]]
            made.append({**row, "served": "yes" if fits else "no"})
        return made
    if got := said(
        r"Add a column band at the end: low where (\w+) is less than (-?\d+), high where it is at least (-?\d+), else mid\."  # noqa: E501
    ):
        name, low, high = got[0], int(got[1]), int(got[2])
        return added(
            "band",
            lambda at, row: "low" if row[name] < low else "mid" if row[name] < high else "high",
        )
    if got := said(r"Add a column picked at the end: (\w+) where (\w+) is (.+), else (\w+)\."):
        return added("picked", lambda at, row: row[got[0] if row[got[1]] == got[2] else got[3]])
    if got := said(
        r"Replace (\w+) in each row by the (\w+) of the row below it, and in the last row by that of the first\."  # noqa: E501
    ):
        assert got[0] == got[1]
        return [{**row, got[0]: below[got[0]]} for row, below in zip(rows, rows[1:] + rows[:1], strict=True)]
    if got := said(r"Replace (\w+) in each row by its remainder when it is divided by (\d+)\."):
        return changed(rows, got[0], lambda cell: cell - cell // int(got[1]) * int(got[1]))
    if got := said(r"Count the rows from 1 and remove those whose count can be divided by (\d+)\."):
        removed = range(int(got[0]), len(rows) + 1, int(got[0]))
        return [row for count, row in enumerate(rows, 1) if count not in removed]
    if got := said(
        r"The (\w+) table gives the rate of a (\w+)\. Multiply (\w+) in each row by the rate of its (\w+)\."
    ):
        assert got[1] == got[3]
        rate = {row[got[1]]: row["rate"] for row in tables[got[0]]}
        return [{**row, got[2]: row[got[2]] * rate[row[got[1]]]} for row in rows]
    if got := said(
        r"The (\w+) table gives the depots of a (\w+)\. Replace each row by one row for each depot of its (\w+), in the order of that table, with the depot in a new column depot at the end; remove rows whose (\w+) has none\."  # noqa: E501
    ):
        assert got[1] == got[2] == got[3]
        pairs = [(row[got[1]], row["depot"]) for row in tables[got[0]]]
        return [{**row, "depot": depot} for row in rows for key, depot in pairs if key == row[got[1]]]
    return None


def solved(text: str, without: int = 0) -> str:
    """The output of a task, by its text; `without` a step, where it is not 0."""
    data, _, rest = text.partition(
        "\n\nDo these steps in this order, each with the table that the one before it left:\n\n"
    )
    steps, _, result = rest.partition("\n\nThen write the table as ")
    tables = {}
    for given in re.split(r"\n\n(?=The \w+ table, )", data):
        which, says, written = re.fullmatch(r"The (\w* ?)table, (.*?):\n\n(.*)", given, re.DOTALL).groups()  # type: ignore[union-attr]
        tables[which.strip()] = read(says, written)
    rows = tables[""]
    for at, line in enumerate(steps.split("\n"), 1):
        assert line.startswith(f"{at}. ")
        if at == without:
            continue
        before, rows = rows, follow(line.removeprefix(f"{at}. "), rows, tables)
        assert without or [[*row.items()] for row in before] != [[*row.items()] for row in rows], (
            "a step without effect"
        )
    return write(result.removesuffix("."), rows)


@pytest.mark.parametrize("level", [1, 3, 5, 8, 10])
def test_whoever_follows_the_words_comes_to_the_output(level: int) -> None:
    for seed in range(120):
        made = task_of(Random(f"{level}/{seed}"), level)
        mine = solved(made.text)
        assert canonical(mine, made.json) == canonical(made.expected, made.json), f"{seed}\n{made.text}"
        assert made.expected.strip() == made.expected or not made.json


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_each_step_is_as_it_says(family: Any) -> None:
    seen = 0
    for seed in range(120):
        rng = Random(f"step/{seed}")
        plain = drawn(rng, 9)
        for other in (None, sort, dedupe):
            made = other(rng, plain) if other else None
            table = made.after if made else plain
            step = family(rng, table)
            if step is None or not step.after.rows:
                continue
            rows, second, after = (
                [dict(zip(one.names(), row, strict=True)) for row in one.rows] if one else []
                for one in (table, step.second, step.after)
            )
            found = follow(step.says, rows, {"second": second})
            assert found == after
            assert [[*row] for row in found] == [[*row] for row in after]
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("shape", [*JSON, *LINES], ids=lambda shape: shape.__name__)
def test_each_shape_is_as_it_says(shape: Any) -> None:
    for seed in range(60):
        rng = Random(f"shape/{seed}")
        table = drawn(rng, 7)
        rows = [dict(zip(table.names(), row, strict=True)) for row in table.rows]
        written = shape(rng, table)
        is_json = shape in JSON
        assert canonical(write(written.says, rows), is_json) == canonical(written.text, is_json)
        if shape in INPUTS:
            assert read(written.says, written.text) == rows


def test_nearly_every_step_matters_to_the_output() -> None:
    """Without it another output comes, or none can be made."""
    matters = []
    for seed in range(25):
        made = task_of(Random(f"matters/{seed}"), 7)
        for step in range(1, 1 + len(re.findall(r"^\d+\. ", made.text, re.MULTILINE))):
            try:
                other = canonical(solved(made.text, step), made.json)
            except (AssertionError, KeyError, ValueError, IndexError, TypeError):
                other = []
            matters.append(other != canonical(made.expected, made.json))
    assert len(matters) > 150
    assert sum(matters) > 0.95 * len(matters)
