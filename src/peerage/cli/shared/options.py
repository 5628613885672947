"""What several commands share: options, and how they open an arena and speak."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.ledger import Ledger
    from peerage.render.names import Names
    from peerage.settings import ArenaSettings
    from peerage.values.parallel import Helpers


class TableFormat(StrEnum):
    """How a table is written."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"

    @property
    def for_people(self) -> bool:
        return self not in (TableFormat.json, TableFormat.csv)


class ReportFormat(StrEnum):
    """How what is no table is written."""

    text = "text"
    json = "json"


Folder = Annotated[
    Path, typer.Option("--dir", help="The arena's folder.", show_default="here", file_okay=False)
]
Shape = Annotated[TableFormat, typer.Option("--format", help="How to write the table.")]
Written = Annotated[ReportFormat, typer.Option("--format", help="How to write it.")]
Quiet = Annotated[bool, typer.Option("--yes", help="Ask nothing; for scripts.")]

Force = Annotated[
    bool, typer.Option("--force", help="Replace what is there even if Peerage did not write it.")
]

HERE = Path(".")

MOST_MATCHES = 1_000_000_000
"""The largest number of a match, and of matches, that an option takes."""
MOST_SEED = 10**18
"""The largest seed of what a command draws, as of `seed` in arena.yaml."""


def refuse_nan(stated: Mapping[str, object]) -> None:
    """Raise BadParameter where the value of an option is no number, which no bound of it refuses."""
    for name, value in stated.items():
        if value != value:
            raise typer.BadParameter(f"--{name.replace('_', '-')} is nan; expected a number")


def most_matches(about: str, usual: str | bool = True) -> Any:
    """Return the option by which a command states a number of matches."""
    names = ("--matches", "--max-matches")
    return typer.Option(*names, min=1, max=MOST_MATCHES, help=about, show_default=usual)


class CommandRefused(Exception):
    """A command cannot do what was asked; the message says why, and how to fix it."""


def group(about: str) -> typer.Typer:
    """Commands under one name."""
    return typer.Typer(help=about, no_args_is_help=True, rich_markup_mode=None)


def published(folder: Path) -> bool:
    """Return whether a folder holds the results that `peerage site publish` wrote, and no arena."""
    return (folder / "ledger.json").is_file() and not (folder / "arena.db").exists()


def _refuse_published(folder: Path) -> None:
    from peerage.settings import ArenaError

    if published(folder):
        ways = "`peerage verify FOLDER` checks them, `peerage site build OUT --results FOLDER` shows them"
        raise ArenaError(f"{folder} holds published results; {ways}")


def arena_in(folder: Path) -> Arena:
    """The arena in `folder`, which has been played."""
    from peerage.arena import open_arena

    _refuse_published(folder)
    arena = open_arena(folder, create=False)
    _stop_hosts(folder, arena.ledger)
    speak_of(arena.reading.names)
    return arena


_NAMES: ContextVar[Names | None] = ContextVar("names", default=None)


def speak_of(names: Names) -> None:
    """Let what this command writes for people have the short names of an arena."""
    _NAMES.set(names)


def speak_of_players(settings: ArenaSettings) -> None:
    """Do so for an arena of which nothing is on record."""
    from peerage.render.names import Names
    from peerage.settings.players.model_names import PROVIDERS

    speak_of(Names([player.name for player in settings.everyone], PROVIDERS))


def short_names() -> Names:
    """Return the names as this command writes them."""
    from peerage.render.names import AS_THEY_ARE

    return _NAMES.get() or AS_THEY_ARE


def ledger_in(folder: Path) -> AbstractContextManager[Ledger]:
    """The ledger of the arena in `folder`, to read; there may be no arena.yaml any more."""
    from peerage.ledger import open_ledger
    from peerage.settings import FILE_NAME, ArenaSettings, load

    _refuse_published(folder)
    alone = (folder / "arena.db").exists() and not (folder / FILE_NAME).exists()
    settings = ArenaSettings() if alone else load(folder, reading=True)
    ledger = open_ledger(settings.ledger, folder, create=False)
    _stop_hosts(folder, ledger)
    return closing(ledger)


def helpers(ledger: str) -> Helpers:
    """Return processes that share the work on the ledger at this address, one for each CPU."""
    import os

    from peerage.ledger.stores import access
    from peerage.values.parallel import Processes

    return Processes(os.cpu_count() or 1, access(ledger))


def _stop_hosts(folder: Path, ledger: Ledger) -> None:
    """Stop the hosts that a run which died left up."""
    if not any(folder.glob("host-*.json")):
        return
    from peerage.engine.run.left_up import stop_left_up
    from peerage.ledger import LedgerBusy
    from peerage.values.clock import now_ms

    try:
        with ledger.runner():
            stopped = stop_left_up(folder, ledger, now_ms)
    except LedgerBusy:
        return  # a run that goes on holds them
    for uptime in stopped:
        say(
            f"a crash had left the host {uptime.host} up; it is stopped, and its hours are on record",
            err=True,
        )


def say(text: str, *, err: bool = False) -> None:
    """Write a line in which nothing steers a terminal, even if a player wrote it."""
    from peerage.values.texts import visible

    typer.echo(visible(text), err=err)


def prose(text: str, hang: int = 0) -> None:
    """Write text as `say` does; a terminal gets it in lines that end between words, a pipe as it is. Where a
    line goes on it begins below its first letter, or `hang` characters further right."""
    from shutil import get_terminal_size
    from textwrap import fill

    from peerage.values.texts import visible

    text = short_names().in_text(text)
    if sys.stdout.isatty():
        wide = get_terminal_size().columns
        whole = [
            fill(
                line,
                wide,
                subsequent_indent=" " * (hang + len(line) - len(line.lstrip())),
                break_long_words=False,
                break_on_hyphens=False,
            )
            for line in visible(text).split("\n")
        ]
        text = "\n".join(whole)
    say(text)


@contextmanager
def drawing(what: str = "pages need") -> Iterator[None]:
    """Say how to install what draws and serves pages, where it is missing: before anything is written."""
    try:
        for module in ("jinja2", "resvg_py"):  # imported late, the one by a thread
            if find_spec(module) is None:
                raise ModuleNotFoundError(name=module)
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("peerage"):
            raise
        raise CommandRefused(
            f"{what} the extra `site`, of which {error.name} is not installed; run "
            f"`{pip()} install 'peerage[site]'`, or in a clone `{pip()} install -e '.[site]'`"
        ) from None


def program() -> str:
    """Return what to type to start this program again: `peerage`, or the path by which it was started."""
    import shutil

    started = Path(sys.argv[0])
    installed = shutil.which("peerage")
    if started.parts[-2:] == ("peerage", "__main__.py"):
        return "peerage" if installed else f"{shlex.quote(sys.executable)} -m peerage"
    if started.stem != "peerage" or (installed and started.exists() and Path(installed).samefile(started)):
        return "peerage"
    return shlex.quote(sys.argv[0])


def pip() -> str:
    """Return what to type to install into the environment that this program runs in."""
    import shutil

    installed = shutil.which("pip")
    own = installed and Path(installed).parent == Path(sys.executable).parent
    return "pip" if own else f"{shlex.quote(sys.executable)} -m pip"


def at(folder: Path) -> str:
    """The option that names `folder`, to follow a command; nothing for the folder one is in."""
    return "" if folder == HERE else f" --dir {shlex.quote(str(folder))}"


def command_in(folder: Path) -> Callable[[str], str]:
    """Return what makes of a command's words what to type for the arena in `folder`."""
    return lambda words: f"{program()} {words}{at(folder)}"
