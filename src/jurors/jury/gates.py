"""Limits on a jury, for CI: each is tested against what is known, the calibrated interval.

Grades and `Limits` come in; a `Gate` with one of three outcomes goes out for every limit on a share, an `Alarm` for
every limit that is not met. An interval that lies wholly on the right side of the limit passes, one that lies wholly on
the wrong side fails, and any other is *not known*: a point estimate on the right side is no proof, nor is one on the
wrong side.

`SHARE_LIMITS` and `ALARM_LIMITS` declare every limit once: a new limit on a share is one more row there, one field of
`jurors.options.Limits`, and one option of `jurors check`.

A baseline is an earlier run. Where both runs' votes are available, changes are paired on the same items
(`jurors.uncertainty.calibrate.paired_change`). Of a JSON document only the scores are known. There the interval of the
difference combines those of both scores by their squares (Newcombe's), as if the uncertainties of the two runs were
independent. The same judges err alike in both, so that the true difference is known better than that: it is rather too
wide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack, cast

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.errors import OptionError, match_name
from jurors.evaluate.alarms import Alarm, Level
from jurors.evaluate.card import percent
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.rules import FEWEST_VOTES
from jurors.jury.calibration import INDEPENDENT_POPULATION, Calibration, calibration_basis, jury_votes
from jurors.jury.grade import default_method, grade
from jurors.jury.inputs import count_gradable, read_input
from jurors.numeric.grade import NumberGrades
from jurors.options import Label, LimitOptions, Limits
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.bounds_logical import logical_bounds
from jurors.uncertainty.calibrate import PairedChange, PairedRuns, paired_change, scenarios_of
from jurors.uncertainty.reference import PanelTraits
from jurors.uncertainty.scenarios import log_odds, panel_traits
from jurors.versions import DOCUMENT
from jurors.votes.table import Votes

Outcome: TypeAlias = Literal["pass", "fail", "not known"]
Ends: TypeAlias = tuple[float, float]

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

    @property
    def name(self) -> str:
        """How gates are named: "min-score"."""
        return self.option.replace("_", "-")


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
    "spec": "specification_impossible",
}
_FOR_NUMBERS = ("min_reliability", "allow_unknown")


@dataclass(frozen=True)
class LimitTarget:
    """Which share a limit is about: of a juror, of a label, of both, or of the jury."""

    juror: str | None = None
    label: Label | None = None

    def __str__(self) -> str:
        names = ([] if self.juror is None else [self.juror]) + ([] if self.label is None else [str(self.label)])
        return " on ".join(names)


def read_limits(kind: ShareLimit, given: Any, evaluation: Evaluation | NumberGrades) -> dict[LimitTarget, float]:
    """Resolve a limit as the user gives it against the names there are.

    `0.7` is for every juror, `ann:0.7` for one, who then has that limit instead; `fail:0.7` or `ann:fail:0.7` where the
    limit is on a label.

    Parameters
    ----------
    given
        A number, text, a mapping by name, a list of these, or None.

    Returns
    -------
    dict
        The share from 0 to 1 for each target.
    """
    option, jurors = kind.option, evaluation.jurors
    general: dict[LimitTarget, float] = {}
    specific: dict[LimitTarget, float] = {}
    for name, limit in _pairs(option, given):
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
            raise OptionError(f"{option}={name}:{limit:g}: this limit is about the whole jury; give a share alone")
        is_general = kind.by_juror and juror is None
        limits = general if is_general else specific
        for target in (LimitTarget(j, label) for j in (jurors if is_general else (juror,))):
            if target in limits:
                about = f" for {target}" if str(target) else ""
                raise OptionError(f"{option}= is given twice{about}", name=option)
            limits[target] = limit
    return {**general, **specific}


def parse_share(option: str, value: Any, given: Any = None) -> float:
    """A share from 0 to 1; OptionError where it is something else.

    Returns
    -------
    float
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        message = f"{option}={value if given is None else given}: a limit is a share from 0 to 1, such as 0.8"
        raise OptionError(message, code="out_of_range", name=option, value=value)
    return number


