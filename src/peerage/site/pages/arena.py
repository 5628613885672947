"""The pages about an arena as a whole: games, challenges, judges, costs, method, ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import Any

import msgspec

from peerage.engine.record.probed import probe_costs
from peerage.game.blocks import Heading, Program, ScoreLine, Sentence, Task
from peerage.game.match import DONE
from peerage.game.protocol import Role
from peerage.games import installed, tracks_of
from peerage.judging.measures.corrections import CORRECTIONS
from peerage.ledger.check.since import log_root
from peerage.ledger.forms.codec_requests import read_form, read_templates
from peerage.ledger.forms.log import entry_leaf
from peerage.ledger.topics.settings_log import settings_changes
from peerage.ledger.topics.uptimes import unused
from peerage.reading.matches import Match, in_words
from peerage.reading.results.played import ScopeError
from peerage.render.blocks import (
    Column,
    Fact,
    Facts,
    Figure,
    Fold,
    Link,
    Links,
    Notes,
    Rows,
    Small,
    ViewBlock,
    numbers,
    texts,
)
from peerage.settings import EVERY, ArenaSettings
from peerage.site.pages import downloads, proofs
from peerage.site.pages.leaderboards import filters
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.values.figures import DASH, dollars, moment, percent, rounded, signed, whole
from peerage.values.texts import visible
from peerage.views.challenges import ChallengeRow
from peerage.views.judges.report import blocks as judges
from peerage.views.leaderboard.corrected import CorrectedRow, table
from peerage.views.leaderboard.tracks import NAMES, Track
from peerage.views.match.transcript import tasks
from peerage.views.player import settings
from peerage.views.stats.report import billed, costs, hosted, kinds, linked, parts

NEWEST = 60
"""Challenges of so many of the newest matches are shown."""
POOLED = 500
"""Challenges of the pool on the page, the newest first; all of them are in the file to download."""
SPENT = (*texts(day="Day (UTC)", game="Game"), *numbers(dollars, dollars="Dollars"))
EVERY_GAME: tuple[Track, ...] = ("bt", "trueskill", "glicko2")
"""The tracks that matches of any game feed."""
ENTRIES = {
    "arena": "The arena's secret, committed",
    "audience": "Votes of the audience, so far",
    "batches": "Batches at providers",
    "benches": "Players paused or back",
    "challenges": "Statements on challenges",
    "models": "Models that providers named",
    "outside": "Outside results",
    "players": "Players registered",
    "probes": "Probes of players",
    "public": "Scores of people outside",
    "settings": "Settings, with later changes",
    "uptimes": "Uptimes of hosts",
    "waits": "Matches that waited",
}
"""What entries of the log beside the records are, by their topic."""
CORRECTED = tuple([one for one in CORRECTIONS if one != "style"])
"""What the page of judges corrects: style rests on the texts of answers, which are not read for it."""
EPOCH = date(1970, 1, 1)
FORM = '{"role":'
"""How a stored form begins."""


METHOD = (
    "A match is a pure function of its fixture and the replies it received. Every number on these pages "
    "follows from the ledger alone, and anybody who has it can compute them again."
)
VERDICT = (
    "The pick has the highest chance to be the best. A player may be as good that is better than the pick "
    "with at least 5%; it is out with less than 1%, if its chance to be the best of n is below 2%/(n - 1), "
    "or where it is proven to be worse; unlikely is what lies between. Chances follow from one posterior of "
    "strengths, whatever pairing chose. What is proven holds without it, however often anybody looks: in "
    "fewer than 5% of arenas is any such claim ever false."
)
COSTS = (
    "A call's cost is its tokens at the price on record when it was made. An unknown price is shown as a "
    "dash and never counts as zero. Information is counted in bits: one bit halves the 95% interval of one "
    "player's Bradley-Terry rating."
)
FORMS = (
    "Every request on record is one of these forms, its places in braces filled. What another player wrote "
    "is quoted between marks that its writer could not have known."
)
LEDGER = (
    "The ledger records each match reply by reply, and chains each record to the one before it. A head is "
    "the value at the end of a chain: anyone who has kept one can tell whether anything before it was "
    "altered."
)
HEADS = (
    "The play head covers what was played, without times; the log root covers every entry of the ledger, "
    "with its time."
)
POOL = (
    "The pool holds the challenges that were accepted; later matches ask them again. Difficulty is on the "
    "scale of the players' skill (two-parameter logistic model, 0 in the middle), with its standard error; "
    "discrimination says how sharply a challenge separates the skilled from the unskilled. Attempts by the "
    "author are not counted. Answers stay sealed until a challenge is retired."
)
CHANGES = (
    "The log holds the settings of match 1, and each later change of rules, pairing, budget and players."
)
CHECKPOINTS = (
    "A checkpoint is a log root that the publisher signed. Keep one, with the public key from where you "
    "trust it: `peerage verify --checkpoint FILE` tells later whether anything that it covers was "
    "rewritten, cut off or re-dated. A witness signs only after it has seen that the log grew and nothing "
    "else happened to it."
)
CHECK = """pip install peerage
peerage verify     # every stored byte against its digest
peerage replay     # every outcome and rating from the replies, offline"""
CHAIN = (
    "A record's chain value is SHA-256 of the byte 02, the value before it, and SHA-256 of the record; the "
    "first record follows 32 zero bytes. A record holds the digest of its fixture and the root of its "
    "exchanges, SHA-256 of the byte 05 and their digests by key. Each match shows its own values."
)
COPY = (
    "Sealed values are in them as commitments, so a copy verifies: save `arena.db` in a folder, run "
    "`peerage verify` there, and compare both heads."
)
TOO_LONG = (
    "The whole ledger is too long for a static site. Where the arena is, `peerage challenges redact FILE` "
    "writes it as SQLite, with sealed values as commitments, and `peerage export` as JSONL; `peerage serve` "
    "offers both."
)


