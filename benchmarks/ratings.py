"""Numbers beside a key: how well items are valued and jurors graded, and whether intervals and alarms hold.

    python benchmarks/ratings.py

Without the vote sets of `reference_sets`, only what is simulated is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pandas
from reference_sets import data_folder
from scipy.stats import norm, rankdata, spearmanr

from jurors._numeric import Floats
from jurors.numeric.data import find_outliers
from jurors.numeric.factor import Covariances, fit_factor
from jurors.numeric.grade import grade_numbers, value_items

_TABLES = 200


def main() -> None:
    base = data_folder()
    if base is not None:
        judged(base / "kinds" / "care_asset_continuous")
    closed_form()
    coverage()
    rings()
    wild()
    speed()


# -- beside a key -----------------------------------------------------------------------------------------------------


def judged(folder: Path) -> None:
    votes = pandas.read_csv(folder / "votes.csv.gz").pivot(index="item", columns="juror", values="label")
    truth = pandas.read_csv(folder / "truth.csv.gz").set_index("item")["label"].reindex(votes.index).to_numpy()
    matrix, names = votes.to_numpy(), list(votes.columns)
    reliability = np.array([np.corrcoef(column, truth)[0, 1] ** 2 for column in matrix.T])
    values = value_items(matrix, jurors=names)
    print(f"{folder.name}: {len(truth)} items, {len(names)} jurors; items against the key: Spearman, RMSE")
    best = int(np.argmax(reliability))
    rivals = {
        "jurors": values.value,
        "mean": matrix.mean(axis=1),
        "median": np.median(matrix, axis=1),
        f"best single, by the key ({names[best]})": matrix[:, best],
    }
    for name, guess in rivals.items():
        print(f"  {name:50} {spearmanr(guess, truth).statistic:6.3f} {_rmse(guess - truth):7.2f}")
    real, alone = (
        np.mean((low <= truth) & (truth <= high))
        for low, high in ((values.low, values.high), (values.independent.low, values.independent.high))
    )
    print(f"  95% intervals of values that hold the key: {real:.0%}, if errors were independent {alone:.0%}")
    grades = grade_numbers(matrix, jurors=names)
    model = grades.independent
    rho = spearmanr(model.reliability, reliability).statistic
    held = np.mean((model.reliability_ends[:, 0] <= reliability) & (reliability <= model.reliability_ends[:, 1]))
    print(f"  reliabilities against the key: Spearman {rho:.3f}, RMSE {_rmse(model.reliability - reliability):.3f}")
    with_mean = np.array([_with_rest(matrix, k) for k in range(len(names))])
    rho, error = spearmanr(with_mean, reliability).statistic, _rmse(with_mean - reliability)
    print(f"  squared correlation with the mean of the others: Spearman {rho:.3f}, RMSE {error:.3f}")
    print(f"  95% intervals of reliabilities that hold the key's: {held:.0%}")
    common = np.corrcoef(values.value, truth)[0, 1] ** 2
    print(f"  what the jurors agree on, squared correlation with the key: {common:.2f}; reliabilities times that:")
    print(f"    RMSE {_rmse(common * model.reliability - reliability):.3f}")


def _with_rest(matrix: Floats, juror: int) -> float:
    return float(np.corrcoef(matrix[:, juror], np.delete(matrix, juror, axis=1).mean(axis=1))[0, 1] ** 2)


def _rmse(error: Floats) -> float:
    return float(np.sqrt(np.mean(error**2)))


# -- simulated --------------------------------------------------------------------------------------------------------


def simulated(jurors_: int, items: int, seed: int, *, together: float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Numbers, true reliabilities and truths; the first two jurors' errors may go together."""
    rng = np.random.default_rng(seed)
    reliability, truth = rng.uniform(0.2, 0.9, jurors_), rng.normal(size=items)
    noise = rng.normal(size=(items, jurors_))
    noise[:, 1] = together * noise[:, 0] + np.sqrt(1 - together**2) * noise[:, 1]
    slope, offset = rng.uniform(5, 20, jurors_), rng.uniform(30, 70, jurors_)
    unit = np.sqrt(reliability) * truth[:, None] + np.sqrt(1 - reliability) * noise
    return offset + slope * unit, reliability, truth


def closed_form() -> None:
    """Three jurors with planted loadings, errors exactly independent: the closed form against what was planted."""
    right = 0
    for seed in range(_TABLES):
        rng = np.random.default_rng(seed)
        slope, noise = rng.integers(1, 20, 3), rng.integers(1, 20, 3)
        truth = np.repeat(np.arange(4), 8)
        signs = np.tile(np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T, (4, 1))
        found = fit_factor(Covariances.of(np.asarray(truth[:, None] * slope + signs * noise, dtype=float)))
        right += bool(np.allclose(4 * found.communality, 5 * slope**2))
    print(f"closed form: {right} of {_TABLES} planted trios come back")


