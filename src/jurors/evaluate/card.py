"""The report card: how an `Evaluation` and a `KeyedEvaluation` print, as blocks of text and as columns of a table.

`card_blocks` and `score_tables` are what `print(result)` shows; `card_columns` is what `to_frame` and CSV hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jurors.errors import format_names
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.consistency import MAJORITY_SIZES, describe_bias
from jurors.results import Block, Columns, Notes, Table, columns_of

if TYPE_CHECKING:
    from jurors.evaluate.consistency import SelfAgreement
    from jurors.evaluate.evaluation import Calibrated, Evaluation, KeyedEvaluation


_MOST_ROWS = 60  # a panel larger than this is cut in text; CSV and JSON have everyone
_MOST_LABELS = 6  # with more labels, a juror's row shows the best and the worst
_MOST_PAIRS = 60
FEW_GOLD = 20  #: gold labels that every user can afford
_WORTH = 0.9  # of the width: gold that narrows it less is not worth a sentence
CALIBRATED = "as real juries go"
_SIGNS = {"alarm": "ALARM  ", "warning": "warning", "note": "note   "}
_COLUMNS = ("juror", "label", "accuracy", "low", "high", "score", "prevalence")
_REAL_COLUMNS = (
    "calibrated_score", "calibrated_score_low", "calibrated_score_high", "calibrated_accuracy",
    "calibrated_accuracy_low", "calibrated_accuracy_high", "calibrated_prevalence",
)  # fmt: skip
_ABSTENTION_COLUMNS = ("abstention", "abstention_low", "abstention_high")
_LEVEL_COLUMNS = ("mean_error", "bias", "weighted_agreement")
_REPEAT_COLUMNS = ("self_agreement", "self_agreement_low", "self_agreement_high")


def percent(value: Any) -> str:
    """A share as a percentage with one decimal; a dash where there is none.

    Returns
    -------
    str
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, complex):
        return f"{value.real * 100:z.1f}{value.imag * 100:+z.1f}i%"
    return f"{value * 100:z.1f}%"


def percent_range(ends: tuple[float, float]) -> str:
    """An interval in percent; empty where there is none.

    Returns
    -------
    str
    """
    low, high = ends
    return "" if low != low else f"{low * 100:z.1f} – {high * 100:z.1f}"


def card_tables(evaluation: Evaluation) -> list[Table]:
    """Jurors and prevalences as real juries go, then if errors were independent.

    Returns
    -------
    list of Table
    """
    e, real = evaluation, evaluation.as_real
    if real is None and e.solution is None:
        return repeat_tables(e.repeats)
    shown = [*level_tables(e), *([] if e.exam else [_prevalence_table(e, real)])]
    if real is None:
        return [*shown, _juror_table(e), *abstention_tables(e), *repeat_tables(e.repeats)]
    labels, level = _shown_labels(e), _level(e)
    headers = ("juror", f"score, {CALIBRATED}", level, *_accuracy_heads(labels, level))
    rows = []
    for j in e.jurors[:_MOST_ROWS]:
        score = percent(real.score[j]), percent_range(real.interval_of("score", j))
        rows.append((j, *score, *_accuracy_cells(real, j, labels)))
    calibrated = Table(headers, tuple(rows), right=tuple(range(1, len(headers))))
    tables = [calibrated, *shown, *abstention_tables(e), *repeat_tables(e.repeats)]
    return tables if e.solution is None else [*tables, _juror_table(e, "if errors were independent")]


def _level(e: Evaluation) -> str:
    return f"{e.level * 100:g}%"