def games_page(site: Site) -> PageView:
    return PageView("Games", "games.html", _games(site))


def _games(site: Site) -> Iterator[ViewBlock]:
    tables = {one.game for one in filters(site)}
    set_to = () if EVERY in site.settings.games else site.settings.lineup
    unplayed: dict[str, dict[str, int]] = {name: {} for name in set_to}
    yield Heading("Games", 1)
    for name, counts in (unplayed | site.tally.games).items():
        spec, matches, decided = installed(name), sum(counts.values()), counts.get(DONE, 0)
        voids = [f"{n:,}: {in_words(status)}" for status, n in sorted(counts.items()) if status != DONE]
        yield Heading(name)
        yield Sentence(spec.about if spec else "This game is not installed here.")
        facts = [Fact("Matches", whole(matches)), Fact("Decided", whole(decided))]
        facts.append(Fact("No result", whole(matches - decided), "; ".join(voids)))
        rated = ", ".join([NAMES[track] for track in rated_by(site, name)])
        yield Facts([*facts, Fact("Rated by", "", rated)])
        links = [Link("The table of this game", ("game", name))] if name in tables else []
        if spec and (original := spec.original) and decided:
            title = f"All matches as {original.file}"
            links.append(Link(title, ("file", original.file), note=f"as {original.about} reads them"))
        yield from [Links(links)] if links else ()
        if rules := stated_rules(site.settings, name):
            yield settings(rules, "Rules stated in this arena; all others are the game's defaults")
    asked = Link("What was asked", ("view", "challenges.html"))
    yield Links([asked, Link("How it is rated", ("view", "method.html"))])


def challenges_page(site: Site) -> PageView:
    return PageView("Challenges", "challenges.html", _challenges(site))


