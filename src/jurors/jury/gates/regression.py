"""Whether a juror became worse than in an earlier run: paired on the same items where both runs' votes are at hand.

Of a JSON document only the scores are known. There the interval of the difference joins those of both scores by their
squares (Newcombe's), as if what is unknown of one run had nothing to do with what is unknown of the other. The same
judges err alike in both, so that the true difference is known better than that: it is rather too wide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jurors.doubt.shared.jury_votes import answer_spread, log_odds
from jurors.doubt.shared.paired import Change, TwoRuns, paired_change, scenarios_of
from jurors.errors import OptionError
from jurors.evaluate import Calibrated, Evaluation
from jurors.jury.accept import accept
from jurors.jury.calibration import NO_SLANT, Calibration, basis_of, jury_of
from jurors.jury.counted import Counted, count_gradable
from jurors.jury.gates.outcome import Ends, Gate, judge
from jurors.jury.grade import grade
from jurors.jury.methods.methods import default_method
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch
from jurors.versions import DOCUMENT
from jurors.votes import Votes

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
        votes = accept(baseline)
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
    ends = {name: _ends(pair) for name, pair in known["interval"]["score"].items()}
    return score, ends, _share(document.get("level", 0.95))


def _ends(pair: Any) -> tuple[float, float] | None:
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


def paired_changes(evaluation: Evaluation, votes: Votes, earlier: Earlier) -> dict[str, Change]:
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
    population = NO_SLANT if independent else by.population_of(evaluation)
    rho = 0.0 if independent else None if isinstance(by.errors, str) else float(by.errors)
    spread = float(np.mean([answer_spread(run.jury) for run in runs]))
    drawn = scenarios_of(population, len(labels), rho=rho, spread=spread, known=_from_gold(evaluation.calibrated))
    changes = [paired_change(joined, k, drawn, population.deviation, evaluation.level) for k in range(len(jurors))]
    return {name: change for name, change in zip(jurors, changes, strict=True) if change is not None}


class _Run:
    """One run: its evaluation, its votes as they were counted, and the posterior of every tuple."""

    def __init__(self, evaluation: Evaluation, counted: Counted) -> None:
        self.evaluation, self.counted = evaluation, counted
        _, posterior, noise_of = basis_of(evaluation, evaluation, counted.sketch)
        self.noise = noise_of()
        self.jury = jury_of(counted.sketch, posterior, evaluation.voices)

    def score_noise(self, jurors: list[str]) -> Floats:
        """(jurors,) variance of their scores from the sampling of items."""
        every = np.broadcast_to(np.asarray(self.noise.score, dtype=np.float64), (len(self.evaluation.jurors),))
        return np.asarray(every[[self.evaluation.jurors.index(name) for name in jurors]])

    def odds(self, labels: list[Any]) -> Floats:
        """(T, labels) log-odds; of a label that this run does not know, as low as its voices can make it."""
        known = [labels.index(label) for label in self.evaluation.labels]
        posterior = np.zeros((len(self.jury.weights), len(labels)))
        posterior[:, known] = self.jury.posterior
        return log_odds(posterior, self.jury.voices)

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


def _joined(runs: tuple[_Run, _Run], rows: tuple[Integers, Integers], jurors: list[str], labels: list[Any]) -> TwoRuns:
    tuples = np.stack([run.counted.tuple_of_row[row] for run, row in zip(runs, rows, strict=True)], axis=1)
    pairs, weights = np.unique(tuples, axis=0, return_counts=True)
    now, before = runs
    return TwoRuns(
        odds=(now.odds(labels)[pairs[:, 0]] + before.odds(labels)[pairs[:, 1]]) / 2.0,
        voices=(now.jury.voices[pairs[:, 0]] + before.jury.voices[pairs[:, 1]]) / 2.0,
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
