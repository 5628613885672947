"""The stored forms of requests. Pure.

A request is stored as the digest of its form (role, limits, format of the reply, templates: the same for
thousands of requests) and what fills the templates; what a player wrote is a reference to the earlier reply,
and so is an earlier turn of its conversation.
A run is stored as its program, its input and its limits; a command with the folders and the patch that it
works on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from peerage.formats import recorded, stored
from peerage.game.protocol import (
    Ask,
    Format,
    Message,
    PastTurn,
    Quote,
    Ran,
    Request,
    Role,
    Run,
    Speaker,
    places,
    ran,
)
from peerage.game.work import CommandResult, ShellCommand, command_result
from peerage.ledger.forms.codec import Text, text_digest
from peerage.sandbox.folder import WorkFolder
from peerage.values.sealing import REDACTED, Kept, salt

INLINE_CHARS = 160
"""Texts up to this length stand in the row itself; longer ones are stored once, by digest."""


class _Form(Struct, frozen=True):
    role: Role
    max_tokens: int
    temperature: float | None
    expects: dict[str, Any]
    messages: tuple[tuple[Speaker, str], ...]


class _Filled(Struct, frozen=True, omit_defaults=True, gc=False):
    """The filling of a place, when it is not a short literal.

    With a `label` it is a quote: the first `chars` characters of `reply`, or inline (`said`), or by digest
    (`text`). Without one it is a long literal, by digest.
    """

    label: str | None = None
    reply: str = ""
    chars: int = 0
    said: str = ""
    text: str = ""


class _StoredRequest(Struct, frozen=True, omit_defaults=True, gc=False):
    to: str
    form: str
    fill: list[dict[str, str | _Filled]] | Kept
    past: tuple[str, ...] = ()
    folder: str = ""


class _SealedProgram(Struct, frozen=True, gc=False):
    """A run whose program and input are sealed together: a JSON list of the two."""

    sealed_run: Kept
    fuel: int
    memory: int
    output: int
    seconds: float


class _Program(Struct, frozen=True, gc=False):
    """A run. Program and input are texts of their own when they are long: many runs share them."""

    run: str | _Filled
    stdin: str | _Filled
    fuel: int
    memory: int
    output: int
    seconds: float


class _Command(Struct, frozen=True, gc=False):
    """A command, and as JSON its folder, its patch and the folder laid over both ("" for none); sealed
    together where they are sealed, as a JSON list of the four."""

    command: tuple[str | _Filled, ...] | Kept
    keeps: bool
    seconds: float
    output: int


_RUN = b'{"run":'
"""First bytes of a stored run, and of no other request."""
_SEALED_RUN = b'{"sealed_run":'
_COMMAND = b'{"command":'


_encode = msgspec.json.Encoder().encode
_decode_form = msgspec.json.Decoder(_Form).decode
_decode_request = msgspec.json.Decoder(_StoredRequest).decode
_decode_program = msgspec.json.Decoder(_Program).decode
_decode_sealed_program = msgspec.json.Decoder(_SealedProgram).decode
_decode_fill = msgspec.json.Decoder(list[dict[str, str | _Filled]]).decode
_decode_run = msgspec.json.Decoder(tuple[str, str]).decode
_decode_command = msgspec.json.Decoder(_Command).decode
_decode_parts = msgspec.json.Decoder(tuple[str, ...]).decode
_decode_folder = msgspec.json.Decoder(WorkFolder).decode
_NO_FOLDER = _encode(WorkFolder("")).decode()


def request_body(ask: Request, secret: str = "") -> tuple[bytes, list[Text]]:
    """The stored bytes of a request and the long texts it refers to.

    With a match's `secret`, programs and what fills prompts are sealed, and nothing of them is a text.
    """
    seal = request_salt(secret, ask.key)
    if isinstance(ask, Run):
        if seal:
            kept = Kept(seal, _encode((ask.source, ask.stdin)).decode())
            return _encode(_SealedProgram(kept, ask.fuel, ask.memory, ask.output, ask.seconds)), []
        long: list[Text] = []
        source, stdin = _fill(ask.source, long), _fill(ask.stdin, long)
        return _encode(_Program(source, stdin, ask.fuel, ask.memory, ask.output, ask.seconds)), long
    if isinstance(ask, ShellCommand):
        folders = [_encode(folder).decode() if folder else "" for folder in (ask.folder, ask.overlay)]
        parts, held = (ask.command, folders[0], ask.patch, folders[1]), list[Text]()
        whole = Kept(seal, _encode(parts).decode()) if seal else tuple([_fill(part, held) for part in parts])
        # A whole number may be an int in rules as they are stated, and a float in those that were read back.
        return _encode(_Command(whole, ask.keeps, float(ask.seconds), ask.output)), held
    form, text = _form(
        ask.role,
        ask.max_tokens,
        ask.temperature,
        ask.expects,
        tuple([(message.speaker, message.template) for message in ask.messages]),
    )
    texts, past = [text], tuple([turn.key for turn in ask.past])
    folder = ask.folder.digest if ask.folder else ""
    if seal:
        inline = [{place: _whole(value) for place, value in message.fill.items()} for message in ask.messages]
        return _encode(
            _StoredRequest(ask.to, form, Kept(seal, _encode(inline).decode()), past, folder)
        ), texts
    fills = [
        {place: _fill(value, texts) for place, value in message.fill.items()} for message in ask.messages
    ]
    return _encode(_StoredRequest(ask.to, form, fills, past, folder)), texts


@lru_cache(maxsize=10_000, typed=True)  # 1 and 1.0 are equal, and stored differently
def _form(
    role: Role,
    max_tokens: int,
    temperature: float | None,
    expects: Format,
    messages: tuple[tuple[Speaker, str], ...],
) -> tuple[str, Text]:
    """Return what thousands of requests share, as a text with its digest."""
    form = _encode(_Form(role, max_tokens, temperature, stored(expects), messages)).decode()
    digest = text_digest(form)
    return digest.hex(), (digest, form)


def _fill(value: str | Quote, texts: list[Text]) -> str | _Filled:
    if isinstance(value, str):
        return value if len(value) <= INLINE_CHARS else _Filled(text=_long(value, texts))
    if value.key:
        return _Filled(value.label, value.key, len(value.text))
    if len(value.text) <= INLINE_CHARS:
        return _Filled(value.label, said=value.text)
    return _Filled(value.label, text=_long(value.text, texts))


def _whole(value: str | Quote) -> str | _Filled:
    """Return what fills a place of a sealed request: everything inline but what an earlier reply holds."""
    if isinstance(value, str):
        return value
    return _Filled(
        value.label, value.key, len(value.text) if value.key else 0, "" if value.key else value.text
    )


def _long(text: str, texts: list[Text]) -> str:
    digest = text_digest(text)
    texts.append((digest, text))
    return digest.hex()


def read_request(
    key: str, body: bytes, texts: Callable[[str], str], reply_text: Callable[[str], str]
) -> Request:
    """The request as it was asked, without its oracle; of its conversation the keys alone, of its folder the
    digest.

    `texts` gives a long text by hex digest, `reply_text` a reply's by request key; both raise KeyError.
    """
    if body.startswith(_RUN):
        program = _decode_program(body)
        source, stdin = (
            part if isinstance(part, str) else texts(part.text) for part in (program.run, program.stdin)
        )
        return _run(key, source, stdin, program)
    if body.startswith(_SEALED_RUN):
        sealed = _decode_sealed_program(body)
        kept = sealed.sealed_run
        source, stdin = _decode_run(kept.value) if kept.salt else (REDACTED, REDACTED)
        return _run(key, source, stdin, sealed)
    if body.startswith(_COMMAND):
        return _shell_command(key, _decode_command(body), texts)
    request = _decode_request(body)
    form, expects = _read_form(texts(request.form))
    messages = []
    fills = _opened(request.fill) if isinstance(request.fill, Kept) else request.fill
    fills = fills or [dict.fromkeys(places(template), REDACTED) for _, template in form.messages]
    for (speaker, template), fill in zip(form.messages, fills, strict=True):
        filled: dict[str, str | Quote] = {}
        for place, value in fill.items():
            if isinstance(value, str):
                filled[place] = value
            elif value.label is None:
                filled[place] = texts(value.text)
            elif value.reply:
                filled[place] = Quote(value.label, reply_text(value.reply)[: value.chars], value.reply)
            else:
                filled[place] = Quote(value.label, texts(value.text) if value.text else value.said)
        messages.append(Message(speaker, template, filled))
    return Ask(
        to=request.to,
        key=key,
        role=form.role,
        messages=tuple(messages),
        expects=expects,
        max_tokens=form.max_tokens,
        temperature=form.temperature,
        past=tuple([PastTurn(key, ()) for key in request.past]),
        folder=WorkFolder(request.folder) if request.folder else None,
    )


def _shell_command(key: str, stored: _Command, texts: Callable[[str], str]) -> ShellCommand:
    kept = stored.command
    if not isinstance(kept, Kept):
        parts = tuple([part if isinstance(part, str) else texts(part.text) for part in kept])
    else:
        parts = _decode_parts(kept.value) if kept.salt else (REDACTED, _NO_FOLDER, REDACTED, "")
    command, folder, patch, overlay = parts
    return ShellCommand(
        key=key,
        folder=_decode_folder(folder),
        command=command,
        patch=patch,
        overlay=_decode_folder(overlay) if overlay else None,
        keeps=stored.keeps,
        seconds=stored.seconds,
        output=stored.output,
    )


def read_ran(request: bytes, text: str) -> Ran | CommandResult:
    """The value of the reply to a stored run or command, whose text is JSON. Raises msgspec.MsgspecError."""
    return command_result(text) if request.startswith(_COMMAND) else ran(text)


def _run(key: str, source: str, stdin: str, limits: _Program | _SealedProgram) -> Run:
    return Run(
        key=key,
        source=source,
        stdin=stdin,
        fuel=limits.fuel,
        memory=limits.memory,
        output=limits.output,
        seconds=limits.seconds,
    )


class StoredPart(NamedTuple):
    """The filling of one place of a template, as stored: the reply to the request `reply`, a text by `digest`
    (hex), or `text` itself; `label` is what a quote is introduced as, None for what no player wrote."""

    place: str
    label: str | None
    reply: str
    digest: str
    text: str


class RequestShown(NamedTuple):
    """The content of a stored request to the seat `to`: its form's digest, and what filled the places."""

    to: str
    form: str
    parts: tuple[StoredPart, ...]