def _pairs(option: str, given: Any) -> Iterator[tuple[Any, float]]:
    """(name or None, limit) of a number, of text, of a mapping by name, or of several of these."""
    if isinstance(given, str):
        name, colon, value = given.rpartition(":")  # names may hold colons, a limit never does
        yield (name if colon else None), parse_share(option, value, given)
    elif isinstance(given, Mapping):
        for name, value in given.items():
            yield name, parse_share(option, value)
    elif isinstance(given, (list, tuple)):
        for part in given:
            yield from _pairs(option, part)
    elif given is not None:
        yield None, parse_share(option, given)


def _juror_and_label(option: str, name: Any, evaluation: Any) -> tuple[str | None, Label]:
    """The juror (None: every one) and the label of `LABEL` or `JUROR:LABEL`; OptionError if ambiguous or unknown."""
    if isinstance(name, tuple):
        juror, label = name
        return match_name(juror, evaluation.jurors, "juror", error=OptionError), _label(label, evaluation)
    if name is None:
        raise OptionError(f"{option}= names no label; write LABEL:SHARE or JUROR:LABEL:SHARE", name=option)
    text, labels = str(name), {str(label): label for label in evaluation.labels}
    readings: list[tuple[str | None, Label]] = [(None, labels[text])] if text in labels else []
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


def judge(ends: Ends | None, limit: float, *, at_least: bool) -> Outcome:
    """Test whether a share with this interval meets a limit.

    Returns
    -------
    {"pass", "fail", "not known"}

    Examples
    --------
    >>> judge((0.72, 0.9), 0.7, at_least=True), judge((0.4, 0.65), 0.7, at_least=True)
    ('pass', 'fail')
    >>> judge((0.6, 0.8), 0.7, at_least=True), judge(None, 0.7, at_least=True)
    ('not known', 'not known')
    """
    if ends is None or None in ends or ends[0] != ends[0] or ends[1] != ends[1]:
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
    at_least: bool  #: whether the limit is a floor; else a ceiling
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
    def _details(self) -> str:
        """The figures, what they rest on, and what would decide it."""
        return "; ".join(filter(None, (self.figures, self.reason, self.advice)))

    @property
    def line(self) -> str:
        """The outcome with its details, on one line."""
        return f"{self.outcome.upper():<9} {self.name}: {self._details}"

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
            "gate_failed" if is_failed else "gate_unknown", level, f"{self.name}: {self._details}", self.value,
            () if self.juror is None else (self.juror,), () if self.label is None else (self.label,),
        )  # fmt: skip


def gate(evaluation: Evaluation | NumberGrades, **limits: Unpack[LimitOptions]) -> tuple[Alarm, ...]:
    """The alarms of every limit that is not met, or not known to be.

    Parameters
    ----------
    evaluation
        The result of `grade`, or of `grade_numbers`, for which `min_reliability` and `allow_unknown` are.
    min_reliability
        The least calibrated reliability of numbers: `0.3` for every juror, `"ann:0.5"` for one.
    min_score
        The least share right: `0.7` for every juror, `"ann:0.8"` or `{"ann": 0.8}` for one; or several of these.
    min_accuracy
        The least accuracy on a label: `"fail:0.7"` or `{"fail": 0.7}` for every juror, `"ann:fail:0.8"` or
        `{("ann", "fail"): 0.8}` for one.
    min_prevalence, max_prevalence
        How common a label is, at least and at most: `"fail:0.3"` or `{"fail": 0.3}`.
    max_wrong
        The largest share of items whose best label is wrong.
    baseline, votes, max_drop
        An earlier run: no juror's score has dropped by more than `max_drop`. The run is the JSON document of `grade` or
        `check` (a mapping, or the path of a file), an evaluation, or votes; where `votes` are those that were graded
        here, and both runs have the same items, changes are paired.
    allow_unknown
        Whether a limit inside the interval, which may or may not be met, is a note; else it is an alarm.
    max_correlation, min_effective
        The largest mean error correlation, and the smallest effective number of jurors (two labels, four jurors on).
    spec
        Floors for the jurors as in `bounds`: an alarm where no answer key lets all of them be met.

    Returns
    -------
    tuple of Alarm
    """
    parsed = Limits.of(limits)
    return limit_alarms(evaluation, parsed, evaluate_gates(evaluation, parsed))


