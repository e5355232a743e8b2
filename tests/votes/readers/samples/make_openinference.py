"""Make the files in openinference/ with the real packages: the SDK, its file exporter, OpenInference's attributes.

pip install opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-json-file==0.66b1
pip install openinference-instrumentation==0.1.72
python make_openinference.py
"""

# mypy: ignore-errors
import json
from pathlib import Path

from openinference.instrumentation import Annotation, get_annotation_attributes, get_evaluation_attributes
from openinference.semconv.trace import OpenInferenceSpanKindValues, SpanAttributes
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator

HERE = Path(__file__).parent / "openinference"
SAID = {"gpt-4": "yes yes no yes", "claude": "yes no no yes", "ann": "yes yes no no"}


class Counting(IdGenerator):
    """Ids that are the same every time."""

    def __init__(self):
        self.last = 0

    def generate_span_id(self):
        """The next one."""
        self.last += 1
        return 0xA0_0000 + self.last

    def generate_trace_id(self):
        """The next one."""
        return 0xB0_0000_0000_0000 + self.last


def main():
    """Four answers, each judged by two models and a person; their tone by code, as an evaluation event."""
    HERE.mkdir(exist_ok=True)
    (HERE / "traces.jsonl").unlink(missing_ok=True)
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "bot"}), id_generator=Counting())
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(HERE / "traces.jsonl"))))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("bot")
    said = {who: words.split() for who, words in SAID.items()}
    for k in range(4):
        with tracer.start_as_current_span("answer") as span:
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
    (HERE / "spans.json").write_text(json.dumps(spans, indent=1) + "\n")


if __name__ == "__main__":
    main()
