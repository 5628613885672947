"""The gate of `peerage compare`: its exit code, and what other programs read of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import typer

from peerage.cli.read.leaderboard import explained_scope
from peerage.cli.shared.options import ReportFormat, arena_in
from peerage.cli.shared.output import show_whole
from peerage.render.blocks import Conclusion

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub names the file of a step's summary."""


def show_gate(
    folder: Path,
    players: tuple[str, str],
    margin: str | None,
    *,
    elo: float | None,
    of: Literal["wins", "accuracy"] | None,
    game: str,
    topic: str,
    these: bool,
    by_topic: bool,
    junit: Path | None,
    github: bool,
    force: bool,
    shape: ReportFormat,
) -> None:
    """Write a gate to standard output, to a JUnit file and to GitHub, and leave with its exit code.

    Whatever keeps it from an answer leaves with 2, as mistakes do: 1 says that the new player is worse.
    """
    from peerage.arena import ArenaError
    from peerage.interchange.gate import github_commands, junit_xml, markdown
    from peerage.ledger import LedgerError
    from peerage.values.outputs import JUNIT, append, arena_files, refuse, write
    from peerage.values.system_errors import reason
    from peerage.views.decision.gate import gates

    summary = os.environ.get(SUMMARY, "")
    if github and not summary:
        raise typer.BadParameter(f"--github writes to the file that {SUMMARY} names: it is set in workflows")
    try:
        with explained_scope(), arena_in(folder) as arena:
            kept = arena_files(folder, arena.ledger.address)
            if junit:
                refuse(junit, JUNIT, kept, force=force)
            gate = arena.gate(
                *players, margin, elo=elo, of=of, game=game, topic=topic, these_tasks=these, by_topic=by_topic
            )
            name = arena.settings.name
        if junit:
            write(junit, junit_xml(gate, name), JUNIT, kept, force=force)
        if github:
            append(Path(summary), markdown(gate, name))
    except LedgerError as error:
        raise ArenaError(str(error)) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise ArenaError(f"{place}{reason(error)}") from None
    if github:  # GitHub reads commands from both; standard output may be JSON
        typer.echo("\n".join(github_commands(gate)), err=True)
    show_whole(gate, [Conclusion(gate.lines), *([gates(gate.parts)] if gate.parts else ())], shape)
    raise typer.Exit(gate.exit_code)
