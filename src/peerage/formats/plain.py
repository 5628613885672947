"""Formats for any game: free text, a choice, a program, and a program to be run before the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.reading.reader import bare, stated
from peerage.formats.texts import Format, FormatError, blocks, json_text, object_schema, unix, words
from peerage.values.texts import visible


class Text(Struct, frozen=True, tag="text"):
    """Free text, cut after `max_chars` characters. Empty or blank is unusable."""

    max_chars: int = 20_000

    def instruction(self) -> str:
        return f"Reply with plain text of at most {self.max_chars} characters."

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> str:
        if not visible(text).replace("\ufffd", "").strip():
            raise FormatError("the reply is empty; some text was expected")
        return text[: self.max_chars]

    def write(self, value: str) -> str:
        return value

    def sample(self, rng: Random) -> str:
        return words(rng, self.max_chars)


class Shaped(Struct, frozen=True, tag="shaped"):
    """Free text that is asked for in the shape of a JSON schema, where the provider can; `text` is the schema
    as JSON. Whether a reply has that shape is for the game to say: `parse` reads any text, as `Text` does."""

    text: str
    max_chars: int = 20_000

    def instruction(self) -> str:
        return f"Reply with JSON of this schema and nothing else: {self.text}"

    def schema(self) -> dict[str, Any] | None:
        schema: dict[str, Any] = json.loads(self.text)
        return schema

    def parse(self, text: str) -> str:
        return Text(self.max_chars).parse(text)

    def write(self, value: str) -> str:
        return value

    def sample(self, rng: Random) -> str:
        return "{}"


class Chosen(Struct, frozen=True, gc=False):
    """The value of a `Choice` reply."""

    choice: str
    reason: str = ""


class Choice(Struct, frozen=True, tag="choice"):
    """One of `options`, with a short reason, read as `reading` says: quoting somebody's "verdict: A" must
    never cast a vote. Options are compared without case and without the marks around them. Of two answers to
    compare, A and B, the usual ways to name one are options too: `Answer B`, `the second answer`, `B is
    better`, `B>>A`."""

    field: str
    options: tuple[str, ...]
    reason_chars: int = 400

    def instruction(self) -> str:
        return self._each.instruction()

    def schema(self) -> dict[str, Any] | None:
        return self._each.schema()

    @property
    def _each(self) -> Choices:
        return Choices((self.field,), self.options, self.reason_chars)

    def parse(self, text: str) -> Chosen:
        reply = stated(
            text,
            (self.field,),
            self.option,
            f'a JSON object with "{self.field}" set to one of {", ".join(self.options)} was expected, and '
            "nothing else",
        )
        return Chosen(reply.values[self.field], reply.reason[: self.reason_chars])

    def write(self, value: Chosen | str) -> str:
        chosen = value if isinstance(value, Chosen) else Chosen(value)
        return json_text({"reason": chosen.reason, self.field: chosen.choice})

    def sample(self, rng: Random) -> Chosen:
        return Chosen(rng.choice(self.options))

    def option(self, written: Any) -> str | None:
        """Return the option that a piece of a reply names; None for none."""
        if isinstance(written, list) and len(written) == 1:
            written = written[0]
        if not isinstance(written, str) or len(written) > _LONGEST:
            return None
        names = _options(self.options)
        option = names.get(written) or names.get(bare(written))
        return option or (_compared(bare(written), names) if names.keys() >= {"a", "b"} else None)


class ChosenEach(Struct, frozen=True, gc=False):
    """The value of a `Choices` reply: the option for each field."""

    choices: Mapping[str, str]
    reason: str = ""


class Choices(Struct, frozen=True, tag="choices"):
    """One of `options` for each of several `fields`, with a short reason, read as a `Choice` is."""

    fields: tuple[str, ...]
    options: tuple[str, ...]
    reason_chars: int = 400

    def instruction(self) -> str:
        options = " | ".join(f'"{option}"' for option in self.options)
        fields = ", ".join(f'"{field}": {options}' for field in self.fields)
        return (
            f'Reply with one JSON object and nothing else: {{"reason": "<one or two sentences>", {fields}}}'
        )

    def schema(self) -> dict[str, Any] | None:
        option = {"type": "string", "enum": list(self.options)}
        reason = {"type": "string", "maxLength": self.reason_chars}
        return object_schema({"reason": reason} | dict.fromkeys(self.fields, option))

    def parse(self, text: str) -> ChosenEach:
        reply = stated(
            text,
            self.fields,
            Choice(self.fields[0], self.options).option,
            f"a JSON object with each of {', '.join(self.fields)} set to one of {', '.join(self.options)} "
            "was expected, and nothing else",
        )
        return ChosenEach(reply.values, reply.reason[: self.reason_chars])

    def write(self, value: ChosenEach) -> str:
        return json_text({"reason": value.reason, **value.choices})

    def sample(self, rng: Random) -> ChosenEach:
        return ChosenEach({field: rng.choice(self.options) for field in self.fields})


_LONGEST = 400  # characters of an option, at most
_ANSWER = r"(?:answers?|responses?|assistant|option|model|candidate|text)"
_PREFERRED = re.compile(
    r"(?:(?:i\s+(?:prefer|choose|pick|select|favou?r|vote(?:\s+for)?|go\s+with)|therefore|so|thus|hence|overall"
    r"|wait|on reflection|in conclusion|but|no|actually)[\s,:]+)*"
    rf"(?:the\s+)?(?:{_ANSWER}\s+)?[*_\"'(]*(a|b|first|second)[*_\"')]*(?:\s+(?:{_ANSWER}|one))?"
    r"(?:\s+(?:wins|(?:is|was|seems)\s+(?:(?!not|no|never|hardly|barely|less|neither)\w+\s+){0,2}"
    r"(?:better|best|superior|stronger|preferred|preferable|winner))"
    rf"(?:\s+(?:{_ANSWER}|one|overall))?(?:\s+than\s+(?:{_ANSWER}\s+)?(?:the\s+)?\w+(?:\s+{_ANSWER})?)?"
    r")?"
)
_ARROW = re.compile(r"([ab])\s*(?:(>{1,2})|(<{1,2})|=)\s*([ab])")
_TIES = {
    "a tie",
    "it is a tie",
    "it's a tie",
    "it’s a tie",
    "tied",
    "draw",
    "a draw",
    "equal",
    "both are equal",
    "both equal",
}
_TIE = "tie"


@lru_cache(maxsize=256)
def _options(options: tuple[str, ...]) -> dict[str, str]:
    """The option that each spelling names; two that differ in case or marks alone are not told apart."""
    bares = [bare(option) for option in options]
    names = {
        name: option for name, option in zip(bares, options, strict=True) if name and bares.count(name) == 1
    }
    return names | {option: option for option in options}


def _compared(name: str, names: Mapping[str, str]) -> str | None:
    """The answer, A or B, that words such as "the second answer is better" are for."""
    arrow, preferred = _ARROW.fullmatch(name), _PREFERRED.fullmatch(name)
    if arrow and arrow[1] != arrow[4]:
        return names.get(arrow[1] if arrow[2] else arrow[4] if arrow[3] else _TIE)
    if preferred:
        return names[{"first": "a", "second": "b"}.get(preferred[1], preferred[1])]
    return names.get(_TIE) if name in _TIES else None


class Code(Struct, frozen=True, tag="code"):
    """A Python program: the content of the reply's only Markdown code block.

    A block begins with a line of three backticks, a language or none after them, and ends with a line of
    three backticks. Whatever stands around it does not count. A reply without a block, with a block that does
    not end, or with two different ones is unusable, and so is a program that is blank or too long. The value
    is the program, without carriage returns and without the line feed before the end of the block.
    """

    max_bytes: int = 20_000

    def instruction(self) -> str:
        return (
            "Reply with the program in one Markdown code block (a line of ```python, the program, a line of "
            f"```) and write no other block. The program has at most {self.max_bytes} bytes."
        )

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> str:
        fenced = dict.fromkeys(blocks(unix(text)))
        if len(fenced) != 1:
            what = "no code block" if not fenced else f"{len(fenced)} different code blocks"
            raise FormatError(f"{what} found; the program in one block of ``` was expected")
        program = next(iter(fenced))
        size = len(program.encode())
        if size > self.max_bytes:
            raise FormatError(f"the program has {size} bytes; at most {self.max_bytes} are allowed")
        if not program.strip():
            raise FormatError("the code block is empty; a program was expected")
        return program

    def write(self, value: str) -> str:
        return f"```python\n{value}\n```"

    def sample(self, rng: Random) -> str:
        return f"print({rng.randrange(1000)})"


_OPENING = re.compile(r"^[ \t]*```[ \t]*(?:python3?|py)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)


class Turn(Struct, frozen=True, gc=False):
    """The value of a `WithTool` reply: a program to be run, or (`program` empty) the answer's value."""

    program: str = ""
    answer: Any = None


class WithTool(Struct, frozen=True, tag="with-tool"):
    """A program to be run, or the answer in the format `answer`. A reply with a line of ```python is a run,
    whatever stands around the block, and never an answer: nobody answers before having seen what the program
    prints. Such a reply must hold one block, which ends, and a program of at most `max_bytes` bytes of UTF-8;
    see `Code`. Every other reply is read as the answer."""

    answer: Format
    max_bytes: int = 20_000

    def instruction(self) -> str:
        return (
            "Either reply with a program to be run, in one Markdown code block (a line of ```python, the "
            f"program of at most {self.max_bytes} bytes, a line of ```), or answer: "
            f"{self.answer.instruction()}"
        )

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> Turn:
        if _OPENING.search(unix(text)):
            return Turn(program=Code(self.max_bytes).parse(text))
        return Turn(answer=self.answer.parse(text))

    def write(self, value: Any) -> str:
        """A `Turn`, or the answer's value."""
        turn = value if isinstance(value, Turn) else Turn(answer=value)
        return Code().write(turn.program) if turn.program else self.answer.write(turn.answer)

    def sample(self, rng: Random) -> Turn:
        return Turn(answer=self.answer.sample(rng))
