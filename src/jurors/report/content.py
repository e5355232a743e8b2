"""Verdict, ranking, advice."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from markupsafe import Markup, escape

from jurors.errors import format_first_names
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation, dependence_with_key
from jurors.evaluate.alarms import KINDS, MERGED_KINDS, highest_level, sort_by_severity
from jurors.evaluate.card import percent, percent_range, verdict_sentences
from jurors.evaluate.dependence import linked_jurors
from jurors.evaluate.evaluation import TOO_WIDE
from jurors.evaluate.solution import is_number
from jurors.jury.label import Labelling
from jurors.report.tables import count_noun, key_lines, label_advice, names, of_which
from jurors.uncertainty.alarms import actual_scores, clearly_weak, could_be_equal, scores_and_errors, worse_than_chance
from jurors.uncertainty.gold import KeyCheck, check_with_key

# The first screen: can these grades be trusted.
#
# Every sentence comes from the alarms and numbers of the evaluation, and from the answer key where there is one; the
# levels of alarms mean what `jurors check` means by them.


Tone: TypeAlias = Literal["alarm", "warning", "quiet"]

_NO_PROOF = "That is no proof: jurors who share errors in just the right way look independent."
_AS_EVIDENCE = "The numbers below are shown as they were found, as evidence, not as grades to act on."


@dataclass(frozen=True)
class ReportVerdict:
    """Can these grades be trusted?"""

    tone: Tone
    headline: str
    lines: tuple[str | Markup, ...]


def verdict(e: Evaluation, keyed: KeyedEvaluation | None = None) -> ReportVerdict:
    """The answer to "can I trust these grades": by the loudest alarm, and by the answer key where there is one."""
    check = check_with_key(e, keyed)
    tone, headline, lines = _by_alarms(e)
    if check is not None and check.speaks_against:
        tone, headline = _by_key(check, tone, headline)
    lines[:0] = verdict_sentences(e)
    if tone != "alarm" or e.as_real is not None:
        lines += _expected_errors(e)
    if e.as_real is None and any(a.kind == "correlated_errors" for a in e.alarms):
        lines.append("Errors go together, so take the intervals as too narrow and the expected errors as a floor.")
    if check is None:
        return ReportVerdict(tone, headline, tuple(lines))
    if check.speaks_against:  # what is known for certain comes first
        return ReportVerdict(tone, headline, (*key_lines(check), *(line for line in lines if _NO_PROOF not in line)))
    return ReportVerdict(tone, headline, (*lines, *key_lines(check)))


def _by_alarms(e: Evaluation) -> tuple[Tone, str, list[str | Markup]]:
    level = highest_level(e.alarms)
    loud = [a for a in e.alarms if a.level == "alarm"]
    warnings = [a for a in e.alarms if a.level == "warning"]
    if e.solution is None and level != "alarm" and e.as_real is not None:
        nothing = "If errors were independent, no real evaluation explains these counts, as chance can have it."
        return "warning", "With care: look at the warnings first.", [nothing]
    if e.solution is None and level != "alarm":
        return "warning", "There are no grades.", ["No real evaluation explains these counts, as chance can have it."]
    if level == "alarm":
        rang = f"{count_noun(len(loud), 'alarm')} rang"
        known = f"{rang}. {_AS_EVIDENCE}"
        return (
            "alarm",
            "No: do not trust these grades.",
            [f"No real evaluation explains these counts, and {rang}." if e.solution is None else known],
        )
    if level == "warning":
        rang = f"No alarm rang, but {count_noun(len(warnings), 'warning')} did."
        return "warning", "With care: look at the warnings first.", [rang]
    return "quiet", "No alarm rang.", [f"Nothing in the counts speaks against these grades. {_NO_PROOF}"]


def _by_key(check: KeyCheck, tone: Tone, headline: str) -> tuple[Tone, str]:
    if tone == "alarm":
        return tone, "No: do not trust these grades. The answer key contradicts them too."
    if check.is_alarming:
        return "alarm", "No: the answer key contradicts these grades."
    return "warning", "With care: the answer key contradicts the intervals."


def _expected_errors(e: Evaluation) -> list[str]:
    if e.exam:
        return []
    if e.as_real is not None:
        low, high = e.as_real.interval_of("wrong_labels")
        share = of_which(e.as_real.wrong_labels * e.items, e.items)
        ends = f"between {low:.0%} and {high:.0%}"
        return [f"With the best label for every item, {share} expected to be wrong as real juries go, {ends}."]
    if e.partition is None or not e.partition.expected_errors >= 0:
        return []
    share = of_which(e.partition.expected_errors, e.partition.sketch.items)
    return [f"With the best label for every item, {share} expected to be wrong."]


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
    """Loudest first; those of one kind together."""
    kinds: dict[tuple[str, str], list[Alarm]] = {}
    for alarm in sort_by_severity(dict.fromkeys(alarms)):
        kinds.setdefault((alarm.level, alarm.kind), []).append(alarm)
    return [RaisedAlarm(first, tuple(more)) for first, *more in kinds.values()]


# Who errs together: groups, and the pairs that an alarm names, by the sign they move with.


Group: TypeAlias = tuple[str, ...]


def pairs_together(alarm: Alarm) -> list[Group]:
    """The pairs of the alarm who err together."""
    return [(pair.first, pair.second) for pair in alarm.pairs if pair.value > 0]


def pairs_apart(alarm: Alarm) -> list[Group]:
    """The pairs of the alarm who avoid each other's errors."""
    return [(pair.first, pair.second) for pair in alarm.pairs if pair.value < 0]


