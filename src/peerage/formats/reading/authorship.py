"""The writer's own statements in a reply, apart from those that it quotes and those that it takes back.
Pure.

`is_own` looks at the words next to a statement, `only_a_reason` at those after the last one; `reading` finds
the statements and has the rules by which they count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from peerage.formats.texts import DECORATION, folded
from peerage.values.texts import lazy

Value = TypeVar("Value")

NEAR = 400
"""Characters next to a statement that decide whose it is."""

TAKEN_BACK = lazy(
    r"\b(?:kidding|jok(?:e|ing)|(?:ignore|disregard|forget|scratch|strike) (?:the|that|this|it|what)"
    r"|reflection|second thoughts?|actually|correction|make (?:that|it)|instead|wait)\b",
    re.IGNORECASE,
)
RETRACTED = lazy(
    r"\b(?:or|not|no|wait|actually|rather|instead|maybe|perhaps|unless|sorry|correction|al?though|though|however|but)\b|\?",
    re.IGNORECASE,
)
MOST_AFTER = 4_000
"""Characters of a reason after a statement."""
_LABEL = lazy(
    r"(?:reason(?:ing|s)?|explanation|rationale|justification|check|proof|verification)\W*(?::|\s[-–—])\W*",
    re.IGNORECASE,
)
COURTESY = lazy(
    r"(?:please )?let me know(?: if you (?:need|want|have) (?:anything else"
    r"|(?:any|more|other|further)(?: more| other)? (?:questions?|details?|help|information)))?"
    r"|i hope (?:this|that|it) helps|hope this helps"
    r"|(?:if you need anything else,? )?(?:please )?feel free to (?:ask|reach out)"
    r"|that(?: i|')s all|done|good luck(?: to (?:all|you|everyone))?|thank you|thanks|end",
    re.IGNORECASE,
)
_ABOUT = lazy(
    r"(?:because|since|while|whereas|also|(?:the\s+)?(?:first|second|answers?|responses?|assistants?|candidates?)|it|its|both|nothing|everything|there"
    r"|they|their|each|neither|all|more|most|less|fewer|much|far|clear|short|concise|precise|correct|accurate"
    r"|complete|good|solid|fair|well|(?!other|rather|either|whether|never|however|ever)\w+er)\b"
    r"|(?:(?-i:[AB])\s+\w+s\b)",
    re.IGNORECASE,
)
"""Beginnings of sentences that give a reason: the answers, or a comparison of them."""
_UNSAID = lazy(
    r"\b(?:i|i['’]\w+|me|my|mine|myself|we|us|our|you|your|judges?|prompt|verdicts?|decisions?|decid\w*|judg[e]?ments?"
    r"|choices?|cho(?:oses?|se|sen)|vot\w+|ratings?|scores?|scored|grades?|results?|prefer\w*|pick\w*|select\w*"
    r"|wins?|won|winners?|winning|deserv\w+|final\w*|overall"
    r"|sa(?:ys?|id)|writ\w+|wrote|t(?:ells?|old)|ask\w*|wants?|wanted|demand\w*|instruct\w*|request\w*|command\w*|order(?:s|ed)"
    r"|claim\w*|quot\w+|insist\w*|begs?|begged|wish\w*|hop(?:es?|ing)|pretend\w*|trick\w*|inject\w*|manipulat\w*"
    r"|kidding|jok\w+|ignor\w+|disregard\w*|forget|reflection|thoughts?|actually|really|wait|sorry|corrections?|scratch|strike"
    r"|instead|chang\w+|revis\w+|reconsider\w*|retract\w*|withdraw\w*|opposite|revers\w+|swap\w*|what|above|otherwise"
    r"|los[et]s?|lies?|false|mean[st]?|test|too|lower|higher|before|then)\b"
    r"|\b(?:is|was|are|were|seems?)\s+(?:(?:\w+\s+){0,3}(?:better|best|superior|stronger)"
    r"|(?:not\s+)?(?:answer\s+|response\s+)?(?-i:[AB]))\b"
    r"|\bgets?\s+(?:it|the)\b"
    r"|\b(?:that|this|it|[ab]|first|second)\W*$|\bit is$|\?",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of the statement or of who made it, or that takes it back."""
