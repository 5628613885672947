"""Laws of the duel that hold for any settings and replies; the conformance suite holds the common ones."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.offline import Played, agreeable, check, choose, fixture, play, scripted

from peerage.game.protocol import Ask
from peerage.games.duel import GAME as DUEL
from peerage.games.duel.play import draw
from peerage.games.duel.rules import DuelRules

PLAYERS = [f"p{at}" for at in range(9)]


@given(st.integers(1, 40), st.integers(0, 30), st.text(max_size=9))
def test_every_block_of_matches_draws_every_stratum_once(count: int, block: int, arena: str) -> None:
    names = [f"t{at}" for at in range(count)]
    rules = DuelRules.model_validate({"topics": names})
    numbers = range(block * count + 1, (block + 1) * count + 1)
    assert sorted([draw(rules, arena, number)["topic"] for number in numbers]) == sorted(names)


VERDICTS = st.lists(st.sampled_from(["A", "B", "tie", "none"]), min_size=10, max_size=10)
RULES = st.fixed_dictionaries(
    {
        "binary": st.booleans(),
        "epsilon": st.floats(0, 0.4),
        "weights": st.sampled_from(["softmax", "proportional", "equal"]),
    }
)


@settings(max_examples=60, deadline=None)
@given(VERDICTS, RULES, st.lists(st.floats(0, 3000), min_size=5, max_size=5))
def test_naming_the_answers_the_other_way_round_mirrors_the_duel(
    verdicts: list[str], rules: dict[str, Any], ratings: list[float]
) -> None:
    """Judges see positions only: with every verdict turned round, A and B change places and nothing else."""

    def outcome(turned: bool) -> Played:
        said = iter(verdicts)

        def script(ask: Ask, player: str) -> str:
            if ask.role != "judge" or ask.key.endswith("~repair"):
                return agreeable(ask, player) if ask.role != "judge" else "none"
            verdict = next(said)
            return choose(ask, {"A": "B", "B": "A"}.get(verdict, verdict) if turned else verdict)

        raw = dict(zip(PLAYERS[2:7], ratings, strict=True))
        return play(DUEL, fixture(DUEL, PLAYERS, rules, raw=raw), scripted(script))

    straight, turned = outcome(False), outcome(True)
    check(DUEL, straight)
    assert straight.outcome.void == turned.outcome.void
    if not straight.outcome.void:
        assert straight.outcome.scores["A"] == turned.outcome.scores["B"]
        assert sum(straight.outcome.scores.values()) == 1
    for one, other in zip(straight.outcome.detail["ballots"], turned.outcome.detail["ballots"], strict=True):
        assert (one["flipped"], one["weight"]) == (other["flipped"], other["weight"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["approve", "object", "none"]), min_size=1, max_size=60),
    st.integers(0, 20).map(lambda share: share / 20),
    st.integers(1, 4),
)
def test_a_challenge_stands_exactly_when_enough_valid_votes_approve(
    votes: list[str], approval: float, max_drafts: int
) -> None:
    at = {"vote": 0}

    def script(ask: Ask, player: str) -> str:
        if ask.role != "committee":
            return agreeable(ask, player)
        if ask.key.endswith("~repair"):
            return "none"
        at["vote"] += 1
        return choose(ask, votes[at["vote"] % len(votes)])

    rules = {"approval": approval, "max_drafts": max_drafts}
    played = play(DUEL, fixture(DUEL, PLAYERS, rules), scripted(script))
    check(DUEL, played)
    drafts = played.outcome.detail["drafts"]
    for draft in drafts:
        said = list(draft["votes"].values())
        valid = [vote for vote in said if vote != "invalid"]
        enough = valid and len(valid) >= 0.5 * len(said) - 1e-9
        stands = enough and valid.count("approve") >= approval * len(valid) - 1e-6
        assert draft["accepted"] == bool(stands)
    assert not any(draft["accepted"] for draft in drafts[:-1])
    assert drafts[-1]["accepted"] or (played.outcome.void == "no_challenge" and len(drafts) == 2 * max_drafts)