def evaluate_gates(evaluation: Evaluation | NumberGrades, limits: Limits) -> tuple[Gate, ...]:
    """Test every limit on a share.

    Returns
    -------
    tuple of Gate
        In an order that depends neither on the order of jurors nor on any number.
    """
    is_numbers = isinstance(evaluation, NumberGrades)
    if is_numbers:
        for field in fields(Limits):
            if field.name not in _FOR_NUMBERS and getattr(limits, field.name) not in (field.default, ()):
                message = f"{field.name}= is for labels, and these votes are numbers; use min_reliability= instead"
                raise OptionError(message, code="does_not_apply", name=field.name)
    elif limits.min_reliability not in (None, ()):
        message = "min_reliability= is for numbers, and these votes are labels; use min_score= instead"
        raise OptionError(message, code="does_not_apply", name="min_reliability")
    gates: list[Gate] = []
    for kind in (kind for kind in SHARE_LIMITS if kind.of_numbers == is_numbers):
        by_target = read_limits(kind, getattr(limits, kind.option), evaluation)
        targets = sorted(by_target, key=lambda target: (str(target.juror), str(target.label)))
        gates += [_test_limit(evaluation, kind, target, by_target[target]) for target in targets]
    if isinstance(evaluation, Evaluation) and limits.baseline is not None and limits.max_regression is None:
        gates += baseline_gates(evaluation, limits.votes, limits.baseline, limits.max_drop)
    return tuple(gates)


def _test_limit(evaluation: Evaluation | NumberGrades, kind: ShareLimit, target: LimitTarget, limit: float) -> Gate:
    value: float | None = None
    ends: Ends | None = None
    reason = advice = ""
    if isinstance(evaluation, NumberGrades):
        k = evaluation.jurors.index(str(target.juror))
        estimate, (low, high) = evaluation.reliability[k], evaluation.reliability_ends[k]
        value = None if estimate != estimate else float(estimate)
        ends = None if low != low else (float(low), float(high))
        reason = "these numbers do not determine a grade" if ends is None else ""
    else:
        if evaluation.calibrated is not None:
            share: Any = getattr(evaluation, kind.statistic)
            interval: Any = evaluation.calibrated.interval[kind.statistic]
            for name in (target.juror, target.label):
                if name is not None:
                    share, interval = share[name], interval[name]
            if share is not None and interval is not None and None not in interval and interval[0] == interval[0]:
                value, ends = float(share), (float(interval[0]), float(interval[1]))
        if ends is None:
            reason = _why_unknown(evaluation, target)
    outcome = judge(ends, limit, at_least=kind.at_least)
    if isinstance(evaluation, Evaluation) and evaluation.without_family is not None:
        other = _test_limit(evaluation.without_family, kind, target, limit)
        if other.outcome != outcome:  # the two readings disagree, and nothing here decides between them
            figures = other.figures.partition(", limit")[0]
            reason, outcome = f"without the declared family {other.outcome} at {figures}", "not known"
    if outcome == "not known" and kind.statistic == "score" and value is not None:
        advice = _deciding_gold(cast(Evaluation, evaluation), str(target.juror), abs(value - limit))
    return Gate(
        name=f"{kind.name} {target}".rstrip(), outcome=outcome, limit=limit, at_least=kind.at_least, value=value,
        interval=ends, level=evaluation.level, juror=target.juror, label=target.label, reason=reason, advice=advice,
        in_percent=not kind.of_numbers,
    )  # fmt: skip


