"""Bradley-Terry on judges' votes, corrected for what judges are known to be swayed by.

    log-odds of a vote for a over b = s_a - s_b + position + style + own + family

Each correction is switched on by itself. A sway of all judges is a covariate, fitted together with the
ratings, which are what is left of it (style control: Li, Angelopoulos, Chiang, LMSYS 2024); each family has
its own. What single judges do is dealt with by weight: a tie weighs less by a judge that calls many, votes
that `favours` finds guilty are left out, and a vote weighs by its judge's reliability, nothing where it says
nothing. docs/judging-figures.md says what that comes to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from peerage.judging.marks.marks import Votes
from peerage.judging.measures.favours.evidence import JUDGES
from peerage.judging.measures.favours.search import Examined, favours
from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.columns.merging import coded, merged
from peerage.ratings.columns.tally import tally
from peerage.ratings.fits.bradley_terry import BradleyTerry, fit_duels
from peerage.ratings.fits.judges import SPREAD, counted, reliabilities
from peerage.ratings.fits.regression import Confounded, contrast, distinct, fit_merged
from peerage.ratings.table import POINTS

Correction: TypeAlias = Literal["position", "style", "own", "family", "harshness", "favours", "reliability"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
_PRIOR_VOTES = 4.0  # of the usual judge, counted for each in how readily it calls a tie
_ORDINARY = 1.25  # times the median's, or a part of it: so far eases differ by discernment alone
_LEAST = 0.01  # of the most discerning judge's weight: a vote worth less is worth nothing
_SCALE = 0.05  # standard deviation of how far ratings are spread, where judges weigh unequally
_SCALE_OF_ONE = 0.2  # the same, times the judges that are left when two play, where those are few
_MOST_WEIGHT = 4.0  # of a tie by a judge that hardly ever calls one
_AT_ONCE = 50_000  # votes looked at before the next ones are
_OWN = 0.05  # of a term's information that the players must not explain, for it to be corrected


class Corrected(NamedTuple):
    """The ratings of the players as the votes are, and corrected; `notes` say what each correction found,
    `examined` which favours and idle judges, where those were looked for."""

    before: BradleyTerry
    after: BradleyTerry
    notes: tuple[str, ...]
    examined: Examined


def corrected(
    votes: Votes,
    wanted: Sequence[Correction],
    styles: Floats | None = None,
    families: Mapping[str, str] | None = None,
) -> Corrected:
    """Ratings from votes without and with the corrections `wanted`.

    `styles` are the counts of both answers of each match, in the order of their numbers: shape (matches, 2,
    length of `STYLE`), NaN where one is not known; of scores those of all authors, (matches, players, …).
    `families` are by name, empty or missing for a player of its own kind.

    What the votes cannot tell apart from the players is left out, and noted. Intervals allow for the votes of
    a match hanging together; where judges weigh unequally, or a family's lean is taken out, also for how far
    ratings are spread, which is known to within 5% (one standard deviation) only, 10% in a pool of four.
    """
    weighed, history = _weighed(votes, wanted), votes.history
    keep, weight, notes = weighed.keep, weighed.weight, weighed.notes
    match = coded(votes.matches)[1]
    columns = _columns(_KnownVotes(votes, match, styles, families or {}), wanted, weight, notes)
    for name, column in list(columns.items()):
        some = not name.startswith(("style", _DISCERNMENT))
        if some and _always(column, history.score, keep & (weight > 0)):
            keep &= column == 0
            del columns[name]
            notes.append(f"{name}: every such vote goes that way and says nothing else: they are left out")
    heard = keep & (weight > 0)
    rows, label = history, match
    if not heard.all() or (weight != 1).any():
        rows, label = _only(history, heard, weight), label[heard]
        columns = {name: column[heard] for name, column in columns.items()}
    table, told_apart = _fitted(rows, label, columns)
    notes += _remarks(table, zip(columns, told_apart, strict=True))
    if (weight != 1).any() or any(effect.name.startswith("family") for effect in table.effects):
        far, others = table.rating - table.rating.mean(), max(len(votes.judges) - 2, 1)
        scale = max(_SCALE, _SCALE_OF_ONE / others)
        table = replace(table, covariance=table.covariance + scale**2 * np.outer(far, far))
    before = fit_merged(tally(history), merged(history, [], [match]), [])
    return Corrected(before, table, tuple(notes), weighed.examined)


class _Weighed(NamedTuple):
    """Votes to `keep` and their `weight`, what was examined for that, and `notes` of it."""

    keep: np.ndarray
    weight: Floats
    examined: Examined
    notes: list[str]


def _weighed(votes: Votes, wanted: Sequence[Correction]) -> _Weighed:
    """Weigh votes for harshness and reliability, and leave out those of favours."""
    history, judge, names = votes.history, votes.judge, np.asarray(votes.judges, np.str_)
    notes: list[str] = []
    keep, weight = np.ones(len(history), np.bool_), np.ones(len(history))
    if len(names) < JUDGES:
        notes.append(
            f"fewer than {JUDGES} judges do not tell favour from discernment: corrections may move ratings "
            "the wrong way"
        )
    looked_for = {"favours", "reliability"} & set(wanted)
    examined = favours(votes) if looked_for else Examined([], {})
    if "harshness" in wanted:
        weight, note = _even_ties(history, names, judge, examined.mute)
        notes.append(note)
    if not looked_for:
        return _Weighed(keep, weight, examined, notes)
    aside = _guilty(examined, names, votes.players)
    if "favours" in wanted:
        keep = ~(aside[judge, history.first] | aside[judge, history.second])
        named = ", ".join(f"{pair.judge} on {pair.author}" for pair in examined.favours if pair.found)
        notes.append(f"favours: left out is what was said by {named}" if named else "favours: none found")
    if "reliability" in wanted and len(names) < JUDGES:
        notes.append(f"reliability: not corrected among fewer than {JUDGES} judges")
    elif "reliability" in wanted:
        # however many others vote on a match, a vote says as much
        even = replace(history, weight=weight if votes.worth is None else weight * votes.worth)
        reliable, note = _weights(examined, names, judge, even, aside)
        weight = weight * reliable
        notes.append(note)
    return _Weighed(keep, weight, examined, notes)


def _columns(
    known: _KnownVotes, wanted: Sequence[Correction], weight: Floats, notes: list[str]
) -> dict[str, Floats]:
    """Return the columns of the regression by name; `notes` gain the terms that have none."""
    scores = known.votes.scores is not None
    terms = {kind: dict(of(known)) for kind, of in _TERMS.items() if kind in wanted}
    nothing = {**_NOTHING, **_NOTHING_IN_SCORES} if scores else _NOTHING
    notes += [f"{kind}: nothing to correct, {nothing[kind]}" for kind, term in terms.items() if not term]
    columns = {name: column for term in terms.values() for name, column in term.items()}
    if scores and any(name.startswith(_LEANS) for name in columns) and len(known.votes.judges) >= JUDGES:
        return {_DISCERNMENT: _beyond_the_usual(known, weight)} | columns
    return columns


def _fitted(rows: Duels, label: Ints, columns: Mapping[str, Floats]) -> tuple[BradleyTerry, np.ndarray]:
    """Fit the columns that the players do not explain; return which those are too."""
    short = merged(rows, list(columns.values()), [label])
    told_apart = distinct(short, _OWN)
    while True:
        left = [name for name, apart in zip(columns, told_apart, strict=True) if apart]
        try:
            table = fit_merged(tally(rows), short.only(told_apart), left)
            break
        except Confounded as error:  # among votes as one-sided as these, though not among even ones
            told_apart &= np.array([name != error.name for name in columns], np.bool_)
    if _DISCERNMENT in left:
        plain = [not name.startswith(_LEANS) for name in columns]
        kept = [name for name in left if not name.startswith(_LEANS)]
        table = _as_spread(table, fit_merged(tally(rows), short.only(told_apart & plain), kept))
    return table, told_apart


def _remarks(table: BradleyTerry, told_apart: Iterable[tuple[str, bool]]) -> Iterator[str]:
    """Yield what each term came to, and which the players explain."""
    for effect in table.effects:
        if effect.name != _DISCERNMENT:
            bounds = f" ({effect.lower:+.0f} to {effect.upper:+.0f})" if np.isfinite(effect.lower) else ""
            yield f"{effect.name}: {effect.points:+.0f} points{_unit(effect.name)}{bounds}"
    for name, apart in told_apart:
        if not apart and name != _DISCERNMENT:
            yield f"{name}: not corrected, nothing here tells it from the players"


def _unit(term: str) -> str:
    return " a standard deviation" if term.startswith("style") else ""


def _always(term: np.ndarray, score: Floats, heard: np.ndarray) -> bool:
    """Return whether all votes that a term is about go its way: no finite effect explains them."""
    some = False
    for at in range(0, len(term), _AT_ONCE):
        part = slice(at, at + _AT_ONCE)
        about = heard[part] & (term[part] != 0)
        if (np.sign(term[part]) != 2 * score[part] - 1)[about].any():
            return False
        some |= bool(about.any())
    return some


def _only(history: Duels, rows: np.ndarray, weight: Floats) -> Duels:
    columns = (history.first, history.second, history.score, history.weight * weight)
    return duels(history.players, *[column[rows] for column in columns])


def _even_ties(history: Duels, judges: np.ndarray, judge: Ints, mute: Collection[str]) -> tuple[Floats, str]:
    """Return what each vote weighs for every judge to call ties as readily as the median one of those who
    tell answers apart and are not `mute`, and a note.

    By Davidson's model (JASA 1970) the odds of a tie are ν / 2 cosh(d / 2), d being the gap in strength as
    the judge sees it, by its discernment where it tells the two apart; a judge's own ν is the common one
    times its `ease`. Ties that weigh by the median ease over the judge's own leave everybody's votes as a
    judge of the median ease would cast them, for any gap. Asked in both orders, who discerns much wavers
    less: eases that differ by up to `_ORDINARY` are no harshness, and of others only what is beyond that is.
    """
    tied = history.score == 0.5
    if not tied.any() or tied.all():
        return np.ones(len(history)), "harshness: nothing to correct, all votes are ties or none is"
    table = fit_duels(replace(history, weight=np.ones(len(history))), ties="davidson")
    n = history.players
    met = np.bincount((judge * n + history.first) * n + history.second)
    cells = np.flatnonzero(met)
    count, (of, pair) = met[cells], np.divmod(cells, n * n)
    decided = replace(history, weight=np.where(tied, 0.0, 1.0))
    nobody = np.zeros((len(judges), n), np.bool_)
    discernment = np.maximum(reliabilities(counted(decided, judge, len(judges)), nobody)[0], 0.0)
    gap = discernment[of] * (table.rating[pair // n] - table.rating[pair % n]) / POINTS
    odds = table.tie / (2 * np.cosh(gap / 2))
    usual = float(count @ (odds / (1 + odds)) / count.sum())
    prior = usual / (1 - usual)
    votes = np.bincount(judge, minlength=len(judges))
    called = np.bincount(judge, tied, len(judges)) + _PRIOR_VOTES * usual
    least, most = np.full(len(judges), -12.0), np.full(len(judges), 12.0)
    for _ in range(40):
        ease = np.exp((least + most) / 2)
        own = ease[of] * odds
        expected = np.bincount(of, count * own / (1 + own), len(judges))
        expected += _PRIOR_VOTES * ease * prior / (1 + ease * prior)
        least = np.where(expected < called, np.log(ease), least)
        most = np.where(expected < called, most, np.log(ease))
    share = np.bincount(judge, tied, len(judges)) / np.maximum(votes, 1)
    order = np.argsort(share)
    few, many = (f"{share[at]:.0%} ({judges[at]})" for at in (order[0], order[-1]))
    heard = (share < 1) & ~np.isin(judges, list(mute))
    usual_ease = np.median(ease[heard] if heard.any() else ease)
    apart = np.log(usual_ease / ease)
    apart = np.sign(apart) * np.maximum(np.abs(apart) - np.log(_ORDINARY), 0.0)
    weight = np.minimum(np.exp(apart), _MOST_WEIGHT)[judge]
    return np.where(tied, weight, 1.0), f"harshness: ties are from {few} to {many} of what a judge said"


def _guilty(examined: Examined, judges: np.ndarray, players: Sequence[str]) -> np.ndarray:
    """Return which votes of a judge (rows) on a player (columns) are favour or its opposite."""
    aside = np.zeros((len(judges), len(players)), np.bool_)
    place, number = ({name: at for at, name in enumerate(names)} for names in (judges.tolist(), players))
    for pair in examined.favours:
        if pair.found:
            aside[place[pair.judge], number[pair.author]] = True
    return aside


def _weights(
    examined: Examined, judges: np.ndarray, judge: Ints, history: Duels, aside: np.ndarray
) -> tuple[Floats, str]:
    """Return what each vote weighs, 1 on average, and a note; alike where no judge says anything."""
    reliability, error = reliabilities(counted(history, judge, len(judges)), aside)
    reliability = np.maximum(reliability, 0.0)
    reliability *= 1 - _tossing(reliability, error)
    reliability[reliability < _LEAST * reliability.max(initial=0.0)] = 0.0
    mute = [name for name in judges.tolist() if name in examined.mute]
    reliability[np.isin(judges, mute)] = 0.0
    mean = float(reliability[judge].mean()) if len(judge) else 0.0
    if not mean > 0:
        return np.ones(len(history)), "reliability: no judge tells answers apart, all weigh the same"
    order = np.argsort(reliability)
    worst, best = (f"{reliability[at]:.2f} ({judges[at]})" for at in (order[0], order[-1]))
    silent = f"; what {', '.join(mute)} said says nothing" if mute else ""
    return reliability[judge] / mean, f"reliability: from {best} to {worst}{silent}"


def _tossing(reliability: Floats, error: Floats) -> Floats:
    """The chance that each judge tosses a coin: its slope is 0 if so, and else about the usual one (1, give
    or take `SPREAD`). How many do is estimated with it, by expectation and maximization, from one in ten on.
    Few votes do not prove that a judge says nothing, so it is not named; but a coin that weighs as what
    chance makes of it draws the ratings together."""
    information = np.maximum(error**-2.0 - SPREAD**-2.0, 1e-9)  # what the votes say, without the prior
    raw = (reliability * error**-2.0 - SPREAD**-2.0) / information
    doubt = 1 / information
    ordinary = np.exp(-((raw - 1) ** 2) / (doubt + SPREAD**2) / 2) / np.sqrt(doubt + SPREAD**2)
    idle = np.exp(-(np.maximum(raw, 0.0) ** 2) / doubt / 2) / np.sqrt(doubt)
    share = 0.1
    for _ in range(50):
        chance = share * idle / np.maximum(share * idle + (1 - share) * ordinary, 1e-300)
        share = float((chance.sum() + 0.1) / (len(chance) + 1))
    return np.asarray(chance)


class _KnownVotes(NamedTuple):
    """Votes with the place of each one's match, and what is known of the answers and of players."""

    votes: Votes
    match: Ints
    styles: Floats | None
    families: Mapping[str, str]


