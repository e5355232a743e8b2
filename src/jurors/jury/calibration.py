"""From an evaluation as if errors were independent to one as real juries go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers, single_threaded
from jurors.errors import OptionError
from jurors.evaluate import Evaluation, NamedMapping, Partition
from jurors.evaluate.baselines.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.evaluation import Calibrated, SharedError
from jurors.evaluate.latent.panel import PanelFit, fit_trio
from jurors.evaluate.partition import DEFAULT_RULE, majority_partition
from jurors.jury.methods import STATISTICS, named_statistic, named_statistics
from jurors.progress import report_progress
from jurors.sketch import Sketch
from jurors.uncertainty import panel_intervals
from jurors.uncertainty.calibrate import CalibratedShares, FitNoise, calibrate, expected_labels
from jurors.uncertainty.gold import GoldForecast, LabelInformation, Labellings, label_information
from jurors.uncertainty.reference import Population, own_population, read_reference, shipped_population
from jurors.uncertainty.scenarios import JuryVotes, count_independent_jurors, majority_posterior

INDEPENDENT_POPULATION = Population(  #: nothing shared, nobody deviates: the counts as if errors were independent
    center=0.0, slope=0.0, log_spread=0.0, sd=0.0, independent=0.0, slant=0.0, deviation=0.0, label_deviation=0.0,
    unevenness=1.0, juries=0,
)  # fmt: skip
_ROUNDING = 1e-5  # by which a posterior in single precision may exceed 1


@dataclass(frozen=True)
class Calibration:
    """How to calibrate an evaluation: what is believed of shared error, and what gold says of it.

    `blind` is the same jury graded without its gold items: what they test must not have been made from them.
    """

    errors: float | str = "real"  #: "real", "independent", or the shared error itself
    reference: Any = None  #: the user's own reference juries; None: those that come with the package
    gold: Integers | None = None  #: tuples x labels, how many gold items
    blind: Evaluation | None = None

    def __post_init__(self) -> None:
        if self.reference is not None:
            _ = self._population  # a file that cannot be read is told at once, not when the first grade is looked at

    def __call__(self, evaluation: Evaluation) -> Calibrated | None:
        """The calibrated grades; None where there is nothing to calibrate."""
        if evaluation.sketch is None or has_too_few_jurors(evaluation):
            return None
        with single_threaded():
            if self.errors == "independent":
                return _as_if_independent(evaluation)
            return self._as_real(evaluation, evaluation.sketch)

    def partition(self, evaluation: Evaluation) -> Partition | None:
        """What items are labelled by, without grading anybody; the evaluation's own where nothing is calibrated."""
        sketch = evaluation.sketch
        if sketch is None or has_too_few_jurors(evaluation) or self.errors == "independent":
            return evaluation.partition
        if self.gold is not None:
            return evaluation.partition if evaluation.calibrated is None else evaluation.calibrated.partition
        with single_threaded():
            posterior = calibration_basis(evaluation, self.blind or evaluation, sketch)[1]
            jury = drop_unanswered(evaluation, jury_votes(sketch, posterior, evaluation.voices))
            shares = expected_labels(jury, self.population_of(evaluation), rho=self._rho)
        return _partition(sketch, *shares, (jury.weights == 0) & (sketch.counts > 0))

    def lessons(self, evaluation: Evaluation) -> LabelInformation | None:
        """What a person's label of one more item would teach; None where nothing is known of shared error."""
        sketch = evaluation.sketch
        if sketch is None or has_too_few_jurors(evaluation) or self.errors == "independent":
            return None
        with single_threaded():
            _, posterior, _ = calibration_basis(evaluation, self.blind or evaluation, sketch)
            jury = jury_votes(sketch, posterior, evaluation.voices)
            gold = None if self.gold is None else self.gold.astype(np.float64)
            rivals = [] if gold is None else rivals_of(jury, sketch, evaluation.voices)
            jury = drop_unanswered(evaluation, jury)
            return label_information(jury, self.population_of(evaluation), rho=self._rho, gold=gold, rivals=rivals)

    @property
    def _rho(self) -> float | None:
        return None if isinstance(self.errors, str) else float(self.errors)

    def _as_real(self, evaluation: Evaluation, sketch: Sketch) -> Calibrated:
        report_progress("what real juries share")
        basis, posterior, noise_of = calibration_basis(evaluation, self.blind or evaluation, sketch)
        jury, noise = jury_votes(sketch, posterior, evaluation.voices), noise_of()
        gold = None if self.gold is None else self.gold.astype(np.float64)
        rivals = [] if gold is None else rivals_of(jury, sketch, evaluation.voices)
        rho, jury = self._rho, drop_unanswered(evaluation, jury)
        population = self.population_of(evaluation)
        shares = calibrate(jury, population, rho=rho, gold=gold, rivals=rivals, noise=noise)
        silent = (jury.weights == 0) & (sketch.counts > 0)
        foretold = GoldForecast(jury, population, rho, gold, shares.posterior, noise, evaluation.level)
        named: dict[str, Any] = {name: partial(_named_share, sketch, shares, name) for name in STATISTICS}
        ends: Any = partial(_named_ends, sketch, shares, evaluation.level)
        return Calibrated(
            **named, interval=ends, wrong_labels=shares.wrong_labels,
            shared_error=self._shared_error(shares, evaluation.level), basis=basis, level=evaluation.level,
            score_draws=shares.score_draws, score_doubt=shares.score_doubt,
            partition=_partition(sketch, shares.posterior, shares.labels, silent),
            foretold=partial(_half_widths, sketch.jurors, foretold),
            wrong_labels_of=Labellings(jury, population, rho, gold, rivals, noise, evaluation.level).wrong,
        )  # fmt: skip

    @cached_property
    def _population(self) -> Population:
        return reference_population(self.reference)

    def population_of(self, evaluation: Evaluation) -> Population:
        """What is believed of shared error: your own juries as they are, the shipped ones by the kind of fit."""
        by_line = self.reference is None and evaluation.is_on_a_line
        return self._population.on_a_line() if by_line else self._population

    def _shared_error(self, shares: CalibratedShares, level: float) -> SharedError:
        low, high = shares.shared_error_interval(level).tolist()
        given = not isinstance(self.errors, str)
        return SharedError(
            median=shares.shared_error,
            interval=(low, high),
            juries=0 if given else self._population.juries,
            gold_items=0 if self.gold is None else int(self.gold.sum()),
            source="given" if given else "reference juries" if self.reference is None else "own reference juries",
        )


