"""The decision about the owner's tasks: each player's price, accuracy, wins and weakest category, what would
change the choice, and a few matches that show why. Every medium writes this data."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from peerage.game.blocks import MARK, Replies
from peerage.game.protocol import render
from peerage.judging.checks.programs import PROGRAM_FAILED
from peerage.ledger.topics.settings_log import settings_changes
from peerage.ratings.accuracy import difference
from peerage.ratings.strength.posterior import Bin
from peerage.reading.matches import Match
from peerage.reading.reading import Reading
from peerage.reading.verdicts.credits import Credits, TaskMatch, about_tasks
from peerage.settings import rules_of
from peerage.values.figures import counted, dollars, estimated, percent
from peerage.views.leaderboard.board import Board
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.verdict import Contender, Example, Given, Verdict, Weakness, named

if TYPE_CHECKING:
    from peerage.scheduling.further import Further
    from peerage.views.plan.outlook import Outlook

EXAMPLES = 3
NOTE_CHARS = 160
"""Characters of a note, which quotes the answer, on one line."""
PROMPT_CHARS, ANSWER_CHARS = 300, 500
"""Characters of a text that an example shows."""
LINES = 6
"""Lines of a text that an example shows."""
ENOUGH = 5
"""Tasks, or without checks matches, that a category needs for its order to be compared."""
AHEAD = 0.05
"""The least lead of a rival in a category that is worth a word."""
MANY = 0.1
"""Share of the answers on which a program fails that is worth a word."""
RULE = (
    "Chosen by a fixed rule: those that a check decided first, the closest rival first, the newest first, "
    "one for each category, and one that the pick lost if there is any."
)


def decision(reading: Reading, board: Board, ahead: Callable[[], Outlook | None]) -> Verdict:
    """Return the verdict of a table with everybody's price, wins and, in arenas of the owner's tasks, weakest
    category, what would change the pick, and examples. `ahead` forecasts further matches.
    Raises LedgerError."""
    verdict, credits = board.verdict, board.credits
    ranked = _ranked(board.rows, verdict)
    if not ranked:
        return verdict
    if not any(about_tasks(game) for game in board.games):
        return replace(verdict, contenders=tuple([_contender(row, board, None) for row in ranked]))
    by_category = _by_category(credits)
    behind = list(_less_accurate(ranked, credits))
    contenders = [_contender(row, board, _weakness(row.player, credits, by_category)) for row in ranked]
    return replace(
        verdict,
        by_task=True,
        lines=(*verdict.lines, *behind, *_changed(reading, credits), *_unchecked(credits)),
        contenders=tuple(contenders),
        would_change=tuple(_would_change(ranked, board, by_category, _clear(board, ahead))),
        examples=tuple(_examples(reading, credits, [row.player for row in ranked])),
    )


def _changed(reading: Reading, credits: Credits) -> Iterator[str]:
    """Say which tasks, and what of the judging, changed while this was played."""
    settings = reading.settings
    changed = credits.outdated
    if changed:
        yield (
            f"{_tasks(changed)} changed while this was played: accuracy counts the answers since then, "
            "ratings all matches."
        )
    now: dict[str, str] = {}
    for game in settings.lineup:
        now |= getattr(rules_of(settings, game), "digests", dict)() if about_tasks(game) else {}
    waiting = [task for task, digest in credits.asked.items() if now.get(task, digest) != digest]
    if waiting:
        verb = "was" if len(waiting) == 1 else "were"
        yield (
            f"{_tasks(waiting)} changed and {verb} not asked since: accuracy counts what was checked before."
        )
    removed = [task for task in credits.tasks if task not in now] if now else []
    if removed:
        yield f"{_tasks(removed)} left your file since: accuracy and ratings still count their answers."
    judges = {judge.name for judge in settings.judges}
    judging = [
        (change.after_match, part)
        for change in settings_changes(reading.moment)
        if (part := _of_judging(change.what, judges)) and change.after_match
        if part != TASKS or not (changed or waiting or removed)  # which is said already, task by task
    ]
    if judging:
        parts = ", ".join(dict.fromkeys([part for _, part in judging]))
        yield (
            f"{parts[:80]} changed after match {judging[-1][0]:,}: ratings count the matches before "
            "and after that alike."
        )


_JUDGING = re.compile(r"games\.[^.]+\.rules\.((?:judging|then|answer_schema)\b.*)")
TASKS = "the tasks"
"""A verdict's name for the file of tasks, whose change may be one of a rubric or of a reference alone."""


