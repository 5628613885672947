"""Answers that others recorded (logs of Inspect, or rows in files), in pairs for judges to compare.

    pairs = paired(rows, Report())  # player, challenge, question, answer; if there, epoch, solved and choices
    pairs.items              # two answers of two players to one question, word for word the same
    pairs.notes              # what was left out, and why, in words

The text of such a file is hostile: question and answers reach judges between markers, and text that is too
long is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain, combinations, count
from string import ascii_uppercase
from typing import Any, NamedTuple, TypeAlias

import msgspec

from peerage.games.rejudge.recorded import FIRST, SECOND, RecordedAnswers, RecordedText
from peerage.judging.panels.prompts import COMPARE
from peerage.ratings.read.answers import part_solved
from peerage.ratings.read.report import ReadingReport, RowError, as_name, number_of
from peerage.values.texts import storable, visible

LONGEST = 100_000
"""Characters of a question or an answer that judges can be shown."""
_LONGEST_TITLE = 200
COLUMNS = ("player", "challenge", "question", "answer")


class RejudgedPairs(NamedTuple):
    """Pairs for judges, and what was left out. `record` of a pair is the SHA-256 (hex) of the question and
    its name, `id` that of the two answers; `first` is 1, ½ or 0 by what the file says was solved, empty where
    it does not."""

    items: tuple[RecordedAnswers, ...]
    notes: tuple[str, ...]


class AnswerOfFile(NamedTuple):
    """An answer, and the part that was solved by it, None where the file does not say that."""

    player: str
    text: str
    solved: float | None = None


AnswersOfFiles: TypeAlias = dict[tuple[str, int], dict[str, dict[str, AnswerOfFile]]]
"""Answers by player, by the question's words, by its name and try."""


def paired(rows: Iterable[Mapping[str, Any]], report: ReadingReport) -> RejudgedPairs:
    """Return every two players' answers to one question, try by try (`epoch`), as `answered` reads them."""
    samples, notes = answered(rows, report)
    return RejudgedPairs(tuple(_pairs(samples)), notes)


def answered(
    rows: Iterable[Mapping[str, Any]], report: ReadingReport
) -> tuple[AnswersOfFiles, tuple[str, ...]]:
    """Return the answers in rows that `report` places, and what was left out, in words. Raises DataError,
    which names the places, for rows that are no recorded answers."""
    samples: AnswersOfFiles = {}
    out: Counter[str] = Counter()
    asked: dict[str, Any] = {}
    later: list[tuple[tuple[str, str, int], Mapping[str, Any]]] = []
    for row in rows:
        if "question" in row and {"player", "answer"}.isdisjoint(row):  # of a file of questions
            asked[str(row.get("challenge"))] = row["question"]
        elif "question" not in row and "answer" in row:
            later.append(((report.file, report.unit, report.number), row))
        else:
            with report:
                _take(row, samples, out)
    for (report.file, report.unit, report.number), row in later:
        name = str(row.get("challenge"))
        with report:
            _take({**row, "question": asked[name]} if name in asked else row, samples, out)
    report.check()
    alone = sum(len(given) == 1 for asked in samples.values() for given in asked.values())
    if alone:
        out["{} to a question that no other player was asked in the same words"] = alone
    notes = [
        f"left out: {reason.format(f'{count:,} answer' + 's' * (count > 1))}" for reason, count in out.items()
    ]
    return samples, tuple(notes)


def _take(row: Mapping[str, Any], samples: AnswersOfFiles, out: Counter[str]) -> None:
    """Take a row in, or count why it is left out. Raises RowError for what is no recorded answer."""
    missing = [name for name in COLUMNS if name not in row]
    if missing:
        raise RowError(
            f"expected recorded answers ({', '.join(COLUMNS)}) or a log of Inspect; there is no "
            f"{missing[0]}, and the columns are {', '.join(row):.2000}"
            + "; name the file of the questions too"
            * (missing == ["question"])
        )
    player, sample = storable(str(row["player"])), storable(str(row["challenge"]))
    if len(sample) > _LONGEST_TITLE:  # the question itself
        sample = f"{sample[:_LONGEST_TITLE]}… {_digest([sample])[:8]}"
    player, sample = as_name(player, "player"), as_name(sample, "challenge")
    asked, answered, choices = row["question"], row["answer"], row.get("choices")
    if (
        isinstance(asked, str)
        and isinstance(choices, list)
        and all(isinstance(each, str) for each in choices)
    ):
        names = chain(ascii_uppercase, map(str, count(1)))  # as Inspect names choices
        asked = "\n".join([asked, *map("{}) {}".format, names, choices)])
    if answered is None or row.get("error"):
        out["{} ended in an error, without an answer"] += 1
    elif not isinstance(asked, str) or not isinstance(answered, str) or not asked.strip():
        out["{} to something else than text, which judges cannot be shown"] += 1
    elif max(len(asked), len(answered)) > LONGEST:
        out[f"{{}} longer than {LONGEST:,} characters, or to a question that is"] += 1
    else:
        tries = samples.setdefault((sample, _try_of(row)), {})
        answers = tries.setdefault(storable(asked), {})
        if player in answers:
            out["{} that the same player gave again: the first in the files counts"] += 1
        else:
            answers[player] = AnswerOfFile(
                player, storable(answered), part if (part := part_solved(row.get("solved"))) == part else None
            )


def _pairs(samples: AnswersOfFiles) -> Iterator[RecordedAnswers]:
    for (sample, again), asked in samples.items():
        for question, given in asked.items():
            for first, second in combinations(sorted(given.values()), 2):
                yield pair_of(sample, question, first, second, again)


def pair_of(
    sample: str, question: str, first: AnswerOfFile, second: AnswerOfFile, again: int = 1
) -> RecordedAnswers:
    """Return two answers to a question, the try `again` at the sample of that name, for judges."""
    prompt = COMPARE.prompt(())
    score = _better(first.solved, second.solved)
    return RecordedAnswers(
        source=0,
        record=_digest([sample, question]),
        id=_digest([again, first.player, first.text, second.player, second.text]),
        title=visible(sample) + (f", try {again}" if again > 1 else ""),
        asked=(prompt.system, prompt.user),
        given={"question": RecordedText(question, "question")},
        authors={FIRST: first.player, SECOND: second.player},
        answers={FIRST: first.text, SECOND: second.text},
        first={} if score is None else {FIRST: score, SECOND: 1 - score},
    )


def same_model(model: str, author: str) -> bool:
    """Return whether the `author` of a file may be this `model` (`provider:name`), however its provider is
    written: `openai/x`, `openai:x`, `x`. A tag is of the name: `llama3:8b` and `mistral:8b` are two."""
    name = model.lower().partition(":")[2].rpartition("/")[2]
    written = author.lower().rpartition("/")[2]
    return written == name or written.endswith(f":{name}")


def _digest(content: list[Any]) -> str:
    return sha256(msgspec.json.encode(content)).hexdigest()


def _better(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return 0.5 if first == second else float(first > second)


def _try_of(row: Mapping[str, Any]) -> int:
    """Return the number of the try that an answer is of, 1 where no column has it. Raises RowError."""
    value = row.get("epoch")
    if value is None or value == "" or value != value:
        return 1
    number = number_of(value, "epoch")
    if number != int(number):
        raise RowError(f"found {value!r:.60}, expected a whole number", "epoch")
    return int(number)
