"""The laboratory: real juries to try things on, and juries made to order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jurors.lab.examples import EXAMPLES, load_example
from jurors.lab.jury_model import JuryModel, jury_model
from jurors.lab.plan import Plan, plan
from jurors.lab.simulate import Simulation, simulate

if TYPE_CHECKING:
    from jurors.lab.census.experiment import Experiment, experiment_acs
    from jurors.lab.disjoint import DisjointJury

__all__ = [
    "EXAMPLES",
    "DisjointJury",
    "Experiment",
    "JuryModel",
    "Plan",
    "Simulation",
    "experiment_acs",
    "jury_model",
    "load_example",
    "plan",
    "simulate",
]

#: Names whose modules need scikit-learn or take long to load.
_LATER = {"DisjointJury": "disjoint", "Experiment": "census.experiment", "experiment_acs": "census.experiment"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'jurors.lab' has no attribute {name!r}")
    return getattr(import_module(f"jurors.lab.{_LATER[name]}"), name)
