"""The decision about the owner's tasks: contenders, what would change the choice, telling matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from msgspec.structs import replace

from peerage.game.blocks import Heading, Sentence
from peerage.judging.checks.programs import PROGRAM_FAILED
from peerage.ledger.topics.settings_log import settings_changes
from peerage.ratings.accuracy import difference
from peerage.reading.reading import Reading
from peerage.reading.verdicts.credits import Credits, about_tasks
from peerage.render.blocks import Conclusion, Section, ViewBlock
from peerage.settings import rules_of
from peerage.values.figures import counted, dollars, percent
from peerage.views.decision.contenders import CategoryPart, by_category, contenders, table
from peerage.views.decision.examples import RULE, blocks, examples
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.verdict import Verdict, named

if TYPE_CHECKING:
    from peerage.views.plan.outlook import Outlook

ENOUGH = 5
"""Tasks, or without checks matches, that a category needs for its order to be compared."""
AHEAD = 0.05
"""The least lead of a rival in a category that is worth a word."""
MANY = 0.1
"""Share of the answers on which a program fails that is worth a word."""


def decision(reading: Reading, board: Leaderboard, ahead: Callable[[], Outlook | None]) -> Verdict:
    """Return the verdict of a table with everybody's record and, in arenas of the owner's tasks, weakest
    category, what would change the pick, and examples. `ahead` forecasts further matches.
    Raises LedgerError."""
    verdict, credits = board.verdict, board.credits
    if not any(about_tasks(game) for game in board.games):
        return replace(verdict, contenders=tuple(contenders(board, {})))
    parts = by_category(credits)
    ranked = contenders(board, parts)
    if not ranked:
        return verdict
    behind = _less_accurate(ranked, credits)
    return replace(
        verdict,
        by_task=True,
        lines=(*verdict.lines, *behind, *_changed(reading, credits), *_unchecked(credits)),
        contenders=tuple(ranked),
        would_change=tuple(
            _would_change(ranked, board, parts, ahead() if board.verdict.may_be_as_good else None)
        ),
        examples=tuple(examples(reading, credits.matches, [row.player for row in ranked])),
    )


def shown(found: Verdict) -> list[ViewBlock]:
    """Return a verdict with all that belongs to it; of the owner's tasks the decision."""
    return [Conclusion(found.lines), *([below(found)] if found.by_task else ())]


def below(found: Verdict) -> Section:
    """Return what stands below the sentences of a verdict on the owner's tasks."""
    return Section("decision", [*_below(found)])


def _below(found: Verdict) -> Iterator[ViewBlock]:
    yield table(found.contenders, found.level)
    if found.would_change:
        yield Heading("What would change this")
        yield from (Sentence(line) for line in found.would_change)
    if found.examples:
        yield Heading("Telling matches")
        yield Sentence(f"{RULE} `peerage match NUMBER` shows all of one.", "quiet")
    for example in found.examples:
        yield Section("telling", [*blocks(example)])


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


def _would_change(
    ranked: Sequence[Row], board: Leaderboard, by_category: Mapping[str, CategoryPart], ahead: Outlook | None
) -> Iterator[str]:
    """Yield what would change the pick: more matches, if any are left, a price, a category."""
    clear = ahead.clear if ahead else None
    pick, *rivals = [row for row in ranked if row.player not in board.verdict.out]
    if not board.verdict.may_be_as_good:
        if len(ranked) > 1:
            yield "More matches will hardly change the pick: nobody else has a 5% chance to be better."
    elif clear is not None and clear.matches is not None and clear.matches:
        price = f" ({dollars(clear.usd)})" if clear.usd else ""
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
    if ahead is not None and ahead.shortage:
        yield ahead.shortage
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
    saves = f"saves {dollars(1000 * saved)} per 1,000 tasks"
    if worth == inf:
        return f"If the checks are all that matters, take {row.player}: it {saves}, and is no less accurate."
    wrong = max(1, round(1000 * lost))
    return (
        f"If a wrong answer costs you less than {dollars(worth)}, take {row.player}: it {saves} and gets "
        f"{wrong:,} more of them wrong."
    )


def _category(pick: str, rivals: Sequence[str], by_category: Mapping[str, CategoryPart]) -> str:
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
