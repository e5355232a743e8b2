"""Do independent jurors explain the counts? The likelihood-ratio test G² for three jurors with three labels or more.

R³ - 1 free counts, R - 1 + 3R(R - 1) unknowns: from R = 3 on some counts are left over to test with. At the fit of
greatest likelihood, n̂ = Q Σ_l p_l u_l v_l w_l,
    G² = 2 Σ n log(n / n̂)  ~  χ² with R³ - 1 - (R - 1) - 3R(R - 1) degrees of freedom, if the errors are independent.
Unlike the exact algebra, which every real test fails, this test fails one independent trio in twenty at 5%.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.trio.float_decode import decode_floats, vote_start
from jurors.evaluate.trio.multilabel import check_few_labels
from jurors.numbers.arrays import Floats
from jurors.numbers.squarem import long_step
from jurors.sketch import Sketch
from jurors.tables import Columns, Result, Table

_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class GoodnessOfFit(Result):
    """How well independent jurors explain the counts."""

    statistic: float  #: G²
    dof: int
    p_value: float  #: how often independent jurors fit as badly; small values speak against independence
    converged: bool  #: whether the fit came so close to the best one that G² can fall by no more than about 0.01

    def _document(self) -> dict[str, Any]:
        return asdict(self)

    def _columns(self) -> Columns:
        return {name: [value] for name, value in asdict(self).items()}

    def _blocks(self) -> tuple[Table]:
        row = (f"{self.statistic:,.2f}", f"{self.dof:,}", f"{self.p_value:.4g}", "yes" if self.converged else "no")
        return (Table(("G²", "degrees of freedom", "p value", "converged"), (row,), right=(0, 1, 2)),)


def goodness_of_fit(sketch: Sketch, *, max_iterations: int = 3000) -> GoodnessOfFit:
    """Test three jurors with three labels or more for independent errors.

    The χ² law holds for large tests (measured at 5%: 2 to 7% from 500 items on, with three labels and accuracies of
    0.55 to 0.8). Small tests stray, to 11% at 100 items and four labels; and where accuracies are near 1, so that many
    cells stay empty, it is off either way (0% up to 500 items, 10% at 5,000). Labels that nobody uses are left out.

    Raises
    ------
    SketchError
        Not three jurors, no items, missing votes, more than 50 labels, or fewer than three in use (two leave nothing to
        test).

    Examples
    --------
    >>> confusion = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    >>> shares = np.einsum("l,la,lb,lc->abc", [0.5, 0.3, 0.2], confusion, confusion, confusion)
    >>> counts = np.round(10_000 * shares).astype(int)
    >>> found = goodness_of_fit(Sketch.from_table(counts, labels="ABC"))
    >>> found.dof, found.p_value > 0.99, found.converged
    (6, True, True)
    """
    from scipy.special import chdtrc

    counts = _used(sketch)
    size = len(counts)
    shares = counts / counts.sum()
    tolerance = 0.005 / (2 * counts.sum())  # of the log-likelihood an item
    starts = [_Fit.at(shares, *start) for start in (decode_floats(counts), vote_start(counts))]
    fit = max((start.climbed(shares, 10, tolerance)[0] for start in starts), key=lambda f: f.height)
    fit, converged = fit.climbed(shares, max_iterations, tolerance)
    seen = shares > 0
    statistic = max(0.0, 2 * float(counts.sum() * (shares[seen] @ np.log(shares[seen]) - fit.height)))
    dof = size**3 - 1 - (size - 1) - 3 * size * (size - 1)
    return GoodnessOfFit(statistic, dof, float(chdtrc(dof, statistic)), converged)


def _used(sketch: Sketch) -> Floats:
    """The counts as an array, without labels that no juror uses."""
    if len(sketch.jurors) != 3:
        raise SketchError(
            f"the goodness of fit needs 3 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors[:8])}. "
            "Keep three with sketch.take(['ann', 'bob', 'cy'])."
        )
    if not sketch.items:
        raise SketchError("no item was answered by all three jurors, so there is nothing to test")
    check_few_labels(sketch)
    table = sketch.table()
    used = np.flatnonzero([table[k].sum() + table[:, k].sum() + table[:, :, k].sum() for k in range(len(table))])
    if len(used) < 3:
        raise SketchError(f"three jurors with {len(used)} labels fit any counts; three labels are needed to test")
    return table[np.ix_(used, used, used)].astype(float)


@dataclass(frozen=True, slots=True)
class _Fit:
    """A point of the model: parameters, their log-likelihood an item, and the point one EM step further."""

    prevalence: Floats  # (R,)
    confusions: Floats  # (3, R, R)
    height: float
    following: tuple[Floats, Floats]

    @classmethod
    def at(cls, shares: Floats, prevalence: Floats, confusions: Floats) -> _Fit:
        """E-step and M-step on shares of tuples."""
        size = len(shares)
        flat = shares.reshape(size, -1)
        first = prevalence[:, None] * confusions[0]
        others = (confusions[1][:, :, None] * confusions[2][:, None, :]).reshape(size, -1)
        fit = np.maximum(first.T @ others, _SMALLEST)
        ratio = flat / fit
        by_first = first * (others @ ratio.T)
        by_others = ((first @ ratio) * others).reshape(size, size, size)
        mass = np.stack([by_first, by_others.sum(axis=2), by_others.sum(axis=1)])
        total = np.maximum(by_first.sum(axis=1), _SMALLEST)
        seen = flat > 0
        height = float(flat[seen] @ np.log(fit[seen]))
        return cls(prevalence, confusions, height, (total / total.sum(), mass / total[:, None]))

    def climbed(self, shares: Floats, limit: int, tolerance: float) -> tuple[_Fit, bool]:
        """EM with long steps until what is left to gain is small; a long step is kept only if it gains (SQUAREM)."""
        at = self
        for _ in range(limit):
            one = _Fit.at(shares, *at.following)
            two = _Fit.at(shares, *one.following)
            gain, before = two.height - one.height, one.height - at.height
            ratio = min(max(gain / before, 0.0), 0.9999) if before > 0 else 0.0
            long = _Fit.at(shares, *_extrapolated(at, one, two))
            at = long if long.height > two.height else two
            if gain / (1 - ratio) < tolerance and at.height - two.height < tolerance:
                return at, True
        return at, False


def _extrapolated(at: _Fit, one: _Fit, two: _Fit) -> tuple[Floats, Floats]:
    """The long step along the last two, back inside the simplex where it leaves it."""
    old, middle, new = (np.concatenate([f.prevalence, f.confusions.ravel()]) for f in (at, one, two))
    point = long_step(old, middle, new)
    labels = len(at.prevalence)
    point = np.where(point > 0, point, new / 10)
    prevalence, confusions = point[:labels], point[labels:].reshape(3, labels, labels)
    return prevalence / prevalence.sum(), confusions / np.maximum(confusions.sum(axis=2, keepdims=True), _SMALLEST)
