"""`jurors.integrations.mlflow.log`: numbers, card, JSON and report in the active run of MLflow itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import jurors
from jurors import JurorsError
from jurors.errors import OutputError
from jurors.integrations import mlflow as ours

VOTES = (
    [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [["no", "yes", "yes"]] * 10
)
NAMES = ("openai/gpt-4o:mini", "ann@home", "cy")
WANTED = {
    "jurors/score/openai/gpt-4o_mini",
    "jurors/score/ann_home",
    "jurors/score/cy",
    "jurors/effective_jurors",
    "jurors/wrong_labels",
    "jurors/alarms",
    "jurors/warnings",
}


@pytest.fixture(scope="module")
def graded() -> jurors.Evaluation:
    return jurors.grade(VOTES, jurors=NAMES)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What MLflow would be told."""
    told: dict[str, Any] = {}
    fluent = SimpleNamespace(log_metrics=told.update, log_text=lambda text, name: told.update({name: text}))
    monkeypatch.setitem(sys.modules, "mlflow", fluent)
    return told


def test_the_numbers_have_names_that_mlflow_allows(graded: jurors.Evaluation) -> None:
    numbers = ours.metrics(graded)
    assert set(numbers) == WANTED
    assert numbers["jurors/score/ann_home"] == graded.score["ann@home"]
    assert numbers["jurors/warnings"] == sum(alarm.level == "warning" for alarm in graded.alarms)


def test_an_evaluation_is_logged_without_the_page_that_needs_votes(
    graded: jurors.Evaluation, stand_in: dict[str, Any]
) -> None:
    assert ours.log(graded, prefix="judges") is graded
    assert stand_in.pop("judges/card.txt") == graded.to_text()
    assert json.loads(stand_in.pop("judges/evaluation.json")) == graded.to_dict()
    assert set(stand_in) == {name.replace("jurors/", "judges/", 1) for name in WANTED}
    with pytest.raises(OutputError, match="log the votes, or omit report="):
        ours.log(graded, report=True)


def test_two_jurors_of_one_name_are_refused_before_anything_is_logged(stand_in: dict[str, Any]) -> None:
    with pytest.raises(OutputError, match="two jurors have the same name"):
        ours.log(VOTES, jurors=("a@b", "a:b", "c"), report=False)
    assert stand_in == {}


def test_without_mlflow_it_says_what_to_install(graded: jurors.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(JurorsError, match="needs mlflow: pip install mlflow-skinny"):
        ours.log(graded)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_active_run_of_mlflow_has_it_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        graded = jurors.integrations.mlflow.log(VOTES, jurors=NAMES)
    assert mlflow.get_run(run.info.run_id).data.metrics == ours.metrics(graded)
    client = mlflow.MlflowClient()
    logged = {file.path: file.file_size for file in client.list_artifacts(run.info.run_id, "jurors")}
    assert set(logged) == {"jurors/card.txt", "jurors/evaluation.json", "jurors/report.html"}
    page = Path(client.download_artifacts(run.info.run_id, "jurors/report.html", str(tmp_path)))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
