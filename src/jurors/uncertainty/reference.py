"""Reference juries: juries with known keys, and the population they were drawn from.

How far a jury's errors are shared cannot be seen in its votes (docs/calibration.md). It can be measured where the key
is known (`jurors.jury.compare`), and the distribution over such juries is the honest prior for the next one. An
organisation's own history is the best one. Rows of a CSV table come in; a `Population` goes out, which is all that
calibration needs.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from functools import cached_property, lru_cache
from importlib.resources import as_file, files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jurors._files import atomic_write
from jurors._numeric import Floats
from jurors.errors import VotesError, format_names
from jurors.results import Columns, Result, Table, columns_of, csv_text, with_formula

LEAST_SHARED = 0.03  #: a smaller shared error counts as this: the difference cannot be measured
ON_A_LINE = 0.65  #: factor of the shared error for ordered fits; see `Population.on_a_line`
SMALL_SHIFT = 1.4  #: of log rho, for three jurors; `benchmarks/calibration.py` measures what it does
SMALL_KAPPA = 2.0  #: by which agreement beyond chance lowers that, where there are more than two labels
CORE = 0.7  #: of the standard deviation of log rho that keys show, some of which is noise; the best interval score
SMALL_DEVIATION = 1.25  #: by which gold expects the variance of deviations to be larger for three jurors, of itself
LENT = 4.0  #: how many juries the shipped ones count as, together with the user's own
_ENOUGH = 8  # juries needed to regress shared error on spread
_SAME_SPREAD = 1e-9  # of logarithms: spreads that differ by rounding only are no predictor
_SPREAD_FLOOR = 0.02  # equal answer rates still differ by chance


@dataclass(frozen=True)
class ReferenceJury:
    """The measurements of one jury with a known key: a row of the table."""

    name: str
    kind: str
    source: str
    items: int  #: with a known label
    jurors: int
    labels: int
    votes_per_item: float
    spread: float  #: of the jurors' answer rates; visible without a key
    rho: float  #: the shared error that makes the key likeliest
    label_bias: float  #: root mean square of the label bias, in log-odds
    deviation: float  #: variance of the jurors' own deviations in score, on the scale asin(sqrt(share)); may be < 0
    label_deviation: float  #: the same for their accuracies by label
    family: str = ""  #: juries of one task or maker, which count once; by default a jury is its own


@dataclass(frozen=True)
class PanelTraits:
    """What a panel's votes show without a key that goes with how far its errors are shared."""

    spread: float  #: of the jurors' answer rates
    jurors: int = 12  #: how many there are; from twelve on the number makes no difference
    kappa: float = 0.0  #: Fleiss' kappa where there are more than two labels, else 0

    @property
    def smallness(self) -> float:
        """1 for three jurors, 0 from twelve on, linear in their number."""
        return min(max((12 - self.jurors) / 9, 0.0), 1.0)


@dataclass(frozen=True)
class Population:
    """How juries differ, as measured on the reference juries: all that calibration needs of them."""

    center: float  #: mean of log rho at the mean log spread
    slope: float  #: of log rho by log spread
    log_spread: float  #: mean log spread
    sd: float  #: of log rho around that line, without its outer tails (CORE)
    independent: float  #: share of juries whose jurors err (almost) independently
    label_bias: float  #: standard deviation of a label's bias, one standard error above its estimate
    deviation: float  #: standard deviation of a juror's own deviation in score
    label_deviation: float  #: the same for its accuracies
    unevenness: float  #: mean variance of deviations by squared mean: 1 if jurors deviated as far in all juries
    juries: int

    def shared_error(self, traits: PanelTraits) -> tuple[float, float]:
        """The prior of log rho for a panel with these traits.

        Small panels share more: their shared error exceeds that of the large panels they are drawn from by SMALL_SHIFT
        at three jurors, falling to 0 at twelve in proportion to their number. With more than two labels agreement is
        evidence of accuracy and lowers it; with two labels it is not (docs/calibration.md).

        Returns
        -------
        mean, sd : float
        """
        line = self.center + self.slope * (_log(traits.spread) - self.log_spread)
        shift = traits.smallness * (SMALL_SHIFT - SMALL_KAPPA * max(traits.kappa, 0.0))
        return line + shift, self.sd

    def with_gold(self, traits: PanelTraits) -> Population:
        """The same where gold shows how far jurors deviate: in small panels, expect them to deviate further.

        Returns
        -------
        Population
        """
        return replace(self, unevenness=self.unevenness * (1.0 + SMALL_DEVIATION * traits.smallness))

    def on_a_line(self) -> Population:
        """The same for fits of ordered levels (`evaluate.ordinal`), which are less overconfident than others.

        An item between two levels is between them on a line, but certainly one of them in a model of classes. With
        keys, the ordered fits' shared error is never more than the unordered fits' on six sets: 0.64 of it in the
        geometric mean, 0.59 to 0.73 with any one left out (`benchmarks/ordered_levels.py`).

        Returns
        -------
        Population
        """
        return replace(self, center=self.center + float(np.log(ON_A_LINE)))


