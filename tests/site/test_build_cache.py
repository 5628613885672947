"""What is slow to make is made once for all processes, and anew where what it rests on has changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from peerage.site.build_cache import kept, place


def test_it_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    source = tmp_path / "maker.py"
    source.write_text("one")
    made: list[str] = []

    def make() -> bytes:
        made.append(source.read_text())
        return b"slow"

    def ask(name: str = "thing", version: str = "1") -> int:
        before = len(made)
        assert kept(source, name, version, make) == b"slow"
        return len(made) - before

    assert (ask(), ask()) == (1, 0)
    assert (ask("other"), ask("other"), ask()) == (1, 0, 0)
    assert (ask(version="2"), ask(version="2")) == (1, 0)
    source.write_text("two")
    assert (ask(version="2"), ask(version="2")) == (1, 0)
    file = place(tmp_path / "maker-thing.py")
    assert file.parent == tmp_path / "__pycache__"
    for damaged in (b"", b"slow", file.read_bytes()[:-1], file.read_bytes() + b"!"):
        file.write_bytes(damaged)
        assert (ask(version="2"), ask(version="2")) == (1, 0)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file.unlink()
    assert (ask(version="2"), ask(version="2")) == (1, 1)
