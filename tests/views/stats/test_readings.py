import pytest

from peerage.game.match import Fixture, Outcome, Seat
from peerage.ratings.sequential.elo import EloSettings
from peerage.reading.observations import stated_readings as read
from peerage.views.stats.readings import ReadingStats, readings

ELO = EloSettings(k_factor=32, propagation_width=None)


def fixture(number: int, *players: str) -> Fixture:
    seats = tuple(Seat(label, player) for label, player in zip("ABC", players, strict=False))
    return Fixture(number, 1, "color-obfuscation", 1, "", seats, {}, {})


def outcome(attacker: float, ignore: float, void: str = "") -> Outcome:
    both = {"attacker": {"A": attacker, "B": 1 - attacker}, "ignore": {"A": ignore, "B": 1 - ignore}}
    return Outcome(void=void, detail={"readings": both})


def tables(*matches: tuple[Fixture, Outcome]) -> tuple[ReadingStats, ...]:
    return readings([stated for match in matches if (stated := read(*match)) is not None], ELO)


def test_every_reading_has_a_table_over_the_same_matches() -> None:
    rows = tables(
        (fixture(1, "Ann", "Bob"), outcome(0, 0.5)),
        (fixture(2, "Bob", "Cy"), outcome(1, 1)),
        (fixture(3, "Cy", "Ann"), outcome(0.5, 0, void="broken_encoding")),
        (fixture(4, "Ann", "Cy"), Outcome(void="no_answer")),
        (fixture(5, "Ann", "Bob", "Cy"), outcome(1, 1)),
    )
    assert [
        (row.reading, row.rank, row.player, row.matches, row.wins, row.draws, row.losses) for row in rows
    ] == [
        ("attacker", 1, "Bob", 2, 2, 0, 0),
        ("attacker", 2, "Cy", 2, 0, 1, 1),
        ("attacker", 3, "Ann", 2, 0, 1, 1),
        ("ignore", 1, "Bob", 2, 1, 1, 0),
        ("ignore", 2, "Ann", 2, 1, 1, 0),
        ("ignore", 3, "Cy", 2, 0, 0, 2),
    ]
    assert sum(row.rating for row in rows) == pytest.approx(6 * 1500)
    assert rows[3].rating == 1516


def test_equal_ratings_share_a_rank_and_no_readings_give_no_table() -> None:
    assert tables() == ()
    rows = tables((fixture(1, "Bob", "Ann"), outcome(0.5, 1)))
    assert [(row.rank, row.player) for row in rows][:2] == [(1, "Ann"), (1, "Bob")]
