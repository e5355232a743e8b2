"""Jurors who speak another alphabet, and labels that are hard to tell apart."""

from __future__ import annotations

import unicodedata

from votes.misread.making import (
    IDS,
    JURORS,
    RIGHT,
    ROWS,
    case,
    lines,
    long_rows,
    panel,
    right,
    rng,
    table,
    wide,
)


def alphabets() -> None:
    g = "alphabet"
    for name, spoken in {
        "ones": {"yes": "1", "no": "0"},
        "letters": {"yes": "Y", "no": "N"},
        "true": {"yes": "True", "no": "False"},
        "capitals": {"yes": "Yes", "no": "No"},
        "german": {"yes": "ja", "no": "nein"},
        "spelt": {"yes": "YES!", "no": "NO!"},
    }.items():
        rows = [[*row[:4], spoken[row[4]]] for row in ROWS]
        wide(
            f"alphabet_{name}",
            {"item": IDS},
            before=True,
            rows=rows,
            group=g,
            accept="right alarm refuse",
            kinds="another_alphabet similar_labels",
        )
    rows = [[*row[:3], *({"yes": "1", "no": "0"}[x] for x in row[3:])] for row in ROWS]
    wide(
        "alphabet_two_of_five",
        {"item": IDS},
        before=True,
        rows=rows,
        group=g,
        accept="right alarm refuse",
        kinds="another_alphabet",
    )
    case(
        "alphabet_long",
        table(
            ["item", "juror", "label"], long_rows([[*row[:4], {"yes": "1", "no": "0"}[row[4]]] for row in ROWS], IDS)
        ),
        RIGHT,
        "right alarm refuse",
        "another_alphabet",
        group=g,
    )
    blanks = [[*row[:4], f" {row[4]}  "] for row in ROWS]
    wide("alphabet_blanks", {"item": IDS}, rows=blanks, group=g)
    wide("alphabet_blanks_jsonl", {"item": IDS}, rows=blanks, group=g, write=lines, ext="jsonl")
    wide("alphabet_nbsp", {"item": IDS}, rows=[[*row[:4], f"{row[4]}\u00a0"] for row in ROWS], group=g)
    ints = [[int(x == "yes") for x in r] for r in ROWS]
    truth = right(ints)
    wide("numbers_floats", {"item": IDS}, rows=[[*r[:4], f"{r[4]:.1f}"] for r in ints], truth=truth, group=g)
    wide("numbers_zeros", {"item": IDS}, rows=[[*r[:4], f"0{r[4]}"] for r in ints], truth=truth, group=g)
    gaps = [[*r[:4], None if k % 9 == 0 else r[4]] for k, r in enumerate(ints)]
    wide(
        "numbers_pandas_gaps",
        {"item": IDS},
        rows=[[*r[:4], None if r[4] is None else f"{r[4]:.1f}"] for r in gaps],
        truth=right(gaps),
        group=g,
    )
    wide(
        "numbers_json_mixed",
        {"item": IDS},
        rows=[[*r[:4], str(r[4])] for r in ints],
        truth=truth,
        group=g,
        write=lines,
        ext="jsonl",
    )
    wide(
        "numbers_json_bool",
        {"item": IDS},
        rows=[[*r[:4], bool(r[4])] for r in ints],
        truth=truth,
        group=g,
        write=lines,
        ext="jsonl",
        accept="right alarm refuse",
        kinds="another_alphabet",
    )
    wide(
        "bools_and_words",
        {"item": IDS},
        rows=[[*r[:3], *(x == "yes" for x in r[3:])] for r in ROWS],
        group=g,
        write=lines,
        ext="jsonl",
        accept="right alarm refuse",
        kinds="another_alphabet",
    )
    _, cafe = panel(80, ("caf\u00e9", "th\u00e9"), seed=19)
    nfd = [[*row[:4], unicodedata.normalize("NFD", row[4])] for row in cafe]
    wide("alphabet_nfd", {"item": IDS}, rows=nfd, truth=right(cafe), group=g)
    names = ["Jos\u00e9" if j == "ann" else j for j in JURORS]
    said = [
        [i, unicodedata.normalize("NFD", j) if k % 2 else j, x]
        for k, (i, j, x) in enumerate(long_rows(ROWS, IDS, names))
    ]
    case(
        "juror_nfd",
        table(["item", "juror", "label"], said),
        right(ROWS, names),
        "right refuse alarm",
        "similar_jurors",
        group=g,
    )
    said = [[i, j.title() if k % 2 else j, x] for k, (i, j, x) in enumerate(long_rows(ROWS, IDS))]
    case("juror_case", table(["item", "juror", "label"], said), RIGHT, "right refuse alarm", "similar_jurors", group=g)
    mixed = [[x.title() if rng.random() < 0.3 else x for x in row] for row in ROWS]
    wide("labels_case_mixed", {"item": IDS}, rows=mixed, group=g, accept="right alarm refuse", kinds="similar_labels")
    reverse = [[*row[:4], {"yes": "2", "no": "1"}[row[4]]] for row in ROWS]
    wide(
        "alphabet_one_two", {"item": IDS}, rows=reverse, group=g, accept="right alarm refuse", kinds="another_alphabet"
    )
