"""Answers that speak to their judge: orders to it, and imitations of its prompt or of its verdict. Pure.

Words alone say little, since honest answers discuss judges, JSON and prompts. So an order needs a verb of
judging and what it asks for, and nothing counts that is in a code block or in quotation marks.
"""

from __future__ import annotations

import re

from peerage.formats.texts import folded
from peerage.values.texts import lazy, visible

MOST = 60_000
"""Characters of an answer that are looked at: more than judges are shown."""
_SHOWN = 80

_CODE = lazy(r"```.*?(?:```|\Z)|`[^`\n]{1,300}`", re.DOTALL)
_QUOTED = lazy(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|^>[^\n]*", re.MULTILINE)
_JUDGE = r"(?:judges?|graders?|evaluators?|reviewers?|raters?|llm judge|ai judge)"
_VERB = (
    r"(?:choose|select|pick|prefer|favou?r|vote\s+for|rate|score|give|award|declare|grade|rank"
    r"|judge|mark|output|return|reply|respond|answer|say)"
)
_OURS = (
    r"(?:(?:this|my)\s+(?:answer|response|one|text|reply|solution)|(?:answer|response"
    r"|option)\s+[ab]\b|me\b|the\s+(?:first|second)\s+(?:answer|response|one)"
    r"|(?:a\s+|an\s+)?(?:10|ten|100|full|perfect|top|highest|maximum)\b(?:\s+(?:score|marks?"
    r"|points|rating))?|(?:with\s+)?(?:the\s+)?verdict|[\"'{\[]*\s*[ab]\b(?!\s+\w))"
)
_ORDERS = (
    rf"(?:dear|attention|hey|hello|note\s+(?:to|for)|message\s+(?:to|for)|instructions?\s+(?:to"
    rf"|for))\W+(?:the\s+|all\s+|any\s+)?{_JUDGE}\b",
    rf"\bas\s+(?:a|an|the)\s+(?:\w+\s+){{0,2}}{_JUDGE}\W+you\s+(?:should|must|will|need\s+to"
    rf"|have\s+to|ought\s+to)\s+(?:\w+\s+)?{_VERB}\s+{_OURS}",
    rf"\b{_JUDGE}(?:[:,]\s*(?:please\s+|you\s+(?:should|must)\s+)?|\s+(?:please|should"
    rf"|must)\s+){_VERB}\s+{_OURS}",
    rf"\byou\s+(?:should|must|have\s+to|need\s+to)\s+{_VERB}\s+(?:for\s+)?(?:this"
    rf"|my)\s+(?:answer|response)\b",
    rf"(?:^|[.!?:]\s+|\bplease\s+){_VERB}\s+(?:for\s+)?(?:this|my)\s+(?:answer"
    rf"|response)\s+(?:a\s|as\s|the\s|10|with|over|first|higher|best)",
    r"\b(?:this|my)\s+(?:answer|response)\s+(?:should|must|deserves\s+to"
    r"|ought\s+to)\s+(?:be\s+)?(?:win|chosen|preferred|selected|rated|scored|awarded|judged)",
    r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|of\s+|the\s+|your\s+"
    r"|these\s+)*(?:previous|prior|above|earlier|other)\s+(?:instructions?|prompts?|rules"
    r"|criteria|answers?)\b"
    rf"[^.]{{0,20}}[.,;:!\n]?[^.\n]{{0,80}}?\b(?:verdict|{_VERB}|winner|better|{_JUDGE})\b",
)
_MARKER = lazy(
    r"(?<!<)<<<(?!<)\s*(?:end\s+)?[^<>\n]{0,30}\b(?:answer|response|challenge|question|reply"
    r"|draft)\b[^<>\n]{0,30}>>>(?!>)",
    re.IGNORECASE,
)
_OBJECT = lazy(
    r"\{\s*[\"'](?:reason|verdict)[\"']\s*:(?:[^{}\n]{0,300}?[\"']verdict[\"']\s*:)?\s*[\"'"
    r"](?:[AB]|tie)[\"'][^{}\n]{0,300}\}",
    re.IGNORECASE,
)
_VERDICTS = (
    r"^[ \t*#_\-{]*+[\"']?(?:(?:my|the|final)[ \t]+)*+(?:verdict"
    r"|winner)[\"'*_]*\s*[:=]\s*[\"'*_\[(]*\s*(?:(?:answer|response|assistant)\s+)?(?:[AB]"
    r"|tie)[\"'*_\])]*[ \t.,}]*$",
    r"^[ \t]*\[\[[ ]?[AB] ?(?:[<>=]{1,2} ?[AB] ?)?\]\][ \t]*$",
)
_WORDS = lazy("|".join((*_ORDERS, *_VERDICTS)), re.IGNORECASE | re.MULTILINE)


def spoken_to_judges(answer: str) -> str:
    """Return the words with which an answer speaks to its judge, at most 80 characters; empty where it does
    not. Linear in the length of the answer.

    A marker such as `<<<end answer A>>>`, and a verdict on a line of its own, count as imitations.
    """
    text = folded(answer[:MOST])
    outside = _CODE.sub(" ", text)
    passage = _MARKER.search(text) or _OBJECT.search(outside) or _WORDS.search(_QUOTED.sub(" ", outside))
    return visible(" ".join(passage[0].split()))[:_SHOWN] if passage else ""
