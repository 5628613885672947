"""Files as other projects write them: small samples of our own in the shape of each.

The projects, and their licences: LMArena's releases (CC-BY, and CC-BY-NC, on Hugging Face), FastChat and its
MT-bench (Apache-2.0; judgments CC-BY-4.0), AlpacaEval, Arena-Hard, evalica, Crowd-Kit and AutoArena (all
Apache-2.0), orq-arena, lm-evaluation-harness and promptfoo (all MIT).
"""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import numpy as np
import pytest

from peerage.interchange.answers import NoAnswers, pairs_in
from peerage.ratings.read.answers import Answers
from peerage.ratings.read.forms import GivenForm, pairs
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.report import DataError
from peerage.ratings.read.results import read


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def battles(text: str, name: str = "x.jsonl", given: GivenForm | None = None, **more: Any) -> Battles:
    found = read([(name, io.BytesIO(text.encode()))], given=given or GivenForm(), **more)
    assert isinstance(found, Battles)
    return found


def won(found: Battles) -> list[tuple[str, str, float, float]]:
    """Each battle as its two names, the first one's score and the weight."""
    duels = found.duels
    columns = (duels.first, duels.second, duels.score, duels.weight)
    return [
        (found.names[a], found.names[b], round(float(score), 9), float(weight))
        for a, b, score, weight in zip(*columns, strict=True)
    ]


def answers(*files: tuple[str, str], **more: Any) -> dict[str, dict[str, float]]:
    found = read([(name, io.BytesIO(text.encode())) for name, text in files], **more)
    assert isinstance(found, Answers)
    return {
        name: {
            challenge: solved
            for challenge, solved in zip(found.challenges, row, strict=True)
            if solved == solved
        }
        for name, row in zip(found.names, np.round(found.solved, 9).tolist(), strict=True)
    }


TURNS = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]


def test_human_pairs_of_mt_bench() -> None:
    row = {
        "question_id": 81,
        "model_a": "alpaca-13b",
        "model_b": "gpt-3.5-turbo",
        "judge": "author_2",
        "conversation_a": TURNS,
        "conversation_b": TURNS,
        "turn": 1,
    }
    found = battles(
        lines(
            {**row, "winner": "model_b"},
            {**row, "winner": "tie", "turn": 2},
            {**row, "winner": "tie (inconsistent)"},
        ),
        kept=("judge", "question"),
    )
    assert [score for *_, score, _ in won(found)] == [0, 0.5, 0.5]
    assert (found.labels["judge"][0], found.labels["question"][0]) == ("author_2", "81")


def test_pairs_that_gpt_4_judged_in_both_orders_are_two_battles_or_none() -> None:
    row = {
        "question_id": 81,
        "model_1": "m1",
        "model_2": "m2",
        "judge": ["gpt-4", "pair-v2"],
        "turn": 1,
        "g1_user_prompt": "",
        "g1_judgment": "[[A]]",
        "g2_judgment": "[[B]]",
        "tstamp": 1687,
    }
    found = battles(
        lines(
            {**row, "g1_winner": "model_1", "g2_winner": "model_1"},
            {**row, "g1_winner": "tie", "g2_winner": "model_2"},
            {**row, "g1_winner": "model_1", "g2_winner": "error"},
        ),
        kept=("judge",),
    )
    assert won(found) == [("m1", "m2", score, 1) for score in (1, 1, 0.5, 0)]
    assert found.labels["judge"] == ("gpt-4",) * 4
    assert found.notes == ("1 row without a winner is left out (1 error)",)


ALPACA = [
    {
        "instruction": f"Do {at}.",
        "output_1": f"base {at}",
        "generator_1": "base",
        "dataset": "koala",
        "output_2": f"mine {at}",
        "generator_2": "mine",
        "annotator": "weighted_alpaca_eval_gpt4_turbo",
        "preference": preference,
        "time_per_example": 0.5,
        "raw_completion": {"text": "m"},
    }
    for at, preference in enumerate([1.02, 2.0, 1.5, 0, None, float("nan")])
]