def _prevalence_table(e: Evaluation, real: Calibrated | None) -> Table:
    majority = e.majority.to_float().prevalence if e.majority else {}
    headers: tuple[str, ...] = ("label", "how common", f"{_level(e)} interval", "majority vote says")
    rows = [
        (percent(e.prevalence.get(a)), percent_range(e.interval_of("prevalence", a)), percent(majority.get(a)))
        for a in e.labels
    ]
    if real is not None:
        headers = ("label", f"how common, {CALIBRATED}", _level(e), "if independent", _level(e), "majority vote says")
        first = [(percent(real.prevalence[a]), percent_range(real.interval_of("prevalence", a))) for a in e.labels]
        rows = [(*front, *row) for front, row in zip(first, rows, strict=True)]  # type: ignore[misc]
    shown = tuple((str(a), *row) for a, row in zip(e.labels, rows, strict=True))
    return Table(headers, shown, right=tuple(range(1, len(headers))))


def level_tables(e: Evaluation | KeyedEvaluation, most: int | None = _MOST_ROWS) -> list[Table]:
    """Of ordered levels: how far off every juror is, and to which side; at most so many jurors.

    Returns
    -------
    list of Table
        Empty for labels without order.
    """
    if e.ordered is None:
        return []
    rows = []
    for j in e.jurors[:most]:
        error, bias, kappa = e.ordered.row(j)
        rows.append((j, _decimal(error), describe_bias(bias), _decimal(kappa)))
    headers = ("juror", "levels off", "bias, in levels", "weighted agreement")
    return [Table(headers, tuple(rows), right=(1, 2, 3))]


def _decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _juror_table(e: Evaluation, title: str = "") -> Table:
    majority = e.majority.to_float().score if e.majority else {}
    labels, level = _shown_labels(e), _level(e)
    headers = ["juror", *_accuracy_heads(labels, level), "score", level, "majority vote says"]
    rows = []
    for j in e.jurors[:_MOST_ROWS]:
        score = percent(e.score[j]), percent_range(e.interval_of("score", j)), percent(majority.get(j))
        rows.append((j, *_accuracy_cells(e, j, labels), *score))
    return Table(tuple(headers), tuple(rows), title=title, right=tuple(range(1, len(headers))))


def abstention_tables(e: Evaluation, most: int | None = _MOST_ROWS) -> list[Table]:
    """How often each juror abstains on which true label; at most so many jurors, all where `most` is None.

    Returns
    -------
    list of Table
        Empty where no juror abstains.
    """
    if (rates := e.abstentions) is None:
        return []
    labels = e.labels if most is None else e.labels[:_MOST_LABELS]
    headers = ["juror", "asked", "abstains", *(head for a in labels for head in (f"on {a}", _level(e)))]
    rows = []
    for j in e.jurors[:most]:
        items = rates.asked[j]
        cells = [f"{items:,}", percent(rates.abstained[j] / items if items else None)]
        for a in labels:
            cells += percent(rates.rate[j][a]), percent_range(rates.interval[j][a] or (float("nan"),) * 2)
        rows.append((j, *cells))
    title = "how often jurors abstain, by the true label"
    return [Table(tuple(headers), tuple(rows), title=title, right=tuple(range(1, len(headers))))]


def repeat_tables(repeats: SelfAgreement | None, most: int | None = _MOST_ROWS) -> list[Table]:
    """How consistent jurors are who answered items several times; by a key, also how right majorities are.

    Returns
    -------
    list of Table
        Empty where no juror did.
    """
    if repeats is None:
        return []
    headers = ["juror", "items", "answers each", "ties", "agrees with itself"]
    headers += [f"{repeats.level * 100:g}%", "beyond chance"]
    what, part = ("right", repeats.right) if repeats.right else ("settled", repeats.settled)
    headers += [f"{what} by {k}" for k in MAJORITY_SIZES] + (["right at most"] if repeats.ceiling else [])
    rows = []
    for j in list(repeats.agreement)[:most]:
        times = f"{repeats.items[j]:,}", f"{repeats.times[j]:.1f}".removesuffix(".0"), f"{repeats.ties[j]:,}"
        agrees = percent(repeats.agreement[j]), percent_range(repeats.interval[j]), _decimal(repeats.alpha[j])
        more = [part[j][k] for k in MAJORITY_SIZES] + ([repeats.ceiling[j]] if repeats.ceiling else [])
        rows.append((j, *times, *agrees, *map(percent, more)))
    title = "how steady jurors are who were asked again"
    return [Table(tuple(headers), tuple(rows), title=title, right=tuple(range(1, len(headers))))]


