"""`check`: the verdict for CI.

Grades and limits come in; a `Verdict` goes out, with every gate and its figures, every alarm, and a JUnit report. Each
limit is tested against what is known, the calibrated interval: a `Gate` passes where the interval lies wholly on the
right side of the limit, fails where it lies wholly on the wrong side, and is *not known* otherwise: a point estimate on
the right side is no proof, nor is one on the wrong side. Limits on systems are *not known* where the panel itself keeps
orders from being settled.

`SHARE_LIMITS` and `ALARM_LIMITS` declare every limit on a jury once: a new limit on a share is one more row there, one
field of `jurors.options.Limits`, and one option of `jurors check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast

from jurors.errors import OptionError, match_name, short_names, spell_options
from jurors.evaluate.alarms import KINDS, LEVELS, Alarm, Level, highest_level, sort_by_severity
from jurors.evaluate.card import FEW_GOLD, WIDTH, CardOptions, alarm_lines, card_alarms, percent
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.rules import FEWEST_VOTES
from jurors.evaluate.solution import NamedMapping
from jurors.jury.baseline import Change, Ends, SystemVotes, both_ways, juror_changes, read_document, system_changes
from jurors.jury.grade import grade
from jurors.jury.groups import ByGroup, each_group, group_alarms, group_grades, votes_and_groups
from jurors.jury.systems import SystemComparison, compare_systems
from jurors.numeric.grade import NumberGrades
from jurors.options import DEFAULTS, GradeOptions, Label, LimitOptions, Limits, column_names, split_options, verb
from jurors.results import Block, Columns, Notes, Result, Table, count_noun, escape_text, replace_names

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Outcome: TypeAlias = Literal["pass", "fail", "not known"]
Target: TypeAlias = tuple[str | None, Label | None]  #: the juror and the label that a limit is about; None: all

# -- the limits there are ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShareLimit:
    """A kind of limit on a share: which option of `Limits`, of which calibrated statistic."""

    option: str  #: the field of `Limits`
    statistic: str  #: of `Calibrated`, or of `NumberGrades`
    at_least: bool  #: whether it is a floor; else a ceiling
    by_juror: bool = False
    by_label: bool = False
    of_numbers: bool = False  #: for jurors who answer in numbers; else for labels


SHARE_LIMITS = (
    ShareLimit("min_score", "score", True, by_juror=True),
    ShareLimit("min_accuracy", "accuracy", True, by_juror=True, by_label=True),
    ShareLimit("min_prevalence", "prevalence", True, by_label=True),
    ShareLimit("max_prevalence", "prevalence", False, by_label=True),
    ShareLimit("max_wrong", "wrong_labels", False),
    ShareLimit("min_reliability", "reliability", True, by_juror=True, of_numbers=True),
)
ALARM_LIMITS = {  #: the kind of alarm of each limit that has no interval
    "max_correlation": "correlation_limit",
    "min_effective": "effective_limit",
}
_FOR_NUMBERS = ("min_reliability", "allow_unknown")


def _named_limits(given: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Name or None, limit, and how it is written: of a number, text, a mapping by name, or several of these."""
    if isinstance(given, str):
        name, colon, limit = given.rpartition(":")  # names may hold colons, a limit never does
        yield (name if colon else None), limit, given
    elif isinstance(given, Mapping):
        for name, limit in given.items():
            yield name, limit, limit
    elif isinstance(given, (list, tuple)):
        for part in given:
            yield from _named_limits(part)
    elif given is not None:
        yield None, given, given


def _number(limit: Any) -> float:
    try:
        return float(limit)
    except (TypeError, ValueError):
        return float("nan")


def _share_limits(kind: ShareLimit, given: Any, evaluation: Evaluation | NumberGrades) -> dict[Target, float]:
    """Resolve a limit as the user gives it (see `check`) against the names there are: the share of each target.

    A limit for every juror gives way to one for a juror by name.
    """
    option, jurors = kind.option, evaluation.jurors
    general: dict[Target, float] = {}
    specific: dict[Target, float] = {}
    for name, value, written in _named_limits(given):
        limit = _number(value)
        if not 0.0 <= limit <= 1.0:
            one = ", or JUROR:0.8" if kind.by_juror and not kind.by_label else ""
            message = f"{option}={written}: a limit is a share from 0 to 1, such as 0.8{one}"
            raise OptionError(message, code="out_of_range", name=option, value=value)
        juror: str | None = None
        label: Label | None = None
        if kind.by_juror and kind.by_label:
            juror, label = _juror_and_label(option, name, evaluation)
        elif kind.by_juror:
            juror = None if name is None else match_name(name, jurors, "juror", error=OptionError)
        elif kind.by_label:
            if name is None:
                message = f"{option}={limit:g} names no label; write LABEL:{limit:g}"
                raise OptionError(message, name=option, value=limit)
            label = _label(name, evaluation)
        elif name is not None:
            raise OptionError(f"{option}={name}:{limit:g}: this limit is about the whole panel; give a share alone")
        is_general = kind.by_juror and juror is None
        limits = general if is_general else specific
        for target in ((j, label) for j in (jurors if is_general else (juror,))):
            if target in limits:
                about = f" for {_target_name(target)}" if any(part is not None for part in target) else ""
                raise OptionError(f"{option}= is given twice{about}", name=option)
            limits[target] = limit
    return {**general, **specific}