def test_annotations_of_alpaca_eval_are_parts_of_a_win() -> None:
    found = battles(json.dumps(ALPACA), "annotations.json", kept=("judge", "question"))
    assert won(found) == [("base", "mine", score, 1) for score in (0.98, 0, 0.5, 0.5)]
    assert found.labels["question"][1] == "Do 1."
    assert found.notes == ("2 rows without a winner are left out (1 empty, 1 nan)",)
    with pytest.raises(DataError, match=r"column preference: found '2\.5', expected 1 to 2"):
        battles(json.dumps([{**ALPACA[0], "preference": 2.5}]), "annotations.json")


def judgment(*scores: Any, **more: Any) -> dict[str, Any]:
    games = [{"score": score, "judgment": {"answer": "..."}, "prompt": []} for score in scores]
    return {
        "uid": "q1",
        "category": "hard_prompt",
        "judge": "gpt-4.1",
        "model": "mine",
        "games": games,
        **more,
    }


def test_parts_of_a_win_between_the_same_two_are_each_their_own() -> None:
    found = battles("model_a,model_b,share\nx,y,0.25\nx,y,1\nx,y,0\n", "x.csv")
    assert [score for _, _, score, _ in won(found)] == [0.25, 1.0, 0.0]


def test_judgments_of_arena_hard_count_three_times_where_they_are_clear() -> None:
    text = lines(
        judgment("A>>B", "A>B", baseline="o3-mini"),
        judgment("[[A=B]]", "B>>A", baseline="o3-mini"),
        judgment("A>B", None, baseline="o3-mini"),
    )
    assert won(battles(text)) == [
        ("o3-mini", "mine", 1, 3),
        ("mine", "o3-mini", 1, 1),
        ("o3-mini", "mine", 0.5, 1),
        ("mine", "o3-mini", 0, 3),
    ]
    older = lines(judgment("A>>B", "A>B"))
    with pytest.raises(
        DataError, match=r"x.jsonl does not name Arena-Hard's baseline: add `--columns a=NAME`"
    ):
        battles(older)
    for ours in ("a", "baseline"):
        given = GivenForm.of({ours: "gpt-4-0314"}, {})
        assert won(battles(older, given=given))[0] == ("gpt-4-0314", "mine", 1, 3)
    with pytest.raises(DataError, match=r"there is no column nobody\. The columns are uid, category"):
        battles(older, given=GivenForm.of({"a": "gpt-4-0314", "question": "nobody"}, {}))


def test_crowd_kit_and_evalica() -> None:
    text = "worker,left,right,label\nw1,cat,dog,dog\nw2,cat,eel,cat\n"
    found = battles(text, "x.csv", kept=("judge",))
    assert won(found) == [("cat", "dog", 0, 1), ("cat", "eel", 1, 1)]
    assert found.labels["judge"] == ("w1", "w2")
    text = "left,right,winner\nPizza,Sushi,left\nBurger,Pasta,right\nPasta,Burger,tie\n"
    assert [score for *_, score, _ in won(battles(text, "x.csv"))] == [1, 0, 0.5]


ORQ = {
    "schema_version": 3,
    "prompt_hash": "57e5",
    "prompt_text": "Is 12 practical?",
    "prompt_category": "math",
    "model_a": "gpt",
    "model_b": "deepseek",
    "response_a": "Yes.",
    "response_b": "It is.",
    "judge_votes": [],
    "tokens_a_out": 224,
    "tokens_b_out": 112,
    "error": None,
    "timestamp": 1784291743.79,
    "match_id": "M28",
}


def test_battles_of_orq_arena() -> None:
    verdicts = [("deepseek", "B"), ("inconclusive", "inconclusive"), ("tie", "tie")]
    rows = [{**ORQ, "winner": winner, "majority_verdict": verdict} for winner, verdict in verdicts]
    found = battles(lines(*rows), kept=("question", "category"), controls=("length",))
    assert [score for *_, score, _ in won(found)] == [0, 0.5]
    assert (found.labels["category"], found.labels["question"]) == (("math",) * 2, ("57e5",) * 2)
    assert found.notes == ("1 row without a winner is left out (1 inconclusive)",)


