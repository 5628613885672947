"""Commands of a game under test, run offline in a temporary folder. No jail: what a model wrote never comes
here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from peerage.game.protocol import Reply
from peerage.game.work import CommandResult, ShellCommand
from peerage.sandbox.folder import File, patch_text, patched, read_patch
from peerage.values.texts import storable


def commanded(command: ShellCommand) -> Reply:
    """Return the end of a command of our own, in a copy of its folder, whose files must be named. Equal
    ones are run once."""
    content = msgspec.json.encode(msgspec.structs.replace(command, key=""))
    if content not in _ENDED:
        result = msgspec.json.encode(_result(command)).decode()
        _ENDED[content] = Reply("ok", result, input_tokens=0, output_tokens=0, cost_nano=0)
    return _ENDED[content]


_ENDED: dict[bytes, Reply] = {}


def _result(command: ShellCommand) -> CommandResult:
    files = patched(command.folder.files, read_patch(command.patch or "{}"))
    files |= command.overlay.files if command.overlay else {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, file in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.content)
            place.chmod(0o755 if file.executable else 0o644)
        try:
            ended = subprocess.run(
                ["sh", "-c", command.command],
                cwd=folder,
                env={"PATH": os.environ["PATH"], "HOME": name, "PYTHONDONTWRITEBYTECODE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=command.seconds,
            )
        except subprocess.TimeoutExpired:
            return CommandResult("timeout")
        said, code = storable(ended.stdout.decode(errors="replace"))[: command.output], ended.returncode
        changed = _changed(folder, command) if command.keeps else ""
        return CommandResult("error" if code else "ok", code, said, changed)


def _changed(folder: Path, command: ShellCommand) -> str:
    """Return the patch from a command's folder to what it left."""
    there = {
        path.relative_to(folder).as_posix(): File.of(path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in folder.rglob("*")
        if path.is_file()
    }
    before = command.folder.files
    return patch_text(
        {path: there.get(path) for path in {*before, *there} if there.get(path) != before.get(path)}
    )
