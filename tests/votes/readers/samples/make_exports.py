# mypy: disable-error-code="import-not-found"
"""Make the files of the tools below with the tools themselves, without their servers: python make_exports.py TOOL...

pip install langfuse==5.0.4 langsmith==0.14.17 deepeval==4.3.1 opik==2.2.122 braintrust==0.47.0 weave==0.54.0
pip install arize-phoenix-client==3.5.0 pandas==3.1.1 ragas==0.4.3 trulens-core==2.16.0
pip install --no-deps doccano==1.8.4

Where a server would answer, its answer is made of the types that the package has for it, and written by them. DeepEval,
and Braintrust evaluate for themselves; of doccano the exporter runs without the database.
"""

import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import UUID

HERE = Path(__file__).parent
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
#: what each says of four items; nobody says anything of the rest
SAID: dict[str, list[str | None]] = {
    "ann": ["yes", "yes", "no", "no"],
    "bob": ["yes", "no", "no", None],
    "cy": ["yes", "yes", "yes", "no"],
}
VOTES = [(k, name, vote) for name, said in SAID.items() for k, vote in enumerate(said) if vote is not None]


def langfuse() -> None:
    """A page of scores, as versions 2 and 3 of the API give it."""
    from langfuse.api import GetScoresV3Meta, GetScoresV3Response, Score_Categorical, ScoreSubjectV3_Trace
    from langfuse.api import ScoreV3_Boolean as Boolean

    both = {"name": "correct", "source": "ANNOTATION", "timestamp": NOW, "created_at": NOW, "updated_at": NOW}
    scores = [
        Boolean(
            **both, id=f"{name}-{k}", project_id="p", environment="default", author_user_id=name, value=vote == "yes",
            subject=ScoreSubjectV3_Trace(id=f"trace-{k}"),
        )
        for k, name, vote in VOTES
    ]  # fmt: skip
    page = GetScoresV3Response(data=scores, meta=GetScoresV3Meta(limit=50))
    write("langfuse/scores_v3.json", page.model_dump_json(by_alias=True))
    older = [
        Score_Categorical(
            **both, id=f"{name}-{k}", environment="default", author_user_id=name, value=float(vote == "yes"),
            string_value=vote, trace_id=f"trace-{k}",
        )
        for k, name, vote in VOTES
    ]  # fmt: skip
    write("langfuse/scores_v2.jsonl", *(score.model_dump_json(by_alias=True) for score in older))


def langsmith() -> None:
    """Feedback as `client.list_feedback()` yields it."""
    from langsmith.schemas import Feedback, FeedbackSourceBase

    write("langsmith/feedback.jsonl", *(
        Feedback(
            id=UUID(int=100 * k + ord(name[0])), created_at=NOW, modified_at=NOW, run_id=UUID(int=k),
            trace_id=UUID(int=k), key="correct", score=float(vote == "yes"), value=vote,
            feedback_source=FeedbackSourceBase(type="app", user_name=name),
        ).model_dump_json()
        for k, name, vote in VOTES
    ))  # fmt: skip


def deepeval() -> None:
    """A test run with a metric per juror, as it is left in the folder .deepeval."""
    os.chdir(tempfile.mkdtemp())
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
    from deepeval import evaluate
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Verdict(BaseMetric):  # type: ignore[misc]
        """What one juror says; who says nothing fails to grade."""

        def __init__(self, name: str) -> None:
            self.name, self.threshold, self.evaluation_model, self.async_mode = name, 0.5, f"model of {name}", False

        def measure(self, case: Any, *_: Any, **__: Any) -> float:
            vote = SAID[self.name][int(case.input.split()[1])]
            if vote is None:
                raise ValueError("no answer")
            self.score = float(vote == "yes")
            self.success = vote == "yes"
            return self.score

        async def a_measure(self, case: Any, *rest: Any, **more: Any) -> float:
            return self.measure(case, *rest, **more)

        def is_successful(self) -> bool:
            return bool(self.success)

        @property
        def __name__(self) -> str:
            return "Correctness"

    from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig

    cases = [LLMTestCase(name=f"case {k}", input=f"question {k}", actual_output=f"answer {k}") for k in range(4)]
    evaluate(
        cases, [Verdict(name) for name in SAID], async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(print_results=False), error_config=ErrorConfig(ignore_errors=True),
    )  # fmt: skip
    write("deepeval/latest_run_full.json", Path(".deepeval/.latest_run_full.json").read_text())