def _target_name(target: Target) -> str:
    return " on ".join(str(part) for part in target if part is not None)


def _juror_and_label(option: str, name: Any, evaluation: Any) -> Target:
    """The juror (None: every one) and the label of `LABEL` or `JUROR:LABEL`; OptionError if ambiguous or unknown."""
    if isinstance(name, tuple):
        juror, label = name
        return match_name(juror, evaluation.jurors, "juror", error=OptionError), _label(label, evaluation)
    if name is None:
        raise OptionError(f"{option}= names no label; write LABEL:SHARE or JUROR:LABEL:SHARE", name=option)
    text, labels = str(name), {str(label): label for label in evaluation.labels}
    readings: list[Target] = [(None, labels[text])] if text in labels else []
    for place, letter in enumerate(text):
        if letter == ":" and text[:place] in evaluation.jurors and text[place + 1 :] in labels:
            readings.append((text[:place], labels[text[place + 1 :]]))
    if len(readings) > 1:
        shown = " or ".join(f"label {b!r}" if j is None else f"juror {j!r} on label {b!r}" for j, b in readings)
        raise OptionError(f"{option}={name} may mean {shown}; in Python, write {{(juror, label): share}}")
    if readings:
        return readings[0]
    if _has_open_labels(evaluation):
        longest = max((juror for juror in evaluation.jurors if text.startswith(f"{juror}:")), key=len, default=None)
        return longest, text if longest is None else text[len(longest) + 1 :]
    known = [*evaluation.labels, *(f"{j}:{a}" for j, a in product(evaluation.jurors, evaluation.labels))]
    return None, match_name(name, known, "label, or JUROR:LABEL,", error=OptionError)


def _label(name: Any, evaluation: Any) -> Label:
    known = [*evaluation.labels, name] if _has_open_labels(evaluation) else evaluation.labels
    label: Label = match_name(name, known, "label", error=OptionError)
    return label


def _has_open_labels(evaluation: Evaluation) -> bool:
    """Whether all votes are for one label: then a limit may well be on another, which occurs in other runs."""
    return any(alarm.reason == "single_label" for alarm in evaluation.alarms)


# -- gates -------------------------------------------------------------------------------------------------------------


def judge(ends: Ends | None, limit: float, *, at_least: bool = True) -> Outcome:
    """Test whether a share with this interval meets a limit.

    Returns
    -------
    {"pass", "fail", "not known"}

    Examples
    --------
    >>> judge((0.72, 0.9), 0.7), judge((0.4, 0.65), 0.7), judge((0.6, 0.8), 0.7), judge(None, 0.7)
    ('pass', 'fail', 'not known', 'not known')
    """
    if ends is None or ends[0] != ends[0] or ends[1] != ends[1]:
        return "not known"
    low, high = ends
    if low >= limit if at_least else high <= limit:
        return "pass"
    return "fail" if (high < limit if at_least else low > limit) else "not known"


@dataclass(frozen=True, kw_only=True)
class Gate:
    """One limit and its outcome."""

    name: str  #: the same run after run: "min-score ann"
    outcome: Outcome
    limit: float
    at_least: bool = True  #: whether the limit is a floor; else a ceiling
    value: float | None = None  #: the estimate of the share
    interval: Ends | None = None
    level: float = 0.95
    reason: str = ""  #: what it rests on, or why it is not known
    advice: str = ""  #: what would decide it, where that was computed
    juror: str | None = None
    label: Label | None = None
    systems: tuple[str, ...] = ()  #: the system, or the two, that it is about
    is_change: bool = False  #: whether the share is a difference: to a baseline, or of two systems
    in_percent: bool = True  #: how the share is printed; reliabilities are not in percent

    def to_dict(self) -> dict[str, Any]:
        """The gate as JSON.

        Returns
        -------
        dict
        """
        names = ("name", "outcome", "limit", "at_least", "value", "interval", "reason", "advice", "juror", "label")
        return {name: getattr(self, name) for name in (*names, *(("systems",) if self.systems else ()))}

    @property
    def figures(self) -> str:
        """The number, its interval and the limit, in words."""
        limit = f"limit {'at least' if self.at_least else 'at most'} {self._format(self.limit)}"
        unit = " points" if self.is_change and self.in_percent else ""
        if self.is_change and len(self.systems) < 2:
            drop = self._format(-self.limit).removeprefix("+")
            limit = f"limit a drop of {drop}{unit}" if self.limit else "limit no drop"
        elif self.is_change:
            limit += unit
        if self.interval is None or self.value is None:
            return limit
        low, high = map(self._format, self.interval)
        return f"{self._format(self.value)}{unit} ({self.level * 100:g}%: {low} to {high}), {limit}"

    def _format(self, value: float) -> str:
        if not self.in_percent:
            return f"{value:{'+' if self.is_change else ''}z.2f}"
        return f"{value * 100:+z.1f}" if self.is_change else percent(value)

    @property
    def message(self) -> str:
        """The name, the figures, what they rest on, and what would decide it."""
        return f"{self.name}: " + "; ".join(filter(None, (self.figures, self.reason, self.advice)))

    @property
    def line(self) -> str:
        """The outcome with its message, on one line."""
        return f"{self.outcome.upper():<9} {self.message}"

    def alarm(self, *, allow_unknown: bool = False) -> Alarm | None:
        """The alarm of a gate that is not passed.

        Parameters
        ----------
        allow_unknown
            Whether an outcome that is not known is only a note.

        Returns
        -------
        Alarm or None
        """
        if self.outcome == "pass":
            return None
        is_failed = self.outcome == "fail"
        level: Level = "alarm" if is_failed or not allow_unknown else "note"
        return Alarm(
            "gate_failed" if is_failed else "gate_unknown", level, self.message, self.value,
            () if self.juror is None else (self.juror,), () if self.label is None else (self.label,),
        )  # fmt: skip