def groups_together(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[Group]:
    """Jurors who err together, the largest group last: by the key where there is one, else as estimated."""
    if keyed is not None:
        actual = dependence_with_key(keyed)
        groups = list(linked_jurors(actual.jurors, actual.correlation, actual.error))
    elif not (alarms := [a for a in e.alarms if a.kind == "correlated_errors"]):
        groups = []
    else:
        groups = [] if e.dependence is None else list(e.dependence.groups)
        groups = groups or [pair for alarm in alarms for pair in pairs_together(alarm)]
    return sorted(groups, key=len)


def is_most(group: Group, e: Evaluation) -> bool:
    """Whether the group is so large that the others are the exception."""
    return len(group) > len(e.jurors) / 2


# What to do: two to four actions from the alarms and the numbers, the most pressing first.


_MOST = 4
_REVIEW = 40
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
    """Two to four things to do; `file` is how the commands name the votes."""
    loud = [a for a in e.alarms if a.level != "note"]
    check = check_with_key(e, keyed)
    first = _few_items(e) + _advice_by_key(check)
    texts = dict.fromkeys(_merged(loud, e, keyed))
    steps = first + [Action(text) for text in texts][: max(1, _MOST - 1 - len(first))]
    untrusted = e.solution is None or any(a.level == "alarm" for a in loud)
    if keyed is not None or not (untrusted or any(a.kind == "correlated_errors" for a in loud)):
        steps += _swapped(e, keyed) + _weaker(e, keyed)
    if not (has_key or keyed) and e.gold is None and (loud or len(e.jurors) == 3):
        test = "Test the grades: let a person label a few dozen random items, then grade again with them"
        steps = [*steps[: _MOST - 1], Action(test, f"jurors grade {file} --gold gold.csv")]
    if not untrusted and labelling is not None and not (check and check.is_alarming):
        steps += _review(labelling, file)
    if not loud and not (check and check.speaks_against):
        watch = "Keep watching: in a pipeline, this exits with status 3 when an alarm rings"
        steps.append(Action(watch, f"jurors check {file}"))
    return steps[:_MOST]


def _few_items(e: Evaluation) -> list[Action]:
    if e.items >= _FEW_ITEMS:
        return []
    return [Action(f"Get more items first: {e.items:,} are too few to grade anybody")]


def _advice_by_key(check: KeyCheck | None) -> list[Action]:
    """Whose labels to use, and whether to go by the actual scores."""
    if check is None:
        return []
    steps = [] if check.labels is None or not (text := label_advice(check.labels)) else [Action(text)]
    if check.speaks_against:
        steps.append(Action("Go by the actual scores, not by the estimates: the key contradicts them"))
    return steps


def _merged(loud: list[Alarm], e: Evaluation, keyed: KeyedEvaluation | None) -> list[Markup]:
    """One advice per kind of alarm, about everybody whom alarms of that kind name."""
    kinds: dict[str, list[Alarm]] = {}
    for alarm in loud:
        kinds.setdefault(alarm.kind, []).append(alarm)
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
    """Groups where they were found; else pairs that avoid each other; else nobody in particular."""
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
    return escape(MERGED_KINDS)


def _swapped(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Action]:
    flagged = {j for a in e.alarms if a.kind == "inverted_juror" for j in a.jurors}
    who = [] if e.exam else [j for j in worse_than_chance(keyed or e) if j not in flagged]
    text = Markup("Ask whether {} had the labels swapped: clearly wrong more often than a coin")
    return [Action(text.format(names(who)))] if who else []


def _weaker(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Action]:
    """Those clearly below most of the others, if no other line speaks of them."""
    flagged = {j for a in e.alarms if a.kind in ("uninformative_juror", "constant_juror") for j in a.jurors}
    flagged |= set() if e.exam else set(worse_than_chance(keyed or e))
    who = [j for j in clearly_weak(keyed or e) if j not in flagged][:_NAMED]
    text = Markup("Weakest: look at {}, five points or more below most of the others, beyond chance{}")
    by = ", by the key" if keyed is not None else ""
    return [Action(text.format(names(who), by))] if who else []


def _review(labelling: Labelling, file: str) -> list[Action]:
    """Reviewing the items that teach most, with what it is expected to mend."""
    first = labelling.review(_REVIEW)
    mended, total = float(np.sum(1 - labelling.probability[first])), labelling.expected_errors
    if not total >= 1 or not mended >= 1 or len(first) == len(labelling):
        return []
    text = f"Let a person look at the {len(first)} items where a look helps most"
    text += f": about {mended:,.0f} of their labels are expected to be wrong"
    return [Action(text, f"jurors label {file} --review {len(first)}")]


# Who is good and who is not: the jurors in order, with what is odd about them.


_LIKE_A_COIN = {"open", "uninformative_juror", "inverted_juror", "constant_juror"}  # what says so already
_SWAPPED = "clearly below a coin: labels swapped?"
_TOO_FEW = "too few votes to judge"
_WIDE = 0.3  # an interval from which on a score says nothing


@dataclass(frozen=True)
class RankedJuror:
    """One juror in the order of the scores."""

    rank: int
    juror: str
    score: float | None
    ends: tuple[float, float]
    beside: float | None  #: the score if errors were independent; None where `score` is that
    beside_ends: tuple[float, float]
    actual: float | None  #: with a key
    remarks: tuple[str, ...]
    is_doubtful: bool  #: not told apart from somebody who has no idea
    is_open: bool = False  #: so little is known of the score that nobody should rank it


def ranking(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[RankedJuror]:
    """The jurors by score as real juries go (with a key by the actual one); those of whom too little is known last."""
    if e.solution is None and e.as_real is None:
        return []
    lead = e.leading
    actual = {} if keyed is None else actual_scores(keyed)
    open_ones = open_scores(e, keyed)
    by_juror = _remarks(e, keyed, open_ones)

    def place(juror: str) -> tuple[bool, bool, float]:
        shown = actual.get(juror) if keyed is not None else lead.score[juror]
        known = is_number(shown)
        return not known, juror in open_ones, -shown if known else 0.0  # type: ignore[operator]

    return [
        RankedJuror(
            rank=k,
            juror=j,
            score=lead.score[j] if is_number(lead.score[j]) else None,
            ends=lead.interval_of("score", j),
            beside=e.score[j] if lead is not e and is_number(e.score.get(j)) else None,
            beside_ends=e.interval_of("score", j),
            actual=actual.get(j),
            remarks=tuple(by_juror[j].values()),
            is_doubtful=is_doubtful(e, j),
            is_open=j in open_ones,
        )
        for k, j in enumerate(sorted(e.jurors, key=place), 1)
    ]


def open_scores(e: Evaluation, keyed: KeyedEvaluation | None = None) -> set[str]:
    """Whose score's interval is so wide that it says nothing; with a key, that of the actual score."""
    if keyed is not None:
        score, error = scores_and_errors(keyed)
        width = 2 * NormalDist().inv_cdf(0.5 + e.level / 2) * error
        return {j for j, x, wide in zip(e.jurors, score, width, strict=True) if x != x or wide > _WIDE}
    ends = {j: e.leading.interval_of("score", j) for j in e.jurors}
    wide = _WIDE if e.as_real is None else TOO_WIDE
    return {j for j, (low, high) in ends.items() if high - low > wide}  # nobody where there are no intervals


def is_doubtful(e: Evaluation, juror: str) -> bool:
    """Whether an alarm says that the juror answers by chance, or its intervals allow it.

    Somebody who says each label at a fixed rate whatever the item is has accuracies that add up to 1. Where the
    lower ends do not add up to more, that is not excluded.
    """
    if any(a.kind in ("uninformative_juror", "constant_juror") and juror in a.jurors for a in e.alarms):
        return True
    if e.exam:
        return False
    ends = [e.interval_of("accuracy", juror, a) for a in e.labels]
    known = [(low, high) for low, high in ends if low == low]
    return len(known) == len(ends) and sum(low for low, _ in known) <= 1 <= sum(high for _, high in known)


def _remarks(e: Evaluation, keyed: KeyedEvaluation | None, open_ones: set[str]) -> dict[str, dict[str, str]]:
    """Juror -> why -> remark."""
    remarks: dict[str, dict[str, str]] = {j: {"open": _TOO_FEW} if j in open_ones else {} for j in e.jurors}
    for alarm in e.alarms:
        if KINDS[alarm.kind].remark and len(alarm.jurors) < len(e.jurors):
            for juror in alarm.jurors:
                remarks.setdefault(juror, {})[alarm.kind] = KINDS[alarm.kind].remark
    for juror, others in _companions(e, keyed).items():
        remarks[juror]["together"] = f"errs together with {format_first_names(others, 2)}"
    for juror in [] if e.exam else worse_than_chance(keyed or e):
        if "inverted_juror" not in remarks[juror]:
            remarks[juror]["swapped"] = _SWAPPED
    for juror in e.jurors:
        numbers = (e.score[juror], *e.accuracy[juror].values()) if e.solution is not None else ()
        if any(is_number(x) and not 0 <= x <= 1 for x in numbers):
            remarks[juror]["outside"] = "a number outside 0–100%"
        if is_doubtful(e, juror) and not remarks[juror].keys() & _LIKE_A_COIN:
            remarks[juror]["doubtful"] = "intervals do not exclude a coin"
    return remarks


def _companions(e: Evaluation, keyed: KeyedEvaluation | None) -> dict[str, list[str]]:
    """Juror -> with whom it errs; a group that is most of the panel sets nobody apart."""
    companions: dict[str, list[str]] = {}
    for group in groups_together(e, keyed):
        if not is_most(group, e):
            for juror in group:
                others = [j for j in group if j != juror]
                companions[juror] = list(dict.fromkeys([*companions.get(juror, ()), *others]))
    return companions


def people(e: Evaluation, rows: list[RankedJuror]) -> list[Markup]:
    """Who is best, who is weakest, whom nobody can tell from a coin: one line each."""
    has_key = any(is_number(row.actual) for row in rows)
    known = [row for row in rows if not row.is_open and is_number(row.actual if has_key else row.score)]
    able = known if has_key else [row for row in known if not row.is_doubtful and 0 <= (row.score or 0) <= 1]
    lines: list[Markup] = []
    if has_key and known:
        lines = [_ranking_by_key("Best", known[0]), _ranking_by_key("Weakest", known[-1])]
    elif able:
        lines = [_best(able), *([_weakest(known)] if len(known) > 1 else [])]
    elif rows:
        lines = [Markup("Nobody can be called best: no score is known well enough.")]
    if not has_key and lines and e.interval is not None and could_be_equal(e, [row.juror for row in known]):
        lines.append(Markup("On other items the order may differ: equal jurors could differ as much by chance."))
    few = [row.juror for row in rows if row.is_open]
    if few:
        lines.append(Markup("{}, listed last: {}.").format(_TOO_FEW.capitalize(), names(few)))
    doubtful = [row.juror for row in rows if row.is_doubtful and not row.is_open]
    if doubtful:
        lines.append(Markup("Not told apart from coin flips: {}.").format(names(doubtful)))
    elif not e.exam and e.interval is not None and not few and rows:
        basis = "as far as the intervals go" if e.as_real is None else "if errors were independent"
        lines.append(Markup("All are told apart from coin flips, {}.").format(basis))
    return lines


def _ranking_by_key(what: str, row: RankedJuror) -> Markup:
    return Markup("{} by the key: {}, {} right ({} estimated).").format(
        what, names([row.juror]), percent(row.actual), percent(row.score)
    )


def _best(known: list[RankedJuror]) -> Markup:
    best = known[0]
    line = Markup("Best: {}, {}").format(names([best.juror]), _with_range(best))
    level = [row.juror for row in known[1:] if row.ends[1] >= best.ends[0]]  # False where there is no interval
    if level:
        line += Markup("; the {} of {} overlap{}, so the order among them is open").format(
            "interval" if len(level) == 1 else "intervals", names(level, most=3), "s" if len(level) == 1 else ""
        )
    return line + Markup(".")


def _weakest(known: list[RankedJuror]) -> Markup:
    last = known[-1]
    line = Markup("Weakest: {}, {}").format(names([last.juror]), _with_range(last))
    level = [row.juror for row in known[-2::-1] if row.ends[0] <= last.ends[1]]
    if level and len(level) == len(known) - 1:
        line += Markup("; no interval sets it apart from the others")
    elif level:
        line += Markup("; not clearly below {}").format(names(level, most=3))
    return line + Markup(".")


def _with_range(row: RankedJuror) -> str:
    ends = percent_range(row.ends)
    return f"{percent(row.score)} right" + (f" ({ends})" if ends else "")