def _of_judging(changed: str, judges: Collection[str]) -> str:
    """Return what of the judging a changed setting is, in words; empty where it is nothing of it."""
    if changed.startswith("players."):
        ours = any(f"{changed}.".startswith(f"players.{judge}.") for judge in judges)
        return "judges" if ours and ".price" not in changed else ""
    if changed.endswith(".rules.tasks.digest"):
        return TASKS
    part = _JUDGING.fullmatch(changed)
    return part[1] if part else ""


def _tasks(names: Sequence[str]) -> str:
    shown = ", ".join([name[:40] for name in names[:3]])
    return f"{counted(len(names), 'task')} ({shown}{', …' if len(names) > 3 else ''})"


def _unchecked(credits: Credits) -> Iterator[str]:
    """Say where programs that check answers fail on many of them: it may be due to the program."""
    failed = [
        match.number
        for match in credits.matches
        for label in match.credits
        if match.notes.get(label, "").startswith(PROGRAM_FAILED)
    ]
    answers = sum(len(match.credits) for match in credits.matches)
    if failed and len(failed) >= MANY * answers:
        yield (
            f"Your program failed on {len(failed):,} of {answers:,} answers with a check, which have credit 0"
            f" for that: `peerage match {failed[-1]}` says why."
        )


def _ranked(rows: Sequence[Row], verdict: Verdict) -> list[Row]:
    """Return the rows of everybody that the verdict sorts, the pick first."""
    by_name = {row.player: row for row in rows}
    picked = () if verdict.pick is None else (verdict.pick,)
    names = (*picked, *verdict.may_be_as_good, *verdict.unlikely, *verdict.out)
    return [by_name[name] for name in names]


def _contender(row: Row, board: Board, weakness: Weakness | None) -> Contender:
    verdict = board.verdict
    best = row.best if row.best is not None else float(board.chances.best[board.chances.of(row.player)])
    cost = row.cost_per_match if board.in_dollars else None
    return Contender(
        player=row.player,
        model=row.model,
        bin=_bin(row.player, verdict),
        best=best,
        matches=row.matches,
        wins=row.wins,
        draws=row.draws,
        cost_per_thousand=None if cost is None else 1000 * cost,
        accuracy=row.accuracy,
        accuracy_lower=row.accuracy_lower,
        accuracy_upper=row.accuracy_upper,
        worst=weakness,
    )


def _bin(player: str, verdict: Verdict) -> Bin:
    """Return where a verdict puts a player."""
    if player == verdict.pick:
        return "pick"
    if player in verdict.may_be_as_good:
        return "may be as good"
    return "unlikely" if player in verdict.unlikely else "out"


class _Part(NamedTuple):
    """The results of one category: the credits of checks, or where it has none all matches."""

    credits: Credits
    shares: Mapping[str, tuple[float, int]]
    """By player its share of the points, a tie being half a win, and of how many matches."""
    checked: bool


def _by_category(credits: Credits) -> dict[str, _Part]:
    parts = credits.by_category or {"": credits}
    return {
        category: _Part(part, _shares(part.matches), bool(part.by_player)) for category, part in parts.items()
    }


def _shares(matches: Sequence[TaskMatch]) -> dict[str, tuple[float, int]]:
    sums: dict[str, list[float]] = {}
    for match in matches:
        for player, score in zip(match.players.values(), match.scores, strict=False):
            sums.setdefault(player, []).append(score)
    return {player: (sum(scores) / len(scores), len(scores)) for player, scores in sums.items()}


