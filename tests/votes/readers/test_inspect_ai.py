"""Inspect AI logs, written by the installed Inspect AI with its mock model."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, recognised_as, refusal, said

from jurors import audit, grade, label, read_votes
from jurors.audit.export import label_page
from jurors.votes.key import read_item_texts
from jurors.votes.readers.base import Archive

pytestmark = [
    pytest.mark.slow,  # the tool itself writes the logs
    pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is not installed"),
]

EPOCHS = [f"q{k}_epoch_{epoch}" for epoch in (1, 2) for k in range(3)]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In a process of its own: Inspect AI teaches zipfile zstd, and `jurors` must do without."""
    folder = tmp_path_factory.mktemp("logs")
    made = subprocess.run(
        [sys.executable, str(SAMPLES / "make_inspect_ai.py"), str(folder)], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr[-2000:]
    return folder


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def repacked(
    path: Path, target: Path, method: int, change: Callable[[str, Any], Any] = lambda _, content: content
) -> Path:
    """The archive packed anew, each member changed or (None) left out."""
    archive = Archive(path)
    with zipfile.ZipFile(target, "w", method) as new:
        for name in archive.names:
            content = change(name, archive.document(name).value)
            if content is not None:
                new.writestr(name, json.dumps(content))
    return target


@pytest.mark.parametrize("format", ["eval", "json"])
def test_scorers_are_jurors_and_panels_fall_into_their_models(logs: Path, format: str) -> None:
    assert recognised_as(logs / f"every-{format}") == "inspect"
    assert said(logs / f"every-{format}", "inspect") == {
        "match": dict(zip(EPOCHS, "ICIICI", strict=True)),
        "includes": dict.fromkeys(EPOCHS, "C"),
        "style.polite": dict.fromkeys(EPOCHS, "C"),  # 1, said in the letters of the others
        "style.short": dict(zip(EPOCHS, "PIPPIP", strict=True)),
        "shy": {name: None if name.startswith("q1") else "C" for name in EPOCHS},
        "mockllm/a": dict(zip(EPOCHS, "ICIICI", strict=True)),
        "mockllm/b": dict.fromkeys(EPOCHS, "C"),
        "mockllm/lost": {name: None if name.startswith("q2") else "I" for name in EPOCHS},
    }


def test_the_log_shows_the_question_the_answer_and_the_target(logs: Path) -> None:
    votes, texts = read_votes(only_file(logs / "every-eval")), read_item_texts(only_file(logs / "every-eval"))
    assert (votes.rows, len(votes.jurors), votes.labels, votes.n_votes) == (6, 8, ("C", "I", "P"), 6 * 8 - 2 - 2)
    assert texts.columns == ("question", "answer", "target")
    assert all(all(row) for row in texts.by_item.values())
    assert set(texts.by_item) == set(EPOCHS)
    page = label_page(audit.plan(votes, 3))
    assert '"words":["correct","incorrect","partially correct"]' in page  # beside the letters of the keys


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_may_be_packed_in_any_usual_way(logs: Path, tmp_path: Path, method: int) -> None:
    packed = only_file(logs / "every-eval")
    assert {member.compress_type for member in zipfile.ZipFile(packed).infolist()} == {93}, "Inspect AI packs with zstd"
    assert said(repacked(packed, tmp_path / "log.eval", method), "inspect") == said(packed, "inspect")


def test_logs_with_a_scorer_each_are_joined_on_the_sample(logs: Path) -> None:
    assert said(logs / "one-each", "inspect") == {
        "match": {"q0": "I", "q1": "C", "q2": "I"},
        "includes": {"q0": "C", "q1": "C", "q2": "C"},
        "exact": {"q0": "I", "q1": "C", "q2": "I"},
    }


def test_one_scorer_that_asked_different_models_is_several_jurors(logs: Path) -> None:
    graded = said(logs / "graders", "inspect")
    assert graded == {
        "a": {"q0": "I", "q1": "C", "q2": "I"},
        "b": {"q0": "C", "q1": "C", "q2": "C"},
        "lost": {"q0": "I", "q1": "I", "q2": None},
    }
    both = said(logs / "two-in-one", "inspect")
    assert [both[f"model_graded_qa:mockllm/{name}"] for name in "ab"] == [graded[name] for name in "ab"]
    assert list(both)[2:] == ["mockllm/a", "mockllm/b"]


def test_several_scorers_of_several_models_judge_each_models_answers(logs: Path) -> None:
    votes = said(logs / "models", "inspect")
    assert list(votes) == ["match", "includes"]
    assert votes["match"]["mockllm/model:q0"] == "I"
    assert votes["match"]["mockllm/other:q0"] == "C"
    assert said(logs / "single", "inspect") == {  # a single scorer everywhere makes the models the jurors
        "model": {"q0": "I", "q1": "C", "q2": "I"},
        "other": {"q0": "C", "q1": "C", "q2": "C"},
    }


def test_an_epoch_is_a_repetition_where_models_are_the_jurors(tmp_path: Path) -> None:
    for model, values in {"m": "CIC", "n": "IIC"}.items():
        samples = [{"id": "q", "epoch": k, "scores": {"match": {"value": v}}} for k, v in enumerate(values, 1)]
        log = {"version": 2, "status": "success", "eval": {"task": "quiz", "model": model}, "samples": samples}
        (tmp_path / f"{model}.json").write_text(json.dumps(log))
    votes = read_votes(tmp_path)
    assert votes.to_frame().to_numpy().tolist() == [["q", "m", "C"], ["q", "n", "I"]]
    assert votes.repeats is not None
    assert votes.repeats.answers.tolist() == [[0, 0, 1], [0, 1, 1]]


def test_a_repeated_run_has_its_files_name_a_failed_sample_no_votes_and_twins_of_a_panel_numbers(logs: Path) -> None:
    assert set(said(logs / "twice", "inspect")) == {path.stem for path in (logs / "twice").iterdir()}
    assert said(logs / "stumbling", "inspect")["match"] == {"q0": "I", "q1": None, "q2": "I"}
    assert list(said(logs / "role-panel", "inspect")) == ["a", "b#2", "b#3"]


def test_a_run_that_was_killed_is_read_as_far_as_it_came(logs: Path, tmp_path: Path) -> None:
    def started(name: str, content: Any) -> Any:
        return None if name in ("header.json", "summaries.json", "samples/q2_epoch_1.json") else content

    source = next(iter(sorted((logs / "one-each").iterdir())))
    (votes,) = said(repacked(source, tmp_path / "log.eval", zipfile.ZIP_DEFLATED, started), "inspect").values()
    assert set(votes) == {"q0", "q1"}


def test_samples_cut_into_chunks_are_found_and_ids_may_hold_slashes(logs: Path, tmp_path: Path) -> None:
    archive = Archive(next(iter((logs / "one-each").iterdir())))
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as new:
        for name in archive.names:
            content = archive.document(name).value
            if name.startswith("samples/"):
                content["id"] = f"a/{content['id']}"
                name = f"samples/{content['id']}_epoch_1/sample.json"
                new.writestr(name.replace("sample.json", "metadata.json"), "{}")
            new.writestr(name, json.dumps(content))
    (votes,) = said(tmp_path / "log.eval", "inspect").values()
    assert set(votes) == {"a/q0", "a/q1", "a/q2"}


def test_a_folder_may_hold_other_things_beside_the_logs(logs: Path, tmp_path: Path) -> None:
    shutil.copytree(logs / "one-each", tmp_path / "all")
    (tmp_path / "all" / "logs.json").write_text("{}")
    (tmp_path / "all" / "notes.txt").write_text("read me")
    assert said(tmp_path / "all", "inspect") == said(logs / "one-each", "inspect")


def test_logs_of_different_data_sets_and_lists_of_values_are_refused(logs: Path) -> None:
    message = r"sample 'q0' has different questions in .*quiz.* and .*riddles"
    assert re.search(message, refusal(logs / "strangers", "inspect"))
    message = r"sample 'q0': 'scores.listed.value' is \[1, 0\]; .*returns a dict"
    assert re.search(message, refusal(logs / "listed", "inspect"))


@pytest.fixture(scope="module")
def made(logs: Path) -> dict[str, Any]:
    """What the plug-in reported in the runs of `make_inspect_jury.py`."""
    return dict(json.loads((logs / "jury" / "metrics.json").read_text()))


@pytest.fixture(scope="module")
def first(logs: Path) -> Path:
    """The log of the first of these runs."""
    return next((logs / "jury" / "first").glob("*.eval"))


def test_the_metric_reports_what_the_graders_are_worth(made: dict[str, Any], first: Path) -> None:
    figures = made["panel"]
    told = grade(first).calibrated
    assert told is not None
    assert {name: figures[f"score of mockllm/{name}"] for name in told.score} == pytest.approx(dict(told.score))
    assert {"accuracy", "wrong labels", "alarms", "warnings"} < set(figures)


def test_samples_without_a_majority_are_shown_to_the_metric_or_it_says_that_they_are_missing(
    made: dict[str, Any], first: Path
) -> None:
    """Inspect AI keeps them from metrics where `majority` reduces: of an even panel, what is left agrees too well."""
    votes = said(first, "inspect")
    tied = {item for item in votes["sharp"] if sum(votes[name][item] == "C" for name in votes) == 2}
    assert {item for item, value in made["values"].items() if value == "N"} == tied
    assert made["seen of 4"] == len(made["values"]) - len(tied) < made["seen of 3"] == len(made["values"])
    assert set(made["majority of 4"]) == {"accuracy"}
    (line,) = made["told of 4"]
    assert line.startswith(f"the panel ({made['seen of 4']} scores) was not graded: the reducer")
    assert "panel_reducer()" in line
    assert "wrong labels" in made["majority of 3"]
    assert not any("panel_reducer" in line for line in made["told of 3"])


def test_graders_who_say_several_values_are_refused_in_a_line_not_by_a_crash(made: dict[str, Any]) -> None:
    assert made["several values"] == "each grader of a panel must return one value, not several; select one of them"
    assert made["metric of several values"] == {}


def test_the_plug_in_labels_by_the_jury_and_keeps_the_votes(logs: Path, made: dict[str, Any], first: Path) -> None:
    labelled = label(only_file(logs / "jury" / "learnt"))
    assert made["labels"] == dict(zip(labelled.items.tolist(), labelled.label.tolist(), strict=True))
    assert set(made["learnt"].values()) == {"C", "I"}
    assert said(logs / "jury" / "learnt", "inspect") == said(first, "inspect")


def test_what_our_scorer_made_of_the_votes_is_no_juror(logs: Path, first: Path) -> None:
    labelled = logs / "jury" / "labelled"
    scores = Archive(labelled / "log.eval").document("samples/q0_epoch_1.json")["scores"].value
    assert {"jury_label", "jury_label1"} < set(scores)
    assert said(labelled, "inspect") == said(first, "inspect")


def test_the_metric_says_nothing_before_there_is_a_score(made: dict[str, Any], first: Path) -> None:
    """Inspect AI asks while the run goes on: a warning at that moment is about nothing."""
    assert made["before the first sample"] == {}
    assert made["warned before"] == []
    assert made["warned at the first score"]
    assert all("(1 score)" in line for line in made["warned at the first score"])


def test_the_report_lies_beside_the_log_where_it_was_asked_for(logs: Path, first: Path) -> None:
    assert first.with_suffix(".html").read_text().startswith("<!doctype html>")
    assert not list((logs / "jury" / "learnt").glob("*.html"))


def test_inspect_ai_finds_the_plug_in() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["inspect_ai"] == {"jurors": "jurors.integrations.inspect_ai"}


@pytest.mark.parametrize("format", ["eval", "json"])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_cut_short_is_one_line(logs: Path, tmp_path: Path, format: str, share: float) -> None:
    content = only_file(logs / f"every-{format}").read_bytes()
    path = tmp_path / f"log.{format}"
    path.write_bytes(content[: int(len(content) * share)])
    assert re.search(r"cut short|empty|not a valid Inspect AI log", refusal(path, "inspect"))


def test_damage_inside_an_archive_is_noticed(logs: Path, tmp_path: Path) -> None:
    path = only_file(logs / "every-eval")
    content = bytearray(path.read_bytes())
    member = zipfile.ZipFile(path).getinfo("samples/q0_epoch_1.json")
    content[member.header_offset + 400] ^= 0xFF
    (tmp_path / "log.eval").write_bytes(content)
    assert re.search(r"samples/q0_epoch_1.json in the archive is damaged", refusal(tmp_path / "log.eval", "inspect"))
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert re.search(r"the archive lacks header\.json", refusal(tmp_path / "log.eval", "inspect"))


def test_without_zstandard_an_archive_is_one_line_that_says_what_to_install(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert re.search(r"the archive is packed with zstd; .*'jurors\[zstd\]'$", refusal(only_file(logs / "every-eval")))


def test_collected_panels_fall_into_their_models_where_everybody_voted(logs: Path) -> None:
    votes = read_votes(only_file(logs / "collected"))
    assert said(logs / "collected", "inspect") == {
        "a": {"q0": "I", "q1": "C", "q2": None},
        "b": {"q0": "C", "q1": "C", "q2": None},
        "lost": {"q0": "I", "q1": "I", "q2": None},
    }
    (finding,) = [one for one in votes.findings if one.kind == "unclear_votes"]
    assert "in 1 of 3 samples" in finding.message


def test_several_scorers_in_one_are_jurors_each(logs: Path) -> None:
    assert said(logs / "several", "inspect") == {
        "model_graded_fact": {"q0": None, "q1": "C", "q2": None},  # no majority of two, so that nobody's vote is clear
        "model_graded_qa:mockllm/a": {"q0": None, "q1": "C", "q2": None},
        "model_graded_qa:mockllm/b": {"q0": None, "q1": "C", "q2": None},
        "match": {"q0": None, "q1": "C", "q2": None},
    }
    assert list(said(logs / "several-mode", "inspect")) == ["multi_scorer"], (
        "the panel of its first part is not its own"
    )


def test_text_and_numbers_of_one_scorer_are_read(tmp_path: Path) -> None:
    scores = [{"m": {"value": 1}, "n": {"value": "high"}}, {"m": {"value": "C"}, "n": {"value": 0.25}}]
    samples = [{"id": k, "input": str(k), "scores": one} for k, one in enumerate(scores)]
    log = {"version": 2, "status": "success", "eval": {"task": "quiz"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert read_votes(tmp_path / "log.json").labels == ("0.25", "1", "C", "high")


def test_a_log_that_inspect_score_left_beside_the_first_doubles_nobody(logs: Path, first: Path) -> None:
    assert said(logs / "jury" / "rescored", "inspect") == said(first, "inspect")


def scored(source: Path, target: Path, change: Any) -> None:
    """The JSON log as `inspect score` writes it beside the first: of the same run, with other scores."""
    log = json.loads(source.read_text())
    for sample in log["samples"]:
        change(sample["scores"])
        sample["events"] = [*sample["events"], {"event": "score", "timestamp": "2099-01-01T00:00:00+00:00"}]
    target.write_text(json.dumps(log))


def test_a_log_scored_again_beside_the_first_adds_what_is_new(logs: Path, tmp_path: Path) -> None:
    first = Path(shutil.copy(only_file(logs / "every-json"), tmp_path / "run.json"))
    scored(first, tmp_path / "run-scored.json", lambda scores: scores.update(polite={"value": "C"}))
    before, after = said(first, "inspect"), said(tmp_path, "inspect")
    assert set(after) == {*before, "polite"}
    assert {juror: after[juror] for juror in before} == before
    (finding,) = [one for one in read_votes(tmp_path).findings if one.kind == "scored_again"]
    assert finding.level == "note"
    assert finding.message.startswith("'run' and 'run-scored' are the same run, scored again: the votes of ")


def test_a_scorer_that_says_something_else_the_second_time_is_told(logs: Path, tmp_path: Path) -> None:
    first = Path(shutil.copy(only_file(logs / "stumbling"), tmp_path / "run.json"))
    scored(
        first, tmp_path / "run-scored.json", lambda scores: scores.get("match", {}).update(explanation="on reflection")
    )
    assert set(said(tmp_path, "inspect")) == {"includes", "match:run", "match:run-scored"}
    note, warning = [one for one in read_votes(tmp_path).findings if one.kind == "scored_again"]
    assert (note.level, warning.level, warning.about) == ("note", "warning", ("match",))
    assert "if the same grader judged again, keep only the newest log, 'run-scored'" in warning.message
    scored(first, tmp_path / "third.json", lambda scores: scores.get("match", {}).update(explanation="at last"))
    told = [one.level for one in read_votes(tmp_path).findings if one.kind == "scored_again"]
    assert told == ["note", "warning"]  # of a run, however many logs it has
