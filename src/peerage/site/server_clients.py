"""Who is asking: the address by which limits count, also behind a proxy.

A proxy names the client in a header. Anybody can send such a header, so none is believed unless the operator
names it, and then only the entry that the outermost of their own proxies wrote.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple

PREFIX = 64
"""Bits of an IPv6 address that name a household; the rest is its own to choose."""


class ClientHeader(NamedTuple):
    """The header that names the client, and how many of the operator's proxies stand one behind the other.

    `X-Forwarded-For` and its like hold a list of addresses, `Forwarded` (RFC 7239) a list of elements with
    `for=`. Each proxy appends the address that it was asked from: the one that counts is `proxies` from the
    end, and what a client wrote stands before it.
    """

    name: str
    proxies: int = 1

    def client(self, scope: MutableMapping[str, Any]) -> str | None:
        """The client's address in the headers of a request; None when there is none that can be read."""
        wanted = self.name.lower().encode()
        values = [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]
        entries = ",".join(values).split(",")
        if len(entries) < self.proxies:
            return None
        entry = entries[-self.proxies]
        if wanted == b"forwarded":
            found = re.search(r'(?:^|;)\s*for\s*=\s*"?([^";]*)', entry, re.IGNORECASE)
            entry = found[1] if found else ""
        address = _address(entry.strip())
        return None if address is None else str(address)


def network(address: str) -> str:
    """By what limits count an address: itself, or its network where it is IPv6."""
    found = _address(address)
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> (128 - PREFIX) << (128 - PREFIX)))


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, with or without brackets, port and zone."""
    text = re.sub(r"^\[([^\]]*)\](?::\d*)?$|^([0-9.]+):\d*$", r"\1\2", text).partition("%")[0]
    try:
        return ip_address(text)
    except ValueError:
        return None