def test_head_to_heads_of_autoarena() -> None:
    head = "prompt,model_a,model_b,response_a,response_b,judge,winner"
    text = f"{head}\np,x,y,r,s,human,A\np,x,y,r,s,j,-\np,y,x,s,r,j,B\n"
    assert [score for *_, score, _ in won(battles(text, "x.csv"))] == [1, 0.5, 0]


def sample(doc: int, **more: Any) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "doc": {"question": "?"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"Q{doc}?"}},
        "resps": [[f"A{doc}"]],
        "filtered_resps": ["4"],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "x",
        "prompt_hash": "y",
        "target_hash": "z",
        **more,
    }


def test_samples_of_lm_eval_take_the_models_name_from_the_folder() -> None:
    stamp = "2025-01-02T03-04-05.678901"
    files = [
        (
            f"out/meta__one/samples_gsm8k_{stamp}.jsonl",
            lines(sample(0, exact_match=1.0), sample(1, exact_match=0.0)),
        ),
        (f"out/two/samples_gsm8k_{stamp}.jsonl", lines(sample(0, exact_match=0.0))),
    ]
    assert answers(*files) == {"meta/one": {"gsm8k/0": 1, "gsm8k/1": 0}, "two": {"gsm8k/0": 0}}
    alone = (f"samples_arc_easy_{stamp}.jsonl", lines(sample(0, acc=1.0, acc_norm=0.0)))
    with pytest.raises(DataError, match="does not name the model: add `--columns player=NAME`"):
        answers(alone)
    named = GivenForm.of({"player": "mine"}, {})
    assert answers(alone, given=named) == {"mine": {"arc_easy/0": 1}}
    assert answers(alone, given=named, score="acc_norm") == {"mine": {"arc_easy/0": 0}}
    other = ("m/samples_x.jsonl", lines({**sample(0, bleu_acc=0.5), "metrics": ["bleu_acc"]}))
    assert answers(other) == {"m": {"x/0": 0.5}}
    results = json.dumps({"results": {"arc": {"acc,none": 0.5}}, "configs": {}, "versions": {}, "n-shot": {}})
    with pytest.raises(
        DataError, match="has the means of an lm-eval run; its single results are in the samples_"
    ):
        answers((f"results_{stamp}.json", results))


def promptfoo(provider: Any, test: int, **more: Any) -> dict[str, Any]:
    return {
        "provider": provider,
        "testIdx": test,
        "promptIdx": 0,
        "vars": {"city": f"c{test}"},
        "prompt": {"raw": f"Say c{test}", "label": "Say"},
        "response": {"output": f"{provider} {test}"},
        "success": True,
        "score": 1,
        "failureReason": 0,
        "latencyMs": 9,
        "namedScores": {},
        **more,
    }


PROMPTFOO = {
    "evalId": "eval-x",
    "results": {
        "version": 3,
        "prompts": [],
        "results": [
            promptfoo({"id": "openai:gpt", "label": "gpt"}, 0),
            promptfoo(
                {"id": "openai:gpt", "label": "gpt"},
                1,
                success=False,
                score=0.25,
                failureReason=1,
                error="no",
            ),
            promptfoo({"id": "x", "label": ""}, 0, success=False, score=0, failureReason=2, error="timeout"),
            promptfoo({"id": "x", "label": ""}, 1),
        ],
        "stats": {},
    },
    "config": {},
    "shareableUrl": None,
}


def test_results_of_promptfoo() -> None:
    found = answers(("out.json", json.dumps(PROMPTFOO, indent=1)))
    assert [*found["gpt"].values()] == [1, 0.25]
    assert [*found["x"].values()] == [1]
    assert found == answers(("out.jsonl", lines(*PROMPTFOO["results"]["results"])))  # type: ignore[index]


