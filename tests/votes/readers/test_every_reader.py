"""What holds for every reader: whose files it claims, which of them it reads, and that a fault is one line."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from mutated_logs import SMALL, changed, mutants, outcome, write
from other_tools import SAMPLES, recognised_as, refusal

from jurors import VotesError, read_votes
from jurors.errors import OptionError
from jurors.options import TOOLS
from jurors.votes.readers import READERS, find_reader
from jurors.votes.readers.base import Files

LOGS = {
    "promptfoo": SAMPLES / "promptfoo" / "results.json",
    "mlflow": next((SAMPLES / "mlflow").glob("*.json")),
    "openinference": SAMPLES / "openinference" / "traces.jsonl",
    "label-studio": SAMPLES / "label_studio" / "json.json",
    "argilla": SAMPLES / "argilla" / "nested.json",
    "matrix": SAMPLES / "matrix" / "snorkel.npy",
    "lm-eval": next((SAMPLES / "lm_eval" / "org__model-a").glob("samples_colours*")),
}


def test_the_help_of_from_names_every_reader() -> None:
    assert list(TOOLS) == list(READERS)
    assert set(SMALL) == set(TOOLS) - {"matrix", "trec"}  # every reader of JSON is tried below


# -- whose files are whose ----------------------------------------------------------------------------------------

FILES = sorted(
    path for path in SAMPLES.glob("*/**/*") if path.is_file() and path.suffix not in (".py", ".pyc", ".parquet", ".csv")
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
    readers = [one for tool in READERS if (one := find_reader(Files((), SAMPLES), tool)) is not None]
    return [tool for tool, reader in readers if reader.recognises(Files((path,), path.parent))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_only_the_reader_of_a_tool_claims_its_files(path: Path) -> None:
    folder = path.relative_to(SAMPLES).parts[0]
    assert set(claims(path)) <= {folder, folder.replace("_", "-")}


@pytest.mark.parametrize("tool", LOGS)
def test_a_log_is_recognised_and_read_by_name_and_by_content(tool: str) -> None:
    assert recognised_as(LOGS[tool]) == tool
    told, seen = (run("agreement", str(LOGS[tool]), *more) for more in (("--from", tool), ()))
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


def test_a_tool_without_questions_takes_none_and_a_plain_table_needs_no_tool() -> None:
    with pytest.raises(OptionError, match="results file has no questions to choose from; leave ':verdict' out"):
        find_reader(Files((), SAMPLES), "promptfoo:verdict")
    with pytest.raises(OptionError, match="crowd-kit keeps its votes in a plain table; leave tool= out"):
        find_reader(Files((), SAMPLES), "crowd-kit")


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
    with pytest.raises(VotesError, match=r"extra\.csv: this is not a valid .*, but others are; read it apart"):
        read_votes(named)


def test_a_pattern_names_what_it_matches_and_a_folder_does_not(extra: Path) -> None:
    shutil.copy(LOGS["promptfoo"], extra.parent)
    assert "extra.csv: this is not a valid promptfoo results file" in refusal(str(extra.parent / "*"))
    assert read_votes(extra.parent).rows == read_votes(str(extra.parent / "**")).rows == 4


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "matrix"])
def test_in_a_folder_only_files_that_look_like_the_tools_are_read(tool: str, tmp_path: Path) -> None:
    shutil.copy(LOGS[tool], tmp_path)
    (tmp_path / "make_it.py").write_text("print('hello')\n")
    (tmp_path / "zz.md").write_text("# Notes\n")
    question = {"label-studio": "label-studio:verdict"}.get(tool, tool)
    votes, alone = (read_votes(place, tool=question) for place in (tmp_path, LOGS[tool]))
    assert votes.n_votes == alone.n_votes > 0


# -- broken files -------------------------------------------------------------------------------------------------

BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda data: data[:-9],
    "empty": lambda data: b"",
    "an empty list": lambda data: b"[]",
    "an empty record": lambda data: b"{}",
    "other records": lambda data: b'[{"item": 1, "juror": "a", "label": "x"}]',
    "one long line": lambda data: b"[" + b'"x",' * 30_000 + b'"x"]',
    "deep": lambda data: b"[" * 100_000,
    "text": lambda data: b"item,juror,label\n1,a,x\n",
    "binary": lambda data: bytes(range(256)) * 50,
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("tool", READERS)
def test_a_broken_file_is_one_line(tmp_path: Path, tool: str, how: str) -> None:
    if tool in SMALL:
        write(path := tmp_path / SMALL[tool][0], SMALL[tool][1])
    else:
        path = tmp_path / f"votes.{tool}"
        path.write_bytes(LOGS[tool].read_bytes() if tool in LOGS else b"q1 0 d1 3\nq1 0")
    path.write_bytes(BROKEN[how](path.read_bytes()))
    assert refusal(path, tool)


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        *(
            ("argilla", "argilla/flat.jsonl"),
            ("promptfoo", "promptfoo/results.jsonl"),
            ("mlflow", "mlflow/traces.json"),
        ),
        *(("mlflow", "mlflow/correct.parquet"), ("openinference", "openinference/spans.json")),
        *((tool, path) for tool, path in LOGS.items() if tool != "matrix"),
    ],
)
def test_a_log_cut_short_is_one_line_that_says_so(tmp_path: Path, tool: str, name: str | Path) -> None:
    path = tmp_path / Path(name).name
    content = (SAMPLES / name).read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    assert re.search("broken or cut short|is damaged|no table of MLflow traces", refusal(path, tool))


@pytest.mark.parametrize("tool", SMALL)
def test_a_small_log_is_recognised_and_may_have_a_huge_field(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    write(tmp_path / name, records)
    votes = read_votes(tmp_path / name)
    assert votes.n_votes
    if tool in ("sketch", "by-true-label"):  # which have no other fields
        return
    first = records[0][0] if isinstance(records[0], list) else records[0]
    huge = first | {"extra": "x" * 1_000_000}
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


# -- whatever stands in place of a value: votes, or one clear line ------------------------------------------------

MOST = 60  # of a reader; `make fuzz` changes the tools' own files, too


@pytest.mark.slow
@pytest.mark.parametrize("tool", SMALL)
def test_any_value_anywhere_gives_votes_or_one_line(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    tried = list(mutants(records))
    for what, mutant in random.Random(1).sample(tried, min(MOST, len(tried))):
        write(tmp_path / name, mutant)
        assert outcome(tmp_path / name, tool) in ("votes", "refused"), what


@pytest.mark.parametrize(
    ("tool", "place"), [("argilla", (0, 0, "responses", "verdict", 0, "value")), ("sketch", (0, "labels", 0))]
)
def test_half_a_character_is_refused(tmp_path: Path, tool: str, place: tuple[Any, ...]) -> None:
    name, records = SMALL[tool]
    write(tmp_path / name, changed(records, place, "\ud800"))
    assert re.search("the checksum does not match|expected whole characters", refusal(tmp_path / name))


def test_a_label_of_many_digits_is_a_label(tmp_path: Path) -> None:
    name, records = SMALL["mlflow"]
    path = tmp_path / name
    write(path, changed(records, (0, "assessments", 0, "feedback", "value"), 10**400))
    assert read_votes(path).labels == (10**400,)
    path.write_text(path.read_text().replace("1" + "0" * 400, "1" * 5000))
    assert "line 1 is broken or cut short (a number has too many digits)" in refusal(path)
