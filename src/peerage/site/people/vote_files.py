"""People's votes on recorded duels from a file in LMArena's columns, and back into one.

A row is `model_a`, `model_b`, `winner` (`model_a`, `model_b`, `tie`, `both_bad` and its spellings) and who
voted: `judge`, or `evaluation_session_id`. Which duel it is on is told by `question_id`, the number of the
match, as `peerage export --format votes` writes it, with its two players; or by the answers themselves, in
`conversation_a` and `conversation_b` (turns with `role` and `content`), word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple
from unicodedata import normalize

import msgspec

from peerage.engine.record.registration import registered
from peerage.ledger import Ledger
from peerage.ledger.topics.votes import BOTH_BAD, SKIPPED, TIE, PeopleVotes, Vote, expert_voter
from peerage.ratings.read.forms import Form, at
from peerage.ratings.read.report import ReadingReport, Row, RowError, as_name, needed, short
from peerage.ratings.read.results import rows
from peerage.ratings.read.words import BOTH_BAD as BAD_TIE
from peerage.ratings.read.words import NO_RESULT, SCORES, verdict_of
from peerage.reading.moment import public
from peerage.reading.verdicts.people import Finished, cited, finished
from peerage.reading.verdicts.votes import judged_duels
from peerage.reading.verdicts.votes import votes as cast_by_judges
from peerage.settings.players.model_names import is_person
from peerage.site.people.ballots import ballot
from peerage.values.texts import storable, visible


class Taken(NamedTuple):
    """A file as read: votes `written`, those on record `before`, `strange` rows, such as `example`."""

    written: int
    before: int
    strange: int
    example: str


def take_in(ledger: Ledger, votes: PeopleVotes, stream: BinaryIO, name: str, at_ms: int) -> Taken:
    """Add the votes of a file, all or none. Raises DataError for rows that cannot be read, LedgerError."""
    duels, report = _Duels(ledger), ReadingReport()
    found: list[Vote] = []
    strange, example = 0, ""
    for row, form in rows(stream, name, report, "battles"):
        with report:
            vote = _vote(row, form, duels, name)
            if vote is None:
                strange, example = strange + 1, example or report.place
            else:
                found.append(vote)
    report.check()
    written = votes.cast_all(found, at_ms)
    return Taken(written, len(found) - written, strange, example)


def _vote(row: Row, form: Form, duels: _Duels, file: str) -> Vote | None:
    """The vote of a row; None when its duel is not here."""
    a, b = [as_name(needed(row, column), column) for column in ("model_a", "model_b")]
    given = verdict_of(row, a, b, form.words, form.ending)
    if given == NO_RESULT:
        needed({"winner": ""}, "winner")
    if not isinstance(given, str) or given not in SCORES:
        raise RowError(f"found {short(row.get('winner'))}, expected {', '.join(SCORES)}", "winner")
    who = str(row.get("judge") or f"file {file}")
    who = normalize("NFC", " ".join(visible(storable(who)).split()))[:200]
    on = duels.of(row, a, b)
    if on is None:
        return None
    match, shown = on
    if took_part := duels.took_part(who, match):
        raise RowError(
            f"{short(who)} is {took_part}: expected the vote of a person who had no part in it, with its "
            "name in `judge`"
        )
    verdict = {"model_a": shown[0], "model_b": shown[1], BAD_TIE: BOTH_BAD}.get(given, TIE)
    record = duels.known[match].record
    return Vote(match, record, shown, verdict, expert_voter(who), expert=who)


class _Duels:
    """The duels on which judges voted, by number and by their answers."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = public(ledger)
        cast = cast_by_judges(self._ledger, judged_duels(self._ledger), {})
        self.judges: dict[int, set[str]] = {}
        for match, judge in zip(cast.matches.tolist(), cast.judge.tolist(), strict=True):
            self.judges.setdefault(match, set()).add(cast.judges[judge])
        self.known: dict[int, Finished] = {}
        cards = registered(self._ledger)
        self._models = {name for name, card in cards.items() if not is_person(str(card.get("model", "")))}
        self._by_answers: dict[frozenset[str], list[tuple[int, dict[str, str], str]]] | None = None

    def of(self, row: Mapping[str, Any], a: str, b: str) -> tuple[int, tuple[str, str]] | None:
        """The match of a row, and the labels of its first and second answer; None where it is not here."""
        named = str(row.get("question") or "")
        number = int(named) if named.isdecimal() and len(named) < 20 else 0
        if number in self.judges:
            labels = {player: label for label, player in self._finished(number).players.items()}
            if labels.keys() == {a, b}:
                return number, (labels[a], labels[b])
        texts = [_turn(row.get(f"conversation_{side}"), "assistant") for side in "ab"]
        if not all(texts):
            return None
        there = self._answers().get(frozenset(texts), [])
        asked = _turn(row.get("conversation_a"), "user", last=False)
        if len(there) > 1:
            there = [one for one in there if one[2] in asked]
        if len(there) != 1 or texts[0] == texts[1]:
            return None
        match, by_text, _ = there[0]
        self._finished(match)
        return match, (by_text[texts[0]], by_text[texts[1]])

    def took_part(self, who: str, match: int) -> str:
        """Return what `who` is that may not vote on this match as a person; empty where it may."""
        if who in self.judges[match]:
            return f"a judge of match {match} itself"
        if who in self.known[match].players.values():
            return f"a contestant of match {match} itself"
        return "a model that plays here" if who in self._models else ""

    def _finished(self, number: int) -> Finished:
        if number not in self.known:
            found = finished(self._ledger, number)
            assert found is not None
            self.known[number] = found
        return self.known[number]

    def _answers(self) -> dict[frozenset[str], list[tuple[int, dict[str, str], str]]]:
        if self._by_answers is None:
            self._by_answers = {}
            for number in self.judges:
                found = ballot(self._ledger, number)
                if found is not None:
                    by_text = {text.strip(): label for label, text in found.answers.items()}
                    asked = "\n".join(found.challenge.values()).strip()
                    self._by_answers.setdefault(frozenset(by_text), []).append((number, by_text, asked))
        return self._by_answers


def _turn(conversation: Any, role: str, *, last: bool = True) -> str:
    """The last (or first) text of a role in a conversation, which may be an answer alone."""
    turns = at(conversation, "*")
    if not isinstance(turns, list):
        return conversation.strip() if isinstance(conversation, str) and role == "assistant" else ""
    of = [turn for turn in turns if isinstance(turn, dict) and turn.get("role") == role]
    return (at(of[-1 if last else 0], "$text") or "").strip() if of else ""


def written(ledger: Ledger, votes: Iterable[Vote]) -> Iterator[str]:
    """People's votes that cite a record that stands as lines of JSON, in LMArena's columns; those skipped and
    those given once more are left out. Raises LedgerError."""
    given = [vote for vote in votes if vote.verdict != SKIPPED and vote.take == 1]
    known = cited(ledger, given)
    for vote in given:
        match = known.get(vote.match)
        if match is None or not match.fits(vote):
            continue
        first, second = vote.shown
        winner = {first: "model_a", second: "model_b", TIE: "tie", BOTH_BAD: "tie (bothbad)"}[vote.verdict]
        row = {
            "question_id": str(vote.match),
            "model_a": match.players[first],
            "model_b": match.players[second],
            "winner": winner,
            "judge": vote.expert or vote.voter,
            "tstamp": vote.at_ms / 1000,
        }
        yield f"{msgspec.json.encode(row).decode()}\n"