FILES_OF_ANSWERS: dict[str, dict[str, str]] = {
    "AlpacaEval's annotations": {"annotations.json": json.dumps(ALPACA)},
    "AlpacaEval's outputs": {
        f"{name}.json": json.dumps(
            [{"dataset": "x", "instruction": "Why?", "output": name, "generator": name}]
        )
        for name in "ab"
    },
    "MT-bench's answers": {
        "question.jsonl": lines({"question_id": 81, "category": "writing", "turns": ["Why?", "And then?"]}),
        **{
            f"model_answer/{name}.jsonl": lines(
                {
                    "question_id": 81,
                    "answer_id": "i",
                    "model_id": name,
                    "choices": [{"index": 0, "turns": [name, "-"]}],
                }
            )
            for name in "ab"
        },
    },
    "Arena-Hard's answers": {
        f"{name}.jsonl": lines(
            {
                "uid": "q",
                "ans_id": "i",
                "model": name,
                "tstamp": 1,
                "messages": [
                    {"role": "user", "content": "Why?"},
                    {"role": "assistant", "content": {"answer": name}},
                ],
            }
        )
        for name in "ab"
    },
    "Arena-Hard's older answers": {
        "question.jsonl": lines(
            {"question_id": "q", "category": "x", "cluster": "y", "turns": [{"content": "Why?"}]}
        ),
        **{
            f"{name}.jsonl": lines(
                {
                    "question_id": "q",
                    "answer_id": "i",
                    "model_id": name,
                    "tstamp": 1,
                    "choices": [{"index": 0, "turns": [{"content": name, "token_len": 1}]}],
                }
            )
            for name in "ab"
        },
    },
    "AutoArena's answers": {f"{name}.csv": f"prompt,response\nWhy?,{name}\n" for name in "ab"},
    "long prompts": {f"{name}.csv": f"prompt,response\n{'Why? ' * 2_000},{name}\n" for name in "ab"},
    "AutoArena's head-to-heads": {
        "h.csv": "prompt,model_a,model_b,response_a,response_b,judge,winner\nWhy?,a,b,r,s,human,A\n"
    },
    "orq-arena's battles": {"battles.jsonl": lines({**ORQ, "winner": "tie", "majority_verdict": "tie"})},
    "lm-eval's samples": {f"{name}/samples_gsm8k.jsonl": lines(sample(0, exact_match=1.0)) for name in "ab"},
    "promptfoo's results": {"out.json": json.dumps(PROMPTFOO)},
    "LMArena's conversations": {
        "x.jsonl": lines(
            {
                "model_a": "a",
                "model_b": "b",
                "winner": "model_a",
                "conversation_a": TURNS,
                "conversation_b": TURNS,
            }
        )
    },
    "LMArena's 55k": {
        "x.csv": "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
        '1,a,b,"[""Why?""]","[""So.""]","[""No.""]",1,0,0\n'
    },
}


@pytest.mark.parametrize("form", FILES_OF_ANSWERS)
def test_answers_of_others_are_judged_again(form: str, tmp_path: Any) -> None:
    for name, text in FILES_OF_ANSWERS[form].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    found = pairs_in([str(tmp_path / name) for name in FILES_OF_ANSWERS[form]], "")
    pair = found.items[0]
    assert len({*pair.authors.values()}) == 2
    assert all(pair.answers.values())
    assert len(pair.title) < 250
    by_path = form in ("AutoArena's answers", "long prompts", "lm-eval's samples")
    assert ("the model's name is that in the file's path" in found.notes) == by_path
    others = "AlpacaEval's annotations", "orq-arena's battles", "lm-eval's samples", "promptfoo's results"
    assert pair.given["question"].text.startswith("Why?") == (form not in others)


def test_answers_whose_questions_are_nowhere_say_so(tmp_path: Any) -> None:
    for name, text in FILES_OF_ANSWERS["MT-bench's answers"].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(NoAnswers, match=r"there is no question, .*; name the file of the questions too"):
        pairs_in([str(tmp_path / "model_answer/a.jsonl")], "")


