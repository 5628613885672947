"""Similarity of texts: near-duplicates, and the spread of an author's texts.

Both compare sequences of four characters (Damashek, "Gauging similarity with n-grams", Science 267, 1995):
no download, no word list, and no language for which they do not work.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

GRAM = 4
"""Characters that stand in one sequence."""

_GAP = re.compile(r"[\W_]+")


def grams(text: str) -> Counter[str]:
    """Count each sequence of `GRAM` characters in `text`: without case, and with every run of anything but
    letters and digits as one space."""
    plain = f" {_GAP.sub(' ', text.casefold()).strip()} "
    return Counter(plain[at : at + GRAM] for at in range(max(1, len(plain) - GRAM + 1)))


def fresh(texts: Sequence[str], threshold: float, known: Sequence[str] = ()) -> list[bool]:
    """Return whether each text, in this order, overlaps by less than `threshold` with all of `known` and with
    all fresh ones before it.

    Texts overlap by the share of sequences that they have in common, from 0 (none) to 1 (the same): Σ min /
    Σ max of their counts (Jaccard's index of multisets; Ružička). Two that overlap so much share one of their
    rarest sequences, so only those are compared (prefix filter: Chaudhuri, Ganti and Kaushik, "A primitive
    operator for similarity joins", ICDE 2006).
    """
    sets = [_members(grams(text)) for text in (*known, *texts)]
    common = Counter(member for grams in sets for member in grams)
    by_rare: dict[str, list[frozenset[str]]] = {}
    verdicts: list[bool] = []
    for place, own in enumerate(sets):
        ordered = sorted(own, key=lambda member: (common[member], member))
        rare = ordered[: len(own) - math.ceil(threshold * len(own) - 1e-9) + 1]
        near = {id(other): other for member in rare for other in by_rare.get(member, ())}
        is_fresh = not any(_jaccard(own, other) >= threshold for other in near.values())
        if is_fresh or place < len(known):
            for member in rare:
                by_rare.setdefault(member, []).append(own)
        if place >= len(known):
            verdicts.append(is_fresh)
    return verdicts


def _members(counts: Counter[str]) -> frozenset[str]:
    """A multiset as a set: the second of two equal members is another one than the first."""
    return frozenset([f"{gram}{at}" for gram, count in counts.items() for at in range(count)])


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


def spread(texts: Mapping[str, Sequence[str]]) -> dict[str, float | None]:
    """Return the spread of each author's texts, from 0 (all alike) to 1 (nothing in common). One minus the
    mean cosine between two different texts of the author, where a text is the vector of its sequences
    weighted by TF-IDF: count · ln(N / n), N all texts of all authors, n those that hold the sequence (Spärck
    Jones 1972). None for fewer than two texts."""
    counted = {author: [grams(text) for text in own] for author, own in texts.items()}
    everything = [grams for own in counted.values() for grams in own]
    holders = Counter(gram for grams in everything for gram in grams)
    weight = {gram: math.log(len(everything) / count) for gram, count in holders.items()}
    return {author: _spread([_unit(grams, weight) for grams in own]) for author, own in counted.items()}


def _unit(counts: Counter[str], weight: Mapping[str, float]) -> dict[str, float]:
    """The weighted vector of length 1; empty where all weights are 0."""
    vector = {gram: count * weight[gram] for gram, count in counts.items() if weight[gram]}
    length = math.sqrt(math.fsum([value * value for value in vector.values()]))
    return {gram: value / length for gram, value in vector.items()}


def _spread(vectors: Sequence[Mapping[str, float]]) -> float | None:
    n = len(vectors)
    if n < 2:
        return None
    total: dict[str, float] = {}
    for vector in vectors:
        for gram, value in vector.items():
            total[gram] = total.get(gram, 0.0) + value
    # Σ over all pairs of the cosine, both ways and each text with itself, is the squared length of the sum.
    squared = math.fsum([value * value for value in total.values()])
    own = math.fsum([value * value for vector in vectors for value in vector.values()])
    blank = sum(not vector for vector in vectors)  # what stands in every text tells none apart: all alike
    alike = squared - own + blank * (blank - 1)
    return min(1.0, max(0.0, 1.0 - alike / (n * (n - 1))))
