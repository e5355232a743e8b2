"""Shared error: what grades and labels are worth when jurors err together, as all real juries do.

Every method that takes errors for independent believes itself too much: a mistake that jurors share looks like truth,
and counts again with every juror who shares it (MATHS §11). Three things tell a real jury from what its votes
promise. They cannot be seen in the votes; their spread over juries with known keys (`reference`) can be measured,
and a few gold items identify them.

    q_i(rho, b)[l] ∝ exp(tau_i log q_i[l] + b_l),      tau_i = 1 / (1 + rho (n_i - 1))

rho     the *shared error*: n_i voices whose errors have intraclass correlation rho are worth n_i tau_i independent
        ones (the design effect of survey sampling).
b       the *slant*: which labels the jury as a whole says too often or too seldom, in log-odds. It moves
        prevalences, accuracies and scores together, so that a juror who always says the same gets the interval of
        that label's prevalence.
delta   a juror's own *deviation* from what q says of it, of constant size on the scale asin(sqrt(share)).

A scenario (`scenarios`) is one draw of (rho, b). The statistics of every scenario (`expected`), spread by what stays
unknown in it (each item's label, the juror's deviation, the noise of the fit), make the distribution that intervals
are quantiles of (`shares`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jurors.doubt.shared.expected import expect, mean_posterior
from jurors.doubt.shared.jury_votes import Jury, answer_spread, log_odds
from jurors.doubt.shared.reference import Population
from jurors.doubt.shared.scenarios import GoldTuples, Scenarios, gold_scenarios, prior_scenarios
from jurors.doubt.shared.shares import CalibratedShares, FitNoise
from jurors.numbers.arrays import Floats, Integers

FIRST_METHOD = 0.5  #: the weight of the method asked for, before gold; its rivals share the rest
LEAST_RHO = 1e-4  # a shared error that makes no difference


def calibrate(
    jury: Jury,
    population: Population,
    *,
    rho: float | None = None,
    gold: Floats | None = None,
    rivals: Sequence[Floats] = (),
    noise: FitNoise | None = None,
    spread: float | None = None,
) -> CalibratedShares:
    """Grade a jury as real juries go.

    Parameters
    ----------
    jury
        The votes and one method's posterior.
    population
        The reference juries' (`fit_population`).
    rho
        The shared error, where you know it; by default it is drawn from the population.
    gold
        (T, R): how many items of each tuple are known to have each true label. They may be chosen at random or by
        anything that depends on votes alone: given an item's votes, whether it was chosen says nothing of its label.
    rivals
        Other methods' posteriors; gold decides how far each is heard. Without gold they are not.
    noise
        How far the estimates move when items are drawn again; matters for few items and few jurors only.
    spread
        `answer_spread` of all votes, where `jury` is about some of the items only.
    """
    odds, drawn = drawn_scenarios(jury, population, rho=rho, gold=gold, rivals=rivals, spread=spread)
    return CalibratedShares(expect(jury, odds, drawn, gold), population, drawn, noise or FitNoise())


def drawn_scenarios(
    jury: Jury, population: Population, *, rho: float | None, gold: Floats | None, rivals: Sequence[Floats],
    spread: float | None = None,
) -> tuple[list[Floats], Scenarios]:  # fmt: skip
    """Each method's log-odds, and the scenarios that the reference juries and gold leave; as in `calibrate`."""
    center, sd = _believed(jury, population, rho, spread)
    odds = [log_odds(jury.posterior, jury.voices)]
    if gold is None:
        drawn = prior_scenarios(center, sd, population.slant, jury.labels, population.independent)
    else:
        odds += [log_odds(posterior, jury.voices) for posterior in rivals]
        at = gold.sum(axis=1) > 0
        seen = [GoldTuples(part[at], jury.voices[at], gold[at]) for part in odds]
        trust = np.full(len(odds), (1.0 - FIRST_METHOD) / max(len(odds) - 1, 1))
        trust[0] = FIRST_METHOD if rivals else 1.0
        drawn = gold_scenarios(seen, trust, center, sd, population.slant)
    return odds, drawn


def expected_labels(jury: Jury, population: Population, *, rho: float | None = None) -> tuple[Floats, Integers]:
    """Posterior (T, R) and best label (T,) as `calibrate` has them without gold: all that labelling needs."""
    center, sd = _believed(jury, population, rho, None)
    odds = log_odds(jury.posterior, jury.voices)
    drawn = prior_scenarios(center, sd, population.slant, jury.labels, population.independent)
    return mean_posterior(jury, odds, drawn), np.asarray(odds.argmax(axis=1))


def _believed(jury: Jury, population: Population, rho: float | None, spread: float | None) -> tuple[float, float]:
    """The middle of log rho and its standard deviation."""
    if rho is not None:
        return float(np.log(max(rho, LEAST_RHO))), 0.0
    return population.shared_error(answer_spread(jury) if spread is None else spread)
