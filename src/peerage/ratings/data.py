"""Anybody's results, read into histories: battles, games, answers, and the two recorded formats.

- **battles**: `model_a`, `model_b`, `winner` (`model_a`, `model_b`, `tie`, `tie (bothbad)`: LMArena's
  words), and if there are any `judge`, `weight`, `question` (or `question_id`), `timestamp` (or `tstamp`,
  `date`), `battle_id`, `cost_a` and `cost_b`; for `--control length` the columns `length_a` and `length_b`;
  for prediction-powered ratings `human`, a person's verdict beside the model's, empty where there is none.
- **games**: one row a game with lists, `players` and `ranks` (lower is better) or `scores` (higher is
  better), a player being a name or a team's list of names; or one row a seat with `game`, `player`, `rank`
  or `score`, and `team` where several play together. Optional `weight`, `timestamp`, and lists
  of what each team's play took: `costs` (dollars), `tokens`, `seconds`. Matches that `peerage export` wrote
  are games too.
- **answers**: one row an answer, with `player` (or `model`), `challenge` (or `item`, `question`) and `solved`
  (or `score`, `correct`): true or false, or a part from 0 to 1. Logs of Inspect and single results of Every
  Eval Ever are answers; of the latter those that `peerage export` wrote are games between those who met.
- **fastchat**: the votes in FastChat's own conversation logs, other lines of which are left out and counted.
- **valyrian**: a tournament of ValyrianTech/ValyrianGamesLeaderboard.
- **cob**: battles of 10decikelvin/cob.

Whatever cannot be read stops with the file, the row and the column; nothing is skipped in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from peerage.ratings import samples
from peerage.ratings.answers import Answers, AnswersRead
from peerage.ratings.battles import Battles, BattlesRead, cob
from peerage.ratings.exports import exported
from peerage.ratings.fields import Layout, columns, first_of, needed
from peerage.ratings.played import PlayedGames, PlayedRead, as_games, measured
from peerage.ratings.streams import DataError, rows


def read(
    streams: Iterable[tuple[str, BinaryIO]],
    layout: Layout = "auto",
    *,
    labels: Sequence[str] = (),
    controls: Sequence[str] = (),
    kept: Sequence[str] = (),
    human: bool = False,
    score: str = "",
) -> Battles | PlayedGames | Answers:
    """Read opened files, each with the name that errors give it, as one history.

    `labels` and `controls` name columns that must be there, `kept` labels that need not (empty where they
    are missing); `human` reads people's verdicts too; `score` names the score of
    Inspect's logs that counts. With `auto` the first row decides. Rows with timestamps
    are put in their order, and so are games with dates.
    """
    battles, played, answers = BattlesRead(labels, controls, kept, human), PlayedRead(), AnswersRead()
    found: Layout | None = None if layout == "auto" else layout
    met = False
    for name, stream in streams:
        for number, row in rows(stream, name, score):
            if found is None:
                found = layout_of(row, name)
            where = f"{name}, row {number}"
            if found == "battles":
                battles.add(row, where)
            elif found == "cob":
                battles.add(cob(row, where), where)
            elif found == "fastchat":
                battles.add_vote(row, where)
            elif found == "valyrian":
                names = needed(row, "participants", where)
                played.add({**measured(row, names), **row, "players": names}, where)
            elif found == "answers":
                answers.add(row, where)
                met = met or row.get("match") is True
            else:
                played.add(row, where)
        played.close()
    if found is None:
        raise DataError("there are no rows to rate: every file is empty")
    if found == "answers":
        return _matches(answers.made()) if met else answers.made()
    return battles.made(found) if found in ("battles", "cob", "fastchat") else played.made(found)


def layout_of(row: Mapping[str, Any], name: str) -> Layout:
    """What the first row says that the data are. Raises DataError when it is nothing we know."""
    if "participants" in row:
        return "valyrian"
    if "battle_outcome" in row:
        return "cob"
    if "model_a" in row or "model_b" in row:
        return "battles"
    if "type" in row and "tstamp" in row and row.keys() & {"states", "state"}:
        return "fastchat"
    if exported(row) or "players" in row or ("game" in row and "player" in row):
        return "games"
    if first_of(row, "challenge") is not None and first_of(row, "solved") is not None:
        return "answers"
    raise DataError(
        f"{name}: expected battles (model_a, model_b, winner), games (players, ranks; or game, player, rank) "
        f"or answers (player, challenge, solved); its columns are {columns(row)}"
    )


def _matches(answers: Answers) -> PlayedGames:
    """Answers in matches, as games in the order of their numbers."""
    order = sorted(range(len(answers.challenges)), key=lambda at: samples.match_of(answers.challenges[at]))
    ordered = replace(
        answers,
        challenges=tuple([answers.challenges[at] for at in order]),
        solved=answers.solved[:, order],
    )
    found = as_games(ordered)
    if not found.games:
        raise DataError("no match has two of its players here: name the files of all, or their folder")
    return found