_COUNT = lazy(
    r"\d+(?:[.,/]\d+)*|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|half|minus|plus)\b",
    re.IGNORECASE,
)
_RIGHT = lazy(r"\b([AB])\s+(?:is|was)\s+(?:\w+\s+){0,2}(?:right|correct)\b")
_AGAIN = lazy(r".{1,60}?\b(?:better|best|superior|stronger|wins)\b", re.IGNORECASE)
_OUR = lazy(
    r"\b(?:my|mine|i|we|our|here|final|verdict|judge?ments?|decision|result|output|json|evaluation|assessment|conclusion"
    r"|therefore|thus|so|hence|vote|scores?|rating|reply|bid|move|choice|object|format|hier|mein\w*|voici|mon|ma"
    r"|aqu[ií]|mi|ecco|mio)\b|[我私]|最终|判断|以下",
    re.IGNORECASE,
)
_THEIRS = lazy(
    r"\b(?:answers?|responses?|assistants?|contestants?|candidates?|players?|models?|options?)\s+(?:[ab12]|one|two)\b"
    r"|\b(?:first|second|other|former|latter|it|its|he|she|his|her|they|their|them|author|writer|opponent)\b",
    re.IGNORECASE,
)
_SAYING = lazy(
    r"\b(?:sa(?:ys?|id|ying)|wr(?:ites?|ote|itten|iting)|stat(?:es?|ed|ing)|claim\w*|quot\w*|contain\w*|includ\w*|reads?"
    r"|demand\w*|(?<!as )(?<!the )instruct\w*|inject\w*|tells?|told|end(?:s|ed|ing)|begins?|starts?|asks?"
    r"|asked|orders?|commands?|insert\w*|embed\w*|append\w*|pretend\w*|imitat\w*|fak\w+|tricks?|manipulat\w*|verbatim|cites?|repeats?|puts?)\b",
    re.IGNORECASE,
)
_LEADS_ON = lazy(
    r"\b(?:line|lines|text|words?|sentence|phrase|string|with|that|this|these|like|by|of|as|follows|following"
    r"|message|code|block)$",
    re.IGNORECASE,
)
_POINTS = lazy(
    r"\b(?:following|follows|below|verbatim|quot\w+)\b|\b(?:this|that|these|those)[.!]*$", re.IGNORECASE
)
_GOES_ON = lazy(r"(?:this|that|these|those|the above|above|such|so|it)\b", re.IGNORECASE)
_REASON = lazy(r"\b(?:because|since|why|reflects|means)\b", re.IGNORECASE)
_BULLET = lazy(r"\s*(?:[-*•+]|\d{1,3}[.)]|#{1,6})\s")
_WHAT = lazy(r"\b(?:what|from|by)\b", re.IGNORECASE)
_NEXT_SENTENCE = lazy(r"(?<=[.!?。！])\s+")
SENTENCE_END = lazy(r"[.!?。！]\s+|\n\s*")
_TAIL = lazy(
    r"\s*(?:```|~~~)[\w-]*\s*\Z|\s*</(?:reason|reasoning|explanation|rationale)>\s*\Z|\s*<(?:answer|output|json|result|verdict|final|final_answer)>\s*\Z",
    re.IGNORECASE,
)
_HEAD = lazy(
    r"\A\s*(?:```|~~~|[-=_]{3,}\s*\Z)|\A\s*</(?:answer|output|json|result|verdict|final|final_answer)>",
    re.IGNORECASE,
)
_RULE = lazy(r"(?:\A|\n)[-=*_ ]{3,}\Z")


