"""Changes since a baseline, which is an earlier run: of jurors' scores, and of systems' rates.

Where both runs' votes are available, changes of jurors are paired on the same items
(`calibrate.paired_change`), and systems of both runs are compared together, so that the bias that the
judges share in both cancels. Of a JSON document only scores and rates are known. There the interval of the difference
combines those of both by their squares (Newcombe's), as if the uncertainties of the two runs were independent. The same
judges err alike in both, so that the true difference is known better than that: it is rather too wide.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers
from jurors.errors import OptionError, format_names
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.calibration import INDEPENDENT_POPULATION, Calibration, calibration_basis, jury_votes
from jurors.jury.grade import grade
from jurors.jury.groups import votes_and_groups
from jurors.jury.inputs import count_gradable, read_input
from jurors.jury.kinds import LABELS, kind_of
from jurors.jury.methods import default_method
from jurors.jury.systems import SystemComparison, compare_systems, questions_of
from jurors.options import GradingOptions, Label, SourceOptions
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.calibrate import PairedChange, PairedRuns, paired_change, scenarios_of
from jurors.uncertainty.reference import PanelTraits
from jurors.uncertainty.scenarios import log_odds, panel_traits
from jurors.versions import DOCUMENT
from jurors.votes.codes import NO_VOTE
from jurors.votes.key import Key, as_key
from jurors.votes.table import Votes

Ends: TypeAlias = tuple[float, float]


class Change(NamedTuple):
    """A difference with its interval, and what it rests on or why it is not known."""

    value: float | None
    ends: Ends | None
    reason: str = ""


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


def read_document(baseline: Any) -> Mapping[str, Any] | None:
    """Read the JSON document of an earlier `grade`, `systems` or `check`.

    Returns
    -------
    dict or None
        None where it is something else.
    """
    if isinstance(baseline, SystemComparison):
        baseline = baseline.to_dict()
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


# -- jurors ------------------------------------------------------------------------------------------------------------

_NEW_GRADES = "write one with `jurors grade FILE -o baseline.json`"


def juror_changes(evaluation: Evaluation, votes: Votes | None, baseline: Any) -> dict[str, Change]:
    """How far the score of each juror of both runs has changed, by name.

    Parameters
    ----------
    votes
        What was graded here: where the baseline is votes on the same items, changes are paired.
    baseline
        The JSON document of `grade` or `check` (a mapping, or the path of a file), an evaluation, or votes.

    Returns
    -------
    dict
        Juror -> change.
    """
    document = read_document(baseline)
    earlier = _earlier_run(baseline, evaluation) if document is None else _run_of_document(document)
    both = sorted(set(evaluation.jurors) & set(earlier.score))
    if not both:
        known = ", ".join(list(earlier.score)[:12])
        raise OptionError(f"baseline= has none of these jurors; it has {known}", name="baseline")
    if not evaluation.exam:  # labels mean nothing across items
        _check_labels(evaluation.labels, earlier.labels)
    if earlier.level != evaluation.level:
        message = f"baseline= was graded at level {earlier.level:g}, these votes at {evaluation.level:g}"
        raise OptionError(message, name="baseline")
    paired = {} if votes is None or earlier.votes is None else _paired_changes(evaluation, votes, earlier)
    now, changes, reason = evaluation.calibrated, {}, "not paired: the scores of both runs are compared"
    reason += "; to pair them, give the earlier votes as baseline=" if earlier.votes is None else ""
    for juror in both:
        score, ends = earlier.score[juror], earlier.interval.get(juror)
        changes[juror] = Change(None, None, "one of the runs has no score")
        if now is not None and now.score[juror] is not None and score is not None and ends is not None:
            change = difference(now.score[juror], now.interval["score"][juror], score, ends)
            changes[juror] = Change(*change, reason)
        if pair := paired.get(juror):
            changes[juror] = Change(pair.value, pair.interval, f"{pair.changed:,} of {pair.items:,} votes changed")
    return changes


@dataclass(frozen=True)
class EarlierRun:
    """What is known of the jurors of an earlier run."""

    score: Mapping[str, float | None]
    interval: Mapping[str, Any]
    level: float
    labels: Sequence[Label] = ()
    evaluation: Evaluation | None = None
    votes: Votes | None = None  #: where its items can be paired


def _earlier_run(baseline: Any, evaluation: Evaluation) -> EarlierRun:
    """From an evaluation, or from votes, which are graded by the options of this run."""
    graded, votes = baseline, None
    if not isinstance(baseline, Evaluation):
        source = read_input(baseline)
        if (kind := kind_of(source)) is not LABELS:
            raise OptionError(f"baseline= has another kind of votes: it holds {kind.name}", name="baseline")
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
    return EarlierRun(score or dict.fromkeys(graded.jurors), ends, graded.level, graded.labels, graded, votes)


def _run_of_document(document: Mapping[str, Any]) -> EarlierRun:
    schema = str(document.get("schema", DOCUMENT)).rpartition("/")[2]
    if schema.isdecimal() and int(schema) != DOCUMENT:
        age = "newer" if int(schema) > DOCUMENT else "older"
        message = f"baseline= has schema {schema}, {age} than the {DOCUMENT} that this version reads; {_NEW_GRADES}"
        raise OptionError(message, name="baseline")
    if "score" not in document or "jurors" not in document:
        raise OptionError(f"baseline= holds no grades; {_NEW_GRADES}", name="baseline")
    try:
        known: Any = document["score"] or {str(name): None for name in document["jurors"]}
        interval: Any = document["interval"] or {"score": {}}
        score = {name: None if value is None else _share(value) for name, value in known.items()}
        ends = {}
        for name, pair in interval["score"].items():
            if pair is not None:
                low, high = map(_share, pair)
                ends[name] = low, high
        return EarlierRun(score, ends, _share(interval.get("level", 0.95)), tuple(document.get("labels", ())))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise OptionError(f"baseline= is not a document of grades; {_NEW_GRADES}", name="baseline") from None


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is not a share")
    return float(value)


def _check_labels(now: Sequence[Label], before: Sequence[Label]) -> None:
    """Refuse a baseline that shares no label with these votes: it is of something else."""
    texts, earlier = list(map(str, now)), list(map(str, before))
    if len(earlier) > 1 and texts and not {*texts} & {*earlier}:
        message = f"the votes of baseline= are {format_names(earlier, 6)}, these votes {format_names(texts, 6)}"
        raise OptionError(f"{message}: they share none, so they are of something else", name="baseline")


def _paired_changes(evaluation: Evaluation, votes: Votes, earlier: EarlierRun) -> dict[str, PairedChange]:
    """The change of every juror of both runs on the items of both; empty where they share no item that has a name."""
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
    in_both = set(earlier.evaluation.jurors)
    jurors = [name for name in evaluation.jurors if name in in_both]
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
        cast = np.array([*label_of, NO_VOTE])[run.sketch.tuples.codes]
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


# -- systems -----------------------------------------------------------------------------------------------------------

_NEW_SYSTEMS = "write one with `jurors systems FILE --system COLUMN -o baseline.json`"
_BEFORE = " in the baseline"  # after the name of a system of the earlier run


@dataclass(frozen=True)
class SystemVotes:
    """What a comparison was made from: to compare it with an earlier run."""

    votes: Votes
    groups: NDArray[Any]
    by: Any  #: as the caller named the systems
    good: Label | None
    grading: GradingOptions
    reading: SourceOptions


def both_ways(compared: SystemComparison) -> dict[tuple[str, str], Change]:
    """The difference of each two systems, in both orders.

    Returns
    -------
    dict
        (system, other system) -> difference.
    """
    changes = {(d.a, d.b): Change(d.difference, (d.low, d.high)) for d in compared.differences}
    return changes | {(d.b, d.a): Change(-d.difference, (-d.high, -d.low)) for d in compared.differences}


def system_changes(
    compared: SystemComparison, baseline: Any, source: SystemVotes | None
) -> tuple[SystemComparison, dict[str, Change]]:
    """How far the rate of each system of both runs has changed.

    Parameters
    ----------
    compared
        The comparison of this run.
    baseline
        A comparison of systems, its JSON document, or votes.
    source
        What this run's comparison was made from, which votes need.

    Returns
    -------
    compared : SystemComparison
        What the changes rest on: this run, or both runs compared together.
    changes : dict
        System -> change.
    """
    document = read_document(baseline)
    if document is not None:
        before = _rates_of_document(document, compared)
        reason = "the rates of both runs are compared; the votes of the earlier run would be more precise"
        changes = {}
        for now, then in _same_systems(tuple(compared.systems), tuple(before)):
            rate, (rate_before, low, high) = compared.systems[now], before[then]
            change = difference(rate.rate, (rate.low, rate.high), rate_before, (low, high))
            changes[now] = Change(*change, reason)
        return compared, changes
    if source is None:
        message = "baseline= is votes, so give the votes of this run and system=, not the comparison of systems"
        raise OptionError(message, name="baseline")
    votes, by, reading = baseline, source.by, source.reading
    if isinstance(baseline, tuple) and len(baseline) == 2 and isinstance(baseline[0], Votes):
        votes, by, reading = *baseline, SourceOptions()
    elif not isinstance(by, str):
        message = "baseline= is votes, so name the column of systems in both runs (system='model')"
        raise OptionError(message, name="baseline")
    earlier, groups, _ = votes_and_groups(votes, by, "system", reading)
    both, same_items = _compare_runs(source, earlier, groups)
    differences = both_ways(both)
    then_names = tuple(name.removesuffix(_BEFORE) for name in both.systems if name.endswith(_BEFORE))
    same = _same_systems(tuple(compared.systems), then_names)
    changes = {}
    for now, then in same:
        items = both.systems[now].items
        reason = f"votes changed on {items - same_items[now]:,} of {items:,} items"
        changes[now] = differences[now, then + _BEFORE]._replace(reason=reason)
    return both, changes


def _same_systems(now: tuple[str, ...], before: tuple[str, ...]) -> list[tuple[str, str]]:
    """The systems of both runs; where each run has one system, these two."""
    both = [(name, name) for name in now if name in before]
    if not both and len(now) == len(before) == 1:
        return [(now[0], before[0])]
    if not both:
        raise OptionError(f"baseline= has none of these systems; it has {format_names(before, 8)}", name="baseline")
    return both


def _rates_of_document(document: Mapping[str, Any], compared: SystemComparison) -> dict[str, list[float]]:
    """Rate, low and high of each system of an earlier run."""
    schema, _, version = str(document.get("schema", "")).rpartition("/")
    if schema == "jurors.systems" and version.isdecimal() and int(version) != SystemComparison._version:
        message = f"baseline= has schema {version}, and this version reads {SystemComparison._version}; {_NEW_SYSTEMS}"
        raise OptionError(message, name="baseline")
    if not isinstance(document.get("systems"), Mapping):
        raise OptionError(f"baseline= holds no systems; {_NEW_SYSTEMS}", name="baseline")
    try:
        found = document["systems"].items()
        rates = {str(name): [float(rate[part]) for part in ("rate", "low", "high")] for name, rate in found}
    except (TypeError, ValueError, KeyError):
        raise OptionError(f"baseline= is not a document of systems; {_NEW_SYSTEMS}", name="baseline") from None
    for name, now in (("good", compared.good), ("level", compared.level)):
        if document.get(name) != now:
            message = f"baseline= has {name} {document.get(name)!r}, and this comparison {now!r}"
            raise OptionError(f"{message}; make them the same", name="baseline")
    return rates


def _compare_runs(source: SystemVotes, earlier: Votes, groups: NDArray[Any]) -> tuple[SystemComparison, Counter[str]]:
    """Compare the systems of two runs at once; those of the earlier run have `_BEFORE` after their names.

    Also returned: how many items of each system of this run have the same votes in both.
    """
    now = source.votes
    if (now.scale == "ordinal") != (earlier.scale == "ordinal"):
        raise OptionError("baseline= has another kind of votes: one run has ordered levels", name="baseline")
    _check_labels(now.labels, earlier.labels)
    jurors = tuple(dict.fromkeys((*now.jurors, *earlier.jurors)))
    labels = tuple(dict.fromkeys((*now.labels, *earlier.labels)))
    if now.scale == "ordinal" and labels != now.labels:
        labels = tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))
    parts, place = [], {name: k for k, name in enumerate(jurors)}
    for votes, first_row in ((now, 0), (earlier, now.rows)):
        row, juror, code = votes.triples()
        juror_of = np.array([place[name] for name in votes.jurors])
        label_of = np.array([labels.index(name) for name in votes.labels])
        parts.append((row + first_row, juror_of[juror], label_of[code]))
    row, juror, code = (np.concatenate(part) for part in zip(*parts, strict=True))
    rows = now.rows + earlier.rows
    both = Votes.from_codes(
        items=np.arange(rows), jurors=jurors, values=labels, item=row, juror=juror, value=code, labels=labels
    )
    both = replace(both, scale=now.scale, scale_why=now.scale_why, labels_told=True)
    if now.counts is not None or earlier.counts is not None:
        both = replace(both, counts=np.concatenate([now.weights, earlier.weights]))
    names = np.empty(rows, dtype=object)
    names[: now.rows] = [None if group is None else str(group) for group in source.groups.tolist()]
    names[now.rows :] = [None if group is None else f"{group}{_BEFORE}" for group in groups.tolist()]
    twins = _unchanged_items(both, source, earlier, groups)
    grading = source.grading.copy()
    if grading.get("gold") is not None:
        aligned, known = as_key(grading["gold"], now).align(now)
        truths = [None if code == NO_VOTE else aligned.labels[code] for code in known.tolist()]
        grading["gold"] = Key.from_array([*truths, *[None] * earlier.rows])
    return compare_systems(both, names, good=source.good, twins=twins, **grading), Counter(names[twins >= 0].tolist())


def _unchanged_items(both: Votes, source: SystemVotes, earlier: Votes, groups: NDArray[Any]) -> Integers:
    """The row in the earlier run of each item whose votes are the same there; -1 for all others.

    An item is found by its system and question; where each run has one system, by its question.
    """
    runs = [list(questions_of(votes, of)) for votes, of in ((source.votes, source.groups), (earlier, groups))]
    is_one = all(len({system for _, system, _ in run}) == 1 for run in runs)
    now, then = ({(is_one or system, question): row for row, system, question in run} for run in runs)
    twins, first = np.full(both.rows, -1), source.votes.rows
    for name in now.keys() & then.keys():
        twins[now[name]] = first + then[name]
    row, juror, code = both.triples()
    votes, found, back = np.bincount(row, minlength=both.rows), np.flatnonzero(twins >= 0), np.arange(both.rows)
    back[twins[found]] = found
    vote = (back[row] * len(both.jurors) + juror) * len(both.labels) + code
    same = np.bincount(row[row < first][np.isin(vote[row < first], vote[row >= first])], minlength=both.rows)
    is_same = (same > 0) & (same == votes) & (votes[twins] == votes)
    return np.where(is_same, twins, -1)