def _weakness(player: str, credits: Credits, by_category: Mapping[str, _Part]) -> Weakness | None:
    """Return the category in which a player is least accurate, or where nothing is checked has the smallest
    share of the points, with the task there that it did worst; None where nothing went wrong."""
    any_checked = any(part.checked for part in by_category.values())
    found = []
    for category, part in by_category.items():
        if any_checked:
            accuracy = part.credits.accuracies.get(player)
            if accuracy is not None:
                found.append((accuracy.accuracy, -accuracy.answers, category))
        elif player in part.shares:
            share, count = part.shares[player]
            found.append((share, -count, category))
    if not found or min(found)[0] == 1.0:
        return None
    share, count, category = min(found)
    failed = _failed(player, by_category[category].credits.matches, checked=any_checked)
    return Weakness(
        category=category,
        share=share,
        of="accuracy" if any_checked else "points",
        answers=-count,
        task=failed.task if failed else "",
        match=failed.number if failed else None,
        note=_line(failed.note(player)) if failed else "",
    )


def _failed(player: str, matches: Sequence[TaskMatch], *, checked: bool) -> TaskMatch | None:
    """Return the match in which a player did worst: the least credit, or a defeat; of several the newest."""
    if checked:
        tried = [(credit, -one.number, one) for one in matches if (credit := one.credit(player)) is not None]
        worst = min([one for one in tried if one[0] < 1.0], key=lambda one: one[:2], default=None)
        return worst[2] if worst else None
    lost = [one for one in matches if player in one.players.values() and one.winner not in ("", player)]
    return lost[-1] if lost else None


def _less_accurate(ranked: Sequence[Row], credits: Credits) -> Iterator[str]:
    """Yield the sentence on whose accuracy is below the pick's, who are not out by their matches."""
    pick, *rivals = ranked
    mine = credits.by_player.get(pick.player, {})
    names = []
    for row in rivals:
        gap = difference(mine, credits.by_player.get(row.player, {})) if row.bin != "out" else None
        if gap is not None and gap.lower > 0:
            names.append(row.player)
    if names:
        less = f"{named(names)} {'is' if len(names) == 1 else 'are'} less accurate than {pick.player}"
        yield f"By the checks alone, {less} (95%)."


def _clear(board: Board, ahead: Callable[[], Outlook | None]) -> Further | None:
    """Return what it takes until nobody else may be as good as the pick; None where nothing can be said."""
    if not board.verdict.may_be_as_good:
        return None
    found = ahead()
    return found.clear if found else None


def _would_change(
    ranked: Sequence[Row], board: Board, by_category: Mapping[str, _Part], clear: Further | None
) -> Iterator[str]:
    """Yield what would change the pick: more matches, a price, a category."""
    pick, *rivals = [row for row in ranked if row.player not in board.verdict.out]
    if not board.verdict.may_be_as_good:
        if len(ranked) > 1:
            yield "More matches will hardly change the pick: nobody else has a 5% chance to be better."
    elif clear is not None and clear.matches is not None and clear.matches:
        price = f" ({estimated(clear.usd)})" if clear.usd else ""
        more = counted(clear.matches, "more match")
        yield (
            f"More matches may change the pick: it takes about {more}{price} until nobody else has a "
            "5% chance to be better."
        )
    elif clear is not None and clear.matches is None and clear.at_least > 1:
        yield (
            f"More matches may change the pick, but slowly: at least {clear.at_least:,} more until nobody "
            "else has a 5% chance to be better."
        )
    if board.in_dollars and (told := _price(pick, rivals)):
        yield told
    if told := _category(pick.player, [row.player for row in rivals], by_category):
        yield told


def _price(pick: Row, rivals: Sequence[Row]) -> str:
    """Return what a wrong answer must cost for the pick to be worth its price, against the rival that is the
    first to be the better buy; empty where nobody is cheaper."""
    bought: list[tuple[float, Row, float, float]] = []
    for row in rivals:
        if None in (row.accuracy, pick.accuracy, row.cost_per_match, pick.cost_per_match):
            continue
        saved = (pick.cost_per_match or 0.0) - (row.cost_per_match or 0.0)
        lost = (pick.accuracy or 0.0) - (row.accuracy or 0.0)
        if saved > 0:
            bought.append((saved / lost if lost > 1e-9 else inf, row, saved, lost))
    if not bought:
        return ""
    worth, row, saved, lost = max(bought, key=lambda one: one[0])
    saves = f"saves {_money(1000 * saved)} per 1,000 tasks"
    if worth == inf:
        return f"If the checks are all that matters, take {row.player}: it {saves}, and is no less accurate."
    wrong = max(1, round(1000 * lost))
    return (
        f"If a wrong answer costs you less than {_money(worth)}, take {row.player}: it {saves} and gets "
        f"{wrong:,} more of them wrong."
    )


