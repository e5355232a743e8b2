"""Coefficients of agreement, against the literature and other packages."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from panels import crowd
from simulated_juries import as_sparse
from strategies import examples, sketches

import jurors
from jurors.errors import SketchError
from jurors.evaluate.agreement import AgreementStatistics, Coefficient, agreement_statistics
from jurors.sketch.sketch import Sketch
from jurors.votes.table import Votes

#: Krippendorff's example of four observers and twelve units, . for no vote
KRIPPENDORFF = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")

#: Fleiss' kappa in Wikipedia: ten items, fourteen votes each, five labels
FLEISS = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip


def test_published_examples_of_krippendorff_gwet_and_fleiss() -> None:
    statistics = agreement_statistics(Sketch.from_votes(Votes.from_matrix(krippendorffs(), jurors="ABCD")))
    assert float(statistics.gwet_ac1 or 0) == pytest.approx(0.77544, abs=5e-6)
    assert float(statistics.fleiss_kappa or 0) == pytest.approx(0.76117, abs=5e-6)
    assert statistics.agreement == Fraction(9, 11)
    codes = np.array([np.repeat(np.arange(5), row) for row in FLEISS])
    statistics = agreement_statistics(Sketch.from_votes(Votes.from_matrix(codes, labels=(1, 2, 3, 4, 5))))
    assert float(statistics.fleiss_kappa or 0) == pytest.approx(0.210, abs=5e-4)
    assert float(statistics.agreement or 0) == pytest.approx(0.378, abs=5e-4)


def one_by_one(sketch: Sketch) -> list[tuple[object, ...]]:
    return [t for t, n in sketch.to_counts().items() for _ in range(n)]


@examples(60)
@given(sketches(jurors=4, labels="ABC", missing=True))
def test_counts_give_what_the_items_one_by_one_give(sketch: Sketch) -> None:
    statistics = agreement_statistics(sketch)
    rows = one_by_one(sketch)
    shares, pairs = [], 0
    for row in rows:
        votes = [v for v in row if v is not None]
        if len(votes) > 1:
            same = [a == b for a, b in combinations(votes, 2)]
            shares.append(Fraction(sum(same), len(same)))
    assert statistics.agreement == (sum(shares, Fraction(0)) / len(shares) if shares else None)
    for i, j in combinations(range(4), 2):
        both = [(row[i], row[j]) for row in rows if row[i] is not None and row[j] is not None]
        if not both:
            continue
        assert (statistics.first[pairs], statistics.second[pairs], statistics.pair_items[pairs]) == (i, j, len(both))
        observed = sum(a == b for a, b in both) / len(both)
        left, right = ([pair[k] for pair in both] for k in (0, 1))
        chance = sum(left.count(a) * right.count(a) for a in "ABC") / len(both) ** 2
        expected = (observed - chance) / (1 - chance) if chance < 1 else math.nan
        assert statistics.pair_agreement[pairs] == pytest.approx(observed)
        assert statistics.cohen_kappa[pairs] == pytest.approx(expected, nan_ok=True, abs=1e-12)
        pairs += 1
    assert len(statistics.first) == pairs


@examples(40)
@given(sketches(jurors=4, labels="ABC", missing=True))
def test_names_and_storage_do_not_matter_to_agreement(sketch: Sketch) -> None:
    statistics = agreement_statistics(sketch)
    other = agreement_statistics(sketch.take(sketch.jurors[::-1]).relabel({"A": "C", "C": "A"}))
    assert overall(statistics) == overall(other) == overall(agreement_statistics(as_sparse(sketch)))
    assert sorted(statistics.pair_agreement) == pytest.approx(sorted(other.pair_agreement))


def overall(statistics: AgreementStatistics) -> tuple[object, ...]:
    return (statistics.agreement, statistics.fleiss_kappa, statistics.krippendorff_alpha, statistics.gwet_ac1)


def test_huge_counts_stay_exact() -> None:
    counts = {"AAA": 3, "ABB": 2, "BBB": 1, "BBA": 4}
    huge = {t: n * 10**17 for t, n in counts.items()}
    small, large = (agreement_statistics(Sketch.from_counts(c, jurors="ijk")) for c in (counts, huge))
    assert small.fleiss_kappa == large.fleiss_kappa
    assert small.gwet_ac1 == large.gwet_ac1


def test_what_does_not_exist_is_none_not_a_number() -> None:
    alike = agreement_statistics(Sketch.from_counts({"AAA": 3}, jurors="ijk", labels=("A", "B")))
    assert overall(alike) == (1, None, None, 1)
    assert np.isnan(alike.cohen_kappa).all()
    assert alike.to_dict()["pairs"][0]["cohen_kappa"] is None
    alone = {("A", None): 3, (None, "B"): 2}
    apart = agreement_statistics(Sketch.from_counts(alone, jurors=("ann", "bob")))
    assert overall(apart) == (None, None, None, None)
    assert apart.to_dict()["pairs"] == []
    with pytest.raises(SketchError, match="at least 2 jurors"):
        agreement_statistics(Sketch.from_counts({"A": 3}, jurors=("ann",)))


def test_what_is_left_out_of_very_many_votes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = Sketch.from_votes(Votes.from_matrix([[1, 2, 1], [2, 2, 3], [3, 1, 3], [1, 1, 2]], scale="interval"))
    whole = agreement_statistics(votes)
    monkeypatch.setattr("jurors.evaluate.agreement._MOST_VOTES", 11)
    most = agreement_statistics(votes)
    gone = {one.name for one in whole.coefficients} - {one.name for one in most.coefficients}
    columns = set(whole.to_frame().columns) - set(most.to_frame().columns)
    assert (whole.left_out, most.left_out) == ((), ("mean_kappa", "quadratic_kappa", "correlation"))
    assert gone | columns == {*most.left_out, "quadratic_kappa_low", "quadratic_kappa_high"}
    assert "Not computed beyond 11 votes" in most.to_text()
    with pytest.raises(KeyError, match="Not computed beyond 11 votes"):
        most["mean_kappa"]


# -- Coefficients of levels and numbers: published examples, other packages, and the laws that tie them together

#: Shrout and Fleiss' (1979) six targets and four judges
SHROUT_FLEISS = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))


def statistics_of(rows: Any, scale: Any, **options: Any) -> AgreementStatistics:
    return agreement_statistics(Sketch.from_votes(Votes.from_matrix(rows, scale=scale, **options)))


def krippendorffs(units: int = 12) -> list[tuple[int | None, ...]]:
    columns = [[None if v == "." else int(v) for v in row] for row in KRIPPENDORFF]
    return list(zip(*columns, strict=True))[:units]


def levels(seed: int, items: int, width: int, missing: float = 0.0) -> Any:
    """Codes of five levels, as jurors of different severity see them; -1 for no vote."""
    rng = np.random.default_rng(seed)
    seen = rng.integers(0, 5, items)[:, None] + rng.normal(0, 0.9, (items, width)) + rng.normal(0, 0.4, width)
    codes = np.clip(np.rint(seen), 0, 4).astype(int)
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def value(coefficient: Coefficient) -> float:
    assert coefficient.value is not None
    return float(coefficient.value)


def test_krippendorffs_alphas_are_those_he_prints() -> None:
    levels, numbers = statistics_of(krippendorffs(), "ordinal"), statistics_of(krippendorffs(), "interval")
    assert value(levels["krippendorff_alpha nominal"]) == pytest.approx(0.743, abs=5e-4)
    assert value(levels["krippendorff_alpha ordinal"]) == pytest.approx(0.815, abs=5e-4)
    assert value(numbers["krippendorff_alpha interval"]) == pytest.approx(0.849, abs=5e-4)


def test_the_standard_errors_of_gwet_and_fleiss_are_those_of_irrcac() -> None:
    pairable = statistics_of(krippendorffs(11), "ordinal")
    assert pairable["gwet_ac1"].error == pytest.approx(0.1252719, abs=1e-6)
    assert pairable["fleiss_kappa"].error == pytest.approx(0.1354386, abs=1e-6)


def test_shrout_and_fleiss_six_forms_and_their_intervals() -> None:
    numbers = statistics_of(SHROUT_FLEISS, "interval")
    printed = {"icc_1": 0.17, "icc_a1": 0.29, "icc_c1": 0.71, "icc_1k": 0.44, "icc_ak": 0.62, "icc_ck": 0.91}
    pingouin = {"icc_1": (-0.13, 0.72), "icc_a1": (0.02, 0.76), "icc_c1": (0.34, 0.95), "icc_1k": (-0.88, 0.91),
                "icc_ak": (0.07, 0.93), "icc_ck": (0.68, 0.99)}  # fmt: skip
    for name, expected in printed.items():
        assert value(numbers[name]) == pytest.approx(expected, abs=5e-3)
        assert (numbers[name].low, numbers[name].high) == pytest.approx(pingouin[name], abs=5e-3)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_other_packages_give_the_same(missing: float) -> None:
    krippendorff, metrics = pytest.importorskip("krippendorff"), pytest.importorskip("sklearn.metrics")
    codes = levels(1, 80, 4, missing)
    graded = statistics_of(codes, "ordinal", labels=(1, 2, 3, 4, 5))
    numbers = statistics_of(np.where(codes < 0, np.nan, codes + 1.0), "interval")
    data = np.where(codes < 0, np.nan, codes + 1.0).T
    for result, weights in ((graded, "nominal"), (graded, "ordinal"), (numbers, "ordinal"), (numbers, "interval")):
        expected = krippendorff.alpha(reliability_data=data, level_of_measurement=weights)
        assert value(result[f"krippendorff_alpha {weights}"]) == pytest.approx(expected)
    for one in graded.kappas:
        for i, j, kappa in zip(graded.first, graded.second, one.kappa, strict=True):
            both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
            kind = None if one.weights == "nominal" else one.weights
            expected = metrics.cohen_kappa_score(codes[both, i], codes[both, j], weights=kind, labels=range(5))
            assert kappa == pytest.approx(expected)
        assert value(one.mean) == pytest.approx(one.kappa.mean())


def test_a_pairs_standard_error_is_that_of_statsmodels() -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    codes = levels(2, 150, 2)
    table = np.zeros((5, 5))
    np.add.at(table, tuple(codes.T), 1)
    graded = statistics_of(codes, "ordinal", labels=tuple("abcde"))
    for one, weights in zip(graded.kappas, (None, np.arange(5.0), np.arange(5.0)), strict=True):
        kind = {"linear": "linear", "quadratic": "quadratic"}.get(one.weights)
        expected = inter_rater.cohens_kappa(table, weights=weights, wt=kind, return_results=True)
        assert one.error[0] * np.sqrt(149 / 150) == pytest.approx(expected.std_kappa, rel=1e-6)


def test_numbers_that_are_levels_give_what_the_levels_give() -> None:
    codes = levels(3, 60, 4, 0.2)
    graded = statistics_of(codes, "ordinal", labels=(0, 1, 2, 3, 4))
    numbers = statistics_of(np.where(codes < 0, np.nan, codes.astype(float)), "interval")
    assert numbers.kappas[0].kappa == pytest.approx(graded.kappas[2].kappa)
    assert numbers.kappas[0].error == pytest.approx(graded.kappas[2].error)
    names = ("krippendorff_alpha ordinal", "mean_kappa quadratic", "icc_1", "icc_ak")
    for one, other in ((graded[name], numbers[name]) for name in names):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    both = (codes[:, 0] >= 0) & (codes[:, 1] >= 0)
    assert numbers.correlation is not None
    assert numbers.correlation[0] == pytest.approx(np.corrcoef(codes[both, :2].T)[0, 1])


@pytest.mark.parametrize("scale", ["ordinal", "interval"])
def test_standard_errors_are_those_of_leaving_each_item_out(scale: str) -> None:
    codes = levels(4, 20, 3, 0.15)
    rows, copies = np.where(codes < 0, np.nan, codes.astype(float)), np.full(20, 50)
    whole = statistics_of(rows, scale, counts=copies)
    parts = [statistics_of(rows, scale, counts=copies - (np.arange(20) == k)) for k in range(20)]
    for k, one in enumerate(whole.coefficients):
        if one.interval != "items":
            continue
        without = np.array([value(part.coefficients[k]) for part in parts])
        error = np.sqrt(999 / 1000 * 50 * ((without - without.mean()) ** 2).sum())
        assert one.error == pytest.approx(error, rel=0.01), (one.name, one.weights)


def test_counts_and_the_order_of_numbers_do_not_matter() -> None:
    codes = levels(5, 40, 3, 0.2)
    rows = np.where(codes < 0, np.nan, codes * 2.5)
    tuples = Sketch.from_votes(Votes.from_matrix(rows, scale="interval"))
    backwards = Votes.from_matrix(
        np.where(codes < 0, -1, 4 - codes), labels=(10.0, 7.5, 5.0, 2.5, 0.0), scale="interval"
    )
    bare = Sketch(replace(Votes.from_matrix(rows, scale="interval"), counts=np.ones(40, dtype=np.int64)))
    for sketch in (bare, Sketch.from_votes(backwards)):
        for one, other in zip(
            agreement_statistics(tuples).coefficients, agreement_statistics(sketch).coefficients, strict=True
        ):
            assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_what_does_not_exist_is_none_and_nothing_passes_one() -> None:
    alike = statistics_of([[3, 3], [3, 3], [3, 3]], "interval")
    assert {one.value for one in alike.coefficients} == {None}
    same = statistics_of([[1, 1], [2, 2], [3, 3]], "ordinal")
    assert {float(one.value) for one in same.coefficients if one.value is not None} == {1.0}
    assert {one.low for one in same.coefficients} == {None}
    alone = statistics_of([[1.5, None], [None, 2], [3, None]], "interval")
    assert {one.value for one in alone.coefficients} == {None}
    for seed in range(20):
        near = statistics_of(np.minimum(levels(seed, 9, 3), 2), "ordinal")
        assert all(one.high is None or one.high <= 1 for one in near.coefficients)


def test_a_surer_interval_is_wider_and_what_is_wrong_is_refused() -> None:
    votes = levels(6, 30, 3)
    wide, narrow = (jurors.agreement(votes, scale="ordinal", level=level) for level in (0.99, 0.5))
    assert (wide.scale, wide.level) == ("ordinal", 0.99)
    for one, other in zip(wide.coefficients, narrow.coefficients, strict=True):
        assert one.low is not None
        assert other.low is not None
        assert one.low < other.low
    with pytest.raises(jurors.OptionError, match="level must lie between 0 and 1"):
        jurors.agreement(votes, level=95)
    with pytest.raises(KeyError, match="available: agreement nominal"):
        wide["pearson"]


def test_decimal_commas_and_per_cent_are_the_numbers_that_grading_takes_them_for() -> None:
    rows = np.random.default_rng(3).integers(2, 40, (30, 3)) / 4
    points = statistics_of(rows, "interval")
    for written in ("{}".format, "{}%".format, lambda x: str(x).replace(".", ",")):
        told = statistics_of([[written(x) for x in row] for row in rows], "interval")
        for one, other in zip(points.coefficients, told.coefficients, strict=True):
            assert one.name == other.name
            assert one.value == pytest.approx(other.value, rel=1e-12)
    with pytest.raises(SketchError, match="'1,234' may be a thousand or a decimal"):
        statistics_of([["1,234", "5"], ["5", "7"]], "interval")


def test_long_names_and_many_pairs_fit_the_terminal() -> None:
    rng = np.random.default_rng(3)
    names = [f"openrouter/anthropic/claude-sonnet-4.5-20250929:judge-{k}" for k in range(40)]
    codes = rng.integers(1, 4, (100, 40))
    for scale in ("nominal", "ordinal"):
        lines = jurors.agreement(Votes.from_matrix(codes, jurors=names, scale=scale)).to_text().splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) <= 60


def test_pairs_with_few_common_items_or_without_a_kappa_agree_neither_most_nor_least() -> None:
    votes = crowd()
    found = agreement_statistics(Sketch.from_votes(votes))
    assert found.pair_items.max() > 15
    assert np.isnan(found.cohen_kappa).any()  # of `new`, who has two votes, and of `fixed`
    lines = found.to_text().splitlines()
    fewest = math.ceil(found.pair_items.max() / 2)
    assert f"share fewer than {fewest} items or have no kappa" in " ".join(map(str.strip, lines))
    rows = [line.split() for line in lines[-20:]]
    assert all(int(row[2]) >= fewest and row[4] != "–" for row in rows)
    kappas = [float(row[4]) for row in rows]
    assert kappas == sorted(kappas, reverse=True)
    assert "off" in {name for row in rows[10:] for name in row[:2]}
