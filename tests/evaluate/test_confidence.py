"""Jurors' own confidence: read beside the votes, never as a juror, and graded with and without a key."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

import jurors
from jurors.votes.confidence import Confidences

LABELS = ("fail", "pass")


def sure_jurors(items: int, accuracies: tuple[float, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, votes and confidences of jurors who are right as often as they say."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    sure = np.clip(rng.normal(accuracies, 0.12, (items, len(accuracies))), 0.5, 0.99).round(2)
    votes = np.where(rng.random(sure.shape) < sure, truth[:, None], 1 - truth[:, None])
    return truth, votes, sure


def as_votes(votes: np.ndarray, sure: np.ndarray) -> jurors.Votes:
    row, juror = np.nonzero(votes >= 0)
    plain = jurors.Votes.from_matrix(votes, labels=LABELS, scale="nominal")
    return replace(plain, confidence=Confidences(None, plain.jurors, row, juror, sure[row, juror]))


def wide_frame(votes: np.ndarray, sure: np.ndarray, name: str = "judge_{}") -> pd.DataFrame:
    columns: dict[str, Any] = {"item": [f"q{k}" for k in range(len(votes))]}
    for j in range(votes.shape[1]):
        columns[name.format(j + 1)] = np.array(LABELS)[votes[:, j]]
        columns[f"{name.format(j + 1)}_confidence"] = sure[:, j]
    return pd.DataFrame(columns)


def long_frame(votes: np.ndarray, sure: np.ndarray, column: str = "confidence") -> pd.DataFrame:
    row, juror = np.nonzero(votes >= 0)
    cells = {"item": row, "judge": [f"judge_{j + 1}" for j in juror], "verdict": np.array(LABELS)[votes[row, juror]]}
    return pd.DataFrame({**cells, column: sure[row, juror]}).sample(frac=1, random_state=0)


@pytest.mark.parametrize("rows", [6, 60])
@pytest.mark.parametrize("layout", ["auto", "wide"])
def test_a_column_of_confidences_is_no_juror(rows: int, layout: Literal["auto", "wide"], tmp_path: Path) -> None:
    _, votes, sure = sure_jurors(rows, (0.9, 0.8, 0.7))
    frame = wide_frame(votes, sure, "ann{}")
    frame.to_csv(tmp_path / "votes.csv", index=False)
    for source in (frame, tmp_path / "votes.csv"):
        read = jurors.read_votes(source, layout=layout)
        assert read.jurors == ("ann1", "ann2", "ann3")
        assert read.labels == LABELS
        assert read.confidence is not None
        assert np.array_equal(read.confidence.of_votes(read), sure.ravel())


def test_long_and_wide_tables_files_and_frames_have_the_same_confidences(tmp_path: Path) -> None:
    _, votes, sure = sure_jurors(80, (0.9, 0.8, 0.7))
    long = long_frame(votes, (sure * 100).round().astype(int))  # in percent
    long.to_csv(tmp_path / "long.csv", index=False)
    renamed = long_frame(votes, sure, "how_sure")
    expected = jurors.grade(wide_frame(votes, sure)).to_dict()["confidence"]
    assert set(expected) == {"judge_1", "judge_2", "judge_3"}
    named: Any = {"confidence": "how_sure"}
    sources: list[tuple[Any, Any]] = [(long, {}), (tmp_path / "long.csv", {}), (renamed, named)]
    for source, options in sources:
        found = jurors.grade(source, **options).to_dict()["confidence"]
        assert {name: x["brier"] for name, x in found.items()} == {
            name: pytest.approx(x["brier"]) for name, x in expected.items()
        }


def test_votes_may_be_selected_and_a_confidence_may_be_missing() -> None:
    _, votes, sure = sure_jurors(50, (0.9, 0.8, 0.7))
    sure[3, 1] = np.nan
    read = jurors.read_votes(wide_frame(votes, sure), drop=["judge_1"])
    assert read.confidence is not None
    assert np.array_equal(read.confidence.of_votes(read), sure[:, 1:].ravel(), equal_nan=True)


def test_cells_that_are_no_probabilities_are_left_out_or_refused() -> None:
    csv = "item,judge,label,confidence\n" + "".join(
        f"{k},{j},{'ab'[k % 2]},{1 + k % 5}\n" for k in range(9) for j in "xyz"
    )
    read = jurors.read_votes(io.StringIO(csv))
    assert read.confidence is None
    assert "from 1 to 5" in read.findings[0].message
    with pytest.raises(
        jurors.VotesError, match="'confidence' reaches from 1 to 5, but a confidence is a number from 0"
    ):
        jurors.read_votes(io.StringIO(csv), confidence="confidence")
    with pytest.raises(jurors.OptionError, match="is the item, the juror or the label"):
        jurors.read_votes(io.StringIO(csv), label="label", confidence="label")


def test_a_key_counts_brier_score_and_reliability() -> None:
    truth, votes, sure = sure_jurors(2_000, (0.9, 0.7))
    graded = jurors.score(as_votes(votes, sure), [LABELS[k] for k in truth]).confidence
    assert graded is not None
    for j, of_juror in enumerate(graded.values()):
        assert of_juror.brier == pytest.approx(np.mean((sure[:, j] - (votes[:, j] == truth)) ** 2))
        assert of_juror.interval[0] < of_juror.brier < of_juror.interval[1]
        assert abs(of_juror.mean - of_juror.right) < 0.03  # they are right as often as they say
        assert max(abs(b.right - b.confidence) for b in of_juror.bins) < 0.08


def test_without_a_key_the_others_show_how_sure_a_juror_may_be() -> None:
    """An overconfident juror is noticed, and its confidence can be mapped to how often it is right."""
    truth, votes, sure = sure_jurors(1_500, (0.85, 0.8, 0.75, 0.8, 0.7))
    boast = sure.copy()
    boast[:, 0] = 1 - (1 - sure[:, 0]) / 4  # three quarters of its doubt kept to itself
    graded = jurors.grade(as_votes(votes, boast), errors="independent").confidence
    assert graded is not None
    loud, honest = graded["1"], graded["2"]
    assert loud.mean - loud.right > 0.08
    assert abs(honest.mean - honest.right) < 0.03
    assert loud.by == "panel"
    for j, of_juror in enumerate(graded.values()):
        assert of_juror.brier == pytest.approx(np.mean((boast[:, j] - (votes[:, j] == truth)) ** 2), abs=0.02)
    assert np.abs(loud.calibrated(boast[:, 0]) - sure[:, 0]).mean() < 0.06
    assert isinstance(loud.calibrated(0.9), float)


def test_the_share_right_is_the_calibrated_accuracy_and_gold_narrows_the_interval() -> None:
    truth, votes, sure = sure_jurors(400, (0.9, 0.8, 0.7))
    blind = jurors.grade(as_votes(votes, sure))
    gold = jurors.grade(as_votes(votes, sure), gold={k: LABELS[truth[k]] for k in range(80)})
    assert blind.confidence is not None
    assert gold.confidence is not None
    for name in blind.jurors:
        wide, narrow = blind.confidence[name], gold.confidence[name]
        assert wide.right == blind.score[name]
        assert narrow.right == gold.score[name]
        assert narrow.by == "gold"
        assert np.average([b.right for b in wide.bins], weights=[b.votes for b in wide.bins]) == pytest.approx(
            wide.right
        )
        assert narrow.interval[1] - narrow.interval[0] < 0.6 * (wide.interval[1] - wide.interval[0])
    assert "how well jurors know when they are right" in blind.to_text(full=True)
    assert blind.plot("reliability").to_dict()["title"]["subtitle"] == ["right by the other jurors"]


def test_confidences_change_labels_but_no_grade() -> None:
    truth, votes, sure = sure_jurors(500, (0.9, 0.8, 0.7))
    plain, with_them = jurors.Votes.from_matrix(votes, labels=LABELS), as_votes(votes, sure)
    graded, labels = jurors.grade(with_them), jurors.label(with_them)
    assert jurors.grade(plain).score == graded.score
    assert (labels.codes == truth).mean() > (jurors.label(plain).codes == truth).mean() + 0.03
    assert labels.wrong_labels == graded.wrong_labels
    assert np.array_equal(labels.codes, jurors.label(with_them, evaluation=graded).codes)
    assert np.array_equal(jurors.label(with_them, method="majority").codes, (votes.mean(axis=1) > 0.5) * 1)


def test_confidences_that_say_nothing_change_no_label() -> None:
    _, votes, sure = sure_jurors(300, (0.9, 0.8, 0.7))
    plain, with_them = jurors.Votes.from_matrix(votes, labels=LABELS), as_votes(votes, np.full_like(sure, 0.8))
    assert np.allclose(jurors.label(plain).probability, jurors.label(with_them).probability)


def test_probabilities_of_models_are_votes() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    pred_probs = np.array([[rng.dirichlet(1 + 4 * np.eye(3)[k]) for k in truth] for _ in range(4)])
    named = dict(zip("wxyz", pred_probs, strict=True))
    votes = jurors.Votes.from_probabilities(named, labels=("a", "b", "c"))
    assert votes.jurors == ("w", "x", "y", "z")
    assert votes.labels == ("a", "b", "c")
    assert np.array_equal(votes.codes, pred_probs.argmax(axis=2).T)
    by_array = jurors.grade(pred_probs, jurors=list("wxyz"), labels=["a", "b", "c"])
    assert by_array.score == jurors.grade(votes).score
    assert set(by_array.confidence or ()) == set("wxyz")
    with pytest.raises(jurors.VotesError, match=r"model x for item 5 .* add up to 1"):
        jurors.Votes.from_probabilities(named | {"x": np.where(np.arange(300)[:, None] == 4, 0.9, named["x"])})
    with pytest.raises(jurors.VotesError, match="models x items x labels"):
        jurors.Votes.from_probabilities(pred_probs[0])
