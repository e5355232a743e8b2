"""Calibrate an evaluation: grades as if errors were independent come in, calibrated grades come out.

`Calibration` is attached to every evaluation and called when its calibrated numbers are first read. It selects the
posterior to calibrate (`calibration_basis`), counts the votes (`jury_votes`), and passes both with the reference juries
and the gold items to `jurors.uncertainty.calibrate`, where the method is described.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers, single_threaded
from jurors.errors import OptionError
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.baselines.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.evaluation import Calibrated, Evaluation, SharedError
from jurors.evaluate.latent.em import canonical_ranks
from jurors.evaluate.latent.panel import PanelFit, fit_trio
from jurors.evaluate.rules import RuleGrades, grade_rules, rule_posterior
from jurors.evaluate.solution import DEFAULT_RULE, NamedMapping, Partition, majority_partition
from jurors.jury.methods import STATISTICS, named_statistic, named_statistics
from jurors.progress import report_progress
from jurors.sketch.pairs import Incidence
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.calibrate import (
    CalibratedShares,
    FitNoise,
    calibrate,
    expected_labels,
    forecast_half_widths,
    labelling_errors,
    temper_new_tuples,
)
from jurors.uncertainty.intervals import panel_errors
from jurors.uncertainty.reference import Population, own_population, read_reference, shipped_population
from jurors.uncertainty.scenarios import JuryVotes, count_independent_jurors, majority_posterior, weigh_gold

INDEPENDENT_POPULATION = Population(  #: no shared error, no deviations: the counts as if errors were independent
    center=0.0, slope=0.0, log_spread=0.0, sd=0.0, independent=0.0, label_bias=0.0, deviation=0.0, label_deviation=0.0,
    unevenness=1.0, juries=0,
)  # fmt: skip
_FEW_JURORS, _ALONE = 12, 0.97  # whose votes alone are rivals with gold, and how far each is believed
_ROUNDING = 1e-5  # by which a posterior in single precision may exceed 1


@dataclass(frozen=True)
class Calibration:
    """How to calibrate an evaluation: the prior of shared error, and the gold items.

    `blind` is the same jury graded without its gold items: grades must not be tested on what they were made from.
    """

    errors: float | str = "real"  #: "real", "independent", or the shared error itself
    reference: Any = None  #: the user's own reference juries; None: those that come with the package
    gold: Integers | None = None  #: tuples x labels, how many gold items
    blind: Evaluation | None = None
    rules: bool = False  #: whether the jurors are rules, which know one label each

    def __post_init__(self) -> None:
        if self.reference is not None:
            _ = self._population  # a file that cannot be read is reported at once, not when a grade is first read

    def __call__(self, evaluation: Evaluation) -> Calibrated | None:
        """The calibrated grades; None where there is nothing to calibrate."""
        sketch = evaluation.sketch
        if sketch is not None and (rules := self._rules(evaluation, sketch)) is not None:
            return _calibrated_rules(evaluation, sketch, rules, self.gold)
        if sketch is None or has_too_few_jurors(evaluation):
            return None
        with single_threaded():
            if self.errors == "independent":
                return _as_if_independent(evaluation)
            report_progress("calibrating")
            basis, posterior, noise_of = calibration_basis(evaluation, self.blind or evaluation, sketch)
            noise = noise_of()
            jury, gold, rivals = self._votes_and_gold(evaluation, sketch, posterior)
            population, level = self.population_of(evaluation), evaluation.level
            shares = calibrate(jury, population, rho=self._rho, gold=gold, rivals=rivals, noise=noise)
            low, high = shares.shared_error_interval(level).tolist()
            is_given = not isinstance(self.errors, str)
            source = "reference juries" if self.reference is None else "own reference juries"
            shared_error = SharedError(
                median=shares.shared_error,
                interval=(low, high),
                juries=0 if is_given else self._population.juries,
                gold_items=0 if self.gold is None else int(self.gold.sum()),
                source="given" if is_given else source,
            )
            named: dict[str, Any] = {name: partial(_named_share, sketch, shares, name) for name in STATISTICS}
            if gold is None:
                ends: Any = partial(_ends_with_independent, sketch, shares, level, evaluation, jury)
            else:
                ends = partial(_named_ends, sketch, shares, level)
            half_widths = partial(
                forecast_half_widths, jury, population, self._rho, gold, shares.sums.posterior, noise, level
            )
            return Calibrated(
                **named, interval=ends, wrong_labels=shares.wrong_labels, shared_error=shared_error, basis=basis,
                level=level, score_draws=shares.score_draws, score_doubt=shares.score_doubt,
                partition=_partition(sketch, shares.sums.posterior, shares.sums.best, jury),
                forecast=partial(_named_half_widths, sketch.jurors, half_widths),
                wrong_labels_of=partial(labelling_errors, jury, population, self._rho, gold, rivals, noise, level),
            )  # fmt: skip

    def _rules(self, evaluation: Evaluation, sketch: Sketch) -> RuleGrades | None:
        """The grades of jurors that know one label each; None of other jurors."""
        if not self.rules:
            return None
        return grade_rules(sketch, evaluation.level, population=evaluation.target == "population", gold=self.gold)

    def partition(self, evaluation: Evaluation) -> Partition | None:
        """The labels of items, without grading jurors.

        Returns
        -------
        Partition or None
            The evaluation's own where nothing is calibrated.
        """
        sketch = evaluation.sketch
        if sketch is not None and (rules := self._rules(evaluation, sketch)) is not None:
            return rules.partition
        if sketch is None or has_too_few_jurors(evaluation) or self.errors == "independent":
            return evaluation.independent.partition
        if self.gold is not None:
            calibrated = evaluation.calibrated
            return evaluation.independent.partition if calibrated is None else calibrated.partition
        with single_threaded():
            posterior = calibration_basis(evaluation, self.blind or evaluation, sketch)[1]
            jury, _, _ = self._votes_and_gold(evaluation, sketch, posterior)
            shares = expected_labels(jury, self.population_of(evaluation), rho=self._rho)
        return _partition(sketch, *shares, jury)

    def predicted_labels(self, evaluation: Evaluation, gold: Integers) -> tuple[Partition, Floats, float] | None:
        """What gold items test: the calibrated labels without gold.

        Returns
        -------
        tuple or None
            The labels, equally likely values of the share of them that is wrong, and how many random gold items each
            gold item counts as; None where nothing is calibrated.
        """
        sketch = evaluation.sketch
        if sketch is None or has_too_few_jurors(evaluation) or self.errors == "independent":
            return None
        if (rules := self._rules(evaluation, sketch)) is not None:
            _, low, high = rules.wrong_labels
            return rules.partition, np.linspace(low, high, 101), 1.0
        with single_threaded():
            _, posterior, noise_of = calibration_basis(evaluation, evaluation, sketch)
            jury, _, _ = self._votes_and_gold(evaluation, sketch, posterior)
            shares = calibrate(jury, self.population_of(evaluation), rho=self._rho, noise=noise_of())
            labels = _partition(sketch, shares.sums.posterior, shares.sums.best, jury)
            return labels, shares.wrong_label_values, weigh_gold(jury, gold.astype(np.float64))

    def new_posterior(self, evaluation: Evaluation, sketch: Sketch, posterior: Floats) -> Floats:
        """The calibrated posterior of decision tuples of the same jurors that were not graded.

        Parameters
        ----------
        sketch
            The tuples.
        posterior
            (T, R) as if errors were independent.

        Returns
        -------
        ndarray, (T, R)
        """
        graded = evaluation.sketch
        if graded is not None and (rules := self._rules(evaluation, graded)) is not None:
            return rule_posterior(rules, sketch)
        if graded is None or has_too_few_jurors(evaluation) or self.errors == "independent":
            return posterior
        with single_threaded():
            basis = calibration_basis(evaluation, self.blind or evaluation, graded)[1]
            jury = jury_votes(graded, basis, evaluation.representatives)
            if evaluation.family is not None:
                posterior = evaluation.family.fit.posterior_of(sketch)
            posterior = _filled(posterior, sketch, evaluation.representatives)
            distinct = jury_votes(sketch, posterior, evaluation.representatives).distinct
            return temper_new_tuples(jury, self.population_of(evaluation), posterior, distinct, rho=self._rho)

    def _votes_and_gold(
        self, evaluation: Evaluation, sketch: Sketch, posterior: Floats
    ) -> tuple[JuryVotes, Floats | None, list[Floats]]:
        """The votes to calibrate, the gold items, and with gold the rival posteriors."""
        jury = jury_votes(sketch, posterior, evaluation.representatives)
        gold = None if self.gold is None else self.gold.astype(np.float64)
        rivals = (
            [] if gold is None or evaluation.family is not None else rivals_of(jury, sketch, evaluation.representatives)
        )
        return drop_unanswered(evaluation, jury), gold, rivals

    @property
    def _rho(self) -> float | None:
        return None if isinstance(self.errors, str) else float(self.errors)

    @cached_property
    def _population(self) -> Population:
        """Of the reference juries: rows, a file of them, or those that come with the package."""
        reference = self.reference
        if reference is None:
            return shipped_population()
        juries = read_reference(reference) if isinstance(reference, (str, PathLike)) else tuple(reference)
        if not juries:
            raise OptionError("reference holds no jury", code="out_of_range", name="reference")
        return own_population(juries)

    def population_of(self, evaluation: Evaluation) -> Population:
        """The prior of shared error: your own juries as they are, the shipped ones by the kind of fit.

        Returns
        -------
        Population
        """
        by_line = self.reference is None and evaluation.is_on_a_line
        return self._population.on_a_line() if by_line else self._population


def has_too_few_jurors(evaluation: Evaluation) -> bool:
    """Whether there is nothing to calibrate: fewer than three distinct jurors in all, or on every island.

    Returns
    -------
    bool
    """
    few = _too_few_alarms(evaluation)
    if not few:
        return False
    partition = evaluation.independent.partition
    if not evaluation.islands or partition is None or partition.is_sure_of_itself:
        return True
    return not frozenset(evaluation.jurors) - _ungraded_jurors(few)


def _too_few_alarms(evaluation: Evaluation) -> list[Alarm]:
    """The alarms of too few distinct jurors. They are not computed where no item is labelled by majority vote."""
    partition = evaluation.independent.partition
    if partition is not None and partition.by_majority is None:
        return []
    return [alarm for alarm in evaluation.alarms if alarm.reason == "too_few_distinct"]


def _ungraded_jurors(few: list[Alarm]) -> frozenset[str]:
    """Jurors of islands with too few distinct ones: votes do not show whether two of them are right or wrong."""
    return frozenset(name for alarm in few for name in alarm.jurors)


def drop_unanswered(evaluation: Evaluation, jury: JuryVotes) -> JuryVotes:
    """Give weight 0 to the items on which no juror voted who can be graded.

    Returns
    -------
    JuryVotes
    """
    names = _ungraded_jurors(_too_few_alarms(evaluation))
    if not names:
        return jury
    is_graded = np.array([name not in names for name in evaluation.jurors])
    graded_votes = np.bincount(jury.row, weights=is_graded[jury.juror], minlength=len(jury.weights))
    return replace(jury, weights=np.where(graded_votes == 0, 0.0, jury.weights))


def jury_votes(sketch: Sketch, posterior: Floats, representatives: tuple[int, ...]) -> JuryVotes:
    """Combine the votes of a sketch with a posterior of its tuples.

    Parameters
    ----------
    posterior
        (T, R)
    representatives
        (N,) the juror that each one repeats (`Evaluation.representatives`); empty where none repeats another.

    Returns
    -------
    JuryVotes
    """
    row, juror, label = sketch.tuples.triples()
    of_juror = np.array(representatives, dtype=np.int64) if representatives else np.arange(len(sketch.jurors))
    return JuryVotes(
        posterior=posterior,
        weights=sketch.counts.astype(np.float64),
        row=row,
        juror=juror,
        label=label,
        jurors=len(sketch.jurors),
        distinct=count_independent_jurors(row, juror, sketch.tuples.rows, of_juror),
    )


def calibration_basis(
    evaluation: Evaluation, blind: Evaluation, sketch: Sketch
) -> tuple[str, Floats, Callable[[], FitNoise]]:
    """Select the posterior to calibrate.

    Parameters
    ----------
    evaluation
        The grades.
    blind
        The same jury graded without its gold items.

    Returns
    -------
    method : str
        Whose posterior it is.
    posterior : ndarray, (T, R)
    noise : callable
        Computes how far the statistics move when items are drawn again.
    """
    partition = blind.independent.partition
    if evaluation.family is not None:
        return "family", evaluation.family.fit.posterior, partial(_family_noise, evaluation)
    if evaluation.method == "algebraic" and (len(sketch.jurors), len(sketch.labels)) == (3, 2):
        # the panel model, which stays in range and is steady where items are few
        model = evaluation.independent
        panel = fit_trio(sketch, model.solution, from_votes=model.rule == DEFAULT_RULE)
        return "latent", panel.choice.fit.posterior, partial(_trio_noise, panel)
    is_majority = evaluation.method == "majority" or partition is None or partition.is_sure_of_itself
    if is_majority or partition is None or (evaluation.method == "algebraic" and not _is_inside(blind)):
        return "majority", _majority(sketch, evaluation.representatives), FitNoise
    posterior = _filled(partition.posterior, sketch, evaluation.representatives)
    return evaluation.method, posterior, partial(_noise, evaluation)


def _is_inside(evaluation: Evaluation) -> bool:
    """Whether all shares lie inside 0 to 1: at the ends, rounding alone decides the posterior of a tuple."""
    model = evaluation.independent
    shares = [x for row in model.accuracy.values() for x in row.values()] + list(model.prevalence.values())
    return all(x is not None and _ROUNDING < float(x) < 1 - _ROUNDING for x in shares)


def rivals_of(jury: JuryVotes, sketch: Sketch, representatives: tuple[int, ...]) -> list[Floats]:
    """Other posteriors of the same tuples, for gold to select from: by majority vote, Dawid and Skene's, each juror's.

    Returns
    -------
    list of ndarray, (T, R)
    """
    posterior = evaluate_dawid_skene(sketch).posterior
    fitted = [] if posterior is None else [_filled(posterior, sketch, representatives)]
    return [majority_posterior(jury), *fitted, *juror_posteriors(jury, representatives)]


def juror_posteriors(jury: JuryVotes, representatives: tuple[int, ...] = ()) -> list[Floats]:
    """The posterior by the votes of each juror alone, of panels of up to 12: gold may show that one of them is right.

    Returns
    -------
    list of ndarray, (T, R)
        In an order that depends on the votes alone: which scenario uses which posterior depends on it.
    """
    distinct = dict.fromkeys(representatives or range(jury.jurors))
    if len(distinct) > _FEW_JURORS:
        return []
    rows, size = jury.posterior.shape
    votes = Incidence.from_triples(jury.row, jury.juror, jury.label, jury.weights, jurors=jury.jurors, labels=size)
    rank, _ = canonical_ranks(votes)
    alone = np.full((jury.jurors, rows, size), 1.0 / size)
    alone[jury.juror, jury.row] = (1.0 - _ALONE) / max(size - 1, 1)
    alone[jury.juror, jury.row, jury.label] = _ALONE
    return [alone[k] for k in sorted(distinct, key=lambda k: rank[k])]


def _trio_noise(panel: PanelFit) -> FitNoise:
    """The noise of three jurors' fit by the latent-class model."""
    errors = panel_errors(panel)
    return FitNoise() if errors is None else FitNoise(*(_variances(errors[name]) for name in STATISTICS))


