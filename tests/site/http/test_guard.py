"""Who is asking, behind none, one or two proxies, and what a client makes up."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from peerage.site.http.guard import ClientHeader, network


@pytest.mark.parametrize(
    ("header", "sent", "found"),
    [
        (("X-Forwarded-For", 1), ["192.0.2.1"], "192.0.2.1"),
        (("X-Forwarded-For", 1), ["10.9.9.9, 192.0.2.1"], "192.0.2.1"),
        (("X-Forwarded-For", 1), ["10.9.9.9", "192.0.2.1"], "192.0.2.1"),
        (("X-Forwarded-For", 2), ["10.9.9.9, 192.0.2.1, 198.51.100.7"], "192.0.2.1"),
        (("X-Forwarded-For", 2), ["192.0.2.1"], None),
        (("X-Forwarded-For", 1), [], None),
        (("X-Forwarded-For", 1), ["10.9.9.9, unknown"], None),
        (("X-Forwarded-For", 1), ["10.9.9.9,"], None),
        (("X-Forwarded-For", 1), ["192.0.2.1:4711"], "192.0.2.1"),
        (("X-Forwarded-For", 1), ["[2001:db8::1]:4711"], "2001:db8::1"),
        (("x-real-ip", 1), ["192.0.2.1"], "192.0.2.1"),
        (("Forwarded", 1), ["for=10.9.9.9, for=192.0.2.1;proto=https;by=10.0.0.1"], "192.0.2.1"),
        (("Forwarded", 1), ['proto=https; For="[2001:db8::1]:4711"'], "2001:db8::1"),
        (("Forwarded", 1), ['for="10.9.9.9, for=10.8.8.8", for=192.0.2.1'], "192.0.2.1"),
        (("Forwarded", 1), ["for=_hidden"], None),
        (("Forwarded", 1), ["by=192.0.2.1"], None),
    ],
)
def test_the_entry_that_counts_is_the_one_our_own_proxy_wrote(
    header: tuple[str, int], sent: list[str], found: str | None
) -> None:
    headers = [(header[0].lower().encode(), value.encode()) for value in sent]
    scope = {"headers": [(b"host", b"localhost"), *headers, (b"x-other", b"203.0.113.5")]}
    assert ClientHeader(*header).client(Headers(scope=scope)) == found


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_a_household_counts_once(address: str, counted: str) -> None:
    assert network(address) == counted
