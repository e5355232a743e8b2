"""What holds for every reader: whose files it claims, which of them it reads, and that a fault is one line."""

from __future__ import annotations

import gzip
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mutated_logs import SMALL, changed, mutants, outcome, write
from other_tools import SAMPLES, recognised_as, refusal

from jurors import Votes, VotesError, read_votes
from jurors.cli.main import main
from jurors.errors import OptionError
from jurors.options import TOOLS
from jurors.votes.readers import READERS, find_reader
from jurors.votes.readers.base import Files

LOGS = {
    "promptfoo": SAMPLES / "promptfoo" / "results.json",
    "openai-evals": SAMPLES / "openai_evals" / "graded_kind.jsonl",
    "mlflow": next((SAMPLES / "mlflow").glob("*.json")),
    "openinference": SAMPLES / "openinference" / "traces.jsonl",
    "label-studio": SAMPLES / "label_studio" / "json.json",
    "argilla": SAMPLES / "argilla" / "nested.json",
    "devai": SAMPLES / "devai/judgment/OpenHands/human_as_a_judge/ann/01_Image_Classification.json",
    "matrix": SAMPLES / "matrix" / "snorkel.npy",
    "lm-eval": next((SAMPLES / "lm_eval" / "org__model-a").glob("samples_colours*")),
}


def test_the_help_of_from_names_every_reader() -> None:
    assert list(TOOLS) == list(READERS)
    assert set(SMALL) == set(TOOLS) - {"matrix", "trec"}  # every reader of JSON is tried below


# -- whose files are whose ----------------------------------------------------------------------------------------

FILES = sorted(
    path
    for path in SAMPLES.glob("*/**/*")
    if path.is_file() and path.suffix not in (".py", ".pyc", ".parquet", ".csv") and path.name != "tree_structure.json"
)
PLAIN = (
    '[{"item": 1, "juror": "ann", "label": "yes"}, {"item": 1, "juror": "bob", "label": "no"}]',
    '{"item": 1, "ann": "yes", "bob": "no"}\n{"item": 2, "ann": "no", "bob": "no"}\n',
    '{"task": 7, "worker": "ann", "label": true}\n',
    '[{"id": 3, "annotator": "ann", "satisfied": true, "responses": "x", "annotations": 2}]',
    '[{"item": 1, "responses": "yes", "juror": "a"}]',
    '[{"item": 1, "annotator": "a", "label": "yes"}]',
    '{"images": [], "annotations": [{"id": 1}], "categories": []}',
    '{"annotations": 1}\n',
    '{"requirements": ["numpy"], "satisfied": true}',
    '{"item": 1, "results": "x", "label": "pass"}',
    '{"spec": 1, "juror": "a", "label": "x"}\n',
    '{"trace_id": 1, "juror": "a", "label": "x"}\n',
    '{"doc_id": 1, "juror": "a", "label": "x"}\n',
    '{"span_id": 1}',
    *("[]", "{", "7", "a,b\n1,0\n"),
)


def claims(path: Path) -> list[str]:
    """Every tool whose reader recognises the file."""
    readers = [one for tool in READERS if (one := find_reader([], SAMPLES, tool)) is not None]
    return [tool for tool, reader in readers if reader.recognises(Files((path,), path.parent))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_only_the_reader_of_a_tool_claims_its_files(path: Path) -> None:
    folder = path.relative_to(SAMPLES).parts[0]
    assert set(claims(path)) <= {folder, folder.replace("_", "-")}


@pytest.mark.parametrize("tool", LOGS)
def test_a_log_is_recognised_and_read_by_name_and_by_content(tool: str) -> None:
    assert recognised_as(LOGS[tool]) == tool
    told, seen = (CliRunner().invoke(main, ["agreement", str(LOGS[tool]), *more]) for more in (("--from", tool), ()))
    assert told.stdout == seen.stdout
    assert told.stdout or re.search("at least|choose one", told.stderr)  # a single judge has nobody to agree with


@pytest.mark.parametrize("text", PLAIN)
def test_nobody_claims_a_plain_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "votes.json").write_text(text)
    assert claims(tmp_path / "votes.json") == []


def test_other_files_before_a_log_do_not_hide_it(tmp_path: Path) -> None:
    for k in range(30):
        (tmp_path / f"note{k:02}.txt").write_text("read me")
    shutil.copy(LOGS["promptfoo"], tmp_path)
    assert recognised_as(tmp_path) == "promptfoo"


def test_a_tool_without_questions_takes_none() -> None:
    with pytest.raises(OptionError, match="a DevAI judgment has no questions to choose from; leave ':verdict' out"):
        find_reader([LOGS["devai"]], SAMPLES, "devai:verdict")


