"""An agent's way to a reply, as it is shown: its steps in its own words, and the calls of its model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from peerage.game.blocks import Block, Grid, Quoted, Sentence, SourceCode, State, TaskText, Tone, keys_of
from peerage.game.work import ModelCall, Trace
from peerage.render.blocks import Fold
from peerage.values.figures import begun, counted, dollars, known_sum
from peerage.views.match.exchanges import ExchangeView

_COLUMNS = ("Model", "API", ">Calls", ">Tokens in", ">of them cached", ">Tokens out", ">Cost")
_BAD = ("failed", "refused", "cancelled", "rejected")
_SAID = TaskText | Quoted | SourceCode | State
"""Blocks that stand side by side, which nothing comes between."""


def with_ways(blocks: Iterable[Block], replies: Mapping[str, ExchangeView]) -> Iterator[Block | Fold]:
    """Yield the blocks of a match, after each reply and those beside it the way to it, where one is known."""
    shown, waiting = set[str](), list[Fold]()
    for block in blocks:
        if not isinstance(block, _SAID):
            yield from waiting
            waiting.clear()
        yield block
        for key in [key for keys in keys_of(block) for key in keys if key in replies and key not in shown]:
            shown.add(key)
            waiting += way(replies[key])
    yield from waiting


def way(one: ExchangeView) -> list[Fold]:
    """Return what opens to the way to a reply; nothing where none is known."""
    if one.trace is None:
        return []
    title = f"How it got there: {one.player} ({one.label})"
    return [Fold(title, [*_steps(one.trace), *_calls(one.trace.calls)], f"way-{one.key}")]


def _steps(trace: Trace) -> Iterator[Block]:
    for step in trace.steps:
        tone: Tone = "bad" if step.status in _BAD else ""
        text, note = (step.detail, begun(step.title, 200)) if step.detail else (step.title, "")
        about = "", begun(step.status, 40), tone, note
        yield SourceCode(text, step.kind, *about) if step.kind == "tool" else Quoted(step.kind, text, *about)


def _calls(calls: Sequence[ModelCall]) -> Iterator[Block]:
    """Yield what the model was sent, summed by model and API, and why the gateway let calls not go."""
    sent = [call for call in calls if not call.refused]
    if sent:
        kinds = dict.fromkeys([(call.model, call.form) for call in sent])
        rows = [[call for call in sent if (call.model, call.form) == kind] for kind in kinds]
        tokens_in, _, tokens_out, cost = _sums(sent)
        yield Grid(
            _COLUMNS,
            tuple([(*kind, len(own), *_sums(own)) for kind, own in zip(kinds, rows, strict=True)]),
            f"{counted(len(sent), 'call')} of its model, {cost or 'cost unknown'}, "
            f"{_tokens(tokens_in)} in, {_tokens(tokens_out)} out",
        )
    for why, count in Counter([call.refused for call in calls if call.refused]).items():
        yield Sentence(f"{counted(count, 'call')} not sent to its model: {begun(why, 200)}", "bad")
    for note, count in Counter([call.note for call in calls if call.note]).items():
        yield Sentence(f"{counted(count, 'call')} of its model: {note}", "bad")


def _sums(calls: Sequence[ModelCall]) -> tuple[int | None, int | None, int | None, str | None]:
    """Return tokens in, those of them that were cached, tokens out, and the cost in words; None: unknown."""
    cost = known_sum([call.cost_nano for call in calls])
    return (
        known_sum([call.input_tokens for call in calls]),
        known_sum([call.cached_tokens for call in calls]),
        known_sum([call.output_tokens for call in calls]),
        None if cost is None else dollars(cost / 1e9),
    )


def _tokens(count: int | None) -> str:
    return "tokens unknown" if count is None else counted(count, "token")
