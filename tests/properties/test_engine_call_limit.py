"""Laws of the limit of calls in flight, whatever comes back in whatever order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from peerage.engine.calls.call_limit import LONGEST_REST, CallLimit, Load

loads = st.one_of(
    st.none(),
    st.floats(0, 1e4).map(Load),
    st.sampled_from([Load(overload="429"), Load(overload="late", late=True)]),
)
steps = st.lists(st.tuples(st.booleans(), st.integers(0, 40), st.floats(0, 100), loads), max_size=300)


class Callers:
    """Calls to one capacity, in flight since the seconds `sent`."""

    def __init__(self, limit: CallLimit) -> None:
        self.limit = limit
        self.now = 0.0
        self.sent: list[float] = []

    def send(self) -> None:
        if not self.limit.full:
            self.limit.left()
            self.sent.append(self.now)

    def fill(self) -> None:
        while not self.limit.full:
            self.send()

    def take(self, place: int, load: Load | None) -> None:
        if self.sent:
            self.limit.returned(self.now, self.sent.pop(place % len(self.sent)), load)


@given(st.integers(1, 64), st.integers(0, 64), steps)
def test_the_limit_stays_within_one_and_its_bound_and_counts_what_is_in_flight(
    first: int, more: int, steps: list[tuple[bool, int, float, Load | None]]
) -> None:
    callers = Callers(CallLimit(first, first + more))
    for fill, place, seconds, load in steps:
        callers.now += seconds
        if fill:
            callers.fill()
        else:
            callers.send()
        callers.take(place, load)
        assert 1 <= callers.limit.limit <= first + more
        assert callers.limit.in_flight == len(callers.sent)


@given(st.integers(1, 8), st.integers(8, 64), steps)
def test_after_any_past_a_provider_that_bears_all_gets_all_again(
    first: int, most: int, steps: list[tuple[bool, int, float, Load | None]]
) -> None:
    limit = CallLimit(first, most)
    callers = Callers(limit)
    for fill, place, seconds, load in steps:
        callers.now += seconds
        if fill:
            callers.fill()
        callers.take(place, load)
    for _ in range(6 * LONGEST_REST):
        callers.fill()
        callers.now += 1.0
        for _ in range(len(callers.sent)):
            callers.take(0, Load(1.0))
        if limit.limit == most:
            return
    raise AssertionError(f"{limit.limit} of {most}, {limit.why}")
