"""Reference juries: the shipped table, tables of one's own, and a jury measured against its key."""

from __future__ import annotations

import os
from dataclasses import asdict, fields, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import jurors
from jurors import Sketch, SketchError, Votes, VotesError
from jurors.jury.calibration import jury_votes
from jurors.sketch.moments import pair_moments
from jurors.sketch.pairs import Pairs
from jurors.uncertainty.reference import (
    CORE,
    SMALL_KAPPA,
    SMALL_SHIFT,
    PanelTraits,
    ReferenceJuries,
    ReferenceJury,
    fit_population,
    own_population,
    read_reference,
    shipped_juries,
    shipped_population,
)
from jurors.uncertainty.scenarios import answer_spread, fleiss_kappa, panel_traits

DATA = Path(os.environ.get("JURORS_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


def jury_with_key(shared: float, seed: int = 0, items: int = 1500, width: int = 8) -> tuple[jurors.Votes, list[int]]:
    """Jurors who are right three times in four; on a share of the items they all do what one of them does."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    right = rng.random((items, width)) < 0.75
    together = rng.random(items) < shared
    right[together] = right[together, :1]
    return jurors.Votes.from_matrix(np.where(right, truth[:, None], 1 - truth[:, None])), truth.tolist()


def test_the_shipped_table_describes_a_population() -> None:
    juries = shipped_juries()
    assert len(juries) == len({jury.name for jury in juries}) == 86
    population = fit_population(juries)
    assert np.isfinite(list(asdict(population).values())).all()
    assert population == shipped_population()
    assert 0.1 < np.exp(population.center) < 1
    assert {jury.kind for jury in juries} == {"people", "LLMs", "programs"}
    assert all(jury.source for jury in juries)


def test_the_table_in_csv_is_one_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "juries.csv").write_text(jurors.theory.reference_juries().to_csv(), encoding="utf-8")
    assert jurors.theory.reference_juries(tmp_path / "juries.csv") == jurors.theory.reference_juries()


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "has no column 'name', 'kind', 'source', 'items' …; to make a table of reference juries"),
        (b"item,juror,label\n1,ann,yes\n", "has no column 'name'"),
        (b"\xff\xfe\x00", "is not a CSV table"),
        ("HEADER\n", "holds no jury"),
        ("HEADER\na,b,c,9,3,2,3,0.1,much,0.5,0.002,0.003\n", "row 1: 'much' is not a valid value of rho"),
        ("HEADER\na,b,c,9,3,2,3,0.1,-1,0.5,0.002,0.003\n", "row 1: '-1' is not a valid value of rho"),
        ("HEADER\na,b,c,9,3,2\n", "row 1: '' is not a valid value of votes_per_item"),
        ("HEADER\na,b,c,9,1" + "0" * 21 + ",2,3,0.1,0.2,0.5,0.002,0.003\n", "row 1: '1" + "0" * 21),
        ("HEADER\na,b,c,9,3,2,3,0.1,inf,0.5,0.002,0.003\n", "row 1: 'inf' is not a valid value of rho"),
        ("HEADER\na,b,c,0,3,2,3,0.1,0.2,0.5,0.002,0.003\n", "row 1: '0' is not a valid value of items"),
    ],
)
def test_what_is_no_table_of_reference_juries_is_refused_in_a_line(
    content: bytes | str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "juries.csv"
    if isinstance(content, str):
        content = content.replace("HEADER", ",".join(field.name for field in fields(ReferenceJury))).encode()
    file.write_bytes(content)
    with pytest.raises(VotesError) as caught:
        read_reference(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(VotesError, match=r"nowhere\.csv: there is no such file"):
        jurors.grade(jury_with_key(0.0)[0], reference=tmp_path / "nowhere.csv")  # not when the grades are looked at


def test_the_more_errors_are_shared_the_larger_is_the_shared_error_that_the_key_shows() -> None:
    measured = [jurors.theory.fit_reference(*jury_with_key(shared), name="simulated").rho for shared in (0.0, 0.2, 0.6)]
    assert measured == sorted(measured)
    assert measured[0] < 0.1 < measured[2]


def test_a_measured_jury_counts_its_items_jurors_and_labels() -> None:
    votes, truth = jury_with_key(0.3)
    some = {item: label for item, label in enumerate(truth) if item % 2}
    jury = jurors.theory.fit_reference(votes, some, name="half", kind="programs", source="simulated")
    assert (jury.name, jury.kind, jury.source) == ("half", "programs", "simulated")
    assert (jury.items, jury.jurors, jury.labels, jury.votes_per_item) == (750, 8, 2, 8.0)


def test_a_jury_without_a_key_or_of_copies_cannot_be_measured() -> None:
    votes, truth = jury_with_key(0.3, items=100)
    with pytest.raises(VotesError, match="no item with a true label"):
        jurors.theory.fit_reference(votes, {"elsewhere": 1}, name="unknown")
    copies = np.repeat(np.asarray(votes.codes)[:, :1], 4, axis=1)
    with pytest.raises(SketchError, match="fewer than three of these jurors are distinct"):
        jurors.theory.fit_reference(copies, truth, name="copies")


def test_many_juries_of_one_s_own_outweigh_the_shipped_ones() -> None:
    own = [replace(jury, rho=0.05) for jury in shipped_juries()] * 20
    assert np.exp(own_population(own).center) == pytest.approx(0.05, rel=0.02)


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "bluebirds").is_dir(), reason="no vote sets here; set JURORS_DATA to their folder")
@pytest.mark.parametrize("shipped", shipped_juries(), ids=lambda jury: jury.name)
def test_a_row_of_the_shipped_table_follows_from_votes_and_key(shipped: ReferenceJury) -> None:
    name, folder = shipped.name, DATA / shipped.name
    measured = jurors.theory.fit_reference(
        folder / "votes.csv.gz", folder / "truth.csv.gz", name=name, kind=shipped.kind, source=shipped.source,
        scale="nominal",
    )  # fmt: skip
    for field in fields(ReferenceJury):
        value = getattr(replace(measured, family=shipped.family), field.name)
        wanted = getattr(shipped, field.name)
        assert value == (wanted if isinstance(value, str) else pytest.approx(wanted, rel=1e-4, abs=1e-8)), field.name


def jury_row(name: str, spread: float, rho: float, label_bias: float = 0.5, deviation: float = 0.002) -> ReferenceJury:
    return ReferenceJury(name, "programs", "here", 1200, 3, 2, 2.75, spread, rho, label_bias, deviation, 2 * deviation)


def test_a_population_is_a_weighted_line_of_shared_error_on_spread() -> None:
    rhos = (0.2, 0.01, 0.4, 0.1, 0.3, 0.02, 0.5, 0.25)
    spreads = (0.1, 0.05, 0.3, 0.08, 0.2, 0.01, 0.4, 0.15)
    deviations = (0.002, -0.001, 0.004, 0.001, 0.0, 0.003, 0.01, 0.002)
    juries = [
        jury_row(str(k), *values) for k, values in enumerate(zip(spreads, rhos, spreads, deviations, strict=True))
    ]  # fmt: skip
    weights = np.array([1.0, 2, 1, 0.5, 1, 3, 1, 2])
    population = fit_population(juries, weights.tolist())
    x, y = np.log(np.array(spreads) + 0.02), np.log(np.maximum(rhos, 0.03))
    slope, start = np.polyfit(x, y, 1, w=np.sqrt(weights))
    share = weights / weights.sum()
    assert population.slope == pytest.approx(slope)
    assert population.log_spread == pytest.approx(share @ x)
    assert population.center == pytest.approx(start + slope * (share @ x))
    assert population.sd == pytest.approx(CORE * np.sqrt(weights @ (y - start - slope * x) ** 2 / (11.5 - 2)))
    assert population.independent == pytest.approx((2 + 3 + 0.5) / (11.5 + 1))
    mean = share @ np.square(spreads)
    error = np.sqrt(share @ (np.square(spreads) - mean) ** 2 / (1 / (share @ share) - 1))
    assert population.label_bias == pytest.approx(np.sqrt(mean + error))
    twice = [*juries, *(replace(jury, name=f"{jury.name} again", family=jury.name) for jury in juries)]
    assert fit_population(twice, [*weights, *weights]).label_bias == pytest.approx(population.label_bias)
    roots = np.sqrt(np.maximum(deviations, 0))
    assert population.deviation == pytest.approx(share @ roots)
    assert population.label_deviation == pytest.approx(share @ roots * 2**0.5)
    assert population.unevenness == pytest.approx(share @ deviations / (share @ roots) ** 2)
    assert population.juries == 8
    assert population.shared_error(PanelTraits(0.5)) == pytest.approx((start + slope * np.log(0.52), population.sd))


@pytest.mark.parametrize(("jurors", "shift"), [(1, 1), (3, 1), (5, 7 / 9), (9, 1 / 3), (12, 0), (300, 0)])
def test_fewer_than_twelve_jurors_share_more(jurors: int, shift: float) -> None:
    population = shipped_population()
    large, (mean, sd) = population.shared_error(PanelTraits(0.2)), population.shared_error(PanelTraits(0.2, jurors))
    assert mean - large[0] == pytest.approx(SMALL_SHIFT * shift)
    assert sd == large[1]
    assert population.shared_error(PanelTraits(0.2, jurors, kappa=0.5))[0] == pytest.approx(
        mean - 0.5 * SMALL_KAPPA * shift
    )
    assert (
        population.shared_error(PanelTraits(0.2, jurors, kappa=-0.5))[0] == mean
    )  # agreement below chance lowers nothing


@pytest.mark.parametrize(("labels", "jurors", "counts"), [(2, 5, False), (3, 5, True), (3, 12, False)])
def test_agreement_is_a_trait_of_small_panels_with_more_than_two_labels(labels: int, jurors: int, counts: bool) -> None:
    rng = np.random.default_rng(labels)
    truth = rng.integers(labels, size=(400, 1))
    codes = np.where(rng.random((400, jurors)) < 0.8, truth, rng.integers(labels, size=(400, jurors)))
    sketch = Sketch.from_votes(Votes.from_matrix(codes, labels=list(range(labels))))
    jury = jury_votes(sketch, np.full((sketch.tuples.rows, labels), 1 / labels), ())
    traits = panel_traits(jury)
    assert traits == PanelTraits(answer_spread(jury), jurors, fleiss_kappa(jury) if counts else 0.0)
    assert fleiss_kappa(jury) == pytest.approx(0.64, abs=0.05)  # both right by knowing: 0.8²


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(3, 6))
@settings(max_examples=10, deadline=None)
def test_no_calibrated_score_ends_below_its_interval_if_errors_were_independent(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((300, 1)) < 0.4
    votes = np.where(rng.random((300, width)) < rng.uniform(0.6, 0.95, width), truth, ~truth)
    result = jurors.grade(votes.astype(int))
    model = result.independent
    assume(result.is_calibrated and model.solution is not None and model.solution.is_in_range)
    for juror in result.jurors:
        assert result.interval_of("score", juror)[1] >= min(model.interval_of("score", juror)[1], 1.0) - 1e-12


def test_seven_juries_draw_no_line_and_two_leave_no_freedom() -> None:
    seven = fit_population([jury_row(str(k), 0.1 * k, 0.1 + 0.1 * k) for k in range(7)])
    y = np.log(0.1 + 0.1 * np.arange(7))
    assert (seven.slope, seven.unevenness) == (0.0, 1.0)
    assert seven.sd == pytest.approx(CORE * np.sqrt(((y - y.mean()) ** 2).sum() / 5))
    two = fit_population([jury_row("a", 0.1, 0.1, deviation=-0.1), jury_row("b", 0.1, 0.4, deviation=0.0)])
    assert two.sd == pytest.approx(CORE * np.log(4) / 2**0.5)
    assert (two.deviation, two.unevenness) == (0.0, 1.0)


def test_a_jury_measured_anew_takes_the_place_of_the_old_one() -> None:
    old, other, new = jury_row("a", 0.1, 0.1), jury_row("b", 0.2, 0.5), jury_row("a", 0.3, 0.2)
    juries = ReferenceJuries((old, other)).with_jury(new)
    assert (len(juries), list(juries)) == (2, [other, new])
    assert juries.to_dict()["juries"] == [asdict(other), asdict(new)]
    assert juries.to_dict()["population"] == asdict(juries.population)
    assert juries.to_csv().splitlines()[1].startswith("b,programs,here,1200,3,2,2.75,0.2,0.5,")


def test_covariances_of_pairs_are_those_of_their_common_items() -> None:
    rng = np.random.default_rng(5)
    codes = np.where(rng.random((80, 5)) < 0.7, rng.integers(0, 2, (80, 5)), -1)
    moments = pair_moments(Pairs(Sketch.from_votes(Votes.from_matrix(codes, labels=[0, 1]))))
    for a, b in combinations(range(5), 2):
        met = codes[(codes[:, [a, b]] >= 0).all(axis=1)][:, [a, b]]
        assert moments.items[a, b] == len(met)
        assert moments.covariance[a, b] == pytest.approx(np.cov(met.T)[0, 1])