def _challenges(site: Site) -> Iterator[ViewBlock]:
    yield Heading("Challenges", 1)
    if site.stats.authors:
        yield linked(next(part for part in parts(site.stats) if part.name == "authors"))
    if pool := site.pool[: -POOLED - 1 : -1]:
        yield Heading("The pool")
        of = f" The newest {len(pool):,} of {len(site.pool):,}." if len(site.pool) > len(pool) else ""
        yield Sentence(f"{POOL}{of}", "quiet")
        yield Links([Link("All as CSV", ("file", "data/challenges.csv"))])
        yield Rows(pool, _POOL, name="pool", anchor=lambda row: row.challenge_id)
        yield from map(_pooled, pool)
    newest = map(posed, site.matches(max(1, site.number - NEWEST + 1), site.number))
    shown = [one for one in newest if one is not None][::-1]
    if shown or not pool:
        yield Heading("Of the newest matches")
    for one in shown:
        yield from one
    if not (shown or pool):
        yield Sentence("None yet.")


def _pooled(row: ChallengeRow) -> Fold:
    """Return what is known of a challenge beside its line of the pool."""
    about = [f"proof: {row.proof}"]
    if row.discrimination is not None:
        about.append(f"discrimination {row.discrimination:.2f} ± {row.discrimination_error:.2f}")
    if row.own_solved is not None:
        about.append(f"its author solved {percent(row.own_solved)}")
    about += [f"{one.by}: {', '.join(filter(None, (one.verdict, one.reason)))}" for one in row.reviews]
    for title, some in (
        ("solved", [one for one in row.tried if one.solved]),
        ("not solved", [one for one in row.tried if not one.solved]),
    ):
        names = [one.player + f" {one.solved} of {one.attempts} times" * (one.attempts > 1) for one in some]
        about += [f"{title} by {', '.join(names)}"] * bool(names)
    where = Heading(f"Accepted in match {row.match:,}", 3, ("match", str(row.match)))
    blocks: list[ViewBlock] = [where if row.match else Heading("Imported", 3), Task(row.description)]
    blocks.append(Sentence(" · ".join(about), "quiet"))
    return Fold(f"`{row.challenge_id[:8]}` by {row.author_llm}", blocks)


def _state(row: ChallengeRow) -> Iterator[Small]:
    yield from (Small(flag, "bad") for flag in row.flags)
    if row.reason:
        yield Small(row.reason)


def _answer(row: ChallengeRow) -> str:
    return "sealed" if row.reference_answer is None else str(row.reference_answer)


def _error(row: ChallengeRow) -> Iterator[Small]:
    if row.difficulty is not None:
        yield Small(f"± {row.difficulty_error:.2f}")


_POOL = (
    Column("challenge_id", "Challenge", lambda digest: digest[:8]),
    *texts(author_llm="Author"),
    Column("state", "State", small=_state),
    Column("difficulty", "Difficulty", signed, number=True, small=_error),
    *numbers(percent, solved="Solved"),
    *numbers(whole, attempts="Attempts"),
    Column("reference_answer", "Answer", number=True, value=_answer),
)


def judges_page(site: Site) -> PageView:
    # First what needs nothing of what all matches tell, which may still be read.
    rows: list[CorrectedRow] = []
    with suppress(ScopeError):
        rows = site.corrected(CORRECTED)
    order = [row.player for row in site.table()]
    blocks = [*judges(site.judges, order, table(rows))]
    return PageView("Judges", "judges.html", blocks)


def costs_page(site: Site) -> PageView:
    return PageView("Costs", "costs.html", _costs(site))