def evaluate_gates(evaluation: Evaluation | NumberGrades, limits: Limits) -> tuple[Gate, ...]:
    """Test every limit on a jury's shares.

    Returns
    -------
    tuple of Gate
        In an order that depends neither on the order of jurors nor on any number.
    """
    is_numbers = isinstance(evaluation, NumberGrades)
    if is_numbers:
        for name, value in vars(limits).items():
            if name not in _FOR_NUMBERS and value not in (DEFAULTS[name], ()):
                message = f"{name}= is for labels, and these votes are numbers; use min_reliability= instead"
                raise OptionError(message, code="does_not_apply", name=name)
    elif limits.min_reliability not in (None, ()):
        message = "min_reliability= is for numbers, and these votes are labels; use min_score= instead"
        raise OptionError(message, code="does_not_apply", name="min_reliability")
    gates: list[Gate] = []
    for kind in (kind for kind in SHARE_LIMITS if kind.of_numbers == is_numbers):
        by_target = _share_limits(kind, getattr(limits, kind.option), evaluation)
        targets = sorted(by_target, key=lambda target: (str(target[0]), str(target[1])))
        gates += [_test_limit(evaluation, kind, target, by_target[target]) for target in targets]
    if isinstance(evaluation, Evaluation) and limits.baseline is not None and limits.max_regression is None:
        for juror, (value, ends, reason) in juror_changes(evaluation, limits.votes, limits.baseline).items():
            gate = Gate(
                name=f"baseline {juror}", outcome=judge(ends, -limits.max_drop), limit=-limits.max_drop, value=value,
                interval=ends, level=evaluation.level, juror=juror, is_change=True, reason=reason,
            )  # fmt: skip
            gates.append(gate)
    return tuple(gates)


def _test_limit(evaluation: Evaluation | NumberGrades, kind: ShareLimit, target: Target, limit: float) -> Gate:
    juror, label = target
    share: Any = None
    interval: Any = None
    advice = ""
    if isinstance(evaluation, NumberGrades):
        k = evaluation.jurors.index(str(juror))
        share, interval = float(evaluation.reliability[k]), tuple(evaluation.reliability_ends[k].tolist())
    elif evaluation.calibrated is not None:
        share, interval = getattr(evaluation, kind.statistic), evaluation.calibrated.interval[kind.statistic]
        for name in (name for name in target if name is not None):
            share, interval = share[name], interval[name]
    is_known = share is not None and interval is not None and None not in interval and interval[0] == interval[0]
    value, ends = (float(share), (float(interval[0]), float(interval[1]))) if is_known else (None, None)
    reason = "" if is_known else _why_unknown(evaluation, juror)
    outcome = judge(ends, limit, at_least=kind.at_least)
    if isinstance(evaluation, Evaluation) and evaluation.without_family is not None:
        other = _test_limit(evaluation.without_family, kind, target, limit)
        if other.outcome != outcome:  # the two readings disagree, and nothing here decides between them
            figures = other.figures.partition(", limit")[0]
            reason, outcome = f"without the declared family {other.outcome} at {figures}", "not known"
    if outcome == "not known" and kind.statistic == "score" and ends is not None:
        advice = _gold_advice(cast(Evaluation, evaluation), str(juror), ends)
    return Gate(
        name=f"{kind.option.replace('_', '-')} {_target_name(target)}".rstrip(), outcome=outcome, limit=limit,
        at_least=kind.at_least, value=value, interval=ends, level=evaluation.level, juror=juror, label=label,
        reason=reason, advice=advice, in_percent=not kind.of_numbers,
    )  # fmt: skip


