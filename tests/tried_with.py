"""Which tools `jurors` was tried with: every reader and every host, what works, and the file that says which version.

Versions stand where they are used, in the scripts that make samples and in the pins of the development environment,
and are read from there. `python tests/docs/refresh.py` prints the table into `docs/guides/other-tools.md`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
SAMPLES = "votes/readers/samples"
PINS = "../constraints.txt"

WROTE = "tests read what it wrote"
TYPED = "tests read what its package wrote, without the server"
RUNS = "tests run it"
STEPS = "tests run its steps, not on GitHub"
BY_HAND = "a script runs it, by hand"
DOCUMENTED = "documented format"


@dataclass(frozen=True)
class Tried:
    """A tool, and how it is known that it works."""

    tool: str
    works: str
    how: str
    proof: str = ""  #: below tests: where the version stands
    package: str = ""  #: as it is called there
    reader: str = ""  #: what `--from` calls it
    module: str = ""  #: which module of ours works inside it

    @property
    def version(self) -> str:
        """The version that the proof names; none of a documented format."""
        if not self.package:
            return "–"
        text = (TESTS / self.proof).read_text(encoding="utf-8")
        found = re.search(rf"(?<![\w-]){re.escape(self.package)}(?:==|@| )(\d[\w.]*\w)", text)
        if found is None:
            raise LookupError(f"{self.proof} names no version of {self.package}")
        return found[1]


def _export(tool: str, works: str, package: str, reader: str = "", how: str = TYPED) -> Tried:
    return Tried(tool, works, how, f"{SAMPLES}/make_samples.py", package, reader)


TRIED = (
    Tried("Inspect AI", "logs are read", RUNS, PINS, "inspect_ai", reader="inspect"),
    Tried("Inspect AI", "metric, reducer, scorer, hook", RUNS, PINS, "inspect_ai", module="integrations.inspect_ai"),
    Tried("promptfoo", "results are read", WROTE, f"{SAMPLES}/make_samples.py", "promptfoo", reader="promptfoo"),
    Tried(
        "promptfoo",
        "extension that gates a run",
        BY_HAND,
        "integrations/make_promptfoo_run.py",
        "promptfoo",
        module="integrations.promptfoo",
    ),
    Tried(
        "lm-evaluation-harness", "samples are read", WROTE, f"{SAMPLES}/make_samples.py", "lm_eval", reader="lm-eval"
    ),
    Tried("OpenAI evals", "logs are read", WROTE, f"{SAMPLES}/make_samples.py", "evals", reader="openai-evals"),
    Tried("MLflow", "assessed traces are read", WROTE, f"{SAMPLES}/make_samples.py", "mlflow-skinny", reader="mlflow"),
    Tried("MLflow", "`jurors.mlflow.log` into a run", RUNS, PINS, "mlflow-skinny", module="integrations.mlflow"),
    _export("Langfuse", "scores are read", "langfuse", "langfuse"),
    _export("LangSmith", "feedback is read", "langsmith", "langsmith"),
    _export("DeepEval", "test runs are read", "deepeval", "deepeval", WROTE),
    _export("Opik", "feedback scores are read", "opik", "opik"),
    _export("Braintrust", "rows of an experiment are read", "braintrust", "braintrust"),
    _export("Weave", "feedback is read", "weave", "weave"),
    Tried(
        "OpenInference",
        "spans are read",
        WROTE,
        f"{SAMPLES}/make_samples.py",
        "openinference-instrumentation",
        reader="openinference",
    ),
    _export("Phoenix", "frames of annotations are read as tables", "arize-phoenix-client"),
    _export("Ragas", "frames of scores are read as tables", "ragas", how=WROTE),
    _export("TruLens", "frames of records are read as tables", "trulens-core", how=WROTE),
    Tried(
        "Label Studio",
        "exports are read",
        WROTE,
        f"{SAMPLES}/make_samples.py",
        "label-studio",
        reader="label-studio",
    ),
    Tried("Argilla", "exports are read", WROTE, f"{SAMPLES}/make_samples.py", "argilla", reader="argilla"),
    _export("doccano", "exports are read", "doccano", "doccano"),
    Tried("Prodigy", "exports are read", DOCUMENTED, reader="prodigy"),
    Tried("LightTag", "results of a task are read", DOCUMENTED, reader="lighttag"),
    Tried("INCEpTION", "agreement tables are read as tables", DOCUMENTED),
    Tried("TREC", "qrels are read", DOCUMENTED, reader="trec"),
    Tried("JUDGE-BENCH", "data sets are read", DOCUMENTED, reader="judge-bench"),
    Tried("DevAI", "judgments are read", DOCUMENTED, reader="devai"),
    Tried("snorkel", "matrices are read", WROTE, f"{SAMPLES}/make_samples.py", "snorkel", reader="matrix"),
    Tried("cleanlab", "matrices are read", WROTE, f"{SAMPLES}/make_samples.py", "cleanlab", reader="matrix"),
    Tried("crowd-kit", "frames are read", WROTE, f"{SAMPLES}/make_samples.py", "crowd-kit"),
    Tried("pytest", "votes are gated when a session ends", RUNS, PINS, "pytest", module="integrations.pytest"),
    Tried("pandas", "`df.jurors`", RUNS, PINS, "pandas", module="pandas"),
    Tried("scikit-learn", "`jurors.metrics`, `jurors.Jury`", RUNS, PINS, "scikit-learn", module="metrics"),
    Tried("GitHub Actions", "the steps of the action", STEPS, module="integrations.github"),
    Tried("pre-commit", "the hook `jurors-check`", BY_HAND, "integrations/test_github_action.py", "pre-commit"),
    Tried("assistants (MCP)", "tools of `jurors mcp`", RUNS, PINS, "mcp", module="integrations.mcp"),
)


def table() -> str:
    """Tool, what works, which version, and how it was tried; as Markdown."""
    rows = [(one.tool, one.works, one.version, one.how) for one in sorted(TRIED, key=lambda one: one.tool.lower())]
    head = ("tool", "what works", "version", "how it was tried")
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ("---",) * len(head), *rows))
