"""Also inside an engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jurors._numeric import Floats
from jurors.errors import OptionError, SketchError, VotesError, match_name
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.latent.em import EMProblem, e_step, first_parameters, run_em
from jurors.evaluate.latent.models import right_shares
from jurors.evaluate.partition import vote_counts
from jurors.evaluate.solution import Fit, convergence_alarm, float_solution
from jurors.sketch import Sketch
from jurors.sketch.pairs import Incidence, incidence_of, votes_cast

if TYPE_CHECKING:
    from jurors._numeric import Floats


# Dawid and Skene (1979): the most likely prevalences and confusion matrices, by expectation-maximisation.
#
# As published: the first guess of an item's label is the share of its votes, nothing is smoothed, and
#     M:  p_l ∝ Σ_t w_t q_tl,  K_j[l][r] ∝ Σ_t w_t q_tl [v_tj = r]      E:  q_tl ∝ p_l Π_j K_j[l][v_tj]
# until the log-likelihood stands still. A share of nothing (0/0: the row of a label that a juror never met) does not
# exist, and is reported as None; until it does, such a juror says each label as often as any other, and so nothing. The
# answer is a local maximum; the votes' shares choose which.
#
# A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied
# Statistics 28 (1979) 20-28.


_NOTHING = 1e-26  # of a vote: a share of nothing is even then, and any other share stays as it is
_PRECISE, _ENOUGH = 1e-10, 3e-5  # of the log-likelihood
_NEVER = -1e9  # the logarithm of 0: finite, since a product with "no vote" must be 0, yet below any real one
_WORK = 2e9  # votes x labels x iterations after which a large panel is stopped
_MOST, _FEWEST = 10_000, 200


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
    follow = _rounds if data.is_dense else _long_steps
    posterior, height, steps, converged = follow(data, vote_shares(sketch), limit, tolerance)
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


def _rounds(data: Incidence, posterior: Floats, limit: int, tolerance: float | None) -> tuple[Floats, float, int, bool]:
    """The published rounds, one after another: posterior, log-likelihood, how many, and whether they settled."""
    height, steps, converged = -np.inf, 0, False
    while steps < limit and not converged:
        posterior, new = _expect(data, *_maximise(data, posterior))
        steps += 1
        converged = has_converged(new - height, new, _PRECISE if tolerance is None else tolerance)
        height = new
    return posterior, height, steps, converged


def _long_steps(
    data: Incidence, posterior: Floats, limit: int, tolerance: float | None
) -> tuple[Floats, float, int, bool]:
    """The same on a sparse panel, with the long steps that all latent-class models there take."""
    pseudo = np.full((1, data.labels, data.jurors * data.labels), _NOTHING)
    problem = EMProblem(data, "confusion", pseudo, None, data.blocks(), items=_NOTHING)
    start = first_parameters(problem, posterior[None])
    share = _ENOUGH if tolerance is None else tolerance
    end, steps, converged = run_em(problem, start, share, limit, relative=True)
    posterior = e_step(problem, end)[0][0]
    posterior[posterior < np.sqrt(_NOTHING)] = 0.0
    posterior, height = _expect(data, *_maximise(data, posterior))
    return posterior, height, steps, converged


def has_converged(gain: float, height: float, tolerance: float) -> bool:
    """Whether a step gained next to nothing: less than a share of the height, and on large tests less than 1e-6.

    Below 4e-15 of the height a gain is rounding.
    """
    return gain <= max(min(tolerance * abs(height), 1e-6), 4e-15 * abs(height))


def check_panel(sketch: Sketch, name: str) -> None:
    """SketchError unless at least two jurors and one vote are there."""
    if len(sketch.jurors) < 2:
        raise SketchError(f"{name} needs at least 2 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors)}")
    if not sketch.labels or not (sketch.counts * votes_cast(sketch)).any():
        raise SketchError("there is no vote to count")


def few_jurors_alarm(sketch: Sketch, name: str) -> tuple[Alarm, ...]:
    """A warning where two jurors leave the answer open."""
    if len(sketch.jurors) > 2 or len(sketch.labels) < 2:
        return ()
    message = f"two jurors fix no unique evaluation: {name} gives one of many that explain the counts equally well"
    return (Alarm("not_identified", "warning", message, None, sketch.jurors),)


def iteration_limit(data: Incidence, sketch: Sketch) -> int:
    """10,000 iterations, or as many as a large panel is worth."""
    return int(np.clip(_WORK / max(sketch.tuples.n_votes * data.labels, 1), _FEWEST, _MOST))


def vote_shares(sketch: Sketch) -> Floats:
    """Labels x tuples: the share of the tuple's votes that each label has; no votes, no shares."""
    votes = vote_counts(sketch).T.astype(np.float64)
    return np.asarray(votes / np.maximum(votes.sum(axis=0), 1.0))


