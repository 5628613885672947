"""A page on which people outside score a sample of a tournament's answers, blind, with nothing but a browser.

One file that holds everything: it loads nothing, sends nothing and keeps nothing. A person who has scored
saves a small file and sends it back; `peerage tournament votes` enters it. Answers stand under their
questions in a drawn order, and tokens stand for their names, so that not even the page's source says who
wrote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import NamedTuple

from markupsafe import Markup

from peerage.games.last_arena.tables import FinishedTournament
from peerage.reading.tournaments import token
from peerage.site.rendering import inline, render
from peerage.values import grouped


class Exhibit(NamedTuple):
    """A question with the answers that stand under it: (token, text)."""

    question: str
    answers: tuple[tuple[str, str], ...]


def sample(match: FinishedTournament, texts: Mapping[str, str], count: int) -> list[Exhibit]:
    """`count` answers of a tournament, spread over as many of its questions as two or more to each allow.
    Under each question are those who have been shown least so far, drawn among equals, so that nobody is
    shown more often than others by more than one. `texts` are the answers by id; what is not there (unusable,
    refused) is not shown."""
    rng = Random(f"audience/{match.record}")
    by_question = grouped((answer.split("/")[0], answer) for answer in match.answers if answer in texts)
    asked = [one for one in match.questions if one["id"] in by_question]
    rng.shuffle(asked)
    each, left = max(2, -(-count // max(len(asked), 1))), max(count, 2)
    times: Counter[str] = Counter()
    exhibits: list[Exhibit] = []
    for one in asked:
        answers = by_question[one["id"]]
        rng.shuffle(answers)
        shown: list[str] = []
        for _ in range(min(each, left, len(answers))):
            # a player, and of its answers under several token limits one, that was shown least
            least = min(
                (answer for answer in answers if answer not in shown),
                key=lambda answer: (times[answer.split("/")[1]], times[answer.partition("/")[2]]),
            )
            shown.append(least)
            times.update({least.split("/")[1], least.partition("/")[2]})
        left -= len(shown)
        rng.shuffle(shown)
        exhibits.append(
            Exhibit(one["text"], tuple([(token(match, answer), texts[answer]) for answer in shown]))
        )
        if left < 2:
            break
    return exhibits


def page(match: FinishedTournament, exhibits: Sequence[Exhibit], title: str) -> bytes:
    """The page as HTML."""
    assets = files("peerage.site").joinpath("assets")
    style = assets.joinpath("audience.css").read_text("utf-8")
    script = assets.joinpath("audience.js").read_text("utf-8")
    policy = (
        f"default-src 'none'; style-src {inline(style)}; script-src {inline(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return render(
        "ballot.html",
        {
            "title": title,
            "match": match,
            "exhibits": exhibits,
            "answers": sum([len(one.answers) for one in exhibits]),
            "policy": policy,
            "style": Markup(style),
            "script": Markup(script),
        },
    )