_DISCERNMENT = "discernment"
_LEANS = ("own", "family", _DISCERNMENT)


def _as_spread(table: BradleyTerry, plain: BradleyTerry) -> BradleyTerry:
    """A table in the spread of one that takes all judges for equally discerning, as all others do."""
    far, usual = (estimate.rating - estimate.rating.mean() for estimate in (table, plain))
    scale = float(far @ usual / max(float(far @ far), 1e-300))
    if not 0.5 < scale < 2:
        return table
    rating = table.rating.mean() + scale * far
    return replace(table, rating=rating, covariance=table.covariance * scale**2)


def _beyond_the_usual(known: _KnownVotes, weight: Floats) -> Floats:
    """By how many log-odds more, or less, than the usual judge each one sees the first player ahead, for
    being more or less discerning: judges who tell answers apart less see the weak of their family less far
    behind, which is no preference. Their votes on their family say nothing about their discernment here."""
    players, history, judges, judge, *_, worth, _ = known.votes
    theirs, each = (
        np.array([known.families.get(name, "") or name for name in names]) for names in (judges, players)
    )
    same_family = theirs[:, None] == each
    each_one = replace(history, weight=weight if worth is None else weight * worth)
    reliability, _ = reliabilities(counted(each_one, judge, len(judges)), same_family)
    strength = fit_duels(history).rating / POINTS
    heard = history.weight * weight
    usual = float(heard @ reliability[judge] / max(float(heard.sum()), 1e-300))
    return np.asarray((reliability[judge] - usual) * (strength[history.first] - strength[history.second]))


