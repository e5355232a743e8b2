"""Declared families: the planted pair of `benchmarks/shared_errors.py`, both readings, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import jurors
from jurors.errors import OptionError
from jurors.evaluate.family import fit_families
from jurors.sketch.sketch import count_votes

NAMES = ("gpt-a", "gpt-b", "claude", "llama", "mistral")
FAMILY = {"gpt": ["gpt-a", "gpt-b"]}


def planted(items: int = 1_000, seed: int = 3) -> tuple[Any, Any]:
    """The first two judges err together on most of a common part of the items; claude is the best."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.5
    is_hard, fails = rng.random(items) < 0.18, rng.random(items) < 0.75
    wrong = [np.where(is_hard, fails, rng.random(items) < rate) for rate in (0.03, 0.05)]
    wrong += [rng.random(items) >= accuracy for accuracy in (0.90, 0.72, 0.68)]
    words = np.array(["fail", "pass"])
    return words[(truth[:, None] ^ np.stack(wrong, axis=1)).astype(int)], words[truth.astype(int)]


def test_a_declared_family_mends_the_grades_and_labels_that_its_shared_errors_spoil() -> None:
    codes, truth = planted()
    votes = jurors.Votes.from_matrix(codes, jurors=NAMES)
    with_family = jurors.grade(votes, family=FAMILY)
    without = with_family.without_family
    assert without is not None
    assert without.score == jurors.grade(votes).score
    assert max(with_family.score.items(), key=lambda pair: pair[1])[0] == "claude"
    assert max(without.score.items(), key=lambda pair: pair[1])[0] == "gpt-a"
    labelled = jurors.label(votes, family=["gpt=gpt-a,gpt-b"])
    wrong = np.mean(labelled.label != truth)
    assert wrong < 0.1 < np.mean(labelled.to_frame()["label_without_family"] != truth)
    low, high = with_family.interval_of("wrong_labels")
    assert low <= wrong <= high
    assert (jurors.Jury(jurors=NAMES, family=FAMILY).fit(codes).predict(codes) == labelled.label).all()
    assert with_family.independent.score == without.independent.score


def test_both_readings_stand_side_by_side_in_card_json_and_csv() -> None:
    graded: Any = jurors.grade(planted()[0], jurors=NAMES, family=FAMILY)
    document = json.loads(graded.to_json())
    assert document["family"]["gpt"]["jurors"] == ["gpt-a", "gpt-b"]
    assert document["without_family"]["score"]["claude"] == pytest.approx(graded.without_family.score["claude"])
    assert "score_without_family" in graded.to_csv().splitlines()[0]
    card = str(graded)
    assert "You declared as related: gpt-a and gpt-b" in card
    assert "Without the declared family: " in card
    assert "family={'gpt': ['gpt-a', 'gpt-b']}" in str(graded.without_family)  # names alike are a question


def test_a_limit_that_one_reading_meets_and_the_other_does_not_is_not_known() -> None:
    graded: Any = jurors.grade(planted()[0], jurors=NAMES, family=FAMILY)
    limit = (graded.interval_of("score", "gpt-a")[0] + graded.without_family.interval_of("score", "gpt-a")[0]) / 2
    (gate,) = jurors.check(graded, min_score={"gpt-a": limit}).gates
    assert gate.outcome == "not known"
    assert "without the declared family pass" in gate.reason


def test_the_model_recovers_what_it_is_drawn_from_with_three_labels_and_missing_votes() -> None:
    rng = np.random.default_rng(1)
    items, common = 6_000, 0.4
    truth = rng.integers(0, 3, items)

    def answers(accuracy: float) -> Any:
        return np.where(rng.random(items) < accuracy, truth, (truth + rng.integers(1, 3, items)) % 3)

    own = np.stack([answers(accuracy) for accuracy in (0.7, 0.75, 0.8, 0.65, 0.7)], axis=1)
    copied = rng.random(items) < common
    first = rng.random(items) < 0.5
    own[copied, :2] = np.where(first, answers(0.7), answers(0.75))[copied, None]
    own[rng.random(own.shape) < 0.2] = -1
    sketch, row = count_votes(jurors.Votes.from_matrix(own, labels=("a", "b", "c")))
    start = np.full((sketch.tuples.rows, 3), 1 / 3)
    fit = fit_families(sketch, [(0, 1)], start)
    assert fit.common[0] == pytest.approx(common, abs=0.06)
    assert np.mean(fit.posterior.argmax(axis=1)[row] == truth) > 0.8
    assert fit.posterior_of(sketch) == pytest.approx(fit.posterior, abs=1e-3)
    assert np.diagonal(fit.parameters.table[0], axis1=0, axis2=2).mean(axis=1) == pytest.approx(
        [0.7, 0.75, 0.8, 0.65, 0.7], abs=0.04
    )


@pytest.mark.parametrize(
    ("family", "more", "message"),
    [
        ({"gpt": ["gpt-a", "gtp-b"]}, {}, r"there is no juror 'gtp-b'\. Did you mean 'gpt-b'\?"),
        ({"gpt": ["gpt-a", "gpt-b"], "x": ["gpt-a", "llama"]}, {}, "puts 'gpt-a' into two families, 'gpt' and 'x'"),
        (["gpt=gpt-a"], {}, "'gpt' has one juror, 'gpt-a'; name two or more"),
        (["gpt-a,gpt-b"], {}, "is written NAME=JUROR,JUROR"),
        (["gpt=gpt-a,gpt-b", "gpt=claude,llama"], {}, "names 'gpt' twice"),
        (FAMILY, {"jurors": NAMES[:3]}, "needs 4 jurors or more, and these votes have 3"),
        ({"all": NAMES[:4]}, {}, "leaves 2 families and other jurors"),
        (FAMILY, {"method": "majority"}, "method='majority' another"),
        (FAMILY, {"errors": "independent"}, "errors='independent' another"),
    ],
)
def test_what_is_refused_is_refused_in_one_line(family: Any, more: dict[str, Any], message: str) -> None:
    names = more.get("jurors", NAMES)
    with pytest.raises(OptionError, match=message) as error:
        jurors.grade(planted(200)[0][:, : len(names)], family=family, **{**more, "jurors": names})
    assert "\n" not in str(error.value)


def test_levels_and_numbers_have_no_families() -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(1, 6, (100, 5))
    kinds: Any = (("ordinal", "these votes are ordered levels"), ("interval", "does not apply to numbers"))
    for scale, message in kinds:
        with pytest.raises(OptionError, match=message):
            jurors.grade(levels, jurors=NAMES, scale=scale, family=FAMILY)