def expected_counts(data: Incidence, posterior: Floats) -> tuple[Floats, Floats]:
    """Expected items by label (R), and votes by juror, true label and label said (N, R, R)."""
    mass = np.where(data.weights > 0, posterior, 0.0) * data.weights
    joint = data.counts(mass[None]).reshape(data.labels, data.jurors, data.labels)
    return mass.sum(axis=1), np.ascontiguousarray(joint.transpose(1, 0, 2))


def _maximise(data: Incidence, posterior: Floats) -> tuple[Floats, Floats]:
    return _shares(*expected_counts(data, posterior))


def _shares(by_label: Floats, joint: Floats) -> tuple[Floats, Floats]:
    """Prevalences and confusion matrices of expected counts; NaN for a share of nothing."""
    met = joint.sum(axis=2, keepdims=True)
    confusion = np.divide(joint, met, out=np.full_like(joint, np.nan), where=met > 0)
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


# Dawid and Skene's EM inside the engine that holds the votes: Spark, Dask, DuckDB, polars; where memory is too small.
#
# One round is two joins and two aggregations of a long table (item, juror, label), and one table comes back:
#     E:  votes ⋈ log K on (juror, label said)   Σ by item                   q_tl ∝ p_l Π_j K_j[l][v_tj]
#     M:  votes ⋈ q on item                      Σ by juror and label said   K_j[l][r] ∝ Σ_t q_tl [v_tj = r]
# Each of an item's n votes carries the n-th part of its q and of its log-likelihood, so the second sum gives
# prevalences and the height as well. Here, only jurors x labels x labels numbers are held. The rounds are those of
# `dawid_skene`, from the same start to the same end.


_ENGINE_STEPS_ENOUGH = 3e-5  # of the log-likelihood, as there on sparse panels
_SAID, _HEIGHT, _VOTES = "said", "height", "votes"


@dataclass(frozen=True)
class EngineFit:
    """What the rounds ended with; the items stay where they are."""

    jurors: tuple[str, ...]
    labels: tuple[Any, ...]
    prevalence: Floats  #: (R,)
    confusion: Floats  #: (N, R, R) [juror][true label][said label]; NaN where a juror met no item of a label
    score: Floats  #: (N,) expected share of right votes
    log_likelihood: float
    rounds: int
    converged: bool
    posterior: Any  #: the engine's own frame: `item`, and `q0`, `q1` … as probable as each label is