def test_crowdkit_needs_no_reader() -> None:
    """Its task, worker, label frame is the long layout."""
    pandas = pytest.importorskip("pandas")
    sample = SAMPLES / "crowdkit" / "crowd.csv"
    votes = read_votes(sample)
    assert (votes.jurors, votes.labels) == (("w1", "w2", "w3"), ("no", "yes"))
    assert votes.item_names().tolist() == ["t1", "t2", "t3", "t4", "t5"]
    assert votes.codes.tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, -1], [0, 1, 0], [1, 1, 1]]
    assert (Votes.from_frame(pandas.read_csv(sample)).codes == votes.codes).all()
    with pytest.raises(OptionError, match="crowd-kit keeps its votes in a plain table; leave --from out"):
        read_votes(sample, tool="crowd-kit")


# -- a file that the user named is read or refused; only in a folder may others lie beside the logs ---------------


@pytest.fixture
def extra(tmp_path: Path) -> Path:
    """Votes that are no tool's log."""
    path = tmp_path / "extra.csv"
    path.write_text("item,juror,label\n1,ann,x\n1,bob,y\n")
    return path


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("tool", LOGS)
def test_a_table_named_beside_a_log_is_refused(tool: str, first: bool, extra: Path) -> None:
    named = [extra, LOGS[tool]] if first else [LOGS[tool], extra]
    with pytest.raises(VotesError, match=r"extra\.csv: this is no .*, but others are; read it apart"):
        read_votes(named)


def test_a_pattern_names_what_it_matches_and_a_folder_does_not(extra: Path) -> None:
    shutil.copy(LOGS["promptfoo"], extra.parent)
    assert "extra.csv: this is no promptfoo results file" in refusal(str(extra.parent / "*"))
    assert read_votes(extra.parent).rows == read_votes(str(extra.parent / "**")).rows == 4


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "matrix"])
def test_in_a_folder_only_files_that_look_like_the_tools_are_read(tool: str, tmp_path: Path) -> None:
    shutil.copy(LOGS[tool], tmp_path)
    (tmp_path / "make_it.py").write_text("print('hello')\n")
    (tmp_path / "zz.md").write_text("# Notes\n")
    question = {"label-studio": "label-studio:verdict"}.get(tool, tool)
    votes, alone = (read_votes(place, tool=question) for place in (tmp_path, LOGS[tool]))
    assert votes.n_votes == alone.n_votes > 0


def test_an_empty_file_among_logs_is_named(tmp_path: Path) -> None:
    shutil.copy(LOGS["openai-evals"], tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text("")
    assert "b.jsonl: the file is empty" in refusal(tmp_path)


# -- broken files -------------------------------------------------------------------------------------------------

BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "an empty list": lambda data: b"[]",
    "an empty record": lambda data: b"{}",
    "other records": lambda data: b'[{"item": 1, "juror": "a", "label": "x"}]',
    "one huge line": lambda data: b"[" + b'"x",' * 1_000_000 + b'"x"]',
    "deep": lambda data: b"[" * 100_000,
    "text": lambda data: b"item,juror,label\n1,a,x\n",
    "binary": lambda data: bytes(range(256)) * 50,
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("tool", ["label-studio", "argilla", "devai", "matrix"])
def test_a_broken_file_is_one_line_and_status_two(tmp_path: Path, tool: str, how: str) -> None:
    path = tmp_path / LOGS[tool].name
    path.write_bytes(BROKEN[how](LOGS[tool].read_bytes()))
    result = CliRunner().invoke(main, ["grade", str(path), "--from", tool])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"jurors: {path}: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        *(("argilla", "argilla/nested.json"), ("argilla", "argilla/flat.jsonl")),
        *(("promptfoo", "promptfoo/results.json"), ("promptfoo", "promptfoo/results.jsonl")),
        *(("mlflow", "mlflow/traces.json"), ("mlflow", "mlflow/traces.jsonl"), ("mlflow", "mlflow/correct.parquet")),
        *(("openinference", "openinference/traces.jsonl"), ("openinference", "openinference/spans.json")),
        *((tool, LOGS[tool]) for tool in ("label-studio", "devai", "openai-evals", "lm-eval")),
    ],
)
def test_a_log_cut_short_is_one_line(tmp_path: Path, tool: str, name: str | Path) -> None:
    content = (SAMPLES / name).read_bytes()
    path = tmp_path / Path(name).name
    path.write_bytes(content[: len(content) * 2 // 3])
    assert re.search("broken or cut short|is damaged|no table of MLflow traces", refusal(path, tool))


@pytest.mark.slow
@pytest.mark.parametrize("tool", [tool for tool in SMALL if tool not in ("sketch", "by-true-label")])
def test_a_record_with_a_huge_field_is_read(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    write(tmp_path / name, records)
    votes = read_votes(tmp_path / name)
    first = records[0][0] if isinstance(records[0], list) else records[0]
    huge = first | {"extra": "x" * 20_000_000}
    write(tmp_path / name, [[huge, *records[0][1:]] if isinstance(records[0], list) else huge, *records[1:]])
    assert read_votes(tmp_path / name, tool=tool).to_frame().equals(votes.to_frame())


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, '{"version":2,"status":"success","eval":' + '{"a":' * 100_000, '{"item": 1}\n' + '{"a":' * 100_000],
    ids=["lists", "a log", "lines"],
)
def test_json_nested_too_deeply_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "deep.json").write_text(text)
    assert "nested too deeply" in refusal(tmp_path / "deep.json")


