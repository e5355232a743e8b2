# mypy: ignore-errors
"""Make the samples of the tools below with the tools themselves, without their servers: python make_samples.py TOOL...

pip install langfuse==5.0.4 langsmith==0.14.17 deepeval==4.3.1 opik==2.2.122 braintrust==0.47.0 weave==0.54.0
pip install arize-phoenix-client==3.5.0 pandas==3.1.1 ragas==0.4.3 trulens-core==2.16.0 argilla==2.8.0
pip install crowd-kit==1.4.2 snorkel==0.10.0 cleanlab==2.9.0 mlflow-skinny==3.17.2 lm_eval==0.4.13
pip install opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-json-file==0.66b1
pip install openinference-instrumentation==0.1.72
pip install --no-deps doccano==1.8.4
npm install promptfoo@0.123.1  # with Node.js 22, and node_modules/.bin in PATH
pip install label-studio==1.23.2  # start it with --user-token TOKEN --enable-legacy-api-token

Where a server would answer, its answer is made of the types that the package has for it, and written by them. Label
Studio alone must run, at $LABEL_STUDIO with $TOKEN; of doccano the exporter runs without the database.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from uuid import UUID

HERE = Path(__file__).parent
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
#: what each says of four items; nobody says anything of the rest
SAID = {"ann": ["yes", "yes", "no", "no"], "bob": ["yes", "no", "no", None], "cy": ["yes", "yes", "yes", "no"]}
VOTES = [(k, name, vote) for name, said in SAID.items() for k, vote in enumerate(said) if vote is not None]


def write(name, *lines):
    """One JSON document a line."""
    (HERE / name).parent.mkdir(parents=True, exist_ok=True)
    (HERE / name).write_text("".join(line + "\n" for line in lines))


def save(frame, name, *, index=False):
    """A frame as CSV."""
    (HERE / name).parent.mkdir(exist_ok=True)
    frame.to_csv(HERE / name, index=index)


# -- tracing tools: the answers of their servers ------------------------------------------------------------------


def langfuse():
    """A page of scores, as versions 2 and 3 of the API give it."""
    from langfuse.api import GetScoresV3Meta, GetScoresV3Response, Score_Categorical, ScoreSubjectV3_Trace
    from langfuse.api import ScoreV3_Boolean as Boolean

    both = {"name": "correct", "source": "ANNOTATION", "timestamp": NOW, "created_at": NOW, "updated_at": NOW}
    both |= {"environment": "default"}
    scores = [
        Boolean(**both, id=f"{name}-{k}", project_id="p", author_user_id=name, value=vote == "yes",
                subject=ScoreSubjectV3_Trace(id=f"trace-{k}"))
        for k, name, vote in VOTES
    ]  # fmt: skip
    page = GetScoresV3Response(data=scores, meta=GetScoresV3Meta(limit=50))
    write("langfuse/scores_v3.json", page.model_dump_json(by_alias=True))
    older = [
        Score_Categorical(**both, id=f"{name}-{k}", author_user_id=name, value=float(vote == "yes"), string_value=vote,
                          trace_id=f"trace-{k}")
        for k, name, vote in VOTES
    ]  # fmt: skip
    write("langfuse/scores_v2.jsonl", *(score.model_dump_json(by_alias=True) for score in older))


def langsmith():
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


def opik():
    """A page of traces; two people scored each, and a judge."""
    from opik.rest_api.types import FeedbackScorePublic, TracePagePublic, TracePublic, ValueEntryPublic

    def entry(vote):
        return ValueEntryPublic(value=float(vote == "yes"), category_name=vote, source="ui", last_updated_at=NOW)

    traces = []
    for k in range(4):
        by = {name: entry(vote) for place, name, vote in VOTES if place == k}
        mean = sum(one.value for one in by.values()) / len(by)
        score = FeedbackScorePublic(name="correct", value=mean, source="ui", created_by="ann", value_by_author=by)
        traces.append(TracePublic(id=f"trace-{k}", name="chat", start_time=NOW, feedback_scores=[score]))
    write("opik/traces.json", TracePagePublic(page=1, size=4, total=4, content=traces).json(exclude_none=True))


def braintrust():
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


def weave():
    """Feedback as a query returns it: people annotate, a scorer scores, somebody writes a note."""
    from weave.trace.feedback import Feedback
    from weave.trace.feedback_types import NOTE_FEEDBACK_TYPE, RUNNABLE_FEEDBACK_TYPE_PREFIX

    def row(k, who, kind, payload):
        own = {"id": f"{k}{who}{kind}", "project_id": "me/project", "weave_ref": f"weave:///me/project/call/{k}"}
        return Feedback(**own, created_at=NOW, creator=who, feedback_type=kind, payload=payload).model_dump_json()

    kinds = {name: f"{RUNNABLE_FEEDBACK_TYPE_PREFIX}.{name}" for name in SAID}
    rows = [row(k, name, kinds[name], {"output": {"correct": vote == "yes"}}) for k, name, vote in VOTES]
    write("weave/feedback.jsonl", *rows, row(0, "ann", NOTE_FEEDBACK_TYPE, {"note": "hm"}))


def phoenix():
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


def openinference():
    """Four answers, each judged by two models and a person; their tone by code, as an evaluation event."""
    from openinference.instrumentation import Annotation, get_annotation_attributes, get_evaluation_attributes
    from openinference.semconv.trace import OpenInferenceSpanKindValues, SpanAttributes
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class Counting(IdGenerator):
        """Ids that are the same every time."""

        last = 0

        def generate_span_id(self):
            self.last += 1
            return 0xA0_0000 + self.last

        def generate_trace_id(self):
            return 0xB0_0000_0000_0000 + self.last

    write("openinference/traces.jsonl")
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "bot"}), id_generator=Counting())
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(HERE / "openinference" / "traces.jsonl"))))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    said = {
        "gpt-4": ("yes", "yes", "no", "yes"),
        "claude": ("yes", "no", "no", "yes"),
        "ann": ("yes", "yes", "no", "no"),
    }
    for k in range(4):
        with provider.get_tracer("bot").start_as_current_span("answer") as span:
            span.set_attribute(SpanAttributes.OPENINFERENCE_SPAN_KIND, OpenInferenceSpanKindValues.LLM.value)
            span.set_attribute(SpanAttributes.INPUT_VALUE, f"question {k}")
            span.set_attribute(SpanAttributes.OUTPUT_VALUE, f"answer {k}")
            models = [
                Annotation(name="correct", label=said[who][k], score=int(said[who][k] == "yes"), annotator_kind="LLM",
                           identifier=who, explanation="so it is", metadata={"rubric": 2})
                for who in ("gpt-4", "claude")
            ]  # fmt: skip
            span.set_attributes(get_annotation_attributes(annotations=models))
            person = Annotation(name="correct", label=said["ann"][k], annotator_kind="HUMAN", identifier="ann")
            whole = Annotation(name="resolved", score=k % 2, annotator_kind="CODE")
            span.set_attributes(get_evaluation_attributes(evaluations=[person]))
            span.set_attributes(get_evaluation_attributes(evaluations=[whole], scope="trace"))
            event = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.label": ("good", "bad")[k // 2]}
            span.add_event("gen_ai.evaluation.result", event)
    provider.shutdown()
    spans = [json.loads(span.to_json()) for span in memory.get_finished_spans()]
    write("openinference/spans.json", json.dumps(spans, indent=1))


def mlflow():
    """Three traces: two judges and a person on correctness, code on tone, a failure, an override, an expectation."""
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    import mlflow
    from mlflow.entities import AssessmentSource

    answer = mlflow.trace(lambda question: question.upper(), name="answer")
    ann, claude = AssessmentSource("HUMAN", "ann"), AssessmentSource("LLM_JUDGE", "claude")
    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"file:{folder}")
        mlflow.set_experiment("questions")
        traces = []
        for k in range(3):
            answer(f"q{k}")
            traces.append(mlflow.get_last_active_trace_id())
        mlflow.flush_trace_async_logging()
        for k, trace in enumerate(traces):
            for name, source, value in (
                ("correct", AssessmentSource("LLM_JUDGE", "gpt-4"), k != 1),
                ("correct", claude, k != 2),
                ("correct", ann, True),
                ("tone", AssessmentSource("CODE", "tone"), ("good", "bad", "good")[k]),
            ):
                mlflow.log_feedback(trace_id=trace, name=name, value=value, source=source, rationale="so it is")
            mlflow.log_expectation(trace_id=trace, name="expected", value="Q", source=ann)
        failed = AssessmentSource("LLM_JUDGE", "llama")
        mlflow.log_feedback(trace_id=traces[0], name="correct", error=ValueError("no answer"), source=failed)
        seen = mlflow.get_trace(traces[2]).info.assessments
        first = next(a.assessment_id for a in seen if a.source.source_id == "claude")
        mlflow.override_feedback(trace_id=traces[2], assessment_id=first, value=True, source=claude)
        private = ["trace", "spans", "tags", "trace_metadata"]  # hold the user's name and the machine's paths
        frame = mlflow.search_traces().drop(columns=private).sort_values("response")
        frame.to_json(HERE / "mlflow" / "traces.jsonl", orient="records", lines=True)
        frame.to_json(HERE / "mlflow" / "traces.json")
        for row in frame["assessments"]:
            row[:] = [a for a in row if a["assessment_name"] == "correct"]  # Arrow wants values of one type
        frame.to_parquet(HERE / "mlflow" / "correct.parquet", index=False)


# -- tools that evaluate ------------------------------------------------------------------------------------------


def deepeval():
    """A test run with a metric per juror, as it is left in the folder .deepeval; who says nothing fails to grade."""
    os.chdir(tempfile.mkdtemp())
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Verdict(BaseMetric):
        """What one juror says."""

        __name__ = "Correctness"

        def __init__(self, name):
            self.name, self.threshold, self.evaluation_model, self.async_mode = name, 0.5, f"model of {name}", False

        def measure(self, case, *_, **__):
            vote = SAID[self.name][int(case.input.split()[1])]
            if vote is None:
                raise ValueError("no answer")
            self.score, self.success = float(vote == "yes"), vote == "yes"
            return self.score

        async def a_measure(self, case, *rest, **more):
            return self.measure(case, *rest, **more)

        def is_successful(self):
            return bool(self.success)

    cases = [LLMTestCase(name=f"case {k}", input=f"question {k}", actual_output=f"answer {k}") for k in range(4)]
    evaluate(
        cases, [Verdict(name) for name in SAID], async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(print_results=False), error_config=ErrorConfig(ignore_errors=True),
    )  # fmt: skip
    write("deepeval/latest_run_full.json", Path(".deepeval/.latest_run_full.json").read_text())


def ragas():
    """The frame of an evaluation by metrics that ask no model."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    from ragas import EvaluationDataset, SingleTurnSample, evaluate
    from ragas.metrics.base import MetricType, SingleTurnMetric

    class Judge(SingleTurnMetric):
        """What one juror says."""

        def __init__(self, name):
            self.name = name
            self._required_columns = {MetricType.SINGLE_TURN: {"user_input", "response"}}

        def init(self, run_config):
            """Nothing to set up."""

        async def _single_turn_ascore(self, sample, callbacks):
            return {"yes": 1.0, "no": 0.0, None: float("nan")}[SAID[self.name][int(sample.user_input.split()[1])]]

    samples = [SingleTurnSample(user_input=f"question {k}", response=f"answer {k}") for k in range(4)]
    result = evaluate(EvaluationDataset(samples=samples), [Judge(name) for name in SAID], show_progress=False)
    save(result.to_pandas(), "ragas/scores.csv")


