"""Limits, baseline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.errors import OptionError, SketchError, match_name
from jurors.evaluate import Alarm, Calibrated, Evaluation
from jurors.evaluate.alarms import Level
from jurors.evaluate.card import percent
from jurors.evaluate.dependence import FEWEST_JURORS, Dependence
from jurors.jury.calibration import INDEPENDENT_POPULATION, Calibration, calibration_basis, jury_votes
from jurors.jury.grade import default_method, grade
from jurors.jury.inputs import CountedVotes, count_gradable, read_input
from jurors.numeric import NumberGrades
from jurors.options import LimitOptions, Limits
from jurors.sketch import Sketch
from jurors.uncertainty.bounds_logical import logical_bounds
from jurors.uncertainty.gold import PairedChange, PairedRuns, paired_change, scenarios_of
from jurors.uncertainty.scenarios import answer_spread, log_odds
from jurors.versions import DOCUMENT
from jurors.votes import Label, Votes

# What the user asks of a jury, `0.7`, `ann:0.7`, `ann:fail:0.7`: read, and resolved against the names there are.


@dataclass(frozen=True, order=True)
class LimitTarget:
    """Which share a limit is about: `statistic` of a juror, of a label, of both, or of the jury."""

    statistic: str  #: "score", "reliability", "accuracy", "prevalence", "wrong_labels"
    juror: str | None = None
    label: Label | None = None

    def __str__(self) -> str:
        names = ([] if self.juror is None else [self.juror]) + ([] if self.label is None else [str(self.label)])
        return " on ".join(names)


def score_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[LimitTarget, float]:
    """`0.7` for every juror, `JUROR:0.8` for one, who then is asked that instead."""
    return _of_jurors("score", option, asked, evaluation.jurors)


def reliability_limits(option: str, asked: Any, jurors: Sequence[str]) -> dict[LimitTarget, float]:
    """The same of jurors who answer in numbers."""
    return _of_jurors("reliability", option, asked, jurors)


def _of_jurors(statistic: str, option: str, asked: Any, jurors: Sequence[str]) -> dict[LimitTarget, float]:
    everybody: dict[LimitTarget, float] = {}
    own: dict[LimitTarget, float] = {}
    for name, limit in _pairs(option, asked):
        if name is None:
            _once(option, everybody, {LimitTarget(statistic, juror): limit for juror in jurors})
        else:
            juror = match_name(name, jurors, "juror", error=OptionError)
            _once(option, own, {LimitTarget(statistic, juror): limit})
    return {**everybody, **own}


def accuracy_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[LimitTarget, float]:
    """`LABEL:0.7` for every juror, `JUROR:LABEL:0.8` for one, who then is asked that instead."""
    everybody: dict[LimitTarget, float] = {}
    own: dict[LimitTarget, float] = {}
    for name, limit in _pairs(option, asked):
        juror, label = _juror_and_label(option, name, evaluation)
        if juror is None:
            _once(option, everybody, {LimitTarget("accuracy", one, label): limit for one in evaluation.jurors})
        else:
            _once(option, own, {LimitTarget("accuracy", juror, label): limit})
    return {**everybody, **own}


def prevalence_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[LimitTarget, float]:
    """`LABEL:0.3`."""
    limits: dict[LimitTarget, float] = {}
    for name, limit in _pairs(option, asked):
        if name is None:
            raise OptionError(f"{option} {limit:g}: of which label? Write LABEL:{limit:g}", name=option, value=limit)
        _once(option, limits, {LimitTarget("prevalence", None, _label(name, evaluation)): limit})
    return limits


def wrong_limits(option: str, asked: Any, evaluation: Evaluation) -> dict[LimitTarget, float]:
    """`0.1`."""
    limits: dict[LimitTarget, float] = {}
    for name, limit in _pairs(option, asked):
        if name is not None:
            raise OptionError(f"{option} {name}:{limit:g}: it is about the whole jury, so give a share alone")
        _once(option, limits, {LimitTarget("wrong_labels"): limit})
    return limits


def parse_share(option: str, value: Any) -> float:
    """A share from 0 to 1; OptionError where it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        message = f"{option} {value}: a limit is a share from 0 to 1, such as 0.8"
        raise OptionError(message, code="out_of_range", name=option, value=value)
    return number


