"""How a `KeyedEvaluation` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jurors.evaluate.card import percent
from jurors.tables import Table

if TYPE_CHECKING:
    from jurors.evaluate.keyed import KeyedEvaluation

_MOST_PAIRS = 60


def score_tables(keyed: KeyedEvaluation) -> list[Table]:
    """Prevalences, accuracies, labelling errors and error correlations, to read."""
    floats = keyed.solution.to_float()
    labels = keyed.labels
    prevalence = Table(
        ("label", "how common"), tuple((str(a), percent(x)) for a, x in floats.prevalence.items()),
        title=f"{keyed.items:,} items with a true label", right=(1,),
    )  # fmt: skip
    heads = ("juror", *(f"accuracy on {a}" for a in labels), "score")
    rows = tuple((j, *(percent(floats.accuracy[j][a]) for a in labels), percent(floats.score[j])) for j in keyed.jurors)
    jurors = Table(heads, rows, right=tuple(range(1, len(heads))))
    total = keyed.items
    errors = Table(
        ("labels wrong", "items", "share"),
        (
            (
                "majority vote",
                f"{keyed.majority_errors:,.1f}".removesuffix(".0"),
                percent(keyed.majority_errors / total),
            ),
            ("best possible from these tuples", f"{keyed.best_errors:,}", percent(keyed.best_errors / total)),
        ),
        right=(1, 2),
    )
    return [prevalence, jurors, errors, _correlation_table(keyed)]


def _correlation_table(keyed: KeyedEvaluation) -> Table:
    rows = _correlation_rows(keyed)
    rows.sort(key=lambda row: -max((abs(x) for x in row[1:] if x is not None), default=0.0))
    shown = tuple((who, *(None if x is None else f"{x:+z.6f}" for x in values)) for who, *values in rows[:_MOST_PAIRS])
    more = f" (the {_MOST_PAIRS} largest of {len(rows)})" if len(rows) > _MOST_PAIRS else ""
    heads = ("jurors", *(f"on {a}" for a in keyed.labels))
    return Table(heads, shown, title=f"error correlations{more}", right=tuple(range(1, len(heads))))


def _correlation_rows(keyed: KeyedEvaluation) -> list[tuple[Any, ...]]:
    """One row per pair or trio: its error correlation on each label."""
    rows: list[tuple[Any, ...]] = []
    for size in (2, 3) if len(keyed.jurors) <= 12 else (2,):
        by_label = keyed.correlations(size)
        for group in by_label[keyed.labels[0]]:
            values = [by_label[a][group] for a in keyed.labels]
            rows.append((" + ".join(group), *(None if x is None else float(x) for x in values)))
    return rows