def _family_noise(evaluation: Evaluation) -> FitNoise:
    """The noise of the fit with declared families; the independent-errors fit's where there are too many tuples."""
    errors = None if evaluation.family is None else evaluation.family.errors
    return _noise(evaluation) if errors is None else FitNoise(*(_variances(errors[name]) for name in STATISTICS))


def _noise(evaluation: Evaluation) -> FitNoise:
    """The noise of an evaluation, by its standard errors."""
    errors = evaluation.independent.standard_error
    if errors is None:
        return FitNoise()
    accuracy = [list(row.values()) for row in errors["accuracy"].values()]
    prevalence, score = (list(errors[name].values()) for name in ("prevalence", "score"))
    return FitNoise(*map(_variances, (prevalence, accuracy, score)))


def _variances(errors: Any) -> Floats:
    """Squared standard errors; a missing one adds nothing, an infinite one gives the widest interval."""
    known = np.array(errors, dtype=np.float64)
    return np.where(np.isnan(known), 0.0, known) ** 2


def _filled(posterior: Floats, sketch: Sketch, representatives: tuple[int, ...]) -> Floats:
    """A posterior for every tuple: by majority vote where the method rules a tuple out, or leaves [0, 1]."""
    is_known = ((posterior >= 0.0) & (posterior <= 1.0 + _ROUNDING)).all(axis=1, keepdims=True)
    return posterior if is_known.all() else np.where(is_known, posterior, _majority(sketch, representatives))