def trulens():
    """The frame of records and feedback, from a database that the evaluation itself fills."""
    os.environ["TRULENS_OTEL_TRACING"] = "0"
    from trulens.apps.virtual import TruVirtual, VirtualApp, VirtualRecord
    from trulens.core import Feedback, Select, TruSession

    def judge(name):
        def vote(question: str) -> float:
            return float(SAID[name][int(question.split()[1])] == "yes")

        return Feedback(vote, name=name).on(question=Select.RecordInput)

    with tempfile.TemporaryDirectory() as folder:
        session = TruSession(database_url=f"sqlite:///{folder}/trulens.sqlite")
        judges = [judge(name) for name in SAID]
        watched = TruVirtual(app_name="chat", app_version="1", app=VirtualApp(), feedbacks=judges)
        for k in range(4):
            asked, answer = f"question {k}", f"answer {k}"
            calls = {Select.RecordCalls.llm: {"args": [asked], "rets": [answer]}}
            record = VirtualRecord(main_input=asked, main_output=answer, calls=calls)
            watched.add_record(record, feedback_mode="with_app")
        frame, _ = session.get_records_and_feedback()
        for column in ("app_json", "record_json", *(f"{name}_calls" for name in SAID)):
            frame[column] = "{}"  # long, and full of paths
        save(frame.sort_values("input"), "trulens/records.csv")


