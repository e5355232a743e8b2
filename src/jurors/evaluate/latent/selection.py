"""Select a latent-class model by held-out votes: `choose_latent`.

In: the votes of a panel. Out: `ModelChoice`, with the score of every model, the selected one, the fits to all votes and
their average.

Held-out votes (`hold_out`). In fold f a quarter of the votes is held out: juror j's vote on an item of group s when
(j + s) mod 4 = f, with jurors numbered by what they voted (`em.canonical_ranks`), not by their order. Items with the
same decision tuple are dealt out to the four groups, so tuples stay counts.

Selection. Each model is fitted to the remaining votes, and scored by the log-probability it gives the held-out ones
from the same item's visible ones, log Σ_k q_k K_j[k][vote]. The differences between models, summed by item, have a
standard error: the simplest model within one of the best is *selected*. Strata must also pay broadly: a difficulty
that all jurors share shows in all jurors, whereas a few jurors who copy one another gain by themselves. So their gain
must also be significant *over jurors*: 3 sigma.

Averaging. The answer averages the posteriors of the models that are near the best. Where strata are selected,
independence has failed, no model is the truth, and all are averaged. The weights λ maximise
Σ_items log Σ_m λ_m P_m(held-out votes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jurors._numeric import Flags, Floats, Integers, sparse
from jurors.evaluate.latent import em
from jurors.evaluate.latent.models import MODELS, LatentFit, describe_fit, fit_latent
from jurors.progress import report_progress
from jurors.sketch.pairs import Incidence

FOLDS = 4
LARGE = 400_000  # (tuple, juror) votes from which only a sample of the tuples has votes held out
_CROWDED = 3.0  # items per dealt tuple from which rows of equal visible votes are merged
_BROAD = 3.0  # normal deviates by which strata must gain over jurors,
_CLEARLY_BROAD, _CLEARLY_BEHIND = 4.0, 3.0  # and from which, over jurors and over items, a part of the votes will do
_ENOUGH = 100  # votes per juror that the comparison of models on a large panel works with
_PLENTY = 20_000  # votes from which a quarter of them says enough,
_GLIMPSE = 30_000  # so many from which some are held out first, and where they leave no doubt, alone,
_SHOWN = 100_000  # and so many from which some are held out: of more, the other tuples are left alone
_FORGETTING = 12  # EM steps after which a fit to many votes knows next to nothing of the held-out ones,
_FORGETTING_WORK = 4e6  # and votes x labels x steps that a small one may take
_HASTE = 24  # EM steps that the comparison of models on a large panel may take
_MANY_LABELS, _MOST_PARAMETERS = 100, 10  # beyond so many labels, a model has at most so many parameters per vote
_SPARSE = 10.0  # times the tolerance: of many sparse votes, whose many parameters are known little each
_LIGHT = 0.02  # models of a sparse panel with less weight are left out
_ROUGH_STRATA = 10.0  # times the tolerance, of strata that are compared with simpler models,
_SOME = 5_000  # votes from which time is worth that
_LOOSE = 3.0  # times the tolerance, of a fit to a sample that is only compared with others
_NAMES = {"one_coin": "accuracies", "confusion": "confusion matrices", "strata": "easy and hard items"}
_WORTH = 1e-3  # log-probability per held-out vote for which a richer model is worth its time on a large panel

# -- held-out votes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeldOut:
    """The held-out votes, one entry each."""

    panel: Integers  # its fold
    row: Integers  # its tuple
    seen: Integers  # the row of the fitted panel that holds the item's visible votes
    cell: Integers  # juror * labels + label
    dealt: Floats  # how many items each tuple has

    @cached_property
    def items(self) -> Floats:
        """How many items the tuple of each vote has."""
        return self.dealt[self.row]

    def chances(self, problem: em.EMProblem, at: em.Parameters) -> Floats:
        """Log-probability of each held-out vote given its item's visible votes."""
        posterior, _ = em.e_step(problem, at)
        table = np.exp(em.class_table(at))
        if problem.data.is_dense:  # so few cells that every vote is predicted, cast or not
            predicted = np.matmul(posterior.transpose(0, 2, 1), table)
            place = (self.panel * predicted.shape[1] + self.seen) * predicted.shape[2] + self.cell
            return np.asarray(np.log(predicted.ravel().take(place)))
        by_row, by_cell = (np.ascontiguousarray(part.transpose(0, 2, 1)) for part in (posterior, table))
        rows, cells = by_row.shape[1], by_cell.shape[1]
        seen = by_row.reshape(-1, by_row.shape[2])[self.panel * rows + self.seen]
        seen *= by_cell.reshape(-1, by_cell.shape[2])[self.panel * cells + self.cell]
        return np.asarray(np.log(seen @ np.ones(seen.shape[1], dtype=seen.dtype)), dtype=np.float64)


