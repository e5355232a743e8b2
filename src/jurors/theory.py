"""The exact theory and research functions: the paper's theorems, both solutions, moments, bounds over correlations.

Examples
--------
>>> from jurors import Sketch, load_example, theory
>>> votes, key = load_example("census")
>>> likely, mirror = theory.evaluate_trio(Sketch.from_votes(votes))
>>> round(float(likely.prevalence["A"]), 4), likely.is_rational
(0.0887, False)
"""

from __future__ import annotations

from jurors.evaluate.baselines.dawid_skene import evaluate_on_engine
from jurors.evaluate.dependence import Dependence, dependence_with_key
from jurors.evaluate.evaluation import evaluate_with_key
from jurors.evaluate.solution import Solution, evaluate_majority
from jurors.evaluate.trio import encode, evaluate_trio, evaluate_trios, independence_invariants
from jurors.evaluate.trio_multiclass import evaluate_trio_labels
from jurors.exact import Surd
from jurors.jury.methods import METHODS
from jurors.jury.reference import fit_reference
from jurors.sketch.moments import moments
from jurors.uncertainty.bounds import correlation_curve
from jurors.uncertainty.reference import ReferenceJuries, reference_juries
from jurors.uncertainty.trio_alarms import goodness_of_fit

__all__ = [
    "METHODS",
    "Dependence",
    "ReferenceJuries",
    "Solution",
    "Surd",
    "correlation_curve",
    "dependence_with_key",
    "encode",
    "evaluate_majority",
    "evaluate_on_engine",
    "evaluate_trio",
    "evaluate_trio_labels",
    "evaluate_trios",
    "evaluate_with_key",
    "fit_reference",
    "goodness_of_fit",
    "independence_invariants",
    "moments",
    "reference_juries",
]