def fit_population(juries: Sequence[ReferenceJury], weights: Sequence[float] | None = None) -> Population:
    """Fit the population that the reference juries were drawn from.

    The regression of log rho on log spread needs a handful of juries; with fewer than eight the slope is 0.

    Parameters
    ----------
    weights
        Of the juries; by default 1 each.

    Returns
    -------
    Population

    Examples
    --------
    >>> rows = [ReferenceJury(str(k), "", "", 9, 3, 2, 3.0, 0.1, rho, 0.5, 0.002, 0.003)
    ...         for k, rho in enumerate((0.2, 0.4, 0.5, 0.3))]
    >>> population = fit_population(rows)
    >>> population.juries, population.slope, round(population.deviation, 4)
    (4, 0.0, 0.0447)
    """
    weight = np.ones(len(juries)) if weights is None else np.asarray(weights, dtype=np.float64)
    total, share = float(weight.sum()), weight / weight.sum()
    shared = np.log(np.maximum([jury.rho for jury in juries], LEAST_SHARED))
    x = np.array([_log(jury.spread) for jury in juries])
    center, log_spread = float(share @ shared), float(share @ x)
    centered = x - log_spread
    has_slope = len(juries) >= _ENOUGH and np.ptp(x) > _SAME_SPREAD
    slope = float(weight @ (centered * shared)) / float(weight @ centered**2) if has_slope else 0.0
    left = shared - center - slope * centered
    deviations = np.array([jury.deviation for jury in juries])
    deviation = _mean_root(deviations, share)
    return Population(
        center=center,
        slope=slope,
        log_spread=log_spread,
        sd=CORE * float(np.sqrt(weight @ left**2 / max(total - 2, 1))),
        independent=float(weight @ [jury.rho < LEAST_SHARED for jury in juries] + 0.5) / (total + 1),
        label_bias=_label_bias(juries, weight),
        deviation=deviation,
        label_deviation=_mean_root(np.array([jury.label_deviation for jury in juries]), share),
        unevenness=max(float(share @ deviations) / deviation**2, 1.0) if deviation**2 > 0 else 1.0,
        juries=len(juries),
    )


def own_population(juries: Sequence[ReferenceJury]) -> Population:
    """The population of a user's own juries, to which all the shipped ones together add the weight of four.

    A few juries hardly show how far juries differ: two that happen to be alike must not make intervals narrow.

    Returns
    -------
    Population

    Examples
    --------
    >>> alike = [replace(jury, rho=0.1) for jury in shipped_juries()[:2]]
    >>> shipped, own = shipped_population(), own_population(alike)
    >>> fit_population(alike).sd, own.sd > 0.8 * shipped.sd, own.center < shipped.center
    (0.0, True, True)
    """
    shipped = shipped_juries()
    weights = [1.0] * len(juries) + [LENT / len(shipped)] * len(shipped)
    return replace(fit_population([*juries, *shipped], weights), juries=len(juries))


def read_reference(path: str | PathLike[str]) -> list[ReferenceJury]:
    """Read a table of reference juries, as `write_reference` writes it; VotesError where it is none.

    Returns
    -------
    list of ReferenceJury
    """
    if Path(path).is_fifo():  # reading it may block for ever
        raise VotesError("is a pipe, not a file", code="no_file").in_file(str(path))
    try:
        with open(path, newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            given = table.fieldnames or ()
            if missing := [f.name for f in fields(ReferenceJury) if f.default is MISSING and f.name not in given]:
                message = f"has no column {format_names(map(repr, missing), 4)}; {_WAY_OUT}"
                raise VotesError(message, code="unknown_name", name=missing[0], what="column")
            juries = [_jury(row, number) for number, row in enumerate(table, 1)]
        if not juries:
            raise VotesError(f"holds no jury; {_WAY_OUT}", code="empty")
        return juries
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        reason = "there is no such file" if is_missing else f"cannot be read: {error.strerror}"
        raise VotesError(reason, code="no_file").in_file(str(path)) from None
    except (UnicodeDecodeError, csv.Error):
        raise VotesError(f"is not a CSV table; {_WAY_OUT}", code="damaged").in_file(str(path)) from None
    except VotesError as error:
        raise error.in_file(str(path)) from None


_WAY_OUT = "to make a table of reference juries, use `jurors score VOTES --key KEY --reference TABLE`"


def _jury(row: dict[str, str], number: int) -> ReferenceJury:
    values: dict[str, Any] = {}
    for field in fields(ReferenceJury):
        text = row.get(field.name) or ""  # a line may be too short
        try:
            values[field.name] = _KINDS[str(field.type)](with_formula(text))
            fits = field.type == "str" or _LEAST.get(field.name, 0) <= values[field.name] <= _MOST
        except ValueError:
            fits = False
        if not fits:
            message = f"row {number}: {text!r} is not a valid value of {field.name}"
            raise VotesError(message, code="bad_row", row=number, column=field.name)
    return ReferenceJury(**values)


_KINDS: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float}
_MOST = 2**53  # of items, votes or what is made of them: no greater whole number is exact
_LEAST = {"items": 1, "jurors": 1, "labels": 2, "deviation": -1, "label_deviation": -1}  # all else: 0


