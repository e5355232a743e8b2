"""How an `Evaluation` and a `KeyedEvaluation` read: the blocks and columns of the report card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jurors.evaluate.alarm import Alarm, ranked
from jurors.tables import Block, Columns, Notes, Table, columns_of

if TYPE_CHECKING:
    from jurors.evaluate.evaluation import Evaluation
    from jurors.evaluate.keyed import KeyedEvaluation

_MOST_ROWS = 60  # a panel larger than this is cut in text; CSV and JSON have everyone
_MOST_LABELS = 6  # with more labels, a juror's row shows the best and the worst
_MOST_PAIRS = 60
_SIGNS = {"alarm": "ALARM  ", "warning": "warning", "note": "note   "}


def percent(value: Any) -> str:
    """A share as a percentage with one decimal; a dash where there is none."""
    if value is None or value != value:
        return "–"
    if isinstance(value, complex):
        return f"{value.real * 100:z.1f}{value.imag * 100:+z.1f}i%"
    return f"{value * 100:z.1f}%"


def percent_range(ends: tuple[float, float]) -> str:
    """An interval in percent."""
    low, high = ends
    return "" if low != low else f"{low * 100:z.1f} – {high * 100:z.1f}"


def card_tables(evaluation: Evaluation) -> list[Table]:
    """Prevalences and jurors, each beside what majority vote would have said."""
    if evaluation.solution is None:
        return []
    tables = [] if evaluation.exam else [_prevalence_table(evaluation)]
    return [*tables, _juror_table(evaluation)]


def _prevalence_table(e: Evaluation) -> Table:
    majority = e.majority.to_float().prevalence if e.majority else {}
    level = f"{e.level * 100:g}% interval"
    rows = tuple(
        (str(a), percent(e.prevalence[a]), percent_range(e.interval_of("prevalence", a)), percent(majority.get(a)))
        for a in e.labels
    )
    return Table(("label", "how common", level, "majority vote says"), rows, right=(1, 2, 3))


def _juror_table(e: Evaluation) -> Table:
    majority = e.majority.to_float().score if e.majority else {}
    shown = e.jurors[:_MOST_ROWS]
    labels = () if e.exam else e.labels if len(e.labels) <= _MOST_LABELS else None
    level = f"{e.level * 100:g}%"
    heads: list[str] = ["juror"]
    if labels is None:
        heads += ["best on", "worst on"]
    else:
        for a in labels:
            heads += [f"accuracy on {a}", level]
    heads += ["score", level, "majority vote says"]
    rows = []
    for j in shown:
        row: list[str] = [j]
        if labels is None:
            known = [(x, a) for a, x in e.accuracy[j].items() if x is not None and x == x]
            row += [f"{max(known)[1]} {percent(max(known)[0])}", f"{min(known)[1]} {percent(min(known)[0])}"]
        else:
            for a in labels:
                row += [percent(e.accuracy[j][a]), percent_range(e.interval_of("accuracy", j, a))]
        row += [percent(e.score[j]), percent_range(e.interval_of("score", j)), percent(majority.get(j))]
        rows.append(tuple(row))
    return Table(tuple(heads), tuple(rows), right=tuple(range(1, len(heads))))


def heading(e: Evaluation) -> str:
    """One line: how many jurors and items, which labels, which method."""
    labels = ", ".join(map(str, e.labels[:8])) + (" …" if len(e.labels) > 8 else "")
    return f"{len(e.jurors)} jurors, {e.items:,} items, labels {labels}; method: {e.method}"


def footnotes(e: Evaluation) -> list[str]:
    """How the numbers were chosen, what the labels would cost, and what was left out of the table."""
    lines = []
    if len(e.jurors) > _MOST_ROWS and e.solution is not None:
        lines.append(f"… and {len(e.jurors) - _MOST_ROWS} more jurors; --format csv or json has them all.")
    if e.interval is not None:
        what = "this test" if e.target == "test" else "the population the items were drawn from"
        lines.append(f"Intervals are about {what}.")
    lines += e.notes
    if any(alarm.kind == "correlated_errors" for alarm in e.alarms):
        lines.append("Errors go together, so take the intervals as too narrow and the expected errors as a floor.")
    if e.solution is not None and len(e.solutions) > 1:
        lines.append(f"{len(e.solutions)} solutions explain the counts; chosen by: {e.rule}.")
    if e.partition is not None and e.solution is not None and not e.exam:
        errors = e.partition.expected_errors
        total = e.partition.sketch.items
        if errors == errors:
            lines.append(f"Best labels: {errors:z,.0f} of {total:,} expected to be wrong ({errors / total:z.1%}).")
    if e.exam:
        lines.append("Exam: choices mean nothing across questions, so only scores are shown; they hold if the choices")
        lines.append("of every question were shuffled.")
    return lines


def alarm_lines(alarms: tuple[Alarm, ...]) -> list[str]:
    """One line an alarm, loudest first."""
    return [f"{_SIGNS[a.level]} {a.kind}: {a.message}." for a in ranked(alarms)]


def card_blocks(e: Evaluation) -> list[Block]:
    """The report card, to read."""
    nothing = [] if e.solution else ["No real evaluation explains these counts."]
    notes = [Notes(lines) for lines in (footnotes(e), alarm_lines(e.alarms)) if lines]
    return [heading(e), *nothing, *card_tables(e), *notes]


def card_columns(e: Evaluation) -> Columns:
    """One row per juror and label; of an exam, whose labels mean nothing, per juror."""
    rows: list[tuple[Any, ...]] = []
    for j in e.jurors if e.solution is not None else ():
        if e.exam:
            rows.append((j, None, None, *e.interval_of("score", j), e.score[j], None))
            continue
        for a in e.labels:
            ends = e.interval_of("accuracy", j, a)
            rows.append((j, a, e.accuracy[j][a], *ends, e.score[j], e.prevalence[a]))
    return columns_of(("juror", "label", "accuracy", "low", "high", "score", "prevalence"), rows)


# -- against an answer key --------------------------------------------------------------------------------------


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