def _costs(site: Site) -> Iterator[ViewBlock]:
    found, rows, players = site.stats, by_day(site), site.table()
    spent = site.tally.spent_nano / 1e9
    gained = sum(one.bits for one in found.kinds)
    possibly = sum(row.possibly_usd or 0.0 for row in players)
    probes = sum(one.most_nano for one in probe_costs(site.moment).values()) / 1e9
    held = sum(unused(site.moment).values()) / 1e9
    unknown = any(row.cost_usd is None for row in players)
    facts = [
        Fact(
            "Billed",
            dollars(spent) if spent or not unknown else "unknown",
            "plus calls of unknown cost"
            if unknown and spent
            else "every reply whose cost is known, in every role",
        ),
        Fact("Possibly billed", dollars(possibly), "at most, in addition; a budget counts both"),
        Fact("Probes before runs", dollars(probes), "small questions, in no match"),
        Fact("Hosts beyond calls", dollars(held), "start and idle time of windows, in no match"),
        Fact("Matches per dollar", rounded(site.tally.decided / spent if spent else None)),
        Fact(
            "Information gained",
            f"{rounded(gained)} bits",
            "one bit halves the error of one player's strength",
        ),
        Fact("Information per dollar", f"{rounded(gained / spent)} bits" if spent else DASH),
    ]
    shown = {"Possibly billed": possibly, "Probes before runs": probes, "Hosts beyond calls": held}
    yield Heading("Costs", 1)
    yield Facts([fact for fact in facts if shown.get(fact.title, True)])
    if spent and len({row["day"] for row in rows}) > 1:
        about = "Dollars of all matches that ended on a day (UTC)."
        yield Figure("spending", "Spend by day", about, rows, SPENT, "spending")
    yield Heading("What dollars bought")
    yield Sentence(
        "Bits are a player's part of what its matches told, shared evenly between those who met. Where "
        "judges vote at random, players seem alike, and as many matches bring fewer bits.",
        "quiet",
    )
    tables = [costs(found), kinds(found), hosted(found), billed(found)]
    yield from (linked(table) for table in tables if table.rows)


def method_page(site: Site) -> PageView:
    return PageView("Method", "method.html", _method(site))


def _method(site: Site) -> Iterator[ViewBlock]:
    own = site.settings
    values = [
        ("Ratings", own.rating.model_dump(mode="json")),
        ("Pairing", own.pairing.model_dump(mode="json")),
        ("Budget, in dollars", own.budget.model_dump(mode="json")),
        *[
            (f"Rules of {name}, where stated", stated_rules(own, name))
            for name in (() if EVERY in own.games else own.lineup)
        ],
    ]
    boards = [site.board(track) for track in site.tracks]
    every = [note for note in boards[0].notes if all(note in one.notes for one in boards[1:])]
    names = list(site.tally.players)
    yield Heading("Method", 1)
    yield Sentence(METHOD)
    yield Heading("Ratings")
    yield Notes(every, names)
    for board in boards:
        yield Heading(NAMES[board.track], 3)
        yield Notes([note for note in board.notes if note not in every], names)
    yield Heading("The verdict", 3)
    yield Sentence(VERDICT)
    yield Heading("Costs")
    yield Sentence(COSTS)
    yield Heading("Settings of this arena")
    yield from (settings(stated, title) for title, stated in values if stated)
    yield Heading("What players are asked")
    yield Sentence(FORMS)
    for role, digest, messages in forms(site):
        parts = [Program(template, note=speaker) for speaker, template in messages]
        yield Fold(f"{role} `{digest}`", parts, f"f{digest}")


def ledger_page(site: Site) -> PageView:
    return PageView("Ledger", "ledger.html", _ledger(site))


def _ledger(site: Site) -> Iterator[ViewBlock]:
    topics = sorted(site.moment.topics().items())
    yield Heading("Ledger", 1)
    yield Sentence(LEDGER)
    entries = [Fact(ENTRIES.get(topic, topic.capitalize()), whole(count)) for topic, count in topics]
    yield Facts([Fact("Records", whole(site.number)), *entries])
    yield Heading("Heads")
    yield Sentence(f"Play head: `{site.chain}`")
    if root := log_root([entry_leaf(one.position, one.about, one.digest) for one in site.moment.log()]):
        yield Sentence(f"Log root: `{root}`")
        yield Sentence(HEADS, "quiet")
    if changes := [visible(change.in_words) for change in settings_changes(site.moment)]:
        yield Heading("What was changed")
        yield Sentence(CHANGES)
        yield Notes(changes)
    if checkpoints := proofs.shown(site):
        yield Heading("Checkpoints")
        yield Sentence(CHECKPOINTS)
        yield Links([Link("The public keys", ("file", "checkpoints/keys.txt"))])
        yield Rows(checkpoints, _CHECKPOINTS, name="checkpoints")
    yield Heading("Check it")
    yield Program(CHECK)
    yield Sentence(CHAIN)
    yield Heading("Download")
    offered, there = downloads.offered(site), downloads.paths(site)
    columns = [Column("name", "File", link=lambda one: ("file", one.path)), *texts(about="What it is")]
    yield Rows(offered, columns, name="download", sorts=False)
    yield Sentence(COPY if downloads.SQLITE in there else TOO_LONG)
    if downloads.PARQUET not in there:
        yield Sentence("Parquet is offered where pyarrow is installed: `pip install pyarrow`.", "quiet")