def coverage() -> None:
    print("95% intervals that hold what was simulated: reliabilities, values of items (on the truth's own scale)")
    for size, items in ((3, 50), (3, 200), (5, 50), (5, 200), (10, 100)):
        held, kept = [], []
        for seed in range(_TABLES):
            matrix, reliability, truth = simulated(size, items, seed)
            grades, values = grade_numbers(matrix), value_items(matrix)
            low, high = grades.independent.reliability_ends.T
            held += ((low <= reliability) & (reliability <= high))[~np.isnan(low)].tolist()
            if not np.isnan(grades.truth_mean):
                there = grades.truth_mean + grades.truth_spread * truth
                ends = values.independent.low, values.independent.high
                kept += ((ends[0] <= there) & (there <= ends[1]))[~np.isnan(ends[0])].tolist()
        print(f"  {size:3} jurors, {items:4} items: {np.mean(held):6.1%} {np.mean(kept):6.1%}", flush=True)


def rings() -> None:
    print(
        "errors of two jurors go together by 0, 0.5, 0.9: tables that ring; median RMSE of reliabilities (pair fitted)"
    )
    for size, items in ((5, 200), (8, 200)):
        for together in (0.0, 0.5, 0.9):
            rang, errors, fitted = 0, [], []
            for seed in range(_TABLES):
                matrix, reliability, _ = simulated(size, items, seed, together=together)
                grades = grade_numbers(matrix)
                rang += any(alarm.kind == "correlated_errors" for alarm in grades.alarms)
                errors.append(_rmse(grades.independent.reliability - reliability))
                fitted.append(_rmse(fit_factor(Covariances.of(matrix)).reliability - reliability))
            print(
                f"  {size} jurors, {items} items, {together}: {rang / _TABLES:5.1%} {np.median(errors):.3f} "
                f"({np.median(fitted):.3f})", flush=True,
            )  # fmt: skip


def wild() -> None:
    ways: dict[str, Callable[[Floats], Floats]] = {
        "as they are": lambda matrix: matrix,
        "ours": lambda matrix: np.where(find_outliers(matrix), np.nan, matrix),
        "winsorised": _winsorised,
        "normal scores of ranks": lambda matrix: np.asarray(norm.ppf((rankdata(matrix, axis=0) - 0.5) / len(matrix))),
    }
    print(f"wild values: median RMSE of the reliabilities of 6 jurors on 300 items; {', '.join(ways)}")
    for share in (0.0, 0.003, 0.02):
        for heavy in (False, True):
            errors: dict[str, list[float]] = {name: [] for name in ways}
            for seed in range(60):
                matrix, reliability, _ = _wild_table(seed, share, heavy=heavy)
                for name, way in ways.items():
                    grades = fit_factor(Covariances.of(way(matrix))).reliability
                    errors[name].append(_rmse(grades - reliability))
            truths = "lognormal" if heavy else "normal"
            print(f"  {share:5.1%} wild, {truths:9} truths: ", *(f"{np.median(e):7.3f}" for e in errors.values()))


def _wild_table(seed: int, share: float, *, heavy: bool) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    matrix, reliability, truth = simulated(6, 300, seed)
    if heavy:
        skewed = (np.exp(truth) - np.exp(truth).mean()) / np.exp(truth).std()
        noise = rng.normal(size=matrix.shape)
        matrix = 50 + 10 * (np.sqrt(reliability) * skewed[:, None] + np.sqrt(1 - reliability) * noise)
    slips = np.where(rng.random(matrix.shape) < 0.5, 10 * matrix, 9999)
    return np.where(rng.random(matrix.shape) < share, slips, matrix), reliability, truth


def speed() -> None:
    print("processor seconds that grading takes, and alarms; some jurors share an error")
    for size, items, block in ((60, 2_000, 0), (60, 2_000, 6), (60, 2_000, 14), (40, 5_000, 14), (3, 1_000_000, 0)):
        rng = np.random.default_rng(size)
        matrix, _, _ = simulated(size, items, 0)
        matrix[:, :block] += 10 * rng.normal(size=(items, 1)) * np.sqrt(0.5)
        started = process_time()
        grades = grade_numbers(matrix)
        taken = process_time() - started
        print(f"  {size} jurors, {items:9,} items, {block:2} share it: {taken:6.2f} s, {len(grades.alarms)} alarms")


def _winsorised(matrix: Floats) -> Floats:
    middle = np.median(matrix, axis=0)
    spread = 1.4826 * np.median(np.abs(matrix - middle), axis=0)
    return np.clip(matrix, middle - 3 * spread, middle + 3 * spread)


if __name__ == "__main__":
    main()