def evaluate_on_engine(
    frame: Any,
    *,
    item: str = "item",
    juror: str = "juror",
    label: str = "label",
    max_rounds: int = 100,
    tolerance: float = _ENGINE_STEPS_ENOUGH,
) -> EngineFit:
    """Grade a long table of votes, which memory is too small for, by Dawid and Skene's EM where it lies.

    Parameters
    ----------
    frame
        A table of Spark, Dask, DuckDB or polars (or any dataframe, which DuckDB then works on) with one vote per row.
    item, juror, label
        What the columns are called. Each juror votes once per item.
    max_rounds, tolerance
        It ends when a round gains less than this share of the log-likelihood, or after so many rounds.

    Examples
    --------
    >>> import polars
    >>> votes = polars.LazyFrame({"item": [1, 1, 1, 2, 2, 3, 3], "juror": list("abcabab"), "label": list("yyynnyn")})
    >>> fit = evaluate_on_engine(votes)
    >>> fit.labels, fit.converged, fit.posterior.collect().shape
    (('n', 'y'), True, (3, 3))
    """
    import narwhals as nw

    opened: Any = nw.from_native(frame)
    if max_rounds < 1:
        message = f"max_rounds must be at least 1, not {max_rounds}"
        raise OptionError(message, code="out_of_range", name="max_rounds", value=max_rounds)
    schema = opened.collect_schema()
    for name in (item, juror, label):
        match_name(name, schema.names(), "column")
    if isinstance(opened, nw.DataFrame):
        opened = opened.lazy("duckdb")  # which plans the steps, and spills to disk
    named = [nw.col(column).alias(name) for column, name in ((item, "item"), (juror, "juror"), (label, _SAID))]
    votes = opened.select(*named)
    words = [name for name, column in (("juror", juror), (_SAID, label)) if schema[column] in (nw.Categorical, nw.Enum)]
    votes = votes.with_columns(*(nw.col(name).cast(nw.String) for name in words)) if words else votes
    steps = _Steps(votes, *_names(votes))
    _refuse_second_votes(votes)
    counts, by_label, _ = steps.count(steps.shares())
    height, rounds, converged = -math.inf, 0, False
    while rounds < max_rounds and not converged:
        posterior = steps.expect(
            _engine_steps_log(_engine_steps_shares(by_label)),
            _engine_steps_log(_confusion(counts, 1 / len(steps.labels))),
        )
        counts, by_label, new = steps.count(posterior)
        converged = new - height <= tolerance * abs(new)
        height, rounds = new, rounds + 1
    joint = counts.transpose(0, 2, 1)
    return EngineFit(
        jurors=tuple(str(name) for name in steps.jurors),
        labels=tuple(steps.labels),
        prevalence=_engine_steps_shares(by_label),
        confusion=_confusion(counts, np.nan),
        score=np.einsum("jll->j", joint) / joint.sum(axis=(1, 2)),
        log_likelihood=height,
        rounds=rounds,
        converged=converged,
        posterior=posterior.drop(_HEIGHT, _VOTES).to_native(),
    )


def _names(votes: Any) -> tuple[list[Any], list[Any]]:
    """Who voted, and what was said, in order."""
    from narwhals import col

    said = votes.select("juror", _SAID).unique().collect()
    if not len(said):
        raise VotesError("there is no vote to count")
    names = [said[column].unique().to_list() for column in ("juror", _SAID)]
    is_nameless = any(name is None or name != name for column in names for name in column)
    if is_nameless or len(votes.filter(col("item").is_null()).head(1).collect()):
        raise VotesError("a vote without an item, a juror or a label; leave such rows out before")
    return sorted(names[0]), sorted(names[1])


def _beside(relation: Any, table: Any) -> Any:
    """A table on the connection of a relation, which does not tell it, but finds variables of Python by their names."""
    from duckdb import CatalogException

    jurors_own_table_of_log_chances = table  # noqa: F841
    try:
        return relation.query("jurors_votes", "SELECT * FROM jurors_own_table_of_log_chances")
    except CatalogException:
        raise VotesError(
            "this DuckDB connection lets no table of Python in; switch python_enable_replacements on, or let polars "
            "scan the votes"
        ) from None


def _refuse_second_votes(votes: Any) -> None:
    """VotesError where somebody voted twice on an item: both would count, as if two had said so."""
    from narwhals import col
    from narwhals import len as length

    again = votes.group_by("item", "juror").agg(length().alias(_VOTES)).filter(col(_VOTES) > 1).head(1).collect()
    for who in again.rows(named=True):
        juror, item, times = who["juror"], who["item"], who[_VOTES]
        message = f"{juror!r} voted {times} times on item {item!r}; keep one vote per juror and item"
        raise VotesError(message, code="repeated_votes", jurors=(str(juror),), item=str(item), repeated=times - 1)


def _engine_steps_shares(by_label: Floats) -> Floats:
    return np.asarray(by_label / by_label.sum())


