"""Reference juries: juries with known keys, and the population they tell of.

How far a jury's errors are shared cannot be seen in its votes (MATHS §11). It can be measured where the key is known,
and the spread over such juries is the honest prior for the next one. An organisation's own history is the best one.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from importlib.resources import as_file, files
from os import PathLike

import numpy as np

LEAST_SHARED = 0.03  #: a shared error below this is counted as this: less changes nothing that could be measured
_SPREAD_FLOOR = 0.02  # answer rates that are all alike still differ by chance


@dataclass(frozen=True)
class ReferenceJury:
    """What one jury with a known key shows: a row of the shipped table."""

    name: str
    kind: str
    source: str
    items: int  #: with a known label
    jurors: int
    labels: int
    votes_per_item: float
    spread: float  #: how far the jurors' own answer rates lie apart; visible without a key
    rho: float  #: the shared error that makes the key likeliest
    slant: float  #: root mean square of the slant, in log-odds
    deviation: float  #: variance of the jurors' own deviations in score, on the scale asin(sqrt(share)); may be < 0
    label_deviation: float  #: the same of their accuracies by label


@dataclass(frozen=True)
class Population:
    """How real juries differ, as far as the reference juries tell: all that calibration needs of them."""

    center: float  #: mean of log rho at the mean log spread
    slope: float  #: of log rho by log spread
    log_spread: float  #: mean log spread
    sd: float  #: of log rho around that line
    independent: float  #: share of juries whose jurors err (almost) independently
    slant: float  #: standard deviation of a label's slant
    deviation: float  #: standard deviation of a juror's own deviation in score
    label_deviation: float  #: the same of its accuracies
    unevenness: float  #: mean variance of deviations by squared mean: 1 if jurors deviated as far in all juries
    juries: int

    def shared_error(self, spread: float) -> tuple[float, float]:
        """Mean and standard deviation of log rho for a jury whose answer rates lie so far apart."""
        return self.center + self.slope * (_log(spread) - self.log_spread), self.sd


def fit_population(juries: Sequence[ReferenceJury]) -> Population:
    """The population that the reference juries were drawn from; every jury counts once.

    The line of log rho on log spread needs a handful of juries; with fewer than eight the slope is taken to be 0.

    Examples
    --------
    >>> rows = [ReferenceJury(str(k), "", "", 9, 3, 2, 3.0, 0.1, rho, 0.5, 0.002, 0.003)
    ...         for k, rho in enumerate((0.2, 0.4, 0.5, 0.3))]
    >>> population = fit_population(rows)
    >>> population.juries, population.slope, round(population.deviation, 4)
    (4, 0.0, 0.0447)
    """
    shared = np.log(np.maximum([jury.rho for jury in juries], LEAST_SHARED))
    x = np.array([_log(jury.spread) for jury in juries])
    apart, count = x - x.mean(), len(juries)
    varied = float(apart @ apart)
    slope = float(apart @ shared) / varied if varied > 0 and count >= 8 else 0.0
    left = shared - shared.mean() - slope * apart
    return Population(
        center=float(shared.mean()),
        slope=slope,
        log_spread=float(x.mean()),
        sd=float(np.sqrt(left @ left / max(count - 2, 1))),
        independent=(sum(jury.rho < LEAST_SHARED for jury in juries) + 0.5) / (count + 1),
        slant=float(np.sqrt(np.mean([jury.slant**2 for jury in juries]))),
        deviation=_mean_root([jury.deviation for jury in juries]),
        label_deviation=_mean_root([jury.label_deviation for jury in juries]),
        unevenness=_unevenness([jury.deviation for jury in juries]),
        juries=count,
    )


def read_reference(path: str | PathLike[str]) -> list[ReferenceJury]:
    """A table of reference juries, as `write_reference` writes it."""
    kinds = {"str": str, "int": int, "float": float}
    with open(path, newline="", encoding="utf-8") as file:
        return [
            ReferenceJury(**{f.name: kinds[str(f.type)](row[f.name]) for f in fields(ReferenceJury)})
            for row in csv.DictReader(file)
        ]


@lru_cache(maxsize=1)
def shipped_juries() -> tuple[ReferenceJury, ...]:
    """The reference juries that come with the package; `benchmarks/reference_juries.py` makes the table."""
    with as_file(files("jurors.data") / "reference_juries.csv") as path:
        return tuple(read_reference(path))


@lru_cache(maxsize=1)
def shipped_population() -> Population:
    """The population they tell of."""
    return fit_population(shipped_juries())


def write_reference(juries: Sequence[ReferenceJury], path: str | PathLike[str]) -> None:
    """One row a jury; numbers with as many digits as the key can tell."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([f.name for f in fields(ReferenceJury)])
        for jury in juries:
            table.writerow([f"{v:.5g}" if isinstance(v, float) else v for v in asdict(jury).values()])


def _mean_root(squares: Sequence[float]) -> float:
    """The mean standard deviation: a few juries of strangers must not widen everybody's interval."""
    return float(np.mean(np.sqrt(np.maximum(squares, 0.0))))


def _unevenness(squares: Sequence[float]) -> float:
    usual = _mean_root(squares) ** 2
    return max(float(np.mean(squares)) / usual, 1.0) if usual > 0 else 1.0


def _log(spread: float) -> float:
    return float(np.log(spread + _SPREAD_FLOOR))
