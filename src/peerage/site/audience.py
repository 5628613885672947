"""A page on which people outside score a sample of a tournament's answers, blind, with nothing but a browser.

One file that holds everything: it loads nothing, sends nothing and keeps nothing. Whoever has scored saves a
small file and sends it back; `peerage tournament votes` enters it. Answers stand under their questions in a
drawn order, and tokens stand for their names, so that not even the page's source says who wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import NamedTuple

from markupsafe import Markup

from peerage.site.rendering import inline, render
from peerage.tables.tournament import Played, token


class Exhibit(NamedTuple):
    """A question with the answers that stand under it: (token, text)."""

    question: str
    answers: tuple[tuple[str, str], ...]


def sample(match: Played, texts: Mapping[str, str], count: int, seed: int) -> list[Exhibit]:
    """About `count` answers of a tournament, whole questions at a time, so that nobody is shown more often
    than others. `texts` are the answers by id; what is not there (unusable, refused) is not shown."""
    rng = Random(f"audience/{match.record}/{seed}")
    by_question: dict[str, list[str]] = {}
    for answer in match.detail.get("answers", {}):
        if answer in texts:
            by_question.setdefault(answer.split("/")[0], []).append(answer)
    asked = [one for one in match.detail.get("questions", ()) if one["id"] in by_question]
    rng.shuffle(asked)
    shown: list[Exhibit] = []
    for one in asked:
        answers = by_question[one["id"]]
        if shown and sum(len(exhibit.answers) for exhibit in shown) + len(answers) > count:
            break
        rng.shuffle(answers)
        shown.append(
            Exhibit(one["text"], tuple([(token(match, answer), texts[answer]) for answer in answers]))
        )
    return shown


def page(match: Played, exhibits: Sequence[Exhibit], title: str) -> bytes:
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
