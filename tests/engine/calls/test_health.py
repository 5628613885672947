"""Failures in a row, pauses, the bench: by the clock that is passed in."""

from __future__ import annotations

from tests.engine.arenas import patience

from peerage.engine.calls.pauses import Health


@patience(PAUSE_MAX_S=10.0, BENCH_AFTER=7)
def test_pauses_begin_with_the_second_failure_and_double_up_to_the_longest() -> None:
    health = Health()
    pauses, now = [], 0.0
    for _ in range(7):
        assert not health.hopeless
        now += 100.0
        pauses.append(health.failed(now, sent=now - 1.0))
    assert pauses == [0.0, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert health.hopeless


def test_calls_that_were_under_way_together_fail_once() -> None:
    health = Health()
    assert [health.failed(10.0 + n / 10, sent=float(n)) for n in range(9)] == [0.0] * 9
    assert health.failures == 1
    assert not health.down
    assert health.failed(30.0, sent=20.0) == 1.0
    assert health.down


def test_whoever_answers_begins_again_and_a_call_sent_before_that_counts_for_nothing() -> None:
    health = Health()
    health.failed(1.0, sent=0.0)
    health.failed(3.0, sent=2.0)
    health.worked(5.0)
    assert (health.failures, health.down) == (0, False)
    assert health.failed(6.0, sent=4.0) == 0.0
    assert health.failures == 0
    health.failed(9.0, sent=7.0)
    assert health.failures == 1


def test_one_call_in_twenty_never_pauses_a_player_that_answers_the_others() -> None:
    health = Health()
    for n in range(1, 2000):
        if n % 20:
            health.worked(float(n))
        else:
            assert health.failed(float(n), sent=n - 5.0) == 0.0
    assert health.failures == 0