def lm_eval():
    """Two runs of the dummy model under two names, one name twice."""
    common = {
        "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": "questions.jsonl"}}, "test_split": "test",
        "doc_to_text": "Q: {{question}}\nA:",
    }  # fmt: skip

    def found(name, pattern):
        return {"name": name, "filter": [{"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]}

    tasks = {
        "colours": {
            "output_type": "multiple_choice", "doc_to_target": "{{answer}}", "doc_to_choice": "{{choices}}",
            "metric_list": [{"metric": "acc"}, {"metric": "acc_mutual_info"}],
        },
        "words": {
            "output_type": "generate_until", "doc_to_target": "l", "generation_kwargs": {"until": ["\n"]},
            "metric_list": [{"metric": "exact_match"}],
            "filter_list": [found("vowel", "([o])"), found("strict", "(u)")],
        },
    }  # fmt: skip
    shutil.rmtree(HERE / "lm_eval", ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        place, chosen = Path(folder), random.Random(1)
        for thing in ("grass", "blood", "sky", "coal"):
            choices = ["red", "green", "blue"]
            question = {"question": f"Which colour has {thing}?", "choices": choices, "answer": chosen.randrange(3)}
            with place.joinpath("questions.jsonl").open("a") as file:
                file.write(json.dumps(question) + "\n")
        for name, task in tasks.items():
            place.joinpath(f"{name}.yaml").write_text(json.dumps({"task": name, **common, **task}))  # JSON is YAML
        for model, seed in (("org/model-a", 1), ("org/model-b", 2), ("org/model-b", 3)):
            command = f"lm_eval --model dummy --model_args pretrained={model} --tasks colours,words --include_path . "
            command += f"--output_path out --log_samples --seed {seed}"
            offline = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": folder}
            subprocess.run(command.split(), cwd=folder, env=os.environ | offline, check=True)
        for path in place.joinpath("out").rglob("samples_*.jsonl"):
            write(HERE / "lm_eval" / path.relative_to(place / "out"), *path.read_text().splitlines())


def promptfoo():
    """One evaluation, written as JSON and as JSON lines; the paths of this machine taken out."""
    grader = """
module.exports = class {
  constructor(options) { this.letter = options.config.letter; }
  id() { return 'letter ' + this.letter; }
  async callApi(prompt) {
    const output = prompt.split('<Output>').pop().split('</Output>')[0].replaceAll('\\\\n', '').trim();
    if (output === 'blue sky' && this.letter === 'z') { return { output: 'no idea' }; }
    const pass = output.includes(this.letter);
    return { output: JSON.stringify({ pass, score: pass ? 1 : 0, reason: 'letter ' + this.letter }) };
  }
};
"""
    models = [{"id": "file://grader.js", "label": f"judge-{letter}", "config": {"letter": letter}} for letter in "abz"]
    rubrics = [{"type": "llm-rubric", "value": "is kind", "provider": model} for model in models]
    both = {"type": "assert-set", "assert": [{"type": "contains", "value": "S"}, {"type": "contains", "value": "e"}]}
    length = {"type": "javascript", "value": "output.length > 8", "metric": "length"}
    config = {
        "prompts": ["Say: {{q}}", "{{q}}"], "providers": [{"id": "echo", "label": "parrot"}],
        "defaultTest": {"assert": [*rubrics, both, length]},
        "tests": [{"vars": {"q": "apple pie"}}, {"vars": {"q": "blue sky"}}],
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "grader.js").write_text(grader)
        Path(folder, "config.json").write_text(json.dumps(config))
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": folder}
        command = "promptfoo eval -c config.json --no-cache --no-table -o results.json -o results.jsonl"
        subprocess.run(command.split(), cwd=folder, env=os.environ | quiet, check=False)  # fails as an assertion does
        for name in ("results.json", "results.jsonl"):
            (HERE / "promptfoo" / name).write_text(Path(folder, name).read_text().replace(folder, "."))


# -- annotation tools and matrices --------------------------------------------------------------------------------


def doccano():
    """A JSONL file per annotator, by the formatters and the writer of the exporter."""
    import pandas as pd

    backends = (Path(place) / "backend" for place in sys.path)
    sys.path.insert(0, str(next(place for place in backends if (place / "data_export").is_dir())))
    sys.modules["data_export.models"] = models = ModuleType("data_export.models")
    models.DATA = "data"
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
        JsonlWriter.write(str(HERE / "doccano" / f"{name}.jsonl"), frame)


def argilla():
    """Records as a server would hand them out, by what dataset.records.to_json and to_list call."""
    import argilla as rg
    from argilla.records._io import GenericIO, JsonIO

    ann, bob, cy = (UUID(int=number) for number in (1, 2, 3))
    said = [  # text, then (user, verdict, status), then what the model suggested
        ("Paris is in France.", [(ann, "right", "submitted"), (bob, "right", "submitted")], "right"),
        (
            "Rome is in Spain.",
            [(ann, "wrong", "submitted"), (bob, "right", "draft"), (cy, "wrong", "submitted")],
            "wrong",
        ),
        ("Oslo is in Norway.", [(ann, "right", "submitted"), (cy, "wrong", "discarded")], "right"),
        ("Bern is in Italy.", [(bob, "right", "submitted"), (cy, "wrong", "submitted")], "wrong"),
        ("Nobody looked at this one.", [], None),
    ]
    records = [
        rg.Record(
            id=f"q{number}", fields={"text": text}, metadata={"source": "hand"},
            responses=[rg.Response("verdict", value, user, status=status) for user, value, status in responses],
            suggestions=[rg.Suggestion("verdict", suggested, score=0.9, agent="small-model")] if suggested else [],
        )
        for number, (text, responses, suggested) in enumerate(said, 1)
    ]  # fmt: skip
    (HERE / "argilla" / "nested.json").unlink(missing_ok=True)
    JsonIO.to_json(records, HERE / "argilla" / "nested.json")
    write("argilla/flat.jsonl", *map(json.dumps, GenericIO.to_list(records, flatten=True)))


def label_studio():
    """Make a project, let two people and a model label it, export it in three ways."""
    import requests

    config = """<View><Text name="text" value="$text"/>
<Choices name="verdict" toName="text" choice="single"><Choice value="right"/><Choice value="wrong"/></Choices>
<Rating name="sure" toName="text"/><TextArea name="comment" toName="text"/></View>"""
    texts = ["Paris is in France.", "Rome is in Spain.", "Oslo is in Norway.", "Bern is in Italy."]
    said = {"ann": ["right", "wrong", "right", None], "bob": ["right", "right", None, "wrong"]}  # None: cancelled
    url, session = os.environ["LABEL_STUDIO"], requests.Session()
    session.headers["Authorization"] = f"Token {os.environ['TOKEN']}"

    def part(tag, kind, **value):
        """What one control tag says."""
        return {"from_name": tag, "to_name": "text", "type": kind, "value": value}

    def verdict(label):
        return part("verdict", "choices", choices=[label])

    def asked(method, path, **more):
        answer = session.request(method, url + path, **more)
        answer.raise_for_status()
        return answer.json()

    def post(path, body):
        return asked("POST", path, json=body)

    def keep(name, path, kind):
        exported = asked("GET", path, params={"exportType": kind})
        write(f"label_studio/{name}.json", json.dumps(exported, indent=1, ensure_ascii=False))

    bob = post("/api/users/", {"email": "bob@example.com", "username": "bob", "first_name": "Bob"})["id"]
    ann = asked("GET", "/api/current-user/whoami")["id"]
    project = post("/api/projects/", {"title": "verdicts", "label_config": config})["id"]
    tasks = [post("/api/tasks/", {"project": project, "data": {"text": text}})["id"] for text in texts]
    for who, user in (("ann", ann), ("bob", bob)):
        for task, label in zip(tasks, said[who], strict=True):
            result = [verdict(label or "right"), part("sure", "rating", rating=4)]
            result += [part("comment", "textarea", text=["not sure"])] if who == "bob" else []
            body = {"result": result, "was_cancelled": label is None, "completed_by": user, "lead_time": 2.5}
            post(f"/api/tasks/{task}/annotations/", body)
    post(f"/api/tasks/{tasks[2]}/drafts", {"result": [verdict("wrong")]})
    for task, label in zip(tasks, ["right", "wrong", "wrong", "wrong"], strict=True):
        body = {"task": task, "result": [verdict(label)], "score": 0.8, "model_version": "small-model"}
        post("/api/predictions/", body)
    for kind in ("JSON", "JSON_MIN"):
        keep(kind.lower(), f"/api/projects/{project}/export", kind)
    options = {"serialization_options": {"predictions": {"only_id": False}}}  # else: the predictions' numbers alone
    made = post(f"/api/projects/{project}/exports/", options)["id"]
    keep("snapshot", f"/api/projects/{project}/exports/{made}/download", "JSON")


def crowdkit():
    """A frame as crowd-kit takes and keeps it: task, worker, label."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    said, words = {"t1": "yyn", "t2": "nnn", "t3": "yy", "t4": "nyn", "t5": "yyy"}, {"y": "yes", "n": "no"}
    rows = [(task, f"w{k}", words[vote]) for task, votes in said.items() for k, vote in enumerate(votes, 1)]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    DawidSkene(n_iter=5).fit_predict(frame)  # crowd-kit takes this very frame
    save(frame, "crowdkit/crowd.csv")


def matrix():
    """The labels of three functions of snorkel, and an array as cleanlab takes it."""
    import numpy as np
    import pandas as pd
    from cleanlab.multiannotator import get_majority_vote_label
    from snorkel.labeling import LabelingFunction, PandasLFApplier

    abstain, ham, spam = -1, 0, 1
    texts = ["see http://a.example", "thanks!", "BUY NOW", "A LONG AND LOUD MESSAGE http://b.example"]
    frame = pd.DataFrame({"text": [*texts, "lunch at noon, then a walk"]})
    rules = {
        "has_link": lambda x: spam if "http" in x.text else abstain,
        "is_short": lambda x: ham if len(x.text) < 20 else abstain,
        "shouts": lambda x: spam if x.text.isupper() else ham,
    }
    functions = [LabelingFunction(name, rule) for name, rule in rules.items()]
    votes = PandasLFApplier(functions).apply(frame, progress_bar=False)
    np.save(HERE / "matrix" / "snorkel.npy", votes)
    np.savez(HERE / "matrix" / "snorkel_named.npz", L=votes, jurors=list(rules), classes=["ham", "spam"])
    labels = np.array([[0, 0, np.nan], [1, np.nan, 2], [2, 2, 2], [np.nan, 1, 1]])  # NaN is no vote
    get_majority_vote_label(labels, verbose=False)  # cleanlab takes this very array
    np.save(HERE / "matrix" / "cleanlab.npy", labels)


if __name__ == "__main__":
    for tool in sys.argv[1:]:
        globals()[tool]()