def _why_unknown(evaluation: Evaluation | NumberGrades, juror: str | None) -> str:
    """Why the votes do not determine a share."""
    if isinstance(evaluation, NumberGrades):
        return "these numbers do not determine a grade"
    reasons = {alarm.reason for alarm in evaluation.alarms}
    if "single_label" in reasons:
        return f"every vote is {evaluation.labels[0]!r}"
    if "too_few_distinct" in reasons:
        return "fewer than three jurors are distinct"
    if evaluation.calibrated is None:
        return "no solution explains the votes"
    if evaluation.rules is not None:
        is_rule = juror and evaluation.votes[juror] < FEWEST_VOTES
        return f"{juror} has fewer than {FEWEST_VOTES} votes" if is_rule else "rules do not determine it"
    return f"{juror} voted on no item of this label" if juror else "these votes do not determine it"


def _gold_advice(evaluation: Evaluation, juror: str, ends: Ends) -> str:
    """Whether gold labels would narrow a juror's score; how many decide about a limit depends on what they show."""
    calibrated = evaluation.calibrated
    widths = None if calibrated is None or evaluation.items < 2 * FEW_GOLD else calibrated.with_gold(FEW_GOLD)
    if widths is None or not 2 * widths[juror] < ends[1] - ends[0]:
        return ""
    return f"label {FEW_GOLD}{' more' if evaluation.gold else ''} items to know more"


def _panel_alarms(evaluation: Evaluation, limits: Limits) -> Iterator[Alarm]:
    """The alarms of limits that have no interval, where they are not met."""
    least_worth, most_correlated = limits.min_effective, limits.max_correlation
    mean, worth = evaluation.mean_correlation, evaluation.effective_jurors
    unknown = "unknown: no two jurors share enough items, or errors are assumed to be independent"
    if most_correlated is not None and (mean is None or mean > most_correlated):
        found = unknown if mean is None else f"{mean:.3f}, more than the {most_correlated:g} allowed"
        yield Alarm("correlation_limit", "alarm", f"the mean error correlation is {found}", mean)
    if least_worth is not None and (worth is None or worth < least_worth):
        message = f"the effective number of jurors is {unknown}"
        if worth is not None:
            message = f"the jurors are worth {worth:.1f} independent ones, fewer than the {least_worth:g} required"
        yield Alarm("effective_limit", "alarm", message, worth)


# -- systems -----------------------------------------------------------------------------------------------------------


def _system_gates(compared: SystemComparison, limits: Limits, source: SystemVotes | None) -> list[Gate]:
    """Test every limit on systems: gates by name."""
    gates = list(_difference_gates(compared, limits.min_difference))
    if limits.max_regression is not None:
        if limits.baseline is None:
            raise OptionError("max_regression= needs an earlier run; name it with baseline=", name="max_regression")
        if compared.good is not None and limits.max_regression > 1:
            message = f"max_regression={limits.max_regression:g}: a drop of a rate is a share from 0 to 1, such as 0.02"
            raise OptionError(message, code="out_of_range", name="max_regression", value=limits.max_regression)
        judged, changes = system_changes(compared, limits.baseline, source)
        for name, change in changes.items():
            gates.append(_system_gate(judged, f"max-regression {name}", -limits.max_regression, change, (name,)))
    return sorted(gates, key=lambda gate: gate.name)


def _system_gate(compared: SystemComparison, name: str, limit: float, change: Change, systems: tuple[str, ...]) -> Gate:
    value, ends, reason = change
    outcome = judge(ends, limit)
    advice = ""
    if compared.reasons and outcome != "not known":
        outcome, reason = "not known", " and ".join(compared.reasons)
    elif outcome == "not known" and value is not None:
        more = {n: widths.difference for n, widths in compared.with_gold.items() if n > compared.gold}
        enough = [n for n, width in more.items() if width < abs(value - limit)]
        in_all = " in all" if compared.gold else ""
        advice = f"about {enough[0]} gold labels{in_all} may decide it" if enough else ""
    return Gate(
        name=name, outcome=outcome, limit=limit, value=value, interval=ends, level=compared.level, reason=reason,
        advice=advice, is_change=True, in_percent=compared.good is not None, systems=systems,
    )  # fmt: skip


def _difference_gates(compared: SystemComparison, given: Any) -> Iterator[Gate]:
    known, seen = both_ways(compared), set[tuple[str, str]]()
    for pair, value, _ in _named_limits(given):
        if pair is None:
            message = f"min_difference={value}: name two systems and the limit, as B-A:0.02"
            raise OptionError(message, name="min_difference")
        limit = _number(value)
        if not isfinite(limit):
            message = f"min_difference={pair}:{value}: the limit is a number, as in B-A:0.02"
            raise OptionError(message, name="min_difference")
        better, worse = _two_systems(pair, tuple(compared.systems))
        if compared.good is not None and not -1 <= limit <= 1:
            message = f"min_difference={better}-{worse}:{limit:g}: a difference of rates is from -1 to 1, such as 0.02"
            raise OptionError(message, code="out_of_range", name="min_difference", value=limit)
        if (better, worse) in seen:
            raise OptionError(f"min_difference= is given twice for {better}-{worse}", name="min_difference")
        seen.add((better, worse))
        name = f"min-difference {better} - {worse}"
        yield _system_gate(compared, name, limit, known[better, worse], (better, worse))