def _why_unknown(evaluation: Evaluation, target: LimitTarget) -> str:
    """Why the votes do not determine a share."""
    reasons = {alarm.reason for alarm in evaluation.alarms}
    if "single_label" in reasons:
        return f"every vote is {evaluation.labels[0]!r}"
    if "too_few_distinct" in reasons:
        return "fewer than three jurors are distinct"
    if evaluation.calibrated is None:
        return "no solution explains the votes"
    if evaluation.rules is not None:
        is_rule = target.juror and evaluation.votes[target.juror] < FEWEST_VOTES
        return f"{target.juror} has fewer than {FEWEST_VOTES} votes" if is_rule else "rules do not determine it"
    return f"{target.juror} voted on no item of this label" if target.juror else "these votes do not determine it"


_GOLD = (10, 20, 30, 50, 100, 200, 500)  # numbers of gold items to try


def _deciding_gold(evaluation: Evaluation, juror: str, distance: float) -> str:
    """How many gold labels would narrow a juror's score enough to decide about a limit at this distance."""
    calibrated, tried = evaluation.calibrated, 0
    for size in (size for size in _GOLD if 2 * size <= evaluation.items):
        widths = None if calibrated is None else calibrated.with_gold(size)
        if widths is None or widths[juror] != widths[juror]:
            return ""
        if widths[juror] < distance:
            return f"about {size} gold labels would decide it"
        tried = size
    return f"{tried} gold labels would not decide it" if tried else ""


def limit_alarms(evaluation: Evaluation | NumberGrades, limits: Limits, gates: Iterable[Gate]) -> tuple[Alarm, ...]:
    """The alarms of gates that are not passed, and of the other limits that are not met.

    Returns
    -------
    tuple of Alarm
    """
    of_gates = (gate.alarm(allow_unknown=limits.allow_unknown) for gate in gates)
    alarms = [alarm for alarm in of_gates if alarm is not None]
    if isinstance(evaluation, NumberGrades):
        return tuple(alarms)
    max_correlation, min_effective = limits.max_correlation, limits.min_effective
    mean, worth = evaluation.mean_correlation, evaluation.effective_jurors
    unknown = "no two jurors share enough items, or errors are assumed to be independent"
    if max_correlation is not None and (mean is None or mean > max_correlation):
        message = (
            f"the mean error correlation is unknown: {unknown}"
            if mean is None
            else f"the mean error correlation is {mean:.3f}, more than the {max_correlation:g} allowed"
        )
        alarms.append(Alarm("correlation_limit", "alarm", message, mean))
    if min_effective is not None and (worth is None or worth < min_effective):
        message = (
            f"the effective number of jurors is unknown: {unknown}"
            if worth is None
            else f"the jurors are worth {worth:.1f} independent ones, fewer than the {min_effective:g} required"
        )
        alarms.append(Alarm("effective_limit", "alarm", message, worth))
    if limits.spec is not None and evaluation.sketch is not None:
        alarms += logical_bounds(evaluation.sketch, limits.spec).alarms
    return tuple(alarms)


# -- regressions against a baseline ------------------------------------------------------------------------------------

_ANEW = "write one with `jurors grade FILE -o baseline.json`"


