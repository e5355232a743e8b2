"""Reference juries: the shipped table, tables of one's own, and a jury measured against its key."""

from __future__ import annotations

import os
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

import jurors
from jurors import SketchError, VotesError
from jurors.uncertainty.reference import (
    ReferenceJuries,
    ReferenceJury,
    fit_population,
    own_population,
    read_reference,
    shipped_juries,
    shipped_population,
    write_reference,
)

DATA = Path(os.environ.get("JURORS_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))


def jury_with_key(shared: float, seed: int = 0, items: int = 1500, width: int = 8) -> tuple[jurors.Votes, list[int]]:
    """Jurors who are right three times in four; on a share of the items they all do what one of them does."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    right = rng.random((items, width)) < 0.75
    together = rng.random(items) < shared
    right[together] = right[together, :1]
    return jurors.Votes.from_matrix(np.where(right, truth[:, None], 1 - truth[:, None])), truth.tolist()


def test_the_shipped_table_holds_45_juries_and_tells_of_a_population() -> None:
    juries = shipped_juries()
    assert len(juries) == len({jury.name for jury in juries}) == 45
    population = fit_population(juries)
    assert np.isfinite(list(asdict(population).values())).all()
    assert population == shipped_population()
    assert 0.1 < np.exp(population.center) < 1
    assert {jury.kind for jury in juries} == {"people", "LLMs", "programs"}
    assert all(jury.source for jury in juries)


def test_juries_of_the_same_spread_tell_nothing_of_what_spread_means() -> None:
    juries = [replace(jury, spread=0.1) for jury in shipped_juries()[:8]]
    assert fit_population(juries).slope == 0


def test_a_table_reads_back_as_it_was_written(tmp_path: Path) -> None:
    write_reference(shipped_juries(), tmp_path / "juries.csv")
    assert tuple(read_reference(tmp_path / "juries.csv")) == shipped_juries()


def test_the_table_in_csv_is_one_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "juries.csv").write_text(jurors.reference_juries().to_csv(), encoding="utf-8")
    assert jurors.reference_juries(tmp_path / "juries.csv") == jurors.reference_juries()


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "has no column 'name', 'kind', 'source', 'items' …; `jurors reference --fit` makes"),
        (b"item,juror,label\n1,ann,yes\n", "has no column 'name'"),
        (b"\xff\xfe\x00", "is no table of text"),
        ("HEADER\n", "holds no jury"),
        ("HEADER\na,b,c,9,3,2,3,0.1,much,0.5,0.002,0.003\n", "row 1: rho is 'much', which it cannot be"),
        ("HEADER\na,b,c,9,3,2,3,0.1,-1,0.5,0.002,0.003\n", "row 1: rho is '-1', which it cannot be"),
        ("HEADER\na,b,c,9,3,2,3,0.1,nan,0.5,0.002,0.003\n", "row 1: rho is 'nan', which it cannot be"),
        ("HEADER\na,b,c,9,3,2\n", "row 1: votes_per_item is '', which it cannot be"),
        (
            "HEADER\na,b,c,9,1000000000000000000000,2,3,0.1,0.2,0.5,0.002,0.003\n",
            "row 1: jurors is '1000000000000000000000'",
        ),
        ("HEADER\na,b,c,9,3,2,3,0.1,inf,0.5,0.002,0.003\n", "row 1: rho is 'inf', which it cannot be"),
        ("HEADER\na,b,c,0,3,2,3,0.1,0.2,0.5,0.002,0.003\n", "row 1: items is '0', which it cannot be"),
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
    with pytest.raises(VotesError):
        jurors.grade(jury_with_key(0.0)[0], reference=file)  # at once, not when the grades are looked at


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(VotesError, match=r"nowhere\.csv: there is no such file"):
        read_reference(tmp_path / "nowhere.csv")


def test_the_more_errors_are_shared_the_larger_is_the_shared_error_that_the_key_shows() -> None:
    measured = [jurors.fit_reference(*jury_with_key(shared), name="simulated").rho for shared in (0.0, 0.2, 0.6)]
    assert measured == sorted(measured)
    assert measured[0] < 0.1 < measured[2]


def test_a_measured_jury_counts_its_items_jurors_and_labels() -> None:
    votes, truth = jury_with_key(0.3)
    some = {item: label for item, label in enumerate(truth) if item % 2}
    jury = jurors.fit_reference(votes, some, name="half", kind="programs", source="simulated")
    assert (jury.name, jury.kind, jury.source) == ("half", "programs", "simulated")
    assert (jury.items, jury.jurors, jury.labels, jury.votes_per_item) == (750, 8, 2, 8.0)


def test_a_jury_without_a_key_or_of_copies_cannot_be_measured() -> None:
    votes, truth = jury_with_key(0.3, items=100)
    with pytest.raises(VotesError, match="none of the 1 items of the answer key"):
        jurors.fit_reference(votes, {"elsewhere": 1}, name="unknown")
    copies = np.repeat(np.asarray(votes.codes)[:, :1], 4, axis=1)
    with pytest.raises(SketchError, match="fewer than three voices"):
        jurors.fit_reference(copies, truth, name="copies")


def test_a_jury_measured_anew_replaces_the_old_one() -> None:
    first, second, *_ = shipped_juries()
    table = jurors.ReferenceJuries((first, second)).with_jury(replace(first, rho=2.0))
    assert [(jury.name, jury.rho) for jury in table] == [(second.name, second.rho), (first.name, 2.0)]


def test_many_juries_of_one_s_own_outweigh_the_shipped_ones() -> None:
    own = [replace(jury, rho=0.05) for jury in shipped_juries()] * 20
    assert np.exp(own_population(own).center) == pytest.approx(0.05, rel=0.02)


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "bluebirds").is_dir(), reason="no vote sets here; set JURORS_DATA to their folder")
@pytest.mark.parametrize("name", ["bluebirds", "ntqr_bbm_arithmetic", "nell_drug"])
def test_a_row_of_the_shipped_table_follows_from_votes_and_key(name: str) -> None:
    shipped = next(jury for jury in shipped_juries() if jury.name == name)
    folder = DATA / name
    measured = jurors.fit_reference(
        folder / "votes.csv.gz", folder / "truth.csv.gz", name=name, kind=shipped.kind, source=shipped.source
    )
    for field in fields(ReferenceJury):
        value = getattr(measured, field.name)
        wanted = getattr(shipped, field.name)
        assert value == (wanted if isinstance(value, str) else pytest.approx(wanted, rel=1e-3, abs=1e-7)), field.name


def jury_row(name: str, spread: float, rho: float, slant: float = 0.5, deviation: float = 0.002) -> ReferenceJury:
    return ReferenceJury(name, "programs", "here", 1200, 3, 2, 2.75, spread, rho, slant, deviation, 2 * deviation)


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
    assert population.sd == pytest.approx(np.sqrt(weights @ (y - start - slope * x) ** 2 / (11.5 - 2)))
    assert population.independent == pytest.approx((2 + 3 + 0.5) / (11.5 + 1))
    assert population.slant == pytest.approx(np.sqrt(share @ np.square(spreads)))
    roots = np.sqrt(np.maximum(deviations, 0))
    assert population.deviation == pytest.approx(share @ roots)
    assert population.label_deviation == pytest.approx(share @ roots * 2**0.5)
    assert population.unevenness == pytest.approx(share @ deviations / (share @ roots) ** 2)
    assert population.juries == 8
    assert population.shared_error(0.5) == pytest.approx((start + slope * np.log(0.52), population.sd))


def test_seven_juries_draw_no_line_and_two_leave_no_freedom() -> None:
    seven = fit_population([jury_row(str(k), 0.1 * k, 0.1 + 0.1 * k) for k in range(7)])
    y = np.log(0.1 + 0.1 * np.arange(7))
    assert (seven.slope, seven.unevenness) == (0.0, 1.0)
    assert seven.sd == pytest.approx(np.sqrt(((y - y.mean()) ** 2).sum() / 5))
    two = fit_population([jury_row("a", 0.1, 0.1, deviation=-0.1), jury_row("b", 0.1, 0.4, deviation=0.0)])
    assert two.sd == pytest.approx(np.log(4) / 2**0.5)
    assert (two.deviation, two.unevenness) == (0.0, 1.0)


def test_what_reference_juries_tell_in_plain_words() -> None:
    # the median of one's own juries' shared error, and 1.645 standard deviations to either side
    juries = ReferenceJuries((jury_row("a", 0.1, 0.01, deviation=0.0625), jury_row("b", 0.2, 0.5, deviation=-0.1)))
    told, of = str(juries), juries.population
    low, middle, high = np.exp(of.center + of.sd * np.array([-1.645, 0, 1.645]))
    assert f"usual jury: {middle:.2f}; of nine juries in ten: {low:.2f} to {high:.2f}. 1 of 2 err" in told
    worth = [size / (1 + middle * (size - 1)) for size in (3, 10, 30)]
    assert "3 jurors {:.1f}, 10 jurors {:.1f}, 30 jurors {:.1f}.".format(*worth) in told
    assert f"shared error is {2**of.slope:.1f} times as much" in told
    even = 100 / (1 + np.exp(of.slant * 2**0.5))
    assert f"each is true of {even:.0f} – {100 - even:.0f}% of the items" in told
    assert f"off by another {100 * of.deviation:.1f} points (an accuracy by {100 * of.label_deviation:.1f})" in told
    assert "The 45 shipped juries count as 4 more beside these 2." in told
    rows = [line.split() for line in told.splitlines() if " programs " in line]
    assert rows[0] == ["a", "programs", "1,200", "3", "2", "2.8", "0.10", "0.01", "0.50", "0.250"]
    assert rows[1][-1] == "0.000"
    assert "beside this one." in str(ReferenceJuries(juries.juries[:1]))
    assert "beside" not in str(ReferenceJuries(shipped_juries()))


def test_a_jury_measured_anew_takes_the_place_of_the_old_one() -> None:
    old, other, new = jury_row("a", 0.1, 0.1), jury_row("b", 0.2, 0.5), jury_row("a", 0.3, 0.2)
    juries = ReferenceJuries((old, other)).with_jury(new)
    assert (len(juries), list(juries)) == (2, [other, new])
    assert juries.to_dict()["juries"] == [asdict(other), asdict(new)]
    assert juries.to_dict()["population"] == asdict(juries.population)
    assert juries.to_csv().splitlines()[1].startswith("b,programs,here,1200,3,2,2.75,0.2,0.5,")
