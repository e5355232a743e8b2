"""Words for "no answer" as votes and in keys."""

from __future__ import annotations

import random

from votes.misread.making import (
    IDS,
    JURORS,
    ROWS,
    TRUTH,
    case,
    lines,
    long_rows,
    panel,
    right,
    table,
    wide,
)


def words() -> None:
    for k, word in enumerate(
        ("N/A", "NA", "null", "None", "-", "?", "skip", "abstain", "#N/A", "<NA>", "no answer", ".")
    ):
        cut = random.Random(100 + k)
        gaps = [[None if cut.random() < 0.12 else x for x in row] for row in ROWS]
        rows = [[word if x is None else x for x in row] for row in gaps]
        name = f"missing_{k}_" + "".join(c for c in word if c.isalnum())
        wide(
            name,
            {"item": IDS},
            before=True,
            rows=rows,
            truth=right(gaps),
            group="words",
            accept="right alarm",
            kinds="ambiguous_words",
        )
    for k, word in enumerate(
        ("unsure", "idk", "refused", "tie", "ERROR", "Unknown", "not sure", "don't know", "invalid")
    ):
        cut = random.Random(200 + k)
        gaps = [[None if cut.random() < 0.12 else x for x in row] for row in ROWS]
        rows = [[word if x is None else x for x in row] for row in gaps]
        abstains = word in ("unsure", "idk", "not sure", "don't know")  # an answer that is never a true label
        name = f"maybe_{k}_" + "".join(c for c in word if c.isalnum())
        wide(
            name,
            {"item": IDS},
            before=True,
            rows=rows,
            truth=right(gaps) if abstains else None,
            group="words",
            accept="right" if abstains else "alarm refuse",
            kinds="ambiguous_words",
        )
    cut = random.Random(300)
    rows = [[-1 if cut.random() < 0.12 else int(x == "yes") for x in row] for row in ROWS]
    gaps = [[None if x == -1 else x for x in row] for row in rows]
    wide(
        "missing_minus_one",
        {"item": IDS},
        rows=rows,
        truth=right(gaps),
        group="words",
        accept="right alarm",
        kinds="ambiguous_words",
    )
    wide(
        "missing_minus_one_jsonl",
        {"item": IDS},
        rows=rows,
        truth=right(gaps),
        group="words",
        accept="right alarm",
        kinds="ambiguous_words",
        write=lines,
        ext="jsonl",
    )
    rows = [["None" if cut.random() < 0.12 else x for x in row] for row in ROWS]
    case(
        "missing_long_None",
        table(["item", "juror", "label"], long_rows(rows, IDS)),
        right([[None if x == "None" else x for x in r] for r in rows]),
        "right alarm",
        "ambiguous_words",
        group="words",
    )
    _, rows = panel(120, ("against", "favor", "none"), seed=14)
    wide("true_label_none", {}, rows=rows, truth=right(rows), group="words", accept="right")
    _, rows = panel(120, ("+", "-"), seed=15)
    wide("true_label_minus", {}, rows=rows, truth=right(rows), group="words", accept="right")
    _, rows = panel(120, ("error", "no error"), seed=16)
    wide("true_label_error", {}, rows=rows, truth=right(rows), group="words", accept="right")
    _, rows = panel(120, (-1, 1), seed=17)
    wide("true_label_minus_one", {}, rows=rows, truth=right(rows), group="words", accept="right")
    _, rows = panel(120, ("X", "N/A"), seed=18)
    wide(
        "one_label_and_na",
        {},
        rows=rows,
        truth=right(rows),
        group="words",
        accept="right alarm refuse",
        kinds="ambiguous_words",
    )
    keyed()


def keyed() -> None:
    """Words for no answer in a key: the true scores are those over the items whose label is known."""
    body = table(["item", *JURORS], [[i, *r] for i, r in zip(IDS, ROWS, strict=True)])
    for k, word in enumerate(("N/A", "null", "-", "unsure", "?")):
        cut = random.Random(400 + k)
        known = [None if cut.random() < 0.3 else t for t in TRUTH]
        key = table(["item", "truth"], [[i, word if t is None else t] for i, t in zip(IDS, known, strict=True)])
        rated = [(r, t) for r, t in zip(ROWS, known, strict=True) if t is not None]
        score = {j: sum(r[n] == t for r, t in rated) / len(rated) for n, j in enumerate(JURORS)}
        name = f"key_{k}_" + ("".join(c for c in word if c.isalnum()) or "mark")
        accept = "alarm refuse right" if word == "unsure" else "right alarm"
        case(
            name,
            {f"{name}.csv": body, f"{name}.key.csv": key},
            {"score": score},
            accept,
            "ambiguous_words",
            group="words",
            command="score",
        )