def _majority(sketch: Sketch, representatives: tuple[int, ...]) -> Floats:
    shape = (sketch.tuples.rows, len(sketch.labels))
    return majority_posterior(jury_votes(sketch, np.full(shape, 1.0 / shape[1]), representatives))


# -- lazily computed fields of `Calibrated`: module-level functions, so that evaluations can be pickled ----------------


def _named_half_widths(jurors: tuple[str, ...], forecast: Callable[[int], Floats], gold_items: int) -> NamedMapping:
    return NamedMapping(zip(jurors, forecast(gold_items).tolist(), strict=True))


def _named_share(sketch: Sketch, shares: CalibratedShares, name: str) -> NamedMapping:
    return named_statistic(sketch, name, _with_none(getattr(shares, name)))


def _named_ends(sketch: Sketch, shares: CalibratedShares, level: float, ends: Any = None) -> NamedMapping:
    ends = ends or shares.interval(level)
    low, high = ends["wrong_labels"].tolist()
    by_name = named_statistics(sketch, {name: _with_none(ends[name]) for name in STATISTICS})
    return NamedMapping(**by_name, wrong_labels=(low, high))


def _ends_with_independent(
    sketch: Sketch, shares: CalibratedShares, level: float, evaluation: Evaluation, jury: JuryVotes
) -> NamedMapping:
    """The calibrated ends, extended to those of a jury whose errors are independent after all.

    Its scores are higher and its labels better: no score ends below, and the share of wrong labels begins no higher
    than, the independent-errors model's. Where that has no solution, its expected scores and their noise stand for it.
    Where families are declared, the model in which jurors share errors within them alone takes its place.
    """
    ends, reach = shares.interval(level), NormalDist().inv_cdf(0.5 + level / 2)
    model, family = evaluation.independent, evaluation.family
    if family is not None and family.errors is not None:
        highest = np.asarray(family.scores + reach * family.errors["score"])
    elif model.solution is not None and model.solution.is_in_range and model.interval is not None:
        highest = np.array([(pair or (np.nan, np.nan))[1] for pair in model.interval.score.values()], dtype=float)
    else:
        cast = np.bincount(jury.juror, weights=jury.weights[jury.row], minlength=jury.jurors)
        right = jury.weights[jury.row] * jury.posterior[jury.row, jury.label]
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.bincount(jury.juror, weights=right, minlength=jury.jurors) / cast
            highest = score + reach * np.sqrt(shares.noise.score)
    ends["score"][:, 1] = np.fmax(ends["score"][:, 1], np.minimum(highest, 1.0))
    chance = jury.posterior.max(axis=1)
    total = float(jury.weights.sum())
    wrong = float(jury.weights @ (1.0 - chance)) / total
    doubt = math.sqrt(max(float(jury.weights @ (chance * (1.0 - chance))), 0.0)) / total  # chance may round to over 1
    if family is not None:
        wrong = family.wrong_labels
        doubt = math.sqrt(wrong * (1.0 - wrong) / evaluation.items)
    ends["wrong_labels"][0] = min(ends["wrong_labels"][0], max(round((wrong - reach * doubt) * total) / total, 0.0))
    return _named_ends(sketch, shares, level, ends)