def _shown_labels(e: Evaluation) -> tuple[Any, ...] | None:
    """The labels that have a column each; None where they are too many."""
    return () if e.exam else e.labels if len(e.labels) <= _MOST_LABELS else None


def _accuracy_heads(labels: tuple[Any, ...] | None, level: str) -> list[str]:
    if labels is None:
        return ["best on", "worst on"]
    return [head for a in labels for head in (f"accuracy on {a}" if len(labels) < 3 else f"on {a}", level)]


def _accuracy_cells(grades: Evaluation | Calibrated, juror: str, labels: tuple[Any, ...] | None) -> list[str]:
    accuracy = grades.accuracy[juror]
    if labels is None:
        known = [(x, a) for a, x in accuracy.items() if x is not None and x == x]
        return [f"{a} {percent(x)}" for x, a in (max(known), min(known))] if known else ["–", "–"]
    ends = [grades.interval_of("accuracy", juror, a) for a in labels]
    return [cell for a, pair in zip(labels, ends, strict=True) for cell in (percent(accuracy[a]), percent_range(pair))]


def verdict_sentences(e: Evaluation) -> list[str]:
    """What is known, in plain words: how good the best juror is at least and at most, and what gold would gain.

    Returns
    -------
    list of str
    """
    real = e.as_real
    if real is None:
        return []
    best = real.best
    if best is None:
        return ["Of no juror is anything known that would help."]
    low, high = real.interval_of("score", best)
    return [f"{best} is between {low * 100:.0f}% and {high * 100:.0f}% right{gold_clause(e, best)}."]


def gold_clause(e: Evaluation, juror: str) -> str:
    """How far a few gold labels would narrow a score, as a clause.

    Returns
    -------
    str
        Empty where that is not known, or they would not help.
    """
    real = e.as_real
    if real is None or e.items < 2 * FEW_GOLD:
        return ""
    now, forecast = real.interval_of("score", juror), real.with_gold(FEW_GOLD)
    then = float("nan") if forecast is None else forecast[juror]
    if not then < _WORTH * (now[1] - now[0]) / 2:
        return ""
    more = " more" if real.shared_error.gold_items else ""
    return f"; {FEW_GOLD}{more} gold labels would narrow this to about ± {max(then * 100, 1):.0f}"


def heading(e: Evaluation) -> str:
    """One line: how many jurors and items, which labels, which method.

    Returns
    -------
    str
    """
    labels = f"labels {format_names(e.labels, 8)}"
    if e.ordered is not None:
        labels = f"levels {format_names(e.labels, 8, between=' < ')}"
    return f"{len(e.jurors)} jurors, {e.items:,} items, {labels}; method: {e.method}"


def footnotes(e: Evaluation) -> list[str]:
    """How the numbers were selected, what the labels would cost, and what was left out of the table.

    Returns
    -------
    list of str
    """
    lines = []
    if len(e.jurors) > _MOST_ROWS and e.solution is not None:
        lines.append(f"… and {len(e.jurors) - _MOST_ROWS} more jurors; --format csv or json has them all.")
    if e.interval is not None:
        what = "this test" if e.target == "test" else "the population the items were drawn from"
        lines.append(f"Intervals are about {what}.")
    if e.ordered is not None:
        lines += _ORDERED_LINES
    lines += [*basis_lines(e), *e.notes]
    if e.repeats is not None:
        lines += _REPEATED_LINES
    if any(alarm.kind == "correlated_errors" for alarm in e.alarms):
        lines.append("Errors go together, so take what is said if errors were independent as too sure.")
    if e.solution is not None and len(e.solutions) > 1:
        lines.append(f"{len(e.solutions)} solutions explain the counts; chosen by: {e.rule}.")
    if not e.exam:
        lines += wrong_label_lines(e)
    else:
        lines.append("Exam: choices mean nothing across questions, so only scores are shown; they hold if the choices")
        lines.append("of every question were shuffled.")
    return lines


