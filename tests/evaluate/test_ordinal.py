"""Ordered levels: graded responses, and the grades of juries on one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordered_panels import LEVELS, as_votes, ordered_panel
from strategies import examples

import jurors
from jurors._numeric import Floats, Integers
from jurors.evaluate.consistency import ORDINAL_MODELS, item_levels, juror_levels
from jurors.evaluate.latent.panel import evaluate_panel
from jurors.evaluate.ordinal import Responses, _height, climb_responses, fit_flexible, fit_trait, level_bands
from jurors.evaluate.solution import Partition
from jurors.sketch.pairs import Incidence
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.reference import ON_A_LINE, shipped_juries

# -- How jurors answer on a line, and what levels mean: who follows the items says it --------------


PLACES = np.linspace(-3, 3, 21)


def _panel(slopes: list[float], edges: list[list[float]]) -> Responses:
    """One panel of jurors who go from level to level at these places."""
    slope = np.array([slopes])
    nothing = np.zeros((1, LEVELS))
    return Responses(slope[..., None] * np.array([edges]), slope, nothing, nothing + 1)


def test_who_follows_the_items_says_what_levels_mean() -> None:
    good, careless = [-1.5, -0.5, 0.5, 1.5], [0.0, 1.0, 2.0, 3.0]
    panel = _panel([4.0] + [1.0] * 10, [good] + [careless] * 10)
    votes = np.full((1, 11, len(PLACES), LEVELS), 1.0)
    edges = level_bands(panel, PLACES, votes)[0][0]
    assert np.abs(edges - good).max() < 0.1


@pytest.mark.parametrize("silent", [0, 1])
def test_a_juror_without_votes_has_no_effect(silent: int) -> None:
    both = [[-1.5, -0.5, 0.5, 1.5], [-1.0, 0.0, 1.0, 2.0]]
    heard = np.ones((1, 2))
    heard[0, silent] = 0.0
    edges, bands = level_bands(_panel([2.0, 2.0], both), PLACES, np.ones((1, 2, len(PLACES), LEVELS)), heard)
    np.testing.assert_allclose(edges[0], both[1 - silent])
    np.testing.assert_allclose(bands.sum(axis=2), 1.0)


@examples(25)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_step_leads_anybody_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = rng.gamma(0.3, size=(2, 4, len(PLACES), LEVELS)) * rng.integers(0, 30)
    at = Responses.first(votes.sum(axis=2))
    before = _height(at, PLACES, votes)
    after, _ = climb_responses(at, PLACES, votes, 2)
    assert (np.diff(after.thresholds, axis=2) > 0).all()
    assert (_height(after, PLACES, votes) >= before - 1e-6).all()


# -- Ordered levels: what the line recovers, and what must not matter ------------------------------


SLOPES, SHIFTS = (3.0, 3.0, 2.0, 2.0, 4.0, 1.0), (0.4, -0.4, 0.3, -0.3, 0.0, 0.0)


def _kappa(said: Integers, truth: Integers) -> float:
    """Cohen's, errors squared, by its definition."""
    apart = ((said[:, None] - np.arange(LEVELS)) ** 2).mean(axis=0)
    return float(1 - ((said - truth) ** 2).mean() / apart[truth].mean())


@pytest.mark.slow
def test_a_large_panel_is_recovered() -> None:
    truth, votes = ordered_panel(20_000, SLOPES, SHIFTS)
    graded = jurors.grade(as_votes(votes), errors="independent")
    assert graded.model in ORDINAL_MODELS
    assert graded.ordered is not None
    for k, name in enumerate(graded.jurors):
        off = votes[:, k] - truth
        actual = np.abs(off).mean(), off.mean(), _kappa(votes[:, k], truth)
        assert graded.ordered.row(name) == pytest.approx(actual, abs=0.01)
        assert graded.score[name] == pytest.approx((off == 0).mean(), abs=0.01)


def _levels(votes: Integers, *, flexible: bool) -> Floats:
    data = Incidence.from_codes(votes, labels=LEVELS)
    fit = fit_trait(data)
    return np.asarray((fit_flexible(data, fit) if flexible else fit).level_posterior()[0])


@examples(6)
@given(seed=st.integers(0, 2**32 - 1), order=st.permutations(range(4)), flexible=st.booleans())
def test_the_scale_may_be_read_from_either_end_and_jurors_stand_in_any_order(
    seed: int, order: list[int], flexible: bool
) -> None:
    _, votes = ordered_panel(150, SLOPES[:4], SHIFTS[:4], seed=seed)
    moved = _levels(LEVELS - 1 - votes[:, order], flexible=flexible)
    np.testing.assert_allclose(_levels(votes, flexible=flexible), moved[::-1], atol=1e-6)


