"""Three jurors, two labels, by the panel model: the theorem's answer held inside [0, 1], steadied by pseudo-votes.

Two starts, since three jurors leave two modes: the theorem's solution, and the majority. The one that explains the
counts better is kept. Over twelve trios from each of 17 reference juries the root mean square error of scores (before
any calibration) is .166, against .184 from the theorem's start alone and .199 from the majority's.
"""

from __future__ import annotations

import numpy as np

from jurors.evaluate.fit import Fit, float_solution
from jurors.evaluate.panel.expectation import Parameters
from jurors.evaluate.panel.latent import fit_latent, observed
from jurors.evaluate.panel.model_choice import ModelChoice
from jurors.evaluate.panel.panel import STRENGTH, PanelFit
from jurors.evaluate.solution import Solution
from jurors.sketch import Sketch
from jurors.sketch.pairs import Pairs, incidence_of

_NEAREST = 0.02  # how near to 0 or 1 the first step may start


def fit_trio(sketch: Sketch, solution: Solution | None, *, from_votes: bool = True) -> PanelFit:
    """The panel model of three jurors with a confusion matrix each; `solution` is where the theorem would start.

    Where the user settled which solution is the truth, `from_votes=False` keeps to it.

    Examples
    --------
    >>> from jurors.evaluate import evaluate_trio
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> panel = fit_trio(sketch, evaluate_trio(sketch)[0].to_float())
    >>> round(panel.fit.solution.prevalence["A"], 3)
    0.089
    """
    data = incidence_of(sketch)
    starts: list[Parameters | None] = [None] * (from_votes or solution is None)
    starts += [] if solution is None else [_start(solution)]
    fits = [fit_latent(data, "confusion", start=start, strength=STRENGTH) for start in starts]
    best = observed(data, max(fits, key=lambda fit: fit.log_likelihood))
    choice = ModelChoice(
        hidden_log_likelihood={}, difference={}, standard_error={}, breadth=float("nan"), weights={"confusion": 1.0},
        chosen="confusion", fits={"confusion": best}, fit=best,
    )  # fmt: skip
    fit = Fit(float_solution(sketch, best.prevalence, best.confusion, best.score), best.posterior)
    return PanelFit(fit, choice, data, None, np.arange(len(sketch.jurors)), None, Pairs(sketch))


def _start(solution: Solution) -> Parameters:
    """A solution as parameters, none of them 0 or 1: EM could never leave those."""
    prior = np.clip(np.array([solution.prevalences], dtype=float), _NEAREST, 1 - _NEAREST)
    table = np.clip(np.array(solution.confusions, dtype=float), _NEAREST, 1 - _NEAREST)  # juror, true, said
    jurors, labels, _ = table.shape
    table = table.transpose(1, 0, 2).reshape(1, labels, jurors * labels)
    return Parameters.join(prior, table, None, jurors, labels)
