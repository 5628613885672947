"""Failures in one short printable line, with the player's name and without any key.

A key is found as it is, in capitals or lower case, percent-encoded (whole or in part), in hex, in base64
(wherever it begins in what was encoded) and backwards, each also with blanks or line feeds in between. A
short one counts only where it is a word of its own, without blanks, and in another case only if it is no
plain word: a password `banana` leaves "bananas" and "Banana" alone.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterable
from functools import lru_cache, wraps
from itertools import takewhile
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

import msgspec

from peerage.players.client import Answer, Later, NotTaken, PlayerError, duration
from peerage.values.texts import visible

LONGEST = 600
SHORTEST_SECRET = 6
"""A stated key shorter than this is a placeholder ("none", "x"); replacing it would garble the message."""

LONG_SECRET = 16
"""A key of so many characters is no part of another word by chance, so it is found inside of words too."""

PART = 10
"""Characters by which the beginning or end of a long key is known where a message was cut in the middle."""


Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])


def named(method: Method) -> Method:
    """A client's method whose failures name its player, a TimeoutError among them, and which reveals no key.

    The client has its player's `_settings` and `_secrets`, the keys that it keeps to itself.
    """

    @wraps(method)
    async def keyless_call(self: Any, *arguments: Any) -> Any:
        try:
            answer = await method(self, *arguments)
        except TimeoutError:
            late = f"no reply within {duration(self._settings.timeout_s)}"
            error = PlayerError(late, maybe_paid=True, busy=True)
        except PlayerError as raised:
            error = raised
        else:
            return keyless(answer, self._secrets) if isinstance(answer, Answer) else answer
        raise named_failure(error, self._settings.name, self._secrets) from None

    return cast(Method, keyless_call)


def named_failure(error: PlayerError, player: str, secrets: Iterable[str]) -> PlayerError:
    """`error` with the player's name in front, shortened, printable, its keys replaced by `[key]`."""
    message = " ".join(visible(without_traceback(hidden(str(error), secrets))).split())
    if not message.startswith(f"{player}: "):
        message = f"{player}: {message}"
    message = message if len(message) <= LONGEST else message[: LONGEST - 1] + "…"
    if isinstance(error, Later):
        return Later(message, error.until_ms)
    if isinstance(error, NotTaken):
        return NotTaken(message)
    return PlayerError(
        message,
        kind=error.kind,
        retry_after_s=error.retry_after_s,
        maybe_paid=error.maybe_paid,
        busy=error.busy,
        most_nano=error.most_nano,
    )


_MARGIN = re.compile(r"^ +[|+](?:-.*$| ?)", re.MULTILINE)
"""The marks before the lines of an exception group, and between its parts."""
_FRAME = re.compile(r'^ *File "(?P<file>.*)", line (?P<line>\d+).*\n?', re.MULTILINE)
_TRACEBACK = re.compile(
    rf"(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):|{_FRAME.pattern}", re.MULTILINE
)
_CODE = re.compile(r"(?:[ \t].*\n?)*")
"""The lines below a frame, which quote the program."""


def without_traceback(text: str) -> str:
    """`text` with the Python tracebacks in it, the first whole or begun in the middle, shortened to the last
    exception and the place that raised it: `ValueError: no key (agent.py, line 3)`."""
    bare = _MARGIN.sub("", text)
    begun = _TRACEBACK.search(bare)
    if begun is None:
        return text
    frames = list(_FRAME.finditer(bare, begun.start()))
    if not frames:
        return text
    last = frames[-1]
    error = _CODE.sub("", bare[last.end() :], count=1).strip()
    name = last["file"].replace("\\", "/").rpartition("/")[2]
    return f"{bare[: begun.start()]}{error} ({name}, line {last['line']})"


def hidden(text: str, secrets: Iterable[str]) -> str:
    """`text` with every form of the keys, and what a cut left of one, replaced by `[key]`."""
    for secret in _worth_hiding(secrets):
        text = _without_parts(without_key(text, secret), secret)
    return text


def keyless(answer: Answer, secrets: Iterable[str]) -> Answer:
    """`answer` with the player's keys, should it repeat one, replaced by `[key]`: replies are published."""
    text, snapshot = answer.text, answer.snapshot
    for secret in _worth_hiding(secrets):
        text, snapshot = without_key(text, secret), without_key(snapshot, secret)
    if text == answer.text and snapshot == answer.snapshot:
        return answer
    return msgspec.structs.replace(answer, text=text, snapshot=snapshot)