@examples(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_upside_down_biases_change_sides_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sketch = Sketch.from_votes(as_votes(rng.integers(0, LEVELS, (30, 3))))
    shares = rng.dirichlet(np.ones(LEVELS), sketch.tuples.rows) * sketch.counts[:, None]
    turned = Sketch(replace(sketch.tuples, _dense=LEVELS - 1 - sketch.tuples.codes))
    there = juror_levels(sketch, shares)
    back = juror_levels(turned, shares[:, ::-1])
    assert back.mean_error == pytest.approx(there.mean_error)
    assert back.weighted_agreement == pytest.approx(there.weighted_agreement)
    assert [-x for x in back.bias.values()] == pytest.approx(list(there.bias.values()))


def test_a_copy_is_noticed_and_counts_once() -> None:
    _, votes = ordered_panel(400, SLOPES[:4], SHIFTS[:4])
    graded = jurors.grade(as_votes(np.column_stack([votes, votes[:, 0]])), errors="independent")
    twins = [alarm.jurors for alarm in graded.alarms if alarm.reason == "twin_jurors"]
    assert twins == [("A", "E")]
    alone = jurors.grade(as_votes(votes), errors="independent")
    assert graded.score["E"] == graded.score["A"] == pytest.approx(alone.score["A"], abs=0.01)


def test_who_turns_the_scale_round_disagrees_with_the_truth() -> None:
    _, votes = ordered_panel(400, SLOPES[:5], SHIFTS[:5])
    votes[:, 4] = LEVELS - 1 - votes[:, 4]
    graded = jurors.grade(as_votes(votes), errors="independent")
    assert graded.ordered is not None
    agreement = graded.ordered.weighted_agreement
    assert agreement["E"] < -0.5
    assert min(agreement[j] for j in "ABCD") > 0.5


def test_levels_whose_errors_know_no_order_are_graded_without() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 600)
    ring = np.array([2, 3, 1, 0])[truth]  # what each level is mistaken for: never a neighbour's neighbour alone
    votes = np.where(rng.random((600, 5)) < 0.75, truth[:, None], ring[:, None])
    panel = evaluate_panel(Sketch.from_votes(as_votes(votes, 4)))
    assert panel.ordered is not None
    assert panel.ordered.chosen not in ORDINAL_MODELS
    assert panel.is_unordered


def test_one_label_off_the_line_is_not_paid_for_with_exact_labels() -> None:
    """Three levels, and *broken* above them, which who overlooks it takes for the lowest."""
    _, votes = ordered_panel(1500, SLOPES[:5], SHIFTS[:5], seed=2, levels=3)
    rng = np.random.default_rng(2)
    broken, overlooked = np.arange(1500) < 400, rng.random(votes.shape) < 0.35
    votes = np.where(broken[:, None], np.where(overlooked, 0, 3), votes)
    ordered = evaluate_panel(Sketch.from_votes(as_votes(votes, 4))).ordered
    assert ordered is not None
    assert ordered.exact[ordered.chosen] == max(ordered.exact.values())
    assert ordered.chosen not in ORDINAL_MODELS
    kept = evaluate_panel(Sketch.from_votes(as_votes(votes[~broken], 3))).ordered
    assert kept is not None
    assert kept.chosen in ORDINAL_MODELS


def test_unordered_votes_have_no_levels() -> None:
    _, votes = ordered_panel(200, SLOPES[:4], SHIFTS[:4])
    graded = jurors.grade(replace(as_votes(votes), scale="nominal"))
    assert graded.ordered is None
    assert "ordered" not in graded.to_dict()
    assert "bias" not in graded.to_frame().columns


@pytest.fixture(scope="module")
def panel() -> tuple[Integers, jurors.Votes]:
    """A small panel, and its true levels."""
    truth, votes = ordered_panel(300, SLOPES[:5], SHIFTS[:5], seed=3)
    return truth, as_votes(votes)


def test_items_have_a_median_an_expected_level_and_an_interval(panel: tuple[Integers, jurors.Votes]) -> None:
    truth, votes = panel
    labelled = jurors.label(votes)
    frame = labelled.to_frame()
    assert list(frame.columns) == ["item", "label", "probability", "median", "expected", "low", "high"]
    assert (frame["low"] <= frame["median"]).all()
    assert (frame["median"] <= frame["high"]).all()
    assert np.corrcoef(frame["expected"], truth)[0, 1] > 0.9
    assert ((frame["low"] <= truth) & (truth <= frame["high"])).mean() >= 0.95