def hold_out(
    data: Incidence,
    folds: int = FOLDS,
    share: float = 1.0,
    *,
    fold_equal: bool = False,
    ranks: em.CanonicalRanks | None = None,
) -> tuple[Incidence, HeldOut, Integers]:
    """Hold out votes in the first `folds` folds, stacked.

    Parameters
    ----------
    share
        Of the tuples to take; below 1, any of them.
    fold_equal
        Whether rows whose visible votes are equal may become one row, with a weight in each fold: few jurors with one
        of them held out leave far fewer patterns than there are tuples.

    Returns
    -------
    visible : Incidence
        The remaining votes, a stack of folds.
    held_out : HeldOut
    rows : array of int
        The tuple that each dealt row came from.
    """
    jurors, tuples = ranks or em.canonical_ranks(data)
    some = np.flatnonzero(tuples < share * data.rows)
    # Deal each tuple's items out to the groups as evenly as possible; leftovers start at another group each time.
    weights = data.weights[0, some]
    each = np.floor(weights / FOLDS)
    turn = (np.arange(FOLDS)[:, None] - tuples[some]) % FOLDS
    hands = each + np.minimum(np.maximum(weights - FOLDS * each - turn, 0.0), 1.0)
    group, row = np.nonzero(hands)
    items, row = hands[group, row], some[row]
    if data.is_dense:
        cast, mask = data.matrix[0] > 0, (np.arange(folds)[:, None] - group) % FOLDS  # of each row in each fold
        masked = np.repeat(jurors, data.labels) % FOLDS == np.arange(FOLDS)[:, None]  # the cells that a mask holds out
        unseen = masked[mask]
        unseen &= cast[row]
        place, cell = np.divmod(np.flatnonzero(unseen), unseen.shape[2])
        panel, place = np.divmod(place, unseen.shape[1])
        if fold_equal and items.mean() >= _CROWDED:
            under = mask * data.rows + row
            merged = _merge_equal((cast & ~masked[:, None]).reshape(-1, cast.shape[1]), under, items)
            if merged is not None:
                votes, weights, seen = merged
                held_out = HeldOut(panel, place, seen[panel, place], cell, items)
                return replace(data, matrix=votes[None].astype(data.matrix.dtype), weights=weights), held_out, row
        matrix = np.asarray(data.matrix[0][row] * ~masked[mask])
    else:
        matrix, (panel, place, cell) = _mask_sparse(data, jurors, group, row, folds)
    visible = replace(data, matrix=matrix, weights=np.broadcast_to(items, (folds, len(items))))
    return visible, HeldOut(panel, place, place, cell, items), row


def _merge_equal(votes: Flags, under: Integers, items: Floats) -> tuple[Flags, Floats, Integers] | None:
    """The distinct rows of visible votes, their weights in each fold, and which of them each row is in each fold.

    None where there are as many. Tuples under a mask are compared (`votes`, and which of them each row is in each
    fold), not rows: items of one tuple in the same group have the same votes held out.
    """
    used = np.zeros(len(votes), dtype=np.bool_)
    used[under] = True
    votes = votes[used]
    bits = np.packbits(votes, axis=1)
    packed = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    if len(first) >= len(items):
        return None
    place = inverse[np.cumsum(used)[under] - 1]
    cell = place + np.arange(len(place))[:, None] * len(first)
    weights = np.bincount(cell.ravel(), np.tile(items, len(place)), len(place) * len(first)).astype(np.float64)
    return votes[first], weights.reshape(len(place), -1), place