_ORDERED_LINES = (
    "Ordered levels: a juror's votes beside the levels believed true. A bias is one from the panel's own severity, as",
    "no vote tells more; weighted agreement is Cohen's kappa, errors squared. These have no intervals; those of scores",
    "were learned from unordered labels.",
)


_REPEATED_LINES = (
    "Asked again: how often the majority of so many answers of a juror is its settled one, to which ever more would",
    "come, by a model of its answers. What its settled answers get wrong, no repetition mends.",
)


def basis_lines(e: Evaluation) -> list[str]:
    """What the calibrated numbers are computed from, or that there are none.

    Returns
    -------
    list of str
    """
    if e.calibrated is None:
        return ["Errors are taken for independent: nothing here is calibrated."] if e.solution is not None else []
    shared = e.calibrated.shared_error
    if e.calibrated.is_independent:
        return ["Errors are taken for independent, as asked: right for juries that were made so, too sure for others."]
    source = {
        "reference juries": f"as in {shared.juries} reference juries with known keys",
        "own reference juries": f"as in your {shared.juries} reference juries",
        "given": "as given",
    }[shared.source]
    gold = f", and {shared.gold_items:,} gold items" if shared.gold_items else ""
    low, high = shared.interval
    about = f"{shared.median:.2f}" + ("" if low == high else f" ({low:.2f} – {high:.2f})")
    return [
        f"As real juries go: by the {basis_name(e.calibrated)}, with errors that jurors share: {about}, {source}{gold}."
    ]


def basis_name(real: Calibrated) -> str:
    """Which posteriors were calibrated, in words.

    Returns
    -------
    str
    """
    return {"latent": "panel model", "majority": "majority vote"}.get(real.basis, f"method {real.basis}")


def wrong_label_lines(e: Evaluation) -> list[str]:
    """How many of the best labels are wrong: as real juries go, and if errors were independent.

    Returns
    -------
    list of str
    """
    known = e.partition is not None and e.solution is not None
    plain = e.partition.expected_errors / e.items if e.partition is not None and known else float("nan")
    real = e.as_real
    if real is None:
        if plain != plain:
            return []
        return [f"Best labels: {plain * e.items:z,.0f} of {e.items:,} expected to be wrong ({plain:z.1%})."]
    independent = "" if plain != plain else f"; if independent, {plain:z.1%}"
    low, high = real.interval_of("wrong_labels")
    return [
        f"Best labels: {real.wrong_labels * e.items:,.0f} of {e.items:,} expected to be wrong "
        f"({percent(real.wrong_labels)}, between {low * 100:.1f} and {percent(high)}{independent})."
    ]


def alarm_lines(alarms: tuple[Alarm, ...]) -> list[str]:
    """One line an alarm, the most severe first.

    Returns
    -------
    list of str
    """
    return [f"{_SIGNS[a.level]} {a.kind}: {a.sentence}" for a in sort_by_severity(alarms)]


def card_blocks(e: Evaluation) -> list[Block]:
    """The report card, to read.

    Returns
    -------
    list of blocks
        Lines, tables and notes.
    """
    is_single = any(alarm.kind == "single_label" for alarm in e.alarms)
    why = "Nobody can be graded where nobody disagrees." if is_single else "No real evaluation explains these counts."
    nothing = [] if e.solution else [why]
    notes = [Notes(lines) for lines in (footnotes(e), alarm_lines(e.alarms)) if lines]
    return [heading(e), *verdict_sentences(e), *nothing, *card_tables(e), *notes]


