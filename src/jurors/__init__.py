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
    reporting/     the HTML page and its `charts/`; `plot.py` is their public face
    lab/           examples, simulation, planning
    watch/         `jurors watch`: a growing file, a folder of logs, standard input
    serve/         `jurors serve`: votes over HTTP, stores, API keys, the dashboard
    client.py      Client and AsyncClient
    integrations/  Inspect AI, promptfoo, MLflow, pytest, GitHub, MCP
    cli/           one thin function per command

Below all of them are `errors.py`, `options.py`, `results.py`, `progress.py`, `versions.py`, `_files.py`, `_lazy.py`,
`_numeric.py` and `exact.py`; above `jury`, `metrics.py` (as in scikit-learn), `testing.py` (the contract of methods)
and `theory.py` (exact and research functions). `data/` holds the examples' votes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jurors.versions import VERSION

if TYPE_CHECKING:
    from jurors import audit, metrics, plot, testing, theory
    from jurors.client import AsyncClient, Client
    from jurors.errors import JurorsError, OptionError, SketchError, VotesError
    from jurors.evaluate.alarms import Alarm
    from jurors.evaluate.evaluation import Evaluation
    from jurors.inspection import inspect
    from jurors.jury.check import check
    from jurors.jury.compare import agreement, bounds, compare, score
    from jurors.jury.estimator import Jury
    from jurors.jury.grade import grade
    from jurors.jury.label import Labelling, label
    from jurors.jury.panels import panels
    from jurors.jury.systems import systems
    from jurors.lab import load_example
    from jurors.lab.plan import plan
    from jurors.lab.simulate import simulate
    from jurors.monitor.monitor import Monitor
    from jurors.pairwise.grade import rank
    from jurors.reporting.page import report
    from jurors.sketch.sketch import Sketch
    from jurors.votes.key import Key, read_key
    from jurors.votes.read import read_votes
    from jurors.votes.table import Votes

__version__ = VERSION

#: Module -> the public names in it. A name loads its module when it is first used, so that `import jurors` stays quick.
_NAMES = {
    "jurors.client": "AsyncClient Client",
    "jurors.errors": "JurorsError OptionError SketchError VotesError",
    "jurors.evaluate.alarms": "Alarm",
    "jurors.evaluate.evaluation": "Evaluation",
    "jurors.inspection": "inspect",
    "jurors.jury.check": "check",
    "jurors.jury.compare": "agreement bounds compare score",
    "jurors.jury.estimator": "Jury",
    "jurors.jury.grade": "grade",
    "jurors.jury.label": "Labelling label",
    "jurors.jury.panels": "panels",
    "jurors.jury.systems": "systems",
    "jurors.lab": "load_example",
    "jurors.lab.plan": "plan",
    "jurors.lab.simulate": "simulate",
    "jurors.monitor.monitor": "Monitor",
    "jurors.pairwise.grade": "rank",
    "jurors.reporting.page": "report",
    "jurors.sketch.sketch": "Sketch",
    "jurors.votes.key": "Key read_key",
    "jurors.votes.read": "read_votes",
    "jurors.votes.table": "Votes",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Alarm",
    "AsyncClient",
    "Client",
    "Evaluation",
    "JurorsError",
    "Jury",
    "Key",
    "Labelling",
    "Monitor",
    "OptionError",
    "Sketch",
    "SketchError",
    "Votes",
    "VotesError",
    "agreement",
    "audit",
    "bounds",
    "check",
    "compare",
    "grade",
    "inspect",
    "label",
    "load_example",
    "metrics",
    "panels",
    "plan",
    "plot",
    "rank",
    "read_key",
    "read_votes",
    "report",
    "score",
    "simulate",
    "systems",
    "testing",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'jurors' has no attribute {name!r}")
    if name not in _HOMES:
        return import_module(f"jurors.{name}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
