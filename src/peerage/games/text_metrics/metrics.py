"""Nearness of a text to references: BLEU and chrF as sacreBLEU computes them, ROUGE and token F1 exactly.

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

MetricName: TypeAlias = Literal["rouge-l", "rouge-1", "rouge-2", "f1", "chrf", "bleu"]
EXTRA = "metrics"
_OURS = "version:1"
_DIGITS = 4
_ARTICLES = {"a", "an", "the"}
_UNPOINTED = str.maketrans("", "", punctuation)


class Metric(NamedTuple):
    """A metric as players read it; `near` is None where sacreBLEU computes it."""

    title: str
    compares: str
    near: Callable[[str, str], float] | None = None


def _tokens(text: str) -> list[str]:
    """Return what ROUGE takes for words."""
    return re.findall(r"[a-z0-9]+", text.lower())


def _f1(same: int, own: int, theirs: int) -> float:
    return 2 * same / (own + theirs) if same else 0.0


def _shared(own: Sequence[Any], theirs: Sequence[Any]) -> float:
    """F1 of two bags."""
    return _f1(sum((Counter(own) & Counter(theirs)).values()), len(own), len(theirs))


def _rouge(length: int) -> Callable[[str, str], float]:
    def near(text: str, reference: str) -> float:
        own, theirs = (
            [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]
            for words in (_tokens(text), _tokens(reference))
        )
        return _shared(own, theirs)

    return near


def common(own: Sequence[str], theirs: Sequence[str]) -> int:
    """The length of the longest common subsequence, a bit for each place (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, word in enumerate(own):
        places[word] = places.get(word, 0) | 1 << at
    every = (1 << len(own)) - 1
    rest = every
    for word in theirs:
        matches = rest & places.get(word, 0)
        rest = ((rest + matches) | (rest - matches)) & every
    return len(own) - rest.bit_count()


def _rouge_l(text: str, reference: str) -> float:
    own, theirs = _tokens(text), _tokens(reference)
    return _f1(common(own, theirs), len(own), len(theirs))


def _answer_words(text: str) -> list[str]:
    """Return what SQuAD compares: small letters, no punctuation, no articles."""
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
    """Return how near `text` comes to the nearest reference, from 0 to 1, to four digits."""
    near = METRICS[metric].near
    if near is not None:
        return round(max([near(text, reference) for reference in references]), _DIGITS)
    value: float = _sacre(metric).sentence_score(text, list(references)).score
    return round(value / 100, _DIGITS)


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
