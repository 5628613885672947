"""The command `peerage`: every command in one list, and one door through which every error leaves.

Commands import what they need when they run, so that `peerage --help` is instant.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from peerage.cli import (
    annotate,
    challenges,
    checkpoint,
    games,
    imports,
    leaderboard,
    ledger,
    lists,
    place,
    plan,
    play,
    preregister,
    rate,
    rejudge,
    sandbox,
    seat,
    setup,
    simulate,
    site,
    status,
    streams,
    tables,
    tournament,
    verdict,
    windows,
)

USAGE = 2
FAILED = 1
INTERRUPTED = 130
_USAGE = ("SettingsError", "ArenaError", "OutputRefused", "InputRefused")
"""Errors about what was typed or written in settings."""


GROUPS = {
    "Begin": "demo init doctor",
    "Play": "run place play estimate plan preregister status queue windows simulate",
    "Read": "verdict leaderboard compare stats match players games challenges tournament",
    "Judge": "judges annotate rejudge audit",
    "Publish": "serve report site export copy",
    "Check": "verify replay checkpoint disclose sandbox",
    "Other data": "rate import",
}
"""What people do, and with which commands."""


class Commands(TyperGroup):
    """Runs one command; what it raises becomes one clear message and an exit code."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by what people do, on one screen."""
        there = self.list_commands(ctx)
        of = {name: group for group, names in GROUPS.items() for name in names.split()}
        lines: dict[str, list[str]] = {group: [] for group in (*GROUPS, "More")}
        for name in sorted(there, key=[*of, *there].index):
            lines[of.get(name, "More")].append(name)
        with formatter.section("Commands"):
            formatter.write_dl([(group, ", ".join(names)) for group, names in lines.items() if names])
        formatter.write_paragraph()
        formatter.write_text("Start with `peerage demo`. `peerage COMMAND -h` says what a command does.")

    def invoke(self, ctx: Any) -> Any:
        streams.prepare()
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # here a reader who has left is noticed quietly; at exit, loudly
        except KeyboardInterrupt:
            typer.echo("interrupted; everything recorded is safe", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            streams.drop()
            raise typer.Exit(streams.READER_LEFT) from None
        except OSError as error:
            _debug()
            place = f"{error.filename}: " if error.filename else ""
            typer.echo(f"peerage: {place}{error.strerror or error}", err=True)
            raise typer.Exit(FAILED) from None
        except Exception as error:
            if type(error).__module__.startswith(("typer.", "click.")):
                if said := getattr(error, "message", ""):
                    error.message = said.removeprefix("Value error, ")  # type: ignore[attr-defined]
                raise
            _debug()
            raise typer.Exit(_tell(error)) from None


app = typer.Typer(
    cls=Commands,
    help="Rank language models by letting them play: peer-judged duels on a verifiable ledger.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode=None,  # plain help costs a third of the time
    pretty_exceptions_enable=False,
)
for command in (
    play.demo,
    setup.init,
    setup.doctor,
    plan.estimate,
    verdict.plan,
    preregister.preregister,
    play.run,
    place.place,
    seat.play,
    verdict.verdict,
    leaderboard.leaderboard,
    verdict.compare,
    tables.stats,
    tables.match,
    lists.judges,
    annotate.annotate,
    lists.audit,
    simulate.simulate,
    rejudge.rejudge,
    ledger.verify,
    checkpoint.checkpoint,
    ledger.replay,
    ledger.disclose,
    ledger.copy,
    ledger.export,
    site.serve,
    site.report,
    rate.rate,
    lists.players,
    lists.queue,
    status.status,
    windows.windows,
):
    app.command()(command)
app.command("import")(imports.enter)
app.add_typer(games.app, name="games")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(site.app, name="site")
app.add_typer(challenges.app, name="challenges")
app.add_typer(tournament.app, name="tournament")


def main() -> None:
    """The entry point of the `peerage` command."""
    # The folder that it is called in may be an arena of somebody else's: no process of ours takes modules
    # from there.
    os.environ["PYTHONSAFEPATH"] = "1"
    # Rows come by the hundred thousand, and hardly a cycle among them: at the default thresholds the
    # collector, which walks them all again and again, takes a sixth of the time of tables.
    gc.set_threshold(100_000, 50, 100)
    app()


@app.callback(invoke_without_command=True)
def _program(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if version:
        from peerage import __version__

        typer.echo(f"peerage {__version__}")
        raise typer.Exit


def _debug() -> None:
    if os.environ.get("PEERAGE_DEBUG"):
        traceback.print_exc()


def _tell(error: Exception) -> int:
    """Say what went wrong, and with which exit code to leave.

    An error whose class is ours carries a message for people, one of msgspec's tells of a ledger that
    somebody else wrote to; any other is a bug, whose traceback goes to a file.
    """
    from peerage.protocol import visible

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