def test_other_files_under_a_tools_name_are_one_line(tmp_path: Path) -> None:
    assert "this is no Argilla export" in refusal(LOGS["promptfoo"], "argilla")
    (tmp_path / "votes.csv.gz").write_bytes(gzip.compress(b"item,juror,label\n1,ann,x\n"))
    assert "this is no numpy matrix (.npy or .npz)" in refusal(tmp_path / "votes.csv.gz", "matrix")
    (tmp_path / "votes.json").write_text('{"item": 1, "results": "x", "label": "pass"}')
    assert "this is no promptfoo results file" in refusal(tmp_path / "votes.json", "promptfoo")


# -- whatever stands in place of a value: votes, or one clear line ------------------------------------------------

MOST = 150  # of a reader; `python tests/mutated_logs.py` tries them all, and the tools' own files


@pytest.mark.slow
@pytest.mark.parametrize("tool", SMALL)
def test_any_value_anywhere_gives_votes_or_one_line(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    tried = list(mutants(records))
    for what, mutant in random.Random(1).sample(tried, min(MOST, len(tried))):
        write(tmp_path / name, mutant)
        assert outcome(tmp_path / name, tool) in ("votes", "refused"), what


@pytest.mark.parametrize("tool", SMALL)
def test_the_small_logs_are_read_and_recognised(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    write(tmp_path / name, records)
    votes = read_votes(tmp_path / name)
    assert votes.n_votes
    assert votes.labels == read_votes(tmp_path / name, tool=tool).labels


SCORE = (0, "samples", 0, "scores", "model_graded_qa")
ASSESSMENT = (0, "assessments", 0)
RESULT = (0, 0, "annotations", 0, "result", 0)
RESPONSE = (0, 0, "responses", "verdict")
PART = (0, "results", "results", 0, "gradingResult", "componentResults", 0)
#: values that once ended in a traceback
ODD: dict[str, tuple[str, tuple[Any, ...], Any, str]] = {
    "metadata of a score": ("inspect", (*SCORE, "metadata"), "x", r"metadata' is 'x'; expected a record"),
    "options of a scorer": ("inspect", (0, "eval", "scorers", 0, "options"), "x", r"options' is 'x'; expected a rec"),
    "source as text": ("mlflow", (*ASSESSMENT, "source"), "gpt", r"line 1: 'assessments\[0\].source' is 'gpt'; expec"),
    "list as a trace": ("mlflow", (0, "trace_id"), ["t"], r"'trace_id' is \['t'\]; expected a single value"),
    "promptfoo's metadata": ("promptfoo", (*PART, "metadata"), "x", r"Results\[0\].metadata' is 'x'; expected a rec"),
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
    assert re.search(message, refusal(tmp_path / name))


def test_tags_of_mixed_types_are_named_all_the_same(tmp_path: Path) -> None:
    name, records = SMALL["label-studio"]
    two = [*records[0], changed(records[0], (0, "annotations", 0, "result", 0, "from_name"), 7)[0] | {"id": 2}]
    (*_, labelled) = two
    labelled["annotations"][0]["result"][0] |= {"type": "rating", "value": {"rating": 4}}
    write(tmp_path / name, [two])
    assert read_votes(tmp_path / name).labels == ("a",)  # the only Choices
    assert re.search(r"no question 'x'.* There are: v, 7", refusal(tmp_path / name, "label-studio:x"))


def test_a_label_of_many_digits_is_a_label(tmp_path: Path) -> None:
    name, records = SMALL["mlflow"]
    path = tmp_path / name
    write(path, changed(records, (*ASSESSMENT, "feedback", "value"), 10**400))
    assert read_votes(path).labels == (10**400,)
    path.write_text(path.read_text().replace("1" + "0" * 400, "1" * 5000))
    assert "line 1 is broken or cut short (a number has too many digits)" in refusal(path)


def test_two_votes_differ(tmp_path: Path) -> None:
    name, records = SMALL["mlflow"]
    twice = records[0]["assessments"] * 2
    write(tmp_path / name, [records[0] | {"assessments": [twice[0], twice[1] | {"feedback": {"value": False}}]}])
    assert "t1" in refusal(tmp_path / name)
