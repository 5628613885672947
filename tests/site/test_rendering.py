"""Compiled templates are kept as compiled modules are, and no damage to a file of them does harm."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from peerage.site import rendering


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one template, whose compiled form may be written down."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "one.html").write_text("<b>{{ name }}</b>")
    return tmp_path


def fresh(room: Path) -> Environment:
    """The environment of another process, with the templates in `room`."""
    environment: Environment = rendering.environment.__wrapped__()
    environment.loader = FileSystemLoader(room)
    return environment


def made(room: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """A page of a process of its own, and how many templates it compiled."""
    compiled = []
    environment, compile = fresh(room), Environment.compile
    with monkeypatch.context() as patch:
        patch.setattr(
            Environment, "compile", lambda *args, **named: compiled.append(1) or compile(*args, **named)
        )
        return environment.get_template("one.html").render(name="x"), len(compiled)


def kept(room: Path) -> list[Path]:
    return list(room.rglob("__pycache__/*"))


def test_a_template_is_compiled_once(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(room, monkeypatch) == ("<b>x</b>", 1)
    assert [path.name.split(".")[0] for path in kept(room)] == ["one"]
    assert made(room, monkeypatch) == ("<b>x</b>", 0)
    (room / "one.html").write_text("<i>{{ name }}</i>")
    assert made(room, monkeypatch) == ("<i>x</i>", 1)
    assert made(room, monkeypatch) == ("<i>x</i>", 0)
    monkeypatch.setattr(rendering, "version", lambda _: "another Jinja")
    assert made(room, monkeypatch) == ("<i>x</i>", 1)


def test_a_damaged_file_is_written_anew(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(room, monkeypatch)
    (file,) = kept(room)
    whole = file.read_bytes()
    flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 41)]
    for damaged in (b"", whole[:20], whole[:32], whole[:-1], whole + b"\n", b"\0" * len(whole), *flipped):
        file.write_bytes(damaged)
        assert made(room, monkeypatch) == ("<b>x</b>", 1)
        assert made(room, monkeypatch) == ("<b>x</b>", 0)


def test_where_nothing_can_be_written_there_is_no_word_of_it(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "__pycache__").write_text("")
    assert made(room, monkeypatch) == ("<b>x</b>", 1)
    (room / "__pycache__").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", _full)
        assert made(room, monkeypatch) == ("<b>x</b>", 1)
    assert kept(room) == []


def _full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_pythons_own_settings_are_followed(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert made(room, monkeypatch) == ("<b>x</b>", 1)
    assert not (room / "__pycache__").exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(room / "elsewhere"))
    assert made(room, monkeypatch) == ("<b>x</b>", 1)
    assert made(room, monkeypatch) == ("<b>x</b>", 0)
    assert not (room / "__pycache__").exists()


def test_no_function_of_ours_is_called_while_a_template_is_compiled(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "one.html").write_text("{{ 'a' }}{{ 'b'|wbr }}{% if 'c'|wbr == 'd' %}{% endif %}")
    environment = fresh(room)
    called: list[str] = []
    monkeypatch.setattr(rendering, "visible", lambda text: called.append(text) or text)
    template = environment.get_template("one.html")
    assert called == []
    assert template.render() == "ab"
    assert set(called) == set("abc")
