"""One vote per row, under the names that crowds, logs and judges give the columns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from votes.misread.making import (
    CASES,
    FILES,
    IDS,
    JURORS,
    NUMBERS,
    RIGHT,
    ROWS,
    TEXTS,
    TRUTH,
    N,
    case,
    lines,
    long,
    long_rows,
    panel,
    right,
    rng,
    table,
)


def long_tables() -> None:
    columns: dict[str, Sequence[Any]] = {
        "image_id": [f"img_{k:04d}.jpg" for k in range(N)],
        "tweet_id": [10**17 + 7919 * k for k in range(N)],
        "doc_id": [f"d{k}" for k in range(N)],
        "HITId": [f"3{k:05X}QZ" for k in range(N)],
        "query_id": list(range(N)),
        "case": list(range(1, N + 1)),
        "row": list(range(N)),
        "text": TEXTS,
        "image": [f"images/{k}.png" for k in range(N)],
        "prompt": TEXTS,
        "url": [f"http://x.org/{k}" for k in range(N)],
        "filename": [f"f{k}.wav" for k in range(N)],
        "pmid": NUMBERS,
        "unit": list(range(N)),
    }
    for word, ids in columns.items():
        long(f"long_{word}", [word, "worker_id", "label"], ids)
    long("long_annotator_first", ["label", "annotator", "sentence"], TEXTS, truth=None, accept="refuse")
    body = [[label, who, name] for name, who, label in long_rows(ROWS, TEXTS)]
    case("long_label_first", table(["label", "annotator", "sentence"], body), RIGHT, group="long")
    del CASES["long_annotator_first"], FILES["long_annotator_first.csv"]
    long("long_unknown_names", ["thing", "who", "said"], IDS, accept="right refuse")
    long("long_all_numbers", ["a", "b", "c"], list(range(N)), accept="right refuse")
    codes = {"ann": 101, "bob": 102, "cy": 103, "dee": 104, "eve": 105}
    body = [[name, codes[who], int(label == "yes")] for name, who, label in long_rows(ROWS, NUMBERS)]
    truth = right([[int(x == "yes") for x in r] for r in ROWS], [str(codes[j]) for j in JURORS])
    case("long_numeric_everything", table(["tweet_id", "user_id", "sentiment"], body), truth, group="long")
    case(
        "long_pandas_index",
        table(["", "image_id", "worker_id", "label"], [[k, *v] for k, v in enumerate(long_rows(ROWS, IDS))]),
        RIGHT,
        group="long",
    )
    long(
        "long_timestamp",
        ["item_id", "worker_id", "label", "timestamp"],
        IDS,
        extra=lambda v: [f"2024-01-01T10:{rng.randrange(60):02d}:00"],
    )
    long(
        "long_confidence", ["image", "annotator", "class", "confidence"], IDS, extra=lambda v: [round(rng.random(), 3)]
    )
    long(
        "long_comment",
        ["doc_id", "rater", "rating", "comment"],
        IDS,
        extra=lambda v: [rng.choice(["", "ok", "hard one"])],
    )
    long(
        "long_mturk",
        ["HITId", "WorkerId", "Answer.category", "AssignmentId", "WorkTimeInSeconds"],
        IDS,
        accept="right refuse",
        extra=lambda v: [f"A{rng.randrange(10**9)}", rng.randrange(5, 90)],
    )
    long(
        "long_mturk_input",
        ["Input.image_url", "WorkerId", "Answer.label", "AcceptTime"],
        [f"http://x/{k}.jpg" for k in range(N)],
        extra=lambda v: [f"Mon Mar {rng.randrange(1, 28)} 10:00:00 PST 2024"],
    )
    long("long_vote_id", ["vote_id", "item", "juror", "label"], IDS, truth=RIGHT)
    votes = long_rows(ROWS, IDS)
    case(
        "long_vote_id_first",
        table(["id", "image", "annotator", "label"], [[k, *v] for k, v in enumerate(votes)]),
        RIGHT,
        "right refuse",
        group="long",
    )
    FILES["long_vote_id.csv"] = table(
        ["annotation_id", "item", "juror", "label"], [[9000 + k, *v] for k, v in enumerate(votes)]
    )
    case(
        "long_sorted_by_juror",
        table(["image_id", "worker_id", "label"], sorted(votes, key=lambda v: (v[1], v[0]))),
        RIGHT,
        group="long",
    )
    _, sparse = panel(seed=21)
    gaps = random.Random(5)
    sparse = [[x if gaps.random() < 0.7 else None for x in row] for row in sparse]
    sparse = [row for row in sparse if any(x is not None for x in row)]
    case(
        "long_sparse",
        table(["tweet", "coder", "code"], long_rows(sparse, IDS[: len(sparse)])),
        right(sparse),
        "right refuse",
        group="long",
    )
    case("long_jsonl", lines(["image_id", "worker_id", "label"], votes), RIGHT, group="long", ext="jsonl")
    case(
        "long_two_labels",
        table(["item", "juror", "label", "sentiment"], [[*v, rng.choice(["pos", "neg"])] for v in votes]),
        RIGHT,
        "right refuse",
        group="long",
    )
    long(
        "long_two_label_words",
        ["item", "juror", "answer", "rating"],
        IDS,
        extra=lambda v: [rng.choice("12345")],
        accept="right refuse",
    )
    long("long_correct_column", ["item", "annotator", "label", "gold"], IDS, extra=lambda v: [TRUTH[int(v[0][1:])]])
    case(
        "long_gold_is_label_word",
        table(
            ["question_id", "model", "correct_answer", "prediction"],
            [[n, j, TRUTH[int(n[1:])], said] for n, j, said in votes],
        ),
        RIGHT,
        "right refuse",
        group="long",
    )
    case(
        "long_category_of_item",
        table(
            ["item", "category", "annotator", "verdict"],
            [[n, "art" if int(n[1:]) % 2 else "law", j, said] for n, j, said in votes],
        ),
        RIGHT,
        group="long",
    )
    case(
        "long_text_beside_id",
        table(["id", "text", "annotator", "label"], [[n, TEXTS[int(n[1:])], j, said] for n, j, said in votes]),
        RIGHT,
        group="long",
    )
    case(
        "long_score_beside_label",
        table(["image_id", "worker_id", "label", "score"], [[*v, round(rng.random(), 4)] for v in votes]),
        RIGHT,
        group="long",
    )


def judges() -> None:
    models = ["m1", "m2"]
    _, rows = panel(80, ("fail", "pass"), seed=7, jurors=3)
    names = ("gpt_judge", "claude_judge", "gemini_judge")
    truth = right(rows, names)
    head = ["question_id", "model", "response", *names]
    body = [[k // 2, models[k % 2], TEXTS[k], *row] for k, row in enumerate(rows)]
    case("judges_of_responses", table(head, body), truth, "right refuse", group="judges")
    body = [[k // 2, models[k % 2], rng.choice("ABCD"), *row] for k, row in enumerate(rows)]
    case("judges_of_choices", table(head, body), truth, "right refuse", group="judges")
    body = [[k, TEXTS[k], TEXTS[-k], *row] for k, row in enumerate(rows)]
    case(
        "judges_prompt_response",
        table(["id", "prompt", "response", *names], body),
        truth,
        "right refuse",
        group="judges",
    )
    body = [[k, "gpt-4", rng.choice(["ok", "bad"]), *row] for k, row in enumerate(rows)]
    case("judges_one_model", table(["id", "model", "answer", *names], body), truth, "right refuse", group="judges")
    long_head = ["question_id", "judge", "model_a", "model_b", "winner"]
    _, wins = panel(80, ("model_a", "model_b"), seed=8, jurors=4)
    who = ("gpt", "claude", "gemini", "llama")
    body = [[n, j, "vicuna", "alpaca", w] for n, j, w in long_rows(wins, list(range(80)), who)]
    case("pairs_one_pair", table(long_head, body), right(wins, who), "right refuse", group="judges")
    pairs = [("vicuna", "alpaca"), ("vicuna", "koala")]
    body = [[n // 2, j, *pairs[n % 2], w] for n, j, w in long_rows(wins, list(range(80)), who)]
    case("pairs_many_pairs", table(long_head, body), right(wins, who), "right refuse", group="judges")
    named = [
        [n, j, a, b, a if w == "model_a" else b]
        for n, j, a, b, w in [[n, j, *pairs[n % 2], w] for n, j, w in long_rows(wins, list(range(80)), who)]
    ]
    case(
        "pairs_winner_by_name",
        table(long_head, named),
        None,
        "refuse alarm",
        "another_alphabet pair_labels",
        group="judges",
    )
    ties = [[w if rng.random() > 0.1 else "tie" for w in row] for row in wins]
    body = [[n, j, "vicuna", "alpaca", w] for n, j, w in long_rows(ties, list(range(80)), who)]
    case("pairs_with_ties", table(long_head, body), None, "refuse alarm", "ambiguous_words", group="judges")
    body = [[k, *row, rng.randrange(1, 6)] for k, row in enumerate(rows)]
    case(
        "judges_difficulty",
        table(["id", *names, "difficulty"], body),
        truth,
        "right refuse alarm",
        "another_alphabet unlike_columns",
        group="judges",
    )
    out = [[k, *[x for v in row for x in (v, f"because {TEXTS[(k + len(v)) % N]}")]] for k, row in enumerate(rows)]
    head = ["id", *[x for n in names for x in (n, f"{n}_reason")]]
    case("judges_reasons", table(head, out), truth, "right refuse", group="judges")
    out = [[k, *[x for v in row for x in (v, round(rng.random(), 2))]] for k, row in enumerate(rows)]
    case(
        "judges_confidences",
        table(["id", *[x for n in names for x in (n, f"{n}_confidence")]], out),
        truth,
        "right refuse",
        group="judges",
    )
