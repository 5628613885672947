"""Two players next to each other, and the gate that one has to pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from peerage.reading.speed import NEWEST
from peerage.render.blocks import Answer, Column, Rows, ViewBlock, explained, numbers, texts
from peerage.values.figures import counted, seconds, shortened, whole
from peerage.views.decision.compare import Comparison, Met
from peerage.views.decision.gate import Gate
from peerage.views.leaderboard.board import Board
from peerage.views.leaderboard.columns import table


def compared(board: Board, found: Comparison) -> Iterator[ViewBlock]:
    """Yield what a comparison comes to, both players' lines, and how they did against each other."""
    names = (found.one.player, found.other.player)
    yield Answer(found.lines)
    yield _lines(board, found)
    if not found.met:
        return
    short = shortened(names, 18)
    columns = [
        Column("on", "Against each other", value=_topic),
        Column("wins", short[names[0]], whole, number=True),
        Column("draws", "Tied", whole, number=True),
        Column("losses", short[names[1]], whole, number=True),
    ]
    yield Rows(found.met, columns, name="against each other")
    won = [(number, name) for name, of in zip(names, (found.won, found.lost), strict=True) for number in of]
    columns = [
        Column(
            "match", "Match", value=lambda row: f"match {row[0]:,}", link=lambda row: ("match", str(row[0]))
        ),
        Column("winner", "Won by", value=lambda row: row[1]),
    ]
    yield Rows(won, columns, title="The last that each of them won", name="won")


def _lines(board: Board, found: Comparison) -> Rows:
    both, names = (found.one, found.other), (found.one.player, found.other.player)
    block = table(replace(board, rows=both))
    took = dict(zip(names, found.seconds, strict=True))
    of = dict(zip(names, found.answers, strict=True))
    left_out = ("bin", "tier", "above", "weights", "void", "cost_usd", "possibly_usd")
    columns = [
        *[column for column in block.columns if column.key not in left_out],
        *explained(
            [
                Column("took", "Answer", seconds, number=True, spare=1, value=lambda row: took[row.player]),
                Column("answers", "Answers", whole, number=True, spare=1, value=lambda row: of[row.player]),
            ],
            took=f"the median time of its answers in its newest {NEWEST} matches",
            answers="how many these are",
        ),
    ]
    return replace(block, columns=columns, above=None, remarks=None, name="compared")


def _topic(met: Met) -> str:
    return met.topic or met.game or "everything"


DECISIONS = {"shown": "not worse", "worse": "worse", "open": "cannot tell yet"}


def gates(found: Sequence[Gate], title: str = "") -> Rows:
    """Return gates of the same two players, one for each topic."""
    accuracy = found[0].of == "accuracy"

    def write(value: float) -> str:
        return f"{100 * value:+.1f}" if accuracy else f"{100 * value:.1f}%"

    columns = [
        *texts(lambda topic: topic or "everything", topic="Topic"),
        *texts(DECISIONS.__getitem__, decision="Decision"),
        *numbers(write, value="Accuracy, points" if accuracy else "Wins"),
        *numbers(write, lower="From", upper="To", limit="Must be above"),
        *numbers(whole, tasks="Tasks", matches="Answers of each" if accuracy else "Matches"),
        *numbers(whole, more=f"More {counted(2, found[0].unit).partition(' ')[2]}"),
    ]
    return Rows(found, columns, title=title, name="gates", sorts=False)