@dataclass(frozen=True)
class Baseline:
    """What is known of an earlier run."""

    score: Mapping[str, float | None]
    interval: Mapping[str, Any]
    level: float
    evaluation: Evaluation | None = None
    votes: Votes | None = None  #: where its items can be paired

    @classmethod
    def of(cls, baseline: Any, evaluation: Evaluation) -> Baseline:
        """From a document of `grade` or `check` (a mapping or a file), from an evaluation, or from votes.

        Returns
        -------
        Baseline
        """
        document = read_document(baseline)
        if document is not None:
            return cls._from_document(document)
        graded, votes = baseline, None
        if not isinstance(baseline, Evaluation):  # votes: graded by the same options
            source = read_input(baseline)
            calibration = evaluation.calibration
            options: dict[str, Any] = {"level": evaluation.level}
            if evaluation.sketch is not None and evaluation.method not in ("none", default_method(evaluation.sketch)):
                options["method"] = evaluation.method
            if isinstance(calibration, Calibration):
                options |= {"errors": calibration.errors, "reference": calibration.reference}
            if evaluation.family is not None:
                options["family"] = evaluation.family.families
            graded, votes = grade(source, **options), None if isinstance(source, Sketch) else source
        known = graded.calibrated
        score, ends = ({}, {}) if known is None else (known.score, known.interval["score"])
        return cls(score or dict.fromkeys(graded.jurors), ends, graded.level, graded, votes)

    @classmethod
    def _from_document(cls, document: Mapping[str, Any]) -> Baseline:
        schema = str(document.get("schema", DOCUMENT)).rpartition("/")[2]
        if schema.isdecimal() and int(schema) != DOCUMENT:
            age = "newer" if int(schema) > DOCUMENT else "older"
            message = f"baseline= has schema {schema}, {age} than the {DOCUMENT} that this version reads; {_ANEW}"
            raise OptionError(message, name="baseline")
        if "score" not in document or "jurors" not in document:
            raise OptionError(f"baseline= holds no grades; {_ANEW}", name="baseline")
        try:
            known: Any = document["score"] or {str(name): None for name in document["jurors"]}
            interval: Any = document["interval"] or {"score": {}}
            score = {name: None if value is None else _share(value) for name, value in known.items()}
            ends = {}
            for name, pair in interval["score"].items():
                low, high = (None, None) if pair is None else map(_share, pair)
                ends[name] = None if pair is None else (low, high)
            return cls(score, ends, _share(interval.get("level", 0.95)))
        except (TypeError, ValueError, KeyError, AttributeError):
            raise OptionError(f"baseline= is not a document of grades; {_ANEW}", name="baseline") from None


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is not a share")
    return float(value)


def read_document(baseline: Any) -> Mapping[str, Any] | None:
    """Read the JSON document of an earlier `grade` or `check`.

    Returns
    -------
    dict or None
        None where it is something else.
    """
    if isinstance(baseline, Mapping):
        return baseline
    if not isinstance(baseline, (str, Path)):
        return None
    path = Path(baseline)
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and {"schema", "score", "verdict"} & set(document) else None


def baseline_gates(evaluation: Evaluation, votes: Votes | None, baseline: Any, max_drop: float) -> Iterator[Gate]:
    """Test that no juror's score has dropped by more than `max_drop`.

    Returns
    -------
    iterator of Gate
        One for each juror of both runs, by name.
    """
    earlier = Baseline.of(baseline, evaluation)
    both = sorted(set(evaluation.jurors) & set(earlier.score))
    if not both:
        known = ", ".join(list(earlier.score)[:12])
        raise OptionError(f"baseline= has none of these jurors; it has {known}", name="baseline")
    if earlier.level != evaluation.level:
        message = f"baseline= was graded at level {earlier.level:g}, these votes at {evaluation.level:g}"
        raise OptionError(message, name="baseline")
    paired = {} if votes is None or earlier.votes is None else paired_changes(evaluation, votes, earlier)
    now = evaluation.calibrated
    for juror in both:
        value: float | None = None
        ends: Ends | None = None
        reason, score, interval = "one of the runs has no score", earlier.score[juror], earlier.interval.get(juror)
        if now is not None and now.score[juror] is not None and score is not None and interval is not None:
            before = (interval[0], interval[1])
            value, ends = difference(now.score[juror], now.interval["score"][juror], score, before)
            reason = "not paired: the scores of both runs are compared"
        if change := paired.get(juror):
            value, ends = change.value, change.interval
            reason = f"{change.changed:,} of {change.items:,} votes changed"
        yield Gate(
            name=f"baseline {juror}", outcome=judge(ends, -max_drop, at_least=True), limit=-max_drop, at_least=True,
            value=value, interval=ends, level=evaluation.level, juror=juror, is_change=True, reason=reason,
        )  # fmt: skip


def difference(now: float, now_ends: Ends, before: float, before_ends: Ends) -> tuple[float, Ends]:
    """The difference of two scores, and its interval: the half widths combined by their squares.

    Returns
    -------
    value : float
    ends : (low, high)

    Examples
    --------
    >>> value, (low, high) = difference(0.8, (0.7, 0.86), 0.7, (0.62, 0.82))
    >>> round(value, 3), round(low, 3), round(high, 3)
    (0.1, -0.056, 0.2)
    """
    change = now - before
    down = float(np.hypot(now - now_ends[0], before_ends[1] - before))
    up = float(np.hypot(now_ends[1] - now, before - before_ends[0]))
    return change, (change - down, change + up)


