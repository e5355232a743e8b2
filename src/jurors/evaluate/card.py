"""The report card: how an `Evaluation` and a `KeyedEvaluation` print, as blocks of text and as columns of a table.

The short card has the answer in 80 columns: alarms first, who leads, how many labels are wrong, one row per juror.
`CardOptions(full=True)` adds what the independent-errors model says, intervals of every number, dependence and notes.
`card_columns` is what `to_frame` and CSV hold: one row per juror.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from jurors.errors import format_names
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.consistency import MAJORITY_SIZES, describe_bias
from jurors.options import Label
from jurors.results import Block, Columns, Notes, Table, columns_of

if TYPE_CHECKING:
    from jurors.evaluate.consistency import SelfAgreement
    from jurors.evaluate.evaluation import Evaluation, IndependentGrades, KeyedEvaluation

WIDTH = 80  #: columns of a terminal
_MOST_ROWS = 20  # jurors of a card; of a larger panel, the best and the worst known
_MOST_ALARMS = 5
_MOST_NAME = 30  # characters of a juror's name
_MOST_LABELS = 6  # with more labels, a full card's rows show the best and the worst
_MOST_PREVALENCES = 4  # in the line of a short card
_MOST_PAIRS = 20
FEW_GOLD = 20  #: gold labels that every user can afford
_WORTH = 0.9  # of the width: gold that narrows it less is not worth a sentence
_NARROW = 0.04  # intervals narrower than this need a decimal
_PASS_FAIL = {"pass": "fail", "passed": "failed"}
_SIGNS = {"alarm": "ALARM  ", "warning": "warning", "note": "note   "}
_MARKS = {"alarm": "!!", "warning": "!"}


@dataclass(frozen=True, kw_only=True)
class CardOptions:
    """What a card shows."""

    full: bool = False  #: everything, in as many lines as that takes
    top: int | None = None  #: so many of the best known and of the worst; None: all up to 20 jurors, else ten of each
    sort: str = "accuracy"  #: "accuracy" (by the lower end of the interval), "votes" or "name"
    min_votes: int = 0  #: leave out jurors with fewer votes


SHORT = CardOptions()


# -- numbers ----------------------------------------------------------------------------------------------------


def percent(value: Any, decimals: int = 1) -> str:
    """A share as a percentage; a dash where there is none.

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.873), percent(0.873, 0), percent(None)
    ('87.3%', '87%', '–')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, complex):
        return f"{value.real * 100:z.1f}{value.imag * 100:+z.1f}i%"
    return f"{value * 100:z.{decimals}f}%"


def percent_range(ends: tuple[float, float], decimals: int = 1) -> str:
    """An interval in percent; empty where there is none.

    Returns
    -------
    str
    """
    low, high = ends
    return "" if low != low or high != high else f"{low * 100:z.{decimals}f} – {high * 100:z.{decimals}f}"


