"""Judges that an arena names: they judge, are priced and on record, and never play."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.engine.again.test_rejudge import again
from tests.engine.arenas import SMALL, house, ledger_of, play, write_arena
from tests.engine.run.test_people import clients, somebody

from peerage.arena import open_arena
from peerage.engine.record.registration import registered
from peerage.formats import Choices
from peerage.formats.forms import fields, reply
from peerage.game.match import Fixture
from peerage.ledger.forms.codec import by_hex, read_fixture, read_record
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.house import HouseClient
from peerage.settings import PlayerSettings

PRICE = {"input": 1.0, "output": 4.0}
JUDGES = [{"name": f"j{at}", "model": "house:0.9", "price": PRICE} for at in range(3)]
RULES = {key: value for key, value in SMALL.items() if key != "judges"}


def arena(folder: Path, judges: list[Any] = JUDGES, **sections: Any) -> Path:
    return write_arena(folder, house(5), judges=judges, **{"rules": RULES, **sections})


def fixtures(folder: Path) -> list[Fixture]:
    with closing(ledger_of(folder)) as ledger:
        texts = by_hex(ledger.texts())
        return [read_fixture(row.body, texts) for row in ledger.fixtures()]


def test_they_judge_by_turns_and_nothing_else(tmp_path: Path) -> None:
    play(arena(tmp_path, judging={"judges": 2}), 24)
    judged: Counter[str] = Counter()
    for fixture in fixtures(tmp_path):
        others = {seat.player for seat in fixture.all_seats() if not seat.label.startswith("judge/")}
        judges = [seat.player for seat in fixture.officials["judge"]]
        assert others <= {f"p{at}" for at in range(5)}
        assert len(set(judges)) == 2
        judged.update(judges)
    assert judged.keys() == {"j0", "j1", "j2"}
    assert max(judged.values()) - min(judged.values()) <= 2
    with open_arena(tmp_path) as opened:
        assert opened.replay().differences == ()
        assert {row.player for row in opened.leaderboard().rows} == {f"p{at}" for at in range(5)}
        records = [read_record(row.body) for row in opened.ledger.records()]
    ballots = [ballot for one in records for ballot in one.outcome.detail.get("ballots", ())]
    assert {ballot["weight"] for ballot in ballots} <= {0.5, 1.0, 0.0}


def test_they_are_priced_counted_and_registered_as_judges(tmp_path: Path) -> None:
    play(arena(tmp_path), 6)
    with open_arena(tmp_path) as opened:
        paid = {row.player: row.cost_usd for row in opened.stats().players}
        assert all(paid[f"j{at}"] > 0 for at in range(3))
        assert paid["p0"] == 0
        planned = {row.name: row.expected_usd for row in opened.plan(10).players}
        assert all((planned[f"j{at}"] or 0) > 0 for at in range(3))
        roles = {name: card.get("role") for name, card in registered(opened.ledger).items()}
    assert roles == {f"j{at}": "judge" for at in range(3)} | {f"p{at}": None for at in range(5)}


def test_a_budget_holds_their_calls(tmp_path: Path) -> None:
    report = play(arena(tmp_path, budget=0.05), None)
    assert report.reason == "budget"
    assert 0.02 < (report.billed_nano + report.possibly_nano) / 1e9 <= 0.05


class Down(HouseClient):
    async def answer(self, call: Call) -> Answer:
        raise PlayerError("there is no such model", kind="permanent")

    def answer_now(self, call: Call) -> Answer:
        raise PlayerError("there is no such model", kind="permanent")


def test_one_that_fails_is_left_out_and_with_the_last_the_run_ends(tmp_path: Path) -> None:
    def opened(out: str) -> Any:
        def client(settings: PlayerSettings) -> HouseClient:
            return (Down if settings.name in out.split() else HouseClient)(settings)

        return client

    play(arena(tmp_path / "one", judging={"judges": 1}), 40, clients=opened("j1"))
    later = [fixture.officials["judge"][0].player for fixture in fixtures(tmp_path / "one")[-8:]]
    assert {*later} == {"j0", "j2"}
    report = play(arena(tmp_path / "all", pairing={"window": 2}), None, clients=opened("j0 j1 j2"))
    assert report.note == "no judge is left"


def test_a_person_judges(tmp_path: Path) -> None:
    judging = {"criteria": ["correct", {"name": "tone", "weight": 0.5}]}
    folder = arena(tmp_path, judges=["human:ada"], seed=None, pairing={"window": 2}, judging=judging)
    with somebody(folder, "ada") as asked, open_arena(folder) as opened:
        opened.run(3, clients=clients(folder))
    assert len(asked) >= 6
    assert all(fixture.officials["judge"][0].player == "ada" for fixture in fixtures(folder))


def test_a_person_judges_by_each_criterion_in_a_form() -> None:
    """The terminal and the page of a seat ask by the same form."""
    form = fields(Choices(("correct", "tone"), ("A", "B", "tie")))
    assert [one.name for one in form] == ["reason", "correct", "tone"]
    said = reply(Choices(("correct", "tone"), ("A", "B", "tie")), {"correct": "B", "tone": "tie"})
    assert Choices(("correct", "tone"), ("A", "B", "tie")).parse(said).choices == {
        "correct": "B",
        "tone": "tie",
    }


def test_others_judge_again_by_the_same_criteria(tmp_path: Path) -> None:
    judging = {"criteria": ["correct", {"name": "tone", "weight": 2}], "ties": False}
    first = arena(
        tmp_path / "first", game="tasks", rules={"tasks": ["Say why."], "samples": "fresh"}, judging=judging
    )
    play(first, 6)
    made = again(first, tmp_path / "again", ("house:0.6",))
    play(tmp_path / "again", made.fixtures)
    with closing(ledger_of(tmp_path / "again")) as ledger:
        details = [read_record(row.body).outcome.detail for row in ledger.records()]
    assert details
    assert all(
        {*one["ballots"][0]["criteria"]} == {"correct", "tone"} == {*one["criteria"]} for one in details
    )
