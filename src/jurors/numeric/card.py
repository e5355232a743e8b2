"""The cards of jurors that answer in numbers: `NumberGrades` and `NumberScores` as blocks of text.

The short card has the answer in 80 columns: alarms first, who leads, one row per juror with its error and bias before
its reliability. `CardOptions(full=True)` adds every interval, the independent-errors model, correlated pairs and notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.evaluate.card import (
    ENOUGH_VOTES,
    WIDTH,
    CardColumn,
    CardOptions,
    card_alarms,
    fitted_table,
    name_leaders,
    rows_left_out,
    select_rows,
    shorten,
    wrapped,
)
from jurors.numeric.data import shown, shown_range, with_interval
from jurors.results import Block, Notes, Table, count_noun

if TYPE_CHECKING:
    from jurors.numeric.grade import NumberGrades
    from jurors.numeric.score import NumberScores

_MOST_LISTED = 20  # pairs and outliers of a full card; JSON has them all
_NO_LEADERS = ("uninformative_juror", "reversed_scale", "loading_above_variance")
_SCALE = (
    "RMSE and bias hold if jurors err independently, relative to the panel: a bias that all jurors share does not show."
)
_LINE = (
    "A juror's number is modelled as offset + slope × truth + error; noise is the standard deviation of the error. "
    "Slope, offset, noise, RMSE and bias assume independent errors."
)


# -- grades -----------------------------------------------------------------------------------------------------------


def ranked_jurors(grades: NumberGrades) -> list[int]:
    """The jurors that may be called best or worst, by the lower end of their reliability.

    Left out: no grade or an impossible one, few numbers, a reversed scale, and no better than chance.
    """
    enough = min(ENOUGH_VOTES, grades.numbers.max(initial=0) / 2)
    out = {name for alarm in grades.alarms if alarm.reason in _NO_LEADERS for name in alarm.jurors}
    ends = grades.reliability_ends
    known = [
        k
        for k, name in enumerate(grades.jurors)
        if not np.isnan(ends[k]).any() and grades.numbers[k] >= enough and name not in out
    ]
    return sorted(known, key=lambda k: (-ends[k, 0], -grades.reliability[k]))


def leading_jurors(grades: NumberGrades) -> list[int]:
    """The jurors that may be the most reliable: their intervals reach the highest lower end."""
    ranked, ends = ranked_jurors(grades), grades.reliability_ends
    return [k for k in ranked if ends[k, 1] >= ends[ranked[0], 0]]


def grade_blocks(grades: NumberGrades, options: CardOptions) -> list[Block]:
    """The card of jurors graded without a key.

    Returns
    -------
    list of blocks
    """
    order = _ordered(grades, options)
    shown_jurors = select_rows(order, options, ranked_jurors(grades))
    blocks: list[Block] = [
        f"{count_noun(len(grades.jurors), 'juror')}, {count_noun(grades.items, 'item')}, numbers",
        card_alarms(grades.alarms, options),
        wrapped(*_answer(grades)),
        juror_table(grades, shown_jurors),
        *rows_left_out(grades.jurors, shown_jurors, "jurors"),
    ]
    if options.full:
        blocks += [_lines_table(grades, order), *_independent_blocks(grades, order), *_dependence_tables(grades)]
        blocks += [] if grades.repeats is None else [grades.repeats.table(grades.level)]
        blocks.append(Notes([f"{juror} answers {x:g} on {item}: left out" for item, juror, x in _outliers(grades)]))
        blocks.append(wrapped(_LINE))
    blocks.append(wrapped(*(f"{line[:1].upper()}{line[1:]}." for line in grades.remarks)))
    return [block for block in blocks if not isinstance(block, Notes) or block.lines]


def _ordered(grades: NumberGrades, options: CardOptions) -> list[int]:
    """All jurors with enough numbers, the most reliable first, those that cannot be ranked last."""
    ranked, value = ranked_jurors(grades), np.nan_to_num(grades.reliability, nan=-np.inf)
    others = sorted(set(range(len(grades.jurors))) - set(ranked), key=lambda k: (-value[k], k))
    return _sorted_by_option([*ranked, *others], grades.jurors, grades.numbers, options)


def _answer(grades: NumberGrades) -> list[str]:
    leaders = leading_jurors(grades)
    if not leaders:
        return ["No juror can be ranked."]
    ends = grades.reliability_ends
    sentence = name_leaders(
        leaders,
        len(ranked_jurors(grades)),
        lambda k: f"{shorten(grades.jurors[k])} {shown(grades.reliability[k])} ({shown_range(ends[k])})",
    )
    truth = f"True values: {shown(grades.truth_mean)} ± {shown(grades.truth_spread)} on the panel's scale."
    return [sentence, "Reliability is the squared correlation with the truth, calibrated.", _SCALE, truth]


def juror_table(grades: NumberGrades, jurors: Sequence[int], width: int = WIDTH) -> Table:
    """A row per juror: RMSE and bias, then reliability with its interval, and what else fits in 80 columns."""
    optional = [
        CardColumn(name, [shown(getattr(grades, name)[k]) for k in jurors], is_optional=True)
        for name in ("slope", "offset", "noise")
    ]
    return fitted_table(
        [
            CardColumn("juror", [grades.jurors[k] for k in jurors]),
            CardColumn("RMSE", [shown(grades.rmse[k]) for k in jurors]),
            CardColumn("bias", [shown(grades.bias[k]) for k in jurors]),
            CardColumn("reliability", [shown(grades.reliability[k]) for k in jurors]),
            CardColumn(_percent(grades.level), [shown_range(grades.reliability_ends[k]) or "–" for k in jurors]),
            *optional,
            CardColumn("numbers", [f"{grades.numbers[k]:,}" for k in jurors]),
        ],
        width,
    )


def _lines_table(grades: NumberGrades, order: Sequence[int]) -> Table:
    names = ("slope", "offset", "noise")
    return _interval_table("number by true value", grades.jurors, grades, names, grades.level, order)


def _independent_blocks(grades: NumberGrades, order: Sequence[int]) -> list[Block]:
    title = "if errors were independent"
    model, level = grades.independent, grades.level
    blocks: list[Block] = [_interval_table(title, grades.jurors, model, ("reliability",), level, order)]
    if model.exact is not None and model.exact.reliability:
        pairs = zip(grades.jurors, model.exact.reliability, strict=True)
        blocks.append(Notes([f"exactly: {juror} {value}" for juror, value in pairs]))
    return blocks


def _dependence_tables(grades: NumberGrades) -> list[Table]:
    if not grades.dependence:
        return []
    rows = tuple(
        (*pair.jurors, shown(pair.correlation), f"{pair.z_score:.1f}", "ignored" if pair.is_fitted else "allowed for")
        for pair in grades.dependence[:_MOST_LISTED]
    )
    heads = ("first", "second", "correlation", "z score", "in the model")
    return [Table(heads, rows, title="pairs with correlated errors", right=(2, 3))]


def _outliers(grades: NumberGrades) -> tuple[tuple[Any, str, float], ...]:
    return grades.outliers[:_MOST_LISTED]


# -- scores by a key --------------------------------------------------------------------------------------------------


def score_blocks(scores: NumberScores, options: CardOptions) -> list[Block]:
    """The card of jurors scored by true values.

    Returns
    -------
    list of blocks
    """
    ranked = _ranked_by_key(scores)
    others = [k for k in range(len(scores.jurors)) if k not in set(ranked)]
    order = _sorted_by_option([*ranked, *others], scores.jurors, scores.by_key.numbers, options)
    shown_jurors = select_rows(order, options, ranked)
    heading = f"{count_noun(scores.items, 'item')} with a true value, {count_noun(len(scores.jurors), 'juror')}"
    blocks: list[Block] = [
        heading,
        card_alarms(scores.alarms, options),
        wrapped(*_score_answer(scores)),
        score_table(scores, shown_jurors),
        *rows_left_out(scores.jurors, shown_jurors, "jurors"),
    ]
    if options.full:
        measures = ("rmse", "bias", "correlation"), ("slope", "offset", "noise")
        blocks += [
            _interval_table("by the key", scores.jurors, scores.by_key, names, scores.level, order)
            for names in measures
        ]
        blocks += [_beside_table(scores, order), _values_table(scores)]
        blocks += [] if scores.repeats is None else [scores.repeats.table(scores.level)]
        blocks.append(wrapped("By the key, RMSE and bias are of the number minus the true value.", _LINE))
    blocks.append(wrapped(*(f"{line[:1].upper()}{line[1:]}." for line in scores.remarks)))
    return [block for block in blocks if not isinstance(block, Notes) or block.lines]


def _measure(scores: NumberScores) -> tuple[str, Floats, Floats]:
    """What jurors are ranked by, with its better and its worse end, less being better.

    Correlation where the key is in another unit, else RMSE.
    """
    if scores.is_other_unit:
        return "correlation", -scores.by_key.correlation_ends[:, 1], -scores.by_key.correlation_ends[:, 0]
    return "rmse", scores.by_key.rmse_ends[:, 0], scores.by_key.rmse_ends[:, 1]


def _ranked_by_key(scores: NumberScores) -> list[int]:
    """The jurors that may be called best or worst, by the worse end of their interval."""
    _, better, worse = _measure(scores)
    enough = min(ENOUGH_VOTES, scores.by_key.numbers.max(initial=0) / 2)
    known = ~np.isnan(better) & ~np.isnan(worse) & (scores.by_key.numbers >= enough)
    return sorted(np.flatnonzero(known).tolist(), key=lambda k: worse[k])


def _score_answer(scores: NumberScores) -> list[str]:
    name, better, worse = _measure(scores)
    value: Floats = getattr(scores.by_key, name)
    ends: Floats = getattr(scores.by_key, f"{name}_ends")
    ranked = _ranked_by_key(scores)
    leaders = [k for k in ranked if better[k] <= worse[ranked[0]]]
    label = "correlation" if name == "correlation" else "RMSE"
    lines = [
        name_leaders(
            leaders,
            len(ranked),
            lambda k: f"{shorten(scores.jurors[k])} ({label} {shown(value[k])}, {shown_range(ends[k])})",
        )
    ]
    by_way = {way.by: shown(way.rmse) for way in scores.values}
    if "grades" in by_way and not scores.is_other_unit:
        lines.append(
            f"Items' values have an RMSE of {by_way['grades']} when estimated from all jurors, {by_way['mean']} as "
            f"plain means and {by_way['median']} as plain medians."
        )
    if scores.grades is not None:
        low, high = scores.grades.reliability_ends.T
        true = scores.by_key.reliability
        known = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(true)
        inside = int(((low <= true) & (true <= high))[known].sum())
        if known.any():
            lines.append(
                f"Of {int(known.sum()):,} reliabilities by the key, {inside:,} lie inside the interval estimated "
                "without it."
            )
    mean, spread = shown(scores.truth_mean), shown(scores.truth_spread)
    return [*lines, f"True values: {mean} ± {spread}."]


def score_table(scores: NumberScores, jurors: Sequence[int], width: int = WIDTH) -> Table:
    """A row per juror: RMSE with its interval, bias, reliability by the key and as estimated without it."""
    by_key = scores.by_key
    estimated = ["–"] * len(jurors)
    if scores.grades is not None:
        estimated = [shown(scores.grades.reliability[k]) for k in jurors]
    return fitted_table(
        [
            CardColumn("juror", [scores.jurors[k] for k in jurors]),
            CardColumn("RMSE", [shown(by_key.rmse[k]) for k in jurors]),
            CardColumn(_percent(scores.level), [shown_range(by_key.rmse_ends[k]) or "–" for k in jurors]),
            CardColumn("bias", [shown(by_key.bias[k]) for k in jurors]),
            CardColumn("reliability", [shown(by_key.reliability[k]) for k in jurors]),
            CardColumn("without key", estimated, is_optional=True),
            CardColumn("correlation", [shown(by_key.correlation[k]) for k in jurors], is_optional=True),
            CardColumn("numbers", [f"{by_key.numbers[k]:,}" for k in jurors]),
        ],
        width,
    )


def _beside_table(scores: NumberScores, order: Sequence[int]) -> Table:
    sure = _percent(scores.level)
    headings = ("juror", "by the key", sure, "estimated", sure, "if independent", sure)
    independent = None if scores.grades is None else scores.grades.independent
    rows = tuple(
        (
            scores.jurors[k],
            *with_interval(scores.by_key, "reliability", k),
            *with_interval(scores.grades, "reliability", k),
            *with_interval(independent, "reliability", k),
        )
        for k in order
    )
    return Table(headings, rows, title="reliability: by the key and without it", right=tuple(range(1, len(headings))))


def _values_table(scores: NumberScores) -> Table:
    headings = ("values of items", "items", "RMSE", "bias", "correlation", "rank correlation", "inside the interval")
    return Table(headings, tuple(way.cells() for way in scores.values), right=tuple(range(1, len(headings))))


# -- both -------------------------------------------------------------------------------------------------------------


def _sorted_by_option(order: list[int], jurors: Sequence[str], numbers: Integers, options: CardOptions) -> list[int]:
    """Jurors in the order that the options choose, without those that gave too few numbers."""
    if options.sort == "votes":
        order = sorted(order, key=lambda k: -numbers[k])
    elif options.sort == "name":
        order = sorted(order, key=lambda k: jurors[k])
    return [k for k in order if numbers[k] >= options.min_votes]


def _interval_table(
    title: str, jurors: Sequence[str], estimates: Any, names: Sequence[str], level: float, order: Sequence[int]
) -> Table:
    sure = _percent(level)
    headings = ("juror", *(head for name in names for head in (name.replace("rmse", "RMSE"), sure)))
    rows = tuple((jurors[k], *(cell for name in names for cell in with_interval(estimates, name, k))) for k in order)
    return Table(headings, rows, title=title, right=tuple(range(1, len(headings))))


def _percent(level: float) -> str:
    return f"{level * 100:g}%"