@pytest.mark.parametrize(
    ("head", "guess"),
    [
        ("first,second,result", "a=first, b=second, winner=result"),
        ("Model 1,Model 2,Preferred", "a=Model 1, b=Model 2, winner=Preferred"),
        ("player_left,player_right,Outcome", "a=player_left, b=player_right, winner=Outcome"),
        ("system_a,system_b,vote", "a=system_a, b=system_b, winner=vote"),
        ("model_a,model_b,preference", "winner=preference"),
        ("name1,name2,winner", "a=name1, b=name2"),
    ],
)
def test_columns_are_guessed_where_one_reading_is_there_and_said(head: str, guess: str) -> None:
    found = battles(f"{head}\nx,y,x\ny,x,B\nx,y,tie\n", "x.csv")
    assert won(found) == [("x", "y", 1, 1), ("y", "x", 0, 1), ("x", "y", 0.5, 1)]
    assert found.notes[0] == f"read as {guess}"


def test_winner_and_loser() -> None:
    assert won(battles("Winner,Loser\nx,y\ny,x\n", "x.csv")) == [("x", "y", 1, 1), ("y", "x", 1, 1)]
    assert won(battles("winning_model,losing_model\nx,y\n", "x.csv")) == [("x", "y", 1, 1)]


def test_two_readings_are_refused_with_what_to_write() -> None:
    with pytest.raises(DataError) as wrong:
        battles("model_1,model_2,player_1,player_2,result\nx,y,p,q,x\n", "x.csv")
    assert str(wrong.value).split("\n  ") == [
        "x.csv: the columns can be read in 2 ways; say which:",
        '--columns "a=model_1,b=model_2,winner=result"',
        '--columns "a=player_1,b=player_2,winner=result"',
    ]
    chosen = GivenForm.of({"a": "model_1", "b": "model_2", "winner": "result"}, {})
    assert len(battles("model_1,model_2,player_1,player_2,result\nx,y,p,q,x\n", "x.csv", chosen).duels) == 1


def test_a_column_that_is_not_there_is_said_with_the_one_that_is_meant() -> None:
    given = GivenForm.of({"a": "lefft", "b": "right", "winner": "label"}, {})
    with pytest.raises(
        DataError, match=r"no column lefft; is left meant\? The columns are left, right, label"
    ):
        battles("left,right,label\nx,y,x\n", "x.csv", given)
    with pytest.raises(DataError, match="columns wimmer=label: ours are a, b, winner"):
        GivenForm.of({"wimmer": "label"}, {})
    with pytest.raises(DataError, match="winner 1=someone: expected a, b, tie"):
        GivenForm.of({}, {1: "someone"})


@pytest.mark.parametrize(
    ("numbers", "scores", "note"),
    [
        ("1 2", [1, 0], "winners are read as 1=a,2=b"),
        ("1 -1 0", [1, 0, 0.5], "winners are read as -1=b,0=tie,1=a"),
        ("1.0 2.0 1.5", [1, 0, 0.5], "winners are read as 1=a,1.5=tie,2=b"),
        ("np.int64(1) np.int64(2) tie", [1, 0, 0.5], "winners are read as 1=a,2=b"),
    ],
)
def test_numbers_for_winners_have_the_meaning_that_all_of_them_leave(
    numbers: str, scores: Any, note: str
) -> None:
    found = battles("model_a,model_b,winner\n" + "".join(f"x,y,{one}\n" for one in numbers.split()), "x.csv")
    assert [score for *_, score, _ in won(found)] == scores
    assert note in found.notes


@pytest.mark.parametrize("numbers", ["0 1", "0 1 2", "1 2 3", "true false", "1", "5 7"])
def test_numbers_that_leave_no_meaning_or_several_are_refused_with_what_to_write(numbers: str) -> None:
    text = "model_a,model_b,winner\n" + "".join(f"x,y,{one}\n" for one in numbers.split())
    with pytest.raises(DataError, match=r"--winner .*=a"):
        battles(text, "x.csv")


