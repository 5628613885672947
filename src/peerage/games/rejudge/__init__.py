"""Recorded answers before new judges, who compare two of them as a panel or score all those to one question.

    judge/1  > {"reason": "Only the first names the cause.", "verdict": "A"}         (judge/1/A-B)
    judge/2  > {"scores": [{"item": 1, "score": 7}, {"item": 2, "score": 4.5}, …]}   (score/judge/2/batch-1)

Nobody plays: the answers, their authors, and the prompts that the first judges got are in `Fixture.drawn`
(see `RecordedAnswers`). Only the judges are asked, so a match has judges and no seats, its outcome has no
scores, and no rating of any arena moves. Its facts are the result of a panel, `{"rejudged": NUMBER, "record":
DIGEST, "score": 1, ½ or 0 for answer A}`, or the scores as given.

Fixtures are made from a ledger (`engine.again.rejudge`) or from files (`games.rejudge.files`), never paired.
Too few valid votes or scores void the match (`inconclusive`).
"""

from peerage.games.rejudge.play import GAME as GAME
from peerage.games.rejudge.recorded import FIRST as FIRST
from peerage.games.rejudge.recorded import SECOND as SECOND
from peerage.games.rejudge.recorded import RecordedAnswers as RecordedAnswers
from peerage.games.rejudge.recorded import RecordedText as RecordedText
from peerage.games.rejudge.recorded import RejudgeRules as RejudgeRules
from peerage.games.rejudge.recorded import author_of as author_of
from peerage.games.rejudge.recorded import recorded_in as recorded_in
from peerage.games.rejudge.recorded import scored_asks as scored_asks
