"""The exact theory and research functions: the paper's theorems, both solutions, moments, bounds over correlations.

`jurors.grade` uses them; studying them is another matter, so they have a module of their own.

Examples
--------
>>> from jurors import Sketch, theory
>>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
>>> likely, mirror = theory.evaluate_trio(sketch)
>>> round(float(likely.prevalence["A"]), 4), likely.is_rational
(0.0887, False)
"""

from jurors.evaluate.baselines.dawid_skene import evaluate_on_engine as evaluate_on_engine
from jurors.evaluate.dependence import Dependence as Dependence
from jurors.evaluate.dependence import dependence_with_key as dependence_with_key
from jurors.evaluate.evaluation import evaluate_with_key as evaluate_with_key
from jurors.evaluate.partition import evaluate_majority as evaluate_majority
from jurors.evaluate.solution import Solution as Solution
from jurors.evaluate.trio import encode as encode
from jurors.evaluate.trio import evaluate_all_trios as evaluate_all_trios
from jurors.evaluate.trio import evaluate_trio as evaluate_trio
from jurors.evaluate.trio import evaluate_trios as evaluate_trios
from jurors.evaluate.trio import independence_invariants as independence_invariants
from jurors.evaluate.trio_multiclass import evaluate_trio_labels as evaluate_trio_labels
from jurors.exact.surd import Surd as Surd
from jurors.jury.grade import METHODS as METHODS
from jurors.jury.reference import fit_reference as fit_reference
from jurors.sketch.moments import moments as moments
from jurors.uncertainty.bounds_logical import highest_floor as highest_floor
from jurors.uncertainty.bounds_robust import correlation_curve as correlation_curve
from jurors.uncertainty.bounds_robust import sensitivities as sensitivities
from jurors.uncertainty.reference import ReferenceJuries as ReferenceJuries
from jurors.uncertainty.reference import reference_juries as reference_juries
from jurors.uncertainty.trio_alarms import goodness_of_fit as goodness_of_fit

__all__ = [name for name in dir() if name[0].isalpha()]