def _mask_sparse(
    data: Incidence, rank: Integers, group: Integers, row: Integers, folds: int
) -> tuple[Any, tuple[Integers, ...]]:
    """The visible votes, block-diagonal with one block per fold, so that one product serves all folds."""
    hot = data.matrix[row]
    cells, votes = data.jurors * data.labels, np.diff(hot.indptr)
    down, across = np.repeat(np.arange(len(row)), votes), hot.indices
    turn = (rank[across // data.labels] + group[down]) % FOLDS
    seen = turn != np.arange(folds)[:, None]
    before = np.concatenate([[0], np.cumsum(seen)])
    starts = (np.arange(folds)[:, None] * len(across) + hot.indptr[:-1]).ravel()
    pointer = before[np.append(starts, folds * len(across))]
    place = (np.arange(folds)[:, None] * cells + across)[seen]
    shape = folds * len(row), folds * cells
    matrix = sparse.csr_array((np.ones(len(place), dtype=np.float32), place, pointer), shape=shape)
    masked = np.flatnonzero(turn < folds)
    return matrix, (turn[masked].astype(np.int64), down[masked], across[masked].astype(np.int64))


def sample_rows(rows: int, share: float, seed: int) -> Integers:
    """Draw a share of the rows, in order.

    Returns
    -------
    array of int
        Sorted positions, at least one.
    """
    size = min(rows, max(1, round(rows * share)))
    return np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))


