"""The guest's world, without a guest: streams, limits, clock, and hostile arguments."""

from __future__ import annotations

from typing import Any

import pytest

wasi: Any = pytest.importorskip("peerage.sandbox.wasi")


class Memory:
    def __init__(self, size: int) -> None:
        self.content = bytearray(size)

    def data_len(self, caller: object) -> int:
        return len(self.content)

    def read(self, caller: object, start: int, stop: int) -> bytes:
        return bytes(self.content[start:stop])

    def write(self, caller: object, data: bytes, start: int) -> None:
        if start + len(data) > len(self.content):
            raise IndexError
        self.content[start : start + len(data)] = data


class Store:
    def __init__(self, fuel: int) -> None:
        self.fuel = fuel

    def get_fuel(self) -> int:
        return self.fuel

    def set_fuel(self, fuel: int) -> None:
        self.fuel = fuel


def guest(fuel: int = 10**9) -> Any:
    return wasi.Guest({"memory": Memory(65_536)}, Store(fuel))


def test_streams_are_read_one_after_the_other() -> None:
    world = wasi.World(streams=[b"program", b"in"])
    assert [world.read(4), world.read(4), world.read(4), world.read(4), world.read(4), world.read(4)] == [
        b"prog",
        b"ram",
        b"",
        b"in",
        b"",
        b"",
    ]


def test_output_is_cut_at_the_limit_over_both_streams() -> None:
    world = wasi.World(output=5)
    world.write(world.stdout, [b"abc", b""])
    with pytest.raises(wasi.GuestStopped, match="output"):
        world.write(world.stderr, [b"defg"])
    assert (world.stdout, world.stderr) == ([b"abc"], [b"de"])


def test_random_bytes_are_the_same_everywhere() -> None:
    world = wasi.World()
    first = world.random(13)
    assert len(first) == 13
    assert wasi.World().random(13) == first != world.random(13)


def test_splitmix64_is_the_published_one() -> None:
    """The first outputs from seed 1234567, as listed with the reference implementation."""
    world = wasi.World(seed=1234567)
    numbers = [int.from_bytes(world.random(8), "little") for _ in range(3)]
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("fd_write", (1, -8, 1, 0)),
        ("fd_write", (1, 0, 1_000_000, 0)),
        ("fd_write", (1, 65_530, 1, 0)),
        ("fd_read", (0, 65_535, 4, 0)),
        ("clock_time_get", (0, 0, -1)),
        ("random_get", (65_500, 100)),
        ("poll_oneoff", (65_500, 0, 1, 0)),
        ("fd_fdstat_get", (1, -1)),
    ],
)
def test_a_bad_address_is_the_guests_fault(function: str, arguments: tuple[int, ...]) -> None:
    with pytest.raises((IndexError, ValueError, OverflowError)):
        wasi.OFFERED[function](wasi.World(streams=[b"x"]), guest(), *arguments)


@pytest.mark.parametrize("descriptor", [3, 4, 1000, -1])
def test_there_are_three_descriptors(descriptor: int) -> None:
    world, one = wasi.World(), guest()
    assert wasi.fd_read(world, one, descriptor, 0, 0, 0) == 8
    assert wasi.fd_write(world, one, descriptor, 0, 0, 0) == 8
    assert wasi.fd_prestat_get(world, one, descriptor, 0) == 8


def test_costly_calls_cost_fuel() -> None:
    poor = guest(fuel=50_000)
    with pytest.raises(wasi.GuestStopped, match="fuel"):
        wasi.random_get(wasi.World(), poor, 0, 60_000)
    assert poor.fuel == 0
    rich = guest()
    wasi.fd_write(wasi.World(), rich, 1, 0, 1000, 60_000)
    assert rich.fuel <= 10**9 - 1000 * wasi.ITEM_FUEL


def test_no_name_of_a_file_or_socket_is_understood() -> None:
    assert not [name for name in wasi.OFFERED if name.startswith(("path_", "sock_"))]
