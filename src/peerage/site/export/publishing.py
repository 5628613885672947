"""An arena published as a Git repository: one JSON file a match, and what it takes to make the ledger again.

    arena.yaml            the settings that may be seen
    ledger.json           facts of the arena, amendments, the head
    leaderboard.json      the rows of every track
    matches/000/12.json   a match as `peerage export` writes it, its row of the narrow table, all attempts
    texts/DIGEST          texts that matches refer to, by SHA-256
    log/000.jsonl         the log, ten thousand entries a file: the ledger restored has the same log root
    checkpoints/412.txt   what was signed of it, and `keys.txt`, by whom

Files are only ever added or brought up to date, each time in one commit, and nothing is ever pushed by force:
the history is the audit trail. Anyone who clones it can restore the ledger, verify it and build the pages.
What is sealed is redacted, and retirement reveals it in the same files.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from importlib import resources
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml
from msgspec import Struct

from peerage.engine.record.registration import only_judging
from peerage.game.media import digests_in
from peerage.games import installed
from peerage.ledger import (
    COPY,
    Amendment,
    Batch,
    Entry,
    Exchange,
    Failure,
    FailureRow,
    FixtureRow,
    IntentRow,
    LedgerError,
    RecordRow,
    ReplyRow,
    Summary,
    open_ledger,
)
from peerage.ledger.check.checkpoints import FOLDER as CHECKPOINTS
from peerage.ledger.forms.log import facts_in, finished
from peerage.ledger.out.disclosure import texts_until
from peerage.ledger.out.export import documents
from peerage.settings import FILE_NAME
from peerage.site.pages.proofs import stored
from peerage.site.reading import Site
from peerage.values.figures import counted
from peerage.values.inputs import read_bytes
from peerage.values.outputs import (
    CHECKPOINT,
    NOTHING,
    SETTINGS,
    WORKFLOW,
    Folder,
    OutputRefused,
    ProtectedFiles,
)
from peerage.values.outputs import write as write_file
from peerage.version import __version__

FACTS = "ledger.json"
LOG = "log"
ENTRIES = 10_000
"""Entries of the log in one file."""
OURS = (FILE_NAME, FACTS, "leaderboard.json", "matches", "texts", "media", LOG, CHECKPOINTS)
"""What is committed; anything else in the repository is left alone."""

WORKFLOW_FILE = ".github/workflows/pages.yml"
BLOCK = 200
"""Matches restored in one transaction."""

_SETTINGS = ("name", "seed", "game", "rules", "games", "rating", "pairing")
_CARD = ("name", "model", "family", "architecture")


class PublishError(Exception):
    """The results cannot be published as asked; the message says why and how to fix it."""


class LedgerFacts(Struct):
    """What `ledger.json` holds: the head is the chain value after record `number`, in hex."""

    number: int
    head: str
    meta: dict[str, str]
    amendments: list[Amendment]


class _Proof(Struct):
    fixture_body: str
    record_body: str
    chain: str


class _Bodies(Struct):
    request_body: str
    reply_body: str


class _Exchange(Struct):
    key: str
    attempt: int
    player: str
    worst_nano: int | None
    proof: _Bodies | None


class _Attempt(Struct):
    """An attempt, but for what was said in it: `request` is the stored body where nobody answered."""

    key: str
    attempt: int
    player: str
    worst_nano: int | None
    cost_nano: int | None
    at_ms: int | None
    latency_ms: int | None
    failure: Failure | None
    request: str | None


class _PublishedMatch(Struct):
    match: int
    at_ms: int
    exchanges: list[_Exchange]
    proof: _Proof
    summary: Summary
    attempts: list[_Attempt] = []


class Published(NamedTuple):
    """What was committed: match files that are new or changed, and the commit's short name, empty when
    nothing had changed; `discloses` says that they show tasks of the owner's."""

    matches: int
    commit: str
    discloses: bool


def publish(
    site: Site, results: Path, push: bool, kept: ProtectedFiles = NOTHING, *, force: bool = False
) -> Published:
    """Bring the repository `results` up to date, in one commit; made when it is not there. `push` sends it to
    its upstream; files that are `kept` are never replaced; `force` replaces files that no publishing wrote.
    Raises OutputRefused, PublishError, LedgerError and OSError."""
    if not (results / ".git").exists():
        if results.exists() and (not results.is_dir() or any(results.iterdir())):
            raise OutputRefused(f"{results} exists and is no Git repository; name a clone or a new folder")
        results.mkdir(parents=True, exist_ok=True)
        _git(results, "init", "--quiet", "--initial-branch=main")
    target = Folder(results, kept)
    _refuse_another(site, target, force)
    for path, body in _with_media(site, chain(_matches(site), _rest(site))):
        target.write(path, body)
    ours = [name for name in OURS if (results / name).exists()]
    _git(results, "add", "--", *ours)
    commit = ""
    staged = _git(results, "diff", "--cached", "--name-only", "--", *ours).splitlines()
    if staged:
        message = f"{counted(site.number, 'match')}, head {site.chain[:12]}"
        _git(results, "commit", "--quiet", "--message", message, "--", *ours)
        commit = _git(results, "rev-parse", "--short", "HEAD")
    if push:
        _git(results, "push", "--quiet")
    return Published(sum([path.startswith("matches/") for path in staged]), commit, site.discloses)


