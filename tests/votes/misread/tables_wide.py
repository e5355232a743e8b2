"""Counts, and one juror per column beside columns that are none."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import Any

from votes.misread.making import (
    IDS,
    JURORS,
    NUMBERS,
    RIGHT,
    ROWS,
    STAMPS,
    TEXTS,
    N,
    case,
    lines,
    long,
    panel,
    right,
    rng,
    table,
    wide,
)


def counts() -> None:
    tuples = Counter(tuple(row[:3]) for row in panel(900, seed=9)[1])
    names = JURORS[:3]
    rows = [r for t, n in tuples.items() for r in [list(t)] * n]
    truth = right(rows, names)
    body = [[*t, n] for t, n in sorted(tuples.items())]
    for word in ("count", "n", "freq", "frequency"):
        case(f"counts_{word}", table([*names, word], body), truth, group="counts")
    case(
        "counts_json_text",
        lines([*names, "count"], [[*t, str(n)] for *t, n in body]),
        truth,
        "right refuse",
        group="counts",
        ext="jsonl",
    )
    case(
        "counts_json_text_n",
        lines([*names, "n"], [[*t, str(n)] for *t, n in body]),
        truth,
        "right refuse",
        group="counts",
        ext="jsonl",
    )
    case(
        "counts_thousands",
        table(
            [*names, "count"], [[*t, f"{n:,}" if n > 999 else f"{n}"] for *t, n in [[*r[:3], r[3] * 10] for r in body]]
        ),
        right([r for r in rows for _ in range(10)], names),
        "right refuse",
        group="counts",
    )
    for word in ("n", "freq", "count"):
        wide(
            f"items_beside_{word}",
            {"item": IDS, word: [rng.randrange(1, 9) for _ in IDS]},
            group="counts",
            accept="right refuse",
        )
    wide("items_beside_n_votes", {"item": IDS, "n": [5] * N}, group="counts", accept="right refuse")
    wide("no_items_n_feature", {"n": [rng.randrange(1, 60) for _ in IDS]}, group="counts", accept="right refuse")
    long(
        "long_beside_n",
        ["item", "juror", "label", "n"],
        IDS,
        extra=lambda v: [rng.randrange(1, 5)],
        accept="right refuse",
        group="counts",
    )
    tally = [
        [i, label, sum(x == label for x in row)] for i, row in zip(IDS, ROWS, strict=True) for label in ("no", "yes")
    ]
    case("votes_by_label", table(["item", "label", "count"], tally), None, "refuse", group="counts")
    case(
        "votes_by_label_wide",
        table(
            ["item", "yes", "no"], [[i, row.count("yes"), row.count("no")] for i, row in zip(IDS, ROWS, strict=True)]
        ),
        None,
        "refuse alarm",
        "scores unlike_columns another_alphabet",
        group="counts",
    )
    case(
        "votes_by_label_three",
        table(
            ["item", "pos", "neg", "neutral"],
            [[i, (a := row.count("yes")), (b := min(5 - a, 2)), 5 - a - b] for i, row in zip(IDS, ROWS, strict=True)],
        ),
        None,
        "refuse alarm",
        "scores tallies unlike_columns",
        group="counts",
    )


def wide_tables() -> None:
    g = "columns"
    wide("wide_uuid", {"uuid": [f"{n:x}-{k:04x}" for k, n in enumerate(NUMBERS)]}, before=True, group=g)
    wide("wide_prompt", {"prompt": TEXTS}, before=True, group=g)
    wide("wide_text_and_id", {"id": IDS, "text": TEXTS}, before=True, group=g, accept="right refuse")
    wide("wide_numeric_id_last", {"ref": NUMBERS}, group=g)
    wide("wide_timestamp", {"timestamp": STAMPS}, group=g)
    wide("wide_epoch", {"created_at": [1_700_000_000 + 37 * k for k in range(N)]}, group=g)
    wide("wide_duration", {"duration": [rng.randrange(3, 120) for _ in IDS]}, group=g, accept="right refuse")
    wide("wide_seconds_float", {"seconds": [round(rng.random() * 50, 2) for _ in IDS]}, group=g)
    wide(
        "wide_comment",
        {"comment": [rng.choice(["", "", "unclear", "nice", "check again"]) for _ in IDS]},
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet",
    )
    wide(
        "wide_batch",
        {"batch": [1 + k // 20 for k in range(N)]},
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet",
    )
    wide(
        "wide_split",
        {"split": [rng.choice(["train", "test"]) for _ in IDS]},
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet",
    )
    wide(
        "wide_language",
        {"lang": [rng.choice(["en", "de", "fr"]) for _ in IDS]},
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet",
    )
    wide(
        "wide_unknown_category",
        {"zone": [rng.choice(["north", "south"]) for _ in IDS]},
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet",
    )
    features = [[rng.choice(words) for words in (("red", "blue"), ("round", "square"), ("S", "M", "L"))] for _ in IDS]
    case("wide_features", table(["color", "shape", "size"], features), None, "alarm", "unlike_columns", group=g)
    half = [[*row, row[0]] for row in features]
    case("wide_half_features", table(["a", "b", "c", "d"], half), None, "alarm", "unlike_columns", group=g)
    blank = rng.sample(range(N), 12)
    for name, of, other in (("wide_code_99", {"yes": 1, "no": 0}, 99), ("wide_two_answers", {}, "yes|no")):
        told: list[list[Any]] = [[of.get(x, x) for x in row] for row in ROWS]
        for k in blank:
            told[k][k % 5] = other
        case(name, table(["item", *JURORS], [[i, *r] for i, r in zip(IDS, told, strict=True)]), None, "alarm",
             "ambiguous_words", group=g)  # fmt: skip
    full = [[*row[:4], "ｙｅｓ" if row[4] == "yes" else row[4]] for row in ROWS]
    case("wide_other_width", table(list(JURORS), full), None, "alarm", "similar_labels", group=g)
    ones = [[int(x == "yes") for x in row] for row in ROWS]
    ones.append([sum(column) for column in zip(*ones, strict=True)])
    case("wide_totals_of_ones", table(list(JURORS), ones), None, "alarm", "rare_numbers", group=g)
    tongues = [{"yes": a, "no": b} for a, b in (("yes", "no"), ("yes", "no"), ("yes", "no"), ("1", "0"), ("T", "F"))]
    mixed = [[say[x] for say, x in zip(tongues, row, strict=True)] for row in ROWS]
    case("wide_three_alphabets", table(list(JURORS), mixed), None, "alarm", "another_alphabet", group=g)
    wide("wide_confidence", {"confidence": [round(rng.random(), 2) for _ in IDS]}, group=g)
    wide(
        "wide_agreement_share",
        {"agreement": [round(max(r.count("yes"), r.count("no")) / 5, 1) for r in ROWS]},
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet",
    )
    wide("wide_form_export", {"Timestamp": STAMPS, "Image": [f"{k}.png" for k in range(N)]}, before=True, group=g)
    wide("wide_pandas_index", {"": list(range(N))}, before=True, group=g)
    wide("wide_unnamed", {"Unnamed: 0": list(range(N)), "doc": IDS}, before=True, group=g)
    wide("wide_index_and_item", {"index": list(range(N)), "item": IDS}, before=True, group=g)
    data = b"\xef\xbb\xbf" + table(["item", *JURORS], [[i, *r] for i, r in zip(IDS, ROWS, strict=True)], ";", "\r\n")
    case("wide_excel_bom", data, RIGHT, group=g)
    ints = [[int(x == "yes") for x in r] for r in ROWS]
    truth = right(ints)
    wide("wide_numbers_and_id", {"nr": list(range(100, 100 + N))}, before=True, rows=ints, truth=truth, group=g)
    wide(
        "wide_numbers_small_id",
        {"nr": list(range(N))},
        before=True,
        rows=ints,
        truth=truth,
        group=g,
        accept="right refuse",
    )
    wide(
        "wide_numbers_batch",
        {"batch": [k // 40 for k in range(N)]},
        rows=ints,
        truth=truth,
        group=g,
        accept="right refuse",
    )
    wide(
        "wide_numbers_age",
        {"age": [rng.randrange(18, 80) for _ in IDS]},
        rows=ints,
        truth=truth,
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet unlike_columns",
    )
    wide("wide_numbers_jsonl", {"uid": IDS}, before=True, rows=ints, truth=truth, group=g, write=lines, ext="jsonl")
    ranks = panel(90, (1, 2, 3, 4, 5), seed=13)[1]
    wide(
        "wide_stars_and_mean",
        {"item": IDS + [f"x{k}" for k in range(10)], "mean": [sum(r) / 5 for r in ranks]},
        rows=ranks,
        truth=right(ranks),
        group=g,
        accept="right refuse alarm",
        kinds="made_from_others",
    )
    wide(
        "wide_total",
        {"item": IDS, "total": [sum(r) for r in ints]},
        rows=ints,
        truth=truth,
        group=g,
        accept="right refuse alarm",
        kinds="another_alphabet",
    )
    case(
        "wide_gz",
        gzip.compress(table(["tweet", *JURORS], [[t, *r] for t, r in zip(TEXTS, ROWS, strict=True)]), mtime=0),
        RIGHT,
        group=g,
        ext="csv.gz",
    )
