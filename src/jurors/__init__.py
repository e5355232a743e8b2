"""Grade jurors (classifiers, annotators, LLM judges) without an answer key.

The journey of the data is the folder listing:

    votes/        1  who said what: Votes, keys, layouts; `files/` on disk, `readers/` of what other tools wrote
    sketch/       2  counts of decision tuples: count files and engines, merge, marginalise, moments
    evaluate/     3  a sketch -> evaluations: `trio/` (exact), `panel/`, errors `together/`, `accord/`, `rivals/`, a key
    doubt/        4  how far to believe it: alarms, goodness of fit, `intervals/`, `bounds/`, `shared/` errors
    pairs/        4  which of two is better: objects ranked, and the jurors who compared them graded
    values/       4  numbers: jurors who rate and measure graded, items valued
    jury/         5  grade, label, score, compare, agreement, Jury: one call each, also by group; `methods/`
    audit/        6  which items a person should label, and what the labels prove
    monitor/      6  votes as they come in: windows over counts, alarms that may be watched all the time
    look/         6  what a file holds and which commands would work, before anything is graded
    report/       6  the one-file page and its `charts/`; `plot.py` is their public face
    lab/          6  examples, simulate, plan, making jurors independent; `census/`, the paper's experiment
    watch/        7  `jurors watch`: a growing file, a folder of logs, standard input
    serve/        7  `jurors serve`: votes over HTTP, stores, keys, the dashboard
    client/       7  the other end of it: Client and AsyncClient
    hosts/        7  inside other programs: Inspect AI, promptfoo, MLflow, pytest, GitHub, assistants
    cli/          8  one thin function per command

with `metrics.py` (scikit-learn's, without a key) and `pandas.py` (`df.jurors`) above jury,
`errors.py` (what can be wrong with the input), `names.py` ("did you mean"), `options.py` (how to read and to
grade, each option once), `numbers/` (exact arithmetic, array types), `tables.py` (how results are read), `pages.py`
(what the HTML pages share), `whole.py` (files written whole or not at all), `scratch.py` (temporary folders),
`stages.py` (what a long call is doing), `versions.py` (of all formats), `when_asked.py` (fields worked out when read)
and `quoting.py` (names as text, never as marks) below them all, and `data/` (the examples' votes) beside them. Names
load when first used: `import jurors` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jurors.versions import VERSION

if TYPE_CHECKING:
    from jurors import audit, metrics, plot
    from jurors.client import AsyncClient, Client
    from jurors.doubt import (
        Bounds,
        ReferenceJuries,
        correlation_curve,
        goodness_of_fit,
        highest_floor,
        reference_juries,
        sensitivities,
    )
    from jurors.errors import (
        DegenerateSketchError,
        JurorsError,
        OptionError,
        OutputError,
        ServerError,
        SketchError,
        VotesError,
    )
    from jurors.evaluate import (
        Alarm,
        Calibrated,
        Dependence,
        Evaluation,
        KeyedEvaluation,
        Solution,
        dependence_with_key,
        encode,
        evaluate_all_trios,
        evaluate_majority,
        evaluate_on_engine,
        evaluate_trio,
        evaluate_trio_labels,
        evaluate_trios,
        independence_invariants,
    )
    from jurors.hosts import mlflow_run as mlflow
    from jurors.jury import (
        METHODS,
        ByGroup,
        Comparison,
        Jury,
        Labelling,
        Verdict,
        agreement,
        bounds,
        check,
        compare,
        fit_reference,
        gate,
        grade,
        grade_by,
        label,
        label_by,
        score,
        score_by,
        score_labels,
    )
    from jurors.lab import DisjointJury, Plan, Simulation, load_example, plan, simulate
    from jurors.look import Inspection, inspect
    from jurors.monitor import Monitor
    from jurors.numbers import Surd
    from jurors.pairs import PairGrades, Preferences, Ranking, grade_pairs, rank, read_pairs
    from jurors.report.page import report_html, write_report
    from jurors.sketch import Sketch, moments, read_sketch
    from jurors.values import (
        ItemValues,
        NumberGrades,
        Numbers,
        NumberScores,
        grade_numbers,
        read_numbers,
        score_numbers,
        value_items,
    )
    from jurors.votes import Key, Votes, read_key, read_votes, write_votes

__version__ = VERSION

#: Where the names come from, in the order of the journey: each room has loaded those before it anyway. The client is
#: light, and whoever only sends votes should not load what grades them.
_ROOMS = (
    "errors", "client", "votes", "sketch", "numbers", "evaluate", "doubt", "jury", "pairs", "values", "monitor", "look",
    "lab", "report.page",
)  # fmt: skip

#: Public names that are modules themselves; altair and MLflow are loaded when something is drawn or logged.
_MODULES = {
    "audit": "jurors.audit",
    "metrics": "jurors.metrics",
    "mlflow": "jurors.hosts.mlflow_run",
    "plot": "jurors.plot",
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
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in __all__:
        raise AttributeError(f"module 'jurors' has no attribute {name!r}")
    rooms = (import_module(f"jurors.{room}") for room in _ROOMS)
    value = getattr(next(room for room in rooms if name in room.__all__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
