"""Grade jurors (classifiers, annotators, LLM judges) without an answer key.

The packages, in the order in which data pass through them; each imports only from those above it:

    votes/         Votes, layouts, scales, findings, answer keys; `io/` (files, databases), `readers/` (other tools)
    sketch/        counts of decision tuples: count, merge, moments
    evaluate/      exact trios, latent-class models, dependence, agreement, baselines, alarms
    uncertainty/   intervals, bounds, calibration on reference juries, gold labels
    pairwise/      preferences: objects ranked, and the jurors who compared them graded
    numeric/       numbers: jurors who rate and measure graded, items valued
    jury/          the public verbs: grade, label, score, compare, check, by group; the estimator
    audit/         which items a person should label, and what the labels prove
    monitor/       votes as a stream: windows over counts, drift detection
    inspection/    what a file holds, and which commands work on it
    report/        the HTML page and its `charts/`; `plot.py` is their public face
    lab/           examples, simulation, planning, making jurors independent
    watch/         `jurors watch`: a growing file, a folder of logs, standard input
    serve/         `jurors serve`: votes over HTTP, stores, API keys, the dashboard
    client/        Client and AsyncClient
    integrations/  Inspect AI, promptfoo, MLflow, pytest, GitHub, MCP
    cli/           one thin function per command

Below all of them are `errors.py`, `options.py`, `results.py`, `progress.py`, `versions.py`, `_files.py`, `_lazy.py`,
`_numeric.py` and `exact/`; above `jury`, `metrics.py` (as in scikit-learn), `testing.py` (the contract of methods) and
`pandas.py` (`df.jurors`). `data/` holds the examples' votes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jurors.versions import VERSION

if TYPE_CHECKING:
    from jurors import audit, metrics, plot
    from jurors.client import AsyncClient, Client
    from jurors.errors import (
        DegenerateSketchError,
        JurorsError,
        OptionError,
        OutputError,
        ServerError,
        SketchError,
        VotesError,
    )
    from jurors.evaluate.alarms import Alarm
    from jurors.evaluate.baselines.dawid_skene import evaluate_on_engine
    from jurors.evaluate.dependence import Dependence, dependence_with_key
    from jurors.evaluate.evaluation import Calibrated, Evaluation, KeyedEvaluation
    from jurors.evaluate.partition import evaluate_majority
    from jurors.evaluate.solution import Solution
    from jurors.evaluate.trio import encode, evaluate_all_trios, evaluate_trio, evaluate_trios, independence_invariants
    from jurors.evaluate.trio_multiclass import evaluate_trio_labels
    from jurors.exact.surd import Surd
    from jurors.inspection import inspect
    from jurors.inspection.result import Inspection
    from jurors.integrations import mlflow
    from jurors.jury.check import Verdict, check
    from jurors.jury.compare import Comparison, agreement, bounds, compare, score, score_labels
    from jurors.jury.estimator import Jury
    from jurors.jury.gates import gate
    from jurors.jury.grade import METHODS, grade
    from jurors.jury.groups import ByGroup, grade_by, label_by, score_by
    from jurors.jury.label import Labelling, label
    from jurors.jury.reference import fit_reference
    from jurors.lab import load_example
    from jurors.lab.independence import DisjointJury
    from jurors.lab.plan import Plan, plan
    from jurors.lab.simulate import Simulation, simulate
    from jurors.monitor.monitor import Monitor
    from jurors.numeric.data import Numbers, read_numbers
    from jurors.numeric.grade import ItemValues, NumberGrades, grade_numbers, value_items
    from jurors.numeric.score import NumberScores, score_numbers
    from jurors.pairwise.data import Preferences, read_pairs
    from jurors.pairwise.grade import PairGrades, Ranking, grade_pairs, rank
    from jurors.report.page import report_html, write_report
    from jurors.sketch.count import read_sketch
    from jurors.sketch.moments import moments
    from jurors.sketch.sketch import Sketch
    from jurors.uncertainty.bounds_logical import highest_floor
    from jurors.uncertainty.bounds_robust import correlation_curve, sensitivities
    from jurors.uncertainty.bounds_trio import Bounds
    from jurors.uncertainty.reference import ReferenceJuries, reference_juries
    from jurors.uncertainty.trio_alarms import goodness_of_fit
    from jurors.votes.key import Key, read_key
    from jurors.votes.read import read_votes
    from jurors.votes.table import Votes
    from jurors.votes.write import write_votes

__version__ = VERSION

#: Module -> the public names in it. A name loads its module when it is first used, so that `import jurors` stays quick.
_NAMES = {
    "jurors.client": "AsyncClient Client",
    "jurors.errors": "DegenerateSketchError JurorsError OptionError OutputError ServerError SketchError VotesError",
    "jurors.evaluate.alarms": "Alarm",
    "jurors.evaluate.baselines.dawid_skene": "evaluate_on_engine",
    "jurors.evaluate.dependence": "Dependence dependence_with_key",
    "jurors.evaluate.evaluation": "Calibrated Evaluation KeyedEvaluation",
    "jurors.evaluate.partition": "evaluate_majority",
    "jurors.evaluate.solution": "Solution",
    "jurors.evaluate.trio": "encode evaluate_all_trios evaluate_trio evaluate_trios independence_invariants",
    "jurors.evaluate.trio_multiclass": "evaluate_trio_labels",
    "jurors.exact.surd": "Surd",
    "jurors.inspection": "inspect",
    "jurors.inspection.result": "Inspection",
    "jurors.jury.check": "Verdict check",
    "jurors.jury.compare": "Comparison agreement bounds compare score score_labels",
    "jurors.jury.estimator": "Jury",
    "jurors.jury.gates": "gate",
    "jurors.jury.grade": "METHODS grade",
    "jurors.jury.groups": "ByGroup grade_by label_by score_by",
    "jurors.jury.label": "Labelling label",
    "jurors.jury.reference": "fit_reference",
    "jurors.lab": "load_example",
    "jurors.lab.independence": "DisjointJury",
    "jurors.lab.plan": "Plan plan",
    "jurors.lab.simulate": "Simulation simulate",
    "jurors.monitor.monitor": "Monitor",
    "jurors.numeric.data": "Numbers read_numbers",
    "jurors.numeric.grade": "ItemValues NumberGrades grade_numbers value_items",
    "jurors.numeric.score": "NumberScores score_numbers",
    "jurors.pairwise.data": "Preferences read_pairs",
    "jurors.pairwise.grade": "PairGrades Ranking grade_pairs rank",
    "jurors.report.page": "report_html write_report",
    "jurors.sketch.count": "read_sketch",
    "jurors.sketch.moments": "moments",
    "jurors.sketch.sketch": "Sketch",
    "jurors.uncertainty.bounds_logical": "highest_floor",
    "jurors.uncertainty.bounds_robust": "correlation_curve sensitivities",
    "jurors.uncertainty.bounds_trio": "Bounds",
    "jurors.uncertainty.reference": "ReferenceJuries reference_juries",
    "jurors.uncertainty.trio_alarms": "goodness_of_fit",
    "jurors.votes.key": "Key read_key",
    "jurors.votes.read": "read_votes",
    "jurors.votes.table": "Votes",
    "jurors.votes.write": "write_votes",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

#: Public names that are modules themselves.
_MODULES = {
    "audit": "jurors.audit",
    "metrics": "jurors.metrics",
    "plot": "jurors.plot",
    "mlflow": "jurors.integrations.mlflow",
}

__all__ = [
    "METHODS",
    "Alarm",
    "AsyncClient",
    "Bounds",
    "ByGroup",
    "Calibrated",
    "Client",
    "Comparison",
    "DegenerateSketchError",
    "Dependence",
    "DisjointJury",
    "Evaluation",
    "Inspection",
    "ItemValues",
    "JurorsError",
    "Jury",
    "Key",
    "KeyedEvaluation",
    "Labelling",
    "Monitor",
    "NumberGrades",
    "NumberScores",
    "Numbers",
    "OptionError",
    "OutputError",
    "PairGrades",
    "Plan",
    "Preferences",
    "Ranking",
    "ReferenceJuries",
    "ServerError",
    "Simulation",
    "Sketch",
    "SketchError",
    "Solution",
    "Surd",
    "Verdict",
    "Votes",
    "VotesError",
    "agreement",
    "audit",
    "bounds",
    "check",
    "compare",
    "correlation_curve",
    "dependence_with_key",
    "encode",
    "evaluate_all_trios",
    "evaluate_majority",
    "evaluate_on_engine",
    "evaluate_trio",
    "evaluate_trio_labels",
    "evaluate_trios",
    "fit_reference",
    "gate",
    "goodness_of_fit",
    "grade",
    "grade_by",
    "grade_numbers",
    "grade_pairs",
    "highest_floor",
    "independence_invariants",
    "inspect",
    "label",
    "label_by",
    "load_example",
    "metrics",
    "mlflow",
    "moments",
    "plan",
    "plot",
    "rank",
    "read_key",
    "read_numbers",
    "read_pairs",
    "read_sketch",
    "read_votes",
    "reference_juries",
    "report_html",
    "score",
    "score_by",
    "score_labels",
    "score_numbers",
    "sensitivities",
    "simulate",
    "value_items",
    "write_report",
    "write_votes",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'jurors' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
