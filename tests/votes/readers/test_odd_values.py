"""Values that once ended in a traceback: now one line that says where they stand, what they are and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mutated_logs import SMALL, changed, write

from jurors import VotesError, read_votes

SCORE = (0, "samples", 0, "scores", "model_graded_qa")
ASSESSMENT = (0, "assessments", 0)
RESULT = (0, 0, "annotations", 0, "result", 0)
RESPONSE = (0, 0, "responses", "verdict")
ODD: dict[str, tuple[str, tuple[Any, ...], Any, str]] = {
    "metadata of a score": ("inspect", (*SCORE, "metadata"), "x", r"metadata' is 'x'; expected a record"),
    "options of a scorer": (
        "inspect",
        (0, "eval", "scorers", 0, "options"),
        "x",
        r"options' is 'x'; expected a record",
    ),
    "source as text": (
        "mlflow",
        (*ASSESSMENT, "source"),
        "gpt",
        r"line 1: 'assessments\[0\].source' is 'gpt'; expected",
    ),
    "list as a trace": ("mlflow", (0, "trace_id"), ["t"], r"'trace_id' is \['t'\]; expected a single value"),
    "promptfoo's metadata": (
        "promptfoo",
        (0, "results", "results", 0, "gradingResult", "componentResults", 0, "metadata"),
        "x",
        r"componentResults\[0\].metadata' is 'x'; expected a record",
    ),
    "list as a tag": ("label-studio", (*RESULT, "from_name"), ["v"], r"from_name' is \['v'\]; expected a single value"),
    "record as a choice": ("label-studio", (*RESULT, "value", "choices"), {"k": 1}, r"choices' is .*single value"),
    "list as a status": ("argilla", (*RESPONSE, 0, "status"), ["submitted"], r"status' is .* expected a single value"),
    "number as responses": ("argilla", RESPONSE, 3, r"'responses.verdict' is 3; expected a record"),
    "list as an id": ("argilla", (0, 0, "id"), ["r"], r"'id' is \['r'\]; expected a single value"),
    "number as arguments": ("lm-eval", (0, "arguments"), 3, r"line 1: 'arguments' is 3; expected a list"),
    "truth as functions": ("openai-evals", (0, "spec", "completion_fns"), True, r"completion_fns' is True; expected"),
    "count past counting": ("by-true-label", (0, "by_true_label", "a", "aa"), 10**30, r"counts must not exceed 9,223"),
    "half a character": ("argilla", (*RESPONSE, 0, "value"), "\ud800", r"is '\\ud800'; expected whole characters"),
    "half a label": ("sketch", (0, "labels", 0), "\ud800", r"the checksum does not match|whole characters"),
}


@pytest.mark.parametrize("what", ODD)
def test_what_ended_in_a_traceback_is_one_line(tmp_path: Path, what: str) -> None:
    tool, place, value, message = ODD[what]
    name, records = SMALL[tool]
    write(tmp_path / name, changed(records, place, value))
    with pytest.raises(VotesError, match=message) as raised:
        read_votes(tmp_path / name)
    assert "\n" not in str(raised.value)


def test_tags_of_mixed_types_are_named_all_the_same(tmp_path: Path) -> None:
    name, records = SMALL["label-studio"]
    two = [*records[0], changed(records[0], (0, "annotations", 0, "result", 0, "from_name"), 7)[0] | {"id": 2}]
    (*_, labelled) = two
    labelled["annotations"][0]["result"][0]["type"] = "rating"
    labelled["annotations"][0]["result"][0]["value"] = {"rating": 4}
    write(tmp_path / name, [two])
    assert read_votes(tmp_path / name).labels == ("a",)  # the only Choices
    with pytest.raises(VotesError, match=r"no question 'x'.* There are: v, 7"):
        read_votes(tmp_path / name, tool="label-studio:x")


def test_a_label_of_many_digits_is_a_label(tmp_path: Path) -> None:
    name, records = SMALL["mlflow"]
    write(tmp_path / name, changed(records, (0, "assessments", 0, "feedback", "value"), 10**400))
    assert read_votes(tmp_path / name).labels == (10**400,)
    path = tmp_path / name
    path.write_text(path.read_text().replace("1" + "0" * 400, "1" * 5000))
    with pytest.raises(VotesError, match=r"line 1 is broken or cut short \(a number has too many digits\)"):
        read_votes(path)
