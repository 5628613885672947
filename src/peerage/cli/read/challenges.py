"""`peerage challenges`: the pool of the challenge exchange, and what people have to say about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from peerage.cli.shared.options import (
    HERE,
    Folder,
    Force,
    ReportFormat,
    Shape,
    TableFormat,
    Written,
    arena_in,
    group,
    prose,
    say,
)
from peerage.values.clock import now_ms

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.challenges.pool import ChallengePool

app = group("The pool of challenges: list, review, flag, withdraw, retire.")

Name = Annotated[str, typer.Argument(metavar="ID", help="The challenge's id, or how it begins.")]
Reason = Annotated[str, typer.Option(help="Why; kept on record.")]
Answers = Annotated[bool, typer.Option("--answers", help="Show sealed answers too; for the arena's owner.")]

_PLACES = 10
"""Places of records that are named with one reason."""


Flag = Literal["ambiguous", "unsolvable", "trivial", "leaked", "wrong reference"]
"""What is wrong with a challenge."""
Verdict = Literal["approve", "object"]
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@app.command("list")
def list_(folder: Folder = HERE, answers: Answers = False, shape: Shape = TableFormat.table) -> None:
    """List the pool: authors, states, flags, difficulty."""
    from peerage.cli.shared.output import show_table
    from peerage.values.figures import counted
    from peerage.views.challenges import rows, table

    with arena_in(folder) as arena:
        listed = rows(_pool(arena), answers=answers)
    if not listed and shape is TableFormat.table:
        prose("the pool is empty: matches of the challenge exchange fill it; `peerage games` has its rules")
        return
    show_table(table(listed, counted(len(listed), "challenge")), shape)


@app.command()
def show(
    name: Name, folder: Folder = HERE, answers: Answers = False, shape: Written = ReportFormat.text
) -> None:
    """Show one challenge with all its attempts."""
    from peerage.cli.shared.output import show_json
    from peerage.engine.record.challenges import named
    from peerage.views.challenges import attempts, in_words, rows

    with arena_in(folder) as arena:
        pool = _pool(arena)
        entry = named(pool, name)
        row = next(each for each in rows(pool, answers=answers) if each.challenge_id == entry.challenge_id)
        tried = attempts(entry, answers=answers)
    if shape is ReportFormat.json:
        show_json({**row.as_dict(), "history": tried})
        return
    prose("\n".join(in_words(row, tried)))


@app.command()
def review(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="The challenge's id, or how it begins.")
    ] = None,
    verdict: Annotated[Verdict | None, typer.Argument(metavar="VERDICT", help="approve or object.")] = None,
    folder: Folder = HERE,
    reason: Reason = "",
    answers: Answers = False,
) -> None:
    """Review challenges: approve them, or take them out of play.

    Without ID it shows each that no person has reviewed, those with flags first, and asks. One that is
    approved is in use, whatever its attempts showed; one that is objected to comes into no further match, and
    results stand as they are. Each verdict is an entry of the log; the last one counts.
    """
    from peerage.engine.record import challenges as record
    from peerage.views import challenges

    with arena_in(folder) as arena:
        if verdict is not None and name is not None:
            entry = record.review(arena.ledger, name, verdict, reason, now_ms())
            stays = f"; it stays {entry.state}" if entry.state in ("withdrawn", "retired") else ""
            say(f"challenge {entry.challenge_id}: {verdict}, on record{stays}")
            return
        pool = _pool(arena)
        shown = set(pool.entries) if name is None else {record.named(pool, name).challenge_id}
        waiting = [row for row in challenges.to_review(pool, answers=answers) if row.challenge_id in shown]
        if waiting and not terminal():
            say("No terminal to ask in; write ID and approve or object.", err=True)
            raise typer.Exit(2)
        for place, row in enumerate(waiting, 1):
            say(f"\n{place} of {len(waiting)}")
            tried = challenges.attempts(pool.entries[row.challenge_id], answers=answers)
            prose("\n".join(challenges.in_words(row, tried)))
            answer = typer.prompt("approve, object, skip or quit", default="skip").strip().lower()
            if answer and "quit".startswith(answer):
                return
            chosen = next((known for known in _VERDICTS if answer and known.startswith(answer)), None)
            if chosen is not None:
                why = typer.prompt("why", default=reason, show_default=False)
                record.review(arena.ledger, row.challenge_id, chosen, why, now_ms())
    say("no challenge waits for a review" if not waiting else "that was the last one")


@app.command()
def flag(
    name: Name,
    what: Annotated[Flag, typer.Argument(metavar="FLAG", help="What is wrong with it.")],
    folder: Folder = HERE,
    reason: Reason = "",
) -> None:
    """Flag a challenge: it comes into no further match.

    FLAG is ambiguous, unsolvable, trivial, leaked or "wrong reference". Results stand as they are; `withdraw`
    takes them back.
    """
    from peerage.engine.record import challenges as record

    with arena_in(folder) as arena:
        entry = record.flag(arena.ledger, name, what, reason, now_ms())
    say(f"challenge {entry.challenge_id} is flagged: {what}; it comes into no further match")


@app.command()
def withdraw(name: Name, folder: Folder = HERE, reason: Reason = "") -> None:
    """Withdraw a challenge: no attempt at it counts.

    The records stay as they are; the withdrawal is a statement of its own, which leaderboards apply.
    """
    from peerage.engine.record import challenges as record
    from peerage.values.figures import counted
    from peerage.views.challenges import effect

    with arena_in(folder) as arena:
        entry = record.withdraw(arena.ledger, name, reason, now_ms())
        effects = effect(arena.ledger, entry)
    changed = ", ".join(map(str, effects.changed)) or "none"
    say(
        f"challenge {entry.challenge_id} is withdrawn: {counted(effects.attempts, 'attempt')} in "
        f"{counted(effects.matches, 'match')} no longer counted\n"
        f"matches with another result now: {changed}"
    )


@app.command()
def retire(name: Name, folder: Folder = HERE, reason: Reason = "") -> None:
    """Retire a challenge: what is sealed of it is disclosed.

    Exports and redacted ledgers then show its answer and every attempt at it. It comes into no further match.
    """
    from peerage.engine.record import challenges as record

    with arena_in(folder) as arena:
        entry = record.retire(arena.ledger, name, reason, now_ms())
    say(f"challenge {entry.challenge_id} is retired; its answer was {entry.answer}")


@app.command()
def export(folder: Folder = HERE, answers: Answers = False) -> None:
    """Write the pool to standard output, one record a line.

    Each has challenge_id, author_llm, description and reference_answer: null while it is sealed, unless
    --answers is given. With the answer goes the author's program, as solution, where there is one.
    """
    from peerage.cli.shared.output import show_json
    from peerage.interchange.challenges import exported

    with arena_in(folder) as arena:
        for record in exported(_pool(arena), answers=answers):
            show_json(record, indent=None)


@app.command("import")
def enter(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="JSON, JSON lines, or folders of them.", exists=True),
    ],
    folder: Folder = HERE,
) -> None:
    """Enter challenges of other arenas into the pool: the good ones; those refused are listed.

    Records have author_llm, description, reference_answer, and solution if there is a program. The sets that
    ValyrianTech/ValyrianGamesCodingChallenge publishes are read as they are. What the pool has already, also
    in other words or with another answer, is skipped.
    """
    from peerage.arena import open_arena
    from peerage.interchange.challenges import enter_challenges, records
    from peerage.values.figures import counted

    with open_arena(folder) as arena:
        found = enter_challenges(arena.ledger, records(files), now_ms(), arena.settings.secret_seed)
    if not any(found):
        say("there is no challenge in these files", err=True)
        raise typer.Exit(1)
    say(f"{counted(found.new, 'challenge')} entered, {found.double} were there already")
    if found.refused:
        say(f"{sum(map(len, found.refused.values()))} refused:", err=True)
        for why, places in found.refused.items():
            more = f" and {len(places) - _PLACES} more" * (len(places) > _PLACES)
            say(f"  {', '.join(places[:_PLACES])}{more}: {why}", err=True)
        if not (found.new or found.double):
            raise typer.Exit(1)


@app.command()
def redact(
    file: Annotated[Path, typer.Argument(help="The SQLite file to write; no database may be there.")],
    folder: Folder = HERE,
    force: Force = False,
) -> None:
    """Write a copy of the ledger that others may see.

    What is sealed stands there as its commitment, so `verify` gives the same head; retired challenges are
    disclosed.
    """
    from peerage.ledger.out.disclosure import write_redacted
    from peerage.reading.moment import public
    from peerage.values.outputs import REDACTED, arena_files, writing

    with arena_in(folder) as arena:
        kept = arena_files(folder, arena.ledger.address)
        with writing(file, REDACTED, kept, force=force) as part:
            write_redacted(public(arena.ledger), part)
    say(f"wrote {file}")


def _pool(arena: Arena) -> ChallengePool:
    from peerage.engine.record.challenges import pool

    return pool(arena.ledger)


def terminal() -> bool:
    """Return whether somebody is there to be asked."""
    return sys.stdin.isatty()
