"""A sketch comes in, evaluations go out: exact where the algebra allows, and what the rivals would say."""

from jurors.evaluate.alarm import Alarm, loudest
from jurors.evaluate.calibrated import Calibrated, SharedError
from jurors.evaluate.catalogue import Level
from jurors.evaluate.choose import Choice, choose_solution
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.fit import Fit
from jurors.evaluate.keyed import KeyedEvaluation, evaluate_with_key
from jurors.evaluate.majority import evaluate_majority
from jurors.evaluate.panel.panel import evaluate_panel
from jurors.evaluate.partition import Partition
from jurors.evaluate.rivals.engine_steps import EngineFit, evaluate_on_engine
from jurors.evaluate.solution import Named, Solution
from jurors.evaluate.together.dependence import Dependence, dependence_with_key
from jurors.evaluate.trio.all_trios import PanelTrios, evaluate_all_trios
from jurors.evaluate.trio.encode import encode
from jurors.evaluate.trio.invariants import independence_invariants
from jurors.evaluate.trio.multilabel import MultilabelDecode, evaluate_trio_labels
from jurors.evaluate.trio.trio import evaluate_trio
from jurors.evaluate.trio.trios import evaluate_trios

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
    "Named",
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
    "independence_invariants",
    "loudest",
]