def test_an_item_whose_label_has_no_probability_has_no_levels() -> None:
    """Whoever votes alone cannot be graded, and so nothing is known of where the item stands."""
    _, votes = ordered_panel(120, SLOPES[:3], SHIFTS[:3], seed=4)
    alone = np.vstack([np.column_stack([votes, np.full(120, -1)]), [[-1, -1, -1, 1]]])
    for errors in ("real", "independent"):
        labelled = jurors.label(as_votes(alone), errors=errors)
        last = labelled.to_frame().iloc[-1]
        assert last[["probability", "median", "expected", "low", "high"]].isna().all(), errors
        assert labelled.to_text().split("\n\n")[0].splitlines()[-1].split()[2:] == ["–"] * 5


def test_a_label_with_a_comma_is_one_level() -> None:
    levels = ("no", "yes, in part", "yes, wholly")
    votes = jurors.Votes.from_matrix([[0, 1, 2], [1, 1, 1], [2, 2, 1], [0, 0, 0]] * 20, labels=levels, scale="ordinal")
    assert "levels no < yes, in part < yes, wholly\n" in jurors.grade(votes).to_text()


def test_known_levels_are_kept(panel: tuple[Integers, jurors.Votes]) -> None:
    truth, votes = panel
    gold = {k: int(truth[k]) for k in range(20)}
    levels = jurors.label(votes, gold=gold).levels
    assert levels is not None
    assert levels.expected[:20].tolist() == truth[:20].tolist() == levels.low[:20].tolist()


def test_the_card_says_how_far_off_and_to_which_side(panel: tuple[Integers, jurors.Votes]) -> None:
    graded = jurors.grade(panel[1])
    document, text = graded.to_dict()["ordered"], graded.to_text()
    assert document["bias"]["A"] > 0.1
    assert document["bias"]["B"] < -0.1
    assert "lenient" in text
    assert "harsh" in text
    assert list(graded.to_frame().columns)[-3:] == ["mean_error", "bias", "weighted_kappa"]


@pytest.mark.parametrize(("gold", "says"), [(0, "votes cannot show"), (100, "gold may show only part of")])
def test_gold_shows_part_of_a_severity_that_all_share_and_the_card_says_so(gold: int, says: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 300)
    lenient = rng.random((300, 4)) < 0.8
    given = np.clip(truth[:, None] + lenient + rng.choice([-1, 0, 0, 0, 1], (300, 4)), 1, 5)
    known = {int(k): int(truth[k]) for k in rng.choice(300, gold, replace=False)} or None
    graded = jurors.grade(jurors.Votes.from_matrix(given, scale="ordinal"), gold=known)
    assert f"Bias is relative to the panel: {says} a severity that all jurors share." in " ".join(str(graded).split())
    assert graded.ordered is not None
    bias, actual = np.mean(list(graded.ordered.bias.values())), (given - truth[:, None]).mean()
    assert abs(bias) < 0.1 if not gold else 0.5 * actual < bias < actual


def test_an_interval_holds_what_it_says() -> None:
    sketch = Sketch.from_votes(as_votes(np.array([[0, 1, 2]])))
    partition = Partition(sketch, np.array([[0.02, 0.2, 0.5, 0.26, 0.02]]), np.array([2]))
    wide, narrow = item_levels(partition, 0.95), item_levels(partition, 0.5)
    assert (wide.low[0], wide.high[0]) == (1, 3)
    assert (narrow.low[0], narrow.high[0]) == (2, 3)
    assert wide.expected[0] == pytest.approx(0.2 + 1.0 + 0.78 + 0.08)
    assert wide.median[0] == 2


def test_shared_error_is_believed_less_on_a_line_unless_the_reference_juries_are_your_own(
    panel: tuple[Integers, jurors.Votes],
) -> None:
    for reference, factor in ((None, ON_A_LINE), (shipped_juries()[:9], 1.0)):
        grades = [jurors.grade(replace(panel[1], scale=s), reference=reference) for s in ("ordinal", "nominal")]
        assert [grade.is_on_a_line for grade in grades] == [True, False]
        believed, usual = (grade.calibrated.shared_error.median for grade in grades if grade.calibrated is not None)
        assert believed == pytest.approx(factor * usual)