def paired_changes(evaluation: Evaluation, votes: Votes, earlier: Baseline) -> dict[str, PairedChange]:
    """The change of every juror of both runs on the items of both.

    Returns
    -------
    dict
        Juror -> change; empty where the runs share no item that has a name.
    """
    calibrated = evaluation.calibrated
    if calibrated is None or earlier.evaluation is None or earlier.evaluation.calibrated is None:
        return {}
    counted = count_gradable(votes), count_gradable(earlier.votes or votes)
    if any(run.votes.items is None or run.votes.counts is not None for run in counted):
        return {}
    names = [[str(name) for name in run.votes.item_names().tolist()] for run in counted]
    place = {name: k for k, name in enumerate(names[1])}
    rows = np.array([(k, place[name]) for k, name in enumerate(names[0]) if name in place])
    if not len(rows):
        return {}
    jurors = [name for name in evaluation.jurors if name in set(earlier.evaluation.jurors)]
    labels = list(dict.fromkeys((*evaluation.labels, *earlier.evaluation.labels)))
    tuples = np.stack([run.tuple_of_row[rows[:, k]] for k, run in enumerate(counted)], axis=1)
    pairs, weights = np.unique(tuples, axis=0, return_counts=True)
    traits: list[PanelTraits] = []
    parts: list[tuple[Floats, Floats, Integers, Floats]] = []
    for k, (e, run) in enumerate(zip((evaluation, earlier.evaluation), counted, strict=True)):
        _, posterior, noise_of = calibration_basis(e, e, run.sketch)
        noise = np.broadcast_to(np.asarray(noise_of().score, dtype=np.float64), (len(e.jurors),))
        jury = jury_votes(run.sketch, posterior, e.representatives)
        # posteriors and votes by the labels of both runs, jurors in the order of `jurors`
        label_of, juror_of = [labels.index(label) for label in e.labels], [e.jurors.index(name) for name in jurors]
        joint = np.zeros((len(jury.weights), len(labels)))
        joint[:, label_of] = jury.posterior  # a label that this run does not have is as improbable as can be
        cast = np.full((len(jury.weights), len(e.jurors)), -1)
        cast[jury.row, jury.juror] = np.array(label_of)[jury.label]
        odds, at = log_odds(joint, jury.distinct), pairs[:, k]
        traits.append(panel_traits(jury))
        parts.append((odds[at], jury.distinct[at], cast[:, juror_of][at], np.asarray(noise[juror_of])))
    (odds, distinct, now, noise), (odds_before, distinct_before, before, noise_before) = parts
    runs = PairedRuns(
        odds=(odds + odds_before) / 2.0, distinct=(distinct + distinct_before) / 2.0,
        weights=weights.astype(np.float64), now=now, before=before, noise=noise + noise_before,
    )  # fmt: skip
    calibration = evaluation.calibration if isinstance(evaluation.calibration, Calibration) else Calibration()
    is_independent = calibration.errors == "independent"
    population = INDEPENDENT_POPULATION if is_independent else calibration.population_of(evaluation)
    rho = 0.0 if is_independent else None if isinstance(calibration.errors, str) else float(calibration.errors)
    known, shared = None, calibrated.shared_error
    if shared.gold_items:  # gold has identified log rho: its mean and standard deviation
        low, high = np.log(np.maximum(shared.interval, 1e-4))
        known = float(np.log(max(shared.median, 1e-4))), float(high - low) / 4.0
    of_both = replace(traits[0], spread=float(np.mean([run.spread for run in traits])))
    drawn = scenarios_of(population, len(labels), rho=rho, traits=of_both, known=known)
    changes = [paired_change(runs, k, drawn, population.deviation, evaluation.level) for k in range(len(jurors))]
    return {name: change for name, change in zip(jurors, changes, strict=True) if change is not None}
