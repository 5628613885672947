"""A format for authors who write several questions in one reply."""

from __future__ import annotations

import re
from collections.abc import Iterable
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.reading.reader import object_in
from peerage.formats.texts import FormatError, json_text, object_schema, unix, words
from peerage.values.texts import visible

_NUMBERED = re.compile(r"[ \t>*#]*[0-9]{1,4}[ \t]*[.):][ \t*]*(.*)")
_ENTRIES = 1_000  # numbered lines that are looked at
_CATEGORY = re.compile(r"[\[(*]*[ \t]*([^\]\[()*:]{1,60}?)[ \t]*[\])*:]+[ \t]*(.*)", re.DOTALL)


class Written(Struct, frozen=True, gc=False):
    """One question of a reply; `category` is one of those asked for, or empty."""

    text: str
    category: str = ""


class Questions(Struct, frozen=True, tag="questions"):
    """Up to `count` questions, each of at most `max_chars` characters and of one of `categories`.

    Accepted: a JSON object, as `reading` finds it, with a list `questions` of texts or of objects
    with `question` and `category`; or a numbered list, `1.` or `1)` or `1:`, where a line without a number
    goes on with the question before it, up to a blank line, and whatever else stands there does not count. A
    numbered question may begin with its category: `[math] …`, `math: …`. A question that is blank or too long
    does not count: it is neither cut nor guessed at. Beyond `count` the rest is left out; fewer are fewer. A
    reply without any is unusable. The value is a tuple of `Written`.
    """

    count: int
    max_chars: int = 600
    categories: tuple[str, ...] = ()

    def instruction(self) -> str:
        category = '"category": "<category>", ' if self.categories else ""
        return (
            "Reply with one JSON object and nothing else: "
            f'{{"questions": [{{{category}"question": "<question>"}}, …]}}, with {self.count} '
            f"{'questions' if self.count > 1 else 'question'} of at most {self.max_chars} characters each."
        )

    def schema(self) -> dict[str, Any] | None:
        category = {"category": {"type": "string", "enum": list(self.categories)}} if self.categories else {}
        question = {"question": {"type": "string", "minLength": 1, "maxLength": self.max_chars}}
        return object_schema(
            {
                "questions": {
                    "type": "array",
                    "items": object_schema({**category, **question}),
                    "minItems": 1,
                    "maxItems": self.count,
                }
            }
        )

    def parse(self, text: str) -> tuple[Written, ...]:
        fields = object_in(text, ("questions",))
        listed: Any = fields.get("questions") if fields is not None else None
        if fields is None:
            listed = self._numbered(unix(text))
        if not isinstance(listed, list):
            raise FormatError('there are no questions; a JSON object with a list "questions" was expected')
        written = [question for question in map(self._question, listed) if question is not None]
        if not written:
            why = f"none of the {len(listed)} entries is one" if listed else "the list is empty"
            raise FormatError(
                f"no question found ({why}); texts of 1 to {self.max_chars} characters were expected"
            )
        return tuple(written[: self.count])

    def write(self, value: Iterable[Written | str]) -> str:
        asked = [question if isinstance(question, Written) else Written(question) for question in value]
        entries = [
            ({"category": question.category} if self.categories else {}) | {"question": question.text}
            for question in asked
        ]
        return json_text({"questions": entries})

    def sample(self, rng: Random) -> tuple[Written, ...]:
        categories = self.categories or ("",)
        return tuple([Written(words(rng, self.max_chars), rng.choice(categories)) for _ in range(self.count)])

    def _question(self, entry: object) -> Written | None:
        question, category = entry, ""
        if isinstance(entry, dict):
            question, category = entry.get("question"), entry.get("category", "")
        if not isinstance(question, str):
            return None
        text = question.strip()
        if not re.search(r"\w", visible(text)) or len(text) > self.max_chars:
            return None
        return Written(text, self._category(category) if isinstance(category, str) else "")

    def _numbered(self, text: str) -> list[dict[str, str]]:
        """The entries of a numbered list, in the form of JSON's."""
        entries: list[list[str]] = []
        going_on = False
        for line in text.split("\n"):
            if len(entries) > _ENTRIES:
                break
            numbered = _NUMBERED.fullmatch(line)
            if numbered:
                entries.append([numbered[1]])
            elif going_on and line.strip():
                entries[-1].append(line.strip())
            going_on = bool(numbered) or (going_on and bool(line.strip()))
        return [self._labelled(" ".join(parts).strip(" \t*")) for parts in entries]

    def _labelled(self, text: str) -> dict[str, str]:
        labelled = _CATEGORY.fullmatch(text)
        category = self._category(labelled[1]) if labelled else ""
        return {"question": labelled[2] if labelled and category else text, "category": category}

    def _category(self, text: str) -> str:
        bare = text.strip(" \t\n*_\"'.").casefold()
        return next((known for known in self.categories if known.casefold() == bare), "")