def _two_systems(pair: Any, names: tuple[str, ...]) -> tuple[str, str]:
    """The two systems of `B-A`, whose names may hold hyphens."""
    text = str(pair)
    splits = [(text[:k].strip(), text[k + 1 :].strip()) for k, letter in enumerate(text) if letter == "-"]
    if isinstance(pair, tuple) and len(pair) == 2:
        splits = [(str(pair[0]), str(pair[1]))]
    found = [split for split in splits if split[0] in names and split[1] in names]
    if len(found) > 1:
        shown = " or ".join(f"{a!r} and {b!r}" for a, b in found)
        message = f"min_difference={text} may mean {shown}; in Python, write {{(better, worse): limit}}"
        raise OptionError(message, name="min_difference")
    if not splits:
        message = f"min_difference={text}: name two systems with a hyphen between them, as B-A:0.02"
        raise OptionError(message, name="min_difference")
    near = next((split for split in splits if split[0] in names or split[1] in names), splits[0])
    first, second = (match_name(name, names, "system", error=OptionError) for name in (found or [near])[0])
    if first == second:
        raise OptionError(f"min_difference= compares {first!r} with itself; name two systems", name="min_difference")
    return first, second


# -- the verdict -------------------------------------------------------------------------------------------------------

_OF_GRADES = (  # keys of `grade` that the document repeats: it can be the baseline of a later run
    "items", "jurors", "labels", "scale", "scale_why", "method", "errors", "votes", "score", "accuracy", "prevalence",
    "wrong_labels", "best", "leaders", "effective_jurors", "interval",
)  # fmt: skip
_OF_NUMBERS = ("scale", "scale_why", "level", "items", "truth", "jurors", "remarks")
_OF_SYSTEMS = ("good", "level", "systems", "differences", "ranking")  # keys of `systems`, likewise
_OUTCOMES: tuple[Outcome, ...] = ("fail", "not known", "pass")  # the most urgent first
_MOST_GATES = 12  # in text that is not full
_MOST_ALARMS = 5
_MOST_LINES, _TABLE_LINES = 60, 7  # of groups in text that is not full; and of a table beside its rows
_OF_GATES = ("gate_failed", "gate_unknown")  # alarms whose lines are those of the gates


