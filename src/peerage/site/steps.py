"""A match as markup: nearly all of a page of transcripts, and a template would take five times as long.

Whatever is written here passes through `shown` or `escaped`, as what a template writes passes through its
environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache, partial
from itertools import groupby
from operator import attrgetter

from markupsafe import Markup

from peerage.engine.driver import ROOM
from peerage.ledger.codec import Part
from peerage.ledger.merkle import digest
from peerage.protocol import visible
from peerage.site.addresses import player_page
from peerage.site.rendering import DASH, escaped, moment, money, score, seconds, whole
from peerage.site.story import Story
from peerage.tables.finished import Step

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
_BETWEEN = ' <span class="quiet">·</span> '
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;"))


def shown(text: str) -> str:
    """Text that no browser takes for anything else."""
    text = visible(text)
    for mark, entity in _ENTITIES:
        if mark in text:  # looking is ten times as fast as replacing nothing
            text = text.replace(mark, entity)
    return text


_name = lru_cache(maxsize=4096)(shown)


@lru_cache(maxsize=4096)
def _turn(label: str, key: str) -> str:
    """Whose turn it was, and what the request's key says beside the label, which it often holds."""
    rest = key.removesuffix(label).removeprefix(label).strip("/")
    about = "" if rest in ("", "answer") else f" · {shown(rest)}"
    return f'<span class="label">{shown(label)}{about}</span>'


@lru_cache(maxsize=4096)
def _seat(label: str, player: str) -> str:
    return f'{escaped(label)} <a href="../{escaped(player_page(player))}">{escaped(player)}</a>'


def head(story: Story) -> Markup:
    """Who met in a match, what it came to, and its task, if that was drawn or given."""
    match, outcome = story.match, story.match.record.outcome
    number, fixture, summary = story.number, match.fixture, match.summary
    topic = f' <span class="quiet">{escaped(summary.topic)}</span>' if summary.topic else ""
    seats = []
    for seat in story.contestants:
        got = outcome.scores.get(seat.label)
        won = ' class="won"' if got is not None and got == story.best and not outcome.void else ""
        points = "" if got is None else f" <b>{score(got)}</b>"
        if got is None and not outcome.void and outcome.scores:
            points = ' <span class="quiet">unranked</span>'
        seats.append(f"<span{won}>{_seat(seat.label, seat.player)}{points}</span>\n")
    task = story.task
    if task:
        task = (
            '\n<section class="stage author"><h3>The task</h3>'
            f'<div class="said">{escaped(task)}</div></section>'
        )
    return Markup(
        f'<article class="match" id="m{number}" aria-labelledby="h{number}">\n<header>\n'
        f'<h2 id="h{number}"><a href="#m{number}">Match {number}</a>{topic}</h2>\n'
        f'<p class="score">\n{_BETWEEN.join(seats)}</p>\n'
        f'<p class="quiet">{escaped(story.verdict)} · {escaped(fixture.game)} · round {fixture.round} · '
        f"<time>{moment(summary.at_ms)}</time></p>\n</header>{task}"
    )


def stages(story: Story) -> Markup:
    """What was asked and said in a match, stage by stage."""
    attempts, verdicts, places = story.attempts, story.verdicts, story.places
    seeing = cache(partial(_seeing, story.number, places))  # a panel sees the same few things
    scores, best = story.match.record.outcome.scores, story.best
    parts: list[str] = []
    for role, asked in groupby(story.steps.values(), attrgetter("role")):
        outer = "details" if role == "sandbox" else "section"  # many, and told by their verdicts
        title = f"<summary>{STAGES[role]}</summary>" if role == "sandbox" else f"<h3>{STAGES[role]}</h3>"
        parts.append(f'<{outer} class="stage {role}">\n{title}\n<div class="steps">\n')
        for one in asked:
            verdict, won = verdicts.get(one.key), scores.get(one.label) == best
            address = f"m{story.number}-{places[one.key]}"
            parts.append(_step(one, address, seeing(one.parts), attempts[one.key], verdict, won))
        parts.append(f"</div>\n</{outer}>\n")
    return Markup("".join(parts))