def _pairs(option: str, asked: Any) -> Iterator[tuple[Any, float]]:
    """(name or None, limit) of a number, of text, of a mapping by name, or of several of these."""
    if isinstance(asked, str):
        name, colon, value = asked.rpartition(":")  # names may hold colons, a limit never does
        yield (name if colon else None), parse_share(f"{option} {asked}:" if colon else option, value)
    elif isinstance(asked, Mapping):
        for name, value in asked.items():
            yield name, parse_share(option, value)
    elif isinstance(asked, (list, tuple)):
        for one in asked:
            yield from _pairs(option, one)
    elif asked is not None:
        yield None, parse_share(option, asked)


def _juror_and_label(option: str, name: Any, evaluation: Evaluation) -> tuple[str | None, Label]:
    """The juror (None: every one) and the label meant; OptionError where two are, or none is."""
    if isinstance(name, tuple):
        juror, label = name
        return (
            match_name(juror, evaluation.jurors, "juror", error=OptionError),
            _label(label, evaluation),
        )
    if name is None:
        raise OptionError(f"{option}: on which label? Write LABEL:SHARE or JUROR:LABEL:SHARE", name=option)
    meant = list(_readings(str(name), evaluation))
    if len(meant) > 1:
        shown = " or ".join(f"label {b!r}" if j is None else f"juror {j!r} on label {b!r}" for j, b in meant)
        raise OptionError(f"{option} {name}: this may mean {shown}; in Python, give {{(juror, label): share}}")
    if meant:
        return meant[0]
    if _is_open(evaluation):
        jurors = [juror for juror in evaluation.jurors if str(name).startswith(f"{juror}:")]
        longest = max(jurors, key=len, default=None)
        return longest, str(name) if longest is None else str(name)[len(longest) + 1 :]
    known = [*evaluation.labels, *(f"{j}:{a}" for j, a in product(evaluation.jurors, evaluation.labels))]
    return None, match_name(name, known, "label, or JUROR:LABEL,", error=OptionError)


def _label(name: Any, evaluation: Evaluation) -> Label:
    known = [*evaluation.labels, name] if _is_open(evaluation) else evaluation.labels
    label: Label = match_name(name, known, "label", error=OptionError)
    return label


def _is_open(evaluation: Evaluation) -> bool:
    """Where only one label was ever said, a limit on another is no slip: on other days, others are said."""
    return any(alarm.kind == "single_label" for alarm in evaluation.alarms)


def _readings(name: str, evaluation: Evaluation) -> Iterator[tuple[str | None, Label]]:
    labels = {str(label): label for label in evaluation.labels}
    if name in labels:
        yield None, labels[name]
    for place, letter in enumerate(name):
        if letter == ":" and name[:place] in evaluation.jurors and name[place + 1 :] in labels:
            yield name[:place], labels[name[place + 1 :]]


def _once(option: str, limits: dict[LimitTarget, float], more: dict[LimitTarget, float]) -> None:
    if twice := [target for target in more if target in limits]:
        about = f" for {twice[0]}" if str(twice[0]) else ""
        raise OptionError(f"{option} is given twice{about}", name=option)
    limits.update(more)


# `Gate`: one limit, what is known of the share it is about, and one of three outcomes.
#
# An interval that lies wholly on the right side of the limit passes, one that lies wholly on the wrong side fails, and
# of any other it is *not known*: a point estimate on the right side is no proof, nor is one on the wrong side.


Outcome: TypeAlias = Literal["pass", "fail", "not known"]
Ends: TypeAlias = tuple[float, float]