@dataclass(frozen=True)
class Verdict(Result):
    """Whether the grades can be trusted, whether they meet the limits, and every alarm."""

    trusted: bool  #: whether there is no alarm, apart from those of gates
    verdict: str  #: on one line
    alarms: tuple[Alarm, ...]
    gates: tuple[Gate, ...] = ()
    loud: tuple[Alarm, ...] = ()  #: the alarms that fail the check
    evaluation: Evaluation | NumberGrades | None = None  #: what was checked
    limits: tuple[str, ...] = ()  #: the kinds of alarms of limits that have no gate
    systems: SystemComparison | None = None  #: where systems were compared
    shows_card: bool = False  #: whether text, Markdown and HTML show the evaluation, too

    _kind = "check"

    @property
    def passed(self) -> bool:
        """Whether nothing fails the check: neither an alarm nor a gate."""
        return not self.loud

    def __bool__(self) -> bool:
        return self.passed

    def _document(self) -> dict[str, Any]:
        document = {"trusted": self.trusted, "verdict": self.verdict, "alarms": self.alarms}
        document |= {"passed": self.passed, "gates": self.gates}
        if self.evaluation is None:
            return document
        if isinstance(self.evaluation, NumberGrades):
            graded = self.evaluation.to_dict()
            return document | {name: graded[name] for name in _OF_NUMBERS}
        graded = self.evaluation._document()
        document |= {name: graded[name] for name in _OF_GRADES if name in graded}
        compared = {} if self.systems is None else self.systems._document()
        return document | {name: compared[name] for name in _OF_SYSTEMS if name in compared}

    def _columns(self) -> Columns:
        names = ("level", "kind", "message", "value")
        return {name: [getattr(alarm, name) for alarm in self.alarms] for name in names}

    def _blocks(self, **show: Any) -> Iterable[Block]:
        options, jurors = CardOptions(**show), () if self.evaluation is None else self.evaluation.jurors
        names = short_names(jurors)
        card = (self.systems or self.evaluation) if self.shows_card else None
        on_card = () if card is None else card.alarms
        alarms = tuple(alarm for alarm in self.alarms if alarm.reason not in _OF_GATES and alarm not in on_card)
        if options.full:
            gates = [replace_names(gate.line, names) for gate in self.gates]
            yield Notes([*gates, *alarm_lines(alarms, jurors)], self.verdict)
        else:
            first = sorted(self.gates, key=lambda gate: _OUTCOMES.index(gate.outcome))[:_MOST_GATES]
            gates = [replace_names(gate.line, names) for gate in self.gates if gate in first]
            left = {name: sum(gate.outcome == name for gate in self.gates if gate not in first) for name in _OUTCOMES}
            counts = ", ".join(f"{number:,} {name}" for name, number in left.items() if number)
            lines = alarm_lines(sort_by_severity(alarms)[:_MOST_ALARMS], jurors)
            more = [f"{len(alarms) - _MOST_ALARMS:,} more alarms and notes; full=True shows all."]
            yield Notes(
                [*gates, *([f"More limits: {counts}; full=True shows all."] if counts else []), *lines]
                + more * (len(alarms) > _MOST_ALARMS),
                self.verdict, width=WIDTH, hanging="  ",
            )  # fmt: skip
        if card is not None:
            yield from card._blocks(**show)

    def main_table(self) -> Table:
        """Get the row of results by group: the verdict, and how many gates have which outcome.

        Returns
        -------
        Table
        """
        outcomes = [gate.outcome for gate in self.gates]
        cells = (self.verdict.partition(":")[0], *(str(outcomes.count(name)) for name in _OUTCOMES))
        alarms = sum(alarm.reason not in _OF_GATES for alarm in self.loud)
        return Table(("verdict", *_OUTCOMES, "alarms"), ((*cells, str(alarms)),), right=(1, 2, 3, 4))

    def to_junit(self) -> str:
        """A JUnit report: a test case per gate and per kind of alarm, whose names are the same run after run.

        Returns
        -------
        str
            XML.
        """
        return _junit(self.suite())

    def suite(self, name: str = "jurors check") -> Element:
        """The test suite of the JUnit report.

        Returns
        -------
        Element
        """
        from xml.etree.ElementTree import Element, SubElement

        suite = Element("testsuite", name=escape_text(name))
        failing = {alarm.message for alarm in self.loud if alarm.reason in _OF_GATES}
        for gate in self.gates:
            case = SubElement(suite, "testcase", classname="jurors.gates", name=escape_text(gate.name))
            if gate.outcome == "pass":
                SubElement(case, "system-out").text = escape_text(gate.line)
            elif spell_options(gate.message) in failing:
                SubElement(case, "failure", message=escape_text(gate.line), type="gate")
            else:
                SubElement(case, "skipped", message=escape_text(gate.line))
        kinds = dict.fromkeys(kind for kind in KINDS.values() if kind.levels != ("note",) and kind.about == "grades")
        others = (kind.name for kind in kinds if not kind.name.startswith("limit_"))
        for name in (*self.limits, *others):
            case = SubElement(suite, "testcase", classname="jurors.alarms", name=name)
            alarms = [alarm for alarm in self.alarms if name in (alarm.kind, alarm.reason)]
            if any(alarm in self.loud for alarm in alarms):
                message = escape_text("; ".join(alarm.message for alarm in alarms))
                SubElement(case, "failure", message=message, type=alarms[0].level)
            elif alarms:
                SubElement(case, "system-out").text = "\n".join(escape_text(f"{a.level}: {a.message}") for a in alarms)
        counts = {"failures": len(suite.findall("*/failure")), "skipped": len(suite.findall("*/skipped"))}
        for name, number in {"tests": len(suite), **counts}.items():
            suite.set(name, str(number))
        SubElement(suite, "system-out").text = self.to_text()
        return suite


def _junit(root: Element) -> str:
    from xml.etree.ElementTree import tostring

    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


