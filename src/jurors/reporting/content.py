"""The first screen of a report: can these grades be trusted, who is good and who is not, and what to do.

Every sentence comes from the alarms and numbers of the evaluation, and from the answer key if there is one; the levels
of alarms mean what `jurors check` means by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from markupsafe import Markup, escape

from jurors.errors import format_first_names
from jurors.evaluate.alarms import KINDS, SHARED_ERRORS_ADVICE, Alarm, highest_level, sort_by_severity
from jurors.evaluate.card import answer_lines, leader_sentence, percent, percent_range
from jurors.evaluate.dependence import dependence_with_key, linked_jurors
from jurors.evaluate.evaluation import TOO_WIDE, Evaluation, KeyedEvaluation
from jurors.evaluate.solution import is_number
from jurors.jury.label import Labelling
from jurors.reporting.tables import IntervalRow, key_lines, label_advice, names
from jurors.results import count_noun
from jurors.uncertainty.alarms import actual_scores, clearly_weak, could_be_equal, scores_and_errors, worse_than_chance
from jurors.uncertainty.gold import check_with_key

# -- the verdict --

Tone: TypeAlias = Literal["alarm", "warning", "quiet"]

_NO_PROOF = "That is no proof: jurors who share errors in just the right way look independent."
_AS_EVIDENCE = "The numbers below are shown as they were found, as evidence, not as grades to act on."


_WIDE_INTERVAL = 0.3  # of scores, in the median: such intervals decide little


@dataclass(frozen=True)
class ReportVerdict:
    """Can these grades be trusted?"""

    tone: Tone
    headline: str
    lines: tuple[str | Markup, ...]


def verdict(e: Evaluation, keyed: KeyedEvaluation | None = None) -> ReportVerdict:
    """Answer "can I trust these grades", by the most severe alarm, and by the answer key if there is one.

    Returns
    -------
    ReportVerdict
    """
    check = check_with_key(e, keyed)
    by_alarms = verdict_by_alarms(e.alarms, f"Nothing in the counts speaks against these grades. {_NO_PROOF}")
    tone, headline, lines = by_alarms.tone, by_alarms.headline, list(by_alarms.lines)
    widths = [high - low for low, high in (e.interval_of("score", j) for j in e.jurors) if low == low]
    if not e.has_grades and tone != "alarm":
        tone, headline, lines = "warning", "There are no grades.", []
    elif tone == "quiet" and (not widths or sorted(widths)[len(widths) // 2] > _WIDE_INTERVAL):
        tone, headline = "warning", "The intervals are wide: add gold labels before you rely on them."
    if check is not None and check.speaks_against:
        if tone == "alarm":
            headline = "No: do not trust these grades. The answer key contradicts them too."
        elif check.is_alarming:
            tone, headline = "alarm", "No: the answer key contradicts these grades."
        else:
            tone, headline = "warning", "With care: the answer key contradicts the intervals."
    lines[:0] = answer_lines(e)
    if check is None:
        return ReportVerdict(tone, headline, tuple(lines))
    if check.speaks_against:  # what is certain comes first
        return ReportVerdict(tone, headline, (*key_lines(check), *(line for line in lines if _NO_PROOF not in line)))
    return ReportVerdict(tone, headline, (*lines, *key_lines(check)))


def verdict_by_alarms(alarms: tuple[Alarm, ...], quiet: str) -> ReportVerdict:
    """Judge by the alarms alone; `quiet` is what to say without any.

    Returns
    -------
    ReportVerdict
    """
    level = highest_level(alarms)
    many = count_noun(sum(alarm.level == level for alarm in alarms), str(level))
    if level == "alarm":
        return ReportVerdict("alarm", "No: do not trust these grades.", (f"{many} rang. {_AS_EVIDENCE}",))
    if level == "warning":
        return ReportVerdict("warning", "With care: look at the warnings first.", (f"No alarm rang, but {many} did.",))
    return ReportVerdict("quiet", "No alarm rang.", (quiet,))


@dataclass(frozen=True)
class RaisedAlarm:
    """Alarms of one kind and level: the first in full, the others folded."""

    first: Alarm
    more: tuple[Alarm, ...] = ()

    @property
    def level(self) -> str:
        """Of all of them."""
        return self.first.level


def shown_alarms(alarms: tuple[Alarm, ...]) -> list[RaisedAlarm]:
    """Group alarms by kind, the most severe first.

    Returns
    -------
    list of RaisedAlarm
    """
    kinds: dict[tuple[str, str], list[Alarm]] = {}
    for alarm in sort_by_severity(dict.fromkeys(alarms)):
        kinds.setdefault((alarm.level, alarm.kind), []).append(alarm)
    return [RaisedAlarm(first, tuple(more)) for first, *more in kinds.values()]


# -- who errs together --

Group: TypeAlias = tuple[str, ...]


def pairs_apart(alarm: Alarm) -> list[Group]:
    """List the pairs of the alarm whose errors are negatively correlated."""
    return [(pair.first, pair.second) for pair in alarm.pairs if pair.value < 0]


def groups_together(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[Group]:
    """Group jurors who err together, by the key if there is one, else as estimated.

    Returns
    -------
    list of tuple of str
        The largest group last.
    """
    if keyed is not None:
        actual = dependence_with_key(keyed)
        groups = list(linked_jurors(actual.jurors, actual.correlation, actual.error))
    elif not (alarms := [a for a in e.alarms if a.reason == "correlated_errors"]):
        groups = []
    else:
        residual = e.independent.dependence
        groups = [] if residual is None else list(residual.groups)
        groups = groups or [(pair.first, pair.second) for alarm in alarms for pair in alarm.pairs if pair.value > 0]
    return sorted(groups, key=len)


def is_most(group: Group, e: Evaluation) -> bool:
    """Whether the group is most of the panel."""
    return len(group) > len(e.jurors) / 2


# -- what to do: two to four actions, the most pressing first --

_MAX_ACTIONS = 4
_REVIEW = 40  # items
_FEW_ITEMS = 30
_NAMED = 3  # of the clearly weakest


@dataclass(frozen=True)
class Action:
    """Something to do, and what to type for it."""

    text: str | Markup
    command: str | None = None


def actions(
    e: Evaluation,
    labelling: Labelling | None,
    file: str,
    *,
    has_key: bool = False,
    keyed: KeyedEvaluation | None = None,
) -> list[Action]:
    """Advise two to four actions; `file` is how the commands name the votes.

    Returns
    -------
    list of Action
    """
    loud = [a for a in e.alarms if a.level != "note"]
    check = check_with_key(e, keyed)
    first = []
    if e.items < _FEW_ITEMS:
        first.append(Action(f"Get more items first: {e.items:,} are too few to grade anybody"))
    if check is not None and check.labels is not None and (text := label_advice(check.labels)):
        first.append(Action(text))
    if check is not None and check.speaks_against:
        first.append(Action("Go by the actual scores, not by the estimates: the key contradicts them"))
    texts = dict.fromkeys(_merged(loud, e, keyed))
    steps = first + [Action(text) for text in texts][: max(1, _MAX_ACTIONS - 1 - len(first))]
    untrusted = not e.has_grades or any(a.level == "alarm" for a in loud)
    if keyed is not None or not (untrusted or any(a.reason == "correlated_errors" for a in loud)):
        worse = [] if e.exam else worse_than_chance(keyed or e)
        inverted = {j for a in e.alarms if a.reason == "inverted_juror" for j in a.jurors}
        if swapped := [j for j in worse if j not in inverted]:
            text = Markup("Ask whether {} had the labels swapped: clearly wrong more often than a coin")
            steps.append(Action(text.format(names(swapped))))
        flagged = {j for a in e.alarms if a.reason in ("uninformative_juror", "constant_juror") for j in a.jurors}
        if weak := [j for j in clearly_weak(keyed or e) if j not in flagged | set(worse)][:_NAMED]:
            text = Markup("Weakest: look at {}, five points or more below most of the others, beyond chance{}")
            steps.append(Action(text.format(names(weak), ", by the key" if keyed is not None else "")))
    if not (has_key or keyed) and e.gold is None and (loud or len(e.jurors) == 3):
        test = "Test the grades: let a person label a few dozen random items, then grade again with them"
        steps = [*steps[: _MAX_ACTIONS - 1], Action(test, f"jurors grade {file} --gold gold.csv")]
    if not untrusted and labelling is not None and not (check and check.is_alarming):
        steps += _review(labelling, file)
    if not loud and not (check and check.speaks_against):
        watch = "Keep watching: in a pipeline, this exits with status 3 when an alarm rings"
        steps.append(Action(watch, f"jurors check {file}"))
    return steps[:_MAX_ACTIONS]


def _merged(loud: list[Alarm], e: Evaluation, keyed: KeyedEvaluation | None) -> list[Markup]:
    """Give one advice per kind of alarm, about all jurors that alarms of that kind name."""
    kinds: dict[str, list[Alarm]] = {}
    for alarm in loud:
        kinds.setdefault(alarm.reason, []).append(alarm)
    advice = []
    for kind, alarms in kinds.items():
        if kind == "correlated_errors":
            advice.append(_together(alarms[0], e, keyed))
        elif kind == "twin_jurors":
            pairs = Markup("; ").join(names(alarm.jurors) for alarm in alarms[:_NAMED])
            more = Markup("; and {} more pairs").format(len(alarms) - _NAMED) if len(alarms) > _NAMED else Markup("")
            advice.append(escape(KINDS[kind].advice).format(who=pairs + more))
        else:
            who = list(dict.fromkeys(j for alarm in alarms for j in alarm.jurors))
            advice.append(escape(KINDS[kind].advice).format(who=names(who) if who else Markup("the jurors it names")))
    return advice


def _together(alarm: Alarm, e: Evaluation, keyed: KeyedEvaluation | None) -> Markup:
    """Advise on correlated errors: by groups; else by pairs with negative correlation; else in general."""
    groups = groups_together(e, keyed)
    small = [group for group in groups if not is_most(group, e)][:_NAMED]
    large = [group for group in groups if is_most(group, e)]
    advice = []
    if small:
        listed = Markup("; ").join(names(group) for group in small)
        advice.append(
            Markup("Count jurors who err together as one voice, or keep one of each group: {}").format(listed)
        )
    for group in large:
        rest = [j for j in e.jurors if j not in group]
        leaning = Markup("the grades lean on the rest ({})").format(names(rest)) if rest else "nobody stands outside"
        advice.append(
            Markup("Most of the panel shares errors ({} of {}: {}), so {}: add jurors of another kind").format(
                len(group), len(e.jurors), names(group), leaning
            )
        )
    if advice:
        return Markup(". ").join(advice)
    apart = list(dict.fromkeys(j for pair in pairs_apart(alarm) for j in pair))
    if apart and keyed is None:
        return Markup(
            "Look at {}: some of these pairs disagree more than their grades explain; one side may follow another rule"
        ).format(names(apart))
    return escape(SHARED_ERRORS_ADVICE)


def _review(labelling: Labelling, file: str) -> list[Action]:
    """Advise a review of the labels that are the least likely to be right."""
    first = labelling.review(_REVIEW)
    wrong = float(np.sum(1 - labelling.probability[first]))
    if not wrong >= 1 or len(first) == len(labelling):
        return []
    text = f"Check the {len(first)} labels that are the least likely to be right: about {wrong:,.0f} of them are wrong"
    return [Action(text, f"jurors label {file} --review {len(first)}")]


# -- the ranking of jurors, with remarks --

_LIKE_A_COIN = {"open", "uninformative_juror", "inverted_juror", "constant_juror"}  # remarks that say so already
_SWAPPED = "clearly below a coin: labels swapped?"
_TOO_FEW = "too few votes to judge"
_WIDE = 0.3  # an interval so wide says nothing about the score


@dataclass(frozen=True, kw_only=True)
class RankedJuror(IntervalRow):
    """One juror in the order of the scores."""

    juror: str
    is_doubtful: bool  #: cannot be distinguished from guessing
    is_open: bool = False  #: so little is known of the score that it should not be ranked


def ranking(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[RankedJuror]:
    """Rank the jurors by score as real juries go (with a key by the actual one); those of unknown score come last.

    Returns
    -------
    list of RankedJuror
    """
    if not e.has_grades:
        return []
    order = {juror: place for place, juror in enumerate(e.ranking.order)}
    actual = {} if keyed is None else actual_scores(keyed)
    open_ones = open_scores(e, keyed)
    by_juror = _remarks(e, keyed, open_ones)

    def place(juror: str) -> tuple[bool, bool, float]:
        shown = actual.get(juror) if keyed is not None else -order.get(juror, len(order))
        known = is_number(shown)
        return not known, juror in open_ones, -shown if known else 0.0  # type: ignore[operator]

    return [
        RankedJuror(
            rank=k,
            juror=j,
            score=e.score[j] if is_number(e.score[j]) else None,
            ends=e.interval_of("score", j),
            actual=actual.get(j),
            remarks=tuple(by_juror[j].values()),
            is_doubtful=is_doubtful(e, j),
            is_open=j in open_ones,
        )
        for k, j in enumerate(sorted(e.jurors, key=place), 1)
    ]


def open_scores(e: Evaluation, keyed: KeyedEvaluation | None = None) -> set[str]:
    """Find the jurors whose interval is too wide to say anything about the score; with a key, of the actual score.

    Returns
    -------
    set of str
    """
    if keyed is not None:
        score, error = scores_and_errors(keyed)
        width = 2 * NormalDist().inv_cdf(0.5 + e.level / 2) * error
        return {j for j, x, wide in zip(e.jurors, score, width, strict=True) if x != x or wide > _WIDE}
    ends = {j: e.interval_of("score", j) for j in e.jurors}
    wide = TOO_WIDE if e.is_calibrated else _WIDE
    return {j for j, (low, high) in ends.items() if high - low > wide}  # empty without intervals


def is_doubtful(e: Evaluation, juror: str) -> bool:
    """Whether an alarm says that the juror answers by chance, or its intervals allow it.

    A juror who gives each label at a fixed rate, whatever the item, has accuracies that add up to 1. If the lower ends
    do not add up to more, that is not excluded.

    Returns
    -------
    bool
    """
    if any(a.reason in ("uninformative_juror", "constant_juror") and juror in a.jurors for a in e.alarms):
        return True
    if e.exam:
        return False
    ends = [e.interval_of("accuracy", juror, a) for a in e.labels]
    known = [(low, high) for low, high in ends if low == low]
    return len(known) == len(ends) and sum(low for low, _ in known) <= 1 <= sum(high for _, high in known)


def _remarks(e: Evaluation, keyed: KeyedEvaluation | None, open_ones: set[str]) -> dict[str, dict[str, str]]:
    """Map each juror to its remarks by reason."""
    remarks: dict[str, dict[str, str]] = {j: {"open": _TOO_FEW} if j in open_ones else {} for j in e.jurors}
    for alarm in e.alarms:
        if KINDS[alarm.reason].remark and len(alarm.jurors) < len(e.jurors):
            for juror in alarm.jurors:
                remarks.setdefault(juror, {})[alarm.reason] = KINDS[alarm.reason].remark
    companions: dict[str, list[str]] = {}
    for group in groups_together(e, keyed):
        for juror in group if not is_most(group, e) else ():
            others = [other for other in group if other != juror]
            companions[juror] = list(dict.fromkeys([*companions.get(juror, ()), *others]))
    for juror, others in companions.items():
        remarks[juror]["together"] = f"errs together with {format_first_names(others, 2)}"
    for juror in [] if e.exam else worse_than_chance(keyed or e):
        if "inverted_juror" not in remarks[juror]:
            remarks[juror]["swapped"] = _SWAPPED
    for juror in e.jurors:
        model = e.independent
        numbers = (model.score[juror], *model.accuracy[juror].values()) if model.solution is not None else ()
        if any(is_number(x) and not 0 <= x <= 1 for x in numbers):
            remarks[juror]["outside"] = "a number outside 0–100%"
        if is_doubtful(e, juror) and not remarks[juror].keys() & _LIKE_A_COIN:
            remarks[juror]["doubtful"] = "intervals do not exclude a coin"
    return remarks


def people(e: Evaluation, rows: list[RankedJuror]) -> list[Markup]:
    """Describe who is best, who is weakest, and who cannot be distinguished from a coin.

    Returns
    -------
    list of Markup
        One line each.
    """
    has_key = any(is_number(row.actual) for row in rows)
    known = [row for row in rows if not row.is_open and is_number(row.actual if has_key else row.score)]
    lines: list[Markup] = []
    if has_key and known:
        by_key = Markup("{} by the key: {}, {} right ({} estimated).")
        lines = [
            by_key.format(what, names([row.juror]), percent(row.actual), percent(row.score))
            for what, row in (("Best", known[0]), ("Weakest", known[-1]))
        ]
    elif rows:
        lines = [escape(leader_sentence(e))]
        by_name = {row.juror: row for row in rows}
        if len(e.ranking.ranked) > 1:
            last = by_name[e.ranking.ranked[-1]]
            line = Markup("Lowest: {}, {}").format(names([last.juror]), _with_range(last))
            if any(by_name[j].ends[0] <= last.ends[1] for j in e.ranking.ranked[:-1]):
                line += Markup("; its interval overlaps others")
            lines.append(line + Markup("."))
        if e.ranking.uninformative:
            lines.append(Markup("Hardly better than a constant answer: {}.").format(names(e.ranking.uninformative)))
    if not has_key and lines and e.interval is not None and could_be_equal(e, [row.juror for row in known]):
        lines.append(Markup("On other items the order may differ: equal jurors could differ as much by chance."))
    few = [row.juror for row in rows if row.is_open]
    if few:
        lines.append(Markup("{}, listed last: {}.").format(_TOO_FEW.capitalize(), names(few)))
    doubtful = [row.juror for row in rows if row.is_doubtful and not row.is_open]
    if doubtful:
        lines.append(Markup("Not told apart from coin flips: {}.").format(names(doubtful)))
    return lines


def _with_range(row: RankedJuror) -> str:
    ends = percent_range(row.ends)
    return f"{percent(row.score)} right" + (f" ({ends})" if ends else "")