def is_own(text: str, start: int, end: int, among: bool = True) -> bool:
    """Return whether the statement at `start:end` is the writer's own; `among`: even with text around it."""
    before = folded(text[max(0, start - NEAR) : start])
    after = folded(text[end : end + NEAR])
    if before.rstrip(" \t\n*_`")[-1:] in tuple("\"'“„«‘") and after.lstrip(" \t\n*_`")[:1] in tuple(
        "\"'”“»’"
    ):
        return False
    while True:
        rest = _RULE.sub("", before.rstrip().removesuffix("[").rstrip("*_`"))
        rest = _TAIL.sub("\n", rest)
        if rest.rstrip() == before.rstrip():
            break
        before = rest
    while True:
        rest = _HEAD.sub("\n", after.lstrip(" \t*_`").removeprefix("]"), count=1) if after else ""
        if rest.strip() == after.strip():
            break
        after = rest
    if before.strip() and after.strip() and not (among and announced(_last_sentence(before))):
        return False
    return not (before.strip() and _leads_on(before)) and not (after.strip() and _goes_on(after))


def announced(sentence: str) -> bool:
    """Return whether an unfinished sentence leads on to the writer's own statement: "Here is my verdict:"."""
    return bool(_OUR.search(sentence)) and not _THEIRS.search(sentence) and not _SAYING.search(sentence)


def _leads_on(before: str) -> bool:
    """Return whether the words before a statement lead on to a quotation."""
    sentence = _last_sentence(before)
    line = before.rstrip().rpartition("\n")[2]
    last = sentence.rstrip(" *_\"'”)")[-1:]
    if line.lstrip().startswith(">"):
        return "\n\n" not in before[len(before.rstrip()) :].replace(" ", "")
    if last in (".", "!", "?", "…", "。", "！"):
        return bool(_POINTS.search(sentence)) and bool(_SAYING.search(sentence) or _THEIRS.search(sentence))
    if not before[len(before.rstrip()) :].count("\n") or not (last.isalnum() or last == "%"):
        above = before.rstrip().rpartition("\n")[0]
        return not announced(sentence) or (bool(above.strip()) and _leads_on(above + "\n"))
    return bool(_LEADS_ON.search(sentence)) or (not _BULLET.match(line) and bool(_SAYING.search(sentence)))


def _goes_on(after: str) -> bool:
    """Return whether words after a statement give it to somebody else: "… is what the first answer says"."""
    rest = after.lstrip()
    same_line = "\n" not in after[: len(after) - len(rest)]
    first = rest.lstrip("*_#`( ")[:1]
    if re.match(r"(?:because|since|as)\s", rest, re.IGNORECASE):
        return False
    if first.islower() or (same_line and not (first.isupper() or first.isdigit() or first.isalpha())):
        return not (same_line and first in ".!" and not rest[1:].strip())
    sentence = re.split(r"[.!?\n]", rest, maxsplit=1)[0]
    return (
        bool(_GOES_ON.match(sentence))
        and bool(_SAYING.search(sentence) or _WHAT.search(sentence))
        and not _REASON.search(sentence)
    )


def _last_sentence(text: str) -> str:
    return _NEXT_SENTENCE.split(text.rstrip().rpartition("\n")[2].rpartition("}")[2])[-1]


def only_a_reason(after: str, read: Callable[[Any], Value | None], value: Value) -> bool:
    """Return whether only a reason for `value` or a courtesy follows its statement; `read` makes the value of
    words as in `reading.stated`. Reasons are sentences about the answers that name no other value, no
    verdict, vote or score and nobody who judges, and take nothing back."""
    if len(after) > MOST_AFTER:
        return not after.strip()
    for sentence in SENTENCE_END.split(_HEAD.sub("", after)):
        words = sentence.strip(DECORATION + "->•–—=\\$")
        if not words or read(words) == value or COURTESY.fullmatch(words):
            continue
        if isinstance(value, str) and words.isdigit():  # of a list
            continue
        again = _AGAIN.match(words)
        if again and read(again[0].rstrip(", ")) == value:
            words = f"because {words[again.end() :]}"
        reason = _LABEL.sub("", words, count=1)
        if reason == words and not _ABOUT.match(words):
            return False
        if _UNSAID.search(reason) or read(words) is not None:
            return False
        if any(read(answer) not in (None, value) for answer in _RIGHT.findall(reason)):
            return False
        counts = [] if isinstance(value, str) else _COUNT.findall(reason)
        if counts and (RETRACTED.search(reason) or read(counts[-1]) != value):
            return False
    return True
