"""Tables of evaluations: judges in columns beside what they judged, arenas, records with records inside."""

from __future__ import annotations

import json

from votes.exported.exports import ITEMS, JURORS, ROWS, TEXTS, TRUTH, cells, export, said

JUDGES = ["gpt-4o judge", "claude judge", "gemini judge", "llama judge", "human"]
ASKED = [f"Which one is {k} cm long, and why?" for k in range(24)]


def model_exports() -> None:
    """Question, answer and judges; arenas; nested records."""
    _judge_columns()
    _fastchat()
    _nested()


def _judge_columns() -> None:
    judges = [f"judge_{name}" for name in JURORS]
    rows = [[i, q, a, *row] for i, q, a, row in zip(ITEMS, ASKED, TEXTS, ROWS, strict=True)]
    export(
        "eval_table",
        "eval.csv",
        cells(["id", "question", "model_answer", *judges], *rows).encode(),
        said(jurors=judges),
    )
    explained = [
        [q, a, "gpt-4o", *(cell for j, vote in enumerate(row) for cell in (vote, f"I say {vote}: {a[:9]} ({j})"))]
        for q, a, row in zip(ASKED, TEXTS, ROWS, strict=True)
    ]
    head = [
        "question",
        "answer",
        "model",
        *(name for judge in judges for name in (f"{judge}_verdict", f"{judge}_explanation")),
    ]
    export("eval_explanations", "eval2.csv", cells(head, *explained).encode(),
           said(jurors=[f"{judge}_verdict" for judge in judges], items=ASKED))  # fmt: skip
    keyed = [[q, t, *row] for q, t, row in zip(ASKED, TRUTH, ROWS, strict=True)]
    export("eval_key_column", "eval3.csv", cells(["question", "human_label", *judges], *keyed).encode(),
           said(jurors=judges, items=ASKED), say="--ignore human_label")  # fmt: skip
    models = [[i, m, *row] for i, row, m in zip([f"q{k // 2}" for k in range(24)], ROWS, ["x", "y"] * 12, strict=True)]
    export("eval_two_models", "eval4.csv", cells(["question_id", "model", *judges], *models).encode(),
           said(jurors=judges, items=[f"{i}|{m}" for i, m, *_ in models]), say="--item question_id,model")  # fmt: skip


def arena() -> bytes:
    """Chatbot Arena's battles: which of two is better."""
    battles = []
    for k in range(60):
        one, two = ("gpt-4", "claude", "llama", "vicuna")[k % 4], ("llama", "vicuna", "claude")[k % 3]
        winner = ("model_a", "model_b", "tie", "tie (bothbad)", "model_a")[k % 5]
        if one != two:
            battles.append(
                {"question_id": f"q{k:03d}", "model_a": one, "model_b": two, "winner": winner,
                 "judge": f"arena_user_{k % 6}", "conversation_a": [{"role": "user", "content": "hi"}],
                 "conversation_b": [{"role": "user", "content": "hi"}], "turn": 1, "anony": True,
                 "language": "English", "tstamp": 1682351591.1322 + k}
            )  # fmt: skip
    return "".join(json.dumps(battle) + "\n" for battle in battles).encode()


def _fastchat() -> None:
    """Single-answer grades of FastChat's judges."""
    judged = [
        {"question_id": 80 + k, "model": "vicuna", "judge": [judge, "single-v1"], "judgment": f"Rating: [[{k % 3}]]",
         "score": (k * (j + 2) + j) % 4 + 1, "turn": 1, "tstamp": 1687222854.2 + j}
        for k in range(24) for j, judge in enumerate(JURORS)
    ]  # fmt: skip
    votes = {(str(one["question_id"]), str(one["judge"][0]), str(one["score"])) for one in judged}  # type: ignore[index]
    export("fastchat_single", "gpt-4_single.jsonl", "".join(json.dumps(one) + "\n" for one in judged).encode(), votes,
           options="--juror judge.0 --label score")  # fmt: skip


def _nested() -> None:
    records = [
        {"sample": {"id": item, "text": text}, "judge": {"name": judge, "version": 2}, "result": {"verdict": vote}}
        for item, text, row in zip(ITEMS, TEXTS, ROWS, strict=True)
        for judge, vote in zip(JURORS, row, strict=True)
    ]
    export("nested_records", "nested.json", json.dumps(records).encode(), said(),
           options="--item sample.id --juror judge.name --label result.verdict")  # fmt: skip
    compared = [
        {"pair_id": item, "original_id": k, "source": "mmlu-pro-law", "question": q, "response_model": "gpt-4o",
         "response_A": f"I would choose A. {TEXTS[k]}", "response_B": f"It must be B. {TEXTS[-k]}",
         "label": "A>B" if truth == "yes" else "B>A",
         "judge": judge, "decision": "A>B" if vote == "yes" else "B>A"}
        for k, (item, q, truth, row) in enumerate(zip(ITEMS, ASKED, TRUTH, ROWS, strict=True))
        for judge, vote in zip(JURORS, row, strict=True)
    ]  # fmt: skip
    named = dict(zip(ITEMS, ASKED, strict=True))
    decided = {(named[item], judge, "A>B" if vote == "yes" else "B>A") for item, judge, vote in said()}
    export("judgebench", "judgebench.jsonl", "".join(json.dumps(one) + "\n" for one in compared).encode(), decided,
           options="--scale nominal", say="--label decision")  # fmt: skip
