"""Every way to grade, behind one interface: a sketch and a request come in, an `Evaluation` goes out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate import Alarm, Evaluation, Fit, evaluate_majority
from jurors.evaluate.fit import float_solution
from jurors.evaluate.partition import majority_partition, tuple_posterior
from jurors.evaluate.rivals.agreement_rates import evaluate_agreement
from jurors.evaluate.rivals.bayesian import evaluate_bayesian
from jurors.evaluate.rivals.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.rivals.spectral import evaluate_spectral
from jurors.evaluate.trio.all_trios import evaluate_all_trios
from jurors.jury.methods.any_panel import grade_latent
from jurors.jury.methods.request import Request, oriented
from jurors.jury.methods.three_jurors import grade_trio, grade_trio_labels
from jurors.jury.methods.three_jurors_labels import is_exact
from jurors.sketch import Sketch


def grade_algebraic(sketch: Sketch, request: Request) -> Evaluation:
    """Three jurors: the theorem, exactly; more jurors, two labels: the median over all their trios."""
    if len(sketch.jurors) == 3:
        return (grade_trio if len(sketch.labels) == 2 else grade_trio_labels)(sketch, request)
    return oriented("algebraic", sketch, _median_of_trios(sketch), request)


def _median_of_trios(sketch: Sketch) -> Fit:
    """Every trio graded by itself; each statistic the median over the trios that have real solutions."""
    trios = evaluate_all_trios(sketch)
    prevalence, accuracy = trios.medians()
    outcome = trios.decoded.outcome
    if not (outcome <= 1).any():
        raise SketchError(f"none of the {len(outcome):,} trios has a real evaluation; try another method")
    inside = int((outcome == 0).sum())
    alarms = []
    if inside < len(outcome):
        message = (
            f"{inside:,} of {len(outcome):,} trios have an evaluation in range; the others contradict independence"
        )
        alarms.append(Alarm("trios_out_of_range", "warning", message, inside / len(outcome)))
    wrong = 1 - accuracy
    confusion = np.stack(
        [np.stack([accuracy[:, 0], wrong[:, 0]], axis=1), np.stack([wrong[:, 1], accuracy[:, 1]], axis=1)], axis=1
    )
    solution = float_solution(sketch, np.array([prevalence, 1 - prevalence]), confusion)
    details = {"trios": len(outcome), "trios_in_range": inside}
    return Fit(solution, tuple_posterior(sketch, solution), details=details, alarms=tuple(alarms))


def grade_majority(sketch: Sketch, request: Request) -> Evaluation:
    """Majority vote as an evaluation; exact, but it cannot doubt itself."""
    exact = evaluate_majority(sketch)
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="majority",
        solution=exact.to_float(), exact=exact, solutions=(exact,), rule="the majority is right",
        partition=majority_partition(sketch), target=request.target, level=request.level,
    )  # fmt: skip


def _by_estimator(name: str, estimate: Callable[[Sketch], Fit]) -> Callable[[Sketch, Request], Evaluation]:
    """A rival's estimator behind the common interface."""

    def grade_rival(sketch: Sketch, request: Request) -> Evaluation:
        return oriented(name, sketch, estimate(sketch), request)

    return grade_rival


#: Every method by name.
METHODS: dict[str, Callable[[Sketch, Request], Evaluation]] = {
    "algebraic": grade_algebraic,
    "latent": grade_latent,
    "majority": grade_majority,
    "dawid_skene": _by_estimator("dawid_skene", evaluate_dawid_skene),
    "bayesian": _by_estimator("bayesian", evaluate_bayesian),
    "spectral": _by_estimator("spectral", evaluate_spectral),
    "agreement": _by_estimator("agreement", evaluate_agreement),
}


def default_method(sketch: Sketch) -> str:
    """The theorem where it holds, the panel model for everything else.

    With two labels any trio has a solution; with more, counts obey the theorem exactly or not at all.
    """
    if len(sketch.jurors) == 3 and (len(sketch.labels) == 2 or is_exact(sketch)):
        return "algebraic"
    return "latent"
