"""How near a text comes to references: BLEU and chrF as sacreBLEU computes them, ROUGE and token F1 exactly.

    >>> score("rouge-l", "Mara bought salt", ("On Monday Mara bought salt",))
    0.75

Each metric goes from 0 to 1 and takes the best of several references (BLEU: what all of them hold). ROUGE
after Lin (2004) as the package `rouge-score` computes it without a stemmer; token F1 after Rajpurkar et al.
(2016).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from string import punctuation
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

MetricName: TypeAlias = Literal["rouge-l", "rouge-1", "rouge-2", "f1", "chrf", "bleu"]
EXTRA = "metrics"
_OURS = "version:1"
_DIGITS = 4
_ARTICLES = {"a", "an", "the"}
_UNPOINTED = str.maketrans("", "", punctuation)
_BLEU_ORDERS = range(1, 5)
_CHRF_ORDER, _BITS = 6, 10
_UNKNOWN = (1 << _BITS) - 1
Ints: TypeAlias = NDArray[np.int64]


class Metric(NamedTuple):
    """A metric as players are told it; `near` is None where sacreBLEU computes it."""

    title: str
    compares: str
    near: Callable[[str, str], float] | None = None


def _tokens(text: str) -> list[str]:
    """What ROUGE takes for words."""
    return re.findall(r"[a-z0-9]+", text.lower())


def _f1(same: int, mine: int, theirs: int) -> float:
    return 2 * same / (mine + theirs) if same else 0.0


def _shared(mine: Sequence[Any], theirs: Sequence[Any]) -> float:
    """F1 of two bags."""
    return _f1(sum((Counter(mine) & Counter(theirs)).values()), len(mine), len(theirs))


def _rouge(length: int) -> Callable[[str, str], float]:
    def near(text: str, reference: str) -> float:
        mine, theirs = (
            [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]
            for words in (_tokens(text), _tokens(reference))
        )
        return _shared(mine, theirs)

    return near


def common(mine: Sequence[str], theirs: Sequence[str]) -> int:
    """The length of the longest common subsequence, a bit for each place (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, word in enumerate(mine):
        places[word] = places.get(word, 0) | 1 << at
    every = (1 << len(mine)) - 1
    rest = every
    for word in theirs:
        found = rest & places.get(word, 0)
        rest = ((rest + found) | (rest - found)) & every
    return len(mine) - rest.bit_count()


def _rouge_l(text: str, reference: str) -> float:
    mine, theirs = _tokens(text), _tokens(reference)
    return _f1(common(mine, theirs), len(mine), len(theirs))


def _answer_words(text: str) -> list[str]:
    """What SQuAD compares: small letters, no punctuation, no articles."""
    return [word for word in text.lower().translate(_UNPOINTED).split() if word not in _ARTICLES]


def _token_f1(text: str, reference: str) -> float:
    return _shared(_answer_words(text), _answer_words(reference))


METRICS: Mapping[str, Metric] = {
    "rouge-l": Metric("ROUGE-L", "longest common sequence", _rouge_l),
    "rouge-1": Metric("ROUGE-1", "single words", _rouge(1)),
    "rouge-2": Metric("ROUGE-2", "pairs of words", _rouge(2)),
    "f1": Metric("token F1", "words in any order", _token_f1),
    "chrf": Metric("chrF2", "character n-grams"),
    "bleu": Metric("BLEU", "n-grams of 1 to 4 words"),
}


def missing(metric: str) -> str:
    """The extra that a metric lacks; empty: it can be computed."""
    return EXTRA if METRICS[metric].near is None and find_spec("sacrebleu") is None else ""


@lru_cache(maxsize=8)
def _sacre(metric: str, references: int = 1) -> Any:
    """sacreBLEU's own object, for so many references. Raises ImportError without it."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        how = f'run `pip install "peerage[{EXTRA}]"`'
        raise ImportError(f"the metric {metric} needs the extra `{EXTRA}`; {how}") from error

    streams = [[""]] * references
    return CHRF(references=streams) if metric == "chrf" else BLEU(references=streams, effective_order=True)


@lru_cache(maxsize=256)
def score(metric: str, text: str, references: tuple[str, ...]) -> float:
    """How near `text` comes to the nearest reference, from 0 to 1, to four digits."""
    near = METRICS[metric].near
    if near is not None:
        return round(max([near(text, reference) for reference in references]), _DIGITS)
    return round((_chrf if metric == "chrf" else _bleu)(text, references) / 100, _DIGITS)


@lru_cache(maxsize=256)
def _bleu_counts(references: tuple[str, ...]) -> tuple[Mapping[tuple[str, ...], int], Sequence[int]]:
    """How often each sequence of words comes in a reference at most, and the references' lengths."""
    most, lengths = Counter[tuple[str, ...]](), list[int]()
    for reference in references:
        words = _bleu_words(reference)
        lengths.append(len(words))
        most |= Counter([gram for length in _BLEU_ORDERS for gram in _grams(words, length)])
    return most, lengths


def _bleu_words(text: str) -> list[str]:
    words: list[str] = _sacre("bleu").tokenizer(text.rstrip()).split()
    return words


def _grams(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return list(zip(*[words[at:] for at in range(length)], strict=False))


def _bleu(text: str, references: tuple[str, ...]) -> float:
    """Sequences of words are counted here, those of references once; sacreBLEU makes its score of them."""
    most, lengths = _bleu_counts(references)
    words = _bleu_words(text)
    total = [max(0, len(words) - length + 1) for length in _BLEU_ORDERS]
    found = [Counter(_grams(words, length)) for length in _BLEU_ORDERS]
    same = [sum([min(count, most[gram]) for gram, count in one.items() if gram in most]) for one in found]
    nearest = min(lengths, key=lambda length: (abs(length - len(words)), length))
    of = _sacre("bleu")
    value: float = of.compute_bleu(
        same, total, len(words), nearest, of.smooth_method, of.smooth_value, of.effective_order
    ).score
    return value


class _Characters(NamedTuple):
    """The sequences of 1 to 6 characters in references: the characters known, each a number; the sequences,
    sorted; how often each comes in each reference; each reference's length."""

    alphabet: Ints
    grams: Ints
    counts: Ints
    lengths: Sequence[int]


@lru_cache(maxsize=256)
def _chrf_counts(references: tuple[str, ...]) -> _Characters:
    coded = [_codes(reference) for reference in references]
    alphabet = np.unique(np.concatenate(coded))
    bags = [_chrf_grams(alphabet, codes) for codes in coded]
    grams = np.unique(np.concatenate([ids for ids, _ in bags]))
    counts = np.zeros((len(bags), len(grams)), np.int64)
    for row, (ids, many) in zip(counts, bags, strict=True):
        row[np.searchsorted(grams, ids)] = many
    return _Characters(alphabet, grams, counts, [len(codes) for codes in coded])


def _codes(text: str) -> Ints:
    """A text's characters without white space."""
    packed = "".join(text.split()).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(packed, np.uint32).astype(np.int64)


def _chrf_grams(alphabet: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Each sequence of characters as a number, sorted, and how often it comes. Its length is in the highest
    bits; a character that is not known is the last one, and what holds it equals nothing of a reference."""
    place = np.minimum(np.searchsorted(alphabet, codes), len(alphabet) - 1)
    letters = np.where(alphabet[place] == codes, place, _UNKNOWN)
    grams, runs = letters, [letters + (1 << 6 * _BITS)]
    for length in range(2, _CHRF_ORDER + 1):
        grams = (grams[:-1] << _BITS) | letters[length - 1 :]
        runs.append(grams + (length << 6 * _BITS))
    ids, counts = np.unique(np.concatenate(runs), return_counts=True)
    return ids, counts


def _chrf(text: str, references: tuple[str, ...]) -> float:
    """chrF2 of Popović (2015), to the reference for which it is highest, from 0 to 100: as sacreBLEU computes
    it, with the references' characters counted once."""
    known = _chrf_counts(references)
    codes = _codes(text)
    if len(known.alphabet) >= _UNKNOWN or not len(known.alphabet) or not len(codes):
        value: float = _sacre("chrf").sentence_score(text, list(references)).score
        return value
    ids, counts = _chrf_grams(known.alphabet, codes)
    at = np.minimum(np.searchsorted(known.grams, ids), len(known.grams) - 1)
    same = np.minimum(counts, known.counts[:, at]) * (known.grams[at] == ids)
    orders = np.searchsorted(ids, [order << 6 * _BITS for order in range(1, _CHRF_ORDER + 2)])
    upto = np.concatenate([np.zeros((len(same), 1), np.int64), same.cumsum(axis=1)], axis=1)[:, orders]
    matched = np.diff(upto, axis=1).tolist()
    return max([_f2(one, len(codes), length) for one, length in zip(matched, known.lengths, strict=True)])


def _f2(matched: Sequence[int], mine: int, theirs: int) -> float:
    """F2 of mean precision and recall over the lengths of sequences that both texts have."""
    both = range(min(mine, theirs, _CHRF_ORDER))
    precision = sum([matched[at] / (mine - at) for at in both])
    recall = sum([matched[at] / (theirs - at) for at in both])
    if not matched[0]:
        return 0.0
    precision, recall = precision / len(both), recall / len(both)
    return 100 * (1 + 4) * precision * recall / (4 * precision + recall)


def signature(metric: str, references: tuple[str, ...]) -> str:
    """The metric with its version and all that decides what it gives, as sacreBLEU writes it."""
    title, _, near = METRICS[metric]
    if near is not None:
        words = "squad" if metric == "f1" else "a-z0-9"
        return f"{title}|nrefs:{len(references)}|case:lc|tok:{words}|score:f1|{_OURS}"
    return f"{title}|{_signed(metric, len(references))}"


@lru_cache(maxsize=8)
def _signed(metric: str, references: int) -> str:
    of = _sacre(metric, references)
    of.corpus_score([""], None)
    signed: str = of.get_signature().format()
    return signed
