"""`peerage challenges`: the pool of the challenge exchange, and what people have to say about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from peerage.cli.options import HERE, Folder, Force, Format, Report, Shape, Written, group, now_ms, say

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.challenges.pool import Pool

app = group("The pool of challenges: list, flag, withdraw, retire.")

Name = Annotated[str, typer.Argument(metavar="ID", help="The challenge's id, or how it begins.")]
Reason = Annotated[str, typer.Option(help="Why; kept on record.")]
Answers = Annotated[bool, typer.Option("--answers", help="Show sealed answers too; for the arena's owner.")]
Flag = Literal["ambiguous", "unsolvable", "trivial", "leaked", "wrong reference"]

_WIDE = 60
"""Characters of a description that a table shows."""


@app.command("list")
def list_(folder: Folder = HERE, answers: Answers = False, shape: Shape = Format.table) -> None:
    """List the pool: authors, states, flags, difficulty."""
    from peerage.cli.output import Column, percent, show, whole
    from peerage.tables.challenges import rows

    with _opened(folder) as arena:
        found = [row.as_dict() for row in rows(_pool(arena), answers=answers)]
    columns = [
        Column("challenge_id", "Challenge"),
        Column("author_llm", "Author"),
        Column("state", "State"),
        Column("flags", "Flags", ", ".join),
        Column("attempts", ">Tried", whole),
        Column("solved", ">Solved", percent),
        Column("difficulty", ">Difficulty", "{:+.2f}".format, 2),
        Column("discrimination", ">Discrimination", "{:.2f}".format, 3),
        *([Column("reference_answer", ">Answer")] if answers else ()),
        Column("description", "Description", _short, 1),
    ]
    show(found, columns, shape, title=f"{len(found)} challenges")


@app.command()
def show(name: Name, folder: Folder = HERE, answers: Answers = False, shape: Written = Report.text) -> None:
    """Show one challenge with all its attempts."""
    from peerage.cli.output import show_json
    from peerage.tables.challenges import attempts, named, rows

    with _opened(folder) as arena:
        pool = _pool(arena)
        entry = named(pool, name)
        row = next(one for one in rows(pool, answers=answers) if one.challenge_id == entry.challenge_id)
        tried = attempts(entry, answers=answers)
    if shape is Report.json:
        show_json({**row.as_dict(), "history": tried})
        return
    answer = "sealed" if row.reference_answer is None else str(row.reference_answer)
    where = f"match {row.match}" if row.match else "imported"
    flags = f" ({', '.join(row.flags)})" if row.flags else ""
    say(f"challenge {row.challenge_id}: {row.state}{flags}\n{row.description}")
    say(f"answer: {answer}; by {row.author_llm}, {where}, proof: {row.proof}")
    if row.reason:
        say(f"reason: {row.reason}")
    if row.difficulty is not None:
        say(
            f"difficulty {row.difficulty:+.2f} ± {row.difficulty_error:.2f}, "
            f"discrimination {row.discrimination:.2f} ± {row.discrimination_error:.2f}"
        )
    for one in tried:
        own = ", its author" if one["own_challenge"] else ""
        said = "" if one["submitted_answer"] is None else f" {one['submitted_answer']}"
        say(f"  match {one['match']}: {one['llm_id']}{own}: {one['result']}{said}, {one['points']:+g}")


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
    from peerage.tables import challenges

    with _opened(folder) as arena:
        entry = challenges.flag(arena.ledger, name, what, reason, now_ms())
    say(f"challenge {entry.challenge_id} is flagged: {what}; it comes into no further match")


@app.command()
def withdraw(name: Name, folder: Folder = HERE, reason: Reason = "") -> None:
    """Withdraw a challenge: no attempt at it counts.

    The records stay as they are; the withdrawal is a statement of its own, which leaderboards apply.
    """
    from peerage.tables import challenges

    with _opened(folder) as arena:
        entry = challenges.withdraw(arena.ledger, name, reason, now_ms())
        found = challenges.effect(arena.ledger, entry)
    say(
        f"challenge {entry.challenge_id} is withdrawn: {found.attempts} attempts in {found.matches} matches "
        f"no longer count\nmatches with another result now: {', '.join(map(str, found.changed)) or 'none'}"
    )


@app.command()
def retire(name: Name, folder: Folder = HERE, reason: Reason = "") -> None:
    """Retire a challenge: what is sealed of it is disclosed.

    Exports and redacted ledgers then show its answer and every attempt at it. It comes into no further match.
    """
    from peerage.tables import challenges

    with _opened(folder) as arena:
        entry = challenges.retire(arena.ledger, name, reason, now_ms())
    say(f"challenge {entry.challenge_id} is retired; its answer was {entry.answer}")


@app.command()
def export(folder: Folder = HERE, answers: Answers = False) -> None:
    """Write the pool to standard output, one record a line.

    Each has challenge_id, author_llm, description and reference_answer: null while it is sealed, unless
    --answers is given.
    """
    import msgspec

    from peerage.tables.challenges import exported

    with _opened(folder) as arena:
        for record in exported(_pool(arena), answers=answers):
            typer.echo(msgspec.json.encode(record).decode())


@app.command("import")
def enter(
    file: Annotated[Path, typer.Argument(help="JSON lines, or a JSON list.", exists=True, dir_okay=False)],
    folder: Folder = HERE,
) -> None:
    """Enter challenges of another arena into the pool.

    Records have author_llm, description and reference_answer. What the pool has already is skipped.
    """
    from peerage.tables import challenges

    with _opened(folder) as arena:
        new, double = challenges.enter(arena.ledger, _records(file), now_ms(), arena.settings.secret_seed)
    say(f"{new} challenges entered, {double} were there already")


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
    from peerage.ledger.disclosure import write_redacted
    from peerage.outputs import REDACTED, arena_files, writing

    with _opened(folder) as arena:
        kept = arena_files(folder, arena.ledger.address)
        with writing(file, REDACTED, kept, force=force) as part:
            write_redacted(arena.ledger, part)
    typer.echo(f"wrote {file}")


def _opened(folder: Path) -> Arena:
    from peerage.arena import open_arena

    return open_arena(folder)


def _pool(arena: Arena) -> Pool:
    """The pool by the arena's own rule of how many attempts a flag needs."""
    from peerage.games.challenge_exchange import GAME as CHALLENGE_EXCHANGE
    from peerage.settings import rules_of
    from peerage.tables.challenges import LEAST_ATTEMPTS, pool

    own = arena.settings.game == CHALLENGE_EXCHANGE.name
    return pool(arena.ledger, rules_of(arena.settings).least_attempts if own else LEAST_ATTEMPTS)


def _records(file: Path) -> Iterator[tuple[str, Any]]:
    from peerage.inputs import opened
    from peerage.ledger import LedgerError
    from peerage.ratings.streams import DataError, rows

    try:
        with opened(file) as stream:
            for number, record in rows(stream, file.name):
                yield f"{file.name}, row {number}", record
    except DataError as error:
        raise LedgerError(str(error)) from None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDE else f"{line[: _WIDE - 1]}…"
