"""The command `peerage`: every command in one list, and one door through which every error leaves.

A command's module is loaded when it is called, and imports what it needs when it runs: `peerage --help` is
instant.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import time
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from peerage.cli.shared import streams
from peerage.values.interrupts import ended_as_interrupted
from peerage.values.system_errors import reason

USAGE = 2
FAILED = 1
INTERRUPTED = 130
_USAGE = ("SettingsError", "ArenaError", "OutputRefused", "InputRefused")
"""Errors about what was typed or written in settings."""


COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Begin": {
        "demo": "begin.demo.demo",
        "choose": "begin.choose.choose",
        "init": "begin.setup.init",
        "doctor": "begin.setup.doctor",
    },
    "Play": {
        "run": "play.run.run",
        "play": "play.seat.play",
        "plan": "play.plan.plan",
        "status": "play.status.status",
        "games": "play.games.app",
        "worker": "play.worker.worker",
        "simulate": "play.simulate.simulate",
    },
    "Read": {
        "verdict": "read.verdict.verdict",
        "leaderboard": "read.leaderboard.leaderboard",
        "compare": "read.verdict.compare",
        "stats": "read.tables.stats",
        "match": "read.tables.match",
        "players": "read.players.players",
        "challenges": "read.challenges.app",
        "tournament": "read.tournament.app",
    },
    "Judge": {"annotate": "judge.annotate.annotate", "rejudge": "judge.rejudge.rejudge"},
    "Share": {
        "serve": "share.site.serve",
        "report": "share.site.report",
        "site": "share.site.app",
        "export": "share.export.export",
        "copy": "share.export.copy",
    },
    "Check": {
        "verify": "check.ledger.verify",
        "replay": "check.ledger.replay",
        "checkpoint": "check.checkpoint.checkpoint",
        "disclose": "check.ledger.disclose",
        "sandbox": "check.sandbox.app",
    },
    "Other data": {"rate": "data.rate.rate", "import": "data.imports.enter"},
}
"""What people do, with which commands, and where in this package each is written."""
SPECIAL = frozenset(
    (
        *("worker", "simulate", "challenges", "tournament", "annotate", "rejudge"),
        *("copy", "checkpoint", "disclose", "sandbox", "import"),
    )
)
"""Commands for special needs: `peerage --help --all` lists them too."""


class Command(TyperCommand):
    """One command, whose help names its arguments in capitals, in brackets those that may be left out."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for param in self.arguments():
            param.metavar = param.metavar or param.name.upper().rstrip("_")

    def arguments(self) -> list[Any]:
        """Return what the command takes by its place, in order."""
        return [param for param in self.params if param.param_type_name == "argument"]

    def usage(self) -> list[str]:
        """Each argument as usage writes it, `FILE...` where it may be many."""
        usage = []
        for param in self.arguments():
            name = param.metavar.removesuffix("...") + "..." * (param.nargs == -1)
            usage.append(name if param.required else f"[{name}]")
        return usage

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The line that begins the command's help."""
        return ["[OPTIONS]", *self.usage()]


@cache
def _command(name: str, place: str) -> Any:
    module, _, attribute = place.rpartition(".")
    callback = getattr(import_module(f"peerage.cli.{module}"), attribute)
    if isinstance(callback, typer.Typer):
        for inner in callback.registered_commands:
            inner.cls = Command
        command: Any = get_group(callback)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name, cls=Command)(callback)
        command = get_command(alone)
    command.name = name
    return command


