"""Commands of a game under test, run offline in a folder of their own. No jail: what a model wrote never
comes here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from peerage.game.protocol import Reply
from peerage.game.work import CommandResult, ShellCommand
from peerage.sandbox.folder import read_patch
from peerage.sandbox.native.places import WorkPlace
from peerage.values.texts import storable

_ENDED: dict[bytes, Reply] = {}


def commanded(command: ShellCommand, base: Path = Path()) -> Reply:
    """Return the end of a command of our own, with the arena's folder `base`. Equal ones are run once."""
    content = msgspec.json.encode(msgspec.structs.replace(command, key=str(base.absolute())))
    if content not in _ENDED:
        result = msgspec.json.encode(_result(command, base)).decode()
        _ENDED[content] = Reply("ok", result, input_tokens=0, output_tokens=0, cost_nano=0)
    return _ENDED[content]


def _result(command: ShellCommand, base: Path) -> CommandResult:
    place, files = WorkPlace(), (command.folder, base, read_patch(command.patch or "{}"), command.overlay)
    try:
        place.lay_out(*files)
        ended = subprocess.run(
            ["sh", "-c", command.command],
            cwd=place.work,
            env=place.environment({"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=command.seconds,
        )
        kept = place.patch_beneath(*files) if command.keeps else ""
        said = storable(ended.stdout.decode(errors="replace"))[: command.output]
        return CommandResult("error" if ended.returncode else "ok", ended.returncode, said, kept)
    except subprocess.TimeoutExpired:
        return CommandResult("timeout", 124)
    finally:
        place.remove()
