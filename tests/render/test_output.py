"""Tables in four shapes, from the same rows."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import subprocess
import sys

import pytest

from peerage.cli.shared.options import TableFormat, program
from peerage.cli.shared.output import show_blocks
from peerage.cli.shared.streams import prepare
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.render.cells import cells, fit
from peerage.values.figures import dollars, seconds

ROWS = [
    {"player": "Ada | [red]", "rating": 1510.1234567, "cost_usd": None, "span": [1, 2]},
    {"player": "Bo\x1b[31m", "rating": 1490.0, "cost_usd": 0.00012, "span": [1, 2]},
]
COLUMNS = [
    Column("player", "Player"),
    Column("rating", "Rating", "{:.0f}".format, number=True),
    Column("cost_usd", "Cost", dollars, number=True),
]


def show(
    rows: list[dict],
    columns: list[Column],
    shape: TableFormat,
    to: io.StringIO,
    *,
    title: str = "",
    notes: tuple[str, ...] = (),
) -> None:
    table = Rows(rows, columns, title=title, notes=notes)
    show_blocks([table], table, shape, to=to)


def written(shape: TableFormat, rows: list[dict] = ROWS) -> str:
    to = io.StringIO()
    show(rows, COLUMNS, shape, to, title="Elo", notes=("a note",))
    return to.getvalue()


def kept(rows: list[dict], columns: list[Column], width: int) -> list[str]:
    """The titles of the columns that a terminal of so many characters shows."""
    return [column.title for column in fit(cells(Rows(rows, columns)), width).columns]


def test_json_is_the_rows_unrounded() -> None:
    assert json.loads(written(TableFormat.json)) == ROWS
    assert json.loads(written(TableFormat.json, [])) == []


def test_csv_has_every_key() -> None:
    read = list(csv.DictReader(io.StringIO(written(TableFormat.csv))))
    assert read[0] == {"player": "Ada | [red]", "rating": "1510.1234567", "cost_usd": "", "span": "[1, 2]"}
    assert written(TableFormat.csv, []) == "player,rating,cost_usd\n"


def test_a_list_in_a_cell_of_csv_is_json_of_whatever_kind_it_is() -> None:
    rows = [{"player": "Ada", "rating": 1, "cost_usd": None, "flags": ("a", "b")}]
    read = csv.DictReader(io.StringIO(written(TableFormat.csv, rows)))
    assert next(read)["flags"] == '["a", "b"]'


def test_markdown_escapes_its_bars() -> None:
    assert written(TableFormat.markdown).splitlines() == [
        "**Elo**",
        "",
        "| Player | Rating | Cost |",
        "|---|--:|--:|",
        "| Ada \\| \\[red\\] | 1510 | – |",
        "| Bo\ufffd\\[31m | 1490 | $0.00012 |",
        "",
        "A note.",
    ]


def test_a_table_takes_nothing_for_markup_and_shows_control_characters() -> None:
    lines = written(TableFormat.table).splitlines()
    assert lines[0] == "Elo"
    assert any(line.startswith(" Ada | [red] ") and line.endswith("1510         –") for line in lines)
    assert any(line.startswith(" Bo\ufffd[31m ") and line.endswith("1490  $0.00012") for line in lines)
    assert lines[-1].strip() == "A note."
    assert "\x1b" not in written(TableFormat.table)


@pytest.mark.parametrize("shape", [TableFormat.table, TableFormat.markdown])
def test_a_name_in_a_heading_is_text_too(shape: TableFormat) -> None:
    to = io.StringIO()
    show([{"a": 1}], [Column("a", "to \x1b[31m|x", number=True)], shape, to)
    assert "\x1b" not in to.getvalue()
    assert "\\|x" in to.getvalue() or shape is TableFormat.table


def test_a_narrow_terminal_loses_what_can_be_spared_and_no_name() -> None:
    columns = [
        *COLUMNS,
        Column("span", "Span", str, number=True, spare=2),
        Column("rating", "Again", str, number=True, spare=1),
    ]
    assert kept(ROWS, columns, 200) == [column.title for column in columns]
    assert kept(ROWS, columns, 48) == ["Player", "Rating", "Cost", "Again"]
    assert kept(ROWS, columns, 5) == ["Player", "Rating", "Cost"]


def test_bounds_go_together_and_a_long_text_takes_several_lines() -> None:
    rows = [{"value": 1.0, "low": 0.5, "high": 1.5, "about": "what it is, in many words " * 9}]
    columns = [*numbers(str, value="Value", low="from ~3", high="to ~3"), *texts(about="What it is ~1")]
    assert kept(rows, columns, 200) == ["Value", "from", "to", "What it is"]
    assert kept(rows, columns, 56) == ["Value", "What it is"]
    assert kept(rows, columns, 40) == ["Value"]


def test_a_table_in_a_pipe_has_at_most_160_columns_and_says_how_to_get_the_others() -> None:
    places, to = range(15), io.StringIO()
    rows = [{"player": name * 90, **{f"n{place}": 1_000_000 for place in places}} for name in "ab"]
    figures = numbers(str, **{f"n{place}": f"Figure {place} ~{place}" for place in places})
    show(rows, [Column("player", "Player"), *figures], TableFormat.table, to)
    lines = to.getvalue().splitlines()
    assert max(map(len, lines)) <= 160
    assert lines[-1] == " With `--format json` or `csv` also: Figure 13, Figure 14."


def test_sums_of_a_column_stand_with_their_points_in_one_place() -> None:
    to = io.StringIO()
    rows = [{"cost": value, "next": 1} for value in (3.2, 0.052, 0.0, None, 120.0)]
    show(rows, [*numbers(dollars, cost="Cost"), *numbers(str, next="Next")], TableFormat.table, to)
    lines = to.getvalue().splitlines()
    assert len({line.index(".") for line in lines if "." in line}) == 1
    assert any(line.split() == ["free", "1"] for line in lines)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "free"), (1234.5, "$1,200"), (0.0312, "$0.031"), (0.00001, "$0.000010")]
)
def test_dollars(value: float, text: str) -> None:
    assert dollars(value) == text


def test_seconds() -> None:
    assert [seconds(0.25), seconds(12.34)] == ["250 ms", "12.3 s"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_programs_get_utf_8_and_people_what_their_terminal_can_show(encoding: str) -> None:
    def printed(*words: str) -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "peerage", *words],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            check=False,
        )
        assert done.stderr == b""
        return done.stdout

    told = printed("games")
    assert ("2–3 judge".encode() if encoding == "ascii" else b"2-3 judge") in told
    assert json.loads(printed("games", "--format", "json").decode("utf-8"))[0]["game"]


def test_what_an_encoding_lacks_is_spelt_plainly() -> None:
    to = io.TextIOWrapper(io.BytesIO(), "ascii", errors="peerage.plainly")
    prepare()
    to.write("1,890 – 2,447 · ✓ τ_c → 日本")
    to.seek(0)
    assert to.read() == "1,890 - 2,447 | + tau_c -> ??"


@pytest.mark.parametrize(
    ("started", "on_path", "typed"),
    [
        ("/far/my venv/bin/peerage", None, "'/far/my venv/bin/peerage'"),
        (".venv/bin/peerage", None, ".venv/bin/peerage"),
        ("/usr/bin/pytest", None, "peerage"),
        ("/lib/pytest/__main__.py", None, "peerage"),
        ("/lib/peerage/__main__.py", "/usr/bin/peerage", "peerage"),
        ("/lib/peerage/__main__.py", None, f"{shlex.quote(sys.executable)} -m peerage"),
    ],
)
def test_the_command_that_is_advised_is_one_that_can_be_pasted(
    monkeypatch: pytest.MonkeyPatch, started: str, on_path: str | None, typed: str
) -> None:
    monkeypatch.setattr("sys.argv", [started])
    monkeypatch.setattr("shutil.which", lambda name: on_path)
    assert program() == typed


def test_no_text_becomes_a_formula_a_link_or_an_order_to_a_terminal() -> None:
    row = {
        "player": '=HYPERLINK("http://e")',
        "model": "[x](http://e)<b>`*|\\",
        "cost": -1.0,
        "said": "a\x9b2Jb",
    }
    columns = [Column(key, key) for key in row]

    def so(shape: TableFormat) -> str:
        to = io.StringIO()
        show([row], columns, shape, to)
        return to.getvalue()

    read = next(csv.DictReader(io.StringIO(so(TableFormat.csv))))
    assert (read["player"], read["cost"]) == ('\'=HYPERLINK("http://e")', "-1.0")
    assert r"\[x\](http\://e)\<b\>\`\*\|" in so(TableFormat.markdown)
    loud = io.StringIO()
    show([row], columns, TableFormat.table, loud, title="a\x1b[2J", notes=("led by b\x1b[2J",))
    assert "\x1b" not in loud.getvalue()
    assert "\x9b" not in so(TableFormat.json) + so(TableFormat.table) + so(TableFormat.markdown)
    assert json.loads(so(TableFormat.json)) == [row]
