"""`peerage worker`, as far as no cluster is needed; `tests/cluster` has real ones."""

from __future__ import annotations

import socket
import time

import pytest
from typer.testing import CliRunner

from peerage.cli.main import app

pytest.importorskip("ray", reason="needs the extra `ray`")


def said(*words: str) -> str:
    done = CliRunner().invoke(app, ["worker", *words])
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    return " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    "address", ["nonsense", "auto", ":6379", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:70000"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    assert "is no HOST:PORT, for example 10.0.0.1:6379" in said(address)


def test_a_head_that_does_not_answer_is_said_at_once() -> None:
    with socket.socket() as free:  # bound, and nobody listens
        free.bind(("127.0.0.1", 0))
        began = time.monotonic()
        shown = said(f"127.0.0.1:{free.getsockname()[1]}")
    assert "no head of a Ray cluster answers at 127.0.0.1:" in shown
    assert "`ray start --head`" in shown
    assert time.monotonic() - began < 5


def test_a_host_that_is_not_there_is_said() -> None:
    assert "no head of a Ray cluster answers" in said("no-such-host.invalid:6379")
