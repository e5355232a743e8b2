"""Python does what the command line does: every kind of data, groups, gold, and frames in the users' own ids."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import panels
import pytest
from command_line import run

import jurors
from jurors.jury.groups import ByGroup
from jurors.numeric.grade import NumberGrades
from jurors.numeric.score import NumberScores

PANEL = panels.simulate(240, 4, seed=8)


@pytest.fixture
def frame() -> pd.DataFrame:
    """Two answers to each of 120 questions, one vote per row."""
    wide = pd.DataFrame(np.where(PANEL.votes == 0, "fail", "pass"), columns=["ann", "bob", "cy", "dee"])
    wide.insert(0, "model", ["x|1", "y"] * 120)
    wide.insert(0, "question", np.repeat(np.arange(120), 2))
    return wide.melt(["question", "model"], var_name="juror", value_name="label")


@pytest.fixture
def numbers() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    truth = rng.normal(5, 2, 80)
    columns = {name: (truth + rng.normal(size=80)).round(2) for name in ("ann", "bob", "cy")}
    return pd.DataFrame({"item": range(80), "topic": ["a", "b"] * 40, **columns})


def test_labels_of_items_that_two_columns_name_join_with_the_table(frame: pd.DataFrame, tmp_path: Path) -> None:
    labels = jurors.label(frame, item=["question", "model"]).to_frame()
    assert list(labels.columns) == ["item", "question", "model", "label", "probability"]
    assert pd.api.types.is_integer_dtype(labels["question"])
    joined = frame.merge(labels, on=["question", "model"], suffixes=("", "_best"))
    assert len(joined) == len(frame)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    assert jurors.label(tmp_path / "votes.csv", item="question,model").to_frame().equals(labels)


def test_jurors_keep_the_type_of_their_ids(frame: pd.DataFrame, tmp_path: Path) -> None:
    numbered = frame.assign(juror=frame["juror"].map({"ann": 11, "bob": 7, "cy": 30, "dee": 4}))
    numbered.to_csv(tmp_path / "votes.csv", index=False)
    named: Any = {"item": ["question", "model"]}
    for source, kind in ((numbered, "i"), (tmp_path / "votes.csv", "i"), (numbered.astype({"juror": str}), "U")):
        scored = jurors.score(source, {(0, "x|1"): "pass", (1, "y"): "fail"}, **named)
        for result in (jurors.grade(source, **named), scored):
            assert np.array(result.to_frame()["juror"].tolist()).dtype.kind == kind


def test_check_takes_a_frame_with_the_options_of_grade(frame: pd.DataFrame, numbers: pd.DataFrame) -> None:
    verdict = jurors.check(frame, item=["question", "model"], min_score=0.1, level=0.9)
    assert verdict.passed
    assert verdict.evaluation is not None
    assert verdict.evaluation.level == 0.9
    assert jurors.check(numbers, ignore=["topic"], min_reliability=0.001).passed
    with pytest.raises(jurors.OptionError, match="level= changes nothing"):
        jurors.check(jurors.grade(frame, item=["question", "model"]), level=0.9)


def test_numbers_and_groups_are_taken_by_every_verb(frame: pd.DataFrame, numbers: pd.DataFrame) -> None:
    assert isinstance(jurors.grade(numbers, ignore=["topic"]), NumberGrades)
    key = numbers.set_index("item")["ann"]
    assert isinstance(jurors.score(numbers, key, ignore=["topic"]), NumberScores)
    votes = frame.assign(item=frame["question"].astype(str) + frame["model"]).drop(columns="question")
    graded = jurors.grade(votes, by="model")
    assert isinstance(graded, ByGroup)
    assert list(graded.groups) == ["x|1", "y"]
    assert set(jurors.label(votes, by="model").to_frame()["group"]) == {"x|1", "y"}
    truth = dict.fromkeys(votes["item"], "pass")
    assert list(jurors.score(votes, truth, by="model").groups) == ["x|1", "y"]


def test_a_jury_takes_gold_and_predicts_what_label_says() -> None:
    gold = {k: int(PANEL.truth[k]) for k in range(60)}
    jury = jurors.Jury(gold=gold)
    labels = jury.fit_predict(PANEL.votes)
    graded = jurors.grade(PANEL.votes, gold=gold)
    assert jury.evaluation_.score == graded.score
    label = jurors.label(PANEL.votes, evaluation=graded, gold=gold)
    assert labels.tolist() == jurors.label(PANEL.votes, gold=gold).label.tolist()
    assert jury.predict_proba(PANEL.votes).max(axis=1)[60:] == pytest.approx(label.probability[60:])  # gold is certain
    with pytest.raises(jurors.OptionError, match="use fit"):
        jury.partial_fit(PANEL.votes)


def test_messages_name_arguments_in_python_and_flags_on_the_command_line(tmp_path: Path) -> None:
    cells = np.array(["no", "yes"], dtype=object)[panels.coins(300, [0.8] * 25, seed=2)[0]]
    cells[::40, 0] = "none"
    names = [f"judge_{k}" for k in (1, 2)] + [f"{k}-ann" for k in range(23)]
    frame = pd.DataFrame(cells, columns=names).assign(judge_2=cells[:, 0], total=np.arange(300) % 5)
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    flag = re.compile(r"(?<!\w)--[a-z]")
    for source in (frame, path):
        graded = jurors.grade(source, ignore=["total"])
        printed = f"{graded}{graded.to_json()}{jurors.compare(source, ignore=['total'])}"
        assert flag.search(printed) is None, flag.findall(printed)
        assert "full=True" in printed
        messages = {alarm.reason: alarm.message for alarm in graded.alarms}
        assert "missing=['none']" in messages["ambiguous_words"]
        assert not any(flag.search(note) for note in jurors.inspect(source, ignore=["total"]).notes())
    for command in (["grade"], ["grade", "--format", "json"], ["inspect"]):
        done = run(*command, path, "--ignore", "total")
        assert "--missing none" in " ".join(done.output.split())
        assert re.search(r"(?<![\w.])(missing|full|labels)=", done.output) is None


def test_labels_without_a_probability_are_counted_in_an_alarm() -> None:
    sketch = jurors.Sketch.from_counts({"AAB": 30, "ABA": 30, "BAA": 30, "BBB": 30, "AAA": 1, "BBA": 1}, jurors="ijk")
    labelling = jurors.label(sketch, errors="independent")
    assert np.isnan(labelling.probability).all()
    (alarm,) = (alarm for alarm in labelling.alarms if alarm.reason == "majority_fallback")
    assert alarm.value == 122
    assert labelling.wrong_labels is None
