"""Engineering independence: search the ways to share out the features until the jurors' errors hardly go together.

The paper chose four disjoint sets of three of its thirteen features, 200,200 ways, by a random search of about 100. A
search by error correlation alone finds jurors who know nothing: coins err independently. What spoils an evaluation is
correlation beside signal, C_jk = P_A P_B d_j d_k + Γ_jk, so juries are ranked by
    noise / signal = max |Γ_jk| / min P_A P_B d_j d_k
over pairs of jurors, both measured on labelled records that nobody learnt from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.errors import SketchError
from jurors.evaluate import KeyedEvaluation
from jurors.jury import score
from jurors.lab.disjoint import DisjointJury
from jurors.tables import Table

Partition: TypeAlias = tuple[tuple[int, ...], ...]
Progress: TypeAlias = Callable[[float], None]
_SHOWN = 10


@dataclass(frozen=True)
class Trial:
    """One way to share out the features, and how its jury did on records that nobody learnt from."""

    features: tuple[tuple[Any, ...], ...]  #: one set a juror
    correlation: float  #: the largest error correlation of a pair, on any label
    signal: float  #: the least P_A P_B d_j d_k of a pair; below 0 where a juror is worse than a coin
    scores: tuple[float, ...]  #: the share of records each juror labels right

    @property
    def ratio(self) -> float:
        """Noise beside signal; infinite where somebody knows nothing."""
        return self.correlation / self.signal if self.signal > 0 else math.inf


@dataclass(frozen=True, eq=False)
class IndependenceSearch:
    """The best jury found, ready to predict, and everything that was tried, best first."""

    jury: DisjointJury
    trials: tuple[Trial, ...]
    possible: int  #: in how many ways the features can be shared out
    held_out: NDArray[np.int64]  #: the records that measured them

    @property
    def best(self) -> Trial:
        """The least noise beside signal."""
        return self.trials[0]

    def table(self) -> Table:
        """The best and the worst ways that were tried."""
        shown = self.trials if len(self.trials) <= _SHOWN else (*self.trials[: _SHOWN - 1], self.trials[-1])
        rows = tuple(
            (
                " | ".join(", ".join(map(str, own)) for own in trial.features),
                f"{trial.correlation:.4f}", f"{trial.signal:.4f}",
                "–" if math.isinf(trial.ratio) else f"{trial.ratio:.2f}",
                ", ".join(f"{x:.1%}" for x in trial.scores),
            )
            for trial in shown
        )  # fmt: skip
        title = (
            f"{len(self.trials):,} of {self.possible:,} ways tried, measured on {len(self.held_out):,} held-out records"
        )
        columns = ("features of each juror", "largest error correlation", "least signal", "noise/signal", "scores")
        return Table(columns, rows, title=title, right=(1, 2, 3))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        trials = [
            {
                "features": [list(own) for own in trial.features], "correlation": trial.correlation,
                "signal": trial.signal, "ratio": None if math.isinf(trial.ratio) else trial.ratio,
                "scores": list(trial.scores),
            }
            for trial in self.trials
        ]  # fmt: skip
        return {"possible": self.possible, "held_out": len(self.held_out), "trials": trials}

    def __str__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()


def find_independent_jury(
    X: Any,
    y: ArrayLike,
    estimators: Any,
    *,
    jurors: int = 4,
    features_each: int | None = None,
    tries: int = 100,
    held_out: float = 0.3,
    balanced: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> IndependenceSearch:
    """Search for features, one disjoint set a juror, whose jurors' errors hardly go together.

    Parameters
    ----------
    X, y
        Labelled records of two labels: a dataframe or an array, and one label a record.
    estimators
        A scikit-learn classifier, or one a juror: different algorithms err differently.
    features_each
        How many features each juror gets; by default as many as there are for everybody.
    tries
        How many ways to try; all of them where there are no more.
    held_out
        The share of the records that measures the juries; the others train them, in disjoint parts.
    progress
        Called with the share that is done.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_classification(3_000, n_features=6, n_informative=6, n_redundant=0, random_state=1)
    >>> found = find_independent_jury(X, y, DecisionTreeClassifier(max_depth=3), jurors=3, tries=20)
    >>> found.possible, len(found.trials), found.best.ratio <= found.trials[-1].ratio
    (15, 15, True)
    >>> len(found.jury.predict(X[:500]))
    500
    """
    names, values = _columns(X), np.asarray(y)
    members = list(estimators) if isinstance(estimators, (list, tuple)) else [estimators] * jurors
    each = len(names) // len(members) if features_each is None else features_each
    _check(values, len(names), len(members), each, tries, held_out)
    differ = any(member is not members[0] for member in members)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(values))
    kept = max(1, round(held_out * len(values)))
    test, train = np.sort(order[:kept]), np.sort(order[kept:])
    partitions = list(_partitions(len(names), len(members), each, tries, rng, ordered=differ))
    trials: list[tuple[Trial, DisjointJury]] = []
    for k, partition in enumerate(partitions):
        jury = DisjointJury(members, [[names[c] for c in own] for own in partition], seed, balanced=balanced)
        jury.fit(_rows(X, train), values[train])
        keyed = score(jury.votes(_rows(X, test)), values[test].tolist())
        trials.append((_trial(keyed, jury), jury))
        trials = sorted(trials, key=lambda entry: entry[0].ratio)
        trials[1:] = [(trial, trials[0][1]) for trial, _ in trials[1:]]  # keep only the best jury in memory
        if progress is not None:
            progress((k + 1) / len(partitions))
    possible = count_partitions(len(names), len(members), each, ordered=differ)
    return IndependenceSearch(trials[0][1], tuple(trial for trial, _ in trials), possible, test)


def count_partitions(columns: int, jurors: int, each: int, *, ordered: bool = False) -> int:
    """In how many ways `jurors` disjoint sets of `each` columns can be chosen; ordered where jurors differ.

    >>> count_partitions(13, 4, 3)
    200200
    """
    ways: int = math.factorial(columns) // (math.factorial(each) ** jurors * math.factorial(columns - jurors * each))
    return ways if ordered else ways // math.factorial(jurors)


def _partitions(
    columns: int, jurors: int, each: int, tries: int, rng: np.random.Generator, *, ordered: bool
) -> Iterator[Partition]:
    """Different ways to share out the columns: all of them where there are few, else drawn at random."""
    if count_partitions(columns, jurors, each, ordered=ordered) <= tries:
        yield from _all_partitions(tuple(range(columns)), jurors, each, ordered=ordered)
        return
    seen: set[Partition] = set()
    while len(seen) < tries:
        drawn = rng.permutation(columns)[: jurors * each].reshape(jurors, each)
        sets = tuple(tuple(sorted(own)) for own in drawn.tolist())
        partition = sets if ordered else tuple(sorted(sets))
        if partition not in seen:
            seen.add(partition)
            yield partition


def _all_partitions(left: tuple[int, ...], jurors: int, each: int, *, ordered: bool) -> Iterator[Partition]:
    if not jurors:
        yield ()
        return
    for own in itertools.combinations(left, each):
        # Unordered sets are listed once: by their least columns, in ascending order.
        rest = tuple(c for c in left if c not in own and (ordered or c > own[0]))
        for others in _all_partitions(rest, jurors - 1, each, ordered=ordered):
            yield (own, *others)


def _trial(keyed: KeyedEvaluation, jury: DisjointJury) -> Trial:
    """How much the errors of this jury go together, and how much it knows, by the key."""
    found = keyed.solution.to_float()
    p = [float(x) for x in found.prevalence.values()]
    informed = [sum(float(x) for x in row.values()) - 1 for row in found.accuracy.values()]
    pairs = list(itertools.combinations(range(len(informed)), 2))
    signal = min(
        p[0] * p[1] * informed[i] * informed[j] if min(informed[i], informed[j]) > 0 else -1.0 for i, j in pairs
    )
    correlations = [abs(float(x)) for by in keyed.correlations(2).values() for x in by.values() if x is not None]
    return Trial(
        features=tuple(tuple(own) for own in jury.features_),
        correlation=max(correlations),
        signal=signal,
        scores=tuple(float(x) for x in found.score.values()),
    )


def _check(values: NDArray[Any], columns: int, jurors: int, each: int, tries: int, held_out: float) -> None:
    labels = np.unique(values)
    if len(labels) != 2:
        raise SketchError(f"the search needs two labels, the target has {len(labels)}")
    if jurors < 3:
        raise SketchError(f"a jury needs three jurors or more, got {jurors}")
    if each < 1 or jurors * each > columns:
        raise SketchError(f"{columns} features are too few for {jurors} jurors with {max(each, 1)} features each")
    if tries < 1:
        raise SketchError(f"at least one way must be tried, got {tries}")
    if not 0 < held_out < 1:
        raise SketchError(f"held_out must lie between 0 and 1, got {held_out}")


def _columns(X: Any) -> Sequence[Any]:
    return list(X.columns) if hasattr(X, "columns") else list(range(np.asarray(X).shape[1]))


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    if hasattr(X, "columns"):
        import narwhals as nw

        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    return np.asarray(X)[rows]