def secrets_of(address: str) -> tuple[str, ...]:
    """Return what of an address is as secret as a key: its password, its query and the values in that."""
    parts = urlsplit(address)
    return (parts.password or "", parts.query, *[value for _, value in parse_qsl(parts.query)])


def without_key(text: str, secret: str) -> str:
    """`text` with every form of a key replaced by `[key]`."""
    return _forms(secret).sub("[key]", text)


def _worth_hiding(secrets: Iterable[str]) -> list[str]:
    return [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]


@lru_cache(maxsize=256)
def _forms(secret: str) -> re.Pattern[str]:
    """Return a pattern for the forms of a key: plain or percent-encoded, backwards, in hex, in base64."""
    stored = secret.encode("utf-8", "replace")
    blanks = _BLANKS if len(secret) >= LONG_SECRET else ""
    case = "" if secret.isalpha() and secret.islower() and not blanks else "i"
    forms = [_escaped(secret, case, blanks), _escaped(secret[::-1], case, blanks), _in_hex(stored)]
    if len(secret) < LONG_SECRET:
        whole = b64encode(stored).decode().rstrip("=")
        forms += [re.escape(whole), re.escape(_url_safe(whole))]
        begins = r"(?:(?<![^\W_])|(?<=%[0-9a-fA-F]{2}))"
        return re.compile(rf"{begins}(?:{'|'.join(forms)})(?![^\W_])={{0,2}}")
    for ahead in range(3):
        core = _base64_core(stored, ahead)
        shared = "[A-Za-z0-9+/_-]?"  # at either end a character holds bits of the key and of its neighbour
        forms += [
            f"{shared if ahead else ''}{blanks.join(map(re.escape, text))}{shared}={{0,2}}"
            for text in (core, _url_safe(core))
        ]
    return re.compile("|".join(dict.fromkeys(forms)))


_BLANKS = r"[\s\u00ad\u200b-\u200d\u2060\ufeff]*"
"""Pattern of what a server may insert between the characters of a key; `\\s` has no-break blanks too."""
_BETWEEN_HEX = r"(?:\\x|\\u00|0x|[\s:,])*"


def _escaped(secret: str, case: str, blanks: str) -> str:
    """A pattern for a key of which any characters may be percent-encoded, with `blanks` between; `case` is
    `i` where the case does not matter."""
    coded = [re.sub("..", r"%\g<0>", letter.encode("utf-8", "replace").hex()) for letter in secret]
    pairs = zip(secret, coded, strict=True)
    letters = blanks.join([f"(?:{re.escape(letter)}|(?i:{code}))" for letter, code in pairs])
    return f"(?{case}:{letters})"


def _in_hex(secret: bytes) -> str:
    """A pattern for a key in hex digits, also with what stands between bytes: `:`, blanks, `0x`, `\\x`."""
    return f"(?i:{_BETWEEN_HEX.join([f'{byte:02x}' for byte in secret])})"


def _base64_core(secret: bytes, ahead: int) -> str:
    """Return what a key is in base64 when `ahead` bytes (modulo 3) are encoded before it, whatever they and
    the ones after it are: the characters that depend on the key alone."""
    coded = b64encode(bytes(ahead) + secret).decode()
    return coded[-(-ahead * 8 // 6) : (ahead + len(secret)) * 8 // 6]


def _url_safe(coded: str) -> str:
    return coded.replace("+", "-").replace("/", "_")


def _without_parts(shown: str, secret: str) -> str:
    """`shown` without what a cut left of a key: what begins or ends like it, as far as it does."""
    if len(secret) < LONG_SECRET:
        return shown
    for head, tail in ((secret[:PART], secret[PART:]), (secret[-PART:][::-1], secret[:-PART][::-1])):
        backwards = not secret.startswith(head)
        text = shown[::-1] if backwards else shown
        pieces = text.split(head)
        for place, rest in enumerate(pieces[1:], 1):
            same = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(rest, tail, strict=False)))
            pieces[place] = ("]yek[" if backwards else "[key]") + rest[same:]
        text = "".join(pieces)
        shown = text[::-1] if backwards else text
    return shown
