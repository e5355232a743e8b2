"""The first screen of a report: can these grades be trusted, who is good and who is not, and what to do.

Every sentence comes from the alarms and numbers of the evaluation, and from the answer key if there is one; the levels
of alarms mean what `jurors check` means by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from markupsafe import Markup, escape

from jurors.errors import format_first_names, short_names, spell_options
from jurors.evaluate.alarms import KINDS, Alarm, highest_level, sort_by_severity
from jurors.evaluate.card import (
    CardOptions,
    answer_lines,
    enough_votes,
    gold_step,
    leader_sentence,
    percent,
    percent_range,
    scored_jurors,
)
from jurors.evaluate.dependence import dependence_with_key
from jurors.evaluate.evaluation import TOO_WIDE, Evaluation, KeyedEvaluation
from jurors.evaluate.solution import is_number
from jurors.jury.label import Labelling
from jurors.reporting.tables import IntervalRow, key_lines, label_advice, names
from jurors.results import count_noun
from jurors.uncertainty.alarms import check_with_key, clearly_weak, scores_and_errors, worse_than_chance

# -- the verdict --

Tone: TypeAlias = Literal["alarm", "warning", "quiet"]

_NO_PROOF = "This is no proof: votes alone cannot reveal an error that all jurors share."
_AS_EVIDENCE = "Use the numbers below as evidence, not as grades."
_WIDE_INTERVAL = 0.25  # of scores, in the median: such intervals decide little


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
    by_alarms = verdict_by_alarms(e.alarms, f"Nothing in the votes contradicts these grades. {_NO_PROOF}")
    tone, headline, lines = by_alarms.tone, by_alarms.headline, list(by_alarms.lines)
    widths = [high - low for low, high in (e.interval_of("score", j) for j in e.jurors) if low == low]
    if not e.has_grades and tone != "alarm":
        tone, headline, lines = "warning", "No: these votes give no grades.", []
    elif tone == "quiet" and (not widths or sorted(widths)[len(widths) // 2] > _WIDE_INTERVAL):
        narrows = " Add gold labels to narrow them." if gold_step(e) else ""
        tone, headline = "warning", f"Not yet: the intervals are too wide.{narrows}"
    elif tone == "quiet" and all(is_doubtful(e, j) for j in e.jurors):
        tone, headline = "warning", "With care: every juror may be no better than chance."
    if check is not None and check.speaks_against:
        if tone == "alarm":
            headline = "No: do not trust these grades. The answer key contradicts them too."
        elif check.is_alarming:
            tone, headline = "alarm", "No: the answer key contradicts these grades."
        else:
            tone, headline = "warning", "With care: the answer key contradicts some intervals."
    lines[:0] = answer_lines(e)
    if check is not None and check.speaks_against:  # what is certain comes first
        lines = [*key_lines(check), *(line for line in lines if _NO_PROOF not in line)]
    elif check is not None:
        lines += key_lines(check)
    return ReportVerdict(tone, headline, tuple(lines))


def verdict_by_alarms(alarms: tuple[Alarm, ...], quiet: str) -> ReportVerdict:
    """Judge by the alarms alone; `quiet` is the sentence for a result without any.

    Returns
    -------
    ReportVerdict
    """
    level = highest_level(alarms)
    many = count_noun(sum(alarm.level == level for alarm in alarms), str(level))
    if level == "alarm":
        return ReportVerdict("alarm", "No: do not trust these grades.", (f"{many} raised. {_AS_EVIDENCE}",))
    if level == "warning":
        return ReportVerdict("warning", "With care: read the warnings first.", (f"No alarm, {many}.",))
    return ReportVerdict("quiet", "Yes, within their intervals: no alarm was raised.", (quiet,))


def shown_alarms(alarms: tuple[Alarm, ...]) -> list[list[Alarm]]:
    """Group alarms by kind and level, the most severe first: a page folds all but the first of a group.

    Returns
    -------
    list of list of Alarm
    """
    kinds: dict[tuple[str, str], list[Alarm]] = {}
    for alarm in sort_by_severity(dict.fromkeys(alarms)):
        kinds.setdefault((alarm.level, alarm.kind), []).append(alarm)
    return list(kinds.values())


# -- whose errors are correlated --

Group: TypeAlias = tuple[str, ...]


def correlated_groups(keyed: KeyedEvaluation | None) -> list[Group]:
    """Group jurors whose errors are correlated, by the answer key; without one, that is not known.

    Returns
    -------
    list of tuple of str
        The largest group last.
    """
    if keyed is None:
        return []
    return sorted(dependence_with_key(keyed).groups(), key=len)


def is_most(group: Group, e: Evaluation) -> bool:
    """Whether the group is most of the panel."""
    return len(group) > len(e.jurors) / 2


# -- what to do: two to four actions, the most pressing first --

_MAX_ACTIONS = 4
_REVIEW = 40  # items
_FEW_ITEMS = 30
_NAMED = 3  # of the clearly weakest

Command: TypeAlias = Callable[..., str]


@dataclass(frozen=True)
class Action:
    """Something to do, and what to type for it."""

    text: str | Markup
    command: str | None = None


def actions(
    e: Evaluation, labelling: Labelling | None, command: Command, *, keyed: KeyedEvaluation | None = None
) -> list[Action]:
    """Advise two to four actions; `command` writes a command on the votes, given its name and further words.

    Returns
    -------
    list of Action
    """
    loud = [a for a in e.alarms if a.level != "note"]
    check = check_with_key(e, keyed)
    first = []
    if e.items < _FEW_ITEMS:
        first.append(Action(f"Collect more items first: {e.items:,} are too few to grade anybody"))
    if check is not None and check.labels is not None and (text := label_advice(check.labels)):
        first.append(Action(text))
    if check is not None and check.speaks_against:
        first.append(Action("Use the actual scores, not the estimates: the answer key contradicts the estimates"))
    texts = dict.fromkeys(_merged(loud, e, keyed))
    steps = first + [Action(text) for text in texts][: max(1, _MAX_ACTIONS - 1 - len(first))]
    untrusted = not e.has_grades or any(a.level == "alarm" for a in loud)
    if keyed is not None or not (untrusted or any(a.reason == "correlated_errors" for a in loud)):
        worse = [] if e.exam else worse_than_chance(keyed or e)
        inverted = {j for a in e.alarms if a.reason == "inverted_juror" for j in a.jurors}
        if swapped := [j for j in worse if j not in inverted]:
            text = Markup("Check whether {} swapped the labels: wrong on more than half of the items, beyond chance")
            steps.append(Action(text.format(names(swapped))))
        flagged = {j for a in e.alarms if a.reason in ("uninformative_juror", "constant_juror") for j in a.jurors}
        if weak := [j for j in clearly_weak(keyed or e) if j not in flagged | set(worse)][:_NAMED]:
            text = Markup("Check {}: at least five points below most of the others, beyond chance{}")
            steps.append(Action(text.format(names(weak), ", by the answer key" if keyed is not None else "")))
    if keyed is None and (step := gold_step(e)):
        items, words, gain = step
        text = f"Label {items}, drawn at random, and grade again with them as gold: {gain}"
        plan = command("audit plan", *words.split(), "-o", "sheet.csv" if e.gold is None else "more.csv")
        steps = [*steps[: _MAX_ACTIONS - 1], Action(text, plan)]
    if not untrusted and labelling is not None and not (check and check.is_alarming):
        review = labelling.review(_REVIEW)
        wrong, size = float(np.sum(1 - labelling.probability[review])), len(review)
        if wrong >= 1 and size < len(labelling):
            text = f"Check the {size} labels that are the least likely to be right"
            text += f": about {wrong:,.0f} of them are wrong" if labelling.expected is None else ""
            steps.append(Action(text, command("label", "--review", str(size))))
    if not loud and not (check and check.speaks_against):
        watch = "Check every new batch in your pipeline: the exit status is 3 if an alarm is raised"
        steps.append(Action(watch, command("check")))
    return steps[:_MAX_ACTIONS]


def _merged(loud: list[Alarm], e: Evaluation, keyed: KeyedEvaluation | None) -> list[Markup]:
    """Give one advice per kind of alarm, about all jurors that alarms of that kind name."""
    kinds: dict[str, list[Alarm]] = {}
    for alarm in loud:
        kinds.setdefault(alarm.kind, []).append(alarm)
    advice = []
    for kind, alarms in kinds.items():
        reason, who = alarms[0].reason, list(dict.fromkeys(j for alarm in alarms for j in alarm.jurors))
        named = names(who) if who else Markup("the jurors")
        if kind == "copied_juror":
            named = Markup("; ").join(names(alarm.jurors) for alarm in alarms[:_NAMED])
            if len(alarms) > _NAMED:
                named += Markup("; and {} more pairs").format(len(alarms) - _NAMED)
        elif kind == "correlated_errors":
            if by_key := _shared_errors(e, keyed):
                advice.append(by_key)
                continue
            reason = kind
        text = spell_options(KINDS[reason].advice).split("`")  # every other part is code
        parts = [Markup("<code>{}</code>").format(x) if k % 2 else escape(x) for k, x in enumerate(text)]
        advice.append(Markup("").join(parts).format(who=named))
    return advice


def _shared_errors(e: Evaluation, keyed: KeyedEvaluation | None) -> Markup:
    """Advise on the groups that share errors by the answer key; nothing where there are none."""
    groups = correlated_groups(keyed)
    advice = []
    if small := [group for group in groups if not is_most(group, e)][:_NAMED]:
        listed = Markup("; ").join(names(group) for group in small)
        text = Markup("By the answer key, these share errors, so count each group as one juror: {}")
        advice.append(text.format(listed))
    large = Markup("By the answer key, {} of {} jurors share errors ({}): add jurors of another kind")
    advice += [large.format(len(group), len(e.jurors), names(group)) for group in groups if is_most(group, e)]
    return Markup(". ").join(advice)


# -- the ranking of jurors, with remarks --

_NO_BETTER = {"few", "wide", "uninformative_juror", "inverted_juror", "constant_juror"}  # remarks that say as much
_SWAPPED = "wrong more often than right"
_FEW_VOTES = "too few votes to judge"
_TOO_WIDE = "interval too wide to rank"
_ENDS = 10  # best and worst jurors of the first table
_WIDE = 0.3  # of the interval of an actual score, or without calibration


@dataclass(frozen=True, kw_only=True)
class RankedJuror(IntervalRow):
    """One juror in the order of the scores."""

    juror: str
    votes: int | None = None
    is_doubtful: bool  #: may be no better than chance
    is_ranked: bool = True  #: enough is known of the score to call it best or worst


def ranking(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[RankedJuror]:
    """Rank the jurors as the card does (with a key as `score` does); those that cannot be ranked come last.

    Returns
    -------
    list of RankedJuror
    """
    if not e.has_grades:
        return []
    known = e.ranking.order if keyed is None else scored_jurors(keyed, CardOptions(full=True))
    order = {juror: place for place, juror in enumerate(known)}
    actual = {} if keyed is None else keyed.solution.to_float().score
    enough = enough_votes(e.votes.values())
    few = {j for j in e.jurors if e.votes.get(j, enough) < enough}  # too few votes to be called best or worst
    wide = _wide_scores(e, keyed)
    ranked = set(e.ranking.ranked) if keyed is None else set(e.jurors) - few - wide
    by_juror, leaders = _remarks(e, keyed, few, wide), set(e.leaders if keyed is None else ())

    def place(juror: str) -> tuple[bool, bool, int]:
        return juror not in order, juror not in ranked, order.get(juror, 0)

    return [
        RankedJuror(
            rank=1 if j in leaders else k,
            juror=j,
            votes=e.votes.get(j),
            score=e.score[j] if is_number(e.score[j]) else None,
            ends=e.interval_of("score", j),
            actual=actual.get(j),
            remarks=tuple(dict.fromkeys(by_juror[j].values())),
            is_doubtful=is_doubtful(e, j),
            is_ranked=j in ranked,
        )
        for k, j in enumerate(sorted(e.jurors, key=place), 1)
    ]


def first_and_last(rows: list[RankedJuror]) -> tuple[list[RankedJuror], list[RankedJuror]]:
    """Select the rows of the first table: all of them up to 20, else the ten best and the ten worst that are ranked.

    Returns
    -------
    (list of RankedJuror, list of RankedJuror)
    """
    if len(rows) <= 2 * _ENDS:
        return rows, []
    ranked = [row for row in rows if row.is_ranked]
    ranked = ranked if len(ranked) > 2 * _ENDS else rows
    return ranked[:_ENDS], ranked[-_ENDS:]


def _wide_scores(e: Evaluation, keyed: KeyedEvaluation | None) -> set[str]:
    """Find the jurors whose interval is too wide to rank them; with a key, the interval of the actual score."""
    if keyed is not None:
        score, error = scores_and_errors(keyed)
        width = 2 * NormalDist().inv_cdf(0.5 + e.level / 2) * error
        return {j for j, x, wide in zip(e.jurors, score, width, strict=True) if x != x or wide > _WIDE}
    ends = {j: e.interval_of("score", j) for j in e.jurors}
    wide = TOO_WIDE if e.is_calibrated else _WIDE
    return {j for j, (low, high) in ends.items() if high - low > wide}  # empty without intervals


def is_doubtful(e: Evaluation, juror: str) -> bool:
    """Whether an alarm says that the juror is no better than chance, or its intervals allow it; no juror that leads.

    A juror who gives each label at a fixed rate, whatever the item, has accuracies that add up to 1. If the lower ends
    do not add up to more, that is not excluded.

    Returns
    -------
    bool
    """
    if any(a.reason in ("uninformative_juror", "constant_juror") and juror in a.jurors for a in e.alarms):
        return True
    if e.exam or (juror in e.leaders and len(e.leaders) < len(e.jurors)):
        return False
    ends = [e.interval_of("accuracy", juror, a) for a in e.labels]
    known = [(low, high) for low, high in ends if low == low]
    return len(known) == len(ends) and sum(low for low, _ in known) <= 1 <= sum(high for _, high in known)


def _remarks(e: Evaluation, keyed: KeyedEvaluation | None, few: set[str], wide: set[str]) -> dict[str, dict[str, str]]:
    """Map each juror to its remarks by reason."""
    remarks: dict[str, dict[str, str]] = {
        j: {"few": _FEW_VOTES} if j in few else {"wide": _TOO_WIDE} if j in wide else {} for j in e.jurors
    }
    for alarm in e.alarms:
        if KINDS[alarm.reason].remark and len(alarm.jurors) < len(e.jurors):
            for juror in alarm.jurors:
                remarks.setdefault(juror, {})[alarm.reason] = KINDS[alarm.reason].remark
    companions: dict[str, list[str]] = {}
    for group in correlated_groups(keyed):
        for juror in group if not is_most(group, e) else ():
            others = [other for other in group if other != juror]
            companions[juror] = list(dict.fromkeys([*companions.get(juror, ()), *others]))
    for juror, others in companions.items():
        remarks[juror]["correlated"] = (
            f"shares errors with {format_first_names([short_names(e.jurors)[j] for j in others], 2)}"
        )
    for juror in [] if e.exam else worse_than_chance(keyed or e):
        if "inverted_juror" not in remarks[juror]:
            remarks[juror]["swapped"] = _SWAPPED
    for juror in e.jurors:
        if is_doubtful(e, juror) and not remarks[juror].keys() & _NO_BETTER:
            remarks[juror]["doubtful"] = "may be no better than chance"
    return remarks


def people(e: Evaluation, rows: list[RankedJuror]) -> list[Markup]:
    """Describe who is best, who is weakest, and who may be no better than chance.

    Returns
    -------
    list of Markup
        One line each.
    """
    has_key = any(is_number(row.actual) for row in rows)
    known = [row for row in rows if row.is_ranked and is_number(row.actual if has_key else row.score)]
    lines: list[Markup] = []
    if has_key and known:
        by_key = Markup("{} by the answer key: {}, {} right ({} estimated).")
        lines = [
            by_key.format(what, names([row.juror]), percent(row.actual), percent(row.score))
            for what, row in (("Best", known[0]), ("Weakest", known[-1]))
        ]
    elif rows:
        lines = [escape(leader_sentence(e))]
        by_name = {row.juror: row for row in rows}
        if len(e.leaders) < len(e.ranking.ranked):  # else the last may be the best, too
            last = by_name[e.ranking.ranked[-1]]
            rank = "Lowest" if len(e.ranking.ranked) == len(e.jurors) else "Lowest of the ranked"
            ends = f" ({percent_range(last.ends)})" if last.ends[0] == last.ends[0] else ""
            text = f"{percent(last.score)} right{ends}"
            if e.ordered is not None:
                text = f"{e.ordered.mean_error[last.juror]:.2f} levels off"
            line = Markup("{}: {}, {}").format(rank, names([last.juror]), text)
            if e.ordered is None and any(
                by_name[j].ends[0] <= last.ends[1] for j in e.ranking.ranked if j != last.juror
            ):
                line += Markup("; its interval overlaps others")
            lines.append(line + Markup("."))
        if 0 < len(e.ranking.uninformative) < len(e.jurors):
            text = Markup("No clear agreement with the others: {}.")
            lines.append(text.format(names(e.ranking.uninformative)))
    for remark in (_FEW_VOTES, _TOO_WIDE):
        if which := [row.juror for row in rows if remark in row.remarks]:
            lines.append(Markup("{}: {}.").format(remark.capitalize(), names(which)))
    return lines
