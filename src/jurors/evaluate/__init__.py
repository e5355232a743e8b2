"""A sketch comes in, evaluations go out: exact where the algebra allows, and what the rivals would say."""

from jurors.evaluate.alarms import Alarm, Level, highest_level
from jurors.evaluate.baselines.dawid_skene import EngineFit, evaluate_on_engine
from jurors.evaluate.dependence import Dependence, dependence_with_key
from jurors.evaluate.evaluation import Calibrated, Evaluation, KeyedEvaluation, SharedError, evaluate_with_key
from jurors.evaluate.latent.panel import evaluate_panel
from jurors.evaluate.partition import Choice, Partition, choose_solution, evaluate_majority
from jurors.evaluate.solution import Fit, NamedMapping, Solution
from jurors.evaluate.trio import (
    PanelTrios,
    encode,
    evaluate_all_trios,
    evaluate_trio,
    evaluate_trios,
    independence_invariants,
)
from jurors.evaluate.trio_multiclass import MultilabelDecode, evaluate_trio_labels

__all__ = [
    "Alarm",
    "Calibrated",
    "Choice",
    "Dependence",
    "EngineFit",
    "Evaluation",
    "Fit",
    "KeyedEvaluation",
    "Level",
    "MultilabelDecode",
    "NamedMapping",
    "PanelTrios",
    "Partition",
    "SharedError",
    "Solution",
    "choose_solution",
    "dependence_with_key",
    "encode",
    "evaluate_all_trios",
    "evaluate_majority",
    "evaluate_on_engine",
    "evaluate_panel",
    "evaluate_trio",
    "evaluate_trio_labels",
    "evaluate_trios",
    "evaluate_with_key",
    "highest_level",
    "independence_invariants",
]
