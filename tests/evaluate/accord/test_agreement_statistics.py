from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from simulated_juries import as_sparse, simulate, two_label_tables
from strategies import examples, sketches

from jurors.errors import SketchError
from jurors.evaluate.agreement import AgreementStatistics, agreement_statistics
from jurors.sketch import Sketch
from jurors.votes import Votes

#: Krippendorff's example of four observers and twelve units, . for no vote
KRIPPENDORFF = ("1233214122..."[:9] + "...", "1233224125.3", ".3332342251.", "12332441251.")
#: Fleiss' kappa in Wikipedia: ten items, fourteen votes each, five labels
FLEISS = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip


def published() -> Sketch:
    columns = [[None if v == "." else int(v) for v in row] for row in KRIPPENDORFF]
    return Sketch.from_votes(Votes.from_matrix(list(zip(*columns, strict=True)), jurors="ABCD"))


def test_krippendorffs_and_gwets_published_example() -> None:
    statistics = agreement_statistics(published())
    assert float(statistics.krippendorff_alpha or 0) == pytest.approx(0.743, abs=5e-4)
    assert float(statistics.gwet_ac1 or 0) == pytest.approx(0.77544, abs=5e-6)
    assert float(statistics.fleiss_kappa or 0) == pytest.approx(0.76117, abs=5e-6)
    assert statistics.agreement == Fraction(9, 11)


def test_fleiss_published_example() -> None:
    codes = np.array([np.repeat(np.arange(5), row) for row in FLEISS])
    statistics = agreement_statistics(Sketch.from_votes(Votes.from_matrix(codes, labels=(1, 2, 3, 4, 5))))
    assert float(statistics.fleiss_kappa or 0) == pytest.approx(0.210, abs=5e-4)
    assert float(statistics.agreement or 0) == pytest.approx(0.378, abs=5e-4)


def test_cohens_published_example() -> None:
    statistics = agreement_statistics(Sketch.from_counts({"YY": 20, "YN": 5, "NY": 10, "NN": 15}, jurors=("a", "b")))
    assert statistics.cohen_kappa.tolist() == pytest.approx([0.4])
    assert statistics.pair_agreement.tolist() == pytest.approx([0.7])


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
def test_names_do_not_matter_to_agreement(sketch: Sketch) -> None:
    statistics = agreement_statistics(sketch)
    other = agreement_statistics(sketch.take(sketch.jurors[::-1]).relabel({"A": "C", "C": "A"}))
    assert overall(statistics) == overall(other)
    assert sorted(statistics.pair_agreement) == pytest.approx(sorted(other.pair_agreement))


def overall(statistics: AgreementStatistics) -> tuple[object, ...]:
    return (statistics.agreement, statistics.fleiss_kappa, statistics.krippendorff_alpha, statistics.gwet_ac1)


def test_triples_give_the_same_as_a_matrix() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables([(0.9, 0.7)] * 6), 500, missing=0.5)
    dense, sparse = agreement_statistics(sketch), agreement_statistics(as_sparse(sketch))
    assert overall(dense) == overall(sparse)
    assert dense.pairs() == sparse.pairs()


def test_jurors_who_guess_agree_no_more_than_chance_and_copies_always() -> None:
    coins, _, _ = simulate((0.5, 0.5), two_label_tables([(0.8, 0.2)] * 4), 20_000)
    statistics = agreement_statistics(coins)
    assert abs(float(statistics.krippendorff_alpha or 1)) < 0.02
    assert np.abs(statistics.cohen_kappa).max() < 0.03
    same = agreement_statistics(Sketch.from_counts({"AAA": 3, "BBB": 2}, jurors="ijk"))
    assert overall(same) == (1, 1, 1, 1)
    assert same.cohen_kappa.tolist() == [1.0, 1.0, 1.0]


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
    assert apart.pairs() == []
    with pytest.raises(SketchError, match="at least 2 jurors"):
        agreement_statistics(Sketch.from_counts({"A": 3}, jurors=("ann",)))


def test_the_result_can_be_read_printed_and_sent() -> None:
    statistics = agreement_statistics(published())
    document = json.loads(json.dumps(statistics.to_dict()))
    assert document["krippendorff_alpha"] == pytest.approx(0.743, abs=5e-4)
    assert document["pairs"][0]["jurors"] == ["A", "B"]
    text = str(statistics)
    assert "krippendorff alpha  0.7434" in text
    assert "Agreement of 4 jurors on 12 items" in text
    assert len(statistics.to_frame()) == 6


def test_other_libraries_agree() -> None:
    krippendorff = pytest.importorskip("krippendorff")
    metrics = pytest.importorskip("sklearn.metrics")
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    tables = np.stack([np.full((3, 3), w) + (1 - 3 * w) * np.eye(3) for w in (0.05, 0.2, 0.12, 0.3)])
    sketch, codes, _ = simulate((0.5, 0.3, 0.2), tables, 200, missing=0.3)
    values = np.where(codes < 0, np.nan, codes).T
    alpha = krippendorff.alpha(reliability_data=values, level_of_measurement="nominal")
    statistics = agreement_statistics(sketch)
    assert float(statistics.krippendorff_alpha or 0) == pytest.approx(alpha)
    both = (codes[:, 0] >= 0) & (codes[:, 1] >= 0)
    assert statistics.cohen_kappa[0] == pytest.approx(metrics.cohen_kappa_score(codes[both, 0], codes[both, 1]))
    whole, codes, _ = simulate((0.5, 0.3, 0.2), tables, 200)
    table = np.stack([(codes == k).sum(axis=1) for k in range(3)], axis=1)
    assert float(agreement_statistics(whole).fleiss_kappa or 0) == pytest.approx(inter_rater.fleiss_kappa(table))


@pytest.mark.parametrize(
    ("scale", "left_out"),
    [
        ("nominal", ("mean_kappa", "cohen_kappa_low", "cohen_kappa_high")),
        ("ordinal", ("mean_kappa", "cohen_kappa_low", "cohen_kappa_high", "linear_kappa", "quadratic_kappa")),
        ("interval", ("mean_kappa", "quadratic_kappa", "correlation")),
    ],
)
def test_what_is_left_out_of_very_many_votes_is_told(
    monkeypatch: pytest.MonkeyPatch, scale: Any, left_out: tuple[str, ...]
) -> None:
    votes = Sketch.from_votes(Votes.from_matrix([[1, 2, 1], [2, 2, 3], [3, 1, 3], [1, 1, 2]], scale=scale))
    whole = agreement_statistics(votes)
    assert (whole.left_out, whole.to_dict()["left_out"]) == ((), [])
    monkeypatch.setattr("jurors.evaluate.agreement._MOST_VOTES", 11)
    most = agreement_statistics(votes)
    gone = {one.name for one in whole.coefficients} - {one.name for one in most.coefficients}
    columns = set(whole.to_frame().columns) - set(most.to_frame().columns)
    assert most.left_out == left_out
    assert gone | {name for name in columns if name in left_out} == set(left_out)
    assert {name.removesuffix("_low").removesuffix("_high") for name in columns} <= {"cohen_kappa", *left_out}
    assert most.to_dict()["left_out"] == list(left_out)
    assert "Left out beyond 11 votes" in most.to_text()
    assert "mean kappa" in most.about_left_out
    with pytest.raises(KeyError, match="Left out beyond 11 votes"):
        most["mean_kappa"]