def test_stated_words_and_numbers_between() -> None:
    given = GivenForm.of({}, {"1": "a", "5": "b", "?": "both bad", "x": "none"})
    text = "model_a,model_b,winner\n" + "".join(f"p,q,{one}\n" for one in ("1", "2", "3", "5", "?", "x", ""))
    found = battles(text, "x.csv", given)
    assert [score for *_, score, _ in won(found)] == [1, 0.75, 0.5, 0, 0.5]
    assert found.notes[0] == "2 rows without a winner are left out (1 x, 1 empty)"
    assert found.both_bad is not None
    assert found.both_bad.tolist() == [False] * 4 + [True]


_WORDS = {
    1.0: "A|a|left|Model A|model-a|[[A]]|Assistant A|x|X|A>B|[[A>>B]]|response_a|A wins|model 1|"
    "np.str_('model_a')",
    0.0: "B|right|MODEL_B|[[B]]|B>A|y|second|model_2|A<<B|the second",
    0.5: "tie|Tie|TIE (bothbad)|both bad|draw|[[C]]|A=B|equal",
}


@pytest.mark.parametrize(
    ("score", "word"), [(score, word) for score, words in _WORDS.items() for word in words.split("|")]
)
def test_winners_as_people_and_judges_write_them(score: float, word: str) -> None:
    found = battles(lines({"model_a": "x", "model_b": "y", "winner": word}))
    assert [each for *_, each, _ in won(found)] == [score]


def test_names_come_before_letters() -> None:
    text = "model_a,model_b,winner\nB,A,A\nA,B,A\n2,1,1\ntie,x,x\n"
    assert [score for *_, score, _ in won(battles(text, "x.csv"))] == [0, 1, 0, 0]


def test_rows_may_be_inside_an_object_and_a_first_line_may_be_bad() -> None:
    row = {"model_a": "x", "model_b": "y", "winner": "x"}
    assert len(battles(json.dumps({"made": "now", "battles": [row, row]}), "x.json").duels) == 2
    wrong = json.dumps({"made": "now", "battles": [row, {**row, "winner": "z"}, 3]})
    with pytest.raises(
        DataError, match=r"x.json, line 1, row 2, column winner: .*\n.*line 1, row 3: found 3, "
    ):
        battles(wrong, "x.json")
    found = battles('{"version": 3}\n' + lines(row, row))
    assert len(found.duels) == 2
    assert found.notes[0].startswith("1 row cannot be used and is left out")


def test_ties_and_parts_of_a_win_are_results_too() -> None:
    rows = [{**ALPACA[0], "preference": 1.2}] * 5 + [{**ALPACA[0], "preference": 7}]
    found = battles(json.dumps(rows), "annotations.json")
    assert (len(found.duels), found.notes[0]) == (
        5,
        "1 row cannot be used and is left out (`--strict` refuses them):",
    )
    assert len(battles("model_a,model_b,winner\nx,y,tie\nx,y,tie\nx,x,tie\n", "x.csv").duels) == 2


def test_a_file_of_another_kind_is_refused_once() -> None:
    texts = {"b.csv": "model_a,model_b,winner\nx,y,x\n", "a.csv": "player,challenge,solved\nx,1,1\ny,1,0\n"}
    with pytest.raises(DataError) as wrong:
        read([(name, io.BytesIO(text.encode())) for name, text in texts.items()])
    assert str(wrong.value) == "a.csv holds answers, and a file before it battles: take them apart"


def test_rows_of_which_none_counts_are_refused_with_the_reason() -> None:
    with pytest.raises(
        DataError, match=r"no row has a result that counts\n  1 row without a winner .*1 empty"
    ):
        battles("model_a,model_b,winner\nx,y,\n", "x.csv")
    with pytest.raises(DataError, match=r"no row has a result that counts\n  1 answer has no score"):
        answers(("x.csv", "player,challenge,solved\nx,1,\n"))


