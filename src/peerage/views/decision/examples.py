"""A few matches that show why the pick is the pick."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from peerage.game.blocks import MARK, Heading, Quoted, Replies, TaskText, Tone
from peerage.game.media import head
from peerage.game.protocol import render
from peerage.reading.match import Match
from peerage.reading.reading import Reading
from peerage.reading.verdicts.credits import TaskMatch
from peerage.render.blocks import Beside, ViewBlock
from peerage.values.figures import begun, percent
from peerage.views.decision.contenders import NOTE_CHARS
from peerage.views.leaderboard.verdict import Example, Given

EXAMPLES = 3
PROMPT_CHARS, ANSWER_CHARS = 300, 500
"""Characters of a text that an example shows."""
LINES = 6
"""Lines of a text that an example shows."""
RULE = (
    "Chosen by a fixed rule: those that a check decided first, the closest rival first, the newest first, "
    "one for each category, and one that the pick lost if there is any."
)


def examples(reading: Reading, matches: Sequence[TaskMatch], order: Sequence[str]) -> Iterator[Example]:
    """Yield telling matches of the pick, the first of `order`, against the others: see `RULE`."""
    for chosen in telling(matches, order):
        yield _example(chosen, reading.match(chosen.number), order[0])


def telling(matches: Sequence[TaskMatch], order: Sequence[str]) -> list[TaskMatch]:
    """Return the matches that `RULE` chooses; `order` has the pick, then its rivals, the closest first."""
    pick, place = order[0], {player: at for at, player in enumerate(order)}

    def rank(match: TaskMatch) -> tuple[bool, int, int]:
        rival = max(place.get(player, len(place)) for player in match.players.values())
        return match.decided != "by check", rival, -match.number

    decided = [one for one in matches if one.winner and pick in one.players.values()]
    decided.sort(key=rank)
    chosen = _distinct(decided, ())
    lost = [one for one in decided if one.winner != pick]
    if lost and all(one.winner == pick for one in chosen):
        chosen = _distinct(decided, lost[:1])
    return sorted(chosen, key=lambda one: (one.winner != pick, rank(one)))


def _distinct(matches: Sequence[TaskMatch], first: Sequence[TaskMatch]) -> list[TaskMatch]:
    """Return a few matches on distinct categories and tasks, where there are so many; `first` are in."""
    chosen = list(first)
    for distinct in ("category", "task"):
        for one in matches:
            taken = {getattr(other, distinct) for other in chosen}
            if len(chosen) < EXAMPLES and one not in chosen and getattr(one, distinct) not in taken:
                chosen.append(one)
    return chosen


def _example(one: TaskMatch, match: Match, pick: str) -> Example:
    replies = match.replies
    labels = sorted(one.players, key=lambda label: one.players[label] != pick)
    first = replies.get(f"answer/{labels[0]}")
    asked = [render(turn, MARK) for turn in (first.asked() if first else ()) if turn.speaker == "user"]
    asked = asked or [text for _, text in match.fixture.drawn.get("messages", ())]  # it was given before
    prompt, prompt_more = _cut(asked[-1] if asked else "", PROMPT_CHARS)
    return Example(
        match=one.number,
        task=one.task,
        category=one.category,
        prompt=prompt,
        prompt_more=prompt_more,
        answers=tuple([_given(one, label, replies) for label in labels]),
        winner=one.winner,
        decided=one.decided,
    )


def _given(one: TaskMatch, label: str, replies: Replies) -> Given:
    reply = replies.get(f"answer/{label}")
    answer, more = _cut(reply.text if reply else "", ANSWER_CHARS)
    player = one.players[label]
    return Given(
        player=player,
        text=answer,
        more=more,
        status=reply.status if reply else "void",
        credit=one.credit(player),
        note=begun(one.note(player), NOTE_CHARS),
    )


def _cut(text: str, most: int) -> tuple[str, int]:
    """Return a text's beginning: so many characters, few lines, none empty; how many characters are left."""
    whole = re.sub(r"\n\s*\n", "\n", text.strip())
    kept = "\n".join(head(whole, most).split("\n")[:LINES]).rstrip()
    return kept, len(whole) - len(kept)


def blocks(example: Example) -> Iterator[ViewBlock]:
    """Yield an example: its task, and both answers side by side."""
    category = f" ({example.category})" if example.category else ""
    how = f", decided {example.decided}" if example.decided else ""
    title = f"{example.task}{category}, match {example.match:,}: {example.winner} won{how}"
    yield Heading(title, 3, ("match", str(example.match)))
    yield TaskText(example.prompt, more=example.prompt_more)
    yield Beside([[_answer(one)] for one in example.answers])


def _answer(given: Given) -> Quoted:
    right = {None: "", 1.0: "right", 0.0: "wrong"}.get(given.credit, f"{percent(given.credit)} right")
    tone: Tone = "good" if given.credit == 1 else "bad" if given.credit is not None else ""
    if given.status != "ok":
        return Quoted(given.player, given.text, verdict=given.status, tone="bad", more=given.more)
    return Quoted(given.player, given.text, verdict=right, tone=tone, note=given.note, more=given.more)
