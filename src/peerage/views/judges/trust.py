"""The answer whether a ranking by judges can be trusted: one sentence and four numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from peerage.judging.marks.ballots import Ballots
from peerage.judging.measures.agreement import FEWEST
from peerage.judging.measures.favours.evidence import Mute
from peerage.judging.measures.favours.search import Favour
from peerage.render.blocks import LoneFigure
from peerage.values.figures import counted, hundredths, percent, signed
from peerage.views.judges.measures import Measure

QUESTION = "Can this ranking be trusted?"
_WEAK, _FAIR, _GOOD = 0.2, 0.4, 0.67
"""Of α: agreement below which judges hardly agree, and from which on it is fair, and good (Krippendorff)."""
_FLIPS = 0.4
"""The share of flipped verdicts from which on the order of answers decides too much."""


def answer(
    changing: Sequence[tuple[str, str]],
    figures: Sequence[Measure],
    ballots: Ballots,
    favours: Sequence[Favour],
    mute: Mapping[str, Mute],
    *,
    compared: bool,
    contradicting: bool = False,
    otherwise: str = "",
) -> str:
    """Return the answer with its decisive reason: what decides first place comes before what is odd about a
    judge.

    `changing` are judges without whom another player is first, and that player; `compared` says that judges
    compare all players; `contradicting` that they are two blocks; `otherwise` is who is first by the judges
    where results say another.
    """
    alpha = next((row for row in figures if row.measure == "alpha"), None)
    flips, silent = _flips(ballots), [name for name, kind in mute.items() if kind != "tied"]
    favoured = [pair for pair in favours if pair.found and pair.excess > 0]
    if alpha is None or alpha.units < FEWEST:
        return f"Not yet: too few matches were judged ({alpha.units if alpha else 0:,} of {FEWEST})."
    if contradicting:
        return "No: two blocks of judges contradict each other."
    if alpha.value is not None and alpha.value < _WEAK:
        return f"No: the judges hardly agree with each other (α {alpha.value:.2f}; chance is 0)."
    if len(changing) == 1:
        judge, first = changing[0]
        return f"Partly: without the judge {judge}, {first} would be first."
    if changing:
        return f"Partly: {len(changing)} judges could each change first place if left out."
    if otherwise:
        return f"Partly: by the judges alone {otherwise} would be first."
    if flips is not None and flips >= _FLIPS:
        return f"Partly: {percent(flips)} of verdicts flip with the order of the answers."
    if flips is None and (share := _first(ballots)) is not None and abs(share - 0.5) >= _FLIPS / 2:
        return f"Partly: the answer shown first won {percent(share)} of verdicts."
    if favoured:
        return f"Partly: {favoured[0].judge} favours {favoured[0].author} beyond what quality explains."
    if silent:
        return f"Partly: {counted(len(silent), 'judge')} cannot tell answers apart."
    if not compared:
        return "Not yet: the judges have not compared all players."
    return "Yes: no single judge decides first place, and none shows favouritism."


def cards(figures: Sequence[Measure], ballots: Ballots, favours: Sequence[Favour]) -> Iterator[LoneFigure]:
    """Yield up to four numbers about all judges: how they agree, and what sways them."""
    known = {row.measure: row for row in figures}
    alpha, length, unit = (
        known.get("alpha"),
        known.get("length_bias"),
        "a vote" if len(ballots) else "a point",
    )
    if alpha and alpha.value is not None:
        level = sum(alpha.value >= least for least in (_WEAK, _FAIR, _GOOD))
        words = ("hardly agree", "agree little", "mostly agree", "agree well")[level]
        about = f"judges {words} over {counted(alpha.units, 'match')}: 1 is perfect, 0 is chance"
        votes, worth = known.get("votes"), known.get("effective_votes")
        if votes and worth and votes.value and worth.value and votes.value > 1:
            about += f"; {votes.value:.3g} tell as much as {worth.value:.1f} who err independently"
        yield LoneFigure("Agreement", hundredths(alpha.value), about)
    flips, share = _flips(ballots), _first(ballots)
    if flips is not None:
        first = f"; the first one won {percent(share)}" if share is not None else ""
        yield LoneFigure(
            "Order bias", percent(flips), f"of verdicts changed when answers swapped places{first}"
        )
    elif share is not None:
        about = "of verdicts were for the answer shown first, 50% without bias; each judge sees one order"
        yield LoneFigure("Order bias", percent(share), about)
    if length and length.value is not None:
        about = f"of {unit} more for an answer twice as long, merit included"
        yield LoneFigure("Length bias", signed(length.value), about)
    if favours:
        about = f"of {counted(len(favours), 'pair')} of judge and author are beyond chance and taste"
        yield LoneFigure("Favouritism", str(sum(pair.found for pair in favours)), about)


def _flips(ballots: Ballots) -> float | None:
    """Return the share of ballots that the order of answers turned, of those with both orders."""
    return float(ballots.flipped[ballots.both].mean()) if ballots.both.any() else None


def _first(ballots: Ballots) -> float | None:
    """Return how often the answer shown first was preferred, of verdicts for one answer."""
    decided = int(ballots.decided.sum())
    return int(ballots.first.sum()) / decided if decided else None