def numbers(story: Story, tracks: Mapping[str, str]) -> Markup:
    """What a match cost each player, and what it moved; `tracks` are the tracks' names."""
    record = story.match.record
    heads = [f'<th class="n" scope="col">{_name(tracks.get(track, track))}</th>' for track in record.ratings]
    rows = []
    for player, total in record.totals.items():
        cost = money(None if total.unknown_costs else total.cost_nano / 1e9)
        moved = [_moved(change.get(player)) for change in record.ratings.values()]
        rows.append(
            f'<tr><th scope="row">{_name(player)}</th><td class="n">{total.calls}</td>'
            f'<td class="n">{total.input_tokens:,}</td><td class="n">{total.output_tokens:,}</td>'
            f'<td class="n">{cost}</td>\n{"".join(moved)}</tr>\n'
        )
    return Markup(
        '<section class="stage">\n<h3>What it cost and what it moved</h3>\n<div class="wide" tabindex="0" '
        f'role="region" aria-label="Costs and ratings of match {story.number}">\n<table>\n<thead><tr>'
        '<th scope="col">Player</th><th class="n" scope="col">Calls</th>'
        '<th class="n" scope="col">Tokens in</th><th class="n" scope="col">out</th>'
        f'<th class="n" scope="col">Cost</th>{"".join(heads)}</tr></thead>\n<tbody>\n'
        f"{''.join(rows)}</tbody>\n</table>\n</div>\n</section>\n"
    )


def _moved(change: tuple[float, float] | None) -> str:
    if change is None:
        return '<td class="n"></td>'
    before, after = change
    return f'<td class="n">{whole(after)} <span class="quiet">{after - before:+.1f}</span></td>'


def proof(story: Story) -> Markup:
    """The digests that a match can be checked by."""
    record, row = story.match.record, story.match.row
    return Markup(
        '<details class="proof">\n<summary>Proof</summary>\n<dl>\n'
        f"<dt>Fixture</dt><dd><code>{escaped(record.fixture)}</code></dd>\n"
        f"<dt>Merkle root of the {len(story.steps)} exchanges</dt>"
        f"<dd><code>{escaped(record.root)}</code></dd>\n"
        f"<dt>This record</dt><dd><code>{digest(row.body)}</code></dd>\n"
        f"<dt>Chain before it</dt><dd><code>{story.match.before.hex()}</code></dd>\n"
        "<dt>Chain after it: SHA-256 of 02, the chain before it and this record</dt>"
        f"<dd><code>{row.chain.hex()}</code></dd>\n</dl>\n</details>\n"
    )


def _step(one: Step, address: str, seen: str, attempts: int, verdict: str | None, won: bool) -> str:
    stance = reply = trouble = saw = took = ""
    if verdict or one.choice:
        chip = "chip" if verdict else _STANCES.get(one.choice, "chip")
        stance = f'<span class="{chip}">{_name(verdict or one.choice)}</span>\n'
    if one.status != "ok":
        reason = f'<span class="quiet">{shown(one.reason)}</span>'
        trouble = f'<span class="chip no">{_name(one.status)}</span> {reason}\n'
    if one.reply:
        frame = ""
        if len(one.reply) > LONG:
            frame = f' tabindex="0" role="region" aria-label="What {_name(one.label)} said"'
        reply = f'<div class="said"{frame}>{shown(one.reply)}</div>\n'
    if one.form:
        form = _name(one.form[:12])
        saw = f'<p class="saw">asked <a href="../method.html#f{form}">like this</a>{seen}</p>\n'
    if one.role != "sandbox":
        took = f'<p class="took">{_took(one, attempts)}</p>\n'
    return (
        f'<div class="step{" best" if won else ""}" id="{address}">\n'
        f'<p class="who">{_name(one.player)} {_turn(one.label, one.key)}</p>\n'
        f"{stance}{trouble}{reply}{saw}{took}</div>\n"
    )


def _seeing(number: int, places: Mapping[str, int], parts: tuple[Part, ...]) -> str:
    """What was shown of what players, or the user, wrote."""
    seen = []
    for part in parts:
        if part.label is not None:
            label, place = _name(part.label), places.get(part.reply)
            seen.append(f'<a href="#m{number}-{place}">{label}</a>' if place else label)
    return f", seeing {', '.join(seen)}" if seen else ""


def _took(one: Step, attempts: int) -> str:
    said = one.said
    if said is None:
        took = f"{DASH} · {DASH}"
    else:
        tokens = "" if said.output_tokens is None else f"{said.output_tokens:,} tokens · "
        tokens += f"{said.reasoning_tokens:,} of them to think · " if said.reasoning_tokens else ""
        cost = money(None if said.cost_nano is None else said.cost_nano / 1e9)
        took = f"{tokens}{seconds(said.latency_ms / 1e3)} · {cost}"
    if attempts > 1:
        took += f" · {attempts} attempts"
    if said and said.truncated:
        took += f" · cut at its limit of {said.cut:,} tokens" if said.cut else " · cut at its limit"
    if one.key.endswith(ROOM):
        took += " · asked again with more room"
    if said and said.model:
        took += f" · {_name(said.model)}"
    return took