def opik() -> None:
    """A page of traces; two people scored each, and a judge."""
    from opik.rest_api.types import FeedbackScorePublic, TracePagePublic, TracePublic, ValueEntryPublic

    def entry(vote: str) -> Any:
        return ValueEntryPublic(value=float(vote == "yes"), category_name=vote, source="ui", last_updated_at=NOW)

    traces = []
    for k in range(4):
        by = {name: entry(vote) for place, name, vote in VOTES if place == k}
        mean = sum(one.value for one in by.values()) / len(by)
        score = FeedbackScorePublic(name="correct", value=mean, source="ui", created_by="ann", value_by_author=by)
        traces.append(TracePublic(id=f"trace-{k}", name="chat", start_time=NOW, feedback_scores=[score]))
    page = TracePagePublic(page=1, size=4, total=4, content=traces)
    write("opik/traces.json", page.json(exclude_none=True))


def braintrust() -> None:
    """The rows that an evaluation sends, caught before they are sent."""
    from braintrust import logger
    from braintrust.test_helpers import init_test_exp, simulate_login

    simulate_login()

    worth = {"yes": 1.0, "no": 0.0, None: None}
    with logger._internal_with_memory_background_logger() as kept:
        experiment = init_test_exp("judges")
        for k in range(4):
            with experiment.start_span(name="eval") as span:
                span.log(input=k, output=str(k), scores={name: worth[said[k]] for name, said in SAID.items()})
        rows = kept.pop()
    wanted = ("id", "span_id", "root_span_id", "input", "output", "scores", "is_root", "created")
    write("braintrust/rows.jsonl", *(json.dumps({key: row[key] for key in wanted if key in row}) for row in rows))


def weave() -> None:
    """Feedback as a query returns it: people annotate, a scorer scores, somebody writes a note."""
    from weave.trace.feedback import Feedback
    from weave.trace.feedback_types import NOTE_FEEDBACK_TYPE, RUNNABLE_FEEDBACK_TYPE_PREFIX

    def row(k: int, who: str, kind: str, payload: dict[str, Any]) -> Any:
        ref = f"weave:///me/project/call/{k}"
        own = {"id": f"{k}{who}{kind}", "project_id": "me/project", "weave_ref": ref, "created_at": NOW}
        return Feedback(**own, creator=who, feedback_type=kind, payload=payload)

    rows = [
        row(k, name, f"{RUNNABLE_FEEDBACK_TYPE_PREFIX}.{name}", {"output": {"correct": vote == "yes"}})
        for k, name, vote in VOTES
    ]
    rows.append(row(0, "ann", NOTE_FEEDBACK_TYPE, {"note": "hm"}))
    write("weave/feedback.jsonl", *(one.model_dump_json() for one in rows))


def doccano() -> None:
    """A JSONL file per annotator, by the formatters and the writer of the exporter."""
    import pandas as pd

    sys.path.insert(
        0, str(next(Path(p) / "backend" for p in sys.path if (Path(p) / "backend" / "data_export").is_dir()))
    )
    models = ModuleType("data_export.models")
    models.DATA = "data"  # type: ignore[attr-defined]
    sys.modules["data_export.models"] = models
    from data_export.pipeline.formatters import ListedCategoryFormatter, RenameFormatter
    from data_export.pipeline.writers import JsonlWriter

    for name, votes in SAID.items():
        rows = [
            {"id": k + 1, "data": f"text/{k}",
             "categories": [SimpleNamespace(to_string=lambda v=vote: v)] if vote else [], "Comments": []}
            for k, vote in enumerate(votes)
        ]  # fmt: skip
        frame = pd.DataFrame(rows)
        for formatter in (ListedCategoryFormatter("categories"), RenameFormatter(data="text", categories="label")):
            frame = formatter.format(frame)
        (HERE / "doccano").mkdir(exist_ok=True)
        JsonlWriter.write(str(HERE / "doccano" / f"{name}.jsonl"), frame)