def _decimals(e: Evaluation) -> int:
    """Decimals that the intervals of scores deserve: none, unless they are very narrow."""
    widths = sorted(high - low for low, high in (e.interval_of("score", j) for j in e.jurors) if low == low)
    return 1 if widths and widths[len(widths) // 2] < _NARROW else 0


def _name(juror: Any) -> str:
    text = str(juror)
    return text if len(text) <= _MOST_NAME else f"{text[: _MOST_NAME // 2]}…{text[-(_MOST_NAME // 2 - 1) :]}"


# -- the short card ---------------------------------------------------------------------------------------------


def card_blocks(e: Evaluation, options: CardOptions = SHORT) -> list[Block]:
    """The report card, to read.

    Returns
    -------
    list of blocks
        Lines, tables and notes.
    """
    alarms = Notes(alarm_lines(e.alarms) if options.full else short_alarm_lines(e.alarms))
    blocks: list[Block] = [heading(e), alarms, Notes([line for text in answer_lines(e) for line in wrap(text, WIDTH)])]
    if e.has_grades:
        shown, left = shown_jurors(e, options)
        blocks.append(juror_table(e, shown))
        if left:
            blocks.append(f"{left:,} more jurors: --full shows all, --top, --sort and --min-votes select.")
    blocks += _full_blocks(e) if options.full else [Notes(wrap(text, WIDTH)) for text in next_steps(e)]
    return [block for block in blocks if not isinstance(block, Notes) or block.lines]


def heading(e: Evaluation) -> str:
    """One line: how many jurors and items, and which labels.

    Returns
    -------
    str
    """
    labels = [str(_level(a)) for a in e.labels]
    what = (
        f"labels {format_names(labels, 8)}" if e.ordered is None else f"levels {format_names(labels, 8, between=' < ')}"
    )
    return f"{len(e.jurors)} jurors, {e.items:,} items, {what}"


def _level(label: Label) -> Label:
    """A level as people write it: 1, not 1.0."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def answer_lines(e: Evaluation) -> list[str]:
    """The answer in a few sentences: who leads, how many labels are wrong, how common each label is.

    Returns
    -------
    list of str
    """
    if not e.has_grades:
        is_single = any(alarm.reason == "single_label" for alarm in e.alarms)
        return [
            "Nobody disagrees, so nobody can be graded." if is_single else "No grades: the votes contradict each other."
        ]
    digits = _decimals(e)
    lines = [leader_sentence(e, digits)]
    if e.wrong_labels is not None and not e.exam:
        ends = percent_range(e.interval_of("wrong_labels"), digits)
        about = f" ({ends}%)" if ends else ""
        lines.append(f"Taking the best label of each item, about {percent(e.wrong_labels, digits)} are wrong{about}.")
    if not e.exam and len(e.labels) <= _MOST_PREVALENCES:
        shares = []
        for a in e.labels:
            ends = percent_range(e.interval_of("prevalence", a), digits)
            shares.append(f"{_level(a)} {percent(e.prevalence.get(a), digits)}" + (f" ({ends})" if ends else ""))
        lines.append(f"Prevalence: {', '.join(shares)}.")
    return lines


def leader_sentence(e: Evaluation, digits: int = 0) -> str:
    """Who is the best, or who may be.

    Returns
    -------
    str
    """
    ranking = e.ranking

    def graded(juror: str) -> str:
        ends = percent_range(e.interval_of("score", juror), digits)
        return f"{_name(juror)} {percent(e.score[juror], digits)}" + (f" ({ends})" if ends else "")

    if not ranking.ranked:
        return "No juror is known to do better than one that always gives the same answer."
    if ranking.best is not None:
        return f"Best: {graded(ranking.best)}."
    first, more = ranking.leaders[:2], len(ranking.leaders) - 2
    if len(first) == 1:  # a single juror that can be ranked
        return f"Only {graded(first[0])} can be ranked."
    others = f"; {more:,} more may be as good" if more > 0 else ""
    return f"No clear best: {' and '.join(map(graded, first))} lead{others}."


def next_steps(e: Evaluation) -> list[str]:
    """What a few gold labels would gain.

    Returns
    -------
    list of str
        One sentence, or none where gold would not help.
    """
    leaders = e.leaders
    if not leaders or e.calibrated is None or e.items < 2 * FEW_GOLD:
        return []
    (low, high), forecast = e.interval_of("score", leaders[0]), e.calibrated.with_gold(FEW_GOLD)
    then = float("nan") if forecast is None else forecast[leaders[0]]
    if not then < _WORTH * (high - low) / 2:
        return []
    now, then = (high - low) * 50, max(then * 100, 1)
    command = f"jurors audit plan FILE -n {FEW_GOLD}"
    return [f"Next: label {FEW_GOLD} items ({command}): ± {now:.0f} becomes about ± {then:.0f}."]


def shown_jurors(e: Evaluation, options: CardOptions) -> tuple[list[str], int]:
    """The jurors of a card in their order, and how many are left out.

    Of a large panel the best and the worst known are shown, of those that can be ranked.

    Returns
    -------
    (list of str, int)
    """
    votes, ranking = e.votes, e.ranking
    known = [*ranking.order, *(j for j in e.jurors if j not in set(ranking.order))]
    if options.sort == "votes":
        known.sort(key=lambda j: -votes.get(j, 0))
    elif options.sort == "name":
        known.sort()
    known = [j for j in known if votes.get(j, 0) >= options.min_votes]
    if options.full or (options.top is None and len(known) <= _MOST_ROWS):
        return known, len(e.jurors) - len(known)
    top = _MOST_ROWS // 2 if options.top is None else options.top
    if options.sort == "accuracy":
        ranked = set(ranking.ranked)
        known = [j for j in known if j in ranked] if len(ranked) > 2 * top else known
    shown = known if len(known) <= 2 * top else [*known[:top], *known[len(known) - top :]]
    return shown, len(e.jurors) - len(shown)


def juror_table(e: Evaluation, jurors: Sequence[str]) -> Table:
    """One row per juror: accuracy with its interval, accuracy by label as far as 80 columns allow, votes.

    Of labels pass and fail, false passes and false fails; of ordered levels, mean error and bias lead.

    Returns
    -------
    Table
    """
    digits, votes = _decimals(e), e.votes
    heads = ["juror"]
    columns: list[list[str]] = [[_name(j) for j in jurors]]
    if e.ordered is not None:
        rows = [e.ordered.row(j) for j in jurors]
        heads += ["mean error", "bias"]
        columns += [[_decimal(row[0]) for row in rows], [describe_bias(row[1]) for row in rows]]
    heads += ["accuracy", f"{e.level * 100:g}%"]
    columns += [
        [percent(e.score.get(j), digits) for j in jurors],
        [percent_range(e.interval_of("score", j), digits) or "–" for j in jurors],
    ]
    count = [f"{votes[j]:,}" if j in votes else "–" for j in jurors]
    by_label = _label_columns(e, jurors, digits)
    all_columns = [*zip(heads, columns, strict=True), ("votes", count), *by_label]
    if sum(2 + max(map(len, (head, *cells))) for head, cells in all_columns) <= WIDTH:
        heads += [head for head, _ in by_label]
        columns += [cells for _, cells in by_label]
    table_rows = tuple(zip(*columns, count, strict=True))
    return Table((*heads, "votes"), table_rows, right=tuple(range(1, len(heads) + 1)))


def _label_columns(e: Evaluation, jurors: Sequence[str], digits: int) -> list[tuple[str, list[str]]]:
    """A column per label: its accuracy, or the rates of false passes and false fails."""
    if e.exam:
        return []
    names = {str(a).casefold(): a for a in e.labels}
    pair = next(((good, bad) for good, bad in _PASS_FAIL.items() if set(names) == {good, bad}), None)
    columns = []
    for a in e.labels:
        values = [e.accuracy[j].get(a) if j in e.accuracy else None for j in jurors]
        if pair is not None:  # an item of the other label that passes, or fails, is an error of that name
            other = pair[1] if str(a).casefold() == pair[0] else pair[0]
            errors = [None if x is None else 1 - x for x in values]
            columns.append((f"false {names[other]}", [percent(x, digits) for x in errors]))
        else:
            columns.append((f"on {_level(a)}", [percent(x, digits) for x in values]))
    return columns[::-1] if pair is not None else columns


def short_alarm_lines(alarms: tuple[Alarm, ...]) -> list[str]:
    """The alarms and warnings in a few lines of 80 columns, the most severe first, and how many more there are.

    Returns
    -------
    list of str
    """
    loud = [alarm for alarm in sort_by_severity(alarms) if alarm.level != "note"]
    lines: list[str] = []
    for alarm in loud[:_MOST_ALARMS]:
        mark = _MARKS[alarm.level]
        folded = wrap(f"{mark} {alarm.sentence}", WIDTH, subsequent_indent=" " * (len(mark) + 1))
        if len(folded) > 2:
            folded = [folded[0], f"{folded[1][: WIDTH - 2].rstrip()} …"]
        lines += folded
    if len(loud) > _MOST_ALARMS:
        lines.append(f"! and {len(loud) - _MOST_ALARMS} more; --full shows all.")
    return lines


def alarm_lines(alarms: tuple[Alarm, ...]) -> list[str]:
    """One line an alarm, the most severe first.

    Returns
    -------
    list of str
    """
    return [f"{_SIGNS[a.level]} {a.kind}: {a.sentence}" for a in sort_by_severity(alarms)]


# -- the full card ----------------------------------------------------------------------------------------------


def _full_blocks(e: Evaluation) -> list[Block]:
    """Intervals of every number, dependence, abstentions, repeats, the independent-errors model, and notes."""
    blocks: list[Block] = []
    if e.has_grades and not e.exam:
        blocks += [prevalence_table(e), accuracy_table(e)]
    if e.dependence:
        rows = tuple(
            (*pair.jurors, f"{pair.kappa:+z.2f}", f"{pair.correlation:+z.2f}") for pair in e.dependence[:_MOST_PAIRS]
        )
        title = "pairs that agree most beyond chance, and the error correlation that goes with it in real panels"
        blocks.append(Table(("first", "second", "kappa", "correlation"), rows, title=title, right=(2, 3)))
    blocks += [*abstention_tables(e), *repeat_tables(e.repeats)]
    if e.is_calibrated and e.independent.solution is not None:
        blocks.append(independent_table(e))
    return [*blocks, Notes(footnotes(e))]


def prevalence_table(e: Evaluation) -> Table:
    """How common each label is, with its interval, beside majority vote.

    Returns
    -------
    Table
    """
    majority = e.majority.to_float().prevalence if e.majority else {}
    rows = tuple(
        (
            str(_level(a)),
            percent(e.prevalence.get(a)),
            percent_range(e.interval_of("prevalence", a)),
            percent(majority.get(a)),
        )
        for a in e.labels
    )
    return Table(("label", "prevalence", f"{e.level * 100:g}%", "majority vote"), rows, right=(1, 2, 3))


def accuracy_table(e: Evaluation) -> Table:
    """Every juror's accuracy on each label with its interval; of many labels, the best and the worst.

    Returns
    -------
    Table
    """
    if len(e.labels) > _MOST_LABELS:
        rows: list[tuple[str, ...]] = []
        for j in e.jurors:
            known = [(x, str(a)) for a, x in e.accuracy.get(j, {}).items() if x is not None and x == x]
            cells = [f"{a} {percent(x)}" for x, a in (max(known), min(known))] if known else ["–", "–"]
            rows.append((str(j), *cells))
        return Table(("juror", "best on", "worst on"), tuple(rows), right=(1, 2))
    heads = ["juror", *(head for a in e.labels for head in (f"on {_level(a)}", f"{e.level * 100:g}%"))]
    full = [
        (
            str(j),
            *(
                cell
                for a in e.labels
                for cell in (percent(e.accuracy[j].get(a)), percent_range(e.interval_of("accuracy", j, a)))
            ),
        )
        for j in e.jurors
        if j in e.accuracy
    ]
    return Table(tuple(heads), tuple(full), right=tuple(range(1, len(heads))))


def independent_table(e: Evaluation) -> Table:
    """What the independent-errors model says: scores with intervals, beside majority vote.

    Returns
    -------
    Table
    """
    model: IndependentGrades = e.independent
    majority = e.majority.to_float().score if e.majority else {}
    rows = tuple(
        (str(j), percent(model.score.get(j)), percent_range(model.interval_of("score", j)), percent(majority.get(j)))
        for j in e.jurors
    )
    heads = ("juror", "accuracy", f"{e.level * 100:g}%", "majority vote")
    return Table(heads, rows, title=f"if errors were independent (method {e.method})", right=(1, 2, 3))


def level_tables(e: Evaluation | KeyedEvaluation, most: int | None = None) -> list[Table]:
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
    headers = ("juror", "mean error", "bias", "weighted kappa")
    return [Table(headers, tuple(rows), right=(1, 2, 3))]


def _decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def abstention_tables(e: Evaluation, most: int | None = None) -> list[Table]:
    """How often each juror abstains on which true label; at most so many jurors.

    Returns
    -------
    list of Table
        Empty where no juror abstains.
    """
    if (rates := e.abstentions) is None:
        return []
    labels = e.labels if most is None else e.labels[:_MOST_LABELS]
    headers = ["juror", "items", "abstains", *(head for a in labels for head in (f"on {a}", f"{e.level * 100:g}%"))]
    rows = []
    for j in e.jurors[:most]:
        items = rates.asked[j]
        cells = [f"{items:,}", percent(rates.abstained[j] / items if items else None)]
        for a in labels:
            cells += percent(rates.rate[j][a]), percent_range(rates.interval[j][a] or (float("nan"),) * 2)
        rows.append((j, *cells))
    title = "how often jurors abstain, by true label"
    return [Table(tuple(headers), tuple(rows), title=title, right=tuple(range(1, len(headers))))]


def repeat_tables(repeats: SelfAgreement | None, most: int | None = None) -> list[Table]:
    """How consistent jurors are who answered items several times; by a key, also how right majorities are.

    Returns
    -------
    list of Table
        Empty where no juror did.
    """
    if repeats is None:
        return []
    headers = ["juror", "items", "answers each", "ties", "agrees with itself"]
    headers += [f"{repeats.level * 100:g}%", "alpha"]
    what, part = ("right", repeats.right) if repeats.right else ("stable", repeats.settled)
    headers += [f"{what} by {k}" for k in MAJORITY_SIZES] + (["right at most"] if repeats.ceiling else [])
    rows = []
    for j in list(repeats.agreement)[:most]:
        times = f"{repeats.items[j]:,}", f"{repeats.times[j]:.1f}".removesuffix(".0"), f"{repeats.ties[j]:,}"
        agrees = percent(repeats.agreement[j]), percent_range(repeats.interval[j]), _decimal(repeats.alpha[j])
        more = [part[j][k] for k in MAJORITY_SIZES] + ([repeats.ceiling[j]] if repeats.ceiling else [])
        rows.append((j, *times, *agrees, *map(percent, more)))
    title = "how consistent jurors are that answered an item several times"
    return [Table(tuple(headers), tuple(rows), title=title, right=tuple(range(1, len(headers))))]


def footnotes(e: Evaluation) -> list[str]:
    """What the numbers are about and what they rest on.

    Returns
    -------
    list of str
    """
    lines = [f"Method: {e.method}."]
    if e.interval is not None:
        what = "these items" if e.target == "test" else "the population that the items were drawn from"
        lines.append(f"Intervals are for {what}.")
    if e.ordered is not None:
        lines.append(
            "Levels: mean error and bias compare a juror's votes with the estimated levels. A bias is relative to the "
            "whole panel. Weighted kappa squares errors. None of them has an interval."
        )
    lines += [*basis_lines(e), *e.notes]
    if e.repeats is not None:
        lines.append(
            "Repeated answers: how often the majority of so many answers is the one that a juror would give in the "
            "long run. Repetition does not correct an answer that is consistently wrong."
        )
    if e.independent.solution is not None and len(e.independent.solutions) > 1:
        lines.append(f"{len(e.independent.solutions)} solutions explain the counts; selected: {e.independent.rule}.")
    if e.exam:
        lines.append("Exam: choices mean nothing across questions, so only scores are shown.")
    return lines


def basis_lines(e: Evaluation) -> list[str]:
    """What the calibrated numbers rest on, or that there are none.

    Returns
    -------
    list of str
    """
    if e.calibrated is None:
        return ["Not calibrated: these grades assume independent errors."] if e.has_grades else []
    shared = e.calibrated.shared_error
    if e.calibrated.is_independent:
        return ["Not calibrated, because you chose errors='independent': correct if errors are, overconfident if not."]
    source = {
        "reference juries": f"measured on {shared.juries} reference juries with known answers",
        "own reference juries": f"measured on your {shared.juries} reference juries",
        "given": "as you gave it",
    }[shared.source]
    gold = f" and {shared.gold_items:,} gold items" if shared.gold_items else ""
    low, high = shared.interval
    about = f"{shared.median:.2f}" + ("" if low == high else f" ({low:.2f} – {high:.2f})")
    return [f"Calibrated with a shared error of {about}, {source}{gold}."]


# -- a table of rows: CSV and data frames -----------------------------------------------------------------------


def card_columns(e: Evaluation) -> Columns:
    """One row per juror: score, its interval, votes, accuracy by label with intervals, and what else is known.

    Returns
    -------
    Columns
    """
    labels = () if e.exam else e.labels
    names = ["juror", "score", "low", "high", "votes"]
    names += [f"accuracy_{_level(a)}{end}" for a in labels for end in ("", "_low", "_high")]
    names += [f"abstention_{_level(a)}{end}" for a in labels for end in ("", "_low", "_high")] * (
        e.abstentions is not None
    )
    names += ["mean_error", "bias", "weighted_kappa"] * (e.ordered is not None)
    names += ["self_agreement", "self_agreement_low", "self_agreement_high"] * (e.repeats is not None)
    rows: list[tuple[Any, ...]] = []
    for j in e.jurors if e.has_grades else ():
        row: list[Any] = [j, e.score.get(j), *e.interval_of("score", j), e.votes.get(j)]
        for a in labels:
            row += [e.accuracy[j].get(a), *e.interval_of("accuracy", j, a)]
        if e.abstentions is not None:
            for a in labels:
                row += [e.abstentions.rate[j][a], *(e.abstentions.interval[j][a] or (None, None))]
        if e.ordered is not None:
            row += e.ordered.row(j)
        if e.repeats is not None:
            row += [e.repeats.agreement.get(j), *e.repeats.interval.get(j, (None, None))]
        rows.append(tuple(row))
    return columns_of(names, rows)


# -- against an answer key --------------------------------------------------------------------------------------


def score_tables(keyed: KeyedEvaluation, options: CardOptions = SHORT) -> list[Block]:
    """Accuracies by the key, labelling errors, and with `full` all prevalences and error correlations, to read.

    Returns
    -------
    list of blocks
    """
    floats, labels = keyed.solution.to_float(), keyed.labels
    known = [j for j in keyed.jurors if floats.score[j] is not None]
    order = sorted(known, key=lambda j: -floats.score[j])
    shown, top = order, options.top or _MOST_ROWS // 2
    if not options.full and (options.top is not None or len(order) > _MOST_ROWS) and len(order) > 2 * top:
        shown = [*order[:top], *order[len(order) - top :]]
    wrong, least = keyed.majority_errors / keyed.items, keyed.best_errors / keyed.items
    lines = [
        f"Majority vote gets {percent(wrong)} of the labels wrong; the best rule on these votes gets {percent(least)}."
    ]
    if len(labels) <= _MOST_PREVALENCES:
        lines.append(f"Prevalence: {', '.join(f'{_level(a)} {percent(x)}' for a, x in floats.prevalence.items())}.")
    votes = keyed.votes
    by_label = len(labels) <= _MOST_PREVALENCES or options.full
    heads = ["juror", "accuracy", f"{95:g}%", *(f"on {_level(a)}" for a in labels if by_label), "votes"]
    rows = tuple(
        (
            _name(j), percent(floats.score[j]), percent_range(keyed.interval["score"][j]),
            *(percent(floats.accuracy[j][a]) for a in labels if by_label), f"{votes[j]:,}",
        )
        for j in shown
    )  # fmt: skip
    blocks: list[Block] = [
        f"{keyed.items:,} items with a true label, {len(keyed.jurors):,} jurors",
        Notes([line for text in lines for line in wrap(text, WIDTH)]),
        Table(tuple(heads), rows, right=tuple(range(1, len(heads))), width=None if options.full else WIDTH),
    ]
    if len(shown) < len(order):
        blocks.append(f"{len(order) - len(shown):,} more jurors: --full shows all, --top selects.")
    if not options.full:
        return [*blocks, *level_tables(keyed, _MOST_ROWS)]
    prevalence = tuple((str(_level(a)), percent(x)) for a, x in floats.prevalence.items())
    blocks += [
        Table(("label", "prevalence"), prevalence, right=(1,)),
        *level_tables(keyed),
        *repeat_tables(keyed.repeats),
    ]
    groups: list[tuple[Any, ...]] = []  # pairs and trios, the most correlated first
    for size in (2, 3) if len(keyed.jurors) <= 12 else (2,):
        of_size = keyed.correlations(size)
        for group in of_size[labels[0]]:
            values = [of_size[a][group] for a in labels]
            groups.append((" + ".join(group), *(None if x is None else float(x) for x in values)))
    groups.sort(key=lambda row: -max((abs(x) for x in row[1:] if x is not None), default=0.0))
    cells = tuple((who, *(None if x is None else f"{x:+z.6f}" for x in values)) for who, *values in groups[:60])
    title = "error correlations" + f" (the 60 largest of {len(groups):,})" * (len(groups) > 60)
    heads = ["jurors", *(f"on {_level(a)}" for a in labels)]
    return [*blocks, Table(tuple(heads), cells, title=title, right=tuple(range(1, len(heads))))]
