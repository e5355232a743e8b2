"""Keys and columns made from the others, turned tables, and what is there twice."""

from __future__ import annotations

from collections import Counter

from votes.misread.making import (
    IDS,
    JURORS,
    NUMBERS,
    RIGHT,
    ROWS,
    STAMPS,
    TRUTH,
    N,
    case,
    long_rows,
    panel,
    right,
    table,
    wide,
)


def keys() -> None:
    g = "key"
    for word in (
        "gold",
        "target",
        "correct",
        "label",
        "answer",
        "expected",
        "y_true",
        "human",
        "reference",
        "final",
        "Gold Label",
        "ground_truth",
        "actual",
        "correct_answer",
    ):
        wide(
            f"key_{word.replace(' ', '_')}",
            {"item": IDS, word: TRUTH},
            group=g,
            accept="right refuse alarm",
            kinds="key_column",
        )
    most = ["yes" if r.count("yes") > 2 else "no" for r in ROWS]
    for word in ("consensus", "majority", "zoe", "ensemble"):
        wide(
            f"made_{word}",
            {"item": IDS, word: most},
            group=g,
            accept="right refuse alarm",
            kinds="made_from_others key_column",
        )
    case(
        "made_long",
        table(
            ["item", "juror", "label"],
            long_rows([[*r, m] for r, m in zip(ROWS, most, strict=True)], IDS, (*JURORS, "agg")),
        ),
        RIGHT,
        "right refuse alarm",
        "made_from_others",
        group=g,
    )
    _, four = panel(120, ("a", "b", "c"), seed=23)
    mode = [Counter(r).most_common(1)[0][0] for r in four]
    wide(
        "made_three_labels",
        {"vote": mode},
        rows=four,
        truth=right(four),
        group=g,
        accept="right refuse alarm",
        kinds="made_from_others key_column",
    )
    wide(
        "copy_of_a_juror", {"item": IDS, "bob_2": [r[1] for r in ROWS]}, group=g, accept="refuse alarm", kinds="copies"
    )


def turned() -> None:
    g = "turned"
    short = ROWS[:40]
    heads = [f"q{k + 1}" for k in range(40)]
    flipped = [[j, *(r[k] for r in short)] for k, j in enumerate(JURORS)]
    truth = right(short)
    kinds = "transposed"
    for word in ("worker", "annotator", "name", "", "participant"):
        case(f"turned_{word or 'blank'}", table([word, *heads], flipped), truth, "right refuse alarm", kinds, group=g)
    case("turned_numbers", table(["judge", *map(str, range(40))], flipped), truth, "right refuse alarm", kinds, group=g)
    case(
        "turned_images",
        table(["id", *(f"{n}.jpg" for n in NUMBERS[:40])], flipped),
        truth,
        "right refuse alarm",
        kinds,
        group=g,
    )
    case(
        "turned_no_names",
        table(heads, [r[1:] for r in flipped]),
        right(short, [str(k) for k in range(5)]),
        "right refuse alarm",
        kinds,
        group=g,
    )
    people = [f"p{k}@x.org" for k in range(25)]
    _, many = panel(12, seed=31, jurors=25)
    form = [[STAMPS[k], people[k], *(row[k] for row in many)] for k in range(25)]
    case(
        "turned_form",
        table(["Timestamp", "Email Address", *(f"Is picture {k} a cat?" for k in range(12))], form),
        right(many, people),
        "right refuse alarm",
        kinds,
        group=g,
    )


def twice() -> None:
    g = "twice"
    bare = table(JURORS, ROWS)
    case("rows_twice", table(JURORS, [*ROWS, *ROWS]), RIGHT, "right refuse alarm", "repeated_rows", group=g)
    case(
        "rows_twice_header_numbered",
        table(["item", *JURORS], [[k, *r] for k, r in enumerate([*ROWS, *ROWS])]),
        RIGHT,
        "right refuse alarm",
        "repeated_rows",
        group=g,
    )
    case(
        "rows_each_twice",
        table(JURORS, [r for r in ROWS for _ in (0, 1)]),
        RIGHT,
        "right refuse alarm",
        "repeated_rows",
        group=g,
    )
    case(
        "file_under_two_names",
        {"two_names_a.csv": bare, "two_names_b.csv": bare},
        RIGHT,
        "right refuse alarm",
        "repeated_rows same_files",
        group=g,
    )
    long_file = table(["item", "juror", "label"], long_rows(ROWS, IDS))
    case(
        "long_under_two_names",
        {"two_long_a.csv": long_file, "two_long_b.csv": long_file},
        RIGHT,
        "right refuse",
        group=g,
    )
    other = panel(80, seed=41)[1]
    names = ("fay", "gus", "hal", "ida", "joe")
    both = [*([*r, *[None] * 5] for r in ROWS), *([*[None] * 5, *r] for r in other)]
    parts = {
        "task_a.csv": table(["item", "juror", "label"], long_rows(ROWS, list(range(N)))),
        "task_b.csv": table(["item", "juror", "label"], long_rows(other, list(range(N)), names)),
    }
    case(
        "ids_coincide_files",
        parts,
        right(both, (*JURORS, *names)),
        "right refuse alarm",
        "items_coincide separate_groups",
        group=g,
    )
    body = [["a", *v] for v in long_rows(ROWS, list(range(N)))] + [
        ["b", *v] for v in long_rows(other, list(range(N)), names)
    ]
    case(
        "ids_coincide_dataset",
        table(["dataset", "item", "juror", "label"], body),
        right(both, (*JURORS, *names)),
        "right refuse alarm",
        "items_coincide",
        group=g,
    )
    body = [["a", *v] for v in long_rows(ROWS, list(range(N)))] + [["b", *v] for v in long_rows(other, list(range(N)))]
    case(
        "ids_coincide_same_jurors",
        table(["task", "item_id", "worker", "label"], body),
        right([*ROWS, *other]),
        "right refuse",
        group=g,
    )
    case(
        "merge_onto_itself",
        {
            "merge_a.csv": table(["item", *JURORS], [[f"a{k}", *r] for k, r in enumerate(ROWS)]),
            "merge_b.csv": table(["item", *JURORS], [[f"b{k}", *r] for k, r in enumerate(other)]),
        },
        None,
        "refuse",
        group=g,
        command="merge",
    )
    case(
        "header_again",
        table(
            ["item", *JURORS],
            [
                *([i, *r] for i, r in zip(IDS[:40], ROWS, strict=False)),
                ["item", *JURORS],
                *([i, *r] for i, r in zip(IDS[40:], ROWS[40:], strict=True)),
            ],
        ),
        RIGHT,
        "right refuse alarm",
        "header_row",
        group=g,
    )
    case(
        "no_header",
        table(["i000", *ROWS[0]], [[i, *r] for i, r in zip(IDS[1:], ROWS[1:], strict=True)]),
        None,
        "refuse alarm",
        "header_row",
        group=g,
    )
    case("no_header_wide", table(list("yynyn"), [[x[0] for x in r] for r in ROWS]), None, "refuse", group=g)
    case(
        "total_row",
        table(
            ["item", *JURORS],
            [
                *([i, *r] for i, r in zip(IDS, ROWS, strict=True)),
                ["Total", *(sum(r[k] == "yes" for r in ROWS) for k in range(5))],
            ],
        ),
        RIGHT,
        "right refuse alarm",
        "rare_numbers",
        group=g,
    )
