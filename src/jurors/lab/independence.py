"""Engineering independence: search the ways to share out the features until the jurors' errors hardly go together.

The paper chose four disjoint sets of three of its thirteen features, 200,200 ways, by a random search of about 100. A
search by error correlation alone finds jurors who know nothing: coins err independently. What spoils an evaluation is
correlation beside signal, C_jk = P_A P_B d_j d_k + Γ_jk, so juries are ranked by
    noise / signal = max |Γ_jk| / min P_A P_B d_j d_k
over pairs of jurors, both measured on labelled records that nobody learnt from. Of many ways tried the best one owes
something to luck on these records: measure it again on others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Integers
from jurors.errors import OptionError, SketchError
from jurors.evaluate import KeyedEvaluation
from jurors.jury import score_labels
from jurors.lab.disjoint import DisjointJury
from jurors.results import Block, Columns, Result, Table, row_documents
from jurors.votes.codes import is_missing
from jurors.votes.frame import eager, is_frame

Partition: TypeAlias = tuple[tuple[int, ...], ...]
Progress: TypeAlias = Callable[[float], None]
_SHOWN = 10
_NOBODY = "In every jury that was tried somebody was no better than a coin on the held-out records: none can be graded."


@dataclass(frozen=True)
class Trial:
    """One way to share out the features, and how its jury did on records that nobody learnt from."""

    features: tuple[tuple[Any, ...], ...]  #: one set per juror
    correlation: float  #: the largest error correlation of a pair, on any label
    signal: float  #: the least P_A P_B d_j d_k of a pair; not above 0 where one of them is no better than a coin
    scores: tuple[float, ...]  #: the share of records each juror labels right

    @property
    def ratio(self) -> float:
        """Noise beside signal; infinite where somebody knows nothing."""
        return self.correlation / self.signal if self.signal > 0 else math.inf


@dataclass(frozen=True, eq=False)
class IndependenceSearch(Result):
    """The best jury found, ready to predict, and everything that was tried, best first."""

    jury: DisjointJury
    trials: tuple[Trial, ...]
    possible: int  #: in how many ways the features can be shared out
    held_out: Integers  #: the records that measured them

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

    def _document(self) -> dict[str, Any]:
        return {"possible": self.possible, "held_out": len(self.held_out), "trials": row_documents(self._columns())}

    def _columns(self) -> Columns:
        """One row per way that was tried."""
        names = ("features", "correlation", "signal", "ratio", "scores")
        return {name: [getattr(trial, name) for trial in self.trials] for name in names}

    def _blocks(self) -> list[Block]:
        return [self.table(), *self.notes()]

    def notes(self) -> list[str]:
        """What to know before the best jury is used."""
        return [] if math.isfinite(self.best.ratio) else [_NOBODY]


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
    """Search for features, one disjoint set per juror, whose jurors' errors hardly go together.

    Parameters
    ----------
    X, y
        Labelled records of two labels: a dataframe or an array, and one label per record.
    estimators
        A scikit-learn classifier, or one per juror: different algorithms err differently.
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
    >>> search = find_independent_jury(X, y, DecisionTreeClassifier(max_depth=3), jurors=3, tries=20)
    >>> search.possible, len(search.trials), search.best.ratio <= search.trials[-1].ratio
    (15, 15, True)
    >>> len(search.jury.predict(X[:500]))
    500
    """
    table, names = _table(X)
    values = np.asarray(y)
    members = list(estimators) if isinstance(estimators, (list, tuple)) else [estimators] * max(jurors, 0)
    each = len(names) // max(len(members), 1) if features_each is None else features_each
    _check_target(values, len(table), held_out, seed)
    _check_search(len(names), members, each, tries)
    differ = len({repr(member[1] if isinstance(member, tuple) else member) for member in members}) > 1
    rng = np.random.default_rng(seed)
    test, train = _held_out(values, held_out, rng)
    partitions = list(_partitions(len(names), len(members), each, tries, rng, ordered=differ))
    trials: list[Trial] = []
    best: Any = None
    least = (math.inf, math.inf)
    for k, partition in enumerate(partitions):
        jury = DisjointJury(members, [[names[c] for c in own] for own in partition], seed, balanced=balanced)
        jury.fit(_rows(table, train), values[train])
        trial = _trial(score_labels(jury.votes(_rows(table, test)), values[test].tolist()), jury)
        if best is None or _rank(trial) < least:
            best, least = jury, _rank(trial)  # all the others are forgotten: a hundred fitted juries are large
        trials.append(trial)
        if progress is not None:
            progress((k + 1) / len(partitions))
    possible = count_partitions(len(names), len(members), each, ordered=differ)
    return IndependenceSearch(best, tuple(sorted(trials, key=_rank)), possible, test)


def _rank(trial: Trial) -> tuple[float, float]:
    """Less noise beside the signal first; among those without signal, the ones that lack least."""
    return trial.ratio, -trial.signal


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
    solution = keyed.solution.to_float()
    p = [float(x) for x in solution.prevalence.values()]
    informed = [sum(float(x) for x in row.values()) - 1 for row in solution.accuracy.values()]
    pairs = list(itertools.combinations(range(len(informed)), 2))
    size = [p[0] * p[1] * abs(informed[i] * informed[j]) for i, j in pairs]
    # Two jurors who are both worse than coins agree as much as two good ones: only the sign tells.
    signal = min(x if min(informed[i], informed[j]) > 0 else -x for x, (i, j) in zip(size, pairs, strict=True))
    correlations = [abs(float(x)) for by in keyed.correlations(2).values() for x in by.values() if x is not None]
    return Trial(
        features=tuple(tuple(own) for own in jury.features_),
        correlation=max(correlations),
        signal=signal,
        scores=tuple(float(x) for x in solution.score.values()),
    )


def _held_out(values: NDArray[Any], share: float, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """The records that measure and those that train; each has its share of both labels."""
    shuffled = [rng.permutation(np.flatnonzero(values == label)) for label in np.unique(values)]
    kept = [max(1, round(share * len(rows))) for rows in shuffled]
    test = np.concatenate([rows[:n] for rows, n in zip(shuffled, kept, strict=True)])
    train = np.concatenate([rows[n:] for rows, n in zip(shuffled, kept, strict=True)])
    return np.sort(test), np.sort(train)


def _check_target(values: NDArray[Any], records: int, held_out: float, seed: int) -> None:
    if values.ndim != 1 or len(values) != records:
        raise SketchError(f"there are {records:,} records and {len(values) if values.ndim else 0:,} labels")
    if any(is_missing(value) for value in values.tolist()):
        raise SketchError("the target has missing values; leave those records out")
    if (labels := len(set(values.tolist()))) != 2:
        raise SketchError(f"the search needs two labels, the target has {labels}")
    if not 0 < held_out < 1:
        raise OptionError(f"held_out must lie between 0 and 1, got {held_out}")
    if seed < 0:
        raise OptionError(f"seed must not be negative, got {seed}")


def _check_search(columns: int, members: Sequence[Any], each: int, tries: int) -> None:
    for member in members:
        if not hasattr(member[1] if isinstance(member, tuple) else member, "fit"):
            raise SketchError(f"a juror is a scikit-learn classifier or a (name, classifier) pair, not {member!r}")
    if len(members) < 3:
        raise SketchError(f"a jury needs three jurors or more, got {len(members)}")
    if each < 1 or len(members) * each > columns:
        raise SketchError(f"{columns} features are too few for {len(members)} jurors with {max(each, 1)} features each")
    if tries < 1:
        raise OptionError(f"at least one way must be tried, got {tries}")


def _table(X: Any) -> tuple[Any, list[Any]]:
    """The records in memory, with rows and columns, and the columns' names or positions."""
    if is_frame(X):
        frame = eager(X)
        return frame.to_native(), list(frame.columns)
    array = np.asarray(X)
    if array.ndim != 2:
        raise SketchError(f"X must have rows and columns, got the shape {array.shape}")
    return array, list(range(array.shape[1]))


def _rows(table: Any, rows: Integers) -> Any:
    if is_frame(table):
        return eager(table)[rows.tolist()].to_native()
    return table[rows]