_CHECKPOINTS = (
    Column("path", "Checkpoint", link=lambda one: ("file", one.path)),
    *numbers(whole, size="Entries", matches="Matches"),
    *texts(lambda names: ", ".join(names) or "nobody whose key is here", signed="Signed by"),
    *texts(
        lambda by: ", ".join([f"{name} ({moment(at_ms)})" for name, at_ms in by]) or "nobody yet",
        witnessed="Witnessed by",
    ),
)


def rated_by(site: Site, game: str) -> tuple[Track, ...]:
    """The tracks with a page here that matches of a game feed, its own first."""
    own = [track for track in NAMES if track in tracks_of(game)]
    return tuple(dict.fromkeys([track for track in (*own, *site.tracks) if track in (*own, *EVERY_GAME)]))


def posed(match: Match) -> list[ViewBlock] | None:
    """Return the challenge of a match, who wrote it, and what became of contestants; None when none stood."""
    texts = tasks(match.blocks)
    if not texts:
        return None
    written = [block for block in match.blocks if isinstance(block, Task)]
    accepted = next((draft for draft in match.drafts if draft.accepted), None)
    lines = {block.label: block.why for block in match.blocks if isinstance(block, ScoreLine)}
    authors = dict.fromkeys([match.players[label] for block in written for label in block.by])
    by = f"by {' and '.join(authors)}" if authors else ""
    if by and accepted and accepted.approval is not None:
        by += f", approved by {percent(accepted.approval)} of the committee"
    if by and len(match.drafts) > 1:
        by += f", after {len(match.drafts)} drafts"
    results = [
        f"{seat.player}: {': '.join(filter(None, (_result(match, seat.label), lines.get(seat.label))))}"
        for seat in match.contestants
    ]
    topic = f", {match.fixture.topic}" if match.fixture.topic else ""
    return [
        Heading(f"Match {match.number}{topic}", 3, ("match", str(match.number))),
        *[Task(text) for text in texts.values()],
        Sentence(" · ".join(filter(None, (by, *results))), "quiet"),
    ]


def _result(match: Match, label: str) -> str:
    scores = match.outcome.scores
    score = scores.get(label)
    if score is None:
        return match.status
    shared = list(scores.values()).count(match.best) > 1
    return ("tied" if shared else "won") if score == match.best else "lost"


def by_day(site: Site) -> list[dict[str, Any]]:
    """Dollars by day and game, in order of days."""
    return [
        {"day": (EPOCH + timedelta(days)).isoformat(), "game": game, "dollars": nano / 1e9}
        for days, games in sorted(site.tally.days.items())
        for game, nano in sorted(games.items())
    ]


def forms(site: Site) -> list[tuple[Role, str, tuple[tuple[str, str], ...]]]:
    """Every form of request on record by role: the first digits of its digest, and its messages."""
    found = []
    for digest, text in site.moment.texts().items():
        if text.startswith(FORM):
            with suppress(msgspec.MsgspecError):  # something else that begins like one
                found.append((read_form(text)[0], digest.hex()[:12], read_templates(text)))
    return sorted(found)


def stated_rules(settings: ArenaSettings, game: str) -> dict[str, Any]:
    """A game's rules as stated; of a list to draw from, such as the owner's tasks, how long it is."""
    spec = installed(game)
    if spec is None or game not in settings.lineup:  # which of its rules are the owner's alone it says itself
        return {}
    lists = spec.files

    def shown(name: str, value: Any) -> Any:
        return f"{len(value):,} of the owner's own" if name in lists and isinstance(value, list) else value

    return {name: shown(name, value) for name, value in settings.lineup[game].rules.items()}
