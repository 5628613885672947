"""Recorded answers judged again, through the whole engine: issued, resumed, verified, replayed."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.engine.arenas import head, ledger_of, paced, play, play_stopping_at, write_arena

from peerage.arena import open_arena
from peerage.engine.again.rejudge import Issued, authors_in, issue, recorded_answers, rules_like
from peerage.game.media import Media
from peerage.games.duel.rules import DuelRules
from peerage.games.rejudge import RecordedAnswers, RejudgeRules
from peerage.ledger import Batch, LedgerError, open_ledger
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ratings.sequential.elo import EloSettings
from peerage.reading.matches import Matches
from peerage.settings import PlayerSettings, rules_of
from peerage.standings.fold import NOBODY, after_all
from peerage.views.match.match import tasks

MATCHES = 20
PANEL = ("house:0.9", "house:0.95")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("rejudge") / "first", 7)
    play(folder, MATCHES)
    return folder


def panel(*models: str) -> list[PlayerSettings]:
    return [PlayerSettings(model=model) for model in models]


def again(source: Path, folder: Path, judges: tuple[str, ...] = PANEL, limit: int | None = None) -> Issued:
    """An arena of recorded answers in `folder`, its fixtures issued."""
    folder.mkdir(parents=True, exist_ok=True)
    with open_arena(source, create=False) as first:
        rules = rules_like(first.settings.game, rules_of(first.settings))
        text = {
            "seed": 1,
            "game": "rejudge",
            "players": list(judges),
            "rules": rules.model_dump(mode="json"),
        }
        (folder / "arena.yaml").write_text(yaml.safe_dump(text), "utf-8")
        target = open_ledger("sqlite:///arena.db", folder, create=True)
        try:
            with target.runner():
                return issue(
                    recorded_answers(first.ledger, rules),
                    authors_in(first.ledger),
                    target,
                    rules,
                    panel(*judges),
                    secret="1",
                    limit=limit,
                )
        finally:
            target.close()


def issued(folder: Path) -> list[RecordedAnswers]:
    ledger = ledger_of(folder)
    try:
        texts = by_hex(ledger.texts())
        return [
            msgspec.convert(read_fixture(row.body, texts).drawn, RecordedAnswers) for row in ledger.fixtures()
        ]
    finally:
        ledger.close()


def test_items_are_what_the_first_panel_saw(source: Path) -> None:
    with open_arena(source, create=False) as arena:
        found = list(recorded_answers(arena.ledger, RejudgeRules()))
        assert len(found) > MATCHES / 2
        for item in found:
            match = arena.match(item.source)
            said = {one.key.removesuffix("~repair"): one.reply for one in match.exchanges}
            assert item.answers == {label: said[f"answer/{label}"][:8000] for label in "AB"}
            assert item.given["question"].text == tasks(match.blocks)["question"]
            assert item.given["question"].label
            assert item.authors == {label: match.player(label) for label in "AB"}
            assert item.first.get("A") == match.scores.get("A")
            assert item.record == match.digests.record
            assert all("quality" in item.hidden[label] for label in "AB")
        judged = [n for n in range(1, MATCHES + 1) if Matches(arena.ledger).match(n).ballots]
        assert [item.source for item in found] == judged


def test_an_interrupted_run_asks_nothing_twice_and_ends_the_same(source: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    count = again(source, whole).fixtures
    again(source, cut)
    report = play(whole, count)
    assert (report.reason, report.settled) == ("limit", count)
    play_stopping_at(cut, count, 2.0, paced(3))
    assert 0 < head(cut)[0] < count
    assert again(source, cut).fixtures == count, "nothing is issued a second time"
    play(cut, count, clients=paced(4))
    assert head(cut) == head(whole)
    with open_arena(whole, create=False) as arena:
        assert arena.verify().ok
        assert arena.replay().ok
        assert arena.replay().recomputed == count
        assert {call.role for n in range(1, count + 1) for call in arena.match(n).exchanges} == {"judge"}
        assert all(row.matches == 0 for row in arena.leaderboard()), "no track moves"
        folded = after_all(NOBODY, arena.ledger.summaries(), EloSettings())
        assert folded == msgspec.structs.replace(NOBODY, number=count), "nobody's standing either"


def test_a_run_without_a_limit_ends_where_the_answers_do(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    count = again(source, folder, limit=4).fixtures
    assert count == 4
    report = play(folder, None)
    assert (report.reason, report.settled) == ("limit", 4)


def test_a_sample_grows_and_keeps_what_it_had(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    again(source, folder, limit=5)
    first = issued(folder)
    play(folder, 5)
    assert again(source, folder, limit=9).fixtures == 9
    assert [item.source for item in issued(folder)[:5]] == [item.source for item in first]
    assert len({item.source for item in issued(folder)}) == 9
    assert play(folder, 9).settled == 9
    assert again(source, folder, limit=3).fixtures == 9


def test_nobody_judges_its_own_answer_by_name_or_by_model(source: Path, tmp_path: Path) -> None:
    """Player p6 is house:0.90 by model: neither it nor its double sits where it answered."""
    folder = tmp_path / "again"
    found = again(source, folder, ("house:0.90", "house:1"))
    ledger = ledger_of(folder)
    try:
        texts = by_hex(ledger.texts())
        fixtures = [read_fixture(row.body, texts) for row in ledger.fixtures()]
    finally:
        ledger.close()
    assert found.unjudgeable == 0
    mine = [made for made in fixtures if "p6" in made.drawn["authors"].values()]
    assert mine
    for made in fixtures:
        names = [seat.player for seat in made.officials["judge"]]
        assert sorted(names) == (["house:1"] if made in mine else ["house:0.90", "house:1"])
    alone = again(source, tmp_path / "alone", ("house:0.90",))
    assert alone.unjudgeable == len(mine)
    assert alone.fixtures == alone.judged - len(mine)


def test_rules_are_those_of_the_first_panel_but_for_weights() -> None:
    rules = rules_like("duel", DuelRules(order="one", binary=True, epsilon=0.1, weights="proportional"))
    assert (rules.order, rules.binary, rules.epsilon) == ("one", True, 0.1)
    assert rules.panel(10).weights == "equal"


def test_a_prompt_that_somebody_altered_is_told(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_arena(source, create=False) as arena:
        texts = arena.ledger.texts()
        broken = {digest: text.replace("{answer_a}", "{answer_a} {mine}") for digest, text in texts.items()}
        monkeypatch.setattr(arena.ledger, "texts", lambda: broken)
        with pytest.raises(LedgerError, match="the judges' prompt cannot be used"):
            list(recorded_answers(arena.ledger, RejudgeRules()))


def test_answers_judged_by_a_panel_and_by_scores_are_not_mixed(source: Path, tmp_path: Path) -> None:
    again(source, tmp_path / "again", limit=2)
    ledger = ledger_of(tmp_path / "again")
    try:
        with pytest.raises(LedgerError, match=r"match 1 is judged by panel, and rules.by .* is scores"):
            issue(
                (),
                lambda judge, author: False,
                ledger,
                RejudgeRules(by="scores"),
                panel("house:1"),
                secret="1",
            )
    finally:
        ledger.close()


def test_answers_that_were_judged_again_are_not_judged_a_third_time(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    play_count: Any = again(source, folder, limit=2).fixtures
    play(folder, play_count)
    assert again(folder, tmp_path / "third") == Issued(0, 0, 0)


def test_judges_are_shown_the_pictures_again(source: Path, tmp_path: Path) -> None:
    cats = b"cat" * 99
    cat = Media(sha256(cats).hexdigest(), "image/png", len(cats), 9, 9)
    with open_arena(source, create=False) as first:
        one = next(iter(recorded_answers(first.ledger, RejudgeRules())))
    given = {place: msgspec.structs.replace(text, text=cat.mark) for place, text in one.given.items()}
    asked = [msgspec.structs.replace(one, given=given, record=record * 64) for record in "ab"]
    with closing(open_ledger("sqlite:///shown.db", tmp_path, create=True)) as shown, shown.runner():
        shown.write(Batch(media=[(bytes.fromhex(cat.sha256), cats)]))
        with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as target, target.runner():
            issue(
                asked,
                lambda judge, author: False,
                target,
                RejudgeRules(),
                panel(*PANEL),
                secret="1",
                shown=shown,
            )
            assert target.media(target.media_digests()) == {cat.sha256: cats}