def hide_some(data: Incidence, seed: int) -> tuple[Incidence, HeldOut]:
    """Hold out the votes with (j + tuple) mod 4 = 0 of a seeded sample of tuples, which has about LARGE / 2 votes.

    Returns
    -------
    visible : Incidence
    held_out : HeldOut
    """
    matrix = data.matrix
    picked = np.zeros(data.rows, dtype=np.bool_)
    picked[sample_rows(data.rows, LARGE / (2 * matrix.nnz), seed)] = True
    row = np.repeat(np.arange(data.rows), np.diff(matrix.indptr))
    masked = picked[row] & ((matrix.indices // data.labels + row) % FOLDS == 0)
    before = np.concatenate([[0], np.cumsum(~masked, dtype=matrix.indptr.dtype)])
    part = matrix.data[~masked], matrix.indices[~masked], before[matrix.indptr]
    place, cell = row[masked], matrix.indices[masked].astype(np.int64)
    held_out = HeldOut(np.zeros_like(place), place, place, cell, data.weights[0])
    return replace(data, matrix=sparse.csr_array(part, shape=matrix.shape)), held_out


# -- selection ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """How well each model predicted the held-out votes, and the fits to all votes."""

    held_out_log_likelihood: dict[str, float]
    difference: dict[str, float]  #: from the best model's; positive only for strata that did not gain broadly
    standard_error: dict[str, float]  #: of the difference, over items
    weights: dict[str, float]  #: what each model weighs in ``fit``, adding up to one
    chosen: str  #: the simplest model within one standard error of the best
    fits: Mapping[str, LatentFit] = field(repr=False)  #: to all votes; on a large panel of the selected model only
    fit: LatentFit = field(repr=False)  #: the fits averaged by the weights; named after the selected model


@dataclass(frozen=True, slots=True)
class _Contest:
    """The models' log-probabilities of the held-out votes, summed by tuple and by juror."""

    models: list[str]
    by_tuple: Floats  # (models, T)
    by_juror: Floats  # (models, N), over all items
    items: Floats  # (T,)

    @classmethod
    def judge(cls, ends: dict[str, _End], held_out: HeldOut) -> _Contest:
        """Let every model predict the held-out votes."""
        chances = np.array([held_out.chances(end.problem, end.at) for end in ends.values()])
        at, rows = next(iter(ends.values())).at, len(held_out.dealt)
        juror = held_out.cell // at.labels
        voting = np.bincount(juror, minlength=at.jurors) > 0
        by_tuple = [np.bincount(held_out.row, row, rows) for row in chances]
        by_juror = [np.bincount(juror, row * held_out.items, at.jurors)[voting] for row in chances]
        touched = np.bincount(held_out.row, minlength=rows) > 0
        return cls(list(ends), np.array(by_tuple), np.array(by_juror), held_out.dealt * touched)

    def breadth(self) -> float:
        """Gain of the strata on the best model without, over jurors: Student's t as a normal deviate (Wallace)."""
        if "strata" not in self.models or len(self.models) == 1 or self.by_juror.shape[1] < 2:
            return float("nan")
        last = self.models.index("strata")
        plain = np.delete(self.by_juror, last, axis=0)
        gain = self.by_juror[last] - plain[plain.sum(axis=1).argmax()]
        t = gain.mean() * np.sqrt(len(gain)) / max(gain.std(ddof=1), 1e-12)
        freedom = len(gain) - 1
        deviate = np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
        return float(np.copysign(deviate, t))

    @property
    def is_clear(self) -> bool:
        """Whether strata are needed beyond doubt: more held-out votes would say the same."""
        totals = self.by_tuple @ self.items
        best = int(totals.argmax())
        if self.models[best] != "strata" or not self.breadth() >= _CLEARLY_BROAD:
            return False
        behind = np.delete(totals[best] - totals, best)
        return bool((behind > _CLEARLY_BEHIND * np.delete(self._errors(best), best)).all())

    def _errors(self, best: int) -> Floats:
        """Standard errors of the models' differences from one of them, over items."""
        gap = self.by_tuple - self.by_tuple[best]
        return np.asarray(np.sqrt(np.square(gap - (gap @ self.items / self.items.sum())[:, None]) @ self.items))

    def select(
        self, fit: Callable[[str, dict[str, float]], Mapping[str, LatentFit]], worth: float = 1.0
    ) -> ModelChoice:
        """Select, fit the models that have weight, and average; a gain below ``worth`` in all is no gain."""
        totals = self.by_tuple @ self.items
        breadth = self.breadth()
        allowed = np.array([m != "strata" or not breadth < _BROAD for m in self.models])
        best = int(np.where(allowed, totals, -np.inf).argmax())
        error = self._errors(best)
        near = allowed & (totals >= totals[best] - np.maximum(error, worth))
        chosen = self.models[int(near.argmax())]

        def named(values: Floats) -> dict[str, float]:
            return dict(zip(self.models, values.tolist(), strict=True))

        weights = np.zeros(len(self.models))
        rivals = near | (chosen == "strata")
        weights[rivals] = _stack_weights(self.by_tuple[rivals], self.items)
        fits = fit(chosen, named(weights))
        used = [m in fits if len(fits) > 1 else m == chosen for m in self.models]
        weights = np.where(used, weights, 0.0) if len(fits) > 1 else np.array(used, dtype=np.float64)
        weights /= weights.sum()
        return ModelChoice(
            held_out_log_likelihood=named(totals),
            difference=named(totals - totals[best]),
            standard_error=named(error),
            weights=named(weights),
            chosen=chosen,
            fits=fits,
            fit=_average(fits, named(weights), chosen),
        )


@dataclass(frozen=True)
class _End:
    """Where a fit ended."""

    problem: em.EMProblem
    at: em.Parameters
    steps: int
    converged: bool

    @cached_property
    def expected(self) -> tuple[Floats, Floats]:
        """The posterior of each class and the log-likelihood of each tuple there."""
        return em.e_step(self.problem, self.at)

    def expected_counts(self, weights: Floats) -> tuple[Floats, Floats]:
        """Expected items and votes of each class where tuples have these weights (stack, T)."""
        mass = self.expected[0] * weights[:, None].astype(self.at.flat.dtype, copy=False)
        return mass.sum(axis=2, dtype=np.float64), self.problem.data.counts(mass)

    @cached_property
    def fit(self) -> LatentFit:
        """Prevalences, confusion matrices and posteriors there."""
        return describe_fit(self.problem, self.at, self.steps, self.converged, self.expected)


@dataclass(frozen=True, slots=True)
class _Fitter:
    """How to fit: the options that every fit of one choice shares."""

    gold: Floats | None
    tolerance: float = 1e-5
    limit: int = 1000

    def all(
        self, data: Incidence, models: Sequence[str], *, loose: float = 1.0, strata: float = 1.0
    ) -> dict[str, _End]:
        """Fit each model so much more loosely, and strata by another factor; they start from confusion's labels."""
        plain = [model for model in models if model != "strata"]
        report_progress(f"fitting {' and '.join(_NAMES[model] for model in plain)}")
        problems = [em.em_problem(data, model, self.gold) for model in plain]
        fitted = em.run_em_models(problems, None, loose * self.tolerance, self.limit)
        ends = {model: _End(problem, *end) for model, problem, end in zip(plain, problems, fitted, strict=True)}
        if "strata" in models:
            report_progress(f"fitting {_NAMES['strata']}")
            problem = em.em_problem(data, "strata", self.gold)
            at = em.first_parameters(problem, ends["confusion"].expected[0])
            tolerance, rough = loose * strata * self.tolerance * at.flat.shape[1], em.ROUGH_TOLERANCE / (loose * strata)
            ends["strata"] = _End(problem, *em.fit_strata(problem, at, tolerance, self.limit, rough=rough))
        return ends

    def finish(self, data: Incidence, model: str, start: em.Parameters | None) -> LatentFit:
        """Fit one model, from the end of a rougher fit on if there is one."""
        report_progress(f"fitting {_NAMES[model]}")
        return fit_latent(
            data, model, gold=self.gold, start=start, fixed_mix=start is not None, tolerance=self.tolerance,
            max_iterations=self.limit,
        )  # fmt: skip


def choose_latent(data: Incidence, *, gold: ArrayLike | None = None, seed: int = 0) -> ModelChoice:
    """Fit several latent-class models and select one by how well it predicts held-out votes.

    Models with more parameters than the sketch has cells are left out; ``seed`` picks the items whose votes a large
    panel holds out.

    Returns
    -------
    ModelChoice

    Examples
    --------
    >>> table, items = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 1]], [400, 400, 90, 110]
    >>> choice = choose_latent(Incidence.from_codes(table, items, labels=2))
    >>> choice.chosen, choice.fit.converged
    ('confusion', True)

    """
    report_progress("choosing the model")
    key = None if gold is None else np.asarray(gold, dtype=np.float64)
    fitter = _Fitter(key)
    votes = data.votes
    models = _identifiable(data.jurors, data.labels, votes)
    if len(models) == 1 or not votes:
        only = {models[0]: fitter.finish(data, models[0], None)}
        contest = _Contest(models[:1], np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1))
        return contest.select(lambda *_: only)
    if not data.is_dense and data.matrix.nnz > LARGE:
        return _choose_large(data, models, fitter, seed)
    return (_choose_small if data.is_dense else _choose_sparse)(data, models, fitter)


def _choose_small(data: Incidence, models: Sequence[str], fitter: _Fitter) -> ModelChoice:
    """Fit all votes first; then hold out every vote once, and let a few steps from where the fits ended forget it.

    The first of these steps counts visible votes only, so what is left of a held-out vote is what it did to the labels
    of its item, and that fades with every further step. Strata that independent jurors do not need lie on a plateau,
    whose end takes most of the steps: of larger panels they are fitted to the end only where they have weight.
    """
    is_rough = data.held > _SOME
    ends = fitter.all(data, models, strata=_ROUGH_STRATA if is_rough else 1.0)

    def finish(_: str, weights: dict[str, float]) -> Mapping[str, LatentFit]:
        fits = {model: end.fit for model, end in ends.items()}
        if is_rough and weights.get("strata"):
            fits["strata"] = fitter.finish(data, "strata", ends["strata"].at)
        return fits

    return _compare(data, ends, fitter).select(finish)


def _choose_sparse(data: Incidence, models: Sequence[str], fitter: _Fitter) -> ModelChoice:
    """The same, without the models that have no weight in the end.

    The last digits of jurors with few votes would take most of the time. One accuracy per juror is compared from where
    the labels of confusion matrices put it, and fitted to all votes only where it has weight.
    """
    if data.held > _PLENTY:
        fitter = replace(fitter, tolerance=_SPARSE * fitter.tolerance)
    problem = em.em_problem(data, "one_coin", fitter.gold)
    ends = fitter.all(data, models[1:])
    start = em.first_parameters(problem, ends["confusion"].expected[0])
    ends = {"one_coin": _End(problem, start, 0, converged=False), **ends}

    def finish(chosen: str, weights: dict[str, float]) -> dict[str, LatentFit]:
        used = [model for model in models if weights[model] >= _LIGHT or model in (chosen, "confusion")]
        if "one_coin" in used:
            report_progress(f"fitting {_NAMES['one_coin']}")
            fitted = em.run_em(problem, start, fitter.tolerance * start.flat.shape[1], fitter.limit)
            ends["one_coin"] = _End(problem, *fitted)
        return {model: ends[model].fit for model in used}

    return _compare(data, ends, fitter).select(finish)


def _compare(data: Incidence, fitted: dict[str, _End], fitter: _Fitter) -> _Contest:
    """Hold out votes, forget them and predict them; of many votes a part first, which often says enough."""
    report_progress("choosing the model")
    held, ranks = data.held, em.canonical_ranks(data)
    if held <= _PLENTY:
        return _predict(data, fitted, fitter, ranks, FOLDS, 1.0)
    if held > _GLIMPSE:
        glimpse = _predict(data, fitted, fitter, ranks, 1, _GLIMPSE / held)
        if glimpse.is_clear:
            return glimpse
    return _predict(data, fitted, fitter, ranks, 1, min(_SHOWN / held, 1.0))


def _predict(
    data: Incidence, fitted: dict[str, _End], fitter: _Fitter, ranks: em.CanonicalRanks, folds: int, share: float
) -> _Contest:
    """Hold out votes of so many tuples, in so many folds, and let every model predict them."""
    visible, held_out, rows = hold_out(data, folds, share, fold_equal=fitter.gold is None, ranks=ranks)
    key = None if fitter.gold is None else fitter.gold[rows]
    problems = {}
    for model, end in fitted.items():
        problem = em.em_problem(visible, model, key)
        if problem.tied != end.at.is_tied:
            problem = replace(problem, tied=end.at.is_tied)
        if share < 1.0:  # what a held-out vote did to the labels of other items is next to nothing
            others = data.weights.copy()
            others[:, rows] = 0.0
            problem = replace(problem, fixed_counts=end.expected_counts(others))
        problems[model] = problem
    limit = max(_FORGETTING, int(_FORGETTING_WORK / (visible.held * visible.labels)))
    starts = [end.at.at(np.repeat(end.at.flat, visible.stack, axis=0)) for end in fitted.values()]
    ends = em.run_em_models(list(problems.values()), starts, 10.0 * fitter.tolerance, limit)
    forgot = {model: _End(problem, *end) for (model, problem), end in zip(problems.items(), ends, strict=True)}
    return _Contest.judge(forgot, held_out)


def _choose_large(data: Incidence, models: Sequence[str], fitter: _Fitter, seed: int) -> ModelChoice:
    """Compare the models on a sample of the items, and hold out a quarter of the votes of some of those only, once.

    A smaller sample, or four folds of it, would leave the jurors of a sparse panel so few votes to learn from that
    the simplest model always won.
    """
    some = sample_rows(data.rows, _ENOUGH * data.jurors / data.matrix.nnz, seed)
    part = data.take(some)
    visible, held_out = hide_some(part, seed)
    hasty = replace(fitter, limit=min(fitter.limit, _HASTE), gold=None if fitter.gold is None else fitter.gold[some])
    ends = hasty.all(visible, models, loose=_LOOSE)
    contest = _Contest.judge(ends, held_out)
    worth = _WORTH * float(held_out.items.sum())
    return contest.select(lambda chosen, _: {chosen: fitter.finish(data, chosen, ends[chosen].at)}, worth)


def _identifiable(jurors: int, labels: int, votes: float) -> list[str]:
    """Keep the models with no more free parameters than the R^N - 1 free cells of a full sketch; at least the first.

    With hundreds of labels, models of ten times as many parameters as votes are left out, too: they took minutes to
    lose.
    Free parameters: classes - 1, and for each juror 1, R(R-1), or R(R-1) + (R-1) + 1 with strata.
    """
    cells = float(labels) ** min(jurors, 40) - 1.0
    if labels > _MANY_LABELS:
        cells = min(cells, _MOST_PARAMETERS * votes)
    rows = labels * (labels - 1)
    free = {
        "one_coin": labels - 1 + jurors,
        "confusion": labels - 1 + jurors * rows,
        "strata": 2 * labels - 1 + jurors * (rows + labels),
    }
    return [model for model in MODELS if free[model] <= cells] or list(MODELS[:1])


def _stack_weights(log_density: Floats, items: Floats, rounds: int = 50) -> Floats:
    """EM for the mixture weights of the models, their densities being fixed."""
    if len(log_density) == 1:
        return np.ones(1)
    density = np.exp(log_density - log_density.max(axis=0))
    share = items / items.sum()
    weights = np.full(len(density), 1.0 / len(density))
    for _ in range(rounds):
        weights = weights * (density @ (share / (weights @ density)))
    return weights


def _average(fits: Mapping[str, LatentFit], weights: dict[str, float], chosen: str) -> LatentFit:
    """Mix the posteriors; grade prevalence and confusion by the mixture."""
    if len(fits) == 1 or weights[chosen] == 1.0:
        return fits[chosen]
    share = np.array([weights[model] for model in fits])
    posterior = np.einsum("m,mtl->tl", share, np.array([fit.posterior for fit in fits.values()]))
    return replace(
        fits[chosen],
        prevalence=share @ np.array([fit.prevalence for fit in fits.values()]),
        confusion=np.einsum("m,mjlr->jlr", share, np.array([fit.confusion for fit in fits.values()])),
        posterior=posterior,
        iterations=sum(fit.iterations for fit in fits.values()),
        converged=all(fit.converged for fit in fits.values()),
    )
