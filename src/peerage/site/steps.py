"""The steps of a match, and its costs, as markup: nearly all of a transcript, and a template would take five
times as long.

Whatever is written here passes through `shown`, as what a template writes passes through its environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from html import escape

from markupsafe import Markup

from peerage.protocol import visible
from peerage.site.rendering import money, seconds, whole
from peerage.site.story import Step, Story

STAGES = {
    "author": "The challenge is written",
    "committee": "A committee votes on it",
    "contestant": "The contestants",
    "judge": "The judges",
    "sandbox": "Programs run",
}

LONG = 6_000
"""Characters from which on a text scrolls in a frame of its own."""

_STANCES = {"approve": "chip yes", "object": "chip no"}


def shown(text: str) -> str:
    """Text that no browser takes for anything else."""
    return escape(visible(text))


_name = lru_cache(maxsize=4096)(shown)


@lru_cache(maxsize=4096)
def _who(player: str, label: str, about: str) -> str:
    more = f" · {shown(about)}" if about else ""
    return f'<p class="who">{shown(player)} <span class="label">{shown(label)}{more}</span></p>\n'


def stages(story: Story) -> Markup:
    """What was asked and said in a match, stage by stage."""
    places, verdicts = story.places, story.verdicts
    scores, best, number = story.record.outcome.scores, story.best, story.record.number
    parts: list[str] = []
    for role, asked in story.groups:
        outer = "details" if role == "sandbox" else "section"  # many, and told by their verdicts
        head = f"<summary>{STAGES[role]}</summary>" if role == "sandbox" else f"<h3>{STAGES[role]}</h3>"
        parts.append(f'<{outer} class="stage {_name(role)}">\n{head}\n<div class="steps">\n')
        parts += [
            _step(one, number, places, verdicts.get(one.key), scores.get(one.label) == best) for one in asked
        ]
        parts.append(f"</div>\n</{outer}>\n")
    return Markup("".join(parts))


def numbers(story: Story, tracks: Mapping[str, str]) -> Markup:
    """What a match cost each player, and what it moved; `tracks` are the tracks' names."""
    ratings = story.record.ratings
    heads = [f'<th class="n" scope="col">{_name(tracks.get(track, track))}</th>' for track in ratings]
    parts = [
        '<section class="stage">\n<h3>What it cost and what it moved</h3>\n<div class="wide" tabindex="0" '
        f'role="region" aria-label="Costs and ratings of match {story.record.number}">\n<table>\n<thead><tr>'
        '<th scope="col">Player</th><th class="n" scope="col">Calls</th>'
        '<th class="n" scope="col">Tokens in</th><th class="n" scope="col">out</th>'
        '<th class="n" scope="col">Cost</th>',
        *heads,
        "</tr></thead>\n<tbody>\n",
    ]
    for player, total in story.record.totals.items():
        cost = money(None if total.unknown_costs else total.cost_nano / 1e9)
        parts.append(
            f'<tr><th scope="row">{_name(player)}</th><td class="n">{total.calls}</td>'
            f'<td class="n">{total.input_tokens:,}</td><td class="n">{total.output_tokens:,}</td>'
            f'<td class="n">{cost}</td>\n'
        )
        for moved in ratings.values():
            change = moved.get(player)
            if change:
                before, after = change
                parts.append(
                    f'<td class="n">{whole(after)} <span class="quiet">{after - before:+.1f}</span></td>'
                )
            else:
                parts.append('<td class="n"></td>')
        parts.append("</tr>\n")
    parts.append("</tbody>\n</table>\n</div>\n</section>\n")
    return Markup("".join(parts))


def _step(one: Step, number: int, places: Mapping[str, int], verdict: str | None, won: bool) -> str:
    parts = [
        f'<div class="step{" best" if won else ""}" id="m{number}-{places[one.key]}">\n',
        _who(one.player, one.label, one.about),
    ]
    if verdict or one.choice:
        stance = "chip" if verdict else _STANCES.get(one.choice, "chip")
        parts.append(f'<span class="{stance}">{_name(verdict or one.choice)}</span>\n')
    if one.status != "ok":
        reason = f'<span class="quiet">{shown(one.reason)}</span>'
        parts.append(f'<span class="chip no">{_name(one.status)}</span> {reason}\n')
    if one.reply:
        frame = ""
        if len(one.reply) > LONG:
            frame = f' tabindex="0" role="region" aria-label="What {_name(one.label)} said"'
        parts.append(f'<div class="said"{frame}>{shown(one.reply)}</div>\n')
    if one.form:
        form = _name(one.form[:12])
        parts.append(f'<p class="saw">asked <a href="../method.html#f{form}">like this</a>')
        for place, part in enumerate(one.quotes):
            label, step = _name(part.label or ""), places.get(part.reply)
            parts.append(", " if place else ", seeing ")
            parts.append(f'<a href="#m{number}-{step}">{label}</a>' if step else label)
        parts.append("</p>\n")
    if one.role != "sandbox":
        parts.append(f'<p class="took">{_took(one)}</p>\n')
    parts.append("</div>\n")
    return "".join(parts)


def _took(one: Step) -> str:
    took = [] if one.output_tokens is None else [f"{one.output_tokens:,} tokens"]
    took += [seconds(one.latency_s), money(one.cost_usd)]
    if one.attempts > 1:
        took.append(f"{one.attempts} attempts")
    if one.truncated:
        took.append("cut at its limit")
    if one.model:
        took.append(_name(one.model))
    return " · ".join(took)
