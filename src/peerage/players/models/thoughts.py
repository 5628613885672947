"""Thoughts inside a reply's text: found by the marks of the models' chat templates, and taken out. Pure.

Thoughts come first, so only what a text begins with is one; marks in the middle of an answer are part of it,
as in an explanation of HTML. Many templates write the opening mark into the prompt (Qwen 3, DeepSeek R1), so
a closing mark without an opening one ends thoughts too, unless it is quoted.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from typing import NamedTuple


class ThoughtMarks(NamedTuple):
    """Marks that models write before and after their thoughts, and the names of these models."""

    opening: str
    closing: str
    models: str


MARKS = (
    ThoughtMarks("<think>", "</think>", "DeepSeek R1, Qwen 3, GLM, MiniMax, Hunyuan, Nemotron, Phi-4"),
    ThoughtMarks("<thinking>", "</thinking>", "models asked to by a prompt"),
    ThoughtMarks("<thought>", "</thought>", "EXAONE Deep, Gemini through its OpenAI-compatible address"),
    ThoughtMarks("<thoughts>", "</thoughts>", "models asked to by a prompt"),
    ThoughtMarks("<reasoning>", "</reasoning>", "Reka, models asked to by a prompt"),
    ThoughtMarks("<seed:think>", "</seed:think>", "Seed-OSS"),
    ThoughtMarks("[THINK]", "[/THINK]", "Magistral"),
    ThoughtMarks("◁think▷", "◁/think▷", "Kimi"),
    ThoughtMarks("<|START_THINKING|>", "<|END_THINKING|>", "Command A"),
    ThoughtMarks("<|begin_of_thought|>", "<|end_of_thought|>", "OpenThinker, Sky-T1"),
    ThoughtMarks("<|channel>thought", "<channel|>", "Gemma 4"),
    ThoughtMarks("<|inner_prefix|>", "<|inner_suffix|>", "Apertus"),
)
"""Marks in pairs. gpt-oss has the channels of its harmony format instead."""


class Parted(NamedTuple):
    """A text in two: the `answer`, and how many characters before it are `thought`. `marked` says that there
    are thoughts, `closed` that they end, `opened` that their beginning is marked."""

    answer: str
    thought: int = 0
    marked: bool = False
    closed: bool = True
    opened: bool = True


def _tag(mark: str) -> str:
    """A pattern for a mark; tags may hold attributes and blanks."""
    return re.escape(mark[:-1]) + r"(?:\s[^<>]{0,80})?>" if mark.endswith(">") else re.escape(mark)


_OPENING = [re.compile(_tag(marks.opening), re.IGNORECASE) for marks in MARKS]
_CLOSING = [re.compile(_tag(marks.closing), re.IGNORECASE) for marks in MARKS]
_SPACE = re.compile(r"\s*")
_WRAPPED = re.compile(
    r"\s*(?:<\|START_RESPONSE\|>(?P<a>.*?)(?:<\|END_RESPONSE\|>\s*)?"
    r"|<\|begin_of_solution\|>(?P<b>.*?)(?:<\|end_of_solution\|>\s*)?)",
    re.DOTALL,
)
"""An answer between marks of its own, behind the thoughts of the same models."""

_HARMONY = re.compile(r"\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>")
_FINAL = re.compile(r"<\|channel\|>\s*final\b.{0,80}?<\|message\|>", re.DOTALL)
_HARMONY_END = re.compile(r"<\|(?:end|return|call|start)\|>")
_BARE_HARMONY = re.compile(r"\s*analysis(?=\S)(?P<thought>.*)assistantfinal(?P<answer>.*)", re.DOTALL)
"""The same where the server dropped the special tokens and kept their words."""

_QUOTES = frozenset("`'\"“”‘’«»")
_AFTER_QUOTED = _QUOTES | frozenset(",;:)]")
_BLANK = frozenset(" \t")


def part(text: str) -> Parted:
    """Part a reply into its thoughts and its answer."""
    if _HARMONY.match(text):
        return _by_channel(text)
    if bare := _BARE_HARMONY.fullmatch(text):
        return Parted(bare["answer"].strip(), len(bare["thought"].strip()), marked=True)
    if not any(mark in text for mark in "<[◁") or _is_json(text):
        return Parted(text)
    at, thought, marked, nested = 0, 0, False, False
    while pair := _opened(text, at):
        begin, closing = pair
        end = closing.search(text, begin.end())
        if end is None:
            return Parted("", thought + len(text[begin.end() :].strip()), marked=True, closed=False)
        at, marked = end.end(), True
        thought += len(text[begin.end() : end.start()].strip())
        nested = nested or begin.re.search(text, begin.end(), end.start()) is not None
    answer = text[at:]
    end = _lone_closing(answer) if nested or not marked else None
    if end is not None:
        thought += len(answer[: end.start()].strip())
        return Parted(_unwrapped(answer[end.end() :]), thought, marked=True, opened=marked)
    return Parted(_unwrapped(answer), thought, marked=True) if marked else Parted(text)


def _opened(text: str, at: int) -> tuple[re.Match[str], re.Pattern[str]] | None:
    """Return the opening mark that comes next after `at`, and the pattern of the closing one."""
    begin = _SPACE.match(text, at)
    assert begin is not None
    for opening, closing in zip(_OPENING, _CLOSING, strict=True):
        if mark := opening.match(text, begin.end()):
            return mark, closing
    return None


def _unwrapped(answer: str) -> str:
    wrapped = _WRAPPED.fullmatch(answer)
    return (answer if wrapped is None else wrapped["a"] or wrapped["b"] or "").strip()


def _by_channel(text: str) -> Parted:
    """Part a reply in gpt-oss's harmony format: the answer is in the channel `final`."""
    final = _FINAL.search(text)
    if final is None:
        return Parted("", len(text), marked=True, closed=False)
    answer = _HARMONY_END.split(text[final.end() :], maxsplit=1)[0].strip()
    return Parted(answer, final.start(), marked=True)


def _lone_closing(text: str) -> re.Match[str] | None:
    """The first closing mark that is no quotation, unless its opening mark is before it."""
    fences = [fence.start() for fence in re.finditer("```", text)]
    for opening, closing in zip(_OPENING, _CLOSING, strict=True):
        ends = (match for match in closing.finditer(text) if not _is_quoted(match, text, fences))
        if (end := next(ends, None)) is not None:
            before = opening.finditer(text, 0, end.start())
            return end if all(_is_quoted(match, text, fences) for match in before) else None
    return None


def _is_quoted(mark: re.Match[str], text: str, fences: list[int]) -> bool:
    """Return whether a mark is in quotation marks, in the middle of a line, or in code between `fences`."""
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    if before in _QUOTES or after in _AFTER_QUOTED or (before in _BLANK and after in _BLANK):
        return True
    return bisect(fences, mark.start()) % 2 == 1


def _is_json(text: str) -> bool:
    """Return whether a text is one JSON object, whose strings may hold any marks."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
