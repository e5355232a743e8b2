"""`Jury` as scikit-learn knows an estimator: its own checks, columns by name, pipelines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from panels import simulate

import jurors
from jurors import Jury, VotesError

sklearn = pytest.importorskip("sklearn")
from sklearn.base import is_classifier  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402

pytestmark = pytest.mark.slow  # scikit-learn takes seconds to import

_Y = "y is an answer key, and a jury is fitted without one: it neither learns from y nor looks at it"
_CLASSES = "`classes` are the labels that jurors say, which are those of X; the check names those of y"
_ITEM = "one item with three labels is refused as too many labels, in the words of `grade`"
NOT_FOR_A_JURY = {
    "check_classifiers_classes": _Y,
    "check_classifiers_one_label": _Y,
    "check_classifiers_regression_target": _Y,
    "check_classifiers_train": _Y,
    "check_supervised_y_2d": _Y,
    "check_estimators_partial_fit_n_features": _CLASSES,
    "check_n_features_in_after_fitting": _CLASSES,
    "check_fit2d_1sample": _ITEM,
}
NAMES = ["ann", "bob", "cy", "di"]


@pytest.fixture
def three_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data for the checks that have two columns get a third: two jurors cannot be graded."""
    shaped = estimator_checks._enforce_estimator_tags_X

    def widened(X: Any) -> Any:
        return np.hstack([X, X[:, :1]]) if X.ndim == 2 and X.shape[1] == 2 else X

    def for_jurors(*args: Any, **options: Any) -> Any:
        data = shaped(*args, **options)
        return tuple(map(widened, data)) if isinstance(data, tuple) else widened(data)

    monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_X", for_jurors)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("three_columns")
@pytest.mark.parametrize("method", ["auto", "majority"])
def test_it_passes_the_checks_of_scikit_learn_that_apply(method: str) -> None:
    checks = estimator_checks.check_estimator(
        Jury(method=method), expected_failed_checks=NOT_FOR_A_JURY, on_fail=None, on_skip=None
    )
    failed = {check["check_name"]: check["exception"] for check in checks if check["status"] == "failed"}
    assert failed == {}
    assert {check["check_name"] for check in checks if check["status"] == "xfail"} == set(NOT_FOR_A_JURY)
    assert sum(check["status"] == "passed" for check in checks) > 40


FRAMES: dict[str, Callable[[Any, list[str]], Any]] = {
    "pandas": lambda cells, names: pd.DataFrame(cells, columns=names),
    "pandas nullable": lambda cells, names: pd.DataFrame(cells, columns=names).convert_dtypes(),
    "polars": lambda cells, names: pl.DataFrame(cells, schema=names, orient="row"),
    "pyarrow": lambda cells, names: pa.table(dict(zip(names, np.asarray(cells).T, strict=True))),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("words", [(0, 1), ("ham", "spam")], ids=["numbers", "words"])
def test_columns_are_remembered_and_found_again_by_name(kind: str, words: tuple[Any, Any]) -> None:
    cells = np.array(words)[simulate(400, 4, seed=3, low=0.55, high=0.95).votes]
    order = [2, 0, 3, 1]
    jury = Jury().fit(FRAMES[kind](cells, NAMES))
    assert jury.feature_names_in_.tolist() == NAMES
    assert jury.evaluation_.jurors == tuple(NAMES)
    shuffled = FRAMES[kind](cells[:, order], [NAMES[k] for k in order])
    assert jury.predict(shuffled).tolist() == jury.predict(cells).tolist() == Jury().fit(cells).predict(cells).tolist()
    assert jury.predict_proba(shuffled) == pytest.approx(jury.predict_proba(cells))
    before = jury.sketch_
    assert jury.partial_fit(shuffled).sketch_ == before + before


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["ann", "bob", "cy", "eve"], "X comes without 'di' and with 'eve', but .* on the columns ann, bob, cy, di"),
        (["ann", "bob", "cy"], "X comes without 'di', but"),
        ([*NAMES, "eve"], "X comes with 'eve', but"),
    ],
    ids=["another", "fewer", "more"],
)
def test_other_columns_are_refused(names: list[str], message: str) -> None:
    jury = Jury().fit(pd.DataFrame(simulate(200, 4, seed=1).votes, columns=NAMES))
    frame = pd.DataFrame(np.zeros((2, len(names)), int), columns=names)
    for work in (jury.predict, jury.partial_fit):
        with pytest.raises(VotesError, match=message):
            work(frame)


@pytest.mark.parametrize(
    "rows", [[[5, 9, 5], [9, 9, 9]], [[5, None, 5], [9, 9, None]]], ids=["numbers", "numbers and gaps"]
)
def test_numbers_in_lists_are_labels_too(rows: list[list[Any]]) -> None:
    votes = np.where(simulate(300, 3, seed=2).votes == 0, 5, 9)
    jury = Jury().fit(votes.tolist())
    assert jury.predict(rows).tolist() == jury.predict(np.array(rows, dtype=float)).tolist() == [5, 9]


def test_it_ends_a_pipeline_and_is_scored_against_a_key() -> None:
    panel = simulate(600, 5, seed=4, low=0.8)
    pipe = make_pipeline(FunctionTransformer(lambda X: X - 10), Jury())
    assert is_classifier(pipe)
    pipe.fit(panel.votes + 10)
    share = (pipe.predict(panel.votes + 10) == panel.truth).mean()
    assert pipe.score(panel.votes + 10, panel.truth) == pytest.approx(share)
    weight = panel.truth + 1
    assert pipe[-1].score(panel.votes, panel.truth, weight) == pytest.approx(
        np.average(pipe[-1].predict(panel.votes) == panel.truth, weights=weight)
    )
    assert cross_val_score(Jury(), panel.votes, panel.truth, cv=3).min() > 0.8
    assert cross_val_score(Jury(), panel.votes, panel.truth, cv=3, scoring="roc_auc").min() > 0.9


def test_jurors_does_not_need_scikit_learn() -> None:
    code = (
        "import sys; from jurors import Jury, SketchError\n"
        "try: Jury().predict([[0, 0, 0]])\n"
        "except SketchError: pass\n"
        "Jury().fit([[0, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]]); assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_gold_goes_by_the_names_of_items_and_votes_are_taken_as_they_are() -> None:
    panel = simulate(200, 4, seed=3)
    names, truth = [f"q{k}" for k in range(200)], np.array(["no", "yes"])[panel.truth]
    frame = pd.DataFrame(np.array(["no", "yes"])[panel.votes], columns=[*"abcd"], index=names)
    gold = {names[k]: truth[k] for k in range(40)}
    votes = jurors.Votes.from_frame(frame)
    wanted, labels = jurors.grade(votes, gold=gold), jurors.label(votes, gold=gold).label.tolist()
    by_row = {k: truth[k] for k in range(40)}
    for X, given in ((frame, gold), (frame, pd.Series(gold)), (frame, by_row), (votes, gold), (votes, pd.Series(gold))):
        jury = Jury(gold=given)
        assert jury.fit_predict(X).tolist() == labels
        assert jury.evaluation_.score == wanted.score
        assert "gold" in repr(jury)
    plain = Jury().fit(votes)
    assert plain.evaluation_.score == jurors.grade(votes).score
    assert (
        plain.predict(frame).tolist() == plain.predict(votes).tolist() == plain.predict(votes.take([*"dcba"])).tolist()
    )
    assert plain.predict_proba(votes).tolist() == plain.predict_proba(frame).tolist()
