"""The exact theory and research functions: the paper's theorems, both solutions, moments, bounds over correlations.

`jurors.grade` uses them; studying them is another matter, so they have a module of their own. Names load when they are
first used.

Examples
--------
>>> from jurors import Sketch, theory
>>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
>>> likely, mirror = theory.evaluate_trio(sketch)
>>> round(float(likely.prevalence["A"]), 4), likely.is_rational
(0.0887, False)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jurors.evaluate.baselines.dawid_skene import evaluate_on_engine
    from jurors.evaluate.dependence import Dependence, dependence_with_key
    from jurors.evaluate.evaluation import evaluate_with_key
    from jurors.evaluate.solution import Solution, evaluate_majority
    from jurors.evaluate.trio import (
        encode,
        evaluate_all_trios,
        evaluate_trio,
        evaluate_trios,
        independence_invariants,
    )
    from jurors.evaluate.trio_multiclass import evaluate_trio_labels
    from jurors.exact.surd import Surd
    from jurors.jury.compare import fit_reference
    from jurors.jury.grade import METHODS
    from jurors.sketch.moments import moments
    from jurors.uncertainty.bounds_logical import highest_floor
    from jurors.uncertainty.bounds_robust import correlation_curve, sensitivities
    from jurors.uncertainty.reference import ReferenceJuries, reference_juries
    from jurors.uncertainty.trio_alarms import goodness_of_fit

_HOMES = {
    "jurors.evaluate.baselines.dawid_skene": "evaluate_on_engine",
    "jurors.evaluate.dependence": "Dependence dependence_with_key",
    "jurors.evaluate.evaluation": "evaluate_with_key",
    "jurors.evaluate.solution": "Solution evaluate_majority",
    "jurors.evaluate.trio": "encode evaluate_all_trios evaluate_trio evaluate_trios independence_invariants",
    "jurors.evaluate.trio_multiclass": "evaluate_trio_labels",
    "jurors.exact.surd": "Surd",
    "jurors.jury.grade": "METHODS",
    "jurors.jury.compare": "fit_reference",
    "jurors.sketch.moments": "moments",
    "jurors.uncertainty.bounds_logical": "highest_floor",
    "jurors.uncertainty.bounds_robust": "correlation_curve sensitivities",
    "jurors.uncertainty.reference": "ReferenceJuries reference_juries",
    "jurors.uncertainty.trio_alarms": "goodness_of_fit",
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "METHODS",
    "Dependence",
    "ReferenceJuries",
    "Solution",
    "Surd",
    "correlation_curve",
    "dependence_with_key",
    "encode",
    "evaluate_all_trios",
    "evaluate_majority",
    "evaluate_on_engine",
    "evaluate_trio",
    "evaluate_trio_labels",
    "evaluate_trios",
    "evaluate_with_key",
    "fit_reference",
    "goodness_of_fit",
    "highest_floor",
    "independence_invariants",
    "moments",
    "reference_juries",
    "sensitivities",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'jurors.theory' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