def phoenix() -> None:
    """The frame of annotations, as the client makes it of the server's answer."""
    import httpx
    from phoenix.client.resources.spans import Spans

    said = [
        {"id": f"{name}{k}", "name": "correct", "annotator_kind": "LLM", "identifier": name, "span_id": f"span-{k}",
         "result": {"label": vote, "score": float(vote == "yes"), "explanation": None}, "metadata": {}, "source": "API",
         "created_at": NOW.isoformat(), "updated_at": NOW.isoformat(), "user_id": None}
        for k, name, vote in VOTES
    ]  # fmt: skip
    answer = httpx.MockTransport(lambda request: httpx.Response(200, json={"data": said, "next_cursor": None}))
    with httpx.Client(transport=answer, base_url="http://phoenix") as client:
        frame = Spans(client).get_span_annotations_dataframe(span_ids=[f"span-{k}" for k in range(4)])
    save(frame, "phoenix/annotations.csv", index=True)


def ragas() -> None:
    """The frame of an evaluation by metrics that ask no model."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    from ragas import EvaluationDataset, SingleTurnSample, evaluate
    from ragas.metrics.base import MetricType, SingleTurnMetric

    class Judge(SingleTurnMetric):  # type: ignore[misc]
        """What one juror says."""

        def __init__(self, name: str) -> None:
            self.name = name
            self._required_columns = {MetricType.SINGLE_TURN: {"user_input", "response"}}

        def init(self, run_config: Any) -> None:
            """Nothing to set up."""

        async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
            return {"yes": 1.0, "no": 0.0, None: float("nan")}[SAID[self.name][int(sample.user_input.split()[1])]]

    samples = [SingleTurnSample(user_input=f"question {k}", response=f"answer {k}") for k in range(4)]
    result = evaluate(EvaluationDataset(samples=samples), [Judge(name) for name in SAID], show_progress=False)
    save(result.to_pandas(), "ragas/scores.csv")


def trulens() -> None:
    """The frame of records and feedback, from a database that the evaluation itself fills."""
    os.environ["TRULENS_OTEL_TRACING"] = "0"
    from trulens.apps.virtual import TruVirtual, VirtualApp, VirtualRecord
    from trulens.core import Feedback, Select, TruSession

    def judge(name: str) -> Any:
        def vote(question: str) -> float:
            return float(SAID[name][int(question.split()[1])] == "yes")

        return Feedback(vote, name=name).on(question=Select.RecordInput)

    with tempfile.TemporaryDirectory() as folder:
        session = TruSession(database_url=f"sqlite:///{folder}/trulens.sqlite")
        app = VirtualApp()
        method = Select.RecordCalls.llm
        watched = TruVirtual(app_name="chat", app_version="1", app=app, feedbacks=[judge(name) for name in SAID])
        for k in range(4):
            call = {"args": [f"question {k}"], "rets": [f"answer {k}"]}
            watched.add_record(
                VirtualRecord(main_input=f"question {k}", main_output=f"answer {k}", calls={method: call}),
                feedback_mode="with_app",
            )
        frame, _ = session.get_records_and_feedback()
        for column in ("app_json", "record_json", *(f"{name}_calls" for name in SAID)):
            frame[column] = "{}"  # long, and full of paths
        save(frame.sort_values("input"), "trulens/records.csv")


def write(name: str, *lines: str) -> None:
    """One JSON document a line."""
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))


def save(frame: Any, name: str, *, index: bool = False) -> None:
    """A frame as CSV."""
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    frame.to_csv(path, index=index)


if __name__ == "__main__":
    for tool in sys.argv[1:]:
        globals()[tool]()
