"""A file that the user named is read or refused; only in a folder may strangers lie beside the logs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from jurors import VotesError, read_votes
from jurors.errors import OptionError
from jurors.options import TOOLS
from jurors.votes.readers import READERS

SAMPLES = Path(__file__).parent / "samples"
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


@pytest.fixture
def extra(tmp_path: Path) -> Path:
    """Votes that are nobody's log."""
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
    with pytest.raises(VotesError, match=r"extra\.csv: this is no promptfoo results file"):
        read_votes(str(extra.parent / "*"))
    assert read_votes(extra.parent).rows == 4
    assert read_votes(str(extra.parent / "**")).rows == 4


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
    with pytest.raises(VotesError, match=r"b\.jsonl: the file is empty"):
        read_votes(tmp_path)


def test_other_json_is_no_argilla_export() -> None:
    with pytest.raises(VotesError, match="this is no Argilla export"):
        read_votes(LOGS["promptfoo"], tool="argilla")


def test_a_gzipped_table_is_no_matrix(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "votes.csv.gz").write_bytes(gzip.compress(b"item,juror,label\n1,ann,x\n"))
    with pytest.raises(VotesError, match=r"this is no numpy matrix \(\.npy or \.npz\)"):
        read_votes(tmp_path / "votes.csv.gz", tool="matrix")


def test_a_tool_that_writes_plain_tables_needs_no_reader(extra: Path) -> None:
    with pytest.raises(OptionError, match="crowd-kit keeps its votes in a plain table; leave --from out"):
        read_votes(extra, tool="crowd-kit")


def test_the_help_of_from_names_every_reader() -> None:
    assert list(TOOLS) == list(READERS)


def test_json_nested_too_deeply_is_one_line(tmp_path: Path) -> None:
    deep = '{"a":' * 100_000
    for text in (
        "[" * 200_000,
        '{"version":2,"status":"success","eval":' + deep,
        json.dumps({"item": 1}) + "\n" + deep,
    ):
        (tmp_path / "deep.json").write_text(text)
        with pytest.raises(VotesError, match="nested too deeply"):
            read_votes(tmp_path / "deep.json")
