"""`peerage preregister`: say before the first match what will be played, and see what was kept of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.options import HERE, Folder, ReportFormat, Written, ledger_in, say
from peerage.clock import now_ms

if TYPE_CHECKING:
    from peerage.ledger.preregistration import Deviation, Preregistration


MOST_MATCHES = 1_000_000_000


def preregister(
    folder: Folder = HERE,
    max_matches: Annotated[
        int | None,
        typer.Option(
            "--matches",
            "--max-matches",
            min=1,
            max=MOST_MATCHES,
            help="The arena ends when so many matches have a result.",
        ),
    ] = None,
    until: Annotated[
        str, typer.Option(metavar="DATE", help="It ends with this day (UTC), as 2026-12-31.")
    ] = "",
    check: Annotated[
        str, typer.Option(metavar="DIGEST", help="See whether this was registered before the first match.")
    ] = "",
    shape: Written = ReportFormat.text,
) -> None:
    """Write players, settings and stopping rule down before match 1.

    Prints a digest to quote. What is done otherwise later is not forbidden: leaderboard, site and report show
    it as a deviation, by name and match. The stopping rule is --max-matches, --until and the budget of
    arena.yaml; what comes first counts. --check DIGEST asks the ledger at hand, or a copy of it, whether this
    is what it has on record from before its first match, and exits with 1 when not.
    """
    if check:
        if max_matches is not None or until:
            raise typer.BadParameter("--check reads what is on record: leave --max-matches and --until out")
        _check(folder, check, shape)
        return
    from peerage.engine.preregistration import preregister as register
    from peerage.engine.preregistration import stop_of
    from peerage.ledger import open_ledger
    from peerage.ledger.preregistration import Stop
    from peerage.requirements import check as refuse_unfit
    from peerage.settings import enough_players, extra_installed, load

    stop, settings = Stop(max_matches, _day(until) if until else None), load(folder)
    extra_installed(settings)
    enough_players(settings)
    stop_of(settings, stop)
    with closing(open_ledger(settings.ledger, folder, create=True)) as ledger, ledger.runner():
        refuse_unfit(settings, ledger)
        found = register(ledger, settings, stop, now_ms())
    _show(found, shape)


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no date: expected one as 2026-12-31", param_hint="--until"
        ) from None
    if day < datetime.now(UTC).date():
        raise typer.BadParameter(f"{text} is over already", param_hint="--until")
    return day


def _check(folder: Path, digest: str, shape: ReportFormat) -> None:
    from peerage.ledger.held import amendments, read_log
    from peerage.ledger.preregistration import QUOTED, deviations, preregistration, problems

    asked = digest.strip().lower()
    if not re.fullmatch(rf"[0-9a-f]{{{QUOTED},64}}", asked):
        raise typer.BadParameter(
            f"{digest[:80]!r} is no digest: expected {QUOTED} to 64 hex digits, as `peerage preregister` "
            "prints them",
            param_hint="--check",
        )
    with ledger_in(folder) as ledger:
        found, logged = preregistration(ledger), read_log(ledger)
        wrong = [what for _, what in (*logged.problems, *amendments(ledger, logged))]
        wrong += problems(ledger)
        otherwise = list(deviations(found, ledger.summaries())) if found else []
    if found is None:
        wrong.append("nothing was registered in this ledger")
    elif not found.digest.startswith(asked):
        wrong.append(f"this ledger was registered as {found.quoted}, not as {asked}")
    _show(found, shape, otherwise, wrong)
    raise typer.Exit(1 if wrong else 0)


def _show(
    found: Preregistration | None,
    shape: ReportFormat,
    otherwise: Sequence[Deviation] = (),
    wrong: Sequence[str] = (),
) -> None:
    """Write a registration with what deviates from it, and what is wrong with it."""
    from msgspec import to_builtins

    from peerage.cli.output import show_json
    from peerage.figures import moment

    if shape is ReportFormat.json:
        known = {} if found is None else {**to_builtins(found), "quoted": found.quoted}
        known.pop("differing", None)
        show_json({"ok": not wrong, **known, "deviations": to_builtins(otherwise), "problems": list(wrong)})
        return
    if found is not None:
        games = [f"{name} version {one['version']}" for name, one in found.plan.settings["games"].items()]
        say(f"preregistered: {found.quoted}")
        say(f"entry {found.position} of the log, {moment(found.at_ms)}")
        say(f"players: {', '.join(found.plan.players)}")
        say(f"games: {', '.join(games)}")
        say(f"ends at {found.plan.stop.in_words}")
    for one in otherwise:
        say(f"deviates: {one.in_words}")
    for what in wrong:
        say(what)