def has_too_few_jurors(evaluation: Evaluation) -> bool:
    """Whether there is nothing to calibrate: fewer than three voices in all, or on every island."""
    if _are_all_heard(evaluation) or not any(alarm.kind == "too_few_voices" for alarm in evaluation.alarms):
        return False
    if not evaluation.islands or evaluation.partition is None or evaluation.partition.is_sure_of_itself:
        return True
    return not frozenset(evaluation.jurors) - _unheard(evaluation)


def _are_all_heard(evaluation: Evaluation) -> bool:
    """Whether the labels show that no voices are too few, without a look at the alarms: majority vote labels those."""
    return evaluation.partition is not None and evaluation.partition.by_majority is None


def _unheard(evaluation: Evaluation) -> frozenset[str]:
    """Jurors of islands with too few voices: whether two of them are right or wrong, nothing tells."""
    if _are_all_heard(evaluation):
        return frozenset()
    alarms = [alarm for alarm in evaluation.alarms if alarm.kind == "too_few_voices"]
    return frozenset(name for alarm in alarms for name in alarm.jurors)


def drop_unanswered(evaluation: Evaluation, jury: JuryVotes) -> JuryVotes:
    """The jury without the items on which nobody voted who can be graded: they weigh nothing."""
    names = _unheard(evaluation)
    if not names:
        return jury
    unheard = np.array([name in names for name in evaluation.jurors])
    heard = np.bincount(jury.row, weights=~unheard[jury.juror], minlength=len(jury.weights))
    return replace(jury, weights=np.where(heard == 0, 0.0, jury.weights))


def reference_population(reference: Any) -> Population:
    """The population of some reference juries: rows, a file of them, or None for those that come with the package."""
    if reference is None:
        return shipped_population()
    juries = read_reference(reference) if isinstance(reference, (str, PathLike)) else tuple(reference)
    if not juries:
        raise OptionError("reference holds no jury", code="out_of_range", name="reference")
    return own_population(juries)


def jury_votes(sketch: Sketch, posterior: Floats, voices: tuple[int, ...]) -> JuryVotes:
    """The votes of a sketch with a posterior of its tuples; `voices` says who speaks with whose voice."""
    row, juror, label = sketch.tuples.triples()
    voice = np.array(voices, dtype=np.int64) if voices else np.arange(len(sketch.jurors))
    return JuryVotes(
        posterior=posterior,
        weights=sketch.counts.astype(np.float64),
        row=row,
        juror=juror,
        label=label,
        jurors=len(sketch.jurors),
        voices=count_independent_jurors(row, juror, sketch.tuples.rows, voice),
    )


def calibration_basis(
    evaluation: Evaluation, blind: Evaluation, sketch: Sketch
) -> tuple[str, Floats, Callable[[], FitNoise]]:
    """Whose posteriors are calibrated, the posteriors, and when asked how far they move with the items drawn."""
    partition = blind.partition
    if evaluation.method == "algebraic" and (len(sketch.jurors), len(sketch.labels)) == (3, 2):
        # the panel model, which stays in range and is steady where items are few
        panel = fit_trio(sketch, evaluation.solution, from_votes=evaluation.rule == DEFAULT_RULE)
        return "latent", panel.choice.fit.posterior, partial(_trio_noise, panel)
    if evaluation.method == "majority" or partition is None or partition.is_sure_of_itself:
        return "majority", _majority(sketch, evaluation.voices), FitNoise
    return evaluation.method, _posterior(partition, sketch, evaluation.voices), partial(_noise, evaluation)


