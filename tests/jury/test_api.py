from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from panels import CENSUS, coins, simulate

import jurors
from jurors import Jury, Sketch, SketchError, Votes, VotesError
from jurors.errors import OptionError
from jurors.jury.compare import score_labels


def test_every_public_name_exists() -> None:
    for name in jurors.__all__:
        assert getattr(jurors, name) is not None
    assert set(jurors.__all__) <= set(dir(jurors))


def test_all_sources_give_the_same_grades(tmp_path: Path) -> None:
    panel = simulate(300, 3, seed=1)
    names = ("a", "b", "c")
    text = np.where(panel.votes == 0, "no", "yes")
    frame = pd.DataFrame(text, columns=list(names))
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    votes = Votes.from_matrix(text, jurors=names)
    sources = [path, str(path), frame, pl.DataFrame(frame.to_dict("list")), votes, Sketch.from_votes(votes)]
    found = [jurors.grade(source).score for source in sources]
    assert all(scores == found[0] for scores in found)
    with pytest.raises(VotesError, match="cannot read votes from int"):
        jurors.grade(7)


def test_exact_numbers_stay_exact() -> None:
    exact = jurors.grade(CENSUS).exact
    assert exact is not None
    with localcontext(prec=60):  # 1/2 - 141256653 √3190087950361 / 613478451992500, by another library
        by_decimal = Decimal("0.5") - 141256653 * Decimal(3190087950361).sqrt() / 613478451992500
        assert exact.prevalence["A"].decimal(30) == str(round(by_decimal, 30))
    assert exact.prevalence["A"] + exact.prevalence["B"] == 1
    assert exact.confusion["i"]["A"]["B"] == 1 - exact.accuracy["i"]["A"]
    jury = {
        "prevalence": {"A": Fraction(3, 10), "B": Fraction(7, 10)},
        "accuracy": {j: {"A": Fraction(4, 5), "B": Fraction(3, 5)} for j in "xyz"},
    }
    rational = jurors.grade(jurors.theory.encode(jury)).exact
    assert rational is not None
    assert str(rational.prevalence["A"]) == "3/10"


def test_numbers_and_booleans_are_labels_too() -> None:
    panel = simulate(400, 3, seed=2)
    result = jurors.grade(panel.votes.astype(bool))
    assert result.labels == (False, True)
    assert result.prevalence[True] == result.prevalence["True"]
    seven = jurors.label(panel.votes * 7)
    assert set(seven.label.tolist()) <= {0, 7}


def test_items_with_a_missing_vote_are_left_out_of_a_trio_but_still_labelled() -> None:
    panel = simulate(500, 3, seed=3)
    panel.votes[:50, 0] = -1
    result = jurors.grade(panel.votes)
    assert result.items == 450
    assert next(a for a in result.alarms if a.reason == "missing_votes").value == 50
    assert len(jurors.label(panel.votes)) == 500


@pytest.mark.parametrize("silent", [0, 1])
def test_labels_of_an_evaluation_made_before_are_the_same(silent: int) -> None:
    panel = simulate(800, 5, seed=4)
    panel.votes[:, :silent] = -1
    result = jurors.grade(panel.votes)
    again, afresh = jurors.label(panel.votes, evaluation=result), jurors.label(panel.votes)
    assert (again.label == afresh.label).all()
    with pytest.raises(SketchError, match="made from other votes"):
        jurors.label(panel.votes[:700], evaluation=result)
    with pytest.raises(OptionError, match="graded already"):
        jurors.label(panel.votes, evaluation=result, trust="1")


