"""Rewriting a WebAssembly module: numbers, sections, images. Needs nothing installed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.sandbox.wasm import (
    FUNCTION,
    PAGE,
    Export,
    image,
    read_unsigned,
    rewrite,
    sections,
    signed,
    unsigned,
)


def read_signed(data: bytes, at: int) -> tuple[int, int]:
    """The slow, obvious reader: seven bits at a time, the last byte's bit 6 is the sign."""
    start, bits = at, ""
    while True:
        bits = format(data[at] & 0x7F, "07b") + bits
        at += 1
        if data[at - 1] < 0x80:
            return int(bits, 2) - (1 << len(bits) if bits[0] == "1" else 0), at - start


@given(st.integers(0, 2**64))
def test_unsigned_numbers_come_back(number: int) -> None:
    data = unsigned(number)
    assert read_unsigned(b"x" + data + b"y", 1) == (number, 1 + len(data))
    assert len(data) == max(1, -(-number.bit_length() // 7))


@given(st.integers(-(2**63), 2**63))
def test_signed_numbers_come_back(number: int) -> None:
    assert read_signed(signed(number), 0) == (number, len(signed(number)))


@given(st.lists(st.tuples(st.integers(0, 40), st.binary(min_size=1, max_size=30)), max_size=8))
def test_an_image_restores_the_memory(writes: list[tuple[int, bytes]]) -> None:
    memory = bytearray(50 * 16)
    for block, content in writes:
        memory[block * 16 + 3 : block * 16 + 3 + len(content)] = content
    data = image(bytes(memory), block=16)
    count, at = read_unsigned(data, 0)
    restored = bytearray(len(memory))
    for _ in range(count):
        assert data[at : at + 2] == b"\x00\x41"
        offset, width = read_signed(data, at + 2)
        at += 2 + width
        assert data[at] == 0x0B
        size, at = read_unsigned(data, at + 1)
        restored[offset : offset + size] = data[at : at + size]
        at += size
    assert at == len(data)
    assert restored == memory


def section(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + unsigned(len(body)) + body


SMALL = (
    b"\0asm\x01\0\0\0"
    + section(1, b"\x01\x60\x00\x01\x7f")  # type 0: () -> i32
    + section(3, b"\x01\x00")  # function 0 has type 0
    + section(5, b"\x01\x00\x01")  # one page
    + section(6, b"\x01\x7f\x01\x41\x10\x0b")  # global 0: mutable i32, 16
    + section(7, b"\x01\x01m\x02\x00")  # exports memory as m
    + section(10, b"\x01\x04\x00\x23\x00\x0b")  # function 0 returns global 0
    + section(11, b"\x00")
    + section(0, b"\x04junkdata")
)


def test_what_is_rewritten_and_what_stays() -> None:
    new = rewrite(
        SMALL,
        pages=3,
        stack_pointer=3 * PAGE,
        exports=[Export("get", FUNCTION, 0)],
        data=image(b"\0" * 4096 + b"hello" + b"\0" * 4091),
    )
    found = dict(sections(new))
    assert found[5] == b"\x01\x00\x03"
    assert found[6] == b"\x01\x7f\x01\x41" + signed(3 * PAGE) + b"\x0b"
    assert found[7] == b"\x02\x01m\x02\x00" + b"\x03get\x00\x00"
    assert found[10] == dict(sections(SMALL))[10]
    assert 0 not in found


def test_the_rewritten_module_runs() -> None:
    wasmtime = pytest.importorskip("wasmtime")
    new = rewrite(
        SMALL,
        pages=2,
        stack_pointer=2 * PAGE,
        exports=[Export("get", FUNCTION, 0)],
        data=image(b"\0" * 4096 + b"hello" + b"\0" * 4091),
    )
    store = wasmtime.Store()
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, new), []).exports(store)
    assert exports["get"](store) == 2 * PAGE
    assert bytes(exports["m"].read(store, 4095, 4102)) == b"\0hello\0"
    assert exports["m"].size(store) == 2


def test_what_is_not_webassembly_is_refused() -> None:
    with pytest.raises(ValueError, match="not a WebAssembly"):
        list(sections(b"\x7fELF0000"))
    two_globals = SMALL.replace(
        section(6, b"\x01\x7f\x01\x41\x10\x0b"), section(6, b"\x02\x7f\x01\x41\x10\x0b")
    )
    with pytest.raises(ValueError, match="global 0"):
        rewrite(two_globals, pages=1, stack_pointer=0, exports=[])
