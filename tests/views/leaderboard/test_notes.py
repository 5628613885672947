"""Notes below a leaderboard."""

from peerage.views.leaderboard.notes import maker_of, of_makers

FAMILIES = {"a1": "acme/alpha", "a2": "acme/alpha", "a3": "acme/beta", "z1": "zeta/z", "own": ""}


def test_a_maker_that_keeps_the_best_of_its_tries_is_named() -> None:
    assert maker_of("openai/gpt") == "openai"
    agents = ("http://a.example/", "https://b.example/x", "command:./agents/fast")
    assert [maker_of(agent) for agent in agents] == list(agents)
    assert list(of_makers(FAMILIES, ["a1", "z1"], ["a1", "a2", "a3", "z1"])) == [
        "acme entered 3 players, of which 1 is still listed; withdrawn: a2, a3. The best of several tries "
        "looks better than it is"
    ]
    assert not list(of_makers(FAMILIES, ["a1", "a2"], ["a1", "a2", "z1"])), "nobody is left of zeta"