@lru_cache(maxsize=1)
def shipped_juries() -> tuple[ReferenceJury, ...]:
    """The reference juries that come with the package; `benchmarks/reference_juries.py` makes the table.

    Returns
    -------
    tuple of ReferenceJury
    """
    with as_file(files("jurors") / "data" / "reference_juries.csv") as path:
        return tuple(read_reference(path))


@lru_cache(maxsize=1)
def shipped_population() -> Population:
    """The population of the shipped reference juries.

    Returns
    -------
    Population
    """
    return fit_population(shipped_juries())


def _mean_root(squares: Floats, share: Floats) -> float:
    """The mean standard deviation: a few juries of strangers must not widen every interval."""
    return float(share @ np.sqrt(np.maximum(squares, 0.0)))


def _label_bias(juries: Sequence[ReferenceJury], weight: Floats) -> float:
    """The root of the mean square over families, one standard error above its estimate.

    Panels found later had more label bias than those before (docs/calibration.md): a mean of some thirty families that
    differ this much is not known better.
    """
    families: dict[str, list[int]] = {}
    for place, jury in enumerate(juries):
        families.setdefault(jury.family or jury.name, []).append(place)
    square = np.array([jury.label_bias**2 for jury in juries])
    means = np.array([np.average(square[at], weights=weight[at]) for at in families.values()])
    share = np.array([weight[at].mean() for at in families.values()])
    share /= share.sum()
    mean, effective = float(share @ means), 1.0 / float(share @ share)
    variance = float(share @ (means - mean) ** 2) / max(effective - 1.0, 1.0)
    return math.sqrt(mean + math.sqrt(variance))


def _log(spread: float) -> float:
    return float(np.log(spread + _SPREAD_FLOOR))


_SHOWN = (
    "name",
    "kind",
    "items",
    "jurors",
    "labels",
    "votes per item",
    "spread",
    "shared error",
    "label bias",
    "deviation",
)


def reference_juries(path: str | PathLike[str] | None = None) -> ReferenceJuries:
    """The reference juries that come with the package, or those of a table that `jurors score --reference` made.

    Returns
    -------
    ReferenceJuries

    Examples
    --------
    >>> juries = reference_juries()
    >>> len(juries), juries.population.juries
    (86, 86)
    >>> [jury.name for jury in juries if jury.kind == "programs"][:2]
    ['acsincome_models', 'api_faces_ferplus']
    """
    return ReferenceJuries(shipped_juries() if path is None else tuple(read_reference(path)))


@dataclass(frozen=True)
class ReferenceJuries(Result):
    """Measured panels with known keys, for `grade(…, reference=…)`."""

    juries: tuple[ReferenceJury, ...]

    def __iter__(self) -> Iterator[ReferenceJury]:
        return iter(self.juries)

    def __len__(self) -> int:
        return len(self.juries)

    @cached_property
    def population(self) -> Population:
        """How these juries differ; beside your own juries, the shipped ones count a little."""
        return own_population(self.juries) if self._is_own else shipped_population()

    @property
    def _is_own(self) -> bool:
        return self.juries != shipped_juries()

    def with_jury(self, jury: ReferenceJury) -> ReferenceJuries:
        """These and one more; a jury of the same name is replaced: it was measured again.

        Returns
        -------
        ReferenceJuries
        """
        return ReferenceJuries((*(other for other in self.juries if other.name != jury.name), jury))

    def write(self, path: str | PathLike[str]) -> None:
        """Write one row per jury as CSV, for `reference=`, atomically, with as many digits as a key can determine."""
        rows = [[f"{v:.5g}" if isinstance(v, float) else v for v in asdict(jury).values()] for jury in self]
        atomic_write(Path(path), csv_text([field.name for field in fields(ReferenceJury)], rows))

    def _document(self) -> Any:
        return {"juries": [asdict(jury) for jury in self.juries], "population": asdict(self.population)}

    def _columns(self) -> Columns:
        names = [field.name for field in fields(ReferenceJury)]
        return columns_of(names, [tuple(asdict(jury).values()) for jury in self.juries])

    def _blocks(self) -> tuple[Table]:
        rows = tuple(
            (
                jury.name, jury.kind, f"{jury.items:,}", jury.jurors, jury.labels, f"{jury.votes_per_item:.1f}",
                f"{jury.spread:.2f}", f"{jury.rho:.2f}", f"{jury.label_bias:.2f}",
                f"{math.sqrt(max(jury.deviation, 0.0)):.3f}",
            )
            for jury in self
        )  # fmt: skip
        return (Table(_SHOWN, rows, right=tuple(range(2, len(_SHOWN)))),)