def test_score_is_the_papers_definition() -> None:
    panel = simulate(200, 3, seed=6)
    keyed = score_labels(panel.votes, panel.truth)
    right = panel.votes == panel.truth[:, None]
    of_a = panel.truth == 0
    z = right[of_a] - right[of_a].mean(axis=0)
    assert float(keyed.correlation(0, ["1", "2"]) or 0) == pytest.approx((z[:, 0] * z[:, 1]).mean())
    assert float(keyed.correlation(0, ["1", "2", "3"]) or 0) == pytest.approx(z.prod(axis=1).mean())
    assert keyed.prevalence[0] == Fraction(int(of_a.sum()), 200)
    assert "error correlations" in keyed.to_text(full=True)
    assert "<table>" in keyed._repr_html_()
    assert set(keyed.to_frame()["juror"]) == {"1", "2", "3"}
    assert keyed.best_errors <= keyed.majority_errors


def test_the_rule_is_part_of_the_result() -> None:
    assert jurors.grade(CENSUS).independent.rule == "greatest total label accuracy"
    assert "trusted" in jurors.grade(CENSUS, trust="k").independent.rule
    with pytest.raises(OptionError, match="give only one of"):
        jurors.grade(CENSUS, trust="k", common="A")
    with pytest.raises(VotesError, match="no juror 'kk'"):
        jurors.grade(CENSUS, trust="kk")


def test_a_label_that_was_not_there_when_the_jury_was_fitted_is_refused() -> None:
    with pytest.raises(SketchError, match="was not there"):
        Jury().fit(simulate(300, 4, seed=9).votes).predict(np.full((2, 4), 7))


def test_free_text_is_not_scored() -> None:
    """Each juror's answer has labels² numbers: three thousand texts took gigabytes."""
    votes = [[f"text {k}", f"text {k + 1}"] for k in range(1_200)]
    with pytest.raises(SketchError, match=r"1,201 labels are more than can be scored \(at most 1,000\)"):
        score_labels(votes, [row[0] for row in votes], jurors=("ann", "bob"))


def test_intervals_are_attributes_and_the_theorem_is_exact() -> None:
    votes, key = jurors.load_example("census")
    result = jurors.grade(votes)
    document = json.loads(result.to_json())["interval"]
    assert result.interval is not None
    for name in ("score", "prevalence", "accuracy"):
        stored = json.loads(json.dumps({str(k): v for k, v in getattr(result.interval, name).items()}))
        assert stored == document[name]
    assert list(result.interval.wrong_labels) == document["wrong_labels"]
    assert result.exact is not None
    assert float(result.exact.prevalence["A"]) == result.independent.prevalence["A"]
    scored = jurors.score(votes, key)
    assert scored.interval.kappa.keys() == result.score.keys()
    assert all(low < scored.prevalence[a] < high for a, (low, high) in scored.interval.prevalence.items())
    with pytest.raises(TypeError):
        result.interval["score"]  # type: ignore[index]


@pytest.mark.parametrize(
    "options", [{}, {"family": {"two": ["c", "d"]}}, {"gold": dict.fromkeys(range(15), "yes")}], ids=str
)
def test_neither_the_layout_nor_the_order_of_jurors_changes_an_interval(
    options: dict[str, Any], tmp_path: Path
) -> None:
    words = np.array(["no", "yes"])[coins(300, [0.9, 0.8, 0.75, 0.7, 0.7], seed=8)[0]]
    wide = pd.DataFrame(words, columns=list("ecdba")).rename_axis("item").reset_index()
    wide.to_csv(tmp_path / "wide.csv", index=False)
    long = wide.melt("item", var_name="juror", value_name="label").sample(frac=1, random_state=1)
    long.to_csv(tmp_path / "long.csv", index=False)
    expected: Any = jurors.grade(tmp_path / "wide.csv", **options)
    for other in (wide[["item", *"abcde"]], tmp_path / "long.csv"):
        found: Any = jurors.grade(other, **options)
        assert found.interval.wrong_labels == pytest.approx(expected.interval.wrong_labels, abs=1e-9)
        for juror in "abcde":
            assert found.interval.score[juror] == pytest.approx(expected.interval.score[juror], abs=1e-9)
            own, theirs = (x.independent.interval_of("score", juror) for x in (found, expected))
            assert own == pytest.approx(theirs, abs=1e-9)
