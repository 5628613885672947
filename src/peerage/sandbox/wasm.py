"""Reading and rewriting a WebAssembly module, as far as a snapshot of CPython needs it: bytes to bytes.

The format is the WebAssembly core specification 1.0, section 5 (binary format): eight bytes of header, then
sections of `id, size, body`, integers in LEB128.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

PAGE = 65_536
_HEADER = b"\0asm\x01\0\0\0"
_CUSTOM, _MEMORY, _GLOBAL, _EXPORT, _DATA = 0, 5, 6, 7, 11
FUNCTION, GLOBAL = 0, 3  # kinds of export


class Export(NamedTuple):
    """One more export: its name, its kind (`FUNCTION` or `GLOBAL`) and its index in the module."""

    name: str
    kind: int
    number: int


def unsigned(number: int) -> bytes:
    """`number` as unsigned LEB128."""
    out = bytearray()
    while True:
        low, number = number & 0x7F, number >> 7
        out.append(low | 0x80 if number else low)
        if not number:
            return bytes(out)


def signed(number: int) -> bytes:
    """`number` as signed LEB128."""
    out = bytearray()
    while True:
        low, number = number & 0x7F, number >> 7
        done = number == (-1 if low & 0x40 else 0)
        out.append(low if done else low | 0x80)
        if done:
            return bytes(out)


def read_unsigned(data: bytes, at: int) -> tuple[int, int]:
    """The unsigned LEB128 number at `at`, and where the next byte is."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a module in order, as (id, body)."""
    if module[:8] != _HEADER:
        raise ValueError(f"not a WebAssembly 1.0 module: it starts with {module[:8]!r}")
    at = 8
    while at < len(module):
        kind = module[at]
        size, body = read_unsigned(module, at + 1)
        yield kind, module[body : body + size]
        at = body + size


def rewrite(
    module: bytes,
    *,
    pages: int,
    stack_pointer: int,
    exports: Sequence[Export],
    data: bytes | None = None,
) -> bytes:
    """`module` with another memory size, another start of its shadow stack, and more exports.

    `pages` is the memory's initial size in pages of 64 KiB, without a maximum. `stack_pointer` becomes the
    initial value of global 0, which must be the module's only global: a mutable i32, as clang emits it.
    `data`, when given, is the body of a new data section (see `image`). Custom sections (debug information)
    are dropped.
    """
    out = bytearray(_HEADER)
    for kind, body in sections(module):
        if kind == _CUSTOM:
            continue
        if kind == _MEMORY:
            body = b"\x01\x00" + unsigned(pages)
        elif kind == _GLOBAL:
            if body[:4] != b"\x01\x7f\x01\x41":
                raise ValueError("global 0 is not the module's only global, a mutable i32 constant")
            body = b"\x01\x7f\x01\x41" + signed(stack_pointer) + b"\x0b"
        elif kind == _EXPORT:
            count, rest = read_unsigned(body, 0)
            added = b"".join(
                unsigned(len(each.name)) + each.name.encode() + bytes([each.kind]) + unsigned(each.number)
                for each in exports
            )
            body = unsigned(count + len(exports)) + body[rest:] + added
        elif kind == _DATA and data is not None:
            body = data
        out += bytes([kind]) + unsigned(len(body)) + body
    return bytes(out)


def image(memory: bytes, block: int = 4096) -> bytes:
    """The body of a data section that restores `memory`: its stretches of `block`s that are not all zero."""
    zeros = bytes(block)
    segments: list[bytes] = []
    at = 0
    while at < len(memory):
        end = at
        while end < len(memory) and memory[end : end + block] != zeros[: len(memory) - end]:
            end += block
        if end > at:
            body = memory[at:end]
            segments.append(b"\x00\x41" + signed(at) + b"\x0b" + unsigned(len(body)) + body)
        at = end + block if end == at else end
    return unsigned(len(segments)) + b"".join(segments)