def _money(value: float) -> str:
    return dollars(value) if value < 1e-3 else estimated(value)


def _category(pick: str, rivals: Sequence[str], by_category: Mapping[str, _Part]) -> str:
    """Return the category in which a rival is ahead of the pick, the surest one; empty where none is."""
    found: list[tuple[float, str, str, str, bool]] = []
    for category, part in by_category.items():
        if not category:
            continue
        for rival in rivals:
            if part.checked:
                mine, theirs = (part.credits.by_player.get(name, {}) for name in (pick, rival))
                gap = difference(theirs, mine)
                if gap is None or gap.tasks < ENOUGH or gap.difference < AHEAD:
                    continue
                accuracy = part.credits.accuracies
                shares = accuracy[rival].accuracy, accuracy[pick].accuracy
                sure, lower, what = gap.lower > 0, gap.lower, "right"
            else:
                (share, count), (own, met) = (part.shares.get(name, (0.0, 0)) for name in (rival, pick))
                if min(count, met) < ENOUGH or share - own < AHEAD:
                    continue
                shares, sure, lower, what = (share, own), False, share - own - 1, "of the points"
            if shares[0] > shares[1]:
                words = f"{percent(shares[0])} {what} against {percent(shares[1])}"
                found.append((lower, category, rival, words, sure))
    if not found:
        return ""
    _, category, rival, words, sure = max(found, key=lambda one: one[0])
    return f"On {category} {rival} is ahead of {pick}: {words}{'' if sure else ', which may be chance'}."


# ------------------------------------------------------------------------------------------- examples


def _examples(reading: Reading, credits: Credits, order: Sequence[str]) -> Iterator[Example]:
    """Yield telling matches of the pick, the first of `order`, against the others: see `RULE`."""
    for chosen in telling(credits.matches, order):
        yield _example(chosen, reading.match(chosen.number), order[0])


def telling(matches: Sequence[TaskMatch], order: Sequence[str]) -> list[TaskMatch]:
    """Return the matches that `RULE` chooses; `order` has the pick first, then its rivals, the closest
    first."""
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
    asked = [message for message in (first.asked() if first else ()) if message.speaker == "user"]
    prompt = _cut(render(asked[-1], MARK) if asked else "", PROMPT_CHARS)
    return Example(
        match=one.number,
        task=one.task,
        category=one.category,
        prompt=prompt.text,
        prompt_more=prompt.more,
        answers=tuple([_given(one, label, replies) for label in labels]),
        winner=one.winner,
        decided=one.decided,
    )


def _given(one: TaskMatch, label: str, replies: Replies) -> Given:
    reply = replies.get(f"answer/{label}")
    answer = _cut(reply.text if reply else "", ANSWER_CHARS)
    player = one.players[label]
    return Given(
        player=player,
        text=answer.text,
        more=answer.more,
        status=reply.status if reply else "void",
        credit=one.credit(player),
        note=_line(one.note(player)),
    )


class _Excerpt(NamedTuple):
    text: str
    more: int
    """Characters left out."""


def _cut(text: str, most: int) -> _Excerpt:
    """Return the beginning of a text: so many characters, and few lines, none of them empty."""
    whole = re.sub(r"\n\s*\n", "\n", text.strip())
    kept = "\n".join(whole[:most].split("\n")[:LINES]).rstrip()
    return _Excerpt(kept, len(whole) - len(kept))


def _line(text: str) -> str:
    """Return a note on one line."""
    note = " ".join(text.split())
    return note if len(note) <= NOTE_CHARS else f"{note[:NOTE_CHARS]}…"