def _half_widths(jurors: tuple[str, ...], foretold: GoldForecast, gold_items: int) -> NamedMapping:
    return NamedMapping(zip(jurors, foretold.half_widths(gold_items).tolist(), strict=True))


def rivals_of(jury: JuryVotes, sketch: Sketch, voices: tuple[int, ...]) -> list[Floats]:
    """Other posteriors of the same tuples, for gold to choose from: by majority, and Dawid and Skene's."""
    posterior = evaluate_dawid_skene(sketch).posterior
    return [majority_posterior(jury), *([] if posterior is None else [_filled(posterior, sketch, voices)])]


def _trio_noise(panel: PanelFit) -> FitNoise:
    ends = panel_intervals(panel)
    errors = None if ends is None else ends["errors"]
    return FitNoise() if errors is None else FitNoise(*(_variances(errors[name]) for name in STATISTICS))


def _noise(evaluation: Evaluation) -> FitNoise:
    errors = evaluation.standard_error
    if errors is None:
        return FitNoise()
    accuracy = [list(row.values()) for row in errors["accuracy"].values()]
    prevalence, score = (list(errors[name].values()) for name in ("prevalence", "score"))
    return FitNoise(*map(_variances, (prevalence, accuracy, score)))


def _variances(errors: Any) -> Floats:
    """Squared standard errors; one that does not exist adds nothing, an infinite one makes the widest interval."""
    known = np.array(errors, dtype=np.float64)
    return np.where(np.isnan(known), 0.0, known) ** 2


def _filled(posterior: Floats, sketch: Sketch, voices: tuple[int, ...]) -> Floats:
    """A posterior for every tuple: by majority where the method rules a tuple out, or leaves [0, 1]."""
    known = ((posterior >= 0.0) & (posterior <= 1.0 + _ROUNDING)).all(axis=1, keepdims=True)
    return posterior if known.all() else np.where(known, posterior, _majority(sketch, voices))


def _majority(sketch: Sketch, voices: tuple[int, ...]) -> Floats:
    shape = (sketch.tuples.rows, len(sketch.labels))
    return majority_posterior(jury_votes(sketch, np.full(shape, 1.0 / shape[1]), voices))


def _posterior(partition: Partition, sketch: Sketch, voices: tuple[int, ...]) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _filled(partition.by_true_label / sketch.counts[:, None], sketch, voices)


def _named_share(sketch: Sketch, shares: CalibratedShares, name: str) -> NamedMapping:
    return named_statistic(sketch, name, _with_none(getattr(shares, name)))


def _named_ends(sketch: Sketch, shares: CalibratedShares, level: float) -> NamedMapping:
    ends = shares.interval(level)
    low, high = ends["wrong_labels"].tolist()
    by_name = named_statistics(sketch, {name: _with_none(ends[name]) for name in STATISTICS})
    return NamedMapping(**by_name, wrong_labels=(low, high))


def _partition(sketch: Sketch, posterior: Floats, labels: Integers, silent: Flags) -> Partition:
    by_true_label = np.where(silent[:, None], np.nan, posterior * sketch.counts[:, None])
    chosen = labels if not silent.any() else np.where(silent, majority_partition(sketch).chosen, labels)
    return Partition(sketch, by_true_label, chosen)


def _with_none(values: Floats) -> Any:
    """NaN as None: the statistic does not exist."""
    return np.where(np.isnan(values), None, values)  # type: ignore[call-overload]


def _as_if_independent(evaluation: Evaluation) -> Calibrated | None:
    """The evaluation's own numbers, in the shape of calibrated ones: for juries made to err independently."""
    partition, sketch = evaluation.partition, evaluation.sketch
    if partition is None or evaluation.interval is None or sketch is None or partition.is_sure_of_itself:
        return None
    posterior = _posterior(partition, sketch, evaluation.voices)
    jury = jury_votes(sketch, posterior, evaluation.voices)
    shares = calibrate(jury, INDEPENDENT_POPULATION, rho=0.0)
    low, high = shares.interval(evaluation.level)["wrong_labels"].tolist()
    return Calibrated(
        prevalence=evaluation.prevalence, accuracy=evaluation.accuracy, score=evaluation.score,
        interval=NamedMapping(**evaluation.interval, wrong_labels=(low, high)),
        wrong_labels=partition.expected_errors / sketch.items,
        shared_error=SharedError(median=0.0, interval=(0.0, 0.0), juries=0, gold_items=0, source="independent"),
        basis=evaluation.method, level=evaluation.level, partition=partition,
    )  # fmt: skip