@dataclass(frozen=True, eq=False)
class GroupVerdicts(ByGroup[Verdict]):
    """The verdict of each group; the check passes if every group does, and none is left out."""

    verdict: str = ""  #: of all groups, on one line
    loud: tuple[Alarm, ...] = ()  #: the alarms that fail the check
    shows_card: bool = False  #: whether text, Markdown and HTML show the grades, too

    @property
    def passed(self) -> bool:
        """Whether nothing fails the check of any group."""
        return not self.loud

    def __bool__(self) -> bool:
        return self.passed

    def _document(self) -> dict[str, Any]:
        return super()._document() | {"verdict": self.verdict, "passed": self.passed}

    def _blocks(self, **show: Any) -> list[Block]:
        options = CardOptions(**show)
        gates = [(group, gate) for group, of_group in self.groups.items() for gate in of_group.gates]
        urgent = sorted((x for x in gates if x[1].outcome != "pass"), key=lambda x: _OUTCOMES.index(x[1].outcome))
        most = _MOST_GATES if len(self.groups) <= _MOST_GATES else _MOST_GATES // 2
        names = short_names(self.jurors)
        lines = [f"{group}: {replace_names(gate.line, names)}" for group, gate in urgent]
        lines = lines[: None if options.full else most]
        left = len(urgent) - len(lines)
        more = [f"{left:,} more limits are not met; full=True shows all."] if left else []
        others = tuple(a for a in self.alarms if a.reason not in _OF_GATES)
        above = [
            Notes([*lines, *more], self.verdict, width=None if options.full else WIDTH, hanging="  "),
            card_alarms(group_alarms(others), options, self.jurors),
        ]
        tables: list[ByGroup[Any]] = [self]
        if self.shows_card:
            grades = NamedMapping({group: of_group.evaluation for group, of_group in self.groups.items()})
            tables.append(ByGroup(self.column, self.jurors, self.labels, grades, self.sizes, self.left_out, ()))
        lines_left = _MOST_LINES - sum(len(notes.to_text().splitlines()) for notes in above)
        most = max(lines_left // len(tables) - _TABLE_LINES, 1)  # long names of groups may leave no line
        blocks = [block for table in tables for block in group_grades(table, options, most)]
        return [*(notes for notes in above if notes.lines or notes.title), *blocks]

    def to_junit(self) -> str:
        """A JUnit report: a test suite per group.

        Returns
        -------
        str
            XML.
        """
        from xml.etree.ElementTree import Element, SubElement

        suites = Element("testsuites", name="jurors check")
        suites.extend(of_group.suite(f"{self.column} {group}") for group, of_group in self.groups.items())
        for group, reason in self.left_out.items():
            suite = SubElement(suites, "testsuite", name=escape_text(f"{self.column} {group}"), tests="1", failures="1")
            case = SubElement(suite, "testcase", classname="jurors.gates", name="graded")
            SubElement(case, "failure", message=escape_text(reason), type="gate")
        return _junit(suites)


def _check_groups(source: Any, by: Any, **options: Any) -> GroupVerdicts:
    """Check every group; a group that cannot be graded fails, unless what is unknown is allowed."""
    for name in ("system", "good", "votes"):
        if options.get(name) is not None:
            message = f"{name}= does not apply with by=; check each group's votes by themselves"
            raise OptionError(message, code="does_not_apply", name=name)
    if isinstance(source, SystemComparison | Evaluation | NumberGrades | ByGroup):
        raise OptionError("by= splits votes, and these are graded already; give the votes", name="by")
    named = {}
    if (baseline := options.pop("baseline", None)) is not None:
        earlier = baseline.to_dict() if isinstance(baseline, ByGroup) else read_document(baseline) or {}
        if "groups" not in earlier:
            message = "with by=, baseline= is the JSON of `jurors grade` or `check` with the same groups"
            raise OptionError(message, code="does_not_apply", name="baseline")
        named = {"baseline": {group: {"schema": earlier["schema"], **x} for group, x in earlier["groups"].items()}}
    of_groups = each_group(check, source, by=by, named=named, **options)
    fail_on, lost = options.get("fail_on", "alarm"), [] if options.get("allow_unknown") else of_groups.left_out.items()
    undecided = [Alarm("gate_unknown", "alarm", f"group {group!r} cannot be checked: {why}") for group, why in lost]
    ignored = options.get("ignore_alarms", ())
    alarms = tuple(alarm for alarm in (*undecided, *of_groups.alarms) if alarm.kind not in ignored)
    loud = tuple(a for a in alarms if LEVELS.index(a.level) >= LEVELS.index(fail_on))
    words = [of_group.verdict.partition(":")[0] for of_group in of_groups.groups.values()]
    words += ["NOT KNOWN"] * len(of_groups.left_out)
    worst = next((word for word in ("ALARM", "FAIL", "NOT KNOWN") if word in words), "OK")
    worst = ("ALARM" if highest_level(loud) == "alarm" else "FAIL") if loud and worst == "OK" else worst
    counts = ", ".join(f"{words.count(word)} {word}" for word in ("ALARM", "FAIL", "NOT KNOWN", "OK") if word in words)
    about = f"{len(of_groups.jurors)} jurors, {sum(of_groups.sizes.values()):,} items"
    verdict = f"{worst if loud else 'OK'}: {count_noun(len(words), 'group')}, {counts} ({about})"
    fields = {**vars(of_groups), "alarms": sort_by_severity(alarms)}
    return GroupVerdicts(**fields, verdict=verdict, loud=loud)


class CheckOptions(LimitOptions, GradeOptions, total=False):
    """Limits, and how to read and grade what is checked."""


@verb(CheckOptions)
def check(
    source: Any, *, by: Any = None, system: Any = None, good: Label | None = None, fail_on: Level = "alarm",
    ignore_alarms: Sequence[str] = (), **options: Unpack[CheckOptions],
) -> Verdict:  # fmt: skip
    """Check whether you can trust grades of labels or numbers, and whether they meet your limits.

    Parameters
    ----------
    source
        An evaluation, a comparison of systems, or any source that `grade` takes.
    by
        Check each group of items separately, as in `grade`: the check passes if every group does.
    system, good
        Also compare systems, with these as `by` and `good` of `systems`.
    fail_on
        The lowest level of alarm that fails the check.
    ignore_alarms
        Kinds of alarms to leave out.
    options
        Limits, such as `min_score` or `min_difference` ("B-A:0.02"), and options of `grade`.

    Returns
    -------
    Verdict
        With `by`, a `GroupVerdicts`.

    Examples
    --------
    >>> from jurors import grade, load_example
    >>> votes, _ = load_example("census")
    >>> verdict = check(grade(votes), min_score=0.5, max_wrong=0.01)
    >>> verdict.passed, {gate.name: gate.outcome for gate in verdict.gates}["max-wrong"]
    (False, 'fail')
    """
    if by is not None:
        others = {"system": system, "good": good, "fail_on": fail_on, "ignore_alarms": ignore_alarms, **options}
        return cast("Verdict", _check_groups(source, by, **others))
    limits = {name: value for name, value in options.items() if name in column_names(LimitOptions)}
    others = {name: value for name, value in options.items() if name not in limits}
    parsed = Limits.of(limits)
    compared = source if isinstance(source, SystemComparison) else None
    of_systems: SystemVotes | None = None
    if system is not None and not isinstance(source, SystemComparison | Evaluation | NumberGrades):
        grading, reading = split_options(others)
        votes, groups, _ = votes_and_groups(source, system, "system", reading)
        of_systems, others = SystemVotes(votes, groups, system, good, grading, reading), {}
        fewest = 1 if parsed.max_regression is not None and not parsed.min_difference else 2
        compared = compare_systems(votes, groups, good=good, fewest=fewest, **grading)
        source = compared
    evaluation = compared.evaluation if compared is not None else source
    if not isinstance(evaluation, Evaluation | NumberGrades):
        if good is not None:
            raise OptionError("good= is for systems; name their column with system=", name="good")
        evaluation, others = grade(source, **others), {}
    if not isinstance(evaluation, Evaluation | NumberGrades):
        message = "check takes labels or numbers, and these are preferences; grade() lists their alarms"
        raise OptionError(message, code="does_not_apply")
    given = next(iter(others), "system" if system is not None and of_systems is None else None)
    if given is not None:
        raise OptionError(f"these votes are already graded, so {given}= changes nothing; leave it out")
    document = read_document(parsed.baseline) or {}
    if parsed.max_regression is None and str(document.get("schema")).startswith("jurors.systems/"):
        message = "baseline= is of systems; add system= and max_regression=, the drop that you allow"
        raise OptionError(message, code="does_not_apply", name="baseline")
    gates = evaluate_gates(evaluation, parsed)
    if compared is not None:
        gates += tuple(_system_gates(compared, parsed, of_systems))
    else:
        for name in ("min_difference", "max_regression"):
            if getattr(parsed, name) not in (None, ()):
                message = f"{name}= compares systems; name the column of systems with system="
                raise OptionError(message, code="does_not_apply", name=name)
    found = [gate.alarm(allow_unknown=parsed.allow_unknown) for gate in gates]
    if isinstance(evaluation, Evaluation):
        found += _panel_alarms(evaluation, parsed)
    found += evaluation.alarms
    alarms = tuple(alarm for alarm in found if alarm is not None and alarm.kind not in ignore_alarms)
    loud = tuple(a for a in alarms if LEVELS.index(a.level) >= LEVELS.index(fail_on))
    distrust = sum(alarm.reason not in _OF_GATES for alarm in loud)
    about = f"{len(evaluation.jurors)} jurors, {evaluation.items:,} items"
    outcomes = [gate.outcome for gate in gates]
    failed, unknown = outcomes.count("fail"), outcomes.count("not known")
    many = count_noun(len(outcomes), "limit")
    counts = f"{failed or unknown} of {many} {'failed' if failed else 'not known'}"
    counts += f", {unknown} not known" if failed and unknown else ""
    counts = counts if failed or unknown else f"{many} passed"
    what = "alarm" if fail_on == "alarm" else "warning or alarm"
    level = highest_level(tuple(alarm for alarm in loud if alarm.reason not in _OF_GATES))
    if distrust:
        grave = f"ALARM: do not use these grades ({distrust} raised; {about})"
        verdict = grave if level == "alarm" else f"FAIL: {count_noun(distrust, str(level))} ({about})"
        verdict += f"; {counts}" if outcomes else ""
    elif not failed and not unknown:
        verdict = f"OK: no {what}{f', {counts}' if outcomes else ''} ({about})"
    else:
        verdict = (
            f"{'FAIL' if failed else 'NOT KNOWN'}: {counts} ({about})" if loud else f"OK: {counts}; no {what} ({about})"
        )
    of_limits = tuple(kind for option, kind in ALARM_LIMITS.items() if getattr(parsed, option) is not None)
    return Verdict(not distrust, verdict, alarms, gates, loud, evaluation, of_limits, compared)
