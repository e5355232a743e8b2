"""lm-evaluation-harness samples, written by lm_eval 0.4.13 (samples/make_lm_eval.py)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, recognised_as, refusal, said

from jurors import read_votes

REAL = SAMPLES / "lm_eval"
EXPECTED = {"a": ["blue", "blue", "red", "red"], "b": ["red", "green", "green", "blue"]}
NAME = "samples_{}_2026-01-02T03-04-05.678901.jsonl"


def sample(doc: int, answer: Any, **more: Any) -> dict[str, Any]:
    """A document with a text for an answer."""
    asked = {"gen_args_0": {"arg_0": "Q", "arg_1": {"until": ["\n"]}}}
    return {"doc_id": doc, "arguments": asked, "filtered_resps": [answer], "doc_hash": f"h{doc}", **more}


def choice(doc: int, choices: list[str], likelihoods: list[Any], **more: Any) -> dict[str, Any]:
    """A document with choices, as older versions wrote them."""
    pairs = [[value, False] for value in likelihoods]
    return {"doc_id": doc, "arguments": [["Q", text] for text in choices], "filtered_resps": pairs, **more}


def write(folder: Path, model: str, task: str, *samples: Any) -> Path:
    path = folder / model / NAME.format(task)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in samples))
    return path


def test_the_likeliest_choice_of_each_model_is_its_vote_and_the_newest_run_counts() -> None:
    assert recognised_as(REAL) == "lm-eval"
    assert said(REAL, "lm-eval", "colours") == {
        "org/model-a": dict(zip([f"colours/{k}" for k in range(4)], EXPECTED["a"], strict=True)),
        "org/model-b": dict(zip([f"colours/{k}" for k in range(4)], EXPECTED["b"], strict=True)),
    }


@pytest.mark.parametrize("model", ["a", "b"])
def test_the_votes_are_those_by_which_the_harness_scored_the_model(model: str) -> None:
    newest = sorted((REAL / f"org__model-{model}").glob("samples_colours_*"))[-1]
    for line, vote in zip(newest.read_text().splitlines(), EXPECTED[model], strict=True):
        record = json.loads(line)
        assert record["acc"] == (record["doc"]["choices"][record["doc"]["answer"]] == vote)


def test_the_first_filter_gives_the_text_and_what_it_could_not_find_is_no_vote(tmp_path: Path) -> None:
    assert said(REAL, "lm-eval", "words") == {
        model: {f"words/{k}": "o" for k in range(4)} for model in ("org/model-a", "org/model-b")
    }
    first = sample(0, "yes", filter="a"), sample(1, "[invalid]", filter="a")
    write(tmp_path, "m", "t", *first, sample(0, "no", filter="b"))
    assert said(tmp_path, "lm-eval") == {"m": {"t/0": "yes", "t/1": None}}


def test_several_texts_of_a_document_are_repeats_of_one_juror(tmp_path: Path) -> None:
    write(tmp_path, "a", "t", sample(0, ["yes", "no", "yes"]), sample(1, ["no", "[invalid]", "no"]))
    write(tmp_path, "b", "t", sample(0, "no"), sample(1, ["yes"]))
    votes = read_votes(tmp_path)
    frame = votes.to_frame()
    said = {(juror, item): label for item, juror, label in frame.itertuples(index=False)}
    assert said == {("a", "t/0"): "yes", ("a", "t/1"): "no", ("b", "t/0"): "no", ("b", "t/1"): "yes"}
    assert votes.repeats is not None
    assert votes.repeats.answers.tolist() == [[0, 1, 1], [-1, 0, 0]]


def test_choices_that_differ_by_document_are_told_by_their_place(tmp_path: Path) -> None:
    for model, likelihoods in (("m", [-1.0, -2.0]), ("n", ["-1.0", "-0.5"])):
        write(tmp_path, model, "t", choice(0, [" x", " y"], likelihoods), choice(1, [" y", " z"], likelihoods))
    assert said(tmp_path, "lm-eval") == {"m": {"t/0": 0, "t/1": 0}, "n": {"t/0": 1, "t/1": 1}}


def test_the_tenth_choice_stays_the_tenth_where_keys_were_sorted(tmp_path: Path) -> None:
    """`jq -S` puts gen_args_10 behind gen_args_1; likelihoods stand in a list, whose order stays."""
    choices, likelihoods = [f" {letter}" for letter in "abcdefghijkl"], [-9.0] * 12
    likelihoods[2] = -1.0
    asked = {f"gen_args_{k}": {"arg_1": text, "arg_0": "Q"} for k, text in enumerate(choices)}
    named = choice(0, [], likelihoods, arguments={name: asked[name] for name in sorted(asked)})
    write(tmp_path, "m", "t", named)
    assert said(tmp_path, "lm-eval") == {"m": {"t/0": "c"}}


def test_a_likelihood_that_is_no_number_is_no_vote_and_ties_go_to_the_first(tmp_path: Path) -> None:
    write(tmp_path, "m", "t", choice(0, ["x", "y"], [float("nan"), -1.0]), choice(1, ["x", "y"], [-1.0, -1.0]))
    assert said(tmp_path, "lm-eval") == {"m": {"t/0": None, "t/1": "x"}}


def test_documents_are_told_by_their_hash_where_the_numbers_do_not_agree(tmp_path: Path) -> None:
    write(tmp_path, "m", "t", sample(0, "yes", doc_hash="one"), sample(1, "no", doc_hash="two"))
    write(tmp_path, "n", "t", sample(0, "yes", doc_hash="two"))
    assert said(tmp_path, "lm-eval") == {"m": {"t/one": "yes", "t/two": "no"}, "n": {"t/two": "yes"}}


def test_one_model_in_two_folders_is_two_jurors(tmp_path: Path) -> None:
    for seed in ("seed1", "seed2"):
        shutil.copytree(REAL / "org__model-a", tmp_path / seed / "org__model-a")
    assert list(said(tmp_path, "lm-eval", "words")) == [f"{seed}/org__model-a" for seed in ("seed1", "seed2")]


def test_tasks_of_different_kinds_are_refused_until_one_is_chosen() -> None:
    assert re.search(r"colours has choices and words has texts.*--from lm-eval:colours", refusal(REAL))
    votes = read_votes(REAL, tool="lm-eval:colours")
    assert (votes.rows, votes.jurors, votes.labels) == (4, ("org/model-a", "org/model-b"), ("blue", "green", "red"))
    assert re.search(r"no task 'colour'\. Did you mean 'colours'\?", refusal(REAL, "lm-eval:colour"))


@pytest.mark.parametrize(
    "record, message",
    [
        ({"doc": 1}, "line 1: there is no 'doc_id'; expected 'doc_id' and a list"),
        ({"doc_id": 0, "filtered_resps": "yes"}, "line 1: 'filtered_resps' is 'yes'; expected 'doc_id' and a list"),
        (sample(0, [["yes"], "no"]), "neither one of several choices nor text.*take_first"),
        ({"doc_id": 0, "arguments": [["some text"]], "filtered_resps": [-12.5]}, "neither one of several choices"),
        (choice(0, ["x", "y"], [-1.0]), r"expected as many log likelihoods as there are choices \(2\)"),
        (choice(0, ["x", "y"], ["?", "!"]), r"expected as many log likelihoods as there are choices \(2\)"),
        (7, "line 1: the record is 7; expected a JSON record"),
    ],
)
def test_a_sample_that_is_not_as_it_should_be_is_one_line(tmp_path: Path, record: Any, message: str) -> None:
    write(tmp_path, "m", "t", record)
    assert re.search(message, refusal(tmp_path, "lm-eval"))


def test_an_empty_file_and_none_at_all_are_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, "m", "t")
    assert re.search("there are no samples in the file", refusal(tmp_path, "lm-eval"))
    path.rename(tmp_path / "m" / "other.jsonl")
    assert re.search(r"no file is called samples_<task>_<time>\.jsonl", refusal(tmp_path, "lm-eval"))


def test_an_empty_file_of_one_model_is_named(tmp_path: Path) -> None:
    write(tmp_path, "m", "t", sample(0, "yes"))
    write(tmp_path, "other", "t", sample(0, "yes")).write_text("")
    assert re.search(r"other/samples_t_.*: there are no samples in the file", refusal(tmp_path))


def test_two_runs_of_a_model_that_are_both_named_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "m", "t", sample(0, "yes"))
    older = path.with_name("samples_t_2001-01-01T00-00-00.0.jsonl")
    older.write_text(path.read_text().replace("yes", "no"))
    assert read_votes(tmp_path).rows == 1
    assert re.search("is of the same model and task; name one of the two", refusal([path, older]))


def test_tables_of_votes_are_not_taken_for_samples(tmp_path: Path) -> None:
    path = tmp_path / "samples_t_2026-01-02T03-04-05.6.jsonl"
    path.write_text('{"item": 1, "juror": "a", "label": "x"}\n')
    assert recognised_as(path) is None
