"""What the report on judges says in words, the gravest first: see `judges`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import numpy as np

from peerage.judging.marks.marks import Votes
from peerage.judging.measures.favours.evidence import Mute
from peerage.judging.measures.favours.two_minds import Blocks
from peerage.judging.measures.preference import ONE_SIDED
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.values.figures import listed
from peerage.views.judges.rows import ChallengeSort, FavourRow, JudgeRow, Measure

_MUTE: Mapping[Mute, str] = {
    "alike": "finds all answers alike: its {} say nothing. Exclude it?",
    "tied": "has found all answers alike so far, in too few {} to say that it always will.",
    "coin": "judges as if it tossed a coin: its {} say nothing. Exclude it?",
    "contrary": "prefers the worse answer by the measure of all other judges. Exclude it?",
}


def remarks(
    measures: Iterable[Measure],
    rows: Iterable[JudgeRow],
    mute: Mapping[str, Mute],
    pairs: Iterable[FavourRow],
    leaning: Set[str],
    unit: str = "votes",
) -> Iterator[str]:
    """What a reader should know first, the gravest first; judges gave so many of `unit`."""
    for row in rows:
        even = row.first_share is None or row.judge not in leaning
        place = "" if even or row.first_share is None else "first" if row.first_share > 0.5 else "second"
        share = 0.0 if row.first_share is None else max(row.first_share, 1 - row.first_share)
        if place and share >= ONE_SIDED:
            yield f"{row.judge} picks the {place} answer in {share:.0%} of its verdicts. Exclude it?"
        elif row.judge in mute:
            yield f"{row.judge} {_MUTE[mute[row.judge]].format(unit)}"
        elif place and share >= _LEANING:
            yield f"{row.judge} leans to the answer shown {place}: {share:.0%} of its verdicts."
    pairs = tuple(pairs)
    for pair in pairs:
        if pair.found:
            what = "favours" if pair.excess > 0 else "does down"
            yield (
                f"{pair.judge} {what} {pair.author}: by {abs(pair.excess):.0%} of {pair.marks} marks more "
                f"than the other judges and the spread of tastes explain. Read its {unit}."
            )
    tastes = [pair for pair in pairs if pair.out_of_step]
    if tastes:
        named = ", ".join(
            f"{pair.judge} about {pair.author} ({pair.excess:+.0%})" for pair in tastes[:_NAMED]
        )
        more = f" and {len(tastes) - _NAMED:,} more" if len(tastes) > _NAMED else ""
        yield f"Out of step, as tastes may differ: {named}{more}."
    figures = {one.measure: one.value for one in measures}
    votes, effective = figures.get("votes"), figures.get("effective_votes")
    if votes is not None and effective is not None and effective < _WORTH * votes and votes > 1:
        apart = 1 / (1 + (votes - 1) * max(figures.get("shared_errors") or 0.0, 0.0))
        told = "the judges err alike" if apart <= effective / votes / apart else _UNEQUAL
        yield f"{votes:.3g} {unit} tell as much as {effective:.1f} of judges who err independently: {told}."


_NAMED = 3  # pairs that a sentence names at most
_LEANING = 0.6  # share of verdicts for one place
_UNEQUAL = "some hardly tell answers apart, or weigh little"
_WORTH = 0.75  # of their number: votes worth less are worth a remark


def speaking(spoken: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Players whose answers speak to their judges, those who do it most often first."""
    for player, matches in sorted(spoken.items(), key=lambda item: (-len(item[1]), item[0])):
        count = f"{len(matches):,} matches, first" if len(matches) > 1 else "a match,"
        yield f"Answers of {player} speak to their judges in {count} {matches[0]}: read it."


def divided(blocks: Blocks, cast: Votes) -> str:
    """Two blocks of judges that contradict each other, and whom each puts first."""
    sides = []
    for names in blocks:
        rows = np.isin(np.asarray(cast.judges, np.str_)[cast.judge], names)
        table = fit_duels(cast.history.only(rows))
        first = cast.players[int(np.argmax(np.where(table.games > 0, table.rating, -np.inf)))]
        sides.append((listed(names), first))
    (larger, by_larger), (smaller, by_smaller) = sides
    firsts = (
        f"Both put {by_larger} first"
        if by_larger == by_smaller
        else f"By the first block {by_larger} leads, by the second {by_smaller}"
    )
    return (
        f"The judges are two blocks that contradict each other: {larger} against {smaller}. {firsts}. No "
        "vote can tell which block is right, so nobody is accused: read some matches, or let people judge "
        "(peerage annotate)."
    )


def first_without(
    judges: Sequence[str],
    players: Sequence[str],
    leader: int | None,
    others: Sequence[int | None],
    pick: str | None = None,
) -> Iterator[str]:
    """Without which judge somebody else is first. `leader` is by all, `others` without each of the `judges`,
    None where what is left does not compare everybody; `pick` is the verdict's."""
    if leader is None or all(other is None for other in others):
        return
    changing = [(at, other) for at, other in enumerate(others) if other not in (leader, None)]
    for at, other in changing:
        yield (
            f"Without the judge {judges[at]} {players[other or 0]} is ahead of {players[leader]}, who is "
            f"first by all {len(judges)}."
        )
    if not changing:
        yield f"No single judge changes first place: without any one of them {players[leader]} is first."
    if pick not in (None, players[leader]):
        first = players[leader]
        yield f"By the judges {first} is first; what counts are results, by which {pick} is the pick."


def dull(sorts: Iterable[ChallengeSort]) -> Iterator[str]:
    """The challenges that tell nobody apart."""
    for one in sorts:
        if one.tell_upper is not None and one.tell_upper < _TELLS:
            ties = f"{one.ties:.0%} of their votes are ties"
            yield f"Challenges of {one.kind} {one.name} tell nobody apart: {ties}."


_TELLS = 0.5  # of what challenges tell as a rule: surely less than that is worth a remark
