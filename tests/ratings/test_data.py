"""Reading anybody's results: every format, and every way it can be wrong."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from peerage.ratings.read.answers import Answers
from peerage.ratings.read.forms import GivenForm, Layout
from peerage.ratings.read.histories import Battles, PlayedGames, Used
from peerage.ratings.read.report import DataError, ReadingReport
from peerage.ratings.read.results import read, rows

RECORDED = Path(__file__).parents[1] / "data"


def battles(text: str | bytes, name: str = "x.csv", **options: tuple[str, ...]) -> Battles:
    data = text if isinstance(text, bytes) else text.encode()
    found = read([(name, io.BytesIO(data))], **options)  # type: ignore[arg-type]
    assert isinstance(found, Battles)
    return found


def played(entries: list[object], name: str = "x.json") -> PlayedGames:
    found = read([(name, io.BytesIO(json.dumps(entries).encode()))])
    assert isinstance(found, PlayedGames)
    return found


def test_lmarenas_words() -> None:
    data = battles("model_a,model_b,winner\nx,y,model_a\nx,y,model_b\ny,x,tie\nx,y,tie (bothbad)\nx,y,y\n")
    assert data.names == ("x", "y")
    assert data.duels.score.tolist() == [1, 0, 0.5, 0.5, 0]
    assert data.duels.first.tolist() == [0, 0, 1, 0, 0]
    assert data.both_bad is not None
    assert data.both_bad.tolist() == [False, False, False, True, False]


def test_no_name_turns_ties_into_wins() -> None:
    data = battles(HEAD + "tie,y,tie\nmodel_b,model_a,model_a\nB,A,A\n")
    assert data.duels.score.tolist() == [0.5, 1, 0]


def test_names_that_look_the_same_are_one_player() -> None:
    assert battles(HEAD + "caf\u00e9,y,cafe\u0301\ncafe\u0301,z,tie\n").names == ("caf\u00e9", "y", "z")
    rows = "player,challenge,solved\ncaf\u00e9,1,1\ncafe\u0301,1,0\ny,1,0\n"
    answers = read([("x.csv", io.BytesIO(rows.encode()))])
    assert isinstance(answers, Answers)
    assert answers.names == ("caf\u00e9", "y")


def test_rows_that_say_the_same_count_each_time_and_by_what_else_they_say() -> None:
    """Rows like an earlier one are counted without being read again: not where more is in them."""
    row, head = "a,b,model_a", "model_a,model_b,winner"
    found = battles(f"{head}\n" + f"{row}\nb,a,model_b\n" * 3 + "a,b,tie\n")
    assert found.duels.score.tolist() == [1, 0, 1, 0, 1, 0, 0.5]
    assert found.duels.first.tolist() == [0, 1, 0, 1, 0, 1, 0]
    assert battles(f"{head},judge\n{row},x\n{row},y\n", labels=("judge",)).labels == {"judge": ("x", "y")}
    assert len(battles(f"{head},battle_id\n{row},1\n{row},2\n{row},1\n").duels) == 2
    costs = battles(f"{head},cost_a,cost_b\n{row},1,2\n{row},3,4\n").costs
    assert costs is not None
    assert costs.tolist() == [[1, 3], [2, 4]]
    files = [
        ("x.csv", f"{head}\n{row}\n"),
        ("y.csv", f"{head},cost_a,cost_b\n{row},1,2\n"),
        ("z.csv", f"{head}\n{row}\n"),
    ]
    several = read([(name, io.BytesIO(text.encode())) for name, text in files])
    assert isinstance(several, Battles)
    assert several.costs is not None
    assert [str(cost) for cost in several.costs[0]] == ["nan", "1.0", "nan"]


def test_labels_stand_by_their_battles_where_some_files_have_none() -> None:
    plain = "model_a,model_b,winner\na,b,model_a\na,b,model_a\n"
    judged = "model_a,model_b,winner,judge\na,b,tie,ann\nb,a,tie,\na,b,tie,bob\n"
    files = [io.BytesIO(text.encode()) for text in (plain, judged, plain)]
    found = read([("x.csv", file) for file in files], kept=("judge",))
    assert isinstance(found, Battles)
    assert found.labels == {"judge": ("", "", "ann", "", "bob", "", "")}
    assert found.duels.score.tolist() == [1, 1, 0.5, 0.5, 0.5, 1, 1]


def test_times_without_a_zone_are_utc_on_every_machine() -> None:
    data = battles("model_a,model_b,winner,date\nx,y,tie,2025-09-02T18:02:54\nx,y,tie,2025-09-02T18:02:55Z\n")
    assert data.times is not None
    assert data.times.tolist() == [1756836174.0, 1756836175.0]


def test_csv_jsonl_json_and_tsv_say_the_same() -> None:
    listed = [
        {"model_a": "x", "model_b": "y", "winner": "model_a", "weight": 2},
        {"model_a": "y", "model_b": "z", "winner": "tie", "weight": 1},
    ]
    texts = {
        "b.csv": "model_a,model_b,winner,weight\nx,y,model_a,2\ny,z,tie,1\n",
        "b.tsv": "model_a\tmodel_b\twinner\tweight\nx\ty\tmodel_a\t2\ny\tz\ttie\t1\n",
        "b.jsonl": "\n".join(map(json.dumps, listed)) + "\n\n",
        "b.json": json.dumps(listed, indent=2),
        "no ending": "\ufeff" + json.dumps(listed),
        "also none": "\n".join(map(json.dumps, listed)),
    }
    for name, text in texts.items():
        data = battles(text, name)
        assert data.names == ("x", "y", "z"), name
        assert data.duels.weight.tolist() == [2, 1], name


def test_parquet(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"]})
    parquet.write_table(table, tmp_path / "b.parquet")
    with (tmp_path / "b.parquet").open("rb") as stream:
        data = read([("b.parquet", stream)])
    assert data.names == ("x", "y", "z")
    with pytest.raises(DataError, match=r"c\.parquet: not Parquet"):
        read([("c.parquet", io.BytesIO(b"PAR1 but no more"))])


def test_damaged_parquet_is_named() -> None:
    battle = {"model_a": "x", "model_b": "y", "winner": "tie"}
    rows = pa.Table.from_pylist([{**battle, "n": n} for n in range(300)])
    whole = io.BytesIO()
    pq.write_table(rows, whole)
    body = bytearray(whole.getvalue())
    body[20:40] = bytes(20)
    with pytest.raises(DataError, match=r"x\.parquet: not Parquet, "):
        read([("x.parquet", io.BytesIO(bytes(body)))])
    far = io.BytesIO()
    pq.write_table(pa.table({"model_a": ["x"], "when": pa.array([2**30], pa.date32())}), far)
    with pytest.raises(DataError, match=r"x\.parquet, after row 0: days=1073741824"):
        read([("x.parquet", io.BytesIO(far.getvalue()))])


def test_a_long_json_list_is_read_piece_by_piece() -> None:
    entry = {"model_a": "x", "model_b": "y", "winner": "tie", "reply": 'a, ]} \\" ' * 300}
    text = json.dumps([entry] * 400)
    assert len(text) > 1 << 19
    assert len(battles(text, "b.json").duels) == 400


def test_timestamps_give_the_order() -> None:
    data = battles("model_a,model_b,winner,tstamp\nx,y,a,2024-05-02\nx,y,b,2024-05-01\n")
    assert data.duels.score.tolist() == [0, 1]
    partly = battles("model_a,model_b,winner,tstamp\nx,y,a,2\nx,y,b,\n")
    assert partly.duels.score.tolist() == [1, 0]
    assert "no timestamp" in partly.notes[0]


def test_labels_controls_and_costs() -> None:
    data = battles(
        "model_a,model_b,winner,question_id,length_a,length_b,cost_a,cost_b\n"
        "x,y,a,q1,30,10,0.1,\nx,y,b,q2,10,30,0.1,0.2\nx,y,b,q2,0,0,0.1,0.2\n",
        labels=("question",),
        controls=("length",),
    )
    assert data.labels["question"] == ("q1", "q2", "q2")
    assert data.controls["length"].tolist() == pytest.approx([1.5**0.5, -(1.5**0.5), 0])
    assert data.costs is not None
    assert data.costs[:, 1].tolist() == [0.1, 0.2]
    assert data.costs[1, 0] != data.costs[1, 0]


def test_a_repeated_battle_id_counts_once_and_is_said() -> None:
    text = "battle_id,model_a,model_b,winner\n1,x,y,a\n1,x,y,a\n,x,y,b\n2,x,y,a\n"
    data = battles(text)
    assert len(data.duels) == 3
    assert data.notes[0] == "1 row repeats a battle_id, which counts once"
    with pytest.raises(DataError, match="line 3, column battle_id: '1' occurs before with another result"):
        battles("battle_id,model_a,model_b,winner\n1,x,y,a\n1,x,y,b\n")


def test_a_repeated_game_id_counts_once_and_never_with_another_result() -> None:
    game = {"game_id": "g1", "players": ["x", "y"], "ranks": [1, 2], "date": "2025-01-01"}
    found = played([game, {**game, "comment": "sent again"}])
    assert len(found.games) == 1
    assert found.notes == ("1 row repeats a game_id, which counts once",)
    for other in ({"ranks": [2, 1]}, {"players": ["y", "x"]}, {"date": "2025-01-02"}, {"scores": [2, 1]}):
        with pytest.raises(DataError, match="row 2, column game_id: 'g1' occurs before with another result"):
            played([game, {**game, **other}])


def test_games_in_lists_and_by_seats() -> None:
    data = played([{"players": ["x", ["y", "z"], "w"], "scores": [3, 9, 3]}])
    assert data.names == ("x", "y", "z", "w")
    assert data.games[0].teams == ((0,), (1, 2), (3,))
    assert data.games[0].ranks == (-3, -9, -3)
    text = b"game,player,rank,team\n1,x,1,\n1,y,2,t\n1,z,2,t\n2,x,2,\n2,y,1,\n"
    seats = read([("g.csv", io.BytesIO(text))])
    assert isinstance(seats, PlayedGames)
    assert [game.teams for game in seats.games] == [((0,), (1, 2)), ((0,), (1,))]
    assert seats.games[1].ranks == (2, 1)


def test_the_recorded_games_and_battles() -> None:
    streams = [
        (path.name, path.open("rb")) for path in sorted(RECORDED.glob("valyrian/*.json"), reverse=True)
    ]
    try:
        data = read(streams)
    finally:
        for _, stream in streams:
            stream.close()
    assert isinstance(data, PlayedGames)
    assert (data.layout, len(data.games), len(data.names)) == ("valyrian", 12, 18)
    assert len(data.games[0].teams) == 2  # the first by date, whichever came first by name
    assert data.used[0] == (Used(0.0053748500000000005, 1780, 113.693381), Used(0.031032, 2286, 74.965353))
    with (RECORDED / "cob" / "data.json").open("rb") as stream:
        cob = read([("data.json", stream)])
    assert isinstance(cob, Battles)
    assert cob.duels.score.tolist() == [1, 0, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.5]


HEAD = "model_a,model_b,winner\n"


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("", "x.csv", "there are no rows"),
        (HEAD, "x.csv", "there are no rows"),
        ("a,b\n1,2\n", "x.csv", r"x\.csv: expected battles .* its columns are a, b"),
        (
            "model_a,winner\nx,tie\n",
            "x.csv",
            "line 2: there is no column model_b; the columns are model_a, winner",
        ),
        (HEAD + "x,y,tie\nx,y,maybe\n", "x.csv", "line 3, column winner: found 'maybe', expected model_a"),
        (HEAD + "x,x,tie\n", "x.csv", "line 2: 'x' plays against itself"),
        (HEAD + "x,,tie\n", "x.csv", "line 2, column model_b: empty"),
        (HEAD + "x,y\n", "x.csv", "line 2, column winner: found 2 cells, expected 3"),
        ("model_a,model_a,winner\n", "x.csv", "the header names model_a twice"),
        ("model_a,model_b,winner,weight\nx,y,tie,-1\n", "x.csv", "weight: found '-1', expected 0 or more"),
        ("model_a,model_b,winner,weight\nx,y,tie,nan\n", "x.csv", "weight: found 'nan', expected a number"),
        ("model_a,model_b,winner,tstamp\nx,y,tie,soon\n", "x.csv", "line 2, column tstamp: found 'soon'"),
        ("model_a,model_b,winner,tstamp\nx,y,tie,nan\n", "x.csv", "line 2, column tstamp: found 'nan'"),
        ("model_a,model_b,winner,tstamp\nx,y,tie,-inf\n", "x.csv", "line 2, column tstamp: found '-inf'"),
        ("model_a,model_b,winner,weight\nx,y,tie,1e300\n", "x.csv", r"found '1e300', .* up to 1e\+12"),
        (
            '{"model_a": "x", "model_b": "y", "winner": "tie", "weight": 1' + "0" * 400 + "}",
            "x.jsonl",
            "line 1, column weight: found 1000.*, expected a number",
        ),
        (
            '{"model_a": "x", "model_b": "y", "winner": "tie", "tstamp": 1' + "0" * 400 + "}",
            "x.jsonl",
            "line 1, column tstamp: found 1000.*, expected seconds or a date",
        ),
        ("[" * 50_000, "x.json", "row 1: lists or objects too deep"),
        ("[" * 50_000 + "\n", "x.jsonl", "too deep"),
        ('{"model_a": ' + "9" * 5000 + "}", "x.jsonl", "line 1: Exceeds the limit"),
        ("[", "x.json", r"row 1: not JSON \(it is cut short\)"),
        (HEAD + 'x,y,"tie\n', "x.csv", r"line 2: no CSV \(unexpected end of data\)"),
        ('{"model_a": "x"\n{', "x.jsonl", "x.jsonl"),
        ('{"model_a":"x","model_b":"y","winner":"tie"}\n{oops\n', "x.jsonl", "line 2, column 2: not JSON"),
        ('[{"model_a":"x","model_b":"y","winner":"tie"}, {"model_a":', "x.json", "row 2: not JSON"),
        (
            '[{"model_a":"x","model_b":"y","winner":"tie"}]\n[{"model_a":"x","model_b":"y","winner":"tie"}]',
            "x.json",
            "row 1: there is more after the end of the list",
        ),
        (
            HEAD + "x" * 1001 + ",y,tie\n",
            "x.csv",
            "model_a: found 1,001 characters, expected a name of at most",
        ),
        ('[{"players": ["x", " x"], "ranks": [1, 2]}]', "x.json", "'x' plays against itself alone"),
        ("[1, 2]", "x.json", "row 1: found 1, expected an object"),
        ('[{"players": ["x"], "ranks": [1]}]', "x.json", "expected a list of two or more"),
        (
            '[{"players": ["x", "y"], "ranks": [1]}]',
            "x.json",
            r"row 1, column ranks: found \[1\], expected a list of 2",
        ),
        (
            '[{"players": ["x", "y"]}]',
            "x.json",
            "there is no column ranks or scores; the columns are players",
        ),
        ('[{"players": ["x", "y"], "ranks": [1, NaN]}]', "x.json", "ranks: found nan, expected a number"),
        ('[{"players": ["x", 3.5], "ranks": [1, 2]}]', "x.json", r"players: found 3\.5, expected a name"),
        ('[{"players": ["x", ["x", "y"]], "ranks": [1, 2]}]', "x.json", "'x' plays in two teams"),
        (
            '[{"players": ["x", "y"], "ranks": [1, 2], "scores": [3, 5]}]',
            "x.json",
            r"ranks and scores disagree \(\[1, 2\], \[3, 5\]\)",
        ),
        ("game,player,rank\n1,x,1\n", "x.csv", "game '1' has one side only"),
        ("game,player,rank,team\n1,x,1,t\n1,y,2,t\n", "x.csv", "team 't' has two different ranks"),
        (
            '[{"battle_outcome": "z_wins", "model_A_info": {"name": "x"}, "model_B_info": {"name": "y"}}]',
            "x.json",
            "column battle_outcome: found 'z_wins', expected tie or a name followed by _wins",
        ),
        (
            '[{"battle_outcome": "tie", "model_A_info": 3, "model_B_info": {"name": "y"}}]',
            "x.json",
            "column model_A_info.name: empty",
        ),
    ],
)
def test_bad_data_is_named_with_file_row_and_column(text: str, name: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read([(name, io.BytesIO(text.encode()))])


def test_wrong_encodings_are_named() -> None:
    usual = {"\u041c\u0438\u0440": "cp1251", "\u5f20\u4e09": "gb18030"}
    for word, encoding in usual.items():
        body = (HEAD + f"x,{word},tie\n").encode(encoding)
        with pytest.raises(
            DataError, match=r"x\.csv, line 2: byte 0x.. is not UTF-8; save the file as UTF-8"
        ):
            battles(body)
    with pytest.raises(DataError, match="line 3: byte 0xe9 is not UTF-8"):
        battles(f"{HEAD}\u5f20\u4e09,y,model_a\n".encode() + b"x,caf\xe9,tie\n" + b"x,y,model_a\n" * 9)
    with pytest.raises(DataError, match=r"x\.csv, .*found bytes that are not UTF-16"):
        battles((HEAD + "x,y,tie\n").encode("utf-16") + b"\0")


def test_western_text_that_is_not_utf_8_is_read_and_said() -> None:
    found = battles((HEAD + "caf\u00e9,na\u00efve \u2013 2,model_a\n").encode("cp1252"))
    assert found.names == ("caf\u00e9", "na\u00efve \u2013 2")
    assert found.notes == ("read as Windows-1252 (Latin-1), since it is not UTF-8: x.csv",)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separator_encoding_and_ends_of_lines_are_recognized(mark: str, encoding: str, end: str) -> None:
    lines = ["model_a,model_b,winner", "caf\u00e9,y,caf\u00e9", "y,caf\u00e9,tie"]
    text = end.join([line.replace(",", mark) for line in lines])
    data = battles(text.encode(encoding))
    assert data.names == ("caf\u00e9", "y")
    assert data.duels.score.tolist() == [1, 0.5]
    assert data.notes == ()


def test_a_separator_may_be_stated_as_excel_does() -> None:
    assert battles("sep=;\nmodel_a;model_b;winner\nx,1;y;tie\n").names == ("x,1", "y")


def test_all_bad_rows_are_named_at_once_with_their_lines() -> None:
    rows = ["x,y,maybe", 'x,"y"z,tie', "x,y,tie", "x,y", ",y,tie", *["x,x,tie"] * 9]
    with pytest.raises(DataError) as wrong:
        battles(HEAD + "\n".join(rows))
    told = str(wrong.value).split("\n  ")
    assert [line.partition(":")[0] for line in told[:6]] == [
        "x.csv, line 2, column winner",
        "x.csv, line 3",
        "x.csv, line 5, column winner",
        "x.csv, line 6, column model_a",
        "x.csv, line 7",
        "x.csv, line 8",
    ]
    assert told[10:] == [
        "… and 3 more such lines",
        "`--winner WORD=a` (b, tie, both bad, none) says what a word means",
    ]


def test_a_cell_over_several_lines_counts_them() -> None:
    with pytest.raises(DataError, match="line 5, column winner"):
        battles('model_a,model_b,winner,reply\nx,y,tie,"one\ntwo\nthree"\nx,y,perhaps,z\n')


def test_rows_without_a_winner_are_left_out_and_counted() -> None:
    data = battles(HEAD + "a,b,model_a\na,b,\na,b,NaN\na,b,inconclusive\nnan,b,nan\n")
    assert data.duels.score.tolist() == [1, 1]
    assert data.notes == ("3 rows without a winner are left out (1 empty, 1 nan, 1 inconclusive)",)


def test_left_and_right() -> None:
    data = battles(
        "left,right,winner\nPizza,Sushi,left\nBurger,Pasta,right\nPasta,Burger,tie\nleft,Pasta,right\n"
    )
    assert data.duels.score.tolist() == [1, 0, 0.5, 0]


@pytest.mark.parametrize(
    ("ending", "packed"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_what_is_packed_is_read(ending: str, packed: Callable[[bytes], bytes]) -> None:
    body = packed((HEAD + "x,y,model_a\n" * 999).encode())
    assert len(battles(body, f"x.csv.{ending}").duels) == 999
    with pytest.raises(DataError, match=rf"x\.csv\.{ending}: damaged, "):
        battles(body[:-20], f"x.csv.{ending}")
    with pytest.raises(DataError, match=r"x\.csv is compressed by Zstandard; unpack it first"):
        battles(b"\x28\xb5\x2f\xfd" + bytes(100))


def test_a_broken_element_far_from_the_end_is_told_without_the_rest() -> None:
    entry = {"model_a": "x", "model_b": "y", "winner": "tie"}
    text = "[" + json.dumps(entry) + ",\n{oops}," + "[1]," * 200_000
    with pytest.raises(DataError, match=r"x\.json, line 2, row 2: not JSON .*; nothing behind it was read"):
        battles(text, "x.json")


def test_numbers_as_python_writes_them_are_read() -> None:
    entry = {"model_a": "x", "model_b": "y", "winner": "tie", "other": float("nan"), "more": 10**30}
    for text in (json.dumps(entry), json.dumps([entry])):
        assert len(battles(text, "x.json").duels) == 1


LENIENT = HEAD + "x,y,model_a\n" * 9 + "x,y,perhaps\nx,x,tie\nx\ny,x,\n"


def test_few_bad_rows_spoil_nothing_and_are_listed_and_strict_refuses_them_all() -> None:
    found = battles(LENIENT)
    assert len(found.duels) == 9
    assert found.notes[0] == "1 row without a winner is left out (1 empty)"
    assert found.notes[1] == "3 rows cannot be used and are left out (`--strict` refuses them):"
    assert [note.partition(":")[0] for note in found.notes[2:]] == [
        "in x.csv, line 11, column winner",
        "in x.csv, line 12",
        "in x.csv, line 13, column model_b",
    ]
    with pytest.raises(
        DataError, match=r"line 11.*\n.*line 12.*\n.*line 13.*\n.*line 14, column winner: found empty"
    ):
        read([("x.csv", io.BytesIO(LENIENT.encode()))], given=GivenForm(strict=True))


def test_columns_asked_for_must_be_there() -> None:
    with pytest.raises(DataError, match="there is no column judge; the columns are model_a, model_b, winner"):
        battles(HEAD + "x,y,tie\n", labels=("judge",))
    with pytest.raises(DataError, match="there is no column length_a"):
        battles(HEAD + "x,y,tie\n", controls=("length",))


def test_columns_that_are_told_are_those_of_the_file() -> None:
    with pytest.raises(
        DataError, match=r"there is no column wit_a; the columns are left, right, winner, date$"
    ):
        battles("left,right,winner,date\nx,y,tie,2025-09-02\n", controls=("wit",))


def test_a_column_asked_for_by_the_name_that_a_file_gives_it_is_there() -> None:
    data = battles("model_a,model_b,winner,question_id\nx,y,tie,q1\n", labels=("question_id", "question"))
    assert data.labels == {"question_id": ("q1",), "question": ("q1",)}


def test_a_stated_layout_is_not_guessed() -> None:
    layout: Layout = "games"
    with pytest.raises(DataError, match="there is no column player"):
        read([("x.csv", io.BytesIO((HEAD + "x,y,tie\n").encode()))], layout)


def test_a_huge_field_is_no_hindrance_and_leaves_no_trace() -> None:
    import csv

    before = csv.field_size_limit()
    text = "model_a,model_b,winner,reply\nx,y,tie," + "z" * 300_000 + "\n"
    assert len(list(rows(io.BytesIO(text.encode()), "x.csv", ReadingReport()))) == 1
    assert csv.field_size_limit() == before


def test_controls_are_found_nested_as_lmarena_has_them() -> None:
    """The releases of 100k and 140k votes: numbers of tokens, and counts by kind."""
    metadata = {
        "sum_assistant_a_tokens": 300, "header_count_a": {"h1": 1, "h2": 2, "h3": None},
        "list_count_a": {"ordered": 4, "unordered": 0}, "bold_count_a": {"**": 5, "__": 1},
        "sum_assistant_b_tokens": 100, "header_count_b": {"h1": 0}, "list_count_b": {"ordered": 0},
        "bold_count_b": {"**": 2},
    }  # fmt: skip
    row = {"conv_metadata": metadata}
    first, second = [{**row, "model_a": a, "model_b": b, "winner": "both_bad"} for a, b in ("xy", "yx")]
    second["conv_metadata"] = json.dumps({**metadata, "bold_count_b": {"**": 9}})
    names = ("length", "headings", "lists", "bold")
    nested = battles("\n".join(map(json.dumps, [first, second])), "x.jsonl", controls=names)
    sides = [[300, 100, 3, 0, 4, 0, 6, 2], [300, 100, 3, 0, 4, 0, 6, 9]]
    head = ",".join([f"{name}_{side}" for name in names for side in "ab"])
    rows = [
        f"{a},{b},tie,{','.join(map(str, side))}\n" for (a, b), side in zip(("xy", "yx"), sides, strict=True)
    ]
    plain = battles(f"model_a,model_b,winner,{head}\n{''.join(rows)}", controls=names)
    assert {name: list(found) for name, found in nested.controls.items()} == {
        name: list(found) for name, found in plain.controls.items()
    }
    own = battles("\n".join(map(json.dumps, [{**first, "length_b": "7"}, second])), "x.jsonl", controls=names)
    assert list(own.controls["length"]) != list(plain.controls["length"]), "a column of its own comes first"
    with pytest.raises(DataError, match="there is no column wit_a"):
        battles(json.dumps(first), "x.jsonl", controls=("wit",))
    del metadata["list_count_b"]
    with pytest.raises(DataError, match=r"line 1, column conv_metadata\.list_count_b: empty"):
        battles(json.dumps(first), "x.jsonl", controls=("lists",))
