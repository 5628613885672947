"""`peerage checkpoint`: what the publisher signs, so that nobody has to believe the publisher later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.shared.options import HERE, CommandRefused, Folder, ledger_in, say

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from peerage.ledger.check.kept_checkpoints import KeptCheckpoint
    from peerage.ledger.check.notes import VerifierKey


KeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The file of the private key.",
        show_default="PEERAGE_CHECKPOINT_KEY, or one in your settings",
    ),
]
NewKey = Annotated[bool, typer.Option("--new-key", help="Draw that key, once; it signs for all your arenas.")]
Stored = Annotated[bool, typer.Option("--print", help="Print the newest one that is signed; sign none.")]
Witnesses = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Have this witness cosign it (C2SP tlog-witness); repeat it."),
]
WitnessKeys = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY", help="A witness's public key, or a file of such; kept from then on."),
]


def checkpoint(
    folder: Folder = HERE,
    key: KeyFile = None,
    new_key: NewKey = False,
    stored: Stored = False,
    witness: Witnesses = None,
    witness_key: WitnessKeys = None,
) -> None:
    """Sign what is on record, so that strangers can check it.

    Before match 1 it opens the ledger: with the commitment to the arena's secret, players and settings.
    Checks the whole ledger, signs the root of its log with your key, and keeps the checkpoint in the folder
    `checkpoints`, which sites and published results carry. It refuses a ledger that is not whole, or does not
    extend every checkpoint signed before. Anyone who keeps a checkpoint finds later, with `peerage verify
    --checkpoint`, whether anything that it covers was changed, cut off or re-dated, votes included.
    """
    from peerage.ledger.check.checkpoints import kept_in, read_private_key
    from peerage.ledger.check.checkpoints import new_key as drawn
    from peerage.values.outputs import checkpoint_key

    place = key or checkpoint_key()
    if new_key:
        drawn(place)
        say(
            f"wrote a private key to {place}; keep a copy where only you can read it. Nothing is signed yet: "
            "`peerage checkpoint` signs with it",
            err=True,
        )
        return
    kept = kept_in(folder)
    if stored:
        if not kept:
            raise CommandRefused("no checkpoint is signed yet: `peerage checkpoint` signs one")
        typer.echo(str(kept[-1].checkpoint), nl=False)
        return
    private = read_private_key(place)
    _begin(folder)
    _sign(folder, private, kept, witness or (), keys_of(witness_key or ()))


def _sign(
    folder: Path,
    private: Ed25519PrivateKey,
    kept: Sequence[KeptCheckpoint],
    witnesses: Sequence[str],
    of_witnesses: Sequence[VerifierKey],
) -> None:
    """Check the ledger, sign it, have it cosigned, keep the checkpoint, print it. Raises CommandRefused for a
    ledger that is not whole, WitnessError for a witness that did not cosign: others' are kept."""
    from peerage.ledger.check.checkpoints import (
        FOLDER,
        KEYS,
        keep,
        leaves_of,
        origin,
        read_public_keys,
        take_in_votes,
        unsigned,
    )
    from peerage.ledger.check.notes import key_of, sign
    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.site.export.witnesses import Rewritten, WitnessError, cosigned
    from peerage.standings.verify import verify

    with ledger_in(folder) as ledger:
        votes = PeopleVotes(ledger.address, folder)
        outside = take_in_votes(ledger, votes)
        report = verify(ledger, votes=votes, kept=kept)
        if not report.ok:
            for problem in report.problems[:5]:
                say(f"  {problem}", err=True)
            raise CommandRefused(
                f"the ledger is not signed: {len(report.problems)} of its parts are not as they were. "
                "`peerage verify` lists them"
            )
        note = sign(unsigned(ledger, report.log_root), private)
        public = key_of(private, origin(ledger))
        keys = (*read_public_keys(folder / FOLDER / KEYS), public, *of_witnesses)
        refused: list[WitnessError] = []
        for address in witnesses:
            try:
                note = cosigned(note, leaves_of(ledger), address, keys)
            except Rewritten:
                raise  # and nothing is kept: this history contradicts one that was signed
            except WitnessError as error:
                refused.append(error)
        file = keep(folder, note, keys)
    if outside:
        say(f"{outside} newer votes are not in it: a run is under way, and takes them in itself", err=True)
    say(f"kept in {file}; its public key:\n{public}", err=True)
    typer.echo(str(note), nl=False)
    if refused:
        raise WitnessError("; ".join(map(str, refused)))


def _begin(folder: Path) -> None:
    """Open the ledger of an arena that nobody played yet, so that what is signed binds all that is drawn."""
    from contextlib import closing

    from peerage.ledger import open_ledger
    from peerage.ledger.topics.outside import sources
    from peerage.playing.run import begin
    from peerage.settings import FILE_NAME, load

    if not (folder / FILE_NAME).exists():
        return
    settings = load(folder, reading=True)
    with closing(open_ledger(settings.ledger, folder, create=True)) as ledger:
        if not ledger.heads()[0] and (settings.players or not sources(ledger)):
            begin(load(folder), ledger)


def keys_of(stated: Sequence[str]) -> tuple[VerifierKey, ...]:
    """Public keys as they were given: each one itself, or a file of them."""
    from peerage.ledger.check.notes import read_key, read_keys
    from peerage.values.inputs import read_bytes

    keys: list[VerifierKey] = []
    for key in stated:
        try:
            file = Path(key).exists()
            keys += read_keys(read_bytes(Path(key)).decode()) if file else [read_key(key)]
        except ValueError as error:
            raise typer.BadParameter(f"{key}: {error}" if file else str(error), param_hint="--key") from None
    return tuple(keys)


def kept_of(stated: str, keys: Sequence[VerifierKey]) -> Iterator[KeptCheckpoint]:
    """Yield what is at a place that somebody gave: a file, a folder or site of checkpoints, or an address of
    such.

    Their signatures are checked with `keys`, or where none are given with those beside them.
    """
    from peerage.ledger.check.checkpoints import FOLDER, KEYS, read_file, read_public_keys, read_text

    if stated.startswith(("http://", "https://")):
        from peerage.site.export.witnesses import fetch, listed

        single = stated.endswith((".txt", ".jsonl", ".tlog-proof"))
        for address in [stated] if single else listed(stated):
            yield from read_text(address, fetch(address), keys, demanded=bool(keys))
        return
    path = Path(stated)
    around = path / FOLDER if (path / FOLDER).is_dir() else path
    folder = around if path.is_dir() else path.parent
    files = sorted(around.glob("*.txt")) if path.is_dir() else [path]
    known = keys or read_public_keys(folder / KEYS)
    checkpoints = [file for file in files if file.name not in (KEYS, "list.txt")]
    if not checkpoints:
        raise typer.BadParameter(f"{stated} holds no checkpoints", param_hint="--checkpoint")
    for file in checkpoints:
        yield from read_file(file, known, demanded=bool(keys))