def judge(ends: Ends | None, limit: float, *, at_least: bool) -> Outcome:
    """Whether a share with this interval keeps a limit.

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
    value: float | None = None  #: the best guess of the share
    interval: Ends | None = None
    level: float = 0.95
    reason: str = ""  #: what it rests on, or why it is not known
    advice: str = ""  #: what would decide it, where that was worked out
    juror: str | None = None
    label: Label | None = None
    is_change: bool = False  #: whether the share is a difference to a baseline
    in_percent: bool = True  #: how the share is written; reliabilities are not

    def to_dict(self) -> dict[str, Any]:
        """The gate as JSON."""
        names = ("name", "outcome", "limit", "at_least", "value", "interval", "reason", "advice", "juror", "label")
        return {name: getattr(self, name) for name in names}

    @property
    def figures(self) -> str:
        """The number, its interval and the limit, in words."""
        wanted = f"{'at least' if self.at_least else 'at most'} {self._shown(self.limit)} asked"
        if self.is_change:
            wanted = f"a drop of at most {-self.limit * 100:z.1f} asked" if self.limit else "no drop asked"
        if self.interval is None or self.value is None:
            return wanted
        low, high = map(self._shown, self.interval)
        unit = " points" if self.is_change else ""
        return f"{self._shown(self.value)}{unit} ({self.level * 100:g}%: {low} to {high}), {wanted}"

    def _shown(self, value: float) -> str:
        if not self.in_percent:
            return f"{value:z.2f}"
        return f"{value * 100:+z.1f}" if self.is_change else percent(value)

    @property
    def line(self) -> str:
        """The outcome, the figures, and what would decide it."""
        beside = [self.figures, *filter(None, (self.reason, self.advice))]
        return f"{self.outcome.upper():<9} {self.name}: {'; '.join(beside)}"

    def alarm(self, *, allow_unknown: bool = False) -> Alarm | None:
        """What a gate that is not passed rings; None where it is."""
        if self.outcome == "pass":
            return None
        message = "; ".join([f"{self.name}: {self.figures}", *filter(None, (self.reason, self.advice))])
        jurors = () if self.juror is None else (self.juror,)
        labels = () if self.label is None else (self.label,)
        if self.outcome == "fail":
            return Alarm("gate_failed", "alarm", message, self.value, jurors, labels)
        level: Level = "note" if allow_unknown else "alarm"
        return Alarm("gate_unknown", level, message, self.value, jurors, labels)


# Limits on jurors who answer in numbers: the least reliability, as real juries go.


_OPTION = "--min-reliability"
_FOR_BOTH = ("min_reliability", "allow_unknown")


def number_gates(grades: NumberGrades, asked: Limits) -> tuple[Gate, ...]:
    """A gate per juror with a limit, by name; OptionError where something is asked that is for labels alone."""
    for one in fields(Limits):
        if one.name not in _FOR_BOTH and getattr(asked, one.name) not in (one.default, ()):
            flag = f"--{one.name.replace('_', '-')}"
            message = f"{flag} is for labels, and these are numbers: leave it out, or say {_OPTION} X"
            raise OptionError(message, code="does_not_apply", name=one.name)
    return tuple(_gates(grades, asked))


def _gates(grades: NumberGrades, asked: Limits) -> Iterator[Gate]:
    limits = reliability_limits(_OPTION, asked.min_reliability, grades.jurors)
    for target in sorted(limits, key=str):
        k = grades.jurors.index(str(target.juror))
        value, ends = float(grades.calibrated_reliability[k]), _ends(grades, k)
        yield Gate(
            name=f"min-reliability {target}",
            outcome=judge(ends, limits[target], at_least=True),
            limit=limits[target],
            at_least=True,
            value=None if value != value else value,
            interval=ends,
            level=grades.level,
            reason="the numbers fix no grade" if ends is None else "",
            juror=target.juror,
            in_percent=False,
        )


def _ends(grades: NumberGrades, k: int) -> Ends | None:
    low, high = map(float, grades.calibrated_reliability_ends[k])
    return None if low != low else (low, high)


# Whether a juror became worse than in an earlier run: paired on the same items where both runs' votes are at hand.
#
# Of a JSON document only the scores are known. There the interval of the difference joins those of both scores by their
# squares (Newcombe's), as if what is unknown of one run had nothing to do with what is unknown of the other. The same
# judges err alike in both, so that the true difference is known better than that: it is rather too wide.


_ANEW = "make it with `jurors grade FILE --format json`"


@dataclass(frozen=True)
class Earlier:
    """What is known of an earlier run."""

    score: Mapping[str, float | None]
    interval: Mapping[str, Any]
    level: float
    evaluation: Evaluation | None = None
    votes: Votes | None = None  #: where its items can be paired

    @classmethod
    def of(cls, baseline: Any, evaluation: Evaluation) -> Earlier:
        """From a document of `grade` or `check` (a mapping or a file), from an evaluation, or from votes."""
        if isinstance(baseline, Earlier):
            return baseline
        document = read_document(baseline)
        if document is not None:
            return cls._of_document(document)
        if isinstance(baseline, Evaluation):
            return cls._of_evaluation(baseline, None)
        votes = read_input(baseline)
        graded = grade(votes, **_as_graded(evaluation))
        return cls._of_evaluation(graded, None if isinstance(votes, Sketch) else votes)

    @classmethod
    def _of_evaluation(cls, evaluation: Evaluation, votes: Votes | None) -> Earlier:
        known = evaluation.calibrated
        score, ends = ({}, {}) if known is None else (known.score, known.interval["score"])
        return cls(score or dict.fromkeys(evaluation.jurors), ends, evaluation.level, evaluation, votes)

    @classmethod
    def _of_document(cls, document: Mapping[str, Any]) -> Earlier:
        schema = document.get("schema", DOCUMENT)
        if isinstance(schema, int) and schema > DOCUMENT:
            raise OptionError(f"--baseline: schema {schema} is newer than this version reads ({DOCUMENT})")
        if "calibrated" not in document or "jurors" not in document:
            raise OptionError(f"--baseline: no calibrated grades; {_ANEW}")
        try:
            return cls(*_earlier_scores(document))
        except (TypeError, ValueError, KeyError, AttributeError):
            raise OptionError(f"--baseline: this is no document of grades as jurors writes it; {_ANEW}") from None


def _earlier_scores(document: Mapping[str, Any]) -> tuple[dict[str, float | None], dict[str, Any], float]:
    """Scores, their intervals and the level, each of its kind; what is not raises as Python does."""
    unknown = {"score": {str(name): None for name in document["jurors"]}, "interval": {"score": {}}}
    known: Any = document["calibrated"] or unknown
    score = {name: None if value is None else _share(value) for name, value in known["score"].items()}
    ends = {name: _regression_ends(pair) for name, pair in known["interval"]["score"].items()}
    return score, ends, _share(document.get("level", 0.95))


def _regression_ends(pair: Any) -> tuple[float, float] | None:
    if pair is None:
        return None
    low, high = pair
    return _share(low), _share(high)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no share")
    return float(value)


def read_document(baseline: Any) -> Mapping[str, Any] | None:
    """The JSON document of an earlier `grade` or `check`; None where it is something else."""
    if isinstance(baseline, Mapping):
        return baseline
    if (
        not isinstance(baseline, (str, Path))
        or Path(baseline).suffix.lower() != ".json"
        or not Path(baseline).is_file()
    ):
        return None
    try:
        document = json.loads(Path(baseline).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and {"schema", "calibrated", "verdict"} & set(document) else None


def _as_graded(evaluation: Evaluation) -> dict[str, Any]:
    """The options by which the earlier votes are graded as these were."""
    by = evaluation.calibration
    options: dict[str, Any] = {"level": evaluation.level}
    if evaluation.sketch is not None and evaluation.method not in ("none", default_method(evaluation.sketch)):
        options["method"] = evaluation.method
    if isinstance(by, Calibration):
        options |= {"errors": by.errors, "reference": by.reference}
    return options


def regressions(evaluation: Evaluation, votes: Votes | None, baseline: Any, max_drop: float) -> Iterable[Gate]:
    """A gate per juror of both runs, by name: its score has not dropped by more than `max_drop`."""
    earlier = Earlier.of(baseline, evaluation)
    both = sorted(set(evaluation.jurors) & set(earlier.score))
    if not both:
        raise OptionError(f"--baseline has none of these jurors; it has {', '.join(list(earlier.score)[:12])}")
    if earlier.level != evaluation.level:
        raise OptionError(f"--baseline was graded at level {earlier.level:g}, this is {evaluation.level:g}")
    paired = {} if votes is None or earlier.votes is None else paired_changes(evaluation, votes, earlier)
    for juror in both:
        value, ends = _unpaired(evaluation.calibrated, earlier, juror)
        reason = "one of the runs knows no score" if ends is None else "not paired: by the scores of both runs"
        if change := paired.get(juror):
            value, ends = change.value, change.interval
            reason = f"{change.changed:,} of {change.items:,} votes changed"
        yield Gate(
            name=f"baseline {juror}", outcome=judge(ends, -max_drop, at_least=True), limit=-max_drop, at_least=True,
            value=value, interval=ends, level=evaluation.level, juror=juror, is_change=True, reason=reason,
        )  # fmt: skip


def _unpaired(now: Calibrated | None, earlier: Earlier, juror: str) -> tuple[float | None, Ends | None]:
    """The difference of two scores, each with its interval: joined by the squares of their arms."""
    score, ends = earlier.score.get(juror), earlier.interval.get(juror)
    if now is None or score is None or ends is None or now.score[juror] is None:
        return None, None
    return difference(now.score[juror], now.interval["score"][juror], score, (ends[0], ends[1]))


def difference(now: float, now_ends: Ends, before: float, before_ends: Ends) -> tuple[float, Ends]:
    """now - before, and its interval.

    >>> value, (low, high) = difference(0.8, (0.7, 0.86), 0.7, (0.62, 0.82))
    >>> round(value, 3), round(low, 3), round(high, 3)
    (0.1, -0.056, 0.2)
    """
    change = now - before
    down = float(np.hypot(now - now_ends[0], before_ends[1] - before))
    up = float(np.hypot(now_ends[1] - now, before - before_ends[0]))
    return change, (change - down, change + up)


# -- the same items ---------------------------------------------------------------------------------------------


def paired_changes(evaluation: Evaluation, votes: Votes, earlier: Earlier) -> dict[str, PairedChange]:
    """The change of every juror of both runs on the items of both; nothing where they share none."""
    if evaluation.calibrated is None or earlier.evaluation is None or earlier.evaluation.calibrated is None:
        return {}
    runs = _Run(evaluation, count_gradable(votes)), _Run(earlier.evaluation, count_gradable(earlier.votes or votes))
    rows = _same_items(*(run.counted.votes for run in runs))
    if rows is None:
        return {}
    jurors = [name for name in evaluation.jurors if name in set(earlier.evaluation.jurors)]
    labels = list(dict.fromkeys(label for run in runs for label in run.evaluation.labels))
    joined = _joined(runs, rows, jurors, labels)
    by = evaluation.calibration if isinstance(evaluation.calibration, Calibration) else Calibration()
    independent = by.errors == "independent"
    population = INDEPENDENT_POPULATION if independent else by.population_of(evaluation)
    rho = 0.0 if independent else None if isinstance(by.errors, str) else float(by.errors)
    spread = float(np.mean([answer_spread(run.jury) for run in runs]))
    drawn = scenarios_of(population, len(labels), rho=rho, spread=spread, known=_from_gold(evaluation.calibrated))
    changes = [paired_change(joined, k, drawn, population.deviation, evaluation.level) for k in range(len(jurors))]
    return {name: change for name, change in zip(jurors, changes, strict=True) if change is not None}


class _Run:
    """One run: its evaluation, its votes as they were counted, and the posterior of every tuple."""

    def __init__(self, evaluation: Evaluation, counted: CountedVotes) -> None:
        self.evaluation, self.counted = evaluation, counted
        _, posterior, noise_of = calibration_basis(evaluation, evaluation, counted.sketch)
        self.noise = noise_of()
        self.jury = jury_votes(counted.sketch, posterior, evaluation.voices)

    def score_noise(self, jurors: list[str]) -> Floats:
        """(jurors,) variance of their scores from the sampling of items."""
        every = np.broadcast_to(np.asarray(self.noise.score, dtype=np.float64), (len(self.evaluation.jurors),))
        return np.asarray(every[[self.evaluation.jurors.index(name) for name in jurors]])

    def odds(self, labels: list[Any]) -> Floats:
        """(T, labels) log-odds; of a label that this run does not know, as low as its voices can make it."""
        known = [labels.index(label) for label in self.evaluation.labels]
        posterior = np.zeros((len(self.jury.weights), len(labels)))
        posterior[:, known] = self.jury.posterior
        return log_odds(posterior, self.jury.distinct)

    def said(self, jurors: list[str], labels: list[Any]) -> Integers:
        """(T, jurors) what each said, by its place among `labels`; -1 is no vote."""
        known = np.array([labels.index(label) for label in self.evaluation.labels])
        table = np.full((len(self.jury.weights), len(self.evaluation.jurors)), -1)
        table[self.jury.row, self.jury.juror] = known[self.jury.label]
        return np.asarray(table[:, [self.evaluation.jurors.index(name) for name in jurors]])


def _same_items(now: Votes, before: Votes) -> tuple[Integers, Integers] | None:
    """The rows of the items that both have, by name; None where items have no names, or none is in both."""
    if any(votes.items is None or votes.counts is not None for votes in (now, before)):
        return None
    place = {str(name): k for k, name in enumerate(before.item_names().tolist())}
    pairs = [(k, place[str(name)]) for k, name in enumerate(now.item_names().tolist()) if str(name) in place]
    if not pairs:
        return None
    rows = np.array(pairs)
    return rows[:, 0], rows[:, 1]


def _joined(
    runs: tuple[_Run, _Run], rows: tuple[Integers, Integers], jurors: list[str], labels: list[Any]
) -> PairedRuns:
    tuples = np.stack([run.counted.tuple_of_row[row] for run, row in zip(runs, rows, strict=True)], axis=1)
    pairs, weights = np.unique(tuples, axis=0, return_counts=True)
    now, before = runs
    return PairedRuns(
        odds=(now.odds(labels)[pairs[:, 0]] + before.odds(labels)[pairs[:, 1]]) / 2.0,
        distinct=(now.jury.distinct[pairs[:, 0]] + before.jury.distinct[pairs[:, 1]]) / 2.0,
        weights=weights.astype(np.float64),
        now=now.said(jurors, labels)[pairs[:, 0]],
        before=before.said(jurors, labels)[pairs[:, 1]],
        noise=now.score_noise(jurors) + before.score_noise(jurors),
    )


def _from_gold(calibrated: Calibrated) -> tuple[float, float] | None:
    """Mean and standard deviation of log rho, where gold items told of it."""
    shared = calibrated.shared_error
    if not shared.gold_items:
        return None
    low, high = np.log(np.maximum(shared.interval, 1e-4))
    return float(np.log(max(shared.median, 1e-4))), float(high - low) / 4.0


# `gate`: limits of one's own, for CI, each tested against what is known: the calibrated interval.


def gate(evaluation: Evaluation | NumberGrades, **limits: Unpack[LimitOptions]) -> tuple[Alarm, ...]:
    """The alarms of every limit that is not kept, or not known to be.

    Parameters
    ----------
    evaluation
        The result of `grade`, or of `grade_numbers`, for which `min_reliability` and `allow_unknown` are.
    min_reliability
        The least reliability of numbers, as real juries go: `0.3` for every juror, `"ann:0.5"` for one.
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
        Whether a limit that may be kept or not is a note; else it is an alarm.
    max_correlation, min_effective
        The largest mean error correlation, and the smallest effective number of jurors (two labels, four jurors on).
    spec
        Floors for the jurors as in `bounds`: an alarm where no answer key lets all of them be kept.
    """
    asked = Limits.of(limits)
    return limit_alarms(evaluation, asked, evaluate_gates(evaluation, asked))


def limit_alarms(evaluation: Evaluation | NumberGrades, asked: Limits, gates: Iterable[Gate]) -> tuple[Alarm, ...]:
    """The alarms of gates that are not passed, and of the other limits that are not kept."""
    alarms = [one.alarm(allow_unknown=asked.allow_unknown) for one in gates]
    others = () if isinstance(evaluation, NumberGrades) else _dependence_and_logic(evaluation, asked)
    return (*(alarm for alarm in alarms if alarm is not None), *others)


def evaluate_gates(evaluation: Evaluation | NumberGrades, asked: Limits) -> tuple[Gate, ...]:
    """Every limit on a calibrated share, in an order that does not depend on the order of jurors or on any number."""
    if isinstance(evaluation, NumberGrades):
        return number_gates(evaluation, asked)
    if asked.min_reliability not in (None, ()):
        message = "--min-reliability is for numbers, and these are labels: say --min-score X"
        raise OptionError(message, code="does_not_apply", name="min_reliability")
    gates: list[Gate] = []
    for name, (read, at_least) in _LIMITS.items():
        option = name.replace("_", "-")
        limits = read(f"--{option}", getattr(asked, name), evaluation)
        gates += [
            _tested(evaluation, option, target, limits[target], at_least=at_least)
            for target in sorted(limits, key=lambda target: (str(target.juror), str(target.label)))
        ]
    if asked.baseline is not None:
        gates += regressions(evaluation, asked.votes, asked.baseline, asked.max_drop)
    return tuple(gates)


_LIMITS: dict[str, tuple[Callable[[str, Any, Evaluation], dict[LimitTarget, float]], bool]] = {
    "min_score": (score_limits, True),
    "min_accuracy": (accuracy_limits, True),
    "min_prevalence": (prevalence_limits, True),
    "max_prevalence": (prevalence_limits, False),
    "max_wrong": (wrong_limits, False),
}


def _tested(evaluation: Evaluation, option: str, target: LimitTarget, limit: float, *, at_least: bool) -> Gate:
    value, ends = _known(evaluation.calibrated, target)
    outcome = judge(ends, limit, at_least=at_least)
    return Gate(
        name=f"{option} {target}".rstrip(), outcome=outcome, limit=limit, at_least=at_least, value=value,
        interval=ends, level=evaluation.level, juror=target.juror, label=target.label,
        reason=_reason(evaluation, target) if ends is None else "",
        advice=_deciding_gold(evaluation, target, value, limit) if outcome == "not known" else "",
    )  # fmt: skip


_GOLD = (10, 20, 30, 50, 100, 200, 500)  # numbers of gold items that are tried


def _deciding_gold(evaluation: Evaluation, target: LimitTarget, value: float | None, limit: float) -> str:
    """How many gold labels would narrow a score enough to decide, were they as is to be expected."""
    calibrated, juror, tried = evaluation.calibrated, target.juror, 0
    if target.statistic != "score" or value is None:
        return ""
    for size in (size for size in _GOLD if 2 * size <= evaluation.items):
        widths = None if calibrated is None else calibrated.with_gold(size)
        if widths is None or widths[juror] != widths[juror]:
            return ""
        if widths[juror] < abs(value - limit):
            return f"about {size} gold labels would decide it"
        tried = size
    return f"not even {tried} gold labels would decide it" if tried else ""


def _known(calibrated: Calibrated | None, target: LimitTarget) -> tuple[float | None, Ends | None]:
    """A calibrated share and its interval; None where there is none."""
    if calibrated is None:
        return None, None
    value: Any = getattr(calibrated, target.statistic)
    ends: Any = calibrated.interval[target.statistic]
    for name in (target.juror, target.label):
        if name is not None:
            value, ends = value[name], ends[name]
    is_known = value is not None and ends is not None and None not in ends and ends[0] == ends[0]
    return (float(value), (float(ends[0]), float(ends[1]))) if is_known else (None, None)


def _reason(evaluation: Evaluation, target: LimitTarget) -> str:
    """Why nothing is known of a share."""
    kinds = {alarm.kind for alarm in evaluation.alarms}
    if "single_label" in kinds:
        return f"only {evaluation.labels[0]!r} was ever said"
    if "too_few_voices" in kinds:
        return "fewer than three voices are left"
    if evaluation.calibrated is None:
        return "no real evaluation explains the counts"
    return f"{target.juror} met no item of this label" if target.juror else "these votes do not tell"


def _dependence_and_logic(evaluation: Evaluation, asked: Limits) -> tuple[Alarm, ...]:
    """What rings of correlation, effective jurors and the specification."""
    max_correlation, min_effective = asked.max_correlation, asked.min_effective
    rung: list[Alarm] = []
    if max_correlation is not None or min_effective is not None:
        dependence = evaluation.dependence
        if dependence is None and (unknown := _unknown(evaluation)):
            if max_correlation is not None:
                rung.append(Alarm("correlation_limit", "alarm", f"the mean error correlation is unknown: {unknown}"))
            if min_effective is not None:
                message = f"how many independent jurors these are worth is unknown: {unknown}"
                rung.append(Alarm("effective_limit", "alarm", message))
        elif dependence is None:
            raise SketchError(
                "error correlations without a key need four jurors or more, two labels and the default method; "
                f"here are {len(evaluation.jurors)} jurors, {len(evaluation.labels)} labels, method {evaluation.method}"
            )
        else:
            rung += _limits(evaluation, dependence, max_correlation, min_effective)
    if asked.spec is not None and evaluation.sketch is not None:
        rung += logical_bounds(evaluation.sketch, asked.spec).alarms
    return tuple(rung)


def _unknown(evaluation: Evaluation) -> str:
    """Why an alarm leaves error correlations open; empty where none does."""
    kinds = {alarm.kind for alarm in evaluation.alarms}
    if "single_label" in kinds:
        return "only one label was ever said"
    if "too_few_voices" in kinds:
        return "fewer than three voices are left"
    four = len(evaluation.jurors) == FEWEST_JURORS
    together = "correlated_errors" in kinds
    return "the errors of four jurors go together, and nobody can tell whose" if four and together else ""


def _limits(
    evaluation: Evaluation, dependence: Dependence, max_correlation: float | None, min_effective: float | None
) -> list[Alarm]:
    rung: list[Alarm] = []
    # Chance can make errors avoid each other a little; nobody is worth more jurors than there are.
    mean, worth = dependence.mean_correlation, dependence.effective_jurors
    if max_correlation is not None and mean > max_correlation:
        message = f"the mean error correlation is {mean:.3f}, more than the {max_correlation:g} allowed"
        rung.append(Alarm("correlation_limit", "alarm", message, mean))
    if min_effective is not None and worth < min_effective:
        message = f"the jurors are worth {worth:.1f} independent ones, fewer than the {min_effective:g} asked for"
        rung.append(Alarm("effective_limit", "alarm", message, worth))
    return rung
