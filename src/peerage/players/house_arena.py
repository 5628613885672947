"""How house players write questions and give points in Humanity's Last Arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps
from random import Random
from typing import Any

from peerage.formats.scores import MOST
from peerage.players.house_texts import CLEAR_REASONS, SUBJECTS

SEVERITY = 1.0
"""Points by which the strictest and the most generous judge differ from an even-handed one."""
WORST, BEST = 1.0, 9.0
"""Points for work of quality 0 and 1: room for strict and generous judges, who would else seem to favour
whoever is not at the end of the scale."""

_SUBJECTS = tuple(subject for subjects in SUBJECTS.values() for subject in subjects)
_ASK = (
    "What follows from @, and what does not?",
    "Somebody claims to understand @. Which single question would you put to them?",
    "Name the one fact about @ that most explanations leave out.",
    "Of two experts on @, one is wrong by a factor of ten. How would you find out which?",
    "Write the shortest honest account of @.",
    "Where does the usual account of @ first go astray?",
    "Estimate the quantity that matters most in @, with every step shown.",
    "Which assumption about @ would you give up first, under pressure from data?",
    "Turn @ into a problem with exactly one right answer, and solve it.",
    "A child and a specialist ask about @. Give one reply that serves both.",
    "Describe an experiment, done in a kitchen, that bears on @.",
    "Defend the less popular of the two common views of @.",
)
_THEN = (
    "Use no more than eighty words.",
    "Finish with the strongest objection to your own reply.",
    "Say how sure you are, as a number, and why.",
    "Give an example that can be checked by hand.",
    "State what would change your mind.",
    "Explain it again in one sentence without technical terms.",
    "List what you had to assume.",
    "Compare it with a case that looks the same and is not.",
)
_META = (
    "A judge reads fifty answers on @ without names. What should it write down after the first five?",
    "Questions on @ are rated by those who must answer them. What does that reward, and is it a fault?",
    "Two answers on @ are equally right, one of them twice as long. How should points differ, and why?",
    "All players write easy questions on @. Who gains, and how would the scores show it?",
    "Your own answer on @ comes before you under another name. How would you notice, and what is fair then?",
)
_TRICK = (
    "Everybody knows that @ was settled in 1911. In which of the two famous papers, and by whom?",
    "Since @ doubles every year, and today it fills half of the page, when was the page empty?",
    "Which is larger: the number of causes of @, or the number of its causes that have no name?",
    "If three of four reasons for @ are false, how many of the remaining two are true?",
)
_FORMS: Mapping[str, tuple[str, ...]] = {"plain": _ASK, "meta": _META, "trick": _TRICK}


def questions(
    sort: str, categories: Sequence[str], skill: float, spread: float, family: str, draws: Sequence[int]
) -> tuple[str, list[Any]]:
    """A reply with one question for each of `categories`, and what each is worth."""
    rng = Random(draws[6])
    forms = _FORMS.get(sort, _ASK)
    written = [
        f"{rng.choice(forms)} {rng.choice(_THEN)}".replace("@", f"“{rng.choice(_SUBJECTS)}”")
        for _ in categories
    ]
    worth = [{"quality": round(rng.gauss(skill, spread), 4), "family": family} for _ in written]
    if draws[7] % 3:
        listed = [
            {"category": category, "question": text}
            for category, text in zip(categories, written, strict=True)
        ]
        return dumps({"questions": listed}, ensure_ascii=False), worth
    lines = [
        f"{at}. [{category}] {text}"
        for at, (category, text) in enumerate(zip(categories, written, strict=True), 1)
    ]
    return "Here are my questions:\n\n" + "\n".join(lines), worth


def points(quality: float, noise: float, severity: float) -> float:
    """What a judge gives, in halves of a point: in proportion to what it sees, moved by its severity."""
    seen = WORST + (BEST - WORST) * (quality + noise) + severity
    return min(MOST, max(0.0, round(2 * seen) / 2))


def scored(
    given: Sequence[float], criteria: Sequence[str], explain: bool, many: bool, draws: Sequence[int]
) -> str:
    """Points in one of the formats that models use."""
    style = draws[7] % 10
    if not explain and len(criteria) == 1 and style >= 8:
        if many:
            return "\n".join([f"{at}. {one:g}" for at, one in enumerate(given, 1)])
        return f"{given[0]:g}/10"
    reason = f"It {CLEAR_REASONS[draws[6] % len(CLEAR_REASONS)]}."
    entries: list[dict[str, Any]] = [
        ({"reason": reason if one in (0, MOST) else ""} if explain else {}) | dict.fromkeys(criteria, one)
        for one in given
    ]
    if many:
        return dumps({"scores": [{"item": at, **entry} for at, entry in enumerate(entries, 1)]})
    return dumps(entries[0])