def _position(known: _KnownVotes) -> Iterator[tuple[str, np.ndarray]]:
    if known.votes.shown.any():
        yield "position", known.votes.shown


def _style(known: _KnownVotes) -> Iterator[tuple[str, np.ndarray]]:
    if known.styles is None:
        return
    history, scored = known.votes.history, known.votes.scores is not None
    first, other = (history.first, history.second) if scored else (0, 1)
    unknown = np.isnan(known.styles[known.match, first, 0] + known.styles[known.match, other, 0])
    for k, name in enumerate(STYLE):
        sides = [np.where(unknown, 0.0, known.styles[known.match, seat, k]) for seat in (first, other)]
        if (sides[0] != sides[1]).any():
            yield f"style {name}", contrast(*sides)


def _own(known: _KnownVotes) -> Iterator[tuple[str, np.ndarray]]:
    votes = known.votes
    own = (np.asarray(votes.judges)[:, None] == np.asarray(votes.players)).astype(np.int8)
    column = own[votes.judge, votes.history.first] - own[votes.judge, votes.history.second]
    if column.any():
        yield "own", column


def _family(known: _KnownVotes) -> Iterator[tuple[str, np.ndarray]]:
    """1 for a vote on an answer of the judge's family, its own left out, against another's, by family."""
    players, history, judges, judge, *_ = known.votes
    theirs, each = (np.array([known.families.get(name, "") for name in names]) for names in (judges, players))
    same_family = (theirs[:, None] == each) & (theirs != "")[:, None]
    same_family &= np.asarray(judges)[:, None] != np.asarray(players)
    toward = same_family.astype(np.int8)
    lean = toward[judge, history.first] - toward[judge, history.second]
    leaning = np.zeros(len(theirs), np.bool_)
    leaning[judge[lean != 0]] = True
    for family in np.unique(theirs[leaning]).tolist():
        yield f"family {family}", lean * (theirs == family).astype(np.int8)[judge]


_Term: TypeAlias = Callable[[_KnownVotes], Iterator[tuple[str, np.ndarray]]]
_TERMS: Mapping[Correction, _Term] = {"position": _position, "style": _style, "own": _own, "family": _family}
_NOTHING: Mapping[Correction, str] = {
    "position": "every judge saw both orders",
    "style": "the answers are not known or alike in style",
    "own": "nobody judged its own work",
    "family": "nobody judged its own family against another",
}
_NOTHING_IN_SCORES: Mapping[Correction, str] = {
    "position": "each judge scored the answers in an order drawn for it alone, which favours nobody for long",
    "own": "nobody scored its own work",
    "family": "nobody scored its own family and others",
}


class Style(NamedTuple):
    """Counts of an answer in Markdown: its characters, headings, list items and bold spans."""

    length: int
    headings: int
    lists: int
    bold: int


STYLE = Style._fields

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")


def style_of(text: str) -> Style:
    """Count an answer's style as style control does (LMSYS 2024). Blocks of code count by length alone."""
    prose = "\n".join(text.split("```")[::2])
    marks = [sum(1 for _ in pattern.finditer(prose)) for pattern in (_HEADING, _ITEM, _BOLD)]
    return Style(len(text), *marks)