def test_what_is_stated_twice_is_refused() -> None:
    assert pairs(["a=left,b=right", "a=left"], "--columns") == {"a": "left", "b": "right"}
    for text, option in (("a=left,a=right", "--columns"), ("1=a,1=b", "--winner")):
        with pytest.raises(DataError, match=rf"{option} .*: it is .* already; leave one out"):
            pairs([text], option)
    with pytest.raises(DataError, match="columns model_a=right: it is left already"):
        GivenForm.of({"a": "left", "model_a": "right"}, {})
    with pytest.raises(DataError, match="columns a and b are both left: name one for each side"):
        GivenForm.of({"a": "left", "b": "left"}, {})


def test_numbers_are_names_and_lists_may_be_texts() -> None:
    assert battles(lines({"model_a": 1, "model_b": 2, "winner": 2})).names == ("1", "2")
    assert battles(lines({"model_a": "a\nb", "model_b": "c\u2028", "winner": "tie"})).names == ("a b", "c")
    found = read([("x.csv", io.BytesIO(b'players,ranks\n"[""x"",[""y"",""z""]]","[1,2]"\n'))])
    assert isinstance(found, PlayedGames)
    assert found.games[0].teams == ((0,), (1, 2))
    with pytest.raises(DataError, match=r"column ranks: found '\[1\]', expected a list of 2"):
        read([("x.csv", io.BytesIO(b'players,ranks\n"[""x"",""y""]",[1]\n'))])


@pytest.mark.parametrize("name", ["x.csv", "x", "x.tsv"])
@pytest.mark.parametrize("head", [b"\x89PNG\r\n\x1a\n", b"SQLite format 3\0", b"\x7fELF\x02\x01\x01"])
def test_pictures_and_programs_are_no_tables(head: bytes, name: str) -> None:
    with pytest.raises(DataError, match=rf"{name} is no text, .*; expected \.csv, "):
        read([(name, io.BytesIO(head + bytes(range(60))))])


def test_columns_by_which_rows_count_may_be_spelled_otherwise() -> None:
    found = read(
        [
            (
                "x.jsonl",
                io.BytesIO(
                    lines(
                        *[
                            {key.upper(): value for key, value in row.items()}
                            for row in PROMPTFOO["results"]["results"]
                        ]
                    ).encode()
                ),
            )
        ]
    )  # type: ignore[index]
    assert isinstance(found, Answers)
    assert "1 answer has no score and is left out (1 error)" in found.notes


def test_packed_files_name_the_model_too() -> None:
    packed = gzip.compress(lines(sample(0, exact_match=1.0)).encode())
    found = read([("out/one/samples_gsm8k.jsonl.gz", io.BytesIO(packed))])
    assert isinstance(found, Answers)
    assert (found.names, found.challenges) == (("one",), ("gsm8k/0",))


def test_words_for_winners_are_hinted_at_where_a_word_is_the_mistake() -> None:
    for rows, hinted in (("x,y,maybe\n", True), ("x,y\n", False)):
        with pytest.raises(DataError) as wrong:
            battles(f"model_a,model_b,winner\n{rows}", "x.csv")
        assert ("--winner WORD=a" in str(wrong.value)) is hinted


def test_votes_without_answers_are_nothing_to_judge(tmp_path: Any) -> None:
    (tmp_path / "votes.csv").write_text("model_a,model_b,winner,question\nx,y,x,q\n", "utf-8")
    with pytest.raises(
        NoAnswers, match=r"votes\.csv, line 2: expected recorded answers .*; there is no answer"
    ):
        pairs_in([str(tmp_path / "votes.csv")], "")


def test_columns_are_called_as_their_file_has_them() -> None:
    text = "MODEL_A,MODEL_B,WINNER,LANGUAGE\nx,y,x,en\ny,x,x,de\n"
    for name in ("LANGUAGE", "language"):
        assert battles(text, "x.csv", by=name, labels=(name,)).labels[name] == ("en", "de")
