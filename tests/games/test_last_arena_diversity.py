from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.games.last_arena.diversity import fresh, grams, spread

TEXTS = st.text(max_size=40)


def overlap(first: Counter[str], second: Counter[str]) -> float:
    """Jaccard's index of multisets, straight from its definition."""
    return (first & second).total() / (first | second).total()


def test_grams_by_hand() -> None:
    assert grams("Ab, c!") == {" ab ": 1, "ab c": 1, "b c ": 1}
    assert grams("AB C") == grams("ab-c")
    assert grams("") == grams("!?") == {"  ": 1}


def test_overlap_by_hand() -> None:
    assert overlap(grams("abcd"), grams("abcd")) == 1
    assert overlap(grams("abcd"), grams("wxyz")) == 0
    # " abc", "abcd", "bcd " against " abc", "abce", "bce ": one of five
    assert overlap(grams("abcd"), grams("abce")) == pytest.approx(1 / 5)


def test_near_duplicates_are_found_whatever_their_letters_and_marks() -> None:
    first = "Why does bread brown in the oven but not in the steamer?"
    texts = [first, "WHY does bread brown in the oven, but not in the steamer", "Why do cats purr?"]
    assert fresh(texts, 0.7) == [True, False, True]
    assert fresh(texts, 0.7, known=[texts[2]]) == [True, False, False]
    assert fresh(["这个问题很难吗?", "这个问题很难吗!", "今天的天气怎么样?"], 0.7) == [True, False, True]


def test_spread_by_hand() -> None:
    found = spread({"A": ["abcd", "abcd"], "B": ["efgh", "ijkl"], "C": ["mnop"], "D": []})
    assert found["A"] == pytest.approx(0)
    assert found["B"] == pytest.approx(1)
    assert found["C"] is found["D"] is None
    assert spread({"A": ["same", "same"]}) == {"A": 0}


def test_varied_questions_are_spread_more_widely_than_variations() -> None:
    varied = ["Why do cats purr?", "Is lying ever kind?", "How large is a cloud's weight?"]
    alike = [f"How many {thing} fit into a bus?" for thing in ("balls", "books", "boots")]
    found = spread({"varied": varied, "alike": alike})
    assert found["varied"] > found["alike"] + 0.2  # type: ignore[operator]


@given(st.lists(TEXTS, max_size=6), st.floats(0.1, 1))
def test_what_is_kept_has_no_near_duplicates_and_what_goes_has_one(texts: list[str], least: float) -> None:
    kept = [text for text, is_fresh in zip(texts, fresh(texts, least), strict=True) if is_fresh]
    assert all(overlap(grams(a), grams(b)) < least for at, a in enumerate(kept) for b in kept[at + 1 :])
    for text, is_fresh in zip(texts, fresh(texts, least), strict=True):
        assert is_fresh or any(overlap(grams(text), grams(one)) >= least for one in kept)


@given(st.dictionaries(st.sampled_from("ABC"), st.lists(TEXTS, max_size=5)))
def test_spread_agrees_with_the_plain_mean_over_pairs(texts: dict[str, list[str]]) -> None:
    import math

    everything = [grams(text) for own in texts.values() for text in own]

    def vector(text: str) -> dict[str, float]:
        return {
            gram: count * math.log(len(everything) / sum(gram in one for one in everything))
            for gram, count in grams(text).items()
        }

    def cosine(a: dict[str, float], b: dict[str, float]) -> float:
        lengths = math.hypot(*a.values()) * math.hypot(*b.values())
        blank = not any(a.values()) and not any(b.values())
        return sum(a[gram] * b.get(gram, 0) for gram in a) / lengths if lengths else float(blank)

    for author, found in spread(texts).items():
        own = [vector(text) for text in texts[author]]
        pairs = [cosine(a, b) for at, a in enumerate(own) for b in own[at + 1 :]]
        if found is None:
            assert len(own) < 2
        else:
            assert found == pytest.approx(1 - sum(pairs) / len(pairs), abs=1e-9)