def card_columns(e: Evaluation) -> Columns:
    """One row per juror and label; of an exam, whose labels mean nothing, per juror.

    Returns
    -------
    Columns
    """
    rows: list[tuple[Any, ...]] = []
    for j in e.jurors if e.solution is not None else ():
        again: tuple[Any, ...] = ()
        if e.repeats is not None:
            again = e.repeats.agreement.get(j), *e.repeats.interval.get(j, (None, None))
        if e.exam:
            ends = e.interval_of("score", j)
            rows.append((j, None, None, *ends, e.score[j], None, *_real_cells(e, j), *again))
            continue
        levels = () if e.ordered is None else e.ordered.row(j)
        for a in e.labels:
            cells = j, a, e.accuracy[j][a], *e.interval_of("accuracy", j, a), e.score[j], e.prevalence[a]
            rate: tuple[Any, ...] = ()
            if e.abstentions is not None:
                rate = e.abstentions.rate[j][a], *(e.abstentions.interval[j][a] or (None, None))
            rows.append((*cells, *_real_cells(e, j, a), *rate, *levels, *again))
    more = () if e.abstentions is None else _ABSTENTION_COLUMNS
    ordered = () if e.ordered is None else _LEVEL_COLUMNS
    repeated = () if e.repeats is None else _REPEAT_COLUMNS
    return columns_of((*_COLUMNS, *_REAL_COLUMNS, *more, *ordered, *repeated), rows)


def _real_cells(e: Evaluation, juror: str, label: Any = None) -> tuple[Any, ...]:
    """The calibrated numbers of one row; of an exam only the score's."""
    real = e.calibrated
    if real is None:
        return (None,) * len(_REAL_COLUMNS)
    score = real.score[juror], *real.interval_of("score", juror)
    if e.exam:
        return *score, None, None, None, None
    ends = real.interval_of("accuracy", juror, label)
    return *score, real.accuracy[juror][label], *ends, real.prevalence[label]


# -- against an answer key --------------------------------------------------------------------------------------


def score_tables(keyed: KeyedEvaluation) -> list[Table]:
    """Prevalences, accuracies, labelling errors and error correlations, to read.

    Returns
    -------
    list of Table
    """
    floats = keyed.solution.to_float()
    labels = keyed.labels
    prevalence = Table(
        ("label", "how common"), tuple((str(a), percent(x)) for a, x in floats.prevalence.items()),
        title=f"{keyed.items:,} items with a true label", right=(1,),
    )  # fmt: skip
    headers = ("juror", *(f"accuracy on {a}" for a in labels), "score")
    rows = tuple((j, *(percent(floats.accuracy[j][a]) for a in labels), percent(floats.score[j])) for j in keyed.jurors)
    jurors = Table(headers, rows, right=tuple(range(1, len(headers))))
    wrong, least = keyed.majority_errors, keyed.best_errors
    wrong_labels = (
        ("majority vote", f"{wrong:,.1f}".removesuffix(".0"), percent(wrong / keyed.items)),
        ("best possible from these tuples", f"{least:,}", percent(least / keyed.items)),
    )
    errors = Table(("labels wrong", "items", "share"), wrong_labels, right=(1, 2))
    # One row per pair or trio, the most correlated first: its error correlation on each label.
    groups: list[tuple[Any, ...]] = []
    for size in (2, 3) if len(keyed.jurors) <= 12 else (2,):
        by_label = keyed.correlations(size)
        for group in by_label[labels[0]]:
            values = [by_label[a][group] for a in labels]
            groups.append((" + ".join(group), *(None if x is None else float(x) for x in values)))
    groups.sort(key=lambda row: -max((abs(x) for x in row[1:] if x is not None), default=0.0))
    correlations = Table(
        ("jurors", *(f"on {a}" for a in labels)),
        tuple((who, *(None if x is None else f"{x:+z.6f}" for x in values)) for who, *values in groups[:_MOST_PAIRS]),
        title="error correlations" + (f" (the {_MOST_PAIRS} largest of {len(groups)})" * (len(groups) > _MOST_PAIRS)),
        right=tuple(range(1, 1 + len(labels))),
    )
    again = repeat_tables(keyed.repeats)
    return [prevalence, jurors, *level_tables(keyed), *again, errors, correlations]
