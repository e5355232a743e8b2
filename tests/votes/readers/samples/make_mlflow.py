"""Make the files in mlflow/ with MLflow itself; they were made with mlflow-skinny 3.17.2 and pandas 3.1.1.

pip install mlflow-skinny==3.17.2 pandas pyarrow
python make_mlflow.py
"""

import os
import tempfile
from pathlib import Path

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

import mlflow
from mlflow.entities import AssessmentSource

HERE = Path(__file__).parent / "mlflow"
PRIVATE = ["trace", "spans", "tags", "trace_metadata"]  # hold the user's name and the machine's paths


@mlflow.trace  # type: ignore[untyped-decorator]
def answer(question: str) -> str:
    """What is traced."""
    return question.upper()


def main() -> None:
    """Three traces: two judges and a person on correctness, code on tone, a failure, an override, an expectation."""
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"file:{folder}")
        mlflow.set_experiment("questions")
        traces = []
        for k in range(3):
            answer(f"q{k}")
            traces.append(mlflow.get_last_active_trace_id())
        mlflow.flush_trace_async_logging()
        for k, trace in enumerate(traces):
            for name, kind, source, value in (
                ("correct", "LLM_JUDGE", "gpt-4", k != 1),
                ("correct", "LLM_JUDGE", "claude", k != 2),
                ("correct", "HUMAN", "ann", True),
                ("tone", "CODE", "tone", ("good", "bad", "good")[k]),
            ):
                said = AssessmentSource(kind, source)
                mlflow.log_feedback(trace_id=trace, name=name, value=value, source=said, rationale="so it is")
            mlflow.log_expectation(trace_id=trace, name="expected", value="Q", source=AssessmentSource("HUMAN", "ann"))
        failed = AssessmentSource("LLM_JUDGE", "llama")
        mlflow.log_feedback(trace_id=traces[0], name="correct", error=ValueError("no answer"), source=failed)
        seen = mlflow.get_trace(traces[2]).info.assessments
        first = next(a for a in seen if a.source.source_id == "claude")
        new = mlflow.entities.Feedback(name="correct", value=True, source=AssessmentSource("LLM_JUDGE", "claude"))
        mlflow.override_feedback(
            trace_id=traces[2], assessment_id=first.assessment_id, value=new.value, source=new.source
        )
        frame = mlflow.search_traces().drop(columns=PRIVATE).sort_values("response")
        frame.to_json(HERE / "traces.jsonl", orient="records", lines=True)
        frame.to_json(HERE / "traces.json")
        for row in frame["assessments"]:
            row[:] = [a for a in row if a["assessment_name"] == "correct"]  # Arrow wants values of one type
        frame.to_parquet(HERE / "correct.parquet", index=False)


if __name__ == "__main__":
    main()