def _refuse_another(site: Site, target: Folder, force: bool) -> None:
    """Raise PublishError when what was published is not the beginning of this ledger, and OutputRefused when
    files that no publishing wrote would be replaced."""
    results = target.root
    try:
        known = msgspec.json.decode(target.place(FACTS).read_bytes(), type=LedgerFacts)
    except (FileNotFoundError, msgspec.MsgspecError):
        for name in OURS:
            if (results / name).is_symlink():
                target.place(name)
        theirs = [name for name in OURS if (results / name).exists()]
        if theirs and not force:
            raise OutputRefused(
                f"{results} holds {', '.join(theirs)} that no `site publish` wrote; name another repository, "
                "or replace them with --force"
            ) from None
        return
    there = next((row.chain.hex() for row in site.moment.records(known.number, known.number)), "")
    if known.number and there != known.head:
        raise PublishError(
            f"{results} holds {counted(known.number, 'match')} of another ledger (head {known.head[:12]}); "
            "publish this one elsewhere"
        )


def match_file(number: int) -> str:
    """Return where a match stands: a thousand to a folder."""
    return f"matches/{number // 1000:03}/{number}.json"


def _with_media(site: Site, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield files, each after the pictures and sounds that it is the first to show."""
    written = set[str]()
    for path, body in files:
        new = [digest for digest in digests_in(body) if digest not in written]
        written.update(new)
        for digest, held in site.moment.media(new).items():
            yield f"media/{digest}", held
        yield path, body


def _matches(site: Site) -> Iterator[tuple[str, bytes]]:
    asked = groupby(site.moment.exchanges(1, site.number), attrgetter("match"))
    match, rows = next(asked, (0, iter(())))
    for document, summary in zip(documents(site.moment), site.summaries, strict=True):
        number, attempts = document["match"], []
        if match == number:  # not where it ended before anybody was asked
            attempts = [_attempt(row) for row in rows]
            match, rows = next(asked, (0, iter(())))
        yield match_file(number), _json({**document, "summary": summary, "attempts": attempts})


def _attempt(row: Exchange) -> _Attempt:
    request = row.request.decode() if row.reply is None else None
    said = row.key, row.attempt, row.player, row.worst_nano, row.cost_nano, row.at_ms, row.latency_ms
    return _Attempt(*said, row.failure, request)


def _rest(site: Site) -> Iterator[tuple[str, bytes]]:
    moment = site.moment
    for digest, text in texts_until(moment, site.number).items():
        yield f"texts/{digest.hex()}", text.encode()
    log = list(moment.log())
    meta = facts_in(log, moment.meta())
    amendments = [row for row in moment.amendments() if row.position <= len(log)]
    for at in range(0, len(log), ENTRIES):
        lines = [msgspec.json.encode(entry) + b"\n" for entry in log[at : at + ENTRIES]]
        yield f"{LOG}/{at // ENTRIES:03}.jsonl", b"".join(lines)
    for path in stored(site):
        yield path, read_bytes(site.folder / path)
    yield FACTS, _json(LedgerFacts(site.number, site.chain, meta, amendments))
    rows = {track: [row.as_dict() for row in site.table(track)] for track in site.tracks}
    yield "leaderboard.json", _json(rows)
    yield FILE_NAME, yaml.safe_dump(_settings(site), allow_unicode=True, sort_keys=False).encode()


def _json(data: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n"


def _settings(site: Site) -> dict[str, Any]:
    """The settings that others may see: no address, command or key's name, no prompt that was not drawn."""
    stated = site.settings.model_dump(mode="json", include=set(_SETTINGS), exclude_defaults=True)
    several = stated.get("games")
    if several:
        stated.pop("game", None)
    one = {site.settings.game: stated}
    for game, said in (several or one).items():
        if "rules" in said:
            spec = installed(game)  # which of its rules are the owner's alone it says itself
            public = spec.rules.model_fields.keys() - set(spec.files.keys()) if spec else ()
            said["rules"] = {name: value for name, value in said["rules"].items() if name in public}
    judging, listed = only_judging(site.cards, site.settings), dict[str, Any]()
    for name, card in site.cards.items():
        shown = {key: card[key] for key in _CARD if card.get(key)}
        listed.setdefault("judges" if name in judging else "players", []).append(shown)
    return {"name": site.settings.name, **stated, **listed}


def _git(folder: Path, *words: str) -> str:
    """Return what a Git command says; raises PublishError with its complaint."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},  # its complaints are read below
        )
    except FileNotFoundError:
        raise PublishError("git is not installed, or not found on this machine's PATH") from None
    if done.returncode:
        complaint = (done.stderr or done.stdout).strip()
        if "user.email" in complaint or "empty ident" in complaint:
            raise PublishError(
                f"git does not know who publishes: in {folder}, run `git config user.name NAME` and "
                "`git config user.email ADDRESS`, then publish again"
            )
        raise PublishError(f"git {words[0]} in {folder} failed: {complaint}")
    return done.stdout.strip()


def restore(results: Path, folder: Path) -> None:
    """Make an arena in the empty `folder` from a published one. Raises LedgerError when a file is missing or
    is not what was published; `verify` tells whether the whole is."""
    facts = _read(results / FACTS, LedgerFacts)
    folder.mkdir(parents=True, exist_ok=True)
    settings = yaml.safe_load(read_bytes(results / FILE_NAME))
    write_file(folder / FILE_NAME, yaml.safe_dump(settings, allow_unicode=True, sort_keys=False), SETTINGS)
    with closing(open_ledger("sqlite:///arena.db", folder, create=True)) as ledger, ledger.runner():
        log = _log(results)
        # What was published is a copy, without what is in play.
        meta = {**facts.meta, COPY: "redacted"}
        texts = [(digest, body.decode()) for digest, body in _bodies(results / "texts")]
        ledger.write(Batch(texts=texts, amendments=facts.amendments, meta=meta, log=log))
        for media in _bodies(results / "media"):
            ledger.write(Batch(media=[media], log=()))
        numbers = [match for match in dict.fromkeys([finished(one.about) for one in log]) if match]
        for at in range(0, len(numbers), BLOCK):
            batch = Batch(log=())
            for number in numbers[at : at + BLOCK]:
                _enter(_read(results / match_file(number), _PublishedMatch), batch)
            ledger.write(batch)
        found = next((row.chain.hex() for row in ledger.records(facts.number, facts.number)), facts.head)
        if found != facts.head:
            raise LedgerError(
                f"{results}: match {facts.number} ends with {found[:12]}, {FACTS} says {facts.head[:12]}"
            )

    for file in sorted((results / CHECKPOINTS).glob("*.txt")):
        (folder / CHECKPOINTS).mkdir(exist_ok=True)
        write_file(folder / CHECKPOINTS / file.name, read_bytes(file), CHECKPOINT)


def _log(results: Path) -> list[Entry]:
    """The log that was published."""
    found: list[Entry] = []
    for file in sorted((results / LOG).glob("*.jsonl")):
        try:
            found += [msgspec.json.decode(line, type=Entry) for line in read_bytes(file).splitlines()]
        except msgspec.MsgspecError as error:
            raise LedgerError(f"{file} is not as it was published: {error}") from error
    return found


def _bodies(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """Return the file that was published under a digest."""
    for file in sorted(folder.glob("*")):
        body = read_bytes(file)
        digest = sha256(body).digest()
        if digest.hex() != file.name:
            raise LedgerError(f"{file} was changed: its SHA-256 is {digest.hex()}")
        yield digest, body


def _enter(match: _PublishedMatch, batch: Batch) -> None:
    """Put a match's rows into a batch."""
    number, proof = match.match, match.proof
    record, chain = proof.record_body.encode(), bytes.fromhex(proof.chain)
    batch.fixtures.append(FixtureRow(number, match.summary.round, proof.fixture_body.encode()))
    batch.records.append(RecordRow(number, record, chain, match.at_ms))
    batch.summaries.append(match.summary)
    said = {(one.key, one.attempt): one.proof for one in match.exchanges}
    for one in match.attempts:
        at, bodies = (number, one.key, one.attempt), said.get((one.key, one.attempt))
        request = bodies.request_body if bodies else one.request or ""
        batch.intents.append(IntentRow(*at, one.player, request.encode(), one.worst_nano))
        if bodies is not None and one.at_ms is not None:
            batch.replies.append(
                ReplyRow(*at, bodies.reply_body.encode(), one.cost_nano, one.at_ms, one.latency_ms or 0)
            )
        if one.failure is not None:
            batch.failures.append(FailureRow(*at, *one.failure[1:]))


def _read(file: Path, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(read_bytes(file), type=kind)
    except FileNotFoundError:
        raise LedgerError(f"{file} is missing; was it published by `peerage site publish`?") from None
    except msgspec.MsgspecError as error:
        raise LedgerError(f"{file} is not as it was published: {error}") from error


def write_workflow(results: Path, *, force: bool = False) -> Path:
    """Write the GitHub Actions workflow that builds the pages of a results repository and deploys them.
    Raises OutputRefused where another workflow is in the way, unless told to `force` it."""
    text = resources.files("peerage.site").joinpath("templates", "pages.yml").read_text("utf-8")
    file = Folder(results).place(WORKFLOW_FILE)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, text.replace("{{ version }}", __version__), WORKFLOW, force=force)
    return file