def _partition(sketch: Sketch, posterior: Floats, labels: Integers, jury: JuryVotes) -> Partition:
    """The partition by a calibrated posterior; items without a graded juror are labelled by majority vote."""
    silent = (jury.weights == 0) & (sketch.counts > 0)
    by_true_label = np.where(silent[:, None], np.nan, posterior * sketch.counts[:, None])
    chosen = labels if not silent.any() else np.where(silent, majority_partition(sketch).chosen, labels)
    return Partition(sketch, by_true_label, chosen)


def _with_none(values: Floats) -> Any:
    """NaN as None: the statistic does not exist."""
    return np.where(np.isnan(values), None, values)  # type: ignore[call-overload]


def _calibrated_rules(evaluation: Evaluation, sketch: Sketch, rules: RuleGrades, gold: Integers | None) -> Calibrated:
    """Rules by precision. How accurate a rule is on each label, and how common labels are, its votes do not show."""
    expected, low, high = rules.wrong_labels
    size, ends = len(sketch.labels), np.stack([rules.low, rules.high], axis=1)
    unknown = {"prevalence": np.full(size, np.nan), "accuracy": np.full((len(sketch.jurors), size), np.nan)}
    named = named_statistics(sketch, {k: _with_none(x) for k, x in {**unknown, "score": rules.precision}.items()})
    pairs = {k: np.stack([x, x], axis=-1) for k, x in unknown.items()}
    intervals = named_statistics(sketch, {k: _with_none(x) for k, x in {**pairs, "score": ends}.items()})
    return Calibrated(
        **named, interval=NamedMapping(**intervals, wrong_labels=(low, high)), wrong_labels=expected,
        shared_error=SharedError(
            median=np.nan, interval=(np.nan, np.nan), juries=0, gold_items=0 if gold is None else int(gold.sum()),
            source="rules",
        ),
        basis="rules", level=evaluation.level, partition=rules.partition, rules=rules,
        score_draws=rules.precision[:, None], score_doubt=rules.variance,
    )  # fmt: skip


def _as_if_independent(evaluation: Evaluation) -> Calibrated | None:
    """The evaluation's own numbers in the form of calibrated ones, for juries whose errors are independent."""
    model, sketch = evaluation.independent, evaluation.sketch
    partition = model.partition
    if partition is None or model.interval is None or sketch is None or partition.is_sure_of_itself:
        return None
    posterior = _filled(partition.posterior, sketch, evaluation.representatives)
    jury = jury_votes(sketch, posterior, evaluation.representatives)
    shares = calibrate(jury, INDEPENDENT_POPULATION, rho=0.0)
    low, high = shares.interval(evaluation.level)["wrong_labels"].tolist()
    return Calibrated(
        prevalence=model.prevalence, accuracy=model.accuracy, score=model.score,
        interval=NamedMapping(**vars(model.interval), wrong_labels=(low, high)), wrong_labels=partition.wrong_labels,
        shared_error=SharedError(median=0.0, interval=(0.0, 0.0), juries=0, gold_items=0, source="independent"),
        basis=evaluation.method, level=evaluation.level, partition=partition,
    )  # fmt: skip