def _confusion(counts: Floats, nothing: float) -> Floats:
    """(N, R, R) [juror][true label][said label] from counts by juror, label said and true label."""
    joint = counts.transpose(0, 2, 1)
    met = joint.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(joint, met, out=np.full_like(joint, nothing), where=met > 0))


def _engine_steps_log(shares: Floats) -> Floats:
    return np.asarray(np.log(shares, out=np.full_like(shares, _NEVER), where=shares > 0))


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
        import narwhals as nw

        flags = [
            nw.when(nw.col(_SAID) == value).then(nw.lit(1.0)).otherwise(nw.lit(0.0)).alias(q)
            for q, value in zip(self._q, self.labels, strict=True)
        ]
        sums = self.votes.with_columns(*flags).group_by("item").agg(*map(nw.sum, self._q), nw.len().alias(_VOTES))
        return sums.with_columns(*(nw.col(q) / nw.col(_VOTES) for q in self._q), nw.lit(0.0).alias(_HEIGHT))

    def expect(self, prior: Floats, table: Floats) -> Any:
        """By item: the posterior, the log-likelihood, and how many votes there are."""
        import narwhals as nw

        joined = self.votes.join(self._sent(table), on=["juror", _SAID], how="inner")
        sums = joined.group_by("item").agg(*map(nw.sum, self._q), nw.len().alias(_VOTES))
        sums = sums.with_columns(*(nw.col(q) + float(p) for q, p in zip(self._q, prior, strict=True)))
        sums = sums.with_columns(nw.max_horizontal(*self._q).alias(_HEIGHT))
        sums = sums.with_columns(*((nw.col(q) - nw.col(_HEIGHT)).exp() for q in self._q))
        sums = sums.with_columns(nw.sum_horizontal(*self._q).alias("total"))
        sums = sums.with_columns(*(nw.col(q) / nw.col("total") for q in self._q))
        return sums.with_columns(nw.col(_HEIGHT) + nw.col("total").log()).drop("total")

    def count(self, posterior: Any) -> tuple[Floats, Floats, float]:
        """What comes back: expected votes (N, label said, true label), items by label (R,), and the log-likelihood."""
        import narwhals as nw

        parts = [(nw.col(x) / nw.col(_VOTES)).alias(f"part_{x}") for x in (*self._q, _HEIGHT)]
        joined = self.votes.join(posterior.with_columns(*parts), on="item", how="inner")
        names = [*self._q, *(f"part_{q}" for q in self._q), f"part_{_HEIGHT}"]
        back = joined.group_by("juror", _SAID).agg(*map(nw.sum, names)).collect()
        who = {name: k for k, name in enumerate(self.jurors)}
        what = {name: k for k, name in enumerate(self.labels)}
        at = [who[name] for name in back["juror"].to_list()], [what[name] for name in back[_SAID].to_list()]
        numbers = np.stack([back[name].to_numpy() for name in names], axis=1).astype(np.float64)
        counts = np.zeros((len(self.jurors), len(self.labels), len(self.labels)))
        counts[at] = numbers[:, : len(self.labels)]
        return counts, numbers[:, len(self.labels) : -1].sum(axis=0), float(numbers[:, -1].sum())

    def _sent(self, table: Floats) -> Any:
        """Log K as a table of the engine: a row for each juror and label said, a column for each true label."""
        import narwhals as nw

        size = len(self.labels)
        columns = {
            "juror": np.repeat(np.array(self.jurors, dtype=object), size).tolist(),
            _SAID: self.labels * len(self.jurors),
        }
        columns |= {q: table[:, k].ravel().tolist() for k, q in enumerate(self._q)}
        kind = self.votes.implementation
        here = nw.from_dict(columns, backend="polars" if kind.is_polars() else "pyarrow")
        if kind.is_duckdb():
            return nw.from_native(_beside(nw.to_native(self.votes), here.to_native()))
        if kind.is_spark_like():
            return here.lazy(kind, session=nw.to_native(self.votes).sparkSession)
        return here.lazy(kind)