def read_shown(body: bytes) -> RequestShown | None:
    """Return what a stored request shows, its texts not looked up; None for a run or a command, which nobody
    sees."""
    if body.startswith((_RUN, _SEALED_RUN, _COMMAND)):
        return None
    request = _decode_request(body)
    fills = _opened(request.fill) if isinstance(request.fill, Kept) else request.fill
    parts = [
        StoredPart(place, None, "", "", value)
        if isinstance(value, str)
        else StoredPart(place, value.label, value.reply, value.text, value.said)
        for fill in fills
        for place, value in fill.items()
    ]
    return RequestShown(request.to, request.form, tuple(parts))


def read_templates(text: str) -> tuple[tuple[Speaker, str], ...]:
    """The messages of a stored form: speaker, and template with its places."""
    return _read_form(text)[0].messages


def _opened(fills: Kept) -> list[dict[str, str | _Filled]]:
    """Return what fills a sealed request's templates; nothing where it is redacted."""
    return _decode_fill(fills.value) if fills.salt else []


def read_form(text: str) -> tuple[Role, Format]:
    """The role and the format of a stored form."""
    form, expects = _read_form(text)
    return form.role, expects


@lru_cache(maxsize=4096)  # thousands of requests share a form
def _read_form(text: str) -> tuple[_Form, Format]:
    form = _decode_form(text)
    return form, recorded(form.expects)


def request_salt(secret: str, key: str) -> str:
    """The salt of a request, from its match's secret; empty for a match that has none."""
    return salt(secret, f"request/{key}") if secret else ""
