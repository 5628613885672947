"""Anybody's battles, rated: a file of two million, and the same data beside the field's packages.

The file is Parquet in the shape of LMArena's releases (names, verdict, judge, language, conversation, numbers
of tokens), made here; a fresh process reads and rates it with intervals, in at most 3 seconds of CPU and
600 MB. Then 200,000 battles in a data frame of pandas: seconds of CPU from the frame to the ratings, and the
largest difference from ours, which each line bounds. Packages that are not installed are left out.

Usage: python -m bench.library
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.ratings_peers import centred, installed
from peerage import ratings

BATTLES, FEW, MODELS = 2_000_000, 200_000, 100
SECONDS, MEGABYTES = 3.0, 600.0
_RATE = """
import resource, sys
from peerage.cli.main import main
sys.argv = ["peerage", "rate", sys.argv[1]]
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
"""


def battles(count: int, seed: int) -> dict[str, Any]:
    """Columns as LMArena releases them."""
    rng = np.random.default_rng(seed)
    names = np.array([f"maker-{at % 9}/model-{at:03}-instruct" for at in range(MODELS)])
    strength = rng.normal(0, 1, MODELS)
    a = rng.integers(0, MODELS, count)
    b = (a + rng.integers(1, MODELS, count)) % MODELS
    tokens = rng.integers(20, 2_000, (2, count))
    longer = (tokens[0] - tokens[1]) / tokens.sum(axis=0)
    up = np.exp((strength[a] - strength[b] + 0.4 * longer) / 2)
    luck = rng.random(count) * (up + 1 / up + 0.5)
    verdict = np.where(luck < up, 0, np.where(luck < up + 1 / up, 1, rng.integers(2, 4, count)))
    words = np.array(["model_a", "model_b", "tie", "tie (bothbad)"])
    languages = np.array(["English", "Russian", "Chinese", "German", "Polish"])
    return {
        "question_id": np.char.add("0a1b2c3d4e5f60718293a4b5", (10_000_000 + np.arange(count)).astype(str)),
        "model_a": names[a],
        "model_b": names[b],
        "winner": words[verdict],
        "judge": np.char.add("arena_user_", rng.integers(0, 50_000, count).astype(str)),
        "language": languages[rng.choice(5, count, p=[0.6, 0.2, 0.1, 0.07, 0.03])],
        "tstamp": 1.68e9 + 10.0 * np.arange(count),
        "length_a": tokens[0],
        "length_b": tokens[1],
    }


def make(file: str) -> None:
    """Write two million battles, with conversations nobody reads."""
    import pyarrow
    import pyarrow.parquet

    columns = battles(BATTLES, 1)
    meta = {f"sum_assistant_{side}_tokens": pyarrow.array(columns.pop(f"length_{side}")) for side in "ab"}
    kinds = pyarrow.array([f"an answer, {at} " + 20 * "and words " for at in range(1_000)])
    answer = pyarrow.array(np.arange(BATTLES) % 1_000, pyarrow.int32())
    table = pyarrow.table(
        columns
        | {"conv_metadata": pyarrow.StructArray.from_arrays([*meta.values()], [*meta])}
        | {"conversation_a": pyarrow.DictionaryArray.from_arrays(answer, kinds).cast("string")}
    )
    pyarrow.parquet.write_table(table, file)


def whole_file(folder: Path) -> tuple[float, float]:
    """The seconds of CPU and the megabytes of `peerage rate` on two million battles."""
    file = str(folder / "battles.parquet")
    # A process begins with the peak of the one that starts it: this one stays small.
    subprocess.run([sys.executable, "-m", "bench.library", file], check=True)
    done = subprocess.run([sys.executable, "-c", _RATE, file], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stderr.split()[-2:])
    return seconds, megabytes


class Line(NamedTuple):
    """One comparison: seconds of ours and theirs, and the largest difference on the scale of ratings, with
    its bound; nan where the models differ."""

    work: str
    ours: float
    peer: str
    theirs: float
    difference: float
    bound: float


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = resource.getrusage(resource.RUSAGE_SELF)
    found = run()
    ended = resource.getrusage(resource.RUSAGE_SELF)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime, found


def by_name(report: Any, key: str = "rating") -> np.ndarray:
    return np.array([row[key] for row in sorted(report.rows, key=lambda row: row["player"])])


def lines(frame: Any) -> Iterator[Line]:
    """Compare ours with each package that is installed, from a data frame on."""
    ours, report = timed(lambda: ratings.rate(frame, method="bt"))
    rated, wide = by_name(report), by_name(report, "upper") - by_name(report, "lower")
    work = "Bradley-Terry, intervals, chances, claims"
    if installed("arena_rank"):
        from arena_rank.models.bradley_terry import BradleyTerry
        from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
        from arena_rank.utils.data_utils import ContextualPairDataset, PairDataset

        def arena_rank() -> Any:
            return BradleyTerry(n_competitors=MODELS).compute_ratings_and_cis(PairDataset.from_pandas(frame))

        theirs, found = timed(arena_rank)
        yield Line(work, ours, "arena-rank", theirs, _gap(rated, centred(np.array(found["ratings"]))), 0.05)
        theirs_wide = np.array(found["rating_upper"]) - np.array(found["rating_lower"])
        yield Line("width of the intervals, of 30", ours, "arena-rank", theirs, _gap(wide, theirs_wide), 1.0)
        styled, report = timed(lambda: ratings.rate(frame, method="bt", controls="length"))

        def contextual() -> Any:
            longer = (frame.length_a - frame.length_b) / (frame.length_a + frame.length_b)
            data = ContextualPairDataset.from_pandas(
                frame.assign(longer=longer), feature_cols=["longer"], reweighted=False
            )
            model = ContextualBradleyTerry(n_competitors=MODELS, n_features=1, reg=0.0)
            return model.compute_ratings_and_cis(data)

        theirs, found = timed(contextual)
        error = _gap(by_name(report), centred(np.array(found["ratings"])))
        yield Line("style control (length)", styled, "arena-rank", theirs, error, 0.05)
    if evalica := installed("evalica"):
        words = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}

        def bradley_terry() -> Any:
            winners = [words.get(word, evalica.Winner.Draw) for word in frame.winner]
            names = frame.model_a.tolist(), frame.model_b.tolist()
            return evalica.bradley_terry(*names, winners, tolerance=1e-10, limit=10_000)

        theirs, found = timed(bradley_terry)
        scores = centred(400 * np.log10(found.scores.sort_index().to_numpy()))
        yield Line(work, ours, "evalica, no intervals", theirs, _gap(rated, scores), 0.05)
    if choix := installed("choix"):
        decided = frame[frame.winner.isin([*words])] if evalica else frame
        ours, report = timed(lambda: ratings.rate(decided, method="bt"))

        def ilsr() -> Any:
            names = {name: at for at, name in enumerate(sorted({*decided.model_a, *decided.model_b}))}
            a, b = decided.model_a.map(names), decided.model_b.map(names)
            won = decided.winner == "model_a"
            pairs = np.stack([np.where(won, a, b), np.where(won, b, a)], 1).tolist()
            return choix.ilsr_pairwise(MODELS, pairs, alpha=0.0)

        theirs, found = timed(ilsr)
        error = _gap(by_name(report), centred(found * 400 / np.log(10)))
        yield Line("decided battles alone", ours, "choix, no intervals", theirs, error, 0.05)
    if openskill := installed("openskill.models"):
        part = frame[:20_000]
        ours, _ = timed(lambda: ratings.rate(part, method="trueskill"))

        def play() -> Any:
            model = openskill.BradleyTerryFull()
            skill = {name: model.rating() for name in {*part.model_a, *part.model_b}}
            for a, b, word in zip(part.model_a, part.model_b, part.winner, strict=True):
                ranks = {"model_a": [0, 1], "model_b": [1, 0]}.get(word, [0, 0])
                (skill[a],), (skill[b],) = model.rate([[skill[a]], [skill[b]]], ranks=ranks)
            return skill

        theirs, _ = timed(play)
        yield Line("skills, 20,000 in order", ours, "openskill (another model)", theirs, np.nan, np.nan)


def _gap(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        seconds, megabytes = whole_file(Path(folder))
    bounds = f"at most {SECONDS:g} s and {MEGABYTES:g} MB"
    print(f"{BATTLES:,} battles from Parquet to a table: {seconds:.2f} s, {megabytes:.0f} MB ({bounds})\n")
    print("| 200,000 battles in a data frame | ours, s | beside | theirs, s | largest difference | at most |")
    print("|---|--:|---|--:|--:|--:|")
    import pandas

    wrong = seconds > SECONDS or megabytes > MEGABYTES
    ratings.rate(battles_frame := pandas.DataFrame(battles(FEW, 2)))  # once, so that all is loaded
    for line in lines(battles_frame):
        figures = "| |" if np.isnan(line.bound) else f"| {line.difference:.2g} | {line.bound:g} |"
        print(f"| {line.work} | {line.ours:.2f} | {line.peer} | {line.theirs:.2f} {figures}", flush=True)
        wrong |= line.difference > line.bound
    if wrong:
        sys.exit("a bound is missed")


if __name__ == "__main__":
    make(sys.argv[1]) if sys.argv[1:] else main()
