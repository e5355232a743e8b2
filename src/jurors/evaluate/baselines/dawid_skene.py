"""Dawid and Skene (1979): the most likely prevalences and confusion matrices, by EM; and the same with priors.

In: a `Sketch` (`evaluate_dawid_skene`, `evaluate_bayesian`), or a long table inside an engine (`evaluate_on_engine`).
Out: a `Fit`, or an `EngineFit` whose posteriors stay in the engine.

As published: the first guess of an item's label is the share of its votes, nothing is smoothed, and
    M:  p_l ∝ Σ_t w_t q_tl,  K_j[l][r] ∝ Σ_t w_t q_tl [v_tj = r]      E:  q_tl ∝ p_l Π_j K_j[l][v_tj]
until the log-likelihood stops growing. A share of nothing (0/0: the row of a label of which a juror saw no item) does
not exist, and is reported as None; until it does, such a juror gives each label as often as any other, and so says
nothing. The answer is a local maximum; the votes' shares decide which.

Inside the engine that holds the votes (Spark, Dask, DuckDB, polars; where memory is too small) one round is two joins
and two aggregations of a long table (item, juror, label), and one table comes back:
    E:  votes ⋈ log K on (juror, vote)   Σ by item              q_tl ∝ p_l Π_j K_j[l][v_tj]
    M:  votes ⋈ q on item                Σ by juror and vote    K_j[l][r] ∝ Σ_t q_tl [v_tj = r]
Each of an item's n votes carries the n-th part of its q and of its log-likelihood, so the second sum gives prevalences
and the log-likelihood as well. Python holds jurors x labels x labels numbers only. The rounds are the same, from the
same start to the same end.

Raykar et al. (2010), without features: the same model with priors, by variational Bayes (`evaluate_bayesian`).
    prevalences   p ~ Dirichlet(1, …, 1)
    each row      K_j[l] ~ Dirichlet(1, …, 1 + 1 on the true label, …, 1);  for two labels Beta(2, 1)
so that a juror without votes is expected to be right twice as often as to give any one wrong label, and a few votes
do not make anyone perfect. The joint posterior is approximated by independent parts, q(labels) q(p) Π q(K_j[l]):
    q_tl ∝ exp(E log p_l + Σ_j E log K_j[l][v_tj]),   E log x_r = ψ(a_r) - ψ(Σ a),
    a = prior + expected counts.
Each round raises a lower bound on the log-evidence. The numbers reported are posterior means, inside (0, 1) by nature.
Raykar et al. report the posterior mode instead; means exist for every prior, and are less sure where votes are few.

A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied
Statistics 28 (1979) 20-28.
V. C. Raykar et al., Learning from crowds, JMLR 11 (2010) 1297-1322.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors._lazy import LazyModule
from jurors._numeric import Floats, special
from jurors.errors import OptionError, SketchError, VotesError, match_name
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.latent.em import EMProblem, class_likelihoods, e_step, first_parameters, iterate_em, run_em
from jurors.evaluate.latent.models import juror_scores, right_shares
from jurors.evaluate.solution import Fit, convergence_alarm, float_solution, vote_counts
from jurors.sketch.pairs import Incidence, incidence_of
from jurors.sketch.sketch import Sketch

nw: Any = LazyModule("narwhals")

_NOTHING = 1e-26  # of a vote: a share of nothing is even then, and any other share stays as it is
_PRECISE, _ENOUGH = 1e-10, 3e-5  # of the log-likelihood: of dense panels, and of sparse ones and engines
_ENOUGH_BAYESIAN = 1e-6  # of the lower bound, of a sparse panel
_NEVER = -1e9  # the logarithm of 0: finite, since a product with "no vote" must be 0, yet below any real one
_WORK = 2e9  # votes x labels x iterations after which a large panel is stopped
_MOST, _FEWEST = 10_000, 200
_VOTE, _HEIGHT, _VOTES = "vote", "height", "votes"  # columns inside an engine


def evaluate_dawid_skene(sketch: Sketch, *, max_iterations: int | None = None, tolerance: float | None = None) -> Fit:
    """Grade a panel by Dawid and Skene's EM; any number of labels, at least two jurors, any pattern of votes.

    Two jurors fix no unique answer (there are more unknowns than counts): the fit then says more about the votes'
    shares it started from than about the jurors, and an alarm says so. A juror's score is the expected share of right
    answers among the juror's own votes.

    Parameters
    ----------
    sketch
        The counts.
    max_iterations
        When to give up; by default 10,000, and fewer (never below 200) on large panels.
    tolerance
        Converged: a step changes the log-likelihood by less than this share of itself; by default 1e-10, and 3e-5 on
        sparse panels, where the last digits of jurors with few votes take hundreds of steps.

    Returns
    -------
    Fit

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AAA": 40, "BBB": 40, "AAB": 8, "BBA": 8, "ABB": 2, "BAA": 2}, jurors="ijk")
    >>> fit = evaluate_dawid_skene(sketch)
    >>> round(fit.solution.score["k"], 3), fit.converged
    (0.84, True)
    """
    check_panel(sketch, "Dawid-Skene")
    data = incidence_of(sketch)
    limit = iteration_limit(data, sketch) if max_iterations is None else max_iterations
    posterior = vote_shares(sketch)
    if data.is_dense:
        share = _PRECISE if tolerance is None else tolerance
        posterior, height, steps, converged = iterate_em(
            lambda q: _expect(data, *_shares(*expected_counts(data, q))),
            posterior,
            limit,
            lambda gain, reached: has_converged(gain, reached, share),
        )
    else:  # the same on a sparse panel, with the accelerated steps that all latent-class models there take
        pseudo = np.full((1, data.labels, data.jurors * data.labels), _NOTHING)
        problem = EMProblem(data, "confusion", pseudo, None, data.blocks(), items=_NOTHING)
        start = first_parameters(problem, posterior[None])
        share = _ENOUGH if tolerance is None else tolerance
        end, steps, converged = run_em(problem, start, share, limit, relative=True)
        posterior = e_step(problem, end)[0][0]
        posterior[posterior < np.sqrt(_NOTHING)] = 0.0
        posterior, height = _expect(data, *_shares(*expected_counts(data, posterior)))
    by_label, joint = expected_counts(data, posterior)
    alarms = [] if converged else [convergence_alarm("Dawid-Skene", steps)]
    return Fit(
        solution=float_solution(sketch, *_shares(by_label, joint), right_shares(joint.transpose(1, 0, 2))),
        posterior=posterior.T,
        iterations=steps,
        converged=converged,
        details={"log_likelihood": height},
        alarms=(*alarms, *few_jurors_alarm(sketch, "Dawid-Skene")),
    )


def has_converged(gain: float, height: float, tolerance: float) -> bool:
    """Whether a step gained next to nothing: less than a share of the height, and on large tests less than 1e-6.

    Below 4e-15 of the height a gain is rounding.

    Returns
    -------
    bool
    """
    return gain <= max(min(tolerance * abs(height), 1e-6), 4e-15 * abs(height))


def check_panel(sketch: Sketch, name: str) -> None:
    """Raise SketchError unless at least two jurors and one vote are there."""
    if len(sketch.jurors) < 2:
        raise SketchError(f"{name} needs at least 2 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors)}")
    if not sketch.labels or not (sketch.counts * sketch.cast).any():
        raise SketchError("there is no vote to count")


def few_jurors_alarm(sketch: Sketch, name: str) -> tuple[Alarm, ...]:
    """A warning where two jurors leave the answer open.

    Returns
    -------
    tuple of Alarm
        Empty where there are more jurors, or one label.
    """
    if len(sketch.jurors) > 2 or len(sketch.labels) < 2:
        return ()
    message = f"two jurors determine no unique evaluation: {name} gives one of many that explain the votes equally well"
    return (Alarm("not_identified", "warning", message, None, sketch.jurors),)


def iteration_limit(data: Incidence, sketch: Sketch) -> int:
    """10,000 iterations, or as many as a large panel is worth.

    Returns
    -------
    int
    """
    return int(np.clip(_WORK / max(sketch.tuples.n_votes * data.labels, 1), _FEWEST, _MOST))


def vote_shares(sketch: Sketch) -> Floats:
    """The share of the tuple's votes that each label has; zero without votes.

    Returns
    -------
    (labels, tuples) array
    """
    votes = vote_counts(sketch).T.astype(np.float64)
    return np.asarray(votes / np.maximum(votes.sum(axis=0), 1.0))


def expected_counts(data: Incidence, posterior: Floats) -> tuple[Floats, Floats]:
    """Expected counts, from the posterior (R, T) of labels.

    Returns
    -------
    by_label : (R,) array
        Items.
    joint : (N, R, R) array
        Votes by juror, true label and vote.
    """
    mass = np.where(data.weights > 0, posterior, 0.0) * data.weights
    joint = data.counts(mass[None]).reshape(data.labels, data.jurors, data.labels)
    return mass.sum(axis=1), np.ascontiguousarray(joint.transpose(1, 0, 2))


def _shares(by_label: Floats, joint: Floats, nothing: float = np.nan) -> tuple[Floats, Floats]:
    """Prevalences and confusion matrices of expected counts; `nothing` for a share of nothing."""
    total = joint.sum(axis=2, keepdims=True)
    confusion = np.divide(joint, total, out=np.full_like(joint, nothing), where=total > 0)
    return by_label / by_label.sum(), confusion


def _expect(data: Incidence, prevalence: Floats, confusion: Floats) -> tuple[Floats, float]:
    """The posterior, labels x tuples (NaN for a tuple that cannot occur), and the log-likelihood."""
    table = _log(np.nan_to_num(confusion, nan=1.0 / data.labels)).transpose(1, 0, 2).reshape(1, data.labels, -1)
    score = np.ascontiguousarray(data.scores(table)[0])
    score += _log(prevalence)[:, None]
    top = score.max(axis=0)
    score -= top
    np.exp(score, out=score)
    total = score.sum(axis=0)
    posterior = np.where(top > _NEVER / 2, score / total, np.nan)
    return posterior, float((data.weights[0] * (top + np.log(total))).sum())


def _log(share: Floats) -> Floats:
    return np.log(share, out=np.full_like(share, _NEVER), where=share > 0)


# -- with priors ----------------------------------------------------------------------------------------------------


def evaluate_bayesian(
    sketch: Sketch, *, right: float = 2.0, max_iterations: int | None = None, tolerance: float | None = None
) -> Fit:
    """Grade a panel with priors on everything; any number of labels, at least two jurors, any pattern of votes.

    Parameters
    ----------
    sketch
        The counts.
    right
        Pseudo-votes of every juror on the true label, for every label; each other one has 1, and so has every label
        among the items.
    max_iterations
        When to give up; by default 10,000, and fewer (never below 200) on large panels.
    tolerance
        Converged: a round changes the lower bound by less than this share of itself; by default 1e-10, and 1e-6 on
        sparse panels.

    Returns
    -------
    Fit
        Posterior means.

    Examples
    --------
    A juror with a single vote is not declared perfect:

    >>> votes = {("A", "A", None): 50, ("B", "B", None): 50, ("A", "A", "A"): 1}
    >>> fit = evaluate_bayesian(Sketch.from_counts(votes, jurors=("ann", "bob", "cy")))
    >>> round(fit.solution.accuracy["ann"]["A"], 2), round(fit.solution.accuracy["cy"]["A"], 2)
    (0.98, 0.75)
    """
    check_panel(sketch, "the Bayesian panel")
    data, size = incidence_of(sketch), len(sketch.labels)
    items, rows = np.ones(size), 1.0 + (right - 1.0) * np.eye(size)
    limit = iteration_limit(data, sketch) if max_iterations is None else max_iterations

    def step(posterior: Floats) -> tuple[Floats, float]:
        by_label, joint = expected_counts(data, posterior)
        table = _expected_log(rows + joint).transpose(1, 0, 2).reshape(1, size, -1)
        prior = np.exp(_expected_log(items + by_label))
        chance, top, total = class_likelihoods(data, table, prior[None], None)
        evidence = float((data.weights[0] * (top[0] + np.log(total[0]))).sum())
        bound = evidence - _divergence(items + by_label, items) - _divergence(rows + joint, rows)
        return chance[0] * (prior[:, None] / total[0]), bound

    def is_done(gain: float, bound: float) -> bool:
        if data.is_dense or tolerance is not None:
            return has_converged(gain, bound, _PRECISE if tolerance is None else tolerance)
        return gain <= _ENOUGH_BAYESIAN * abs(bound)

    posterior, bound, steps, converged = iterate_em(step, vote_shares(sketch), limit, is_done)
    by_label, joint = expected_counts(data, posterior)
    alarms = [] if converged else [convergence_alarm("variational Bayes", steps)]
    share, table = (alpha / alpha.sum(axis=-1, keepdims=True) for alpha in (items + by_label, rows + joint))
    return Fit(
        solution=float_solution(sketch, share, table, juror_scores(data, posterior.T)),
        posterior=posterior.T,
        iterations=steps,
        converged=converged,
        details={"lower_bound": bound, "prior": {"right": right, "wrong": 1.0, "prevalence": 1.0}},
        alarms=(*alarms, *few_jurors_alarm(sketch, "variational Bayes")),
    )


def _expected_log(alpha: Floats) -> Floats:
    return np.asarray(special.digamma(alpha) - special.digamma(alpha.sum(axis=-1, keepdims=True)))


def _divergence(alpha: Floats, prior: Floats) -> float:
    """Kullback-Leibler divergence of Dirichlet(alpha) from Dirichlet(prior), summed over the rows."""
    prior = np.broadcast_to(prior, alpha.shape)
    norm = special.gammaln(alpha.sum(axis=-1)) - special.gammaln(prior.sum(axis=-1))
    norm = norm - (special.gammaln(alpha) - special.gammaln(prior)).sum(axis=-1)
    return float(norm.sum() + ((alpha - prior) * _expected_log(alpha)).sum())


# -- inside an engine -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EngineFit:
    """What the rounds ended with; the items stay where they are."""

    jurors: tuple[str, ...]
    labels: tuple[Any, ...]
    prevalence: Floats  #: (R,)
    confusion: Floats  #: (N, R, R) [juror][true label][vote]; NaN where a juror saw no item of a label
    score: Floats  #: (N,) expected share of right votes
    log_likelihood: float
    rounds: int
    converged: bool
    posterior: Any  #: a frame of the engine: `item`, and the probability of each label in `q0`, `q1` …


def evaluate_on_engine(
    frame: Any,
    *,
    item: str = "item",
    juror: str = "juror",
    label: str = "label",
    max_rounds: int = 100,
    tolerance: float = _ENOUGH,
) -> EngineFit:
    """Grade a long table of votes that is too large for memory, by Dawid and Skene's EM inside its engine.

    Parameters
    ----------
    frame
        A table of Spark, Dask, DuckDB or polars (or any dataframe, which DuckDB then works on) with one vote per row.
    item, juror, label
        What the columns are called. Each juror votes once per item.
    max_rounds, tolerance
        It ends when a round gains less than this share of the log-likelihood, or after so many rounds.

    Returns
    -------
    EngineFit

    Examples
    --------
    >>> import polars
    >>> votes = polars.LazyFrame({"item": [1, 1, 1, 2, 2, 3, 3], "juror": list("abcabab"), "label": list("yyynnyn")})
    >>> fit = evaluate_on_engine(votes)
    >>> fit.labels, fit.converged, fit.posterior.collect().shape
    (('n', 'y'), True, (3, 3))
    """
    opened: Any = nw.from_native(frame)
    if max_rounds < 1:
        message = f"max_rounds must be at least 1, not {max_rounds}"
        raise OptionError(message, code="out_of_range", name="max_rounds", value=max_rounds)
    schema = opened.collect_schema()
    for name in (item, juror, label):
        match_name(name, schema.names(), "column")
    if isinstance(opened, nw.DataFrame):
        opened = opened.lazy("duckdb")  # which plans the steps, and spills to disk
    named = [nw.col(column).alias(name) for column, name in ((item, "item"), (juror, "juror"), (label, _VOTE))]
    votes = opened.select(*named)
    words = [name for name, column in (("juror", juror), (_VOTE, label)) if schema[column] in (nw.Categorical, nw.Enum)]
    votes = votes.with_columns(*(nw.col(name).cast(nw.String) for name in words)) if words else votes
    given = votes.select("juror", _VOTE).unique().collect()
    if not len(given):
        raise VotesError("there is no vote to count")
    names = [given[column].unique().to_list() for column in ("juror", _VOTE)]
    is_nameless = any(name is None or name != name for column in names for name in column)
    if is_nameless or len(votes.filter(nw.col("item").is_null()).head(1).collect()):
        raise VotesError("a vote lacks its item, juror or label. Remove such rows")
    # Two votes of a juror on an item would count as if two jurors agreed.
    again = votes.group_by("item", "juror").agg(nw.len().alias(_VOTES)).filter(nw.col(_VOTES) > 1).head(1).collect()
    for row in again.rows(named=True):
        who, what, times = row["juror"], row["item"], row[_VOTES]
        message = f"{who!r} voted {times} times on item {what!r}. Keep one vote per juror and item"
        raise VotesError(message, code="repeated_votes", jurors=(str(who),), item=str(what), repeated=times - 1)
    steps = _Steps(votes, sorted(names[0]), sorted(names[1]))

    def step(state: tuple[Any, ...]) -> tuple[tuple[Any, ...], float]:
        prevalence, confusion = _shares(state[0], state[1], 1 / len(steps.labels))
        posterior = steps.expect(_log(prevalence), _log(confusion))
        joint, by_label, height = steps.count(posterior)
        return (by_label, joint, posterior), height

    joint, by_label, _ = steps.count(steps.shares())
    start: tuple[Any, ...] = by_label, joint
    (by_label, joint, posterior), height, rounds, converged = iterate_em(
        step, start, max_rounds, lambda gain, reached: gain <= tolerance * abs(reached)
    )
    prevalence, confusion = _shares(by_label, joint)
    return EngineFit(
        jurors=tuple(str(name) for name in steps.jurors),
        labels=tuple(steps.labels),
        prevalence=prevalence,
        confusion=confusion,
        score=np.einsum("jll->j", joint) / joint.sum(axis=(1, 2)),
        log_likelihood=height,
        rounds=rounds,
        converged=converged,
        posterior=posterior.drop(_HEIGHT, _VOTES).to_native(),
    )


@dataclass(frozen=True)
class _Steps:
    """The engine's part of a round, in columns `q0`, `q1` …: one for each true label."""

    votes: Any
    jurors: list[Any]
    labels: list[Any]

    @property
    def _q(self) -> list[str]:
        return [f"q{k}" for k in range(len(self.labels))]

    def shares(self) -> Any:
        """By item: the share of its votes that each label has, and how many there are."""
        flags = [
            nw.when(nw.col(_VOTE) == value).then(nw.lit(1.0)).otherwise(nw.lit(0.0)).alias(q)
            for q, value in zip(self._q, self.labels, strict=True)
        ]
        sums = self.votes.with_columns(*flags).group_by("item").agg(*map(nw.sum, self._q), nw.len().alias(_VOTES))
        return sums.with_columns(*(nw.col(q) / nw.col(_VOTES) for q in self._q), nw.lit(0.0).alias(_HEIGHT))

    def expect(self, prior: Floats, table: Floats) -> Any:
        """By item: the posterior, the log-likelihood, and how many votes there are."""
        joined = self.votes.join(self._engine_table(table), on=["juror", _VOTE], how="inner")
        sums = joined.group_by("item").agg(*map(nw.sum, self._q), nw.len().alias(_VOTES))
        sums = sums.with_columns(*(nw.col(q) + float(p) for q, p in zip(self._q, prior, strict=True)))
        sums = sums.with_columns(nw.max_horizontal(*self._q).alias(_HEIGHT))
        sums = sums.with_columns(*((nw.col(q) - nw.col(_HEIGHT)).exp() for q in self._q))
        sums = sums.with_columns(nw.sum_horizontal(*self._q).alias("total"))
        sums = sums.with_columns(*(nw.col(q) / nw.col("total") for q in self._q))
        return sums.with_columns(nw.col(_HEIGHT) + nw.col("total").log()).drop("total")

    def count(self, posterior: Any) -> tuple[Floats, Floats, float]:
        """What comes back: expected votes (N, true label, vote), items by label (R,), and the log-likelihood."""
        parts = [(nw.col(x) / nw.col(_VOTES)).alias(f"part_{x}") for x in (*self._q, _HEIGHT)]
        joined = self.votes.join(posterior.with_columns(*parts), on="item", how="inner")
        names = [*self._q, *(f"part_{q}" for q in self._q), f"part_{_HEIGHT}"]
        back = joined.group_by("juror", _VOTE).agg(*map(nw.sum, names)).collect()
        who = {name: k for k, name in enumerate(self.jurors)}
        what = {name: k for k, name in enumerate(self.labels)}
        at = [who[name] for name in back["juror"].to_list()], [what[name] for name in back[_VOTE].to_list()]
        numbers = np.stack([back[name].to_numpy() for name in names], axis=1).astype(np.float64)
        counts = np.zeros((len(self.jurors), len(self.labels), len(self.labels)))
        counts[at] = numbers[:, : len(self.labels)]
        by_label = numbers[:, len(self.labels) : -1].sum(axis=0)
        return counts.transpose(0, 2, 1), by_label, float(numbers[:, -1].sum())

    def _engine_table(self, table: Floats) -> Any:
        """Log K as a table of the engine: a row for each juror and vote, a column for each true label."""
        from jurors.sketch.engines import engine_table

        size = len(self.labels)
        columns = {
            "juror": np.repeat(np.array(self.jurors, dtype=object), size).tolist(),
            _VOTE: self.labels * len(self.jurors),
        }
        columns |= {q: table[:, k].ravel().tolist() for k, q in enumerate(self._q)}
        return engine_table(self.votes, columns)
