"""`peerage rate`: rate anybody's battles or games, from files."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from peerage.cli.shared.options import CommandRefused, TableFormat, refuse_nan
from peerage.cli.shared.output import show_blocks, show_table

Layout = Literal["auto", "battles", "games", "answers", "valyrian", "cob", "fastchat"]
Method = Literal["auto", "bt", "bradley-terry", "elo", "trueskill", "glicko2", "judge-aware", "irt", "paired"]
Side = Literal["raw", "cost"]
Ties = Literal["half", "davidson"]
Seats = Literal["mean", "best", "each"]
Part = Literal["players", "challenges", "pairs"]
Score = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="answers: the column that counts; of Inspect's logs a scorer, or SCORER/ENTRY.",
        show_default="solved, or the first score",
    ),
]

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="OURS=THEIRS,...",
        help="Which columns are ours: a=left,b=right,winner=label; also question, judge, category, "
        "timestamp, weight, player, challenge, solved, ...",
        show_default="by their names",
    ),
]
Winner = Annotated[
    list[str] | None,
    typer.Option(
        "--winner",
        metavar="THEIRS=OURS,...",
        help="What words for winners mean: 1=a,2=b,0=tie; also both bad, and none for no result. A number "
        "between those of a and b is a part of a win.",
        show_default="as they say",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse files with rows that would be left out otherwise.")
]
Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Files or folders; - reads the pipe.")]
Clusters = Annotated[
    list[str] | None, typer.Option(help="bt: column whose rows hang together; twice for judge and question.")
]
Controls = Annotated[
    list[str] | None, typer.Option(help="bt: hold equal, comma-separated; length reads length_a, length_b.")
]
K = Annotated[
    float | None, typer.Option("--k", min=0, max=1_000, help="Elo's K; elsewhere the k of mu - k sigma.")
]
Initial = Annotated[float, typer.Option(min=-1e6, max=1e6, help="elo, glicko2: a newcomer's rating.")]
DrawProbability = Annotated[float | None, typer.Option(min=0, max=1, help="trueskill: of equal players.")]
CostSensitivity = Annotated[float, typer.Option(min=0, max=1_000, help="track cost: what cost weighs.")]
By = Annotated[
    str,
    typer.Option(metavar="COLUMN", help="bt: a table for each category, pooled.", show_default="one table"),
]
BothBad = Annotated[float, typer.Option(min=0, max=1, help="battles: what a tie of two bad answers weighs.")]
Of = Annotated[
    Part | None, typer.Option("--of", help="irt, paired: one table alone (JSON, CSV: players, if not said).")
]


def rate(
    files: Files,
    method: Annotated[Method, typer.Option(help="auto: by the data, bt for battles, games of two.")] = "auto",
    layout: Annotated[Layout, typer.Option("--format", help="What the data is.")] = "auto",
    track: Annotated[Side, typer.Option(help="Elo: raw, or adjusted by cost_a and cost_b.")] = "raw",
    output: Annotated[TableFormat, typer.Option(help="How to write the table.")] = TableFormat.table,
    cluster: Clusters = None,
    control: Controls = None,
    by: By = "",
    both_bad: BothBad = 1.0,
    ties: Annotated[Ties, typer.Option(help="bt: how to read a tie.")] = "half",
    k: K = None,
    initial: Initial = 1500.0,
    draw_probability: DrawProbability = None,
    cost_sensitivity: CostSensitivity = 0.2,
    seats: Annotated[Seats, typer.Option(help="games: several seats of one player.")] = "mean",
    anchor: Annotated[str | None, typer.Option(help="The player who stands at 1500.")] = None,
    score: Score = "",
    of: Of = None,
    columns: Columns = None,
    winner: Winner = None,
    strict: Strict = False,
) -> None:
    """Rate battles or games in files: CSV, JSON lines, Parquet.

    JSON too, and folders of files; `-` reads the pipe. docs/ratings.md tells the columns and the methods.
    """
    given = {**locals(), "cluster": tuple(cluster or ())}
    refuse_nan(given)
    from peerage.ratings.frames import history
    from peerage.ratings.methods import Options, rate, wanted
    from peerage.ratings.read.forms import GivenForm
    from peerage.ratings.read.forms import pairs as columns_of
    from peerage.views.rated import challenges, pairs, players, tables

    words = ",".join(control or ()).split(",")
    controls = tuple(dict.fromkeys(name.strip() for name in words if name.strip()))
    try:
        options = Options(
            **{name: value for name, value in given.items() if name in Options.__dataclass_fields__},
            controls=controls,
        )
        form = GivenForm.of(columns_of(columns, "--columns"), columns_of(winner, "--winner"), strict=strict)
        report = rate(history(files, layout, score=score, given=form, **wanted(options)), options)
    except ValueError as error:
        raise CommandRefused(str(error)) from None
    others = {"challenges": challenges(report), "pairs": pairs(report)}
    if of in others and not others[of].rows:
        needs = "irt" if of == "challenges" else "paired"
        raise CommandRefused(f"--of {of} goes with answers (player, challenge, solved), rated by {needs}")
    if of not in others:
        listed = tables(report) if output.for_people else [players(report, ranks=False)]
        show_blocks(listed, listed[0], output)
    for name, block in others.items():
        if block.rows and (of == name or (of is None and output.for_people)):
            show_table(block, output)