class _Commands(Mapping[str, Any]):
    """Every command by its name; the module of one is loaded when it is looked up."""

    places: ClassVar = {name: place for group in COMMANDS.values() for name, place in group.items()}

    def __getitem__(self, name: str) -> Any:
        return _command(name, self.places[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


class Commands(TyperGroup):
    """Runs one command; what it raises becomes one clear message and an exit code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = self.commands or _Commands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """The names alone: what each does is not loaded."""
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take `--all` before a command, with `--help` or without, as a wish to see all commands."""
        if "--all" in takewhile(lambda word: word.startswith("-"), args):
            ctx.meta["--all"] = True
            args = ["--help"]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by what people do, on one screen."""
        special = frozenset[str]() if "--all" in ctx.meta else SPECIAL
        groups = {group: [name for name in names if name not in special] for group, names in COMMANDS.items()}
        with formatter.section("Commands"):
            formatter.write_dl([(group, ", ".join(names)) for group, names in groups.items() if names])
        formatter.write_paragraph()
        formatter.write_text("Start with `peerage demo`. `peerage COMMAND -h` says what a command does.")
        if special:
            formatter.write_text(f"`peerage --help --all` lists {len(special)} more, for special needs.")

    def invoke(self, ctx: Any) -> Any:
        streams.prepare()
        try:
            try:
                with ended_as_interrupted():
                    return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # here a reader who has left is noticed quietly; at exit, loudly
        except (KeyboardInterrupt, typer.Abort):
            raise _interrupted() from None
        except BrokenPipeError:
            streams.drop()
            raise typer.Exit(streams.READER_LEFT) from None
        except OSError as error:
            _debug()
            place = f"{error.filename}: " if error.filename else ""
            typer.echo(f"peerage: {place}{reason(error)}", err=True)
            raise typer.Exit(FAILED) from None
        except Exception as error:
            if type(error).__module__.startswith(("typer.", "click.")):
                if message := _plain(error).removeprefix("Value error, "):
                    error.message = message + _meant(error, message)  # type: ignore[attr-defined]
                raise
            if type(error).__name__ == "SchemaError" and "KeyboardInterrupt" in str(error):
                raise _interrupted() from None  # pressed while pydantic prepared a model
            _debug()
            raise typer.Exit(_tell(error)) from None


app = typer.Typer(
    cls=Commands,
    help="Rank language models by letting them play: peer-judged duels on a verifiable ledger.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help costs a third of the time
    pretty_exceptions_enable=False,
)


def _interrupted() -> typer.Exit:
    typer.echo("interrupted; everything recorded is safe", err=True)
    return typer.Exit(INTERRUPTED)


def main() -> None:
    """The entry point of the `peerage` command."""
    # The folder that it is called in may be an arena of somebody else's: no process of ours takes modules
    # from there.
    os.environ["PYTHONSAFEPATH"] = "1"
    # For matrices of as many rows as there are players BLAS starts threads that mostly spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Our models need no plug-ins of Pydantic, which reads the metadata of all packages to find some.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Rows come by the hundred thousand, and hardly a cycle among them: at the default thresholds the
    # collector, which walks them all again and again, takes a sixth of the time of tables.
    gc.set_threshold(300_000, 50, 100)
    # At its end Python looks for cycles several times over among what is freed at once: a fifth of the time
    # of a short command.
    atexit.register(gc.freeze)
    app()


@app.callback(invoke_without_command=True)
def _program(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
    every: bool = typer.Option(False, "--all", help="List all commands and exit."),
) -> None:
    if version:
        from peerage.version import __version__

        typer.echo(f"peerage {__version__}")
        raise typer.Exit


def _plain(error: Any) -> str:
    """The message of a usage error; of a value that is none of its kind, as the settings say it."""
    import re

    mistakes: list[Any] = getattr(error.__cause__, "errors", list)()
    message: str = getattr(error, "message", "")
    if file := re.fullmatch(r"dir\w* ('.*') is a file\.?", message, re.DOTALL | re.IGNORECASE):
        return f"{file[1]} is a file; expected a folder"
    if not mistakes or not mistakes[0]["msg"].startswith("Input should be "):
        return message
    from peerage.settings.mistakes import wanted

    return f"found {mistakes[0]['input']!r}; expected {wanted(mistakes[0]['msg'])}"


def _meant(error: Any, message: str) -> str:
    """Return what was probably meant, after the message of a usage error: the nearest of an option's choices,
    and `--dir FOLDER` for a folder where no argument is expected. Empty where nothing is near."""
    import re
    import shlex
    from difflib import get_close_matches

    if wrong := re.fullmatch(r"'(.*?)' is not one of ('.*')\.?", message, re.DOTALL):
        near = get_close_matches(wrong[1].lower(), re.findall("'(.+?)'", wrong[2]), n=1)
        return f" Did you mean {near[0]!r}?" if near else ""
    extra = re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", message, re.DOTALL)
    known = [name for param in error.ctx.command.params for name in param.opts] if extra else []
    if extra and "--dir" in known and os.path.isdir(extra[1]):
        return f". Did you mean --dir {shlex.quote(extra[1])}?"
    if extra and extra[1].isdecimal() and error.ctx.command.name == "replay":
        return f". It takes all matches of an arena; `peerage match {extra[1]}` shows one"
    return ""


def _debug() -> None:
    if os.environ.get("PEERAGE_DEBUG"):
        import traceback

        traceback.print_exc()


def _tell(error: Exception) -> int:
    """Say what went wrong, and with which exit code to leave.

    An error whose class is ours carries a message for people, one of msgspec's tells of a ledger that
    somebody else wrote to; any other is a bug, whose traceback goes to a file.
    """
    import tempfile
    import traceback
    from pathlib import Path

    from peerage.values.texts import visible

    if type(error).__module__.partition(".")[0] == "peerage":
        typer.echo(f"peerage: {visible(str(error))}", err=True)
        return USAGE if type(error).__name__ in _USAGE else FAILED
    if type(error).__module__.startswith("msgspec") or isinstance(error, UnicodeDecodeError):
        typer.echo(
            f"peerage: a record cannot be read ({visible(str(error))}); ask `peerage verify`", err=True
        )
        return FAILED
    try:
        # A name that nobody can foresee, in a folder where anybody may leave a link.
        handle, log = tempfile.mkstemp(".log", f"peerage-error-{time.strftime('%Y%m%d-%H%M%S')}-")
        os.close(handle)
        Path(log).write_text(f"{' '.join(sys.argv)}\n{traceback.format_exc()}", "utf-8", "replace")
        where = f"Please report it with {log}, which holds the traceback."
    except OSError:
        where = "Run it again with PEERAGE_DEBUG=1 to see where, and please report that."
    typer.echo(f"Internal error: {type(error).__name__}: {error}\n{where}", err=True)
    return FAILED


if __name__ == "__main__":
    main()
